"""Reads uv.lock: its packages, and how one lock differs from another."""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from packaging.utils import canonicalize_name

from pinctl.errors import CouldNotFindOutError
from pinctl.model.lock import LockDiff, LockedPackage, compare_packages

_OWN_SOURCES = frozenset({"editable", "directory", "virtual"})

# What uv writes about the file rather than about its packages; a manifest's span of days is a moving date in there.
_ABOUT_THE_FILE = frozenset({"version", "revision", "options"})
_FILES = frozenset({"sdist", "wheels"})


def compare_locks(before: bytes, after: bytes, *, first_party: Collection[str]) -> LockDiff:
    """Compares two locks.

    Args:
        before: the bytes of one.
        after: the bytes of the other.
        first_party: distributions of components, wherever they come from.

    Raises:
        CouldNotFindOutError: one of them is no lock.
    """
    if before == after:
        return LockDiff()
    old, new = _parsed(before), _parsed(after)
    diff = compare_packages(_packages(old, first_party), _packages(new, first_party))
    moved = bool(diff.first_party or diff.third_party)
    return replace(diff, format_only=not moved and _contents(old) == _contents(new))


def is_closed(lock: bytes) -> bool:
    """Tells whether a lock holds nothing but what is in the superproject's tree, so that it depends on nothing else."""
    return all((package.get("source") or {}).keys() <= _OWN_SOURCES for package in _parsed(lock).get("package", ()))


def _contents(lock: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns what a lock says, without what one uv writes about files and another does not: dates and sizes."""
    packages = [
        {key: value for key, value in package.items() if key not in _FILES} for package in lock.get("package", ())
    ]
    return {**{key: value for key, value in lock.items() if key not in _ABOUT_THE_FILE}, "package": packages}


def _parsed(data: bytes) -> Mapping[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CouldNotFindOutError(f"the lock cannot be read: {error}", hint="Write it anew: uv lock") from error


def _packages(lock: Mapping[str, Any], first_party: Collection[str]) -> tuple[LockedPackage, ...]:
    own = {canonicalize_name(name) for name in first_party}
    found = []
    for package in lock.get("package", ()):
        source = package.get("source") or {}
        kind, place = next(iter(source.items()), ("", ""))
        found.append(
            LockedPackage(
                name=canonicalize_name(str(package.get("name"))),
                version=package.get("version"),
                source=f"{kind} {place}",
                first_party=kind in _OWN_SOURCES or canonicalize_name(str(package.get("name"))) in own,
                digests=_digests(package),
            )
        )
    return tuple(found)


def _digests(package: Mapping[str, Any]) -> Mapping[str, str]:
    files = [*([package["sdist"]] if "sdist" in package else []), *package.get("wheels", ())]
    names = [str(file.get("filename") or file.get("path") or file.get("url") or "") for file in files]
    return {name.rpartition("/")[2]: file["hash"] for name, file in zip(names, files, strict=True) if "hash" in file}
