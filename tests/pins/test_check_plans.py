"""PIN004 and PIN008: a landing plan's change and its pins stay together, in every commit and in what comes out."""

from pathlib import Path

import pytest

from support import Demo, Pinctl
from support.rig import Repo, Rig, as_checked, checked, plan_toml
from support.stack import RENDERERS_SQUASH, SERVER_BRANCH, SERVING, VERIFIERS_SQUASH, by_subject, text_at

PINS = {"deps/renderers": ("renderers", RENDERERS_SQUASH), "deps/verifiers": ("verifiers", VERIFIERS_SQUASH)}
FREEZE = "src/prime_rl/inference/freeze.py"
SERVER = "src/prime_rl/inference/server.py"


class Stack:
    """The embedded stack, with ways to bring its server change onto branches."""

    def __init__(self, demo: Demo) -> None:
        self.repo = Repo(directory=demo.superproject)
        self.pins = {path: by_subject(demo.remote(name), "main", subject) for path, (name, subject) in PINS.items()}
        remote = f"origin/{SERVER_BRANCH}"
        self.files = {path: text_at(demo.superproject, remote, path) for path in (SERVING, FREEZE, SERVER)}

    def server(self, branch: str, *, pins: bool, parent: str = "main", message: str = "Pack") -> str:
        """Commits the server change, with its pins or without them."""
        gitlinks = self.pins if pins else None
        return self.repo.commit(branch, message, files=self.files, gitlinks=gitlinks, parents=[self.repo.oid(parent)])

    def check(self, pinctl: Pinctl, head: str, base: str = "main") -> list[str]:
        """Returns what PIN008 has to say."""
        arguments = ("check", "--format", "json", "--base", base, "--head", head)
        found = as_checked(pinctl(*arguments, cwd=self.repo.directory))
        return [item["message"] for item in found.findings if item["rule"] == "PIN008"]


@pytest.fixture
def stack(demo: Demo) -> Stack:
    return Stack(demo)


CHANGE = "prime-rl#3900 of plan packed-generate"


def _lacking(stack: Stack, where: str) -> list[str]:
    renderers, verifiers = (oid[:7] for oid in stack.pins.values())
    return [
        f"{where} has {CHANGE}, and deps/renderers does not hold renderers#174 ({renderers})",
        f"{where} has {CHANGE}, and deps/verifiers does not hold verifiers#2778 ({verifiers})",
    ]


def test_the_branch_as_it_is_pins_the_heads_of_pull_requests(demo: Demo, pinctl: Pinctl) -> None:
    arguments = ("check", "--format", "json", "--base", "main", "--head")
    found = as_checked(pinctl(*arguments, f"origin/{SERVER_BRANCH}", cwd=demo.superproject))

    assert found.status == 1
    assert [(code, path) for code, path in found.rules if not code.startswith("~")] == [
        ("PIN001", "deps/renderers"),
        ("PIN001", "deps/verifiers"),
        ("PIN003", "deps/verifiers"),
        ("PIN008", "deps/renderers"),
        ("PIN008", "deps/verifiers"),
        ("MTX003", "landing_plans/certificates/packed-generate.json"),
    ]


def test_its_own_landing_is_fine_and_fixes_it(demo: Demo, pinctl: Pinctl) -> None:
    """The fix that PIN008 names is the landing of the plan; what it makes has no finding."""
    arguments = ("check", "--format", "json", "--base", "main", "--head")
    found = as_checked(pinctl(*arguments, f"origin/{SERVER_BRANCH}", cwd=demo.superproject))
    (fix,) = {item["fix"] for item in found.findings if item["rule"] == "PIN008"}
    program, *words = fix.split()
    assert program == "pinctl"

    assert pinctl(*words, cwd=demo.superproject).status == 0

    landed = as_checked(pinctl(*arguments, "landing/packed-generate", cwd=demo.superproject))
    assert landed.status == 0
    # No release has the changes yet: nobody can mend that before there is one.
    assert {code for code, _ in landed.rules} == {"~FLR003"}


