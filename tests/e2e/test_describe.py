"""Describes landings for their pull requests, wherever they stand, by what their commits did."""

import json
from typing import Any

import pytest

from support import Demo, Git, Pinctl
from support.snapshot import unchanged
from support.stack import LANDING, commit

BUMP = "landing/bump-renderers"


def described(pinctl: Pinctl, demo: Demo, name: str = "packed-generate") -> dict[str, Any]:
    with unchanged(demo.superproject):
        result = pinctl("describe", name, "--format", "json", cwd=demo.superproject)
    assert (result.status, result.stderr) == (0, "")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def landed(pinctl: Pinctl, demo: Demo, *words: str) -> dict[str, Any]:
    result = pinctl(*(words or ("land", "packed-generate")), "--format", "json", cwd=demo.superproject)
    assert result.status == 0
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_landing_is_described_by_what_it_did(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    rehearsed = json.loads(pinctl("plan", "packed-generate", "--format", "json", cwd=demo.superproject).stdout)
    landing = landed(pinctl, demo)

    found = described(pinctl, demo)

    assert {name: found[name] for name in ("branch", "commit", "parent")} == {
        name: landing[name] for name in ("branch", "commit", "parent")
    }
    assert found["title"] == git(demo.superproject, "log", "-1", "--format=%s", LANDING)
    assert [{name: pin[name] for name in landing["pins"][0]} for pin in found["pins"]] == landing["pins"]
    wanted = {(item["component"], item["manifest"], item["from"], item["to"]) for item in rehearsed["floors"]}
    assert {(item["component"], item["manifest"], item["from"], item["to"]) for item in found["floors"]} == wanted
    assert [item["title"] for item in found["companions"]] == ["renderers#174", "verifiers#2778"]
    assert found["changes"] == [
        {"title": "prime-rl#3900", "head": git(demo.superproject, "rev-parse", "origin/perf/packed-generate-gc")}
    ]
    assert found["lacking"] == found["rollbacks"] == []
    trailers = git(demo.superproject, "log", "-1", "--format=%(trailers:key=Certificate,valueonly)", LANDING).strip()
    proof = found["proof"]
    assert (proof["holds"], proof["certificate"], proof["safe_orders"], proof["orders"]) == (True, trailers, 2, 6)
    required = [cell["verdict"] for cell in proof["cells"] if cell["required"]]
    assert required == ["ok"] * 6
    assert {cell["verdict"] for cell in proof["cells"] if not cell["required"]} == {"rejects"}


def test_the_text_is_markdown_with_everything_that_the_values_have(demo: Demo, pinctl: Pinctl) -> None:
    landed(pinctl, demo)
    found = described(pinctl, demo)

    result = pinctl("describe", LANDING, cwd=demo.superproject)

    assert (result.status, result.stdout, result.stderr) == (0, found["body"], "")
    lines = result.stdout.splitlines()
    for pin in found["pins"]:
        row = f"| `{pin['path']}` | `{pin['from'][:7]}` | `{pin['to'][:7]}` | `{pin['version']}` |"
        assert any(line.startswith(row) for line in lines)
        assert all(f"- `{subject}`" in lines for subject in pin["incoming"])
    for floor in found["floors"]:
        assert f"- `{floor['manifest']}`: `{floor['from']}` to `{floor['to']}`" in lines
    assert "On the code of both sides, 6 of 6 required cells are ok." in lines
    assert f"- the certificate holds for this commit: `{found['proof']['certificate']}`" in lines
    old = f"| `renderers@{found['pins'][0]['from'][:7]}` | ok | (**rejects**) |"
    assert old in lines


@pytest.mark.parametrize("merged", [False, True])
def test_a_landing_is_found_where_it_is_now(demo: Demo, pinctl: Pinctl, git: Git, merged: bool) -> None:  # noqa: FBT001
    landing = landed(pinctl, demo, "land", "packed-generate", "--push")
    here = described(pinctl, demo)
    git(demo.superproject, "branch", "--quiet", "-D", LANDING)
    if merged:
        remote = demo.remote("prime-rl")
        git(remote, "update-ref", "refs/heads/main", landing["commit"])
        git(remote, "update-ref", "-d", f"refs/heads/{LANDING}")

    found = described(pinctl, demo)

    assert found == here | {"branch": "main" if merged else f"origin/{LANDING}"}


def test_a_landing_that_was_changed_afterwards_is_not_proven(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    first = landed(pinctl, demo)
    commit(demo.superproject, LANDING, "Something else", files={"src/more.py": "more = 1\n"})
    message = git(demo.superproject, "log", "-1", "--format=%B", first["commit"])
    tree = git(demo.superproject, "rev-parse", f"{LANDING}^{{tree}}")
    amended = git(demo.superproject, "commit-tree", tree, "-p", first["parent"], "-m", message)
    git(demo.superproject, "update-ref", f"refs/heads/{LANDING}", amended)

    found = described(pinctl, demo)

    assert (found["commit"], found["proof"]["holds"]) == (amended, False)
    assert found["proof"]["stale"] == ["files of the superproject have changed"]
    words = "- **the certificate does not hold for this commit**: `files of the superproject have changed`"
    assert words in found["body"].splitlines()


def test_a_bump_is_described_with_all_that_comes_in(demo: Demo, pinctl: Pinctl) -> None:
    subject = "Thank @everyone for `a` | b <b>"
    tip = commit(demo.remote("renderers"), "main", subject, files={"notes": "a note\n"})
    landed(pinctl, demo, "bump", "renderers")

    found = described(pinctl, demo, "bump-renderers")

    (pin,) = found["pins"]
    assert (pin["to"], pin["incoming"][0], found["plan"], found["proof"]) == (tip, subject, None, None)
    assert "- <code>Thank &#64;everyone for &#96;a&#96; &#124; b &#60;b&#62;</code>" in found["body"].splitlines()


def test_a_bump_back_says_so_and_why(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    pinned = git(demo.superproject, "rev-parse", "main:deps/renderers")
    before = git(demo.remote("renderers"), "rev-parse", f"{pinned}^1")
    bump = ("bump", f"renderers@{before}", "--rollback", "it is slow")
    result = pinctl(*bump, cwd=demo.superproject)
    assert result.status == 0, result.stdout

    found = described(pinctl, demo, BUMP)

    assert [(pin["to"], pin["back"]) for pin in found["pins"]] == [(before, True)]
    assert found["rollbacks"] == ["renderers it is slow"]
    assert "- moves back: `renderers it is slow`" in found["body"].splitlines()


def test_a_companion_that_was_reverted_since_is_told(demo: Demo, pinctl: Pinctl) -> None:
    landing = landed(pinctl, demo)
    remote, reverted = demo.remote("renderers"), landing["pins"][0]["to"]
    message = f'Revert "Read"\n\nThis reverts commit {reverted}.\n'
    commit(remote, "main", message, tree=f"{reverted}~1^{{tree}}")

    found = described(pinctl, demo)

    assert [item["title"] for item in found["companions"]] == ["verifiers#2778"]
    (words,) = found["lacking"]
    assert words.startswith(f"renderers#174 was merged as {reverted[:7]} and reverted by ")
    assert f"- **not on its branch now**: `{words}`" in found["body"].splitlines()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("packed-generate", f"packed-generate has not been landed: there is no {LANDING}, here or on the remote, and "),
        ("pcked-generate", "there is no landing 'pcked-generate', and no plan; did you mean 'packed-generate'?"),
        (BUMP, "there is no landing 'bump-renderers', and no plan; there are 'packed-generate'"),
    ],
)
def test_what_was_not_landed_is_not_described(demo: Demo, pinctl: Pinctl, name: str, words: str) -> None:
    with unchanged(demo.superproject):
        result = pinctl("describe", name, cwd=demo.superproject)

    assert (result.status, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {words}")
    assert "\nhint: " in result.stderr


def test_a_branch_of_that_name_that_is_no_landing_is_not_described(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    git(demo.superproject, "branch", LANDING, "main")

    result = pinctl("describe", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stdout) == (2, "")
    assert "which is no landing of packed-generate" in result.stderr


def test_a_remote_that_does_not_answer_is_no_description(demo: Demo, pinctl: Pinctl) -> None:
    landed(pinctl, demo)
    remote = demo.remote("renderers")
    remote.rename(remote.with_name("gone.git"))

    result = pinctl("describe", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stdout) == (3, "")
    assert "renderers" in result.stderr
