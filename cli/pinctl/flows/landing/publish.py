"""Publishes a proven landing: one commit, and one ref moved from where it was expected to be."""

from pinctl.errors import CouldNotFindOutError, StoppedPartWayError
from pinctl.flows.proof.certified import is_as_certified, with_certificate
from pinctl.flows.staging.compose import compose
from pinctl.flows.staging.message import commit_message, is_landing, is_same_landing
from pinctl.flows.superproject.remotes import REMOTE
from pinctl.flows.superproject.stack import Stack
from pinctl.model.landing import LANDING_PREFIX, BumpPlan, Landing, Objection, ObjectionKind, Objections, Proven
from pinctl.model.oid import Oid
from pinctl.tools.git.compose import commit_tree
from pinctl.tools.git.history import Person, log, merge_base, people
from pinctl.tools.git.refs import RefMovedError, checked_out_branches, local_ref, move_ref
from pinctl.tools.git.refs import push as push_ref


def branch_of(name: str) -> str:
    """Returns the branch that a landing is published to."""
    return f"{LANDING_PREFIX}{name}"


def name_of(branch: str) -> str:
    """Returns the name of the plan or bump whose landing a branch is for."""
    return branch.removeprefix(LANDING_PREFIX)


def existing_landing(stack: Stack, bump: BumpPlan) -> Landing | None:
    """Finds the very landing that a bump would make, on its branch or on the target; None where it is not there."""
    if not bump.to_land and not bump.moves and not (bump.plan is None and _floors_behind(stack, bump)):
        own = [item.commit for item in bump.landed if item.change.component == stack.name]
        done = own[-1] if own else bump.tip
        parent = stack.repository.resolve(f"{done}^1") or done
        return Landing(branch=bump.target, commit=done, parent=parent, moves=(), already_landed=True)
    branch = branch_of(bump.name)
    commit = local_ref(stack.repository, f"refs/heads/{branch}")
    if commit is None or stack.repository.resolve(f"{commit}^1") != bump.tip:
        return None
    if not is_same_landing(_message(stack, commit), bump) or not is_as_certified(stack, commit, bump.name):
        return None
    return Landing(branch=branch, commit=commit, parent=bump.tip, moves=bump.moves, already_landed=True)


def _floors_behind(stack: Stack, bump: BumpPlan) -> bool:
    """Tells whether floors are to be raised though every pin is where it is to be."""
    composed = compose(stack, bump)
    return not isinstance(composed, Objections) and bool(composed.floors)


def branch_in_the_way(stack: Stack, branch: str, heading: str) -> Objection | None:
    """Finds what forbids moving a landing branch: somebody has it checked out, or made it themselves."""
    name = f"refs/heads/{branch}"
    parent = LANDING_PREFIX.rstrip("/")
    if local_ref(stack.repository, f"refs/heads/{parent}") is not None:
        return Objection(
            kind=ObjectionKind.BRANCH_TAKEN,
            message=f"there is a branch {parent}, so git can have none below it",
            hint=f"Rename it: git branch -m {parent} NEW-NAME",
        )
    checked_out = _checked_out(stack, branch)
    if checked_out is not None:
        return checked_out
    commit = local_ref(stack.repository, name)
    if commit is not None and not is_landing(_message(stack, commit), heading):
        return Objection(
            kind=ObjectionKind.BRANCH_TAKEN,
            message=f"{branch} is at {commit.short}, which is no landing of {name_of(branch)}",
            hint=f"Rename it: git branch -m {branch} NEW-NAME",
        )
    if commit is not None and not is_as_certified(stack, commit, name_of(branch)):
        return Objection(
            kind=ObjectionKind.BRANCH_TAKEN,
            message=f"{branch} is at {commit.short}, a landing that was changed after its certificate was made",
            hint=f"Keep it under another name: git branch -m {branch} NEW-NAME",
        )
    return None


