"""Says how a client takes negative controls: responses that are bad in one place, and that it should refuse."""

from dataclasses import dataclass
from enum import StrEnum


class Controls(StrEnum):
    """Which negative controls are sent to the clients of a contract."""

    NONE = "none"
    NAMED = "named"
    """A few, that tell most: wrong shape, big-endian bytes, base85 text, truncated data."""
    ALL = "all"


class Outcome(StrEnum):
    """What a client made of a negative control."""

    REFUSED = "refused"
    """A loud error: what a strict client does."""
    TAKEN = "taken"
    """No error, and a value: what a lenient client does."""
    DROPPED = "dropped"
    """No error, and no value."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlResult:
    """What a client made of one negative control.

    Attributes:
        control: the place, and what is bad there.
        title: the same in words that go on after "takes", such as `sampling_mask.ids with a wrong shape`.
        field: the field that it is bad in.
        case: whose response it was made of.
        refusable: whether the rules of the field's form give it away; if not, nobody can hold it against a client.
        outcome: what the client made of it.
        reason: the client's own words where it refused, the probe's failure where the outcome is unknown.
        evidence: the value that it was taken for, shortened.
    """

    control: str
    title: str
    field: str
    case: str
    refusable: bool
    outcome: Outcome
    reason: str = ""
    evidence: str = ""

    @property
    def is_lenient(self) -> bool:
        """Whether this shows that the client takes what its form's rules forbid."""
        return self.refusable and self.outcome in {Outcome.TAKEN, Outcome.DROPPED}

    @property
    def complaint(self) -> str:
        """What a plan that asks for a strict client has against it; empty where it has nothing."""
        if self.refusable and self.outcome is Outcome.UNKNOWN:
            return f"control {self.control}: {self.reason}"
        if not self.is_lenient:
            return ""
        verb = "takes" if self.outcome is Outcome.TAKEN else "drops"
        return f"strictness is asked for, and the client {verb} {self.title} without an error"
