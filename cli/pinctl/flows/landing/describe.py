"""Describes a landing from its commit: what a pull request for it has to say."""

from collections import defaultdict
from itertools import zip_longest

from pinctl.errors import BadInputError
from pinctl.flows.landing.publish import branch_of, name_of
from pinctl.flows.proof.certified import certificate_in, inputs_in
from pinctl.flows.staging.message import (
    BUMP,
    CHANGE,
    certificate_trailer,
    digest_of_certificate,
    heading_of_plan,
    is_landing,
    trailers_in,
)
from pinctl.flows.staging.moves import pin_move
from pinctl.flows.staging.resolve import find_companion, pulls_of
from pinctl.flows.staging.stage import lock_difference
from pinctl.flows.superproject.floors import floors_on, manifests_at
from pinctl.flows.superproject.plans import plans_at
from pinctl.flows.superproject.remotes import REMOTE
from pinctl.flows.superproject.sites import PinnedSite, pinned_sites
from pinctl.flows.superproject.stack import Stack
from pinctl.flows.superproject.workspace import open_stack, stack_at
from pinctl.model.description import Description, OwnChange, Proof, RequirementChange
from pinctl.model.landing import Landed, PinMove
from pinctl.model.lock import LockDiff
from pinctl.model.oid import Oid
from pinctl.model.pins import Component
from pinctl.model.plan import LandingPlan
from pinctl.model.requirement import FloorSite
from pinctl.model.rule import ROLLBACK_TRAILER
from pinctl.model.where import Where
from pinctl.tools.files.certificate_file import certificate_bytes
from pinctl.tools.files.declaration import nearest
from pinctl.tools.files.plan_file import plan_names
from pinctl.tools.git.history import commit_with_trailer, contains, log
from pinctl.tools.git.refs import local_ref
from pinctl.tools.toml.source import TomlSource

_Manifests = tuple[tuple[TomlSource, ...], tuple[TomlSource, ...]]
"""The superproject's manifests before a commit, and in it."""


def describe(where: Where, name: str) -> Description:
    """Describes the landing of a plan, or a bump.

    It is looked for on its own branch here, then there on the remote, then among what has landed on the target.

    Args:
        where: where the user stands.
        name: the plan's name, or that of the landing branch, with `landing/` or without.

    Raises:
        BadInputError: there is no such landing.
        CouldNotFindOutError: a remote does not answer, or a commit cannot be fetched.
    """
    stack = open_stack(where)
    name = name_of(name)
    commit, found_on = _found(stack, name)
    entry = log(stack.repository, "-1", commit)[0]
    is_of_plan = is_landing(entry.message, heading_of_plan(name))
    if not is_of_plan and not trailers_in(entry.message, BUMP):
        raise BadInputError(
            f"{found_on} is at {commit.short}, which is no landing of {name}",
            hint=f"Rename it: git branch -m {branch_of(name)} NEW-NAME",
        )
    stack = stack_at(stack, commit)
    plan = _plan_at(stack, commit, name) if is_of_plan else None
    if plan is not None:
        stack = stack.with_pulls(pulls_of(plan))
    parent = stack.repository.commit(f"{commit}^1")
    manifests = manifests_at(stack, parent), manifests_at(stack, commit)
    landed, lacking = _companions(stack, plan)
    return Description(
        name=name,
        plan=plan.title if plan is not None else None,
        title=entry.subject,
        where=found_on,
        commit=commit,
        parent=parent,
        changes=tuple(
            OwnChange(title=title, head=head)
            for title, _, head in (words.rpartition(" ") for words in trailers_in(entry.message, CHANGE))
        ),
        landed=landed,
        lacking=lacking,
        moves=_moves(stack, parent, commit, manifests, landed),
        rollbacks=trailers_in(entry.message, ROLLBACK_TRAILER),
        floors=_floors(stack, manifests),
        lock=_lock(stack, parent, commit),
        proof=_proof(stack, commit, name, plan, named=certificate_trailer(entry.message)),
    )


def _found(stack: Stack, name: str) -> tuple[Oid, str]:
    branch = branch_of(name)
    ref = f"refs/heads/{branch}"
    here = local_ref(stack.repository, ref)
    if here is not None:
        return here, branch
    there = stack.remote_ref(ref)
    if there is not None:
        stack.fetch(ref, there)
        return there, f"{REMOTE}/{branch}"
    heading, target = heading_of_plan(name), stack.target
    landed = commit_with_trailer(stack.repository, tip=stack.target_tip(target), beginning=heading, whole=True)
    if landed is not None:
        return landed, target
    plans = plan_names(stack.pins)
    if name not in plans:
        raise BadInputError(
            f"there is no landing {name!r}, and no plan{nearest(name, plans)}",
            hint="List the plans: pinctl plan. Name a bump as its branch is named: landing/bump-COMPONENT",
        )
    raise BadInputError(
        f"{name} has not been landed: there is no {branch}, here or on the remote, and {target} does not have it",
        hint=f"Land it: pinctl land {name}. What that would do: pinctl plan {name}",
    )


