"""Decides how pins move to the commits that are wanted, and how floors follow them."""

from collections.abc import Mapping
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.version import Version

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.superproject.floors import floors_on, manifests_at
from pinctl.flows.superproject.sites import PinnedSite, pinned_sites, target_of
from pinctl.flows.superproject.stack import Stack
from pinctl.model.entry import EntryKind, Target, moved_text
from pinctl.model.landing import Landed, Objection, ObjectionKind, Objections, PinMove
from pinctl.model.oid import Oid
from pinctl.model.pins import Component, FloorPolicy, RequirementSite
from pinctl.model.releases import newest
from pinctl.model.requirement import FloorSite, floor_of, raised
from pinctl.tools.git.history import contains, log, merge_base

_NAMING = frozenset({EntryKind.REV, EntryKind.TAG, EntryKind.BRANCH})
"""The kinds of entries that name a commit by themselves; a release needs a tag for that, and may have none."""

_RELEASES = frozenset({EntryKind.URL, EntryKind.VERSION})


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    """Where a component's pin is to go.

    Attributes:
        landed: the changes that it must contain.
        at_least: whether a pin that contains them already may stay, further on.
    """

    commit: Oid
    landed: tuple[Landed, ...] = ()
    at_least: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """How pins and floors move.

    Attributes:
        targets: by component, what its pins are to name.
        moves: the pins that are not there yet.
        floors: by component, the lowest version that its floors are to have.
    """

    targets: Mapping[str, Target]
    moves: tuple[PinMove, ...]
    floors: Mapping[str, Version]


def decide_moves(stack: Stack, tip: Oid, wants: Mapping[str, Want]) -> Moves | Objections:
    """Decides how pins move from where a commit of the superproject has them.

    Args:
        stack: the opened stack.
        tip: the commit of the superproject.
        wants: where they are to go, by component.

    Returns:
        The moves, or everything that is in their way.

    Raises:
        CouldNotFindOutError: a pin cannot be fetched, so whether it moves back cannot be told.
    """
    for name, want in wants.items():
        stack.foresee_version(stack.pins.components[name], want.commit)
    gitlinks = stack.repository.gitlinks(tip)
    manifests = manifests_at(stack, tip)
    targets: dict[str, Target] = {}
    moves: list[PinMove] = []
    floors: dict[str, Version] = {}
    objections: list[Objection] = []
    for name, want in wants.items():
        component = stack.pins.components[name]
        sites = pinned_sites(stack, component, gitlinks, manifests)
        for site in sites:
            if site.unknown is not None and site.entry is not None and site.entry.kind in _NAMING:
                raise CouldNotFindOutError(site.unknown)
        before = sites[0].commit if sites else None
        commit = _destination(stack, component, before, want)
        if isinstance(commit, Objection):
            objections.append(commit)
            continue
        target = target_of(stack, component, commit)
        if want.at_least and target.version is None and _by_release(component, sites):
            # Its tag may be on a later commit than the change.
            commit = _first_release(stack, component, want.landed) or commit
            target = target_of(stack, component, commit)
        stuck = _stuck(component, sites, target)
        if stuck is not None:
            objections.append(stuck)
            continue
        targets[name] = target
        if before != commit or any(_differs(site, target) for site in sites):
            path = component.gitlink or (sites[0].place if sites else component.name)
            moves.append(pin_move(stack, component, path, before=before, after=commit, landed=want.landed))
        floor = _floor(stack, component, commit, tuple(item.commit for item in want.landed))
        if isinstance(floor, Version):
            floor = _ruled_out(component, floors_on(manifests, component), floor) or floor
        if isinstance(floor, Objection):
            objections.append(floor)
        elif floor is not None:
            floors[name] = floor
    if objections:
        return Objections(objections=tuple(objections))
    return Moves(targets=targets, moves=tuple(moves), floors=floors)


def pin_move(
    stack: Stack, component: Component, path: str, *, before: Oid | None, after: Oid, landed: tuple[Landed, ...]
) -> PinMove:
    """Finds out what a pin's move brings.

    Args:
        stack: the opened stack.
        component: what is pinned.
        path: where it is pinned.
        before: the pin before; None where there was none.
        after: the pin it moves to.
        landed: the changes that the move is for.

    Raises:
        CouldNotFindOutError: one of the commits cannot be fetched, or no version comes of the pin.
    """
    repository = stack.mirror(component).repository
    if before is not None:
        stack.obtain(component, before)
    base = merge_base(repository, before, after) if before is not None else None
    incoming = log(repository, f"{base}..{after}" if base else after)
    return PinMove(
        component=component,
        path=path,
        before=before,
        after=after,
        version=stack.version(component, after),
        incoming=tuple(entry.subject for entry in incoming),
        landed=landed,
        back=before is not None and base != before and not contains(repository, commit=after, ancestor=before),
    )


def newest_of(stack: Stack, component: Component, landed: tuple[Landed, ...]) -> Oid:
    """Returns, of the commits of landed changes, the one that contains the others."""
    repository = stack.mirror(component).repository
    found = landed[0].commit
    for item in landed[1:]:
        if contains(repository, commit=item.commit, ancestor=found):
            found = item.commit
    return found


