"""Pins that stand in manifests as values, and how each way of writing one is moved."""

import re
from dataclasses import dataclass
from enum import StrEnum

from packaging.version import Version

from pinctl.model.oid import Oid

_EXACT = re.compile(r"(?P<operator>===?)(?P<space>\s*)(?P<version>[0-9A-Za-z.!+_-]+)")


class EntryKind(StrEnum):
    """How an entry names what is pinned."""

    REV = "rev"
    TAG = "tag"
    BRANCH = "branch"
    """Names no commit: what it means moves by itself."""
    URL = "url"
    VERSION = "version"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One place of a manifest that pins a component.

    Attributes:
        key_path: of the string that names what is pinned.
        text: that string.
        version: the version that a URL's file name, or a requirement, names.
    """

    manifest: str
    key_path: tuple[str | int, ...]
    line: int
    kind: EntryKind
    text: str
    version: Version | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a component's pins are to name.

    Attributes:
        tag: the tag of the release, where the commit is one.
        version: the release's version, likewise.
    """

    commit: Oid
    tag: str | None
    version: Version | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryMove:
    """An entry that changes."""

    component: str
    entry: Entry
    after: str


def moved_text(entry: Entry, target: Target) -> str | None:
    """Returns what an entry is to say. A rev keeps the length that the file uses.

    Returns:
        The text; None where the entry names a tag, a version or a file of a release, and the target is no release.
    """
    version = target.version
    match entry.kind:
        case EntryKind.REV:
            return entry.text if target.commit.startswith(entry.text) else target.commit[: len(entry.text)]
        case EntryKind.BRANCH:
            return entry.text
        case EntryKind.TAG:
            return target.tag
        case EntryKind.VERSION:
            return _moved_requirement(entry.text, version) if version is not None else None
        case EntryKind.URL:
            if version is None or entry.version is None:
                return None
            return _moved_url(entry.text, entry.version, version)


def _moved_requirement(text: str, version: Version) -> str:
    specifiers, semicolon, marker = text.partition(";")
    moved = _EXACT.sub(lambda match: f"{match['operator']}{match['space']}{version}", specifiers, count=1)
    return moved + semicolon + marker


def _moved_url(url: str, before: Version, after: Version) -> str:
    """Replaces a version in a release's URL: in the file's name, and in the directory that is named after its tag."""
    head, slash, name = url.rpartition("/")
    segments = head.split("/")
    old, new = str(before), str(after)
    moved = [
        segment[: -len(old)] + new if segment.endswith(old) and not segment[: -len(old)][-1:].isdigit() else segment
        for segment in segments
    ]
    return "/".join(moved) + slash + name.replace(f"-{old}", f"-{new}", 1)
