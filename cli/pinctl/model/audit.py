"""What the rules have to say about a history."""

from dataclasses import dataclass

from pinctl.errors import ExitStatus
from pinctl.model.finding import EXIT_STATUSES, Findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """One commit of a history, judged as what it was: a change to its first parent.

    Attributes:
        subject: of its message.
    """

    subject: str
    findings: Findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A first-parent history, judged.

    Attributes:
        range: the revisions that were asked for, in words.
        commits: how many commits there are in it.
        judged: those that touch pins, floors, the lock, or what a plan's change touches, oldest first.
    """

    range: str
    commits: int
    judged: tuple[Audited, ...]

    def of_status(self, status: str) -> tuple[Audited, ...]:
        """Returns the commits whose findings come to a status: `broken`, `unknown` or `ok`."""
        return tuple(item for item in self.judged if item.findings.status == status)

    @property
    def status(self) -> str:
        """`broken`, `unknown` or `ok`; one that breaks a rule outweighs those that could not be judged."""
        return next((status for status in ("broken", "unknown") if self.of_status(status)), "ok")

    @property
    def exit_status(self) -> ExitStatus:
        """The exit status that says the same."""
        return EXIT_STATUSES[self.status]
