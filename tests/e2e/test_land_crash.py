"""Kills landings at every step, and moves refs under them: the repository is as before, or the landing is whole."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pinctl.flows.proof.prove import prove
from pinctl.tools.git.compose import commit_tree
from pinctl.tools.places import scratch
from support import Demo, Git, Pinctl
from support.git import run
from support.snapshot import difference, snapshot, unchanged
from support.stack import LANDING, PUBLISHED, commit

# Runs pinctl, and is killed as one function is entered or left; or as a process is started: the first one that has a
# word among its arguments, or the one of a number.
KILLED = """
import importlib, os, signal, subprocess, sys

name, when, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]

def kill():
    os.kill(os.getpid(), signal.SIGKILL)

if name == "process":
    started, start = 0, subprocess.Popen.__init__

    def counted(self, command, *positional, **named):
        global started
        started += 1
        if str(started) == when or when in command:
            kill()
        start(self, command, *positional, **named)

    subprocess.Popen.__init__ = counted
else:
    module, _, attribute = name.rpartition(".")
    holder = importlib.import_module(module)
    function = getattr(holder, attribute)

    def stop(*positional, **named):
        if when == "after":
            function(*positional, **named)
        kill()

    setattr(holder, attribute, stop)

from pinctl.app import main

sys.argv = ["pinctl", *arguments]
main()
"""
STEPS = [
    ("pinctl.flows.landing.land.resolve", "before"),
    ("pinctl.flows.staging.stage.scratch_commit", "before"),
    ("pinctl.tools.python.uv.lock", "before"),
    ("pinctl.tools.python.uv.lock", "after"),
    ("pinctl.flows.matrix.asking.python_for", "before"),
    ("pinctl.tools.python.environment._make", "after"),
    ("pinctl.flows.proof.prove.run_matrix", "before"),
    ("pinctl.flows.landing.publish.commit_tree", "before"),
    ("pinctl.flows.landing.publish.move_ref", "before"),
    ("pinctl.flows.landing.publish.move_ref", "after"),
]


def test_killed_at_any_step_nothing_is_half_done_and_the_next_run_lands(
    demo: Demo, pinctl: Pinctl, git: Git, own_cache: Path
) -> None:
    for name, when in STEPS:
        before = snapshot(demo.superproject)

        _killed(demo, name, when)

        landed = difference(before, snapshot(demo.superproject))
        assert landed == (PUBLISHED if (name, when) == STEPS[-1] else set()), (name, when)
    whole = git(demo.superproject, "rev-parse", LANDING)
    again = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)
    assert (again.status, json.loads(again.stdout)["commit"]) == (0, whole), "what the killed run published is whole"

    git(demo.superproject, "branch", "--quiet", "-D", LANDING)
    result = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    assert result.status == 0, result.stderr + result.stdout
    # All dates are fixed: had a crash left anything behind that mattered, this would be another commit.
    assert git(demo.superproject, "rev-parse", LANDING) == whole
    assert list((own_cache / "scratch").iterdir()) == []
    assert git(demo.superproject, "fsck", "--no-dangling") == ""


@pytest.mark.parametrize(
    "words",
    [
        ("ls-remote", "fetch", "read-tree", "lock", "venv", "commit-tree"),
        ("diff-tree", "mktree", "merge-tree", "pip", "-I", "update-ref"),
        tuple(str(number) for number in range(3, 90, 21)),
    ],
    ids=["some", "others", "numbers"],
)
def test_killed_as_it_starts_a_process_nothing_is_half_done(
    demo: Demo, pinctl: Pinctl, git: Git, own_cache: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    before = snapshot(demo.superproject)
    for word in words:
        _killed(demo, "process", word)

        assert difference(before, snapshot(demo.superproject)) == set(), word

    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0

    assert difference(before, snapshot(demo.superproject)) == PUBLISHED
    assert git(demo.superproject, "fsck", "--no-dangling") == ""
    assert list((own_cache / "scratch").iterdir()) == []
    assert list((tmp_path / "tmp").iterdir()) == [], "outside the cache nobody finds what a killed run left"


@pytest.mark.parametrize(("name", "when"), [("pinctl.tools.places._remove", "before"), ("shutil.rmtree", "after")])
def test_killed_while_it_removes_scratch_the_next_run_removes_it(
    demo: Demo, pinctl: Pinctl, own_cache: Path, name: str, when: str
) -> None:
    _killed(demo, name, when)
    assert list((own_cache / "scratch").iterdir()) != []

    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0

    assert list((own_cache / "scratch").iterdir()) == []


def test_runs_side_by_side_leave_each_others_scratch_alone(own_cache: Path) -> None:
    def use(_number: int) -> bool:
        with scratch() as directory:
            there = directory.is_dir()
            (directory / "file").touch()
            return there

    with ThreadPoolExecutor(max_workers=8) as pool:
        assert all(pool.map(use, range(120)))

    assert list((own_cache / "scratch").iterdir()) == []


def test_the_branch_is_moved_between_staging_and_publishing(
    demo: Demo, pinctl: Pinctl, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*arguments: Any, **options: Any) -> str:
        _take_the_branch(demo)
        return commit_tree(*arguments, **options)

    _assert_lost(demo, pinctl, git, monkeypatch, "pinctl.flows.landing.publish.commit_tree", late)


def test_the_branch_is_taken_while_the_matrix_runs(
    demo: Demo, pinctl: Pinctl, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*arguments: Any, **options: Any) -> Any:
        _take_the_branch(demo)
        return prove(*arguments, **options)

    _assert_lost(demo, pinctl, git, monkeypatch, "pinctl.flows.landing.land.prove", late)


def test_the_branch_is_checked_out_while_the_matrix_runs(
    demo: Demo, pinctl: Pinctl, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0
    commit(demo.remote("prime-rl"), "main", "Move on", files={"notes": "a note\n"})
    switched = []

    def late(*arguments: Any, **options: Any) -> Any:
        git(demo.superproject, "checkout", "--quiet", LANDING)
        switched.append(snapshot(demo.superproject))
        return prove(*arguments, **options)

    monkeypatch.setattr("pinctl.flows.landing.land.prove", late)
    result = pinctl("land", "packed-generate", cwd=demo.superproject)

    (before,) = switched
    assert difference(before, snapshot(demo.superproject)) == set()
    assert result.status in {1, 3}
    assert LANDING in result.stdout + result.stderr


def test_a_landing_that_another_run_has_published_meanwhile_is_not_overwritten(
    demo: Demo, pinctl: Pinctl, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*arguments: Any, **options: Any) -> Any:
        other = [sys.executable, "-m", "pinctl", "land", "packed-generate"]
        subprocess.run(other, cwd=demo.superproject, env=environment, check=True, capture_output=True)
        return prove(*arguments, **options)

    environment = {**os.environ, "GIT_COMMITTER_NAME": "Other", "GIT_COMMITTER_EMAIL": "other@pinctl.example"}
    monkeypatch.setattr("pinctl.flows.landing.land.prove", late)
    result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert git(demo.superproject, "log", "-1", "--format=%cn", LANDING) == "Other"
    assert (result.status, result.stdout) == (3, "")


def _assert_lost(
    demo: Demo,
    pinctl: Pinctl,
    git: Git,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    late: Callable[..., Any],
) -> None:
    before = snapshot(demo.superproject)
    monkeypatch.setattr(name, late)
    with unchanged(demo.remote("prime-rl")):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert git(demo.superproject, "log", "-1", "--format=%s", LANDING) == "Mine"
    assert difference(before, snapshot(demo.superproject)) == PUBLISHED
    assert (result.status, result.stdout) == (3, "")
    assert result.stderr == (
        f"error: {LANDING} was moved by somebody else meanwhile; nothing was changed\nhint: Run this again.\n"
    )


def _take_the_branch(demo: Demo) -> None:
    main = run(demo.superproject, "rev-parse", "main")
    commit(demo.superproject, LANDING, "Mine", parents=(main,), files={"mine": "mine\n"})


def _killed(demo: Demo, name: str, when: str) -> None:
    ended = _ended(demo, name, when)
    assert ended.returncode == -signal.SIGKILL, (name, when, ended)


def _ended(demo: Demo, name: str, when: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", KILLED, name, when, "land", "packed-generate"]
    return subprocess.run(command, cwd=demo.superproject, check=False, capture_output=True, text=True)
