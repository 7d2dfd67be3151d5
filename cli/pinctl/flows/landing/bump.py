"""Carries out a bump: the same transaction as a landing, without a plan and so without a proof."""

from pinctl.flows.landing.carry_out import carry_out, stage_judged
from pinctl.flows.staging.bump import BumpOptions, resolve_bump
from pinctl.flows.staging.stage import dirty_target_files
from pinctl.flows.superproject.stack import Stack
from pinctl.flows.superproject.workspace import open_stack
from pinctl.model.landing import Landing, Objections, Proven, Staged
from pinctl.model.progress import Listener
from pinctl.model.where import Where


def bump_pins(
    where: Where, specs: tuple[str, ...], *, how: BumpOptions, with_push: bool, tell: Listener
) -> Landing | Objections:
    """Bumps pins without a plan: resolves, stages and publishes, as `land` does.

    What a check would refuse is refused before anything is published.

    Args:
        where: where the user stands.
        specs: components, by name or by path, each maybe with `@REVISION`.
        how: where to, and what is allowed.
        with_push: whether the branch is pushed as well.
        tell: hears the progress.
    """
    stack = open_stack(where)
    dirty = dirty_target_files(stack)
    if dirty is not None:
        return Objections(objections=(dirty,))
    bump = resolve_bump(stack, specs, how=how)
    if isinstance(bump, Objections):
        return bump
    return carry_out(stack, bump, prove=_nothing_to_prove, with_push=with_push, tell=tell)


def rehearse_bump(where: Where, specs: tuple[str, ...], *, how: BumpOptions) -> tuple[Stack, Staged | Objections]:
    """Stages a bump and stops there."""
    stack = open_stack(where)
    bump = resolve_bump(stack, specs, how=how)
    return stack, bump if isinstance(bump, Objections) else stage_judged(stack, bump)


def _nothing_to_prove(staged: Staged) -> Proven:
    return Proven(staged=staged, matrix=None, order=None, certificate=None)
