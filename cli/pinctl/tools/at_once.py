"""Does several things at the same time that mostly wait: for a remote, for a process."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import TypeVar

_AT_ONCE = 8
"""Below what servers take for an attack: sshd refuses some of more than ten connections that are not let in yet."""

Answer = TypeVar("Answer")


def at_once(questions: Iterable[Callable[[], Answer]]) -> list[Answer]:
    """Calls functions at the same time, a few in threads of their own, and returns what they return, in their order.

    Raises:
        Exception: what the first of them raises that raises; the others are waited for all the same.
    """
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        return list(pool.map(lambda question: question(), questions))


def begin(work: Callable[[], Answer]) -> "Future[Answer]":
    """Begins something that is asked for later; what it raises is raised by whoever takes its result."""
    return _workers().submit(work)


@cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=_AT_ONCE)
