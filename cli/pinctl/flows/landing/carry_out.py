"""Stages, proves and publishes what was resolved: one transaction for a landing and for a bump."""

from collections.abc import Callable
from dataclasses import replace

from pinctl.flows.check.objections import objections_to
from pinctl.flows.landing.publish import branch_in_the_way, branch_of, existing_landing, publish, push, require_remote
from pinctl.flows.staging.message import heading_of
from pinctl.flows.staging.stage import stage
from pinctl.flows.superproject.stack import Stack
from pinctl.model.landing import BumpPlan, Landing, Objections, Proven, Staged
from pinctl.model.progress import Listener
from pinctl.tools.git.refs import local_ref
from pinctl.tools.python.uv_settings import neutralised

Prove = Callable[[Staged], Proven | Objections]


def carry_out(stack: Stack, bump: BumpPlan, *, prove: Prove, with_push: bool, tell: Listener) -> Landing | Objections:
    """Stages, proves and publishes what was resolved, unless it is there already.

    Args:
        stack: the opened stack.
        bump: what is to be done.
        prove: proves the staged commit, or says what speaks against it.
        with_push: whether the landing branch is pushed too.
        tell: hears the progress.

    Returns:
        The landing, or everything that is in the way.

    Raises:
        CouldNotFindOutError: nothing was changed.
        StoppedPartWayError: the landing stands here, and the remote refused it.
    """
    if with_push:
        require_remote(stack)
    landing = existing_landing(stack, bump) or _make(stack, bump, prove=prove, tell=tell)
    if isinstance(landing, Objections) or not with_push or landing.branch != branch_of(bump.name):
        return landing
    return replace(landing, pushed=push(stack, landing, heading_of(bump)))


def stage_judged(stack: Stack, bump: BumpPlan) -> Staged | Objections:
    """Builds the candidate commit of what was resolved, and stops where a check would refuse it."""
    return stage(stack, bump, judge=objections_to)


def _make(stack: Stack, bump: BumpPlan, *, prove: Prove, tell: Listener) -> Landing | Objections:
    taken = branch_in_the_way(stack, branch_of(bump.name), heading_of(bump))
    if taken is not None:
        return Objections(objections=(taken,))
    dropped = neutralised()
    if dropped:
        tell(f"{', '.join(dropped)} of your environment would change the lock: not handed to uv")
    # From here on: whoever moves the branch meanwhile wins.
    expected = local_ref(stack.repository, f"refs/heads/{branch_of(bump.name)}")
    tell("composing the commit and its lock")
    staged = stage_judged(stack, bump)
    if isinstance(staged, Objections):
        return staged
    proven = prove(staged)
    return proven if isinstance(proven, Objections) else publish(stack, proven, expected=expected)
