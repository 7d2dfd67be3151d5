"""What a rule has to say about a commit, with its place and the command that fixes it."""

from dataclasses import dataclass

from pinctl.errors import ExitStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing that must hold for a commit of the superproject.

    Attributes:
        code: stable for ever.
        title: what it forbids, in a few words.
    """

    code: str
    title: str


RULES = {
    rule.code: rule
    for rule in (
        Rule(code="PIN001", title="the pin is not on the component's branch"),
        Rule(code="PIN002", title="the pin moved back"),
        Rule(code="PIN003", title="the pin moved to a commit that does not contain the one before"),
        Rule(code="FLR001", title="a floor is above the version at pin"),
        Rule(code="LCK001", title="the lock is out of date"),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A rule that a commit breaks, or that could not be judged.

    Attributes:
        rule: the code of the rule.
        component: whose pin or floor it is about; None for the superproject's own.
        path: the file or gitlink, from the top of the superproject.
        line: counted from 1; None for a gitlink.
        message: what is wrong.
        fix: a command that fixes it; None where there is none.
        unknown: whether the rule could not be judged, which is not the same as broken.
    """

    rule: str
    component: str | None
    path: str
    line: int | None
    message: str
    fix: str | None
    unknown: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The findings over one range of commits.

    Attributes:
        base: the commit compared with; None where there is none.
        head: the commit judged.
        judged: what was looked at, in words, for the reader who sees no finding.
    """

    base: str | None
    head: str
    findings: tuple[Finding, ...]
    judged: tuple[str, ...]

    @property
    def status(self) -> str:
        """`broken`, `unknown` or `ok`; a broken rule outweighs one that could not be judged."""
        if any(not finding.unknown for finding in self.findings):
            return "broken"
        return "unknown" if self.findings else "ok"

    @property
    def exit_status(self) -> ExitStatus:
        """The exit status that says the same."""
        return {"ok": ExitStatus.YES, "broken": ExitStatus.NO, "unknown": ExitStatus.UNKNOWN}[self.status]
