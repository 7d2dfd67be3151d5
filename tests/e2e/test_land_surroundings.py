"""Refuses landings for what surrounds the repositories: command line, tools, remotes. Everything stays as it was."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import uv

from pinctl.tools.git.repository import require_git
from support import Demo, Git, Pinctl
from support.snapshot import difference, snapshot, unchanged
from support.stack import LANDING


@pytest.mark.parametrize(
    "arguments",
    [("land",), ("land", "packed-generate", "--nonsense"), ("land", "packed-generate", "--format", "yaml"), ("lend",)],
)
def test_a_command_line_that_makes_no_sense(demo: Demo, pinctl: Pinctl, arguments: tuple[str, ...]) -> None:
    with unchanged(demo.superproject):
        result = pinctl(*arguments, cwd=demo.superproject)

    assert (result.status, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr
    assert "Usage: pinctl " in result.stderr


@pytest.fixture
def old_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Puts a git on PATH that calls itself old, and works."""
    real = shutil.which("git")
    script = tmp_path / "bin/git"
    script.parent.mkdir()
    script.write_text(
        f'#!/bin/sh\nfor word; do [ "$word" = version ] && echo git version 2.30.2 && exit; done\nexec {real} "$@"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    require_git.cache_clear()
    yield
    require_git.cache_clear()


@pytest.mark.usefixtures("old_git")
@pytest.mark.parametrize("command", [("land", "packed-generate"), ("plan", "packed-generate"), ("status",), ("check",)])
def test_a_git_that_is_too_old(demo: Demo, pinctl: Pinctl, command: tuple[str, ...]) -> None:
    with unchanged(demo.superproject):
        result = pinctl(*command, cwd=demo.superproject)

    assert (result.status, result.stdout) == (3, "")
    assert result.stderr == (
        "error: git 2.30.2 is too old: pinctl needs 2.38\nhint: Install a newer git and put it first on PATH.\n"
    )


def test_a_git_that_is_not_there(demo: Demo, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with unchanged(demo.superproject):
        with monkeypatch.context() as patch:
            patch.setenv("PATH", str(tmp_path))
            require_git.cache_clear()
            result = pinctl("land", "packed-generate", cwd=demo.superproject)
        require_git.cache_clear()

    assert (result.status, result.stdout) == (3, "")
    assert result.stderr == "error: git cannot be run: it is not on PATH\nhint: Install git 2.38 or newer.\n"


@pytest.mark.usefixtures("own_cache")
def test_a_uv_that_is_not_installed(demo: Demo, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_uv_bin() -> str:
        raise FileNotFoundError("uv")

    monkeypatch.setattr(uv, "find_uv_bin", find_uv_bin)
    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stdout) == (3, "")
    assert result.stderr == "error: uv cannot be run: its program is not installed\nhint: pip install uv\n"


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize(
    ("program", "words"),
    [
        ('#!/bin/sh\n[ "$1" = --version ] && echo uv 0.8.0 && exit\necho error: disk full >&2\nexit 2\n', "disk full"),
        ("this is no program\n", "cannot be run"),
    ],
)
def test_a_uv_that_does_not_work(
    demo: Demo, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, words: str
) -> None:
    script = tmp_path / "uv"
    script.write_text(program)
    script.chmod(0o755)
    monkeypatch.setattr(uv, "find_uv_bin", lambda: str(script))

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stdout) == (3, "")
    assert result.stderr.startswith("error: ")
    assert "uv" in result.stderr
    assert words in result.stderr


@pytest.mark.parametrize("name", ["verifiers", "prime-rl"])
def test_a_remote_that_is_gone(demo: Demo, pinctl: Pinctl, name: str) -> None:
    remote = demo.remote(name)
    remote.rename(demo.directory / "gone")

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stdout) == (3, "")
    shown = "origin" if name == "prime-rl" else str(remote)
    assert result.stderr == (
        f"error: the remote {shown} does not answer: '{remote}' does not appear to be a git repository\n"
        "hint: Look at the network and your access to it, then run this again.\n"
    )
    (demo.directory / "gone").rename(remote)
    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0


def test_a_clone_whose_history_is_cut_off(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    shallow = demo.directory / "shallow"
    git(demo.directory, "clone", "--quiet", "--depth", "1", f"file://{demo.remote('prime-rl')}", shallow)

    with unchanged(shallow):
        result = pinctl("land", "packed-generate", cwd=shallow)

    assert (result.status, result.stdout) == (3, "")
    assert "is a shallow clone" in result.stderr
    assert "hint: Fetch the whole history: git fetch --unshallow" in result.stderr


def test_a_user_whom_git_does_not_know(demo: Demo, pinctl: Pinctl, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("user.name", "user.email"):
        git(demo.superproject, "config", "--unset", key)
    for name in ("GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"):
        monkeypatch.delenv(name)
    git(demo.superproject, "config", "user.useConfigOnly", "true")

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stdout) == (3, "")
    assert result.stderr.startswith("error: git cannot make the commit: ")
    assert "git config user.name" in result.stderr


def test_a_branch_that_git_does_not_let_go_of(demo: Demo, pinctl: Pinctl) -> None:
    lock = demo.superproject / f".git/refs/heads/{LANDING}.lock"
    lock.parent.mkdir()
    lock.touch()

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stdout) == (3, "")
    assert f"{LANDING}.lock" in result.stderr, "a lock of git's is nobody who moved the branch"
    lock.unlink()
    before = snapshot(demo.superproject)
    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0
    assert f"ref refs/heads/{LANDING}" in difference(before, snapshot(demo.superproject))
