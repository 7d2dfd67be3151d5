"""Compares two locks: what moved of ours, what moved of others, and what is only written differently."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedPackage:
    """One package of a lock.

    Attributes:
        name: normalised (PEP 503).
        version: None where uv leaves it out, as for dynamic versions of path sources.
        source: the kind and place it comes from, such as `registry https://index.example/simple`, or
            `editable deps/verifiers`.
        first_party: whether it is the superproject's own or a component's.
        digests: of its files, by their names.
    """

    name: str
    version: str | None
    source: str
    first_party: bool
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """Version and source, for people."""
        return self.version or self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class LockChange:
    """A package that a lock has in another version, from another source, or with other contents than before.

    Attributes:
        before: what it had; empty for a package that is new. A lock may hold several versions of one package.
        after: what it has; empty for a package that is gone.
    """

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def words(self) -> str:
        """The change, for people."""
        return f"{self.name} {', '.join(self.before) or 'none'} -> {', '.join(self.after) or 'none'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LockDiff:
    """What differs between two locks.

    Attributes:
        first_party: changes of the superproject's own packages and of components.
        third_party: changes of everything else.
        format_only: whether the bytes differ and no package does, nor what one requires.
    """

    first_party: tuple[LockChange, ...] = ()
    third_party: tuple[LockChange, ...] = ()
    format_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """What a lock holds.

    Attributes:
        edges: by the name of a package, those that it depends on, in whichever of its versions.
        lines: by the name of a package, the line where it begins, counted from 1.
    """

    packages: tuple[LockedPackage, ...]
    edges: Mapping[str, frozenset[str]]
    lines: Mapping[str, int]

    def versions(self, name: str) -> tuple[str, ...]:
        """Returns the versions of a package."""
        return tuple(item.version for item in self.packages if item.name == name and item.version is not None)

    def below(self, names: Iterable[str]) -> frozenset[str]:
        """Returns some packages with all that they depend on."""
        return _closure(self.edges, names)

    def above(self, names: Iterable[str]) -> frozenset[str]:
        """Returns some packages with all packages of other people that depend on them."""
        ours = {package.name for package in self.packages if package.first_party}
        users: dict[str, set[str]] = {}
        for user, used in self.edges.items():
            for name in used:
                users.setdefault(name, set()).update({user} - ours)
        return _closure({name: frozenset(found) for name, found in users.items()}, names)


def _closure(edges: Mapping[str, frozenset[str]], names: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += edges.get(name, ())
    return frozenset(found)


def compare_packages(before: Iterable[LockedPackage], after: Iterable[LockedPackage]) -> LockDiff:
    """Compares the packages of two locks by name."""
    old, new = _by_name(before), _by_name(after)
    first: list[LockChange] = []
    third: list[LockChange] = []
    for name in sorted({*old, *new}):
        was, now = old.get(name, ()), new.get(name, ())
        if _identity(was) == _identity(now) and not _replaced(was, now):
            continue
        change = _change(name, was, now)
        (first if any(package.first_party for package in (*was, *now)) else third).append(change)
    return LockDiff(first_party=tuple(first), third_party=tuple(third))


def _by_name(packages: Iterable[LockedPackage]) -> Mapping[str, tuple[LockedPackage, ...]]:
    found: dict[str, tuple[LockedPackage, ...]] = {}
    for package in packages:
        found[package.name] = (*found.get(package.name, ()), package)
    return found


def _identity(packages: tuple[LockedPackage, ...]) -> frozenset[tuple[str | None, str]]:
    return frozenset((package.version, package.source) for package in packages)


def _replaced(was: tuple[LockedPackage, ...], now: tuple[LockedPackage, ...]) -> tuple[str, ...]:
    """Returns the names of files that have other contents than before; a file that is new replaces nothing."""
    before = {name: digest for package in was for name, digest in package.digests.items()}
    after = {name: digest for package in now for name, digest in package.digests.items()}
    return tuple(sorted(name for name in before.keys() & after.keys() if before[name] != after[name]))


def _change(name: str, was: tuple[LockedPackage, ...], now: tuple[LockedPackage, ...]) -> LockChange:
    """Says what changed: versions, else where they come from, else which files are not the same."""
    before, after = _words(was), _words(now)
    if before == after:
        before, after = _origins(was), _origins(now)
    if before == after:
        after = tuple(f"other contents of {file}" for file in _replaced(was, now))
    return LockChange(name=name, before=before, after=after)


def _words(packages: tuple[LockedPackage, ...]) -> tuple[str, ...]:
    return tuple(sorted(package.words for package in packages))


def _origins(packages: tuple[LockedPackage, ...]) -> tuple[str, ...]:
    return tuple(sorted(f"{package.words} ({package.source})" for package in packages))
