"""Judges whether the lock moves versions of other people's packages without leave, and says what brought them."""

import contextlib
import posixpath
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from pinctl.errors import BadFileError, CouldNotFindOutError
from pinctl.flows.check.fixes import lock_command
from pinctl.flows.check.plans import is_brought
from pinctl.flows.check.scope import MovedPin, Scope, named_in_trailers
from pinctl.flows.superproject.sites import component_manifests
from pinctl.model.finding import Finding, Level
from pinctl.model.lock import Lock, LockChange, compare_packages
from pinctl.model.oid import Oid
from pinctl.model.pins import Component
from pinctl.model.requirement import admits, distribution_of, is_bare
from pinctl.model.rule import LOCK_TRAILER
from pinctl.tools.git.history import merge_base
from pinctl.tools.python.lockfile import read_lock
from pinctl.tools.python.manifest import all_requirements
from pinctl.tools.toml.source import TomlSource, read_toml

_MANIFEST = "pyproject.toml"

# What tool.uv holds that is about single packages; everything else there changes how all of them are resolved.
_OF_PACKAGES = frozenset(
    {
        "sources",
        "workspace",
        "override-dependencies",
        "constraint-dependencies",
        "build-constraint-dependencies",
        "dev-dependencies",
        "package",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Locks:
    """The locks before and after the range."""

    before: Lock
    after: Lock

    def below(self, names: Collection[str]) -> frozenset[str]:
        return self.before.below(names) | self.after.below(names)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Brought:
    """What a pin that moved has to do with changes of the lock.

    Attributes:
        needed: by package, what the component newly says of it, in words.
        reached: the packages that it depends on, in whichever of the two locks.
    """

    pin: MovedPin
    needed: Mapping[str, str]
    reached: frozenset[str]


def third_party_findings(scope: Scope) -> Iterator[Finding]:
    """Judges what the range moves in the lock of packages that are neither ours nor a component's."""
    path, before = scope.stack.pins.superproject.lock, _before(scope)
    if path is None or before is None or path not in scope.touched:
        return
    old, new = scope.stack.repository.read(before, path), scope.stack.repository.read(scope.result, path)
    if old is None or new is None:
        return
    own = [component.distribution or component.name for component in scope.stack.pins.components.values()]
    try:
        locks = _Locks(before=read_lock(old, first_party=own), after=read_lock(new, first_party=own))
        changes = compare_packages(locks.before.packages, locks.after.packages).third_party
        if changes and not _has_leave(scope):
            yield from _judged(scope, path, locks, changes)
    except CouldNotFindOutError as error:
        message = f"could not find out: {error.message}"
        yield Finding(rule="LCK002", component=None, path=path, line=None, message=message, unknown=True)


def _before(scope: Scope) -> Oid | None:
    """Returns what the range is compared with: the target's tip, or where it was cut off if the two cannot be merged.

    What the target has moved since then is not what the range moves.
    """
    base, head = scope.range.base, scope.range.head
    if base is None or scope.result != head:
        return base
    return merge_base(scope.stack.repository, base, head) or base


def _judged(scope: Scope, path: str, locks: _Locks, changes: tuple[LockChange, ...]) -> Iterator[Finding]:
    asked_for = _asked_for(scope, locks)
    if asked_for is None:
        return
    excused = asked_for | _named_in_trailers(scope)
    left = tuple(change for change in changes if change.name not in excused)
    moved = tuple(pin for pin in scope.moved if pin.before != pin.after)
    for pin in moved:
        brought = _brought(scope, path, locks, pin, left)
        needed = tuple(change for change in left if change.name in brought.needed)
        beside = tuple(change for change in left if change.name in brought.reached.difference(brought.needed))
        left = tuple(change for change in left if change not in needed and change not in beside)
        if needed:
            words = ", ".join(f"{change.words} ({brought.needed[change.name]})" for change in needed)
            before = pin.before.short if pin.before is not None else "none"
            message = f"{pin.component.name} {before} -> {pin.after.short} brings versions that are not ours: {words}"
            yield _finding(locks, path, needed, message, component=pin.component, fix=None)
        if beside:
            yield _beside(scope, locks, path, beside, component=pin.component)
    if left:
        yield _beside(scope, locks, path, left, component=None, alone=not moved and not scope.unknown)


def _beside(
    scope: Scope,
    locks: _Locks,
    path: str,
    changes: tuple[LockChange, ...],
    *,
    component: Component | None,
    alone: bool = False,
) -> Finding:
    """Words the finding about moves that nothing new asks for: uv would have left them where they were."""
    words = ", ".join(change.words for change in changes)
    reason = "no requirement of this range asks for it" if alone else "no requirement that is new asks for it"
    message = f"versions that are not ours moved, and {reason}: {words}"
    level = Level.WARNING if alone else Level.ERROR
    return _finding(locks, path, changes, message, component=component, fix=_fix(scope, path), level=level)


def _finding(
    locks: _Locks,
    path: str,
    changes: tuple[LockChange, ...],
    message: str,
    *,
    component: Component | None,
    fix: str | None,
    level: Level = Level.ERROR,
) -> Finding:
    line = next((locks.after.lines[change.name] for change in changes if change.name in locks.after.lines), 1)
    name = component.name if component is not None else None
    return Finding(rule="LCK002", component=name, path=path, line=line, message=message, fix=fix, level=level)


def _fix(scope: Scope, path: str) -> str:
    """Returns the command that makes the lock anew from that of the target, which uv leaves as it is where it can."""
    names = [component.distribution or component.name for component, _ in scope.stack.gitlink_components()]
    return f"git checkout {scope.range.base} -- {shlex.quote(path)} && {lock_command(path, names)}"


def _has_leave(scope: Scope) -> bool:
    """Tells whether a landing plan that lets them move has a change in the range."""
    name = scope.stack.name
    plans = [plan for plan in scope.plans if plan.third_party]
    return any(is_brought(scope, change) for plan in plans for change in plan.of_superproject(name))


def _named_in_trailers(scope: Scope) -> frozenset[str]:
    """Returns the packages that trailers of the range's commits give leave for."""
    return frozenset(canonicalize_name(package) for package, _, _ in named_in_trailers(scope, LOCK_TRAILER))


def _asked_for(scope: Scope, locks: _Locks) -> frozenset[str] | None:
    """Finds the packages whose moves the range's own manifests ask for.

    Returns:
        Those that a changed requirement or source names, what they depend on, and what depends on them; None where
        what changed bears on all packages, such as the Pythons or the indexes that uv resolves for.
    """
    changed: set[str] = set()
    revisions = (_before(scope), scope.result)
    for path in scope.touched:
        if PurePosixPath(path).name != _MANIFEST:
            continue
        before, after = (_manifest(scope, revision, path) for revision in revisions)
        if _settings(before) != _settings(after):
            return None
        changed |= {name for name, _ in _said(before) ^ _said(after)}
    ours = {package.name for lock in (locks.before, locks.after) for package in lock.packages if package.first_party}
    changed -= ours
    return locks.below(changed) | locks.before.above(changed) | locks.after.above(changed)


def _manifest(scope: Scope, revision: str | None, path: str) -> TomlSource | None:
    data = scope.stack.repository.read(revision, path) if revision is not None else None
    with contextlib.suppress(BadFileError):
        return read_toml(Path(path), data) if data is not None else None
    return None


def _settings(manifest: TomlSource | None) -> object:
    """Returns what a manifest says that bears on the resolution of every package."""
    table = manifest.at(("tool", "uv")) if manifest is not None else None
    settings = {key: value for key, value in table.items() if key not in _OF_PACKAGES} if table else {}
    return settings, manifest.at(("project", "requires-python")) if manifest is not None else None


def _said(manifest: TomlSource | None) -> frozenset[tuple[str, str]]:
    """Returns each distribution that a manifest speaks of, with what it says."""
    if manifest is None:
        return frozenset()
    said = {(name, text) for text in all_requirements(manifest) if (name := distribution_of(text)) is not None}
    sources = manifest.at(("tool", "uv", "sources"))
    said |= {(canonicalize_name(name), repr(value)) for name, value in (sources or {}).items()}
    return frozenset(said)


def _brought(scope: Scope, path: str, locks: _Locks, pin: MovedPin, changes: tuple[LockChange, ...]) -> _Brought:
    """Finds out which changes of the lock a pin that moved is behind."""
    roots = _roots(path, locks, pin.component)
    needed = dict(_needed(scope, locks, pin, changes))
    names = {change.name for change in changes}
    for lock in (locks.after, locks.before):
        for name in tuple(needed):
            for other in (lock.below((name,)) & names).difference(needed):
                needed[other] = f"comes with {name}"
    return _Brought(pin=pin, needed=needed, reached=locks.below(roots))


def _roots(path: str, locks: _Locks, component: Component) -> frozenset[str]:
    """Returns the packages that are a component's own: its distribution, and what is built from inside its gitlink."""
    found: set[str] = {canonicalize_name(component.distribution or component.name)}
    for package in (*locks.before.packages, *locks.after.packages):
        place = package.source.partition(" ")[2]
        inside = posixpath.normpath(posixpath.join(posixpath.dirname(path), place))
        if package.first_party and component.gitlink and f"{inside}/".startswith(f"{component.gitlink}/"):
            found.add(package.name)
    return frozenset(found)


def _needed(scope: Scope, locks: _Locks, pin: MovedPin, changes: tuple[LockChange, ...]) -> Iterator[tuple[str, str]]:
    """Compares what a component requires at its two pins with what the locks have."""
    try:
        old, new = _requirements(scope, pin.component, pin.before), _requirements(scope, pin.component, pin.after)
    except CouldNotFindOutError:
        # What the pin is at all is for other rules to say; nothing is put down to it here.
        return
    for change in changes:
        come = [text for text in sorted(new - old) if distribution_of(text) == change.name]
        gone = [text for text in sorted(old - new) if distribution_of(text) == change.name]
        former = locks.before.versions(change.name)
        if ruling_out := [text for text in come if not change.before or not _admits_any(text, former)]:
            yield change.name, f"requires {ruling_out[0]}"
        elif gone and not change.after:
            yield change.name, f"no longer requires {gone[0]}"


def _requirements(scope: Scope, component: Component, commit: str | None) -> frozenset[str]:
    if commit is None:
        return frozenset()
    pin = scope.stack.obtain(component, commit)
    manifests = component_manifests(scope.stack, component, pin)
    return frozenset(text for manifest in manifests for text in all_requirements(manifest))


def _admits_any(text: str, versions: tuple[str, ...]) -> bool:
    found = []
    for version in versions:
        with contextlib.suppress(InvalidVersion):
            found.append(Version(version))
    return is_bare(text) or any(admits(text, version, prereleases=True) for version in found)