def _destination(stack: Stack, component: Component, before: Oid | None, want: Want) -> Oid | Objection:
    if before is None or not want.at_least:
        return want.commit
    repository = stack.mirror(component).repository
    stack.obtain(component, before)
    if not contains(repository, commit=stack.tip(component), ancestor=before):
        return want.commit
    if all(contains(repository, commit=before, ancestor=item.commit) for item in want.landed):
        return before
    if contains(repository, commit=want.commit, ancestor=before):
        return want.commit
    return Objection(
        kind=ObjectionKind.MOVES_BACK,
        message=f"{component.name} is pinned at {before.short}, which {want.commit.short} does not contain",
        hint=f"Pin a commit of {stack.branch(component)} that contains both.",
    )


def _by_release(component: Component, sites: tuple[PinnedSite, ...]) -> bool:
    """Tells whether a component's pin can only name releases: where it stands, or where it is to stand."""
    if sites:
        return any(site.entry is not None and site.entry.kind in _RELEASES for site in sites)
    return all(isinstance(site, RequirementSite) for site in component.sites)


def _first_release(stack: Stack, component: Component, landed: tuple[Landed, ...]) -> Oid | None:
    """Returns the commit of the oldest release that contains the changes; None where there is none yet."""
    repository = stack.mirror(component).repository
    holding = [
        release
        for release in stack.releases(component)
        if all(contains(repository, commit=release.commit, ancestor=item.commit) for item in landed)
    ]
    oldest = min(holding, key=lambda release: release.version, default=None)
    return oldest.commit if oldest is not None else None


def _differs(site: PinnedSite, target: Target) -> bool:
    if site.entry is None or site.entry.kind is EntryKind.REV:
        return site.commit != target.commit
    return moved_text(site.entry, target) != site.text


def _stuck(component: Component, sites: tuple[PinnedSite, ...], target: Target) -> Objection | None:
    """Finds entries that cannot name where they are to go."""
    entries = [(site, site.entry) for site in sites if site.entry is not None]
    stuck = [site for site, entry in entries if moved_text(entry, target) is None]
    message = f"{component.name} is pinned by release, and {target.commit.short} is none"
    hint = f"Name a release: pinctl bump {component.name}@TAG, or pinctl bump --release {component.name}."
    if stuck and target.version is not None:
        message = f"{component.name} is pinned in a way that cannot be moved to {target.version}"
        hint = "Move it by hand: it says more than the version, such as the hash of a file."
    following = [site for site, entry in entries if entry.kind is EntryKind.BRANCH]
    if not stuck and sites and len(following) == len(sites):
        # Beside another pin, a branch is left to follow by itself; alone, it would be a pin that did not move.
        stuck = [site for site in following if site.commit != target.commit]
        message = f"{component.name} is pinned by branch, which cannot name {target.commit.short}"
        hint = "Write a rev or a tag in its place, then run this again."
    if not stuck and not (target.version is None and _by_release(component, sites)):
        return None
    details = tuple(f"{site.place}:{site.line} {site.text}" for site in stuck)
    return Objection(kind=ObjectionKind.NOT_A_RELEASE, message=message, hint=hint, details=details)


def _floor(stack: Stack, component: Component, pin: Oid, required: tuple[Oid, ...]) -> Version | Objection | None:
    """Returns the lowest version that a component's floors are to have, if its policy sets one."""
    if component.distribution is None or component.floor is FloorPolicy.KEEP:
        return None
    floor = _floor_by_policy(stack, component, pin, required)
    at_pin = stack.version(component, pin)
    if floor is None or at_pin is None or floor <= at_pin:
        return floor
    return Objection(
        kind=ObjectionKind.FLOOR,
        message=f"{component.name}'s floor would be {floor}, above its version at pin {pin.short}, {at_pin}",
        hint=f"Look at the tags of {component.name}, or give it another floor policy in pins.toml.",
    )


def _ruled_out(component: Component, sites: tuple[FloorSite, ...], floor: Version) -> Objection | None:
    """Finds requirements that nothing could meet any more with a floor as high as that."""
    details = []
    for site in sites:
        text = raised(site.text, to=floor)
        lowest = floor_of(text) if text != site.text else None
        if lowest is not None and not Requirement(text).specifier.contains(lowest, prereleases=True):
            details.append(f"{site.manifest}:{site.line} {site.text}")
    if not details:
        return None
    return Objection(
        kind=ObjectionKind.FLOOR,
        message=f"{component.name}'s floor would be {floor}, which other bounds rule out",
        hint="Let the bounds go, or give it another floor policy in pins.toml.",
        details=tuple(details),
    )


def _floor_by_policy(stack: Stack, component: Component, pin: Oid, required: tuple[Oid, ...]) -> Version | None:
    match component.floor:
        case FloorPolicy.KEEP:
            return None
        case FloorPolicy.AT_PIN:
            version = stack.version(component, pin)
            # A local label (+g1a2b3c) says which commit it was built from; a floor cannot hold one (PEP 440).
            return Version(version.public) if version is not None else None
        case FloorPolicy.RELEASE:
            release = newest(stack.releases(component, pin))
            return release.version if release else None
        case FloorPolicy.REQUIRED_CHANGE:
            repository = stack.mirror(component).repository
            holding = (
                release.version
                for release in stack.releases(component)
                if all(contains(repository, commit=release.commit, ancestor=change) for change in required)
            )
            return min(holding, default=None)
