"""Lands what is landed already: the second run says so and changes nothing, wherever the first one has got to."""

import json
from typing import Any

import pytest
import uv

from support import Demo, Git, Pinctl
from support.git import run
from support.snapshot import difference, snapshot, unchanged
from support.stack import LANDING, PUBLISHED, SERVER_BRANCH, commit, text_at

TITLE = "Pack the per-token payloads of /generate"


@pytest.fixture
def landed(demo: Demo, pinctl: Pinctl) -> dict[str, Any]:
    """A first landing, as JSON."""
    result = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)
    assert result.status == 0, result.stderr
    landing: dict[str, Any] = json.loads(result.stdout)
    return landing


def test_a_second_run_says_that_it_is_there_and_changes_nothing(
    demo: Demo, pinctl: Pinctl, landed: dict[str, Any]
) -> None:
    with unchanged(demo.superproject, demo.remote("prime-rl")):
        again = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)
        in_words = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (again.status, again.stderr) == (0, "")
    assert json.loads(again.stdout) == landed | {"already_landed": True}
    moves = [f"  {pin['path']} {pin['from'][:7]} -> {pin['to'][:7]}  {pin['version']}\n" for pin in landed["pins"]]
    assert (in_words.status, in_words.stderr) == (0, "")
    assert in_words.stdout == "".join(
        [f"already there: {LANDING} has it as {landed['commit'][:7]}; nothing was changed\n", *moves]
    )


def test_a_second_run_needs_no_uv(
    demo: Demo, pinctl: Pinctl, landed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_uv_bin() -> str:
        pytest.fail("uv was looked for")

    monkeypatch.setattr(uv, "find_uv_bin", find_uv_bin)
    again = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    assert (again.status, again.stderr) == (0, "")
    assert json.loads(again.stdout) == landed | {"already_landed": True}


def test_a_landing_that_main_has_overtaken_is_made_anew(
    demo: Demo, pinctl: Pinctl, git: Git, landed: dict[str, Any]
) -> None:
    tip = commit(demo.remote("prime-rl"), "main", "Move on", files={"notes": "a note\n"})
    before = snapshot(demo.superproject)

    again = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    assert again.status == 0, again.stderr
    landing = json.loads(again.stdout)
    assert landing == landed | {"commit": git(demo.superproject, "rev-parse", LANDING), "parent": tip}
    assert landing["commit"] != landed["commit"]
    assert difference(before, snapshot(demo.superproject)) == PUBLISHED


def test_a_change_that_has_grown_is_landed_anew(demo: Demo, pinctl: Pinctl, landed: dict[str, Any]) -> None:
    commit(demo.remote("prime-rl"), SERVER_BRANCH, "One more thing", files={"notes": "a note\n"})

    again = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    assert again.status == 0, again.stderr
    assert not json.loads(again.stdout)["already_landed"]
    assert _changed(demo, landed["commit"]) == ["notes"]


@pytest.mark.parametrize("branches", ["kept", "deleted"])
@pytest.mark.parametrize(
    "subject",
    [
        f"{TITLE} (#3900)",
        # What a forge makes of a pull request that was opened for the landing branch.
        f"{TITLE} (#3900) (#3950)",
    ],
)
def test_what_was_squashed_onto_main_is_already_there(
    demo: Demo, pinctl: Pinctl, landed: dict[str, Any], subject: str, branches: str
) -> None:
    message = run(demo.superproject, "log", "-1", "--format=%b", LANDING)
    merged = _merge(demo, f"{subject}\n\n{message}", parents=(landed["parent"],), keeps_branches=branches == "kept")

    with unchanged(demo.superproject, demo.remote("prime-rl")):
        result = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)
        in_words = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stderr) == (0, "")
    assert json.loads(result.stdout) == {
        "branch": "main",
        "commit": merged,
        "parent": landed["parent"],
        "pins": [],
        "already_landed": True,
        "pushed": None,
    }
    assert (in_words.status, in_words.stderr) == (0, "")
    assert in_words.stdout == f"already there: main has it as {merged[:7]}; nothing was changed\n"


@pytest.mark.parametrize("branches", ["kept", "deleted"])
@pytest.mark.parametrize("how", ["merged", "fast-forwarded"])
def test_what_was_merged_into_main_is_already_there(
    demo: Demo, pinctl: Pinctl, landed: dict[str, Any], how: str, branches: str
) -> None:
    run(demo.superproject, "push", "--quiet", "origin", LANDING)
    if how == "merged":
        subject = f"Merge pull request #3950 from prime/{LANDING}"
        merged = _merge(demo, subject, parents=(landed["parent"], landed["commit"]), keeps_branches=branches == "kept")
    else:
        merged = _merge(demo, None, parents=(), keeps_branches=branches == "kept")

    with unchanged(demo.superproject, demo.remote("prime-rl")):
        result = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    assert (result.status, result.stderr) == (0, "")
    answer = json.loads(result.stdout)
    assert answer["already_landed"]
    assert (answer["branch"], answer["pins"]) == ("main", [])
    assert answer["commit"] in {merged, landed["commit"]}


def test_a_change_that_is_on_main_without_its_pins_gets_them(
    demo: Demo, pinctl: Pinctl, git: Git, landed: dict[str, Any]
) -> None:
    git(demo.superproject, "branch", "--quiet", "-D", LANDING)
    paths = git(demo.superproject, "diff", "--name-only", "main", landed["commit"], "--", "src").splitlines()
    files = {path: text_at(demo.superproject, landed["commit"], path) for path in paths}
    tip = commit(demo.remote("prime-rl"), "main", f"{TITLE} (#3900)", files=files)

    result = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    # What main has breaks the clients that it pins. To refuse would keep it like that.
    assert result.status == 0, result.stdout
    assert json.loads(result.stdout) == landed | {"commit": git(demo.superproject, "rev-parse", LANDING), "parent": tip}
    assert _changed(demo, landed["commit"]) == []


def _merge(demo: Demo, message: str | None, *, parents: tuple[str, ...], keeps_branches: bool) -> str:
    """Puts the landing on the remote's main, as a forge would."""
    remote = demo.remote("prime-rl")
    tree = run(demo.superproject, "rev-parse", f"{LANDING}^{{tree}}")
    run(demo.superproject, "push", "--quiet", "origin", LANDING)
    if message is None:
        merged = run(demo.superproject, "rev-parse", LANDING)
        run(remote, "update-ref", "refs/heads/main", merged)
    else:
        merged = commit(remote, "main", message, tree=tree, parents=parents)
    if not keeps_branches:
        run(demo.superproject, "branch", "--quiet", "-D", LANDING)
        for name in (f"refs/heads/{SERVER_BRANCH}", f"refs/heads/{LANDING}", "refs/pull/3900/head"):
            run(remote, "update-ref", "-d", name)
    return merged


def _changed(demo: Demo, before: str) -> list[str]:
    """Returns what is in a landing and was not in the one before, but for the certificate, which is of the new one."""
    paths = run(demo.superproject, "diff", "--name-only", before, LANDING).splitlines()
    return [path for path in paths if path != "landing_plans/certificates/packed-generate.json"]
