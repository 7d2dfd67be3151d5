"""Composes the servers between: with some of the superproject's own changes of a landing, and without the others."""

from collections.abc import Mapping
from dataclasses import replace

from pinctl.flows.staging.compose import Composed, compose
from pinctl.flows.superproject.stack import Stack
from pinctl.model.landing import BumpPlan
from pinctl.model.need import State
from pinctl.model.order import claimed_needs
from pinctl.model.plan import LandingPlan
from pinctl.model.variant import Code, Server
from pinctl.tools.git.compose import scratch_commit


def servers_between(
    stack: Stack, plan: LandingPlan, bump: BumpPlan, *, already: State, known: Mapping[State, Server]
) -> Mapping[State, Server]:
    """Returns the servers of the states that the plan's order passes through and that are not known yet.

    Each is the target with the changes of that state merged, and the pins that move with them; it is published
    nowhere. A state whose changes cannot be merged without the others has no server.

    Args:
        stack: the opened stack.
        plan: the landing plan.
        bump: what landing it would do.
        already: the superproject's own changes that the target has.
        known: the servers that there are, by the own changes that they have.
    """
    claimed, alone = claimed_needs(plan, superproject=stack.name)
    to_land = {item.change.id: item for item in bump.to_land}
    states = dict.fromkeys(need.landed | already for need in (*claimed, *alone))
    found: dict[State, Server] = {}
    for state in states:
        if state in known:
            continue
        items = tuple(item for name, item in to_land.items() if name in state)
        moving = {pin for item in items for pin in item.change.pins}
        part = replace(
            bump,
            to_land=items,
            moves=tuple(move for move in bump.moves if move.component.name in moving),
            targets={name: target for name, target in bump.targets.items() if name in moving},
            floors={name: floor for name, floor in bump.floors.items() if name in moving},
        )
        composed = compose(stack, part)
        if isinstance(composed, Composed):
            name = "+".join((bump.target, *(item.change.id for item in items)))
            commit = scratch_commit(stack.repository, composed.tree, parent=bump.tip)
            found[state] = Code(component=stack.name, commit=commit, name=name)
    return found
