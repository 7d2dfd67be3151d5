"""What a rule is, and the trailers by which a commit waives one."""

from dataclasses import dataclass

ROLLBACK_TRAILER = "Pin-Rollback"
"""The trailer that waives the rules about moving back."""

LOCK_TRAILER = "Lock-Move"
"""The trailer that gives a package of other people leave to move in the lock."""

_ROLLBACK = (
    "A deliberate rollback is waived by a trailer in one of the range's commits: "
    f"`{ROLLBACK_TRAILER}: COMPONENT reason`."
)
_TABLE = '`[components.NAME.waive]` in pins.toml, {code} = "reason".'


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing that must hold for a commit of the superproject.

    Attributes:
        code: stable for ever.
        title: what is wrong where it finds something, in a few words.
        what: what it checks.
        why: what goes wrong without it, with a real incident where there is one.
        fix: how to fix what it finds.
        trailer: whether a `Pin-Rollback` trailer waives it too.
        waivable: whether a component's table in pins.toml can waive it.
    """

    code: str
    title: str
    what: str
    why: str
    fix: str
    trailer: bool = False
    waivable: bool = True

    @property
    def waive(self) -> str:
        """How to waive it."""
        if not self.waivable:
            return "It cannot be waived."
        table = _TABLE.format(code=self.code)
        return f"{table} {_ROLLBACK}" if self.trailer else table
