"""Checks what people push to the embedded superproject, by the first rules: PIN001 to PIN003, FLR001 and LCK001."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support import Demo, Git, Pinctl
from support.clones import bare_of_submodules
from support.snapshot import unchanged
from support.stack import (
    CONFIGS_MANIFEST,
    LANDING,
    RENDERERS_SQUASH,
    ROOT_MANIFEST,
    SERVER_BRANCH,
    VERIFIERS_SQUASH,
    by_subject,
    commit,
    replaced,
    text_at,
)

PINNED = ("renderers", "verifiers")
FIRST_RULES = ("PIN001", "PIN002", "PIN003", "FLR001", "LCK001")
STABLE = ("rule", "component", "path", "line", "message", "fix")


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps the pull request that these tests may be run for from being what they check."""
    for name in ("GITHUB_ACTIONS", "GITLAB_CI", "CI"):
        monkeypatch.delenv(name, raising=False)


def test_a_landing_breaks_no_rule(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0

    with unchanged(demo.superproject):
        result = pinctl("check", "--head", LANDING, "--format", "json", cwd=demo.superproject)
        words = pinctl("check", "--head", LANDING, cwd=demo.superproject)

    assert (result.status, result.stderr) == (0, "")
    answer = json.loads(result.stdout)
    assert answer["status"] == "ok"
    assert (answer["base"], answer["head"]) == tuple(git(demo.superproject, "rev-parse", "main", LANDING).split())
    assert [finding for finding in answer["findings"] if finding["rule"] in FIRST_RULES] == []
    assert (words.status, words.stderr) == (0, "")
    assert words.stdout.splitlines()[-1].startswith("ok: ")


def test_the_heads_of_pull_requests_are_told_from_the_commits_they_were_squashed_to(
    demo: Demo, pinctl: Pinctl, git: Git
) -> None:
    answer, findings = _checked(pinctl, demo.superproject, "--head", f"origin/{SERVER_BRANCH}", status=1)

    assert answer["status"] == "broken"
    heads = {name: git(demo.superproject, "rev-parse", f"origin/{SERVER_BRANCH}:deps/{name}") for name in PINNED}
    twins = {
        "renderers": by_subject(demo.remote("renderers"), "main", RENDERERS_SQUASH),
        "verifiers": by_subject(demo.remote("verifiers"), "main", VERIFIERS_SQUASH),
    }
    evidence = {"renderers": "same tree", "verifiers": "same combined patch-id"}
    assert [finding for finding in findings if finding["rule"] == "PIN001"] == [
        {
            "rule": "PIN001",
            "component": name,
            "path": f"deps/{name}",
            "line": None,
            "message": f"{heads[name][:7]} is not on main; its content is there as {twins[name][:7]} "
            f"({evidence[name]}): pin that instead",
            "fix": _fix(demo, git, name, twins[name], revision=f"origin/{SERVER_BRANCH}"),
        }
        for name in PINNED
    ]


def test_the_commands_that_findings_offer_mend_them(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    git(demo.superproject, "checkout", "--quiet", "-b", "mine", "main")
    head = git(demo.superproject, "rev-parse", f"origin/{SERVER_BRANCH}:deps/renderers")
    commit(demo.superproject, "mine", "Pin the head", gitlinks={"deps/renderers": head})
    rules = []
    for _ in range(4):
        answer, findings = _checked(pinctl, demo.superproject, status=None)
        if answer["status"] == "ok":
            break
        rules.append({finding["rule"] for finding in findings if finding["fix"]})
        for command in (finding["fix"] for finding in findings if finding["fix"]):
            subprocess.run(["bash", "-c", command], cwd=demo.superproject, check=True)
        git(demo.superproject, "add", "pins.toml")
        git(demo.superproject, "commit", "--quiet", "--message", "Do as I am told")

    assert "PIN001" in rules[0]
    assert answer["status"] == "ok", rules
    twin = by_subject(demo.remote("renderers"), "main", RENDERERS_SQUASH)
    assert git(demo.superproject, "rev-parse", "mine:deps/renderers") == twin


def test_a_pin_that_moved_back(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    before = git(demo.superproject, "rev-parse", "main:deps/verifiers")
    after = git(demo.remote("verifiers"), "rev-parse", "v0.4.0^{commit}")
    git(demo.superproject, "checkout", "--quiet", "-b", "mine", "main")
    commit(demo.superproject, "mine", "Move it back", gitlinks={"deps/verifiers": after})

    _, findings = _checked(pinctl, demo.superproject, status=1)

    assert [finding for finding in findings if finding["rule"] in FIRST_RULES] == [
        {
            "rule": "PIN002",
            "component": "verifiers",
            "path": "deps/verifiers",
            "line": None,
            "message": f"the pin moved back by 2, from {before[:7]} to {after[:7]}",
            "fix": f"git update-index --cacheinfo 160000,{before},deps/verifiers",
        }
    ]


def test_a_pin_that_went_to_a_side_branch(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    remote = demo.remote("verifiers")
    git(remote, "branch", "side", "v0.4.0")
    side = commit(remote, "side", "Something else", files={"else": "else\n"})
    tip = git(remote, "rev-parse", "main")
    before = git(demo.superproject, "rev-parse", "main:deps/verifiers")
    git(demo.superproject, "checkout", "--quiet", "-b", "mine", "main")
    commit(demo.superproject, "mine", "Move it aside", gitlinks={"deps/verifiers": side})

    _, findings = _checked(pinctl, demo.superproject, status=1)

    found = {finding["rule"]: finding for finding in findings if finding["rule"] in FIRST_RULES}
    assert sorted(found) == ["PIN001", "PIN003"]
    assert found["PIN001"]["message"] == f"{side[:7]} is diverged from main (1 ahead, 5 behind)"
    assert found["PIN001"]["fix"] == _fix(demo, git, "verifiers", tip, revision="mine")
    assert found["PIN003"]["message"] == (
        f"the pin moved from {before[:7]} to {side[:7]}, which lacks 2 of its commits"
    )


def test_a_floor_above_the_pin(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    """Uv says nothing to this one: a floor on a path source in the same manifest does not count for it."""
    manifest = replaced(text_at(demo.superproject, "main", ROOT_MANIFEST), (">=0.3.0", ">=0.5.0"))
    git(demo.superproject, "checkout", "--quiet", "-b", "mine", "main")
    commit(demo.superproject, "mine", "Raise a floor", files={ROOT_MANIFEST: manifest})
    pin = git(demo.superproject, "rev-parse", "--short=7", "main:deps/verifiers")

    _, findings = _checked(pinctl, demo.superproject, status=1)

    (finding,) = (finding for finding in findings if finding["rule"] in FIRST_RULES)
    assert (finding["rule"], finding["component"], finding["path"]) == ("FLR001", "verifiers", ROOT_MANIFEST)
    assert finding["line"] == manifest[: manifest.index(">=0.5.0")].count("\n") + 1
    assert finding["message"] == (f"verifiers[harbor]>=0.5.0 is above 0.4.1.dev2+g{pin}, the version at pin {pin}")


def test_a_manifest_that_was_edited_without_locking(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    manifest = replaced(text_at(demo.superproject, "main", CONFIGS_MANIFEST), ("verifiers>=0.3.0", "verifiers>=0.4.0"))
    git(demo.superproject, "checkout", "--quiet", "-b", "mine", "main")
    commit(demo.superproject, "mine", "Raise a floor", files={CONFIGS_MANIFEST: manifest})

    with unchanged(demo.superproject):
        _, findings = _checked(pinctl, demo.superproject, status=1)

    (finding,) = (finding for finding in findings if finding["rule"] in FIRST_RULES)
    assert (finding["rule"], finding["component"], finding["path"]) == ("LCK001", None, "uv.lock")
    assert finding["message"].startswith("the lock is out of date: ")
    assert "uv lock" in finding["fix"]


def test_a_manifest_that_was_edited_and_locked(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    manifest = replaced(text_at(demo.superproject, "main", CONFIGS_MANIFEST), ("verifiers>=0.3.0", "verifiers>=0.4.0"))
    lock = replaced(
        text_at(demo.superproject, "main", "uv.lock"),
        ('"verifiers", specifier = ">=0.3.0"', '"verifiers", specifier = ">=0.4.0"'),
    )
    git(demo.superproject, "checkout", "--quiet", "-b", "mine", "main")
    commit(demo.superproject, "mine", "Raise a floor", files={CONFIGS_MANIFEST: manifest, "uv.lock": lock})

    _, findings = _checked(pinctl, demo.superproject, status=None)

    assert [finding for finding in findings if finding["rule"] in FIRST_RULES] == []


def test_a_branch_that_main_has_overtaken_moves_nothing_itself(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    git(demo.superproject, "checkout", "--quiet", "-b", "mine", "main~2")
    assert git(demo.superproject, "rev-parse", "mine:deps/verifiers") != git(
        demo.superproject, "rev-parse", "main:deps/verifiers"
    )
    commit(demo.superproject, "mine", "Write a note", files={"notes": "a note\n"})

    answer, findings = _checked(pinctl, demo.superproject, status=0)

    assert (answer["status"], findings) == ("ok", [])


@pytest.mark.parametrize("head", [f"origin/{SERVER_BRANCH}", f"origin/{LANDING}", "origin/main"])
def test_a_clone_without_submodules_gives_the_same_answers(
    demo: Demo, pinctl: Pinctl, git: Git, tmp_path: Path, head: str
) -> None:
    assert pinctl("land", "packed-generate", "--push", cwd=demo.superproject).status == 0
    clone = bare_of_submodules(demo, tmp_path / "clone")
    git(demo.superproject, "fetch", "--quiet")

    with unchanged(clone):
        there = [pinctl("check", "--head", head, *options, cwd=clone) for options in ((), ("--format", "json"))]

    here = [pinctl("check", "--head", head, *options, cwd=demo.superproject) for options in ((), ("--format", "json"))]
    assert there == here
    assert here[0].status == (1 if SERVER_BRANCH in head else 0)


def test_a_remote_that_does_not_answer_is_unknown_and_not_fine(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    git(demo.superproject, "checkout", "--quiet", "-b", "mine", "main")
    tip = git(demo.remote("renderers"), "rev-parse", "main")
    pins = text_at(demo.superproject, "main", "pins.toml")
    files = {"pins.toml": replaced(pins, (git(demo.superproject, "rev-parse", "main:deps/renderers"), tip))}
    commit(demo.superproject, "mine", "Bump renderers", gitlinks={"deps/renderers": tip}, files=files)
    demo.remote("renderers").rename(demo.directory / "gone")

    answer, findings = _checked(pinctl, demo.superproject, status=3)

    assert answer["status"] == "unknown"
    found = [finding for finding in findings if finding["rule"] == "PIN001"]
    assert [finding["component"] for finding in found] == ["renderers"]
    assert found[0]["message"].startswith(
        f"could not find out: the remote {demo.remote('renderers')} does not answer: "
    )


def test_a_revision_that_is_not_there(demo: Demo, pinctl: Pinctl) -> None:
    result = pinctl("check", "--head", "nothing", cwd=demo.superproject)

    assert (result.status, result.stdout) == (3, "")
    assert result.stderr.startswith("error: nothing names no commit in ")


def _fix(demo: Demo, git: Git, name: str, commit: str, *, revision: str) -> str:
    """Returns the command that sets a pin and its record, which was right for another commit."""
    lines = git(demo.superproject, "show", f"{revision}:pins.toml").split("\n")
    section = lines.index(f"[components.{name}]")
    number = next(number for number in range(section, len(lines)) if lines[number].startswith("commit = ")) + 1
    record = lines[number - 1].split('"')[1]
    return (
        f"git update-index --cacheinfo 160000,{commit},deps/{name} && "
        f"sed -i '{number}s|{record}|{commit}|' pins.toml && git add pins.toml"
    )


def _checked(
    pinctl: Pinctl, directory: Path, *options: str, status: int | None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Checks, and returns the whole answer, and its findings with the keys that scripts rely on."""
    result = pinctl("check", *options, "--format", "json", cwd=directory)
    assert result.stderr == ""
    assert status is None or result.status == status, result.stdout
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer, [{key: finding[key] for key in STABLE} for finding in answer["findings"]]
