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
    same = {key: value for key, value in old.items() if key not in _ABOUT_THE_FILE} == {
        key: value for key, value in new.items() if key not in _ABOUT_THE_FILE
    }
    return replace(diff, format_only=same)


def is_closed(lock: bytes, *, first_party: Collection[str]) -> bool:
    """Tells whether a lock holds our own packages only, so that it depends on no index."""
    return all(package.first_party for package in _packages(_parsed(lock), first_party))


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
                source=kind if kind == "registry" else f"{kind} {place}",
                first_party=kind in _OWN_SOURCES or canonicalize_name(str(package.get("name"))) in own,
            )
        )
    return tuple(found)
