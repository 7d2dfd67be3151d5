"""The stages of a landing as types: only what was resolved can be staged, only what was proven can be published."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from packaging.version import Version

from pinctl.errors import ExitStatus
from pinctl.model.certificate import Certificate
from pinctl.model.entry import EntryMove, Target
from pinctl.model.lock import LockDiff
from pinctl.model.matrix import Matrix
from pinctl.model.oid import Oid
from pinctl.model.order import OrderProof
from pinctl.model.pins import Component
from pinctl.model.plan import Change, LandingPlan
from pinctl.model.requirement import FloorMove
from pinctl.model.standing import TwinEvidence

LANDING_PREFIX = "landing/"
"""Where landings are published, below refs/heads/."""

# See git-check-ref-format. A submodule's name may be any path.
_NOT_IN_A_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]+|\.\.+|@\{|(?<=/)\.|\.lock(?=/|$)|//+|[/.]$")


class ObjectionKind(StrEnum):
    """Why a landing is refused."""

    NOT_MERGED = "not-merged"
    NOT_A_RELEASE = "not-a-release"
    REVERTED = "reverted"
    MOVES_BACK = "moves-back"
    CONFLICT = "conflict"
    DIRTY = "dirty"
    LOCK = "lock"
    THIRD_PARTY = "third-party"
    RULE = "rule"
    FLOOR = "floor"
    CELL = "cell"
    UNKNOWN_CELL = "unknown-cell"
    ORDER = "order"
    BRANCH_TAKEN = "branch-taken"
    DIVERGED = "diverged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """A reason why a landing must not happen: found out, and the answer is no.

    Attributes:
        message: what is in the way.
        hint: the next step.
        details: lines that belong to the message, such as file names or a tool's own words.
    """

    kind: ObjectionKind
    message: str
    hint: str | None = None
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Objections:
    """All that is in the way, instead of a result."""

    objections: tuple[Objection, ...]

    @property
    def exit_status(self) -> ExitStatus:
        """No; could not find out where nothing was found to be wrong."""
        unknown_only = all(objection.kind is ObjectionKind.UNKNOWN_CELL for objection in self.objections)
        return ExitStatus.UNKNOWN if unknown_only else ExitStatus.NO


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """A change that is on its component's branch.

    Attributes:
        commit: the commit of the branch that brought it.
        evidence: what showed it; None where the plan's own commit or ancestry did.
    """

    change: Change
    commit: Oid
    evidence: TwinEvidence | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToLand:
    """A change of the superproject that this landing brings.

    Attributes:
        head: the tip of its branch.
        subject: the subject of its first commit.
    """

    change: Change
    head: Oid
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PinMove:
    """A pin that moves.

    Attributes:
        path: the gitlink's path; for a pin in a manifest alone, the manifest's.
        before: the pin at the target's tip; None where it had none, or where no tag says which commit it was.
        after: the commit to pin.
        version: the version at `after`; None where the component has none.
        incoming: subjects of what comes in, newest first, on the component's first parents.
        landed: the changes that the move brings.
        back: whether it lacks some of what the pin before it had.
    """

    component: Component
    path: str
    before: Oid | None
    after: Oid
    version: Version | None
    incoming: tuple[str, ...]
    landed: tuple[Landed, ...]
    back: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BumpPlan:
    """What one commit is to do: only this can be staged.

    Attributes:
        target: the branch that it lands on.
        tip: that branch's tip.
        plan: the landing plan, or None for a bump without one.
        to_land: the superproject's own changes, in order.
        landed: the companions, with where they are.
        moves: the pins that move; those already in place are left out.
        targets: what the pins of every component the plan moves are to name, moved or in place.
        floors: the lowest version that each component's floors are to have.
        third_party: whether versions of other people's packages may move in the lock.
        rollback: why pins may move back; None where they may not.
        exclude_conflicting: whether new members of the workspace that have no solution are left out of it.
    """

    target: str
    tip: Oid
    plan: LandingPlan | None
    to_land: tuple[ToLand, ...]
    landed: tuple[Landed, ...]
    moves: tuple[PinMove, ...]
    targets: Mapping[str, Target]
    floors: Mapping[str, Version]
    third_party: bool = False
    rollback: str | None = None
    exclude_conflicting: bool = False

    @property
    def pins(self) -> Mapping[str, Oid]:
        """The commits to pin, by component."""
        return {name: target.commit for name, target in self.targets.items()}

    @property
    def name(self) -> str:
        """What its landing is called: the plan's name, or that of a bump."""
        return self.plan.name if self.plan else "bump-" + _NOT_IN_A_REF.sub("-", "-".join(sorted(self.pins)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A candidate commit, out of sight: its objects exist and no ref names it.

    Attributes:
        tree: the tree of the commit.
        commit: an unpublished commit of that tree on the target's tip, for what needs one.
        floors: the requirements that were raised.
        entries: the pins that were moved in manifests.
        excluded: the new members that were left out of the workspace.
        lock: what uv wrote differently.
    """

    bump: BumpPlan
    tree: Oid
    commit: Oid
    floors: tuple[FloorMove, ...]
    entries: tuple[EntryMove, ...]
    excluded: tuple[str, ...]
    lock: LockDiff


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """A candidate whose required cells are ok and whose declared order is safe: only this can be published.

    Attributes:
        certificate: what was proven and on what; None where the plan has no contract.
    """

    staged: Staged
    matrix: Matrix | None
    order: OrderProof | None
    certificate: Certificate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """A published landing.

    Attributes:
        branch: the branch that names it.
        already_landed: whether it was there before.
        pushed: the remote it was pushed to, if any.
    """

    branch: str
    commit: Oid
    parent: Oid
    moves: tuple[PinMove, ...]
    already_landed: bool
    pushed: str | None = None
