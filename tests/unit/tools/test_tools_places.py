"""Scratch directories are gone afterwards, even those of runs that were killed, and never those of runs that live."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pinctl.tools.places import cache_directory, scratch

HOLDER = """
import sys
from pinctl.tools.places import scratch
with scratch() as directory:
    (directory / "deep").mkdir()
    (directory / "deep" / "file").write_text("contents")
    print(directory, flush=True)
    sys.stdin.read()
"""
MANY = """
import sys
from pinctl.tools.places import scratch
for _ in range(60):
    with scratch() as directory:
        (directory / "file").write_text("x")
        if not directory.is_dir() or (directory / "file").read_text() != "x":
            sys.exit("lost its directory")
"""


@pytest.fixture(autouse=True)
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that holds scratch directories: of this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pinctl" / "scratch"


@contextmanager
def holder() -> Iterator[tuple[Path, "subprocess.Popen[str]"]]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        assert process.stdout is not None
        yield Path(process.stdout.readline().strip()), process
        if process.poll() is None:
            process.kill()


def left_in(top: Path) -> list[str]:
    return sorted(path.name for path in top.iterdir())


def test_everything_is_kept_below_the_user_s_cache_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_directory() == tmp_path / "cache" / "pinctl"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_directory() == Path.home() / ".cache" / "pinctl"


def test_a_scratch_directory_is_empty_and_gone_afterwards(top: Path) -> None:
    with scratch() as directory:
        assert directory.parent == top
        assert list(directory.iterdir()) == []
        (directory / "deep").mkdir()
        (directory / "deep" / "read-only").write_text("x")
        (directory / "deep" / "read-only").chmod(0o400)
        (directory / "link").symlink_to(Path.home())
    assert left_in(top) == []
    assert Path.home().is_dir()


def test_a_scratch_directory_is_gone_after_a_failure_too(top: Path) -> None:
    def fail() -> None:
        with scratch() as directory:
            (directory / "file").write_text("x")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert left_in(top) == []


def test_scratch_directories_can_be_nested_and_are_different(top: Path) -> None:
    with scratch() as outer, scratch() as inner:
        assert outer != inner
        assert outer.is_dir()
        assert inner.is_dir()
    assert left_in(top) == []


def test_what_a_killed_run_left_is_swept_by_the_next(top: Path) -> None:
    with holder() as (directory, process):
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (directory / "deep" / "file").is_file()
        with scratch() as mine:
            assert not directory.exists()
            assert [name for name in left_in(top) if not name.endswith(".lock")] == [mine.name]
    assert left_in(top) == []


def test_what_a_run_that_lives_has_is_left_alone(top: Path) -> None:
    with holder() as (directory, process):
        with scratch():
            pass
        assert (directory / "deep" / "file").read_text() == "contents"
        process.communicate("")
        assert process.returncode == 0
    assert left_in(top) == []


def test_what_was_left_between_its_two_first_steps_is_swept_too(top: Path) -> None:
    # A run killed after it had the lock and before it made the directory.
    top.mkdir(parents=True)
    (top / "0123.lock").touch()
    with scratch():
        pass
    assert left_in(top) == []


def test_threads_do_not_sweep_each_other(top: Path) -> None:
    lost: list[Path] = []

    def work() -> None:
        for _ in range(40):
            with scratch() as directory:
                (directory / "file").write_text("x")
                if not (directory / "file").is_file():
                    lost.append(directory)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lost == []
    assert left_in(top) == []


def test_processes_do_not_sweep_each_other(top: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", MANY], stderr=subprocess.PIPE, text=True, env=os.environ)
        for _ in range(6)
    ]
    ended = [(process.communicate()[1], process.returncode) for process in processes]
    assert ended == [("", 0)] * len(processes)
    assert left_in(top) == []
