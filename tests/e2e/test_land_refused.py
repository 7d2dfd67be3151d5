"""Refuses landings for what the repositories hold, each time with the next step and everything as it was."""

import json

import pytest

from support import Demo, Git, Pinctl
from support.snapshot import unchanged
from support.stack import (
    CONFIGS_MANIFEST,
    LANDING,
    RENDERERS_SQUASH,
    SERVER_BRANCH,
    SERVING,
    VERIFIERS_SQUASH,
    by_subject,
    commit,
    replaced,
    text_at,
)


def test_a_companion_that_is_not_merged(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    remote = demo.remote("verifiers")
    head = git(remote, "rev-parse", "refs/pull/2778/head")
    _unmerge(demo, git, "verifiers")

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)
        as_json = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    message = f"verifiers#2778 is not merged: #2778's head {head} is diverged from main (2 ahead, 2 behind)"
    hint = "Merge verifiers#2778 first, then run this again."
    assert (result.status, result.stderr) == (1, "")
    assert result.stdout == f"refused: {message}\nhint: {hint}\nNothing was changed.\n"
    assert (as_json.status, as_json.stderr) == (1, "")
    assert json.loads(as_json.stdout) == {
        "objections": [{"kind": "not-merged", "message": message, "hint": hint, "details": []}]
    }


def test_companions_that_are_not_merged_are_named_all_at_once(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    heads = [
        git(demo.remote("renderers"), "rev-parse", "refs/pull/174/head"),
        git(demo.remote("verifiers"), "rev-parse", "refs/pull/2778/head"),
    ]
    for name in ("renderers", "verifiers"):
        _unmerge(demo, git, name)

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stderr) == (1, "")
    assert result.stdout == (
        f"refused: renderers#174 is not merged: #174's head {heads[0]} is ahead of main by 2, unmerged\n"
        "hint: Merge renderers#174 first, then run this again.\n"
        f"refused: verifiers#2778 is not merged: #2778's head {heads[1]} is diverged from main (2 ahead, 2 behind)\n"
        "hint: Merge verifiers#2778 first, then run this again.\n"
        "Nothing was changed.\n"
    )


@pytest.mark.parametrize(("component", "subject"), [("renderers", RENDERERS_SQUASH), ("verifiers", VERIFIERS_SQUASH)])
def test_a_companion_that_was_merged_and_reverted(
    demo: Demo, pinctl: Pinctl, git: Git, component: str, subject: str
) -> None:
    remote = demo.remote(component)
    merged = by_subject(remote, "main", subject)
    revert = _revert(demo, git, component, merged, tree=f"{merged}~1^{{tree}}")

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    number = {"renderers": 174, "verifiers": 2778}[component]
    assert (result.status, result.stderr) == (1, "")
    assert result.stdout == (
        f"refused: {component}#{number} was merged as {merged[:7]} and reverted by {revert[:7]} on main\n"
        "hint: Land it there again first.\n"
        "Nothing was changed.\n"
    )


def test_a_companion_whose_revert_was_reverted_is_landed(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    merged = by_subject(demo.remote("verifiers"), "main", VERIFIERS_SQUASH)
    tip = git(demo.remote("verifiers"), "rev-parse", "main")
    revert = _revert(demo, git, "verifiers", merged, tree=f"{merged}~1^{{tree}}")
    _revert(demo, git, "verifiers", revert, tree=f"{tip}^{{tree}}")

    result = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    assert result.status == 0, result.stdout + result.stderr
    assert git(demo.superproject, "rev-parse", f"{LANDING}:deps/verifiers") == merged


def test_a_companion_that_nobody_has_heard_of(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    git(demo.remote("verifiers"), "update-ref", "-d", "refs/pull/2778/head")
    _unmerge(demo, git, "verifiers")

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stdout) == (3, "")
    assert result.stderr == (
        "error: verifiers#2778: its remote keeps neither its branch nor its pull request, "
        "and no commit on main carries its number\n"
        "hint: Give change 'verifiers' of the plan the commit it was merged as.\n"
    )


def test_a_branch_that_conflicts_outside_the_pins(demo: Demo, pinctl: Pinctl) -> None:
    serving = text_at(demo.superproject, "main", SERVING)
    server = text_at(demo.superproject, "main", "src/prime_rl/inference/server.py")
    files = {
        SERVING: replaced(serving, ('"logprobs": {"content": _log', '"logprobs": {"contents": _log')),
        "src/prime_rl/inference/server.py": replaced(server, ("    return Server(config)", "    return Server(None)")),
    }
    commit(demo.remote("prime-rl"), "main", "Edit the same lines", files=files)

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)
        as_json = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    message = f"{SERVER_BRANCH} conflicts with main outside the pins, floors and lock"
    hint = f"Rebase {SERVER_BRANCH} onto main, push it, and run this again."
    assert (result.status, result.stderr) == (1, "")
    assert result.stdout == (
        f"refused: {message}\n    src/prime_rl/inference/server.py\n    {SERVING}\nhint: {hint}\nNothing was changed.\n"
    )
    objection = {"kind": "conflict", "message": message, "hint": hint, "details": sorted(files)}
    assert json.loads(as_json.stdout) == {"objections": [objection]}


def test_a_file_that_main_has_removed_and_the_branch_edits(demo: Demo, pinctl: Pinctl) -> None:
    commit(demo.remote("prime-rl"), "main", "Remove it", files={SERVING: None})

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stderr) == (1, "")
    assert result.stdout.splitlines()[1] == f"    {SERVING}"


