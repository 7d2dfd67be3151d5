"""Seals every test off from the machine, and gives it the embedded stack and pinctl to run."""

import os
import uuid
from pathlib import Path

import pytest

from pinctl.app import run
from pinctl.demo.build import build_demo
from support import Demo, Git, Pinctl, Result
from support.clones import copy_stack
from support.git import run as run_git
from support.releases import Releases

_GIT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "file",
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@pinctl.example",
    "GIT_AUTHOR_DATE": "2026-07-01T12:00:00+00:00",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@pinctl.example",
    "GIT_COMMITTER_DATE": "2026-07-01T12:00:00+00:00",
}


_INDEX = frozenset({"UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_NATIVE_TLS"})
"""How this machine reaches a package index."""


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of environments that all tests of a worker share; mirrors and scratch are kept apart by their URLs."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _sealed(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    shared_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_online = request.node.get_closest_marker("network") is not None
    for name in tuple(os.environ):
        # What a CI system says of its own run is about this repository, not about those of the tests.
        if name.startswith(("GIT_", "UV_", "GITHUB_", "GITLAB_", "CI_")) and not (is_online and name in _INDEX):
            monkeypatch.delenv(name)
    for name, value in _GIT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_cache))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("COLUMNS", "200")
    if not is_online:
        monkeypatch.setenv("UV_OFFLINE", "1")
        monkeypatch.setenv("UV_CACHE_DIR", str(shared_cache / "uv"))


@pytest.fixture
def pinctl(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Pinctl:
    """Runs pinctl in this process: `pinctl("status", cwd=directory)`."""

    def call(*arguments: str | Path, cwd: Path = tmp_path) -> Result:
        monkeypatch.chdir(cwd)
        capfd.readouterr()
        status = run([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Result(status=int(status), stdout=captured.out, stderr=captured.err)

    return call


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that holds nothing of other tests, beside a TMPDIR that does not."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    return tmp_path / "cache" / "pinctl"


@pytest.fixture(scope="session")
def demo_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the embedded stack is built once for all tests of a worker, by the first one that wants it."""
    return tmp_path_factory.mktemp("template") / "demo"


@pytest.fixture
def demo(tmp_path: Path, demo_template: Path) -> Demo:
    """A fresh embedded stack."""
    if not demo_template.exists():
        # Not by the fixture of the session, which would not be sealed off yet.
        build_demo(demo_template)
    copy_stack(demo_template, tmp_path / "demo")
    return Demo(directory=tmp_path / "demo")


@pytest.fixture
def releases(tmp_path: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch) -> Releases:
    """An index of a made-up client's releases, with a plan to run the matrix of."""
    (tmp_path / "index").mkdir()
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "index"))
    # Environments are kept by the release's name.
    return Releases(directory=tmp_path, pinctl=pinctl, distribution=f"client_{uuid.uuid4().hex[:12]}")


@pytest.fixture
def git() -> Git:
    """Runs git: `git(directory, "log", "-1")` returns what it prints, without the final newline."""
    return run_git
