"""Resolves a landing plan: which changes have landed, as what, and to which commits the pins must move."""

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.staging.message import change_trailer
from pinctl.flows.staging.moves import Want, decide_moves, newest_of
from pinctl.flows.superproject.stack import Stack
from pinctl.flows.superproject.standing import find_revert, find_standing
from pinctl.model.landing import BumpPlan, Landed, Objection, ObjectionKind, Objections, ToLand
from pinctl.model.oid import Oid
from pinctl.model.pins import Component
from pinctl.model.plan import Change, Constraint, LandingPlan
from pinctl.model.standing import Standing, StandingKind
from pinctl.tools.git.history import (
    brought_by,
    commit_naming_pull,
    commit_with_trailer,
    contains,
    log,
    merge_base,
)
from pinctl.tools.git.repository import Repository


def pulls_of(*plans: LandingPlan) -> dict[str, tuple[int, ...]]:
    """Returns the pull requests that plans name, by component."""
    pulls: dict[str, tuple[int, ...]] = {}
    for change in (change for plan in plans for change in plan.changes):
        if change.pull is not None:
            pulls[change.component] = (*pulls.get(change.component, ()), change.pull)
    return pulls


def resolve(stack: Stack, plan: LandingPlan, *, onto: str | None) -> BumpPlan | Objections:
    """Finds out what landing a plan has to do.

    Args:
        stack: the opened stack.
        plan: the landing plan.
        onto: the branch to land on, where it is not the superproject's own.

    Returns:
        What one commit is to do, or everything that is in the way.

    Raises:
        CouldNotFindOutError: a remote does not answer, a history is cut off, a branch is gone.
    """
    names = dict.fromkeys((*(change.component for change in plan.changes), *plan.moving()))
    stack.ask((stack.pins.components[name] for name in names if name != stack.name), own=True)
    target = onto or stack.target
    tip = stack.target_tip(target)
    landed: list[Landed] = []
    to_land: list[ToLand] = []
    objections: list[Objection] = []
    for change in plan.changes:
        if change.component == stack.name:
            found: Landed | ToLand | Objection = _own_change(stack, change, target=target, tip=tip)
        else:
            found = find_companion(stack, change, stack.pins.components[change.component])
        match found:
            case Landed():
                landed.append(found)
            case ToLand():
                to_land.append(found)
            case Objection():
                objections.append(found)
    if objections:
        return Objections(objections=tuple(objections))
    wants = {}
    for name in plan.moving():
        ours = tuple(item for item in landed if item.change.component == name)
        component = stack.pins.components[name]
        wants[name] = Want(commit=newest_of(stack, component, ours), landed=ours, at_least=True)
    moves = decide_moves(stack, tip, wants)
    if isinstance(moves, Objections):
        return moves
    return BumpPlan(
        target=target,
        tip=tip,
        plan=plan,
        to_land=tuple(to_land),
        landed=tuple(landed),
        moves=moves.moves,
        targets=moves.targets,
        floors=moves.floors,
        third_party=plan.third_party,
    )


def waiting_constraints(stack: Stack, plan: LandingPlan, *, target: str, tip: Oid) -> tuple[Constraint, ...]:
    """Returns the constraints of which the superproject's own part has not all landed on a branch.

    Raises:
        CouldNotFindOutError: a change that a constraint names is nowhere to be found.
    """
    landed = {
        name: isinstance(_own_change(stack, plan.change(name), target=target, tip=tip), Landed)
        for name in {name for item in plan.constraints for name in item.together}
        if plan.change(name).component == stack.name
    }
    return tuple(item for item in plan.constraints if not all(landed.get(name, True) for name in item.together))


