"""Judges the history of the embedded stack, commit by commit."""

import json
from pathlib import Path
from typing import Any

import pytest

from support import Demo, Git, Pinctl
from support.rig import Rig
from support.snapshot import unchanged
from support.stack import LANDING, commit


def audited(pinctl: Pinctl, demo: Demo, *words: str, status: int) -> dict[str, Any]:
    with unchanged(demo.superproject):
        result = pinctl("audit", *words, "--format", "json", cwd=demo.superproject)
    assert (result.status, result.stderr) == (status, "")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def rules(found: dict[str, Any]) -> dict[str, list[str]]:
    return {item["subject"]: [finding["rule"] for finding in item["findings"]] for item in found["judged"]}


def test_the_history_of_the_embedded_stack_breaks_no_rule(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    listed = git(demo.superproject, "rev-list", "--first-parent", "--min-parents=1", "main").split()

    found = audited(pinctl, demo, status=0)

    assert (found["status"], found["commits"]) == ("ok", len(listed))
    assert rules(found) == {"Bump renderers and verifiers": [], "Bump verifiers": []}
    assert [item["base"] for item in found["judged"]] == [
        git(demo.superproject, "rev-parse", f"{item['head']}^1") for item in found["judged"]
    ]


def test_each_commit_is_judged_as_what_it_was(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    """A pin that went back, one that set it right again, and the server's change without its pins."""
    top = demo.superproject
    pinned = git(top, "rev-parse", "main:deps/renderers")
    older = git(demo.remote("renderers"), "rev-parse", f"{pinned}^1")
    commit(top, "main", "Go back", gitlinks={"deps/renderers": older})
    commit(top, "main", "Go on", gitlinks={"deps/renderers": pinned})
    commit(top, "main", "Write a note", files={"notes": "a note\n"})
    change = "origin/perf/packed-generate-gc"
    listed = git(top, "diff", "--name-only", f"main...{change}", "--", "src").splitlines()
    files = {path: git(top, "show", f"{change}:{path}") + "\n" for path in listed}
    commit(top, "main", "Take the server's change alone", files=files)

    found = audited(pinctl, demo, "main~4..main", status=1)

    assert found["commits"] == 4
    assert [item["subject"] for item in found["judged"]] == ["Go back", "Go on", "Take the server's change alone"]
    said = rules(found)
    assert "PIN002" in said["Go back"]
    assert "PIN002" not in said["Go on"]
    assert "PIN008" in said["Take the server's change alone"]


def test_a_landing_passes_with_its_certificate(demo: Demo, pinctl: Pinctl) -> None:
    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0

    found = audited(pinctl, demo, f"main..{LANDING}", status=0)

    assert [item["findings"] for item in found["judged"]] == [[]]


def test_the_text_names_each_commit_that_breaks_a_rule_once(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    older = git(
        demo.remote("renderers"), "rev-parse", f"{git(demo.superproject, 'rev-parse', 'main:deps/renderers')}^1"
    )
    went_back = commit(demo.superproject, "main", "Go back", gitlinks={"deps/renderers": older})

    result = pinctl("audit", "main~1..main", cwd=demo.superproject)

    lines = result.stdout.splitlines()
    assert (result.status, lines[0]) == (1, f"{went_back[:7]} Go back")
    assert any(line.startswith("  PIN002 deps/renderers: ") for line in lines)
    assert lines[-1].startswith("broken: ")
    assert lines[-1].endswith(
        "1 of 1 commits touch pins, floors, the lock or a planned change; 1 break a rule, 0 could not be judged"
    )


def test_a_remote_that_does_not_answer_is_not_ok(demo: Demo, pinctl: Pinctl) -> None:
    remote = demo.remote("renderers")
    remote.rename(remote.with_name("gone.git"))

    found = audited(pinctl, demo, status=3)

    assert found["status"] == "unknown"
    assert {finding["rule"] for item in found["judged"] for finding in item["findings"] if finding["unknown"]}


def test_a_history_that_is_cut_off_is_judged_only_where_it_is_there(
    demo: Demo, pinctl: Pinctl, git: Git, tmp_path: Path
) -> None:
    clone = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth", "3", f"file://{demo.remote('prime-rl')}", str(clone))

    whole = pinctl("audit", cwd=clone)
    part = pinctl("audit", "HEAD~1..HEAD", cwd=clone)

    assert (whole.status, whole.stdout) == (3, "")
    assert "is cut off here (a shallow clone)\nhint: Fetch the rest: git fetch --unshallow\n" in whole.stderr
    assert (part.status, part.stderr) == (0, "")


def test_gitlinks_alone_are_enough(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib", commits=3)
    superproject = rig.superproject({"lib": lib.oid("main~1")})
    for revision in ("main", "main~2"):
        superproject.commit(message=f"To {revision}", gitlinks={"deps/lib": lib.oid(revision)})

    result = pinctl("audit", "--format", "json", cwd=superproject.directory)

    assert (result.status, result.stderr) == (1, "")
    assert rules(json.loads(result.stdout)) == {"To main": [], "To main~2": ["PIN002"]}


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ("main...side", 2, "error: main...side is no range of one history\nhint: Write BASE..HEAD: main..side\n"),
        ("nope", 3, "error: nope names no commit in "),
        ("main..nope", 3, "error: nope names no commit in "),
    ],
)
def test_what_is_no_history_is_refused(demo: Demo, pinctl: Pinctl, words: str, status: int, message: str) -> None:
    result = pinctl("audit", words, cwd=demo.superproject)

    assert (result.status, result.stdout) == (status, "")
    assert result.stderr.startswith(message)