def publish(stack: Stack, proven: Proven, *, expected: Oid | None) -> Landing | Objections:
    """Makes the commit and moves the landing branch to it.

    Args:
        stack: the opened stack.
        proven: what is to be published.
        expected: where the branch was when the landing began; None where it was not there.

    Returns:
        The landing; an objection where the branch was checked out meanwhile.

    Raises:
        CouldNotFindOutError: the branch was moved by somebody else meanwhile; nothing was changed.
    """
    bump = proven.staged.bump
    branch = branch_of(bump.name)
    name = f"refs/heads/{branch}"
    checked_out = _checked_out(stack, branch)
    if checked_out is not None:
        return Objections(objections=(checked_out,))
    authors, tree, certificate = _authors(stack, bump), proven.staged.tree, proven.certificate
    commit = commit_tree(
        stack.repository,
        with_certificate(stack, tree, certificate) if certificate is not None else tree,
        parent=bump.tip,
        message=commit_message(proven, co_authors=authors[1:]),
        author=authors[0] if authors else None,
    )
    try:
        move_ref(stack.repository, name, to=commit, expected=expected, reason=f"pinctl: land {bump.name}")
    except RefMovedError as error:
        raise CouldNotFindOutError(
            f"{branch} was moved by somebody else meanwhile; nothing was changed", hint="Run this again."
        ) from error
    return Landing(branch=branch, commit=commit, parent=bump.tip, moves=bump.moves, already_landed=False)


def require_remote(stack: Stack) -> None:
    """Makes sure that there is a remote to push to.

    Raises:
        CouldNotFindOutError: there is none.
    """
    if not stack.has_remote:
        raise CouldNotFindOutError(f"there is no remote {REMOTE} to push to", hint=f"git remote add {REMOTE} URL")


def push(stack: Stack, landing: Landing, heading: str) -> str:
    """Pushes a landing under a lease, and returns the remote's name.

    Raises:
        CouldNotFindOutError: there is no remote.
        StoppedPartWayError: the remote refused; the landing stands here.
    """
    require_remote(stack)
    name = f"refs/heads/{landing.branch}"
    expected = stack.remote_ref(name)
    if expected == landing.commit:
        return REMOTE
    stands = f"{landing.branch} stands here at {landing.commit.short}"
    if expected is not None and not _is_ours(stack, name, expected, heading):
        raise StoppedPartWayError(
            f"{REMOTE} has a {landing.branch} that is no landing of {name_of(landing.branch)}; {stands}",
            hint=f"Look at it: git fetch {REMOTE} {landing.branch}",
        )
    try:
        push_ref(stack.repository, REMOTE, name=name, commit=landing.commit, expected=expected)
    except RefMovedError as error:
        raise StoppedPartWayError(
            f"{REMOTE} refused {landing.branch}: {error}; {stands}", hint="Run this again with --push to try again."
        ) from error
    return REMOTE


def _checked_out(stack: Stack, branch: str) -> Objection | None:
    if f"refs/heads/{branch}" not in checked_out_branches(stack.repository):
        return None
    return Objection(
        kind=ObjectionKind.BRANCH_TAKEN,
        message=f"{branch} is checked out, and a landing never moves a branch under a checkout",
        hint="Switch to another branch there, then run this again.",
    )


def _is_ours(stack: Stack, name: str, commit: Oid, heading: str) -> bool:
    stack.fetch(name, commit)
    return is_landing(_message(stack, commit), heading)


def _message(stack: Stack, commit: Oid) -> str:
    return log(stack.repository, "-1", commit)[0].message


def _authors(stack: Stack, bump: BumpPlan) -> tuple[Person, ...]:
    """Returns who wrote the changes that land, in the order of their first commits."""
    found: dict[str, Person] = {}
    for item in bump.to_land:
        base = merge_base(stack.repository, bump.tip, item.head)
        for person in people(stack.repository, since=base, until=item.head) if base else ():
            found.setdefault(person.email.lower(), person)
    return tuple(found.values())
