"""What the rules have to say about a range of commits."""

from dataclasses import dataclass
from enum import StrEnum

from pinctl.errors import ExitStatus

EXIT_STATUSES = {"ok": ExitStatus.YES, "broken": ExitStatus.NO, "unknown": ExitStatus.UNKNOWN}
"""What the findings come to, as exit statuses."""


class Level(StrEnum):
    """How much a finding weighs."""

    ERROR = "error"
    WARNING = "warning"
    """Is said, and stops nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A rule that a commit breaks, or that could not be judged.

    Attributes:
        rule: the code of the rule.
        component: whose pin or floor it is about; None for the superproject's own.
        path: the file or gitlink, from the top of the superproject.
        line: counted from 1; None for a gitlink.
        message: what is wrong.
        fix: a shell command that fixes it, run at the top of the superproject; None where it takes a person.
        unknown: whether the rule could not be judged, which is not the same as broken.
        waived: the reason why it does not count; None where it does.
        anchor: the file and line where a forge can show it, for a gitlink has neither.
    """

    rule: str
    component: str | None
    path: str
    line: int | None
    message: str
    fix: str | None = None
    unknown: bool = False
    waived: str | None = None
    anchor: tuple[str, int] | None = None
    level: Level = Level.ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The findings over one range of commits.

    Attributes:
        base: the commit compared with; None where there is none.
        head: the commit judged.
        source: where the range was taken from.
        items: the findings, waived ones too.
        judged: what was looked at, in words, for the reader who sees no finding.
        defaults: what was taken where no pins.toml says it, in words.
    """

    base: str | None
    head: str
    source: str
    items: tuple[Finding, ...]
    judged: tuple[str, ...]
    defaults: tuple[str, ...] = ()

    @property
    def counting(self) -> tuple[Finding, ...]:
        """The findings that stop a change: neither waived nor mere warnings."""
        return tuple(finding for finding in self.items if finding.waived is None and finding.level is Level.ERROR)

    @property
    def status(self) -> str:
        """`broken`, `unknown` or `ok`; a broken rule outweighs one that could not be judged."""
        if any(not finding.unknown for finding in self.counting):
            return "broken"
        return "unknown" if self.counting else "ok"

    @property
    def exit_status(self) -> ExitStatus:
        """The exit status that says the same."""
        return EXIT_STATUSES[self.status]
