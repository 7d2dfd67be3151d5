"""Holds a landing's lock to being uv's own, in a clone as anybody makes it."""

import subprocess
from pathlib import Path

import pytest
import uv

from support import Demo, Git, Pinctl
from support.clones import recursive
from support.stack import LANDING, replaced, text_at


@pytest.fixture
def clone(demo: Demo, pinctl: Pinctl, tmp_path: Path) -> Path:
    """A recursive clone of the landing branch."""
    assert pinctl("land", "packed-generate", "--push", cwd=demo.superproject).status == 0
    return recursive(demo, tmp_path / "clone", branch=LANDING)


def test_uv_takes_the_lock_as_it_is(clone: Path, git: Git) -> None:
    ended = _uv(clone, "lock", "--check")

    assert ended.returncode == 0, ended.stderr
    assert git(clone, "status", "--porcelain", "--ignore-submodules=none") == ""


def test_uv_makes_the_same_lock_of_mains_and_of_none(clone: Path, git: Git) -> None:
    landed = (clone / "uv.lock").read_bytes()

    git(clone, "checkout", "--quiet", "origin/main", "--", "uv.lock")
    assert (clone / "uv.lock").read_bytes() != landed
    assert _uv(clone, "lock", "--check").returncode == 1
    assert _uv(clone, "lock").returncode == 0
    from_main = (clone / "uv.lock").read_bytes()
    (clone / "uv.lock").unlink()
    assert _uv(clone, "lock").returncode == 0

    assert from_main == landed
    assert (clone / "uv.lock").read_bytes() == landed


def test_the_lock_differs_from_mains_in_nothing_but_the_floors(demo: Demo, pinctl: Pinctl) -> None:
    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0

    assert text_at(demo.superproject, LANDING, "uv.lock") == replaced(
        text_at(demo.superproject, "main", "uv.lock"),
        ('{ name = "renderers", specifier = ">=0.1.11" }', '{ name = "renderers", specifier = ">=0.1.12" }'),
        ('{ name = "verifiers", specifier = ">=0.3.0" }', '{ name = "verifiers", specifier = ">=0.4.0" }'),
    )


def _uv(directory: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [uv.find_uv_bin(), *arguments]
    return subprocess.run(command, cwd=directory, check=False, capture_output=True, text=True)
