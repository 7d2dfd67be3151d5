"""How far a run is, as what tells it and what shows it see it."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How far a run of many parts is.

    Attributes:
        running: what is being done at this moment, the earliest begun first.
    """

    done: int
    total: int
    running: tuple[str, ...] = ()


class Listener(Protocol):
    """Hears what is going on."""

    def __call__(self, text: str, *, step: Step | None = None) -> None:
        """Hears one thing.

        Args:
            text: it in words; empty where only the step is new.
            step: how far a run of many parts is with it.
        """
