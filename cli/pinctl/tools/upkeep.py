"""Keeps the user's cache small: what nobody has used for long is removed, and so is what killed runs left half done."""

import contextlib
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from pinctl.tools.answers import ANSWERS
from pinctl.tools.places import cache_directory
from pinctl.tools.python.environment import ENVIRONMENTS, READY

DAYS = 30
"""An environment or an answer that was not used for so long goes."""

MOST_ENVIRONMENTS = 40
"""Of those used since, only so many stay, the last used ones: each may hold gigabytes."""

_DAY = 24 * 60 * 60.0
_IN_USE = 6 * 60 * 60.0
"""Seconds; what was used since may be in use by another run, however many there are."""


def tidy(*, now: float | None = None) -> None:
    """Removes what is old from the cache, at most once a day.

    Args:
        now: in seconds since the epoch; None for the clock's.
    """
    now = time.time() if now is None else now
    mark = cache_directory() / "tidied"
    if now - _used(mark) < _DAY:
        return
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    _remove_answers(cache_directory() / ANSWERS, now)
    _remove_environments(cache_directory() / ENVIRONMENTS, now)


def _remove_answers(top: Path, now: float) -> None:
    for path in top.glob("*/*"):
        # A whole answer bears its question's hash. What has another name is half of one, and its writer has long gone.
        is_whole = len(path.parent.name + path.name) == 64
        if now - _used(path) > (DAYS if is_whole else 1) * _DAY:
            path.unlink(missing_ok=True)


def _remove_environments(top: Path, now: float) -> None:
    found = sorted(_directories(top), key=lambda directory: _used(directory / READY), reverse=True)
    for place, directory in enumerate(found):
        idle = now - _used(directory / READY)
        if idle > DAYS * _DAY or (place >= MOST_ENVIRONMENTS and idle > _IN_USE):
            # Held by whoever makes it or asks for it now.
            with contextlib.suppress(Timeout), FileLock(top / f"{directory.name}.lock", timeout=0):
                shutil.rmtree(directory, ignore_errors=True)


def _directories(top: Path) -> Iterator[Path]:
    if top.is_dir():
        yield from (path for path in top.iterdir() if path.is_dir())


def _used(path: Path) -> float:
    """Returns when a file was last used, in seconds since the epoch; 0 where there is none."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
