"""Pushes landings to a remote that has a say in it, and takes them back here."""

import json
from typing import Any

import pytest

from pinctl.tools.git.refs import push
from support import Demo, Git, Pinctl
from support.git import run
from support.snapshot import difference, snapshot, unchanged
from support.stack import LANDING, PUBLISHED, commit

FOREIGN = "Something of my own"
PUSHED = {f"ref refs/heads/{LANDING}", f"file refs/heads/{LANDING}"}


def test_a_pushed_landing_is_the_only_thing_that_is_new_on_the_remote(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    # An annotated tag of the user's own, which git pushes along with what it is on when it is told to follow tags.
    git(demo.superproject, "tag", "--annotate", "--message", "mine", "mine", "main")
    git(demo.superproject, "config", "push.followTags", "true")
    here, there = snapshot(demo.superproject), snapshot(demo.remote("prime-rl"))

    result = pinctl("land", "packed-generate", "--push", "--format", "json", cwd=demo.superproject)

    assert (result.status, result.stderr) == (0, "")
    landing = json.loads(result.stdout)
    assert landing["pushed"] == "origin"
    assert git(demo.remote("prime-rl"), "rev-parse", LANDING) == landing["commit"]
    assert difference(there, snapshot(demo.remote("prime-rl"))) == PUSHED
    # git itself takes down what it has pushed.
    changed = difference(here, snapshot(demo.superproject))
    assert {name for name in changed if f"remotes/origin/{LANDING}" not in name} == PUBLISHED


def test_pushing_again_changes_nothing(demo: Demo, pinctl: Pinctl) -> None:
    first = pinctl("land", "packed-generate", "--push", cwd=demo.superproject)
    with unchanged(demo.superproject, demo.remote("prime-rl")):
        again = pinctl("land", "packed-generate", "--push", cwd=demo.superproject)

    assert (first.status, again.status, again.stderr) == (0, 0, "")
    assert first.stdout.splitlines()[-1] == again.stdout.splitlines()[-1] == "pushed to origin"
    assert again.stdout.startswith(f"already there: {LANDING} has it as ")


def test_a_landing_that_is_here_already_is_pushed_as_it_is(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    first = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)
    pushed = pinctl("land", "packed-generate", "--push", "--format", "json", cwd=demo.superproject)

    assert json.loads(pushed.stdout) == json.loads(first.stdout) | {"already_landed": True, "pushed": "origin"}
    assert git(demo.remote("prime-rl"), "rev-parse", LANDING) == git(demo.superproject, "rev-parse", LANDING)


def test_an_older_landing_on_the_remote_is_replaced(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    assert pinctl("land", "packed-generate", "--push", cwd=demo.superproject).status == 0
    tip = commit(demo.remote("prime-rl"), "main", "Move on", files={"notes": "a note\n"})
    # Somebody else has landed it, too: what stands there is unknown here.
    git(demo.superproject, "branch", "--quiet", "-D", LANDING)

    result = pinctl("land", "packed-generate", "--push", "--format", "json", cwd=demo.superproject)

    assert (result.status, result.stderr) == (0, "")
    assert json.loads(result.stdout)["parent"] == tip
    assert git(demo.remote("prime-rl"), "rev-parse", LANDING) == json.loads(result.stdout)["commit"]


def test_a_foreign_branch_of_that_name_on_the_remote_is_left_alone(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    remote = demo.remote("prime-rl")
    commit(remote, LANDING, FOREIGN, parents=(git(remote, "rev-parse", "main"),), files={"mine": "mine\n"})

    with unchanged(remote):
        result = pinctl("land", "packed-generate", "--push", cwd=demo.superproject)

    landing = git(demo.superproject, "rev-parse", LANDING)
    assert (result.status, result.stdout) == (4, "")
    assert result.stderr == (
        f"error: origin has a {LANDING} that is no landing of packed-generate; "
        f"{LANDING} stands here at {landing[:7]}\n"
        f"hint: Look at it: git fetch origin {LANDING}\n"
    )
    assert (
        git(demo.superproject, "log", "-1", "--format=%s", LANDING)
        == "Pack the per-token payloads of /generate (#3900)"
    )


def test_a_branch_that_moves_while_it_is_pushed_is_left_alone(
    demo: Demo, pinctl: Pinctl, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = demo.remote("prime-rl")

    def late(*arguments: Any, **options: Any) -> None:
        commit(remote, LANDING, FOREIGN, parents=(run(remote, "rev-parse", "main"),), files={"mine": "mine\n"})
        push(*arguments, **options)

    monkeypatch.setattr("pinctl.flows.landing.publish.push_ref", late)
    result = pinctl("land", "packed-generate", "--push", cwd=demo.superproject)

    landing = git(demo.superproject, "rev-parse", LANDING)
    assert (result.status, result.stdout) == (4, "")
    assert f"{LANDING} stands here at {landing[:7]}" in result.stderr
    assert git(remote, "log", "-1", "--format=%s", LANDING) == FOREIGN


def test_a_remote_that_refuses_leaves_the_landing_here_to_be_pushed_later(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    hook = demo.remote("prime-rl") / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'landings are closed on Fridays' >&2\nexit 1\n")
    hook.chmod(0o755)

    with unchanged(demo.remote("prime-rl")):
        result = pinctl("land", "packed-generate", "--push", cwd=demo.superproject)
    landing = git(demo.superproject, "rev-parse", LANDING)
    hook.unlink()
    again = pinctl("land", "packed-generate", "--push", "--format", "json", cwd=demo.superproject)

    assert (result.status, result.stdout) == (4, "")
    assert result.stderr.startswith(f"error: origin refused {LANDING}: ")
    assert "landings are closed on Fridays" in result.stderr
    assert f"{LANDING} stands here at {landing[:7]}\n" in result.stderr
    assert result.stderr.endswith("hint: Run this again with --push to try again.\n")
    assert again.status == 0, again.stderr
    assert json.loads(again.stdout)["already_landed"]
    assert git(demo.remote("prime-rl"), "rev-parse", LANDING) == landing


def test_where_there_is_no_remote_nothing_is_landed_for_a_push(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    git(demo.superproject, "branch", "--quiet", "perf/packed-generate-gc", "origin/perf/packed-generate-gc")
    git(demo.superproject, "remote", "remove", "origin")

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", "--push", cwd=demo.superproject)

    assert (result.status, result.stdout) == (3, "")
    assert result.stderr == "error: there is no remote origin to push to\nhint: git remote add origin URL\n"
    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0


def test_aborting_takes_the_branch_away_and_nothing_else(demo: Demo, pinctl: Pinctl) -> None:
    before = snapshot(demo.superproject)
    assert pinctl("land", "packed-generate", "--push", cwd=demo.superproject).status == 0
    tracking = difference(before, snapshot(demo.superproject)) - PUBLISHED

    with unchanged(demo.remote("prime-rl")):
        result = pinctl("land", "packed-generate", "--abort", cwd=demo.superproject)

    assert (result.status, result.stdout, result.stderr) == (0, f"{LANDING} is gone\n", "")
    assert difference(before, snapshot(demo.superproject)) == tracking


def test_aborting_says_the_same_as_json(demo: Demo, pinctl: Pinctl) -> None:
    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0

    result = pinctl("land", "packed-generate", "--abort", "--format", "json", cwd=demo.superproject)

    assert (result.status, json.loads(result.stdout), result.stderr) == (0, {"branch": LANDING}, "")


def test_aborting_leaves_a_branch_that_is_no_landing(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    mine = commit(
        demo.superproject, LANDING, FOREIGN, parents=(git(demo.superproject, "rev-parse", "main"),), files={"mine": ""}
    )

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", "--abort", cwd=demo.superproject)

    assert (result.status, result.stderr) == (1, "")
    assert result.stdout == (
        f"refused: {LANDING} is at {mine[:7]}, which is no landing of packed-generate\n"
        f"hint: Rename it: git branch -m {LANDING} NEW-NAME\n"
        "Nothing was changed.\n"
    )


def test_aborting_leaves_a_branch_that_is_checked_out(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0
    git(demo.superproject, "checkout", "--quiet", LANDING)

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", "--abort", cwd=demo.superproject)

    assert (result.status, result.stderr) == (1, "")
    assert result.stdout.startswith(f"refused: {LANDING} is checked out")


def test_aborting_says_when_git_does_not_let_go_of_the_branch(demo: Demo, pinctl: Pinctl) -> None:
    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0
    # What a git that was killed leaves behind.
    (demo.superproject / f".git/refs/heads/{LANDING}.lock").touch()

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", "--abort", cwd=demo.superproject)

    assert (result.status, result.stdout) == (3, "")
    assert f"{LANDING}.lock" in result.stderr


@pytest.mark.parametrize("options", [("--push",), ("--onto", "main")])
def test_aborting_goes_with_nothing_else(demo: Demo, pinctl: Pinctl, options: tuple[str, ...]) -> None:
    with unchanged(demo.superproject, demo.remote("prime-rl")):
        result = pinctl("land", "packed-generate", "--abort", *options, cwd=demo.superproject)

    assert (result.status, result.stdout) == (2, "")
    assert result.stderr == "error: --abort goes with neither --push nor --onto\n"
