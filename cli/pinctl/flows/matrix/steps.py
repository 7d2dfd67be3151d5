"""Counts the parts of a run as they begin and end, from several threads, and how long they took."""

import contextlib
import threading
from collections.abc import Iterator

from pinctl.model.progress import Listener, Step


class Steps:
    """Tells how far a run is whenever one of its parts begins or ends.

    Args:
        tell: hears it.
        total: how many parts there are.
    """

    def __init__(self, tell: Listener, *, total: int) -> None:
        self._tell = tell
        self._total = total
        self._done = 0
        self._running: list[str] = []
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def part(self, what: str) -> Iterator[None]:
        """Encloses one part."""
        with self._lock:
            self._running.append(what)
            self._tell("", step=self._step())
        try:
            yield
        finally:
            with self._lock:
                self._running.remove(what)
                self._done += 1
                self._tell(f"{what}: done", step=self._step())

    def _step(self) -> Step:
        return Step(done=self._done, total=self._total, running=tuple(self._running))


class Clock:
    """Adds up how long things of several names took; what goes on at the same time counts once."""

    def __init__(self) -> None:
        self._spans: dict[str, list[tuple[float, float]]] = {}
        self._lock = threading.Lock()

    def add(self, name: str, begin: float, end: float) -> None:
        """Notes that something of a name went on from one time to another, in seconds."""
        with self._lock:
            self._spans.setdefault(name, []).append((begin, end))

    def seconds(self) -> dict[str, float]:
        """Returns by name the seconds in which anything of that name went on."""
        with self._lock:
            return {name: round(_covered(spans), 3) for name, spans in self._spans.items()}


def _covered(spans: list[tuple[float, float]]) -> float:
    covered, reached = 0.0, float("-inf")
    for begin, end in sorted(spans):
        covered += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return covered
