"""The errors a user can meet, each with the exit status that scripts rely on.

"Found out, and the answer is no" is a value, never one of these.
"""

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path


class ExitStatus(IntEnum):
    """What a run of pinctl tells the shell."""

    YES = 0
    NO = 1
    BAD_INPUT = 2
    UNKNOWN = 3
    STOPPED = 4
    BUG = 70


class PinctlError(Exception):
    """Something kept pinctl from answering or acting.

    Args:
        message: names the thing and the place.
        hint: the next step, if there is one that pinctl can name.
    """

    exit_status = ExitStatus.BUG

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BadInputError(PinctlError):
    """A command line or a file cannot be understood."""

    exit_status = ExitStatus.BAD_INPUT


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One mistake in a file, with its place.

    Attributes:
        line: counted from 1; None where the place is the whole file.
        key: the dotted key path, empty for the whole file.
    """

    key: str
    line: int | None
    message: str


class BadFileError(BadInputError):
    """A file holds mistakes: all of them at once."""

    def __init__(self, path: Path, mistakes: tuple[Mistake, ...], *, hint: str | None = None) -> None:
        self.path = path
        self.mistakes = mistakes
        super().__init__("\n".join(self._describe(mistake) for mistake in mistakes), hint=hint)

    def _describe(self, mistake: Mistake) -> str:
        place = str(self.path) if mistake.line is None else f"{self.path}:{mistake.line}"
        return f"{place}: {mistake.key}: {mistake.message}" if mistake.key else f"{place}: {mistake.message}"


class CouldNotFindOutError(PinctlError):
    """The answer is neither yes nor no; nothing was changed."""

    exit_status = ExitStatus.UNKNOWN


class StoppedPartWayError(PinctlError):
    """An act stopped between two steps; the message says what stands."""

    exit_status = ExitStatus.STOPPED