def _plan_at(stack: Stack, commit: Oid, name: str) -> LandingPlan | None:
    return next((plan for plan in plans_at(stack, commit) if plan.name == name), None)


def _companions(stack: Stack, plan: LandingPlan | None) -> tuple[tuple[Landed, ...], tuple[str, ...]]:
    landed: list[Landed] = []
    lacking: list[str] = []
    changes = [change for change in plan.changes if change.component != stack.name] if plan is not None else []
    stack.ask(stack.pins.components[change.component] for change in changes)
    for change in changes:
        found = find_companion(stack, change, stack.pins.components[change.component])
        if isinstance(found, Landed):
            landed.append(found)
        else:
            lacking.append(found.message)
    return tuple(landed), tuple(lacking)


def _moves(
    stack: Stack, parent: Oid, commit: Oid, manifests: _Manifests, landed: tuple[Landed, ...]
) -> tuple[PinMove, ...]:
    """Finds the pins that a commit has otherwise than its parent; one that it drops moves nowhere."""
    repository = stack.repository
    gitlinks = repository.gitlinks(parent), repository.gitlinks(commit)
    moved: list[tuple[Component, PinnedSite, Oid | None, Oid]] = []
    for component in stack.pins.components.values():
        if component.skip is not None:
            continue
        old, new = (pinned_sites(stack, component, *both) for both in zip(gitlinks, manifests, strict=True))
        before = old[0].commit if old else None
        if new and new[0].commit is not None and new[0].commit != before:
            moved.append((component, new[0], before, new[0].commit))
    stack.ask(component for component, _, _, _ in moved)
    for component, _, _, after in moved:
        stack.foresee_version(component, after)
    return tuple(
        pin_move(
            stack,
            component,
            component.gitlink or site.place,
            before=before,
            after=after,
            landed=_brought(stack, component, landed, before, after),
        )
        for component, site, before, after in moved
    )


def _brought(
    stack: Stack, component: Component, landed: tuple[Landed, ...], before: Oid | None, after: Oid
) -> tuple[Landed, ...]:
    """Picks the changes of a component that a pin has, and the pin before it had not."""
    own = [item for item in landed if item.change.component == component.name]
    repository = stack.mirror(component).repository
    for commit in (before, after):
        if own and commit is not None:
            stack.obtain(component, commit)
    return tuple(
        item
        for item in own
        if contains(repository, commit=after, ancestor=item.commit)
        and (before is None or not contains(repository, commit=before, ancestor=item.commit))
    )


def _floors(stack: Stack, manifests: _Manifests) -> tuple[RequirementChange, ...]:
    changes: list[RequirementChange] = []
    for component in stack.pins.components.values():
        old, new = (_by_place(floors_on(found, component)) for found in manifests)
        for manifest, key in dict.fromkeys((*old, *new)):
            pairs = zip_longest(old[manifest, key], new[manifest, key])
            changes += [
                RequirementChange(component=component.name, manifest=manifest, before=before, after=after)
                for before, after in pairs
                if before != after
            ]
    return tuple(changes)


def _by_place(sites: tuple[FloorSite, ...]) -> defaultdict[tuple[str, str], list[str]]:
    found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for site in sites:
        found[site.manifest, site.key].append(site.text)
    return found


def _lock(stack: Stack, parent: Oid, commit: Oid) -> LockDiff:
    path = stack.pins.superproject.lock
    if path is None:
        return LockDiff()
    before, after = (stack.repository.read(revision, path) for revision in (parent, commit))
    return lock_difference(stack, before, after)


def _proof(stack: Stack, commit: Oid, name: str, plan: LandingPlan | None, *, named: str | None) -> Proof | None:
    certificate = certificate_in(stack, commit, name)
    if certificate is None:
        return None
    digest = digest_of_certificate(certificate_bytes(certificate))
    stale = () if named == digest else ("it is not the certificate that the commit's message names",)
    contract = plan.contract if plan is not None else None
    if plan is None or contract is None:
        stale = (*stale, "the commit has no plan with a contract")
    else:
        now = inputs_in(stack, commit, plan, contract, tuple(certificate.inputs.pins))
        stale = (*stale, *certificate.inputs.changes_to(now))
    required = certificate.required(contract.mode if contract is not None else None, server=stack.name)
    return Proof(certificate=certificate, digest=digest, required=required, stale=stale)