def test_a_squash_with_its_pins_is_fine(stack: Stack, pinctl: Pinctl) -> None:
    stack.server("squash", pins=True, message="Pack the per-token payloads of /generate (#3900)")

    assert stack.check(pinctl, "squash") == []


@pytest.mark.parametrize("message", ["Pack the per-token payloads of /generate (#3900)", "Something else"])
def test_a_squash_without_its_pins_is_broken_whatever_it_is_called(stack: Stack, pinctl: Pinctl, message: str) -> None:
    stack.server("squash", pins=False, message=message)

    assert stack.check(pinctl, "squash") == _lacking(stack, "the result")


def test_a_squash_with_one_of_its_pins_is_broken_for_the_other(stack: Stack, pinctl: Pinctl) -> None:
    squash = stack.server("squash", pins=False)
    stack.repo.commit(
        "squash",
        "Pack",
        files=stack.files,
        gitlinks={"deps/renderers": stack.pins["deps/renderers"]},
        parents=[f"{squash}^1"],
    )

    assert stack.check(pinctl, "squash") == _lacking(stack, "the result")[1:]


def test_pins_that_are_newer_than_the_change_are_fine(stack: Stack, demo: Demo, pinctl: Pinctl) -> None:
    tips = {path: Repo(directory=demo.remote(name)).oid() for path, (name, _) in PINS.items()}
    stack.repo.commit("pr", "Pack", files=stack.files, gitlinks=tips, parents=[stack.repo.oid()])

    assert stack.check(pinctl, "pr") == []


def test_the_pins_alone_are_fine(stack: Stack, pinctl: Pinctl) -> None:
    """The clients read both forms: they may go first."""
    stack.repo.commit("pr", "Bump both", gitlinks=stack.pins, parents=[stack.repo.oid()])

    assert stack.check(pinctl, "pr") == []


def test_a_commit_of_the_range_in_which_they_are_apart_is_broken(stack: Stack, pinctl: Pinctl) -> None:
    apart = stack.server("pr", pins=False, message="Pack")
    stack.repo.commit("pr", "Bump both", gitlinks=stack.pins)

    assert stack.check(pinctl, "pr") == _lacking(stack, f"{apart[:7]} of the range")


def test_pins_first_and_then_the_change_is_fine_in_every_commit(stack: Stack, pinctl: Pinctl) -> None:
    stack.repo.commit("pr", "Bump both", gitlinks=stack.pins, parents=[stack.repo.oid()])
    stack.server("pr", pins=True, parent="pr")

    assert stack.check(pinctl, "pr") == []


def test_a_merge_that_lost_the_pins_is_broken(stack: Stack, pinctl: Pinctl) -> None:
    """What a merge queue makes where the two sides of a gitlink conflict and somebody settles it by the target's."""
    branch = stack.server("pr", pins=True)
    merge = stack.repo.commit(
        "queue", "Merge pull request #3900 from pr", files=stack.files, parents=[stack.repo.oid(), branch]
    )
    assert stack.repo.oid(f"{merge}:deps/renderers") == stack.repo.oid("main:deps/renderers")

    assert stack.check(pinctl, "queue") == _lacking(stack, "the result")


def test_a_merge_that_kept_the_pins_is_fine(stack: Stack, pinctl: Pinctl) -> None:
    branch = stack.server("pr", pins=True)
    stack.repo.commit(
        "queue",
        "Merge pull request #3900 from pr",
        files=stack.files,
        gitlinks=stack.pins,
        parents=[stack.repo.oid(), branch],
    )

    assert stack.check(pinctl, "queue") == []


def test_it_is_judged_on_the_targets_tip_and_not_on_the_fork_point(stack: Stack, pinctl: Pinctl) -> None:
    """The branch brings the change and its pins; main has moved on by something else."""
    stack.server("pr", pins=True, parent="main~1")

    assert stack.check(pinctl, "pr") == []
    found = as_checked(pinctl("check", "--format", "json", "--base", "main", "--head", "pr", cwd=stack.repo.directory))
    assert "PIN002" not in [item["rule"] for item in found.findings]


