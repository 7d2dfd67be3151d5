"""Knows where pinctl keeps what can be made again: everything below the user's cache directory."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import platformdirs
from filelock import FileLock, Timeout


def cache_directory() -> Path:
    """Returns the directory of everything that can be made again."""
    return platformdirs.user_cache_path("pinctl", appauthor=False)


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Makes a directory that is gone afterwards, and removes what killed runs left of theirs.

    Each directory has a lock file beside it that its owner holds: whoever can take the lock knows the owner is dead.

    Yields:
        An empty directory.
    """
    top = cache_directory() / "scratch"
    top.mkdir(parents=True, exist_ok=True)
    _sweep(top)
    directory = Path(tempfile.mkdtemp(dir=top))
    lock = _lock_of(directory)
    lock.acquire()
    try:
        yield directory
    finally:
        _remove(directory, lock)


def _lock_of(directory: Path) -> FileLock:
    return FileLock(directory.with_suffix(".lock"))


def _sweep(top: Path) -> None:
    for directory in top.iterdir():
        if directory.suffix == ".lock":
            continue
        lock = _lock_of(directory)
        if not Path(lock.lock_file).exists():
            # Its owner is between making the directory and taking the lock.
            continue
        with contextlib.suppress(Timeout):
            lock.acquire(timeout=0)
            _remove(directory, lock)


def _remove(directory: Path, lock: FileLock) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    lock.release()
    Path(lock.lock_file).unlink(missing_ok=True)
