"""Reads uv.lock: its packages, and how one lock differs from another."""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from packaging.utils import canonicalize_name

from pinctl.errors import CouldNotFindOutError
from pinctl.model.lock import Lock, LockDiff, LockedPackage, compare_packages

_OWN_SOURCES = frozenset({"editable", "directory", "virtual"})

# What uv writes about the file rather than about its packages; a manifest's span of days is a moving date in there.
_ABOUT_THE_FILE = frozenset({"version", "revision", "options"})
_FILES = frozenset({"sdist", "wheels"})
_HEAD = re.compile(rb'^\[\[package\]\]\r?\nname = "([^"]+)"', re.MULTILINE)


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


def read_lock(data: bytes, *, first_party: Collection[str]) -> Lock:
    """Reads a lock.

    Args:
        data: its bytes.
        first_party: distributions of components, wherever they come from.

    Raises:
        CouldNotFindOutError: it is no lock.
    """
    lock = _parsed(data)
    edges: dict[str, frozenset[str]] = {}
    for package in lock.get("package", ()):
        name = canonicalize_name(str(package.get("name")))
        edges[name] = edges.get(name, frozenset()) | frozenset(_used_by(package))
    lines: dict[str, int] = {}
    line, end = 1, 0
    for head in _HEAD.finditer(data):
        line += data.count(b"\n", end, head.start())
        end = head.start()
        lines.setdefault(canonicalize_name(head[1].decode()), line)
    return Lock(packages=_packages(lock, first_party), edges=edges, lines=lines)


def _used_by(package: Mapping[str, Any]) -> Iterator[str]:
    optional = (*package.get("optional-dependencies", {}).values(), *package.get("dev-dependencies", {}).values())
    for entries in (package.get("dependencies", ()), *optional):
        for entry in entries:
            yield canonicalize_name(str(entry.get("name")))


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