def find_companion(stack: Stack, change: Change, component: Component) -> Landed | Objection:
    """Finds out whether a change of a component has landed on its branch, and as what.

    Raises:
        CouldNotFindOutError: the remote keeps nothing that says so, or does not answer.
    """
    mirror = stack.mirror(component)
    branch, tip = stack.branch(component), stack.tip(component)
    repository = mirror.repository
    if change.commit is not None:
        commit = stack.obtain(component, change.commit)
        if contains(repository, commit=tip, ancestor=commit):
            return _unless_reverted(repository, Landed(change=change, commit=commit), tip=tip, branch=branch)
        standing = stack.standing(component, commit)
        return _not_merged(change, commit, standing)
    head = mirror.branch_tip(change.branch) if change.branch else None
    if head is None and change.pull is not None:
        head = mirror.pull_head(change.pull)
    landed = _landed_on(repository, change, head, branch=branch, tip=tip)
    if landed is not None:
        return _unless_reverted(repository, landed, tip=tip, branch=branch)
    if head is None:
        raise CouldNotFindOutError(
            f"{change.title}: its remote keeps neither its branch nor its pull request, "
            f"and no commit on {branch} carries its number",
            hint=f"Give change {change.id!r} of the plan the commit it was merged as.",
        )
    return _not_merged(change, head, find_standing(repository, head, branch=branch, tip=tip))


def _own_change(stack: Stack, change: Change, *, target: str, tip: Oid) -> Landed | ToLand | Objection:
    repository = stack.repository
    head = stack.branch_tip(change.branch) if change.branch else None
    if head is None and change.pull is not None:
        head = stack.pull_head(change.pull)
    if head is None and change.commit is not None:
        head = repository.resolve(change.commit)
    landed = _landed_on(repository, change, head, branch=target, tip=tip) or _by_landing(repository, change, tip)
    if landed is not None:
        return _unless_reverted(repository, landed, tip=tip, branch=target)
    if head is None:
        raise CouldNotFindOutError(
            f"{change.title}: there is no branch {change.branch or 'or pull request'} to land, here or on the remote",
            hint=f"Correct change {change.id!r} of the plan, or push its branch.",
        )
    base = merge_base(repository, tip, head)
    if base is None:
        message = f"{change.title}: {head.short} has no history in common with {target}"
        return Objection(kind=ObjectionKind.DIVERGED, message=message)
    entries = log(repository, f"{base}..{head}")
    return ToLand(change=change, head=head, subject=entries[-1].subject if entries else change.id)


def _landed_on(repository: Repository, change: Change, head: Oid | None, *, branch: str, tip: Oid) -> Landed | None:
    """Finds a change on a branch by its head's ancestry or content, else by the number that the forge put there."""
    if head is not None:
        standing = find_standing(repository, head, branch=branch, tip=tip, pull=change.pull)
        match standing.kind:
            case StandingKind.ON_BRANCH | StandingKind.REVERTED:
                # A squash that was reverted is found by its twin; the head itself is not on the branch.
                place = standing.twin.commit if standing.twin else brought_by(repository, commit=head, tip=tip)
                return Landed(change=change, commit=place)
            case StandingKind.SQUASH_TWIN if standing.twin is not None:
                return Landed(change=change, commit=standing.twin.commit, evidence=standing.twin.evidence)
            case _:
                return None
    if change.pull is None:
        return None
    commit = commit_naming_pull(repository, tip=tip, pull=change.pull)
    return Landed(change=change, commit=commit) if commit is not None else None


def _by_landing(repository: Repository, change: Change, tip: Oid) -> Landed | None:
    """Finds a change of the superproject by the trailer of its landing, wherever a merge has put that."""
    commit = commit_with_trailer(repository, tip=tip, beginning=change_trailer(change))
    return Landed(change=change, commit=brought_by(repository, commit=commit, tip=tip)) if commit is not None else None


def _unless_reverted(repository: Repository, landed: Landed, *, tip: Oid, branch: str) -> Landed | Objection:
    revert = find_revert(repository, landed.commit, tip=tip)
    if revert is None:
        return landed
    return Objection(
        kind=ObjectionKind.REVERTED,
        message=f"{landed.change.title} was merged as {landed.commit.short} and reverted by {revert.short} on {branch}",
        hint="Land it there again first.",
    )


def _not_merged(change: Change, head: Oid, standing: Standing) -> Objection:
    what = f"#{change.pull}'s head" if change.pull is not None else "its head"
    return Objection(
        kind=ObjectionKind.NOT_MERGED,
        message=f"{change.title} is not merged: {what} {head} is {standing.describe()}",
        hint=f"Merge {change.title} first, then run this again.",
    )
