"""Pins that stand in manifests as values, and how each way of writing one is moved."""

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

from packaging.requirements import Requirement
from packaging.version import InvalidVersion, Version

from pinctl.model.oid import Oid

_EXACT = re.compile(r"(?P<operator>===?)(?P<space>\s*)(?P<version>[0-9A-Za-z.!+_-]++)(?!\*)")
_HEX = re.compile(r"[0-9a-fA-F]{4,64}")
_ARCHIVE = re.compile(r"\.(tar\.gz|zip)$")


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
        digits: of the commit's id, how many name no other object of the component.
    """

    commit: Oid
    tag: str | None
    version: Version | None
    digits: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryMove:
    """An entry that changes."""

    component: str
    entry: Entry
    after: str


def moved_text(entry: Entry, target: Target) -> str | None:
    """Returns what an entry is to say. A rev keeps the length that the file uses, where that is enough.

    Returns:
        The text; None where the entry names a tag, a version or a file of a release, and the target is no release, or
        where the entry says more than that, such as a file's hash.
    """
    version = _with_label(entry.version, target.version)
    match entry.kind:
        case EntryKind.REV:
            return _moved_rev(entry.text, target)
        case EntryKind.BRANCH:
            return entry.text
        case EntryKind.TAG:
            return target.tag
        case EntryKind.VERSION:
            return _moved_requirement(entry.text, version) if version is not None else None
        case EntryKind.URL:
            if version is None or entry.version is None:
                return None
            return _moved_url(entry.text, entry.version, version, target.tag)


def _with_label(before: Version | None, after: Version | None) -> Version | None:
    """Keeps the local label of a build, such as `+cu12`: a tag does not name it."""
    if before is None or after is None or before.local is None or after.local is not None:
        return after
    return Version(f"{after}+{before.local}")


def _moved_rev(text: str, target: Target) -> str:
    if not _HEX.fullmatch(text):
        # uv takes a tag or a branch for a rev too.
        return target.tag or target.commit
    if target.commit.startswith(text.lower()):
        return text
    return target.commit[: max(len(text), target.digits)]


def _moved_requirement(text: str, version: Version) -> str | None:
    specifiers, semicolon, marker = text.partition(";")
    moved = _EXACT.sub(lambda match: f"{match['operator']}{match['space']}{version}", specifiers, count=1)
    found = [specifier for specifier in Requirement(moved).specifier if specifier.operator in {"==", "==="}]
    if not any(_same(specifier.version, version) for specifier in found):
        return None
    return moved + semicolon + marker


def _moved_url(url: str, before: Version, after: Version, tag: str | None) -> str | None:
    """Replaces a version in a release's URL: in the file's name, and in the directory that is named after its tag."""
    head, slash, name = url.rpartition("/")
    moved = _moved_name(name, before, after)
    if moved is None:
        return None
    scheme, separator, path = head.partition("://")
    host, *segments = path.split("/") if separator else ("", *head.split("/"))
    directories = [_moved_segment(segment, before, after, tag) for segment in segments]
    return "/".join([f"{scheme}://{host}", *directories] if separator else directories) + slash + moved


def _moved_name(name: str, before: Version, after: Version) -> str | None:
    if name.endswith(".whl"):
        distribution, _, rest = name.partition("-")
        version, dash, tail = rest.partition("-")
    elif archive := _ARCHIVE.search(name):
        distribution, _, version = name[: archive.start()].rpartition("-")
        dash, tail = "", archive.group()
    else:
        # A hash behind the name is that of the old file, and nothing here knows the new one's.
        return None
    if not _same(unquote(version), before):
        return None
    written = str(after).replace("+", "%2B") if "%" in version else str(after)
    return f"{distribution}-{written}{dash}{tail}"


def _moved_segment(segment: str, before: Version, after: Version, tag: str | None) -> str:
    """Moves the name of a directory that ends in the version, to the tag itself where it is named after that."""
    for start in range(len(segment)):
        head, number = segment[:start], unquote(segment[start:])
        if not number[0].isdigit() or head[-1:] in {*"0123456789.!+"} or not _same(number, before):
            continue
        if tag is not None and tag.startswith(head) and tag[start:][:1].isdigit() and _same(tag[start:], after):
            return tag
        if number == str(before):
            return f"{head}{after}"
    return segment


def _same(text: str, version: Version) -> bool:
    """Tells whether a text is a version, maybe without the label of its build."""
    try:
        return Version(text) in {version, Version(version.public)}
    except InvalidVersion:
        return False
