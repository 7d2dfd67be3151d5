"""Bumps that a check would refuse are refused beforehand, and those that it would let through come through it."""

from pathlib import Path

import pytest

from support import Pinctl
from support.rig import Repo, Rig, checked, plan_toml
from support.snapshot import unchanged
from support.uv_rig import UvRig, answered, project, refusals, text_of

LANDING = "landing/bump-lib"
PLAN = plan_toml(pull=7)


def superproject(rig: Rig, at: str, *, files: dict[str, str | bytes | None] | None = None) -> Repo:
    pins = {name: lib.oid(at) for name, lib in rig.components.items()}
    return rig.superproject(pins, files={"pins.toml": rig.pins_toml(*pins), **(files or {})})


def rules(found: list[dict[str, object]]) -> list[str]:
    return [str(item["message"]).partition(":")[0] for item in found]


def test_a_pin_that_would_move_back_is_refused_and_nothing_is_published(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = superproject(rig, "main")

    with unchanged(repo.directory):
        result = pinctl("bump", "lib@main~2", cwd=repo.directory)
        rehearsed = pinctl("bump", "lib@main~2", "--plan", cwd=repo.directory)

    assert (result.status, result.stderr) == (1, "")
    assert (
        result.stdout
        == rehearsed.stdout
        == (
            "refused: PIN002 deps/lib: the pin moved back by 2, "
            f"from {lib.oid()[:7]} to {lib.oid('main~2')[:7]}\n"
            "hint: What that means: pinctl rule PIN002\n"
            "Nothing was changed.\n"
        )
    )
    assert rehearsed.status == 1


def test_with_a_reason_it_may_and_a_check_of_its_commit_accepts_that(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = superproject(rig, "main")

    landing = answered(pinctl, repo, "bump", "lib@main~2", "--rollback", "it loses\ntokens ")

    assert landing["pins"][0]["to"] == lib.oid("main~2")
    trailers = repo.git("log", "-1", "--format=%(trailers:only)", LANDING).strip().splitlines()
    assert trailers[-1] == "Pin-Rollback: lib it loses tokens"
    found = checked(pinctl, repo, "--base", "main", "--head", LANDING)
    assert found.answer() == (0, [("(PIN002)", "deps/lib")])
    assert found.only["waived"] == "it loses tokens"


def test_a_reason_covers_the_pin_that_moves_back_and_not_those_that_do_not(tmp_path: Path, pinctl: Pinctl) -> None:
    """A waiver that waives nothing is a finding too, and would block the pull request."""
    rig = Rig(top=tmp_path)
    lib, other = rig.component("lib"), rig.component("other")
    pins = {"lib": lib.oid(), "other": other.oid("main~1")}
    repo = rig.superproject(pins, files={"pins.toml": rig.pins_toml("lib", "other")})

    landing = answered(pinctl, repo, "bump", "lib@main~1", "other", "--rollback", "it leaks")

    found = checked(pinctl, repo, "--base", "main", "--head", landing["branch"])
    assert found.answer() == (0, [("(PIN002)", "deps/lib")])


def test_a_pin_that_went_another_way_needs_a_reason_too(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    side = lib.commit("side", "Side", files={"side": "x\n"}, parents=[lib.oid("main~1")])
    lib.commit("main", "Merge", files={"side": "x\n"}, parents=[lib.oid(), side])
    repo = superproject(rig, "main~1")

    assert rules(refusals(pinctl, repo, "bump", f"lib@{side}")) == ["PIN003 deps/lib"]
    landing = answered(pinctl, repo, "bump", f"lib@{side}", "--rollback", "only this half works")
    assert checked(pinctl, repo, "--base", "main", "--head", landing["branch"]).answer() == (
        0,
        [("(PIN003)", "deps/lib")],
    )


def test_what_is_not_on_the_branch_is_refused_with_or_without_a_reason(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    lib.commit("ahead", "Ahead", files={"a": "x\n"}, parents=[lib.oid()])
    gone = lib.commit("gone", "Work", files={"b": "x\n"}, parents=[lib.oid("main~1")])
    squash = lib.commit(message="Work (#7)", files={"b": "x\n"})
    repo = superproject(rig, "main~2")

    with unchanged(repo.directory):
        (ahead,) = refusals(pinctl, repo, "bump", "lib@ahead", "--rollback", "please")
        (twin,) = refusals(pinctl, repo, "bump", f"lib@{gone}")
    assert ahead["message"].startswith("PIN001 deps/lib: ")
    assert f"its content is there as {squash[:7]}" in twin["message"]


def test_what_was_reverted_later_is_refused(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    bad = lib.commit(message="Work", files={"a": "x\n"})
    lib.commit(message=f'Revert "Work"\n\nThis reverts commit {bad}.\n', files={"a": None})
    repo = superproject(rig, "main~2")

    assert rules(refusals(pinctl, repo, "bump", f"lib@{bad}")) == ["PIN005 deps/lib"]
    assert answered(pinctl, repo, "bump", "lib")["pins"][0]["to"] == lib.oid()


def test_a_rollback_below_a_floor_is_refused_whatever_the_reason(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    lib = rig.library("lib", "0.1.0", "0.2.0")
    pins_toml = rig.pins_toml("lib", more={"lib": 'distribution = "lib"'})
    files = {"pins.toml": pins_toml, "pyproject.toml": rig.root("lib", requires=["lib>=0.2"])}
    repo = rig.superproject({"lib": lib.oid()}, files=files)

    with unchanged(repo.directory):
        (found,) = refusals(pinctl, repo, "bump", "lib@v0.1.0", "--rollback", "it leaks")

    assert found["message"] == (
        f"FLR001 pyproject.toml: lib>=0.2 is above 0.1.0, the version at pin {lib.oid('v0.1.0')[:7]}"
    )


def test_a_newer_release_that_lacks_what_a_landed_plan_requires_is_refused(tmp_path: Path, pinctl: Pinctl) -> None:
    """prime-rl#4056: verifiers is pinned past v0.4.0 with #2778; v0.4.0, the newest release, does not have it."""
    rig = UvRig(top=tmp_path)
    lib = rig.library("lib", "0.3.0", "0.4.0")
    change = lib.commit(message="Read the new form (#7)", files={"reader": "x\n"})
    pinned = lib.commit(message="Past it", files={"notes": "x\n"})
    pins_toml = rig.pins_toml("lib", more={"lib": 'distribution = "lib"'})
    files = {"pins.toml": pins_toml, "landing_plans/forms.toml": PLAN}
    repo = rig.superproject({"lib": lib.oid("v0.3.0")}, files=files)
    repo.commit(message="Send the new form (#9)", files={"server": "x\n"}, gitlinks={"deps/lib": pinned})

    with unchanged(repo.directory):
        found = refusals(pinctl, repo, "bump", "--release", "lib")

    assert [item["message"] for item in found if item["message"].startswith("PIN004")] == [
        f"PIN004 deps/lib: {lib.oid('v0.4.0')[:7]} lacks lib#7 ({change[:7]}), which plan forms requires"
    ]
    assert answered(pinctl, repo, "bump", f"lib@{pinned}")["already_landed"] is True


def test_what_was_wrong_with_another_component_before_is_not_in_the_way(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib, other = rig.component("lib"), rig.component("other")
    orphan = other.commit("gone", "Work", files={"a": "x\n"}, parents=[other.oid("main~1")])
    pins = {"lib": lib.oid("main~1"), "other": orphan}
    repo = rig.superproject(pins, files={"pins.toml": rig.pins_toml("lib", "other")})

    landing = answered(pinctl, repo, "bump", "lib")

    assert checked(pinctl, repo, "--base", "main", "--head", landing["branch"]).answer() == (0, [])


@pytest.mark.parametrize("broken", ["lib", "other"])
def test_everything_that_is_in_the_way_is_said_at_once(tmp_path: Path, pinctl: Pinctl, broken: str) -> None:
    rig = Rig(top=tmp_path)
    rig.component("lib")
    rig.component("other")
    repo = superproject(rig, "main")

    words = ["lib@main~1", "other@main~2"]
    found = refusals(pinctl, repo, "bump", *(words if broken == "lib" else reversed(words)))

    assert sorted(rules(found)) == ["PIN002 deps/lib", "PIN002 deps/other"]


def test_a_superproject_whose_remote_of_a_component_is_gone_is_unknown(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = superproject(rig, "main~1")
    lib.directory.rename(tmp_path / "gone.git")

    with unchanged(repo.directory):
        result = pinctl("bump", "lib", cwd=repo.directory)

    assert (result.status, result.stdout) == (3, "")
    assert "does not answer" in result.stderr


def test_a_submodule_that_pins_toml_does_not_name_is_left_where_it_is(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib, other = rig.component("lib"), rig.component("other")
    pins = {"lib": lib.oid("main~1"), "other": other.oid("main~1")}
    repo = rig.superproject(pins, files={"pins.toml": rig.pins_toml("lib")})

    landing = answered(pinctl, repo, "bump", "lib")

    assert repo.oid(f"{landing['branch']}:deps/other") == other.oid("main~1")
    assert f'commit = "{lib.oid()}"' in text_of(repo, landing["branch"], "pins.toml")


def test_a_lock_that_cannot_be_made_does_not_hide_what_else_is_wrong(tmp_path: Path, pinctl: Pinctl) -> None:
    """A pull request's head that needs what nobody has: that it is not merged is to be settled first."""
    rig = UvRig(top=tmp_path)
    lib = rig.library("lib", "0.1.0")
    repo = rig.locked({"lib": lib.oid()}, manifest=rig.root("lib", requires=["lib"]), pins_toml=rig.declared("lib"))
    text = project("lib", "0.2.0", requires=["missing"])
    head = lib.commit("work", "Need more", files={"pyproject.toml": text}, parents=[lib.oid()])

    with unchanged(repo.directory):
        (found,) = refusals(pinctl, repo, "bump", f"lib@{head}", "--plan")

    assert found["message"] == f"PIN001 deps/lib: {head[:7]} is ahead of main by 1, unmerged"
    lib.branch("main", "work")
    (found,) = refusals(pinctl, repo, "bump", f"lib@{head}", "--plan")
    assert found["message"] == "uv finds no lock for super with the new pins"
