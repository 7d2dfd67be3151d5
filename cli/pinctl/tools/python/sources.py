"""Reads and moves pins that stand in manifests: entries of tool.uv.sources, and exact requirements."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from pinctl.model.entry import Entry, EntryKind, EntryMove, Target, moved_text
from pinctl.tools.python.manifest import requirement_arrays
from pinctl.tools.toml.edit import replace_strings
from pinctl.tools.toml.source import KeyPath, TomlSource

_SOURCES = ("tool", "uv", "sources")


def source_entries(manifest: TomlSource, name: str) -> tuple[Entry, ...]:
    """Lists the entries of `[tool.uv.sources]` for a distribution: several, where markers tell them apart."""
    sources = manifest.at(_SOURCES)
    wanted = canonicalize_name(name)
    found: list[Entry] = []
    for key, value in sources.items() if isinstance(sources, Mapping) else ():
        if canonicalize_name(key) != wanted:
            continue
        if isinstance(value, list):
            for index, table in enumerate(value):
                found += _entries(manifest, (*_SOURCES, key, index), table)
        else:
            found += _entries(manifest, (*_SOURCES, key), value)
    return tuple(found)


def exact_entries(manifest: TomlSource, name: str) -> tuple[Entry, ...]:
    """Lists the exact requirements (`==`) on a distribution."""
    found = []
    for key_path, text in _requirements(manifest):
        version = exact_version(text, name)
        if version is not None:
            found.append(_entry(manifest, key_path, EntryKind.VERSION, text, version))
    return tuple(found)


def exact_version(text: str, name: str) -> Version | None:
    """Returns the version that a requirement on a distribution pins exactly; None where it does not."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return None
    if canonicalize_name(requirement.name) != canonicalize_name(name):
        return None
    for specifier in requirement.specifier:
        if specifier.operator in {"==", "==="} and "*" not in specifier.version:
            try:
                return Version(specifier.version)
            except InvalidVersion:
                return None
    return None


def move_entries(
    manifest: TomlSource, targets: Mapping[str, tuple[tuple[Entry, ...], Target]]
) -> tuple[bytes, tuple[EntryMove, ...]]:
    """Returns a manifest in which entries name their targets, each in the way in which it is written.

    Args:
        manifest: the file.
        targets: by component, its entries in this manifest and what they are to name.

    Returns:
        The file's new bytes, and what was moved; an entry that cannot name its target stays (see `moved_text`).
    """
    moves: list[EntryMove] = []
    replacements: dict[KeyPath, str] = {}
    for component, (entries, target) in targets.items():
        for entry in entries:
            after = moved_text(entry, target)
            if after is not None and after != entry.text:
                moves.append(EntryMove(component=component, entry=entry, after=after))
                replacements[entry.key_path] = after
    return replace_strings(manifest, replacements) if replacements else manifest.data, tuple(moves)


def _entries(manifest: TomlSource, at: KeyPath, table: Any) -> Iterator[Entry]:
    if not isinstance(table, Mapping):
        return
    if "git" in table:
        for kind in (EntryKind.REV, EntryKind.TAG, EntryKind.BRANCH):
            if isinstance(table.get(kind), str):
                yield _entry(manifest, (*at, kind.value), kind, table[kind])
    elif isinstance(table.get("url"), str):
        yield _entry(manifest, (*at, "url"), EntryKind.URL, table["url"], version_of_url(table["url"]))


def version_of_url(url: str) -> Version | None:
    """Returns the version that the file name of a wheel's or an sdist's URL names; None where it names none."""
    name = unquote(PurePosixPath(urlsplit(url).path).name)
    try:
        return parse_wheel_filename(name)[1] if name.endswith(".whl") else parse_sdist_filename(name)[1]
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None


def _entry(
    manifest: TomlSource, key_path: KeyPath, kind: EntryKind, text: str, version: Version | None = None
) -> Entry:
    return Entry(
        manifest=str(PurePosixPath(manifest.path)),
        key_path=key_path,
        line=manifest.line(key_path) or 1,
        kind=kind,
        text=text,
        version=version,
    )


def _requirements(manifest: TomlSource) -> Iterator[tuple[KeyPath, str]]:
    for array in requirement_arrays(manifest):
        requirements = manifest.at(array)
        for index, text in enumerate(requirements if isinstance(requirements, list) else ()):
            if isinstance(text, str):
                yield (*array, index), text