def test_pins_that_the_target_has_by_now_do_not_blame_the_result(stack: Stack, pinctl: Pinctl) -> None:
    """In the branch's own commit they are apart, and that commit would be in the history: rebase it."""
    apart = stack.server("pr", pins=False)
    stack.repo.commit("main", "Bump both", gitlinks=stack.pins)

    assert stack.check(pinctl, "pr") == _lacking(stack, f"{apart[:7]} of the range")
    stack.repo.commit("rebased", "Pack", files=stack.files, parents=[stack.repo.oid()])
    assert stack.check(pinctl, "rebased") == []


def test_pins_that_go_back_below_a_change_that_is_on_the_target_are_broken(stack: Stack, pinctl: Pinctl) -> None:
    old = {path: stack.repo.oid(f"main:{path}") for path in PINS}
    stack.repo.commit(
        "main", "Pack the per-token payloads of /generate (#3900)", files=stack.files, gitlinks=stack.pins
    )
    stack.repo.commit("pr", "Change something else", gitlinks=old, parents=[stack.repo.oid()])

    found = as_checked(pinctl("check", "--format", "json", "--base", "main", "--head", "pr", cwd=stack.repo.directory))

    rules = [code for code, path in found.rules if path == "deps/verifiers"]
    assert rules == ["PIN002", "PIN004", "PIN008"]


def test_a_range_that_has_nothing_to_do_with_the_plan_is_fine(stack: Stack, pinctl: Pinctl) -> None:
    stack.repo.commit("pr", "Change something else", files={"README.md": "else\n"}, parents=[stack.repo.oid()])

    assert stack.check(pinctl, "pr") == []


def test_one_shared_file_that_changed_otherwise_is_no_sign_of_the_change(stack: Stack, pinctl: Pinctl) -> None:
    text = text_at(stack.repo.directory, "main", SERVING) + "\n# A comment.\n"
    stack.repo.commit("pr", "Comment", files={SERVING: text}, parents=[stack.repo.oid()])

    assert stack.check(pinctl, "pr") == []


PLAN = plan_toml(pull=1, branch="server")


def _planned(rig: Rig, before: str, after: str) -> Repo:
    lib = rig.component("lib")
    lib.commit(message="Read the new form (#1)", files={"new": "new\n"})
    lib.commit(message="Later", files={"later": "x\n"})
    side = lib.commit("side", "Side", files={"side": "x\n"}, parents=[lib.oid("main~2")])
    lib.commit("main", "Merge", parents=[lib.oid(), side], files={"side": "x\n"})
    files = {"pins.toml": rig.pins_toml("lib"), "landing_plans/new.toml": PLAN}
    repo = rig.superproject({"lib": lib.oid(before)}, files=files)
    repo.commit("server", "Send the new form", files={"server.py": "x\n"}, parents=[repo.oid()])
    repo.commit("pr", "Move lib", gitlinks={"deps/lib": lib.oid(after)}, parents=[repo.oid()])
    return repo


@pytest.mark.parametrize(
    ("before", "after", "rules"),
    [
        ("main~1", "main~3", ["PIN002", "PIN004"]),
        ("main~1", "side", ["PIN003", "PIN004"]),
        ("main~1", "main~2", ["PIN002"]),
        ("main~3", "main~2", []),
        ("main~3", "side", []),
    ],
)
def test_a_pin_that_loses_what_a_plan_requires_is_broken(
    tmp_path: Path, pinctl: Pinctl, before: str, after: str, rules: list[str]
) -> None:
    rig = Rig(top=tmp_path)
    repo = _planned(rig, before, after)

    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    assert found.answer() == (1 if rules else 0, [(code, "deps/lib") for code in rules])
    if "PIN004" in rules:
        lib = rig.components["lib"]
        assert found.messages[-1] == (
            f"{lib.oid(after)[:7]} lacks lib#1 ({lib.oid('main~2')[:7]}), which plan new requires"
        )
        assert found.findings[-1]["fix"] == f"git update-index --cacheinfo 160000,{lib.oid(before)},deps/lib"
