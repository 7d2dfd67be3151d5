"""Reads and raises the floor of one requirement without touching the rest of its text."""

import re
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

_VERSION = r"[0-9A-Za-z.!+_*-]+"
_FLOOR = re.compile(rf"(?P<operator>>=|~=)(?P<space>\s*)(?P<version>{_VERSION})")


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorSite:
    """One requirement on a component in a manifest.

    Attributes:
        manifest: the manifest's path, from the top of the superproject.
        key: the key path of the array it stands in, dotted.
        line: counted from 1.
        text: the requirement as it is written.
        floor: the lowest version it accepts; None for a bare requirement.
    """

    manifest: str
    key: str
    line: int
    text: str
    floor: Version | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorMove:
    """One requirement whose floor rises."""

    component: str
    site: FloorSite
    before: Version
    after: Version

    @property
    def text(self) -> str:
        """The requirement with its new floor."""
        return raised(self.site.text, to=self.after)


def distribution_of(text: str) -> str | None:
    """Returns the normalised name (PEP 503) that a requirement is about; None where it is no requirement."""
    try:
        return canonicalize_name(Requirement(text).name)
    except InvalidRequirement:
        return None


def floor_of(text: str) -> Version | None:
    """Returns the lowest version that a requirement accepts by `>=` or `~=`; None for a bare or an exact one."""
    try:
        specifiers = Requirement(text).specifier
    except InvalidRequirement:
        return None
    floors: list[Version] = []
    for specifier in specifiers:
        if specifier.operator in {">=", "~="}:
            try:
                floors.append(Version(specifier.version))
            except InvalidVersion:
                continue
    return max(floors, default=None)


def admits(text: str, version: Version) -> bool:
    """Tells whether a requirement says which versions it takes, and takes this one; a bare one says nothing."""
    try:
        specifier = Requirement(text).specifier
    except InvalidRequirement:
        return False
    return bool(specifier) and specifier.contains(version)


def with_floor(text: str, floor: Version) -> str:
    """Returns the requirement with its floor at `floor`, lower or higher, all else as it was.

    A floor has no local part (PEP 440). A compatible release (`~=`) keeps as many parts as it had, for these say what
    it is compatible with.
    """
    public = Version(floor.public)
    specifiers, semicolon, marker = text.partition(";")

    def moved(match: re.Match[str]) -> str:
        version = str(public)
        if match["operator"] == "~=":
            missing = len(Version(match["version"]).release) - len(public.release)
            version = version.replace(public.base_version, public.base_version + ".0" * max(missing, 0), 1)
        return f"{match['operator']}{match['space']}{version}"

    return _FLOOR.sub(moved, specifiers, count=1) + semicolon + marker


def raised(text: str, *, to: Version) -> str:
    """Returns the requirement with its floor at `to`, all else (extras, markers, spacing, other bounds) as it was.

    A requirement without a floor, or with a floor at or above `to`, comes back unchanged.
    """
    floor = floor_of(text)
    if floor is None or floor >= Version(to.public):
        return text
    return with_floor(text, to)