def test_a_merged_companion_whose_requirements_have_no_lock(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    manifest = text_at(demo.remote("verifiers"), "main", "pyproject.toml")
    files = {"pyproject.toml": replaced(manifest, ("dependencies = []", 'dependencies = ["renderers>=9"]'))}
    _merge_again(demo, git, files)

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stderr) == (1, "")
    first, *words, hint, last = result.stdout.splitlines()
    assert first == "refused: uv finds no lock for prime-rl with the new pins"
    assert hint.startswith("hint: Mend the requirements on the branch that is to land, or in the component")
    assert last == "Nothing was changed."
    said = " ".join(" ".join(words).split())
    assert "No solution found when resolving dependencies" in said
    assert "your project's requirements are unsatisfiable" in said
    old = git(demo.superproject, "rev-parse", "main:deps/verifiers")
    new = git(demo.remote("verifiers"), "rev-parse", "main")
    assert words[-1].strip() == f"verifiers {old[:7]} -> {new[:7]} brings renderers>=9 (pyproject.toml)"
    assert str(demo.directory) not in result.stdout
    assert "scratch" not in result.stdout


def test_requirements_that_only_an_index_that_is_out_of_reach_knows(demo: Demo, pinctl: Pinctl) -> None:
    configs = text_at(demo.superproject, "main", CONFIGS_MANIFEST)
    files = {CONFIGS_MANIFEST: replaced(configs, ('"renderers>=0.1.11"', '"renderers>=0.1.11", "nowhere>=1"'))}
    commit(demo.remote("prime-rl"), "main", "Require what is nowhere", files=files)

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stdout) == (3, "")
    assert "nowhere was not found in the cache" in " ".join(result.stderr.split())
    assert "hint: " in result.stderr


def test_a_floor_that_other_bounds_rule_out(demo: Demo, pinctl: Pinctl) -> None:
    configs = text_at(demo.superproject, "main", CONFIGS_MANIFEST)
    files = {CONFIGS_MANIFEST: replaced(configs, ('"renderers>=0.1.11"', '"renderers>=0.1.11,<0.1.12"'))}
    commit(demo.remote("prime-rl"), "main", "Require what the pin is not", files=files)

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stderr) == (1, "")
    assert result.stdout == (
        "refused: renderers's floor would be 0.1.12, which other bounds rule out\n"
        f"    {CONFIGS_MANIFEST}:11 renderers>=0.1.11,<0.1.12\n"
        "hint: Let the bounds go, or give it another floor policy in pins.toml.\n"
        "Nothing was changed.\n"
    )


def test_a_landing_branch_that_is_checked_out(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    git(demo.superproject, "checkout", "--quiet", "-b", LANDING)

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stderr) == (1, "")
    assert result.stdout == (
        f"refused: {LANDING} is checked out, and a landing never moves a branch under a checkout\n"
        "hint: Switch to another branch there, then run this again.\n"
        "Nothing was changed.\n"
    )


def test_a_landing_branch_that_is_checked_out_elsewhere(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0
    git(demo.superproject, "worktree", "add", "--quiet", demo.directory / "linked", LANDING)
    commit(demo.remote("prime-rl"), "main", "Move on", files={"notes": "a note\n"})

    with unchanged(demo.superproject, demo.directory / "linked"):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stderr) == (1, "")
    assert result.stdout.startswith(f"refused: {LANDING} is checked out")


def test_a_landing_branch_that_somebody_made_for_something_else(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    main = git(demo.superproject, "rev-parse", "main")
    git(demo.superproject, "branch", LANDING, "main")

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stderr) == (1, "")
    assert result.stdout == (
        f"refused: {LANDING} is at {main[:7]}, which is no landing of packed-generate\n"
        f"hint: Rename it: git branch -m {LANDING} NEW-NAME\n"
        "Nothing was changed.\n"
    )


def test_a_branch_in_whose_place_the_landings_are_to_be(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    git(demo.superproject, "branch", "landing", "main")

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    # git keeps branches as files: where there is one called landing, none can be called landing/….
    assert (result.status, result.stderr) == (1, "")
    assert result.stdout.startswith("refused: ")
    assert "git branch -m landing " in result.stdout


def _unmerge(demo: Demo, git: Git, component: str) -> None:
    """Puts a component's main back to before the change was merged."""
    subject = {"renderers": RENDERERS_SQUASH, "verifiers": VERIFIERS_SQUASH}[component]
    remote = demo.remote(component)
    git(remote, "update-ref", "refs/heads/main", f"{by_subject(remote, 'main', subject)}~1")


def _merge_again(demo: Demo, git: Git, files: dict[str, str]) -> None:
    """Merges verifiers#2778 once more, instead of the first time, with something else in it."""
    remote = demo.remote("verifiers")
    merged = by_subject(remote, "main", VERIFIERS_SQUASH)
    git(remote, "update-ref", "refs/heads/main", f"{merged}~1")
    commit(remote, "main", VERIFIERS_SQUASH, tree=f"{merged}^{{tree}}", files=files)


def _revert(demo: Demo, git: Git, component: str, reverted: str, *, tree: str) -> str:
    remote = demo.remote(component)
    subject = git(remote, "log", "-1", "--format=%s", reverted)
    return commit(remote, "main", f'Revert "{subject}"\n\nThis reverts commit {reverted}.\n', tree=tree)
