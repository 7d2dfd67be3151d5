"""What a landing did, for whoever reads or reviews it: read from its commit, not from what a plan would do now."""

from dataclasses import dataclass

from pinctl.model.certificate import Certificate
from pinctl.model.landing import Landed, PinMove
from pinctl.model.lock import LockDiff
from pinctl.model.oid import Oid


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnChange:
    """A change of the superproject that a landing brought.

    Attributes:
        title: the repository and the number of the pull request, or the change's id in the plan.
        head: the tip of its branch when it was landed.
    """

    title: str
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementChange:
    """A requirement on a component that a landing changed.

    Attributes:
        before: as it was written; None where it was not there.
        after: as it is written; None where it is gone.
    """

    component: str
    manifest: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The certificate that a landing holds.

    Attributes:
        digest: SHA-256 of its file, as the commit's trailer has it.
        required: the labels of the cells, server and client, that had to be ok.
        stale: why it does not hold for this commit, each in a few words; nothing where it holds.
    """

    certificate: Certificate
    digest: str
    required: frozenset[tuple[str, str]]
    stale: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A landing or a bump as its commit has it.

    Attributes:
        name: the plan's name, or that of the bump.
        plan: the plan's title; None for a bump.
        title: the subject of the commit.
        where: the branch that the commit was found on.
        changes: the superproject's own changes that it brought.
        landed: the companions, with the commits that brought them to their branches.
        lacking: companions that are not on their branches now, each with the reason.
        moves: the pins that it moved.
        rollbacks: why pins moved back.
        floors: the requirements on components that it changed.
        lock: what its lock has differently.
        proof: its certificate; None where it holds none.
    """

    name: str
    plan: str | None
    title: str
    where: str
    commit: Oid
    parent: Oid
    changes: tuple[OwnChange, ...]
    landed: tuple[Landed, ...]
    lacking: tuple[str, ...]
    moves: tuple[PinMove, ...]
    rollbacks: tuple[str, ...]
    floors: tuple[RequirementChange, ...]
    lock: LockDiff
    proof: Proof | None
