"""Says how a commit stands to the branch it should be on."""

from dataclasses import dataclass
from enum import StrEnum

from pinctl.model.oid import Oid


class StandingKind(StrEnum):
    """The ways in which a commit can stand to a branch."""

    ON_BRANCH = "on branch"
    SQUASH_TWIN = "squash twin"
    """Not on the branch, but a commit with the same content is."""
    AHEAD = "ahead"
    """A descendant of the tip: not merged yet."""
    DIVERGED = "diverged"
    REVERTED = "reverted"
    """On the branch, itself or as a twin, and undone there later."""
    UNKNOWN = "unknown"


class TwinEvidence(StrEnum):
    """What shows that a commit of a branch is the twin of one that is not on it."""

    SAME_TREE = "same tree"
    SAME_PATCH = "same patch-id"
    SAME_COMBINED_PATCH = "same combined patch-id"
    FORGE_NUMBER = "pull request number in the subject"
    MERGE_SUBJECT = "merge commit of the pull request"


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """The commit of a branch that carries the content of another."""

    commit: Oid
    evidence: TwinEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a commit stands to its branch.

    Attributes:
        branch: the branch's name.
        behind: commits of the branch that the commit does not contain; None when unknown.
        ahead: commits that the branch does not contain; None when unknown.
        twin: the commit of the branch with the same content: what to pin instead, if it was not reverted.
        reverted_by: the commit that undid it.
        reason: why it is unknown.
    """

    kind: StandingKind
    branch: str
    behind: int | None = None
    ahead: int | None = None
    twin: Twin | None = None
    reverted_by: Oid | None = None
    reason: str | None = None

    def describe(self) -> str:
        """Returns the standing in a few words."""
        match self.kind:
            case StandingKind.ON_BRANCH:
                return f"on {self.branch}" + (f", {self.behind} behind" if self.behind else ", at its tip")
            case StandingKind.SQUASH_TWIN:
                twin = f" as {self.twin.commit.short}" if self.twin else ""
                return f"not on {self.branch}; its content is there{twin}"
            case StandingKind.AHEAD:
                return f"ahead of {self.branch} by {self.ahead}, unmerged"
            case StandingKind.DIVERGED:
                return f"diverged from {self.branch} ({self.ahead} ahead, {self.behind} behind)"
            case StandingKind.REVERTED:
                where = f"on {self.branch}"
                if self.twin is not None:
                    where = f"not on {self.branch}; its content was there as {self.twin.commit.short}"
                return f"{where}, but reverted" + (f" by {self.reverted_by.short}" if self.reverted_by else "")
            case StandingKind.UNKNOWN:
                return f"unknown: {self.reason}"
