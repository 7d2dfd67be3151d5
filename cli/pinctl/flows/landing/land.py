"""Carries out a landing plan, as far as the user asks: rehearse it, compare its variants, or land it."""

from dataclasses import replace

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.landing.carry_out import carry_out, stage_judged
from pinctl.flows.landing.publish import branch_in_the_way, branch_of
from pinctl.flows.matrix.selection import contract_of
from pinctl.flows.proof.prove import Evidence, gather, prove
from pinctl.flows.staging.message import heading_of_plan
from pinctl.flows.staging.resolve import pulls_of, resolve
from pinctl.flows.staging.stage import dirty_target_files, stage
from pinctl.flows.superproject.stack import Stack
from pinctl.flows.superproject.workspace import open_stack, require_pins
from pinctl.model.landing import Landing, Objections, Proven, Staged
from pinctl.model.plan import LandingPlan
from pinctl.model.progress import Listener
from pinctl.model.where import Where
from pinctl.tools.files.plan_file import read_plan, read_plans
from pinctl.tools.git.refs import RefMovedError, delete_ref, local_ref


def plans(where: Where) -> tuple[LandingPlan, ...]:
    """Reads all landing plans."""
    return read_plans(require_pins(where))


def rehearse(
    where: Where, name: str, *, onto: str | None, exclude_conflicting: bool
) -> tuple[Stack, Staged | Objections]:
    """Stages a plan and stops there: what landing it would do, with nothing published."""
    stack, plan = _open(where, name)
    bump = resolve(stack, plan, onto=onto)
    if isinstance(bump, Objections):
        return stack, bump
    return stack, stage_judged(stack, replace(bump, exclude_conflicting=exclude_conflicting))


def land(
    where: Where, name: str, *, onto: str | None, exclude_conflicting: bool, with_push: bool, tell: Listener
) -> Landing | Objections:
    """Resolves, stages, proves and publishes a plan.

    Args:
        where: where the user stands.
        name: the plan's name.
        onto: the branch to land on, where it is not the superproject's own.
        exclude_conflicting: whether new members of the workspace that have no solution are left out of it.
        with_push: whether the landing branch is pushed too.
        tell: hears the progress.

    Returns:
        The landing, or everything that is in the way.

    Raises:
        CouldNotFindOutError: nothing was changed.
        StoppedPartWayError: the landing stands here, and the remote refused it.
    """
    stack, plan = _open(where, name)
    dirty = dirty_target_files(stack)
    if dirty is not None:
        return Objections(objections=(dirty,))
    tell(f"resolving {name}")
    bump = resolve(stack, plan, onto=onto)
    if isinstance(bump, Objections):
        return bump
    bump = replace(bump, exclude_conflicting=exclude_conflicting)

    def proof(staged: Staged) -> Proven | Objections:
        tell("running the matrix")
        return prove(stack, staged, tell=tell)

    return carry_out(stack, bump, prove=proof, with_push=with_push, tell=tell)


def examine(where: Where, name: str, *, onto: str | None, tell: Listener) -> Evidence | Objections:
    """Stages a plan and gathers its matrix and order proof, whatever they say."""
    stack, plan = _open(where, name)
    contract = contract_of(plan)
    tell(f"resolving {name}")
    bump = resolve(stack, plan, onto=onto)
    staged = bump if isinstance(bump, Objections) else stage(stack, bump)
    return staged if isinstance(staged, Objections) else gather(stack, plan, contract, staged, tell=tell)


def abort(where: Where, name: str) -> str | Objections:
    """Removes a plan's landing branch here, and returns its name; a branch that is no landing stays.

    Raises:
        CouldNotFindOutError: the branch moved meanwhile.
    """
    stack, plan = _open(where, name)
    branch = branch_of(plan.name)
    commit = local_ref(stack.repository, f"refs/heads/{branch}")
    if commit is None:
        return branch
    taken = branch_in_the_way(stack, branch, heading_of_plan(plan.name))
    if taken is not None:
        return Objections(objections=(taken,))
    try:
        delete_ref(stack.repository, f"refs/heads/{branch}", expected=commit)
    except RefMovedError as error:
        raise CouldNotFindOutError(f"{branch} could not be removed: {error}", hint="Run this again.") from error
    return branch


def _open(where: Where, name: str) -> tuple[Stack, LandingPlan]:
    pins = require_pins(where)
    plan = read_plan(name, pins)
    return open_stack(where).with_pulls(pulls_of(plan)), plan
