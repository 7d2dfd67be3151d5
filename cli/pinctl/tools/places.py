"""Knows where pinctl keeps what can be made again: everything below the user's cache directory."""

import contextlib
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import platformdirs
from filelock import FileLock, Timeout

_LOCK = ".lock"


def cache_directory() -> Path:
    """Returns the directory of everything that can be made again."""
    return platformdirs.user_cache_path("pinctl", appauthor=False)


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Makes a directory that is gone afterwards, and removes what killed runs left of theirs.

    Each directory has a lock file beside it that its owner holds: whoever can take the lock knows the owner is dead.
    A directory is made, and others are swept, under one lock for all, so that nobody sees one that is half made.

    Yields:
        An empty directory.
    """
    top = cache_directory() / "scratch"
    top.mkdir(parents=True, exist_ok=True)
    directory = top / uuid.uuid4().hex
    lock = _lock_of(directory)
    with _lock_of(top):
        _sweep(top)
        lock.acquire()
        directory.mkdir()
    try:
        yield directory
    finally:
        _remove(directory, lock)


def _lock_of(directory: Path) -> FileLock:
    return FileLock(directory.with_suffix(_LOCK))


def _sweep(top: Path) -> None:
    for directory in {path.with_suffix("") for path in top.iterdir()}:
        lock = _lock_of(directory)
        with contextlib.suppress(Timeout):
            lock.acquire(timeout=0)
            _remove(directory, lock)


def _remove(directory: Path, lock: FileLock) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    Path(lock.lock_file).unlink(missing_ok=True)
    lock.release()
