"""Bumps pins without a plan: the same transaction, to a branch's tip, to a release, or to a named revision."""

from dataclasses import dataclass

from pinctl.errors import BadInputError, CouldNotFindOutError
from pinctl.flows.staging.moves import Want, decide_moves
from pinctl.flows.superproject.stack import Stack
from pinctl.model.landing import BumpPlan, Objections
from pinctl.model.oid import Oid
from pinctl.model.pins import Component
from pinctl.model.releases import newest
from pinctl.tools.files.declaration import nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class BumpOptions:
    """How to bump.

    Attributes:
        release: whether components without a revision go to their newest release instead of their branch's tip.
        onto: the branch to land on, where it is not the superproject's own.
        third_party: whether versions of other people's packages may move in the lock.
        rollback: why pins may move back; None where they may not.
        exclude_conflicting: whether new members of the workspace that have no solution are left out of it.
    """

    release: bool = False
    onto: str | None = None
    third_party: bool = False
    rollback: str | None = None
    exclude_conflicting: bool = False


def resolve_bump(stack: Stack, specs: tuple[str, ...], *, how: BumpOptions) -> BumpPlan | Objections:
    """Finds out what a bump has to do.

    Args:
        stack: the opened stack.
        specs: components, by name or by path, each maybe with `@REVISION`.
        how: how to bump.

    Returns:
        What one commit is to do, or everything that is in the way.

    Raises:
        BadInputError: there is no such component, it is named twice, or a rollback has no reason.
        CouldNotFindOutError: a revision is not there, or a component has no release.
    """
    rollback = None if how.rollback is None else " ".join(how.rollback.split())
    if rollback == "":
        raise BadInputError("--rollback wants a reason", hint="Whoever reads the commit later will want it too.")
    revisions: dict[str, str] = {}
    for spec in specs:
        name, at, revision = spec.partition("@")
        component = _component(stack, name)
        if at and not revision:
            raise BadInputError(f"{spec!r} names no revision", hint=f"Leave the @ away for the tip: {name}")
        if component.name in revisions:
            raise BadInputError(f"{component.name} is named twice")
        revisions[component.name] = revision
    stack.ask((stack.pins.components[name] for name in revisions), own=True)
    target = how.onto or stack.target
    tip = stack.target_tip(target)
    wants = {
        name: Want(commit=_wanted(stack, stack.pins.components[name], revision, release=how.release))
        for name, revision in revisions.items()
    }
    moves = decide_moves(stack, tip, wants)
    if isinstance(moves, Objections):
        return moves
    return BumpPlan(
        target=target,
        tip=tip,
        plan=None,
        to_land=(),
        landed=(),
        moves=moves.moves,
        targets=moves.targets,
        floors=moves.floors,
        third_party=how.third_party,
        rollback=rollback,
        exclude_conflicting=how.exclude_conflicting,
    )


def _component(stack: Stack, name: str) -> Component:
    for component in stack.pins.components.values():
        if name in {component.name, component.gitlink}:
            return component
    known = [path for _, path in stack.gitlink_components()] if "/" in name else list(stack.pins.components)
    raise BadInputError(f"there is no component {name!r}{nearest(name, known)}")


def _wanted(stack: Stack, component: Component, revision: str, *, release: bool) -> Oid:
    if revision:
        mirror = stack.mirror(component)
        if revision == "HEAD" and mirror.head is not None:
            # The remote's, not that of the mirror.
            return mirror.tip(mirror.head)
        # A branch or a tag goes before an abbreviated id that happens to look like it.
        for name in (f"refs/heads/{revision}", f"refs/tags/{revision}"):
            found = mirror.repository.resolve(name)
            if found is not None:
                return found
        return stack.obtain(component, revision)
    if not release:
        return stack.tip(component)
    newest_release = newest(stack.releases(component))
    if newest_release is None:
        raise CouldNotFindOutError(
            f"{component.name} has no release: no tag matches {component.tags}",
            hint=f"Correct tags of [components.{component.name}] in pins.toml, or name a revision.",
        )
    return newest_release.commit
