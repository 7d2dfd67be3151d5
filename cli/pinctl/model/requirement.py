"""Reads and raises the floor of one requirement without touching the rest of its text."""

import re
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

_VERSION = r"[0-9A-Za-z.!+_*-]+"
_FLOOR = re.compile(rf"(?P<operator>>=|~=)(?P<space>\s*)(?P<version>{_VERSION})")
_EXACT = re.compile(rf"(?<!=)==(?!=)(?P<space>\s*)(?P<version>{_VERSION})")


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


def is_bare(text: str) -> bool:
    """Tells whether a requirement says nothing about versions, like one that names a URL."""
    try:
        return not Requirement(text).specifier
    except InvalidRequirement:
        return True


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


def admits(text: str, version: Version, *, prereleases: bool | None = None) -> bool:
    """Tells whether a requirement says which versions it takes, and takes this one; a bare one says nothing.

    Args:
        text: the requirement.
        version: the version.
        prereleases: whether pre-releases may count; None leaves it to the requirement, which may name one itself.
    """
    try:
        specifier = Requirement(text).specifier
    except InvalidRequirement:
        return False
    return bool(specifier) and specifier.contains(version, prereleases=prereleases)


def excludes(text: str, version: Version) -> bool:
    """Tells whether a requirement excludes a version that is at or above its floor: by any of its other bounds.

    Pre-releases and local versions count as packaging counts them: `<0.4` excludes 0.4.dev1, `==0.4` takes 0.4+g1a2b.
    """
    try:
        specifiers = Requirement(text).specifier
    except InvalidRequirement:
        return False
    floor = floor_of(text)
    reached = floor is None or floor <= version
    return reached and not specifiers.contains(version, prereleases=True)


def admitting(text: str, version: Version) -> str | None:
    """Returns a requirement moved to a version that it excludes, where it says by itself how it is to follow.

    `~=` and `==` name one version, which another can take the place of. Whether an upper bound or `!=` may go takes
    somebody who knows why it is there.

    Returns:
        The requirement; None where it takes a person.
    """
    specifiers, semicolon, marker = text.partition(";")
    public = Version(version.public)

    def moved(match: re.Match[str]) -> str:
        return match[0] if "*" in match["version"] else f"=={match['space']}{public}"

    for candidate in (with_floor(text, public), _EXACT.sub(moved, specifiers) + semicolon + marker):
        if candidate != text and admits(candidate, version, prereleases=True):
            return candidate
    return None


def with_floor(text: str, floor: Version) -> str:
    """Returns the requirement with its floor at `floor`, lower or higher, all else as it was.

    A floor has no local part (PEP 440). A compatible release (`~=`) stays compatible with as much as it was, which the
    number of its parts says: `~=0.4` is any 0.x. Where so few parts cannot name the floor, it is written out in the two
    that it stands for: `~=0.4` becomes `>=0.5.3,==0.*`, as `~=0.5.3` would shut out 0.6.
    """
    public = Version(floor.public)
    specifiers, semicolon, marker = text.partition(";")

    def moved(match: re.Match[str]) -> str:
        space, version = match["space"], str(public)
        if match["operator"] == ">=":
            return f">={space}{version}"
        parts = len(Version(match["version"]).release)
        release = public.release + (0,) * (parts - len(public.release))
        epoch = f"{public.epoch}!" if public.epoch else ""
        if any(release[parts:]):
            comma = ", " if space or ", " in specifiers else ","
            return f">={space}{version}{comma}=={space}{epoch}{_dotted(release[: parts - 1])}.*"
        return f"~={space}{version.replace(public.base_version, f'{epoch}{_dotted(release[:parts])}', 1)}"

    return _FLOOR.sub(moved, specifiers, count=1) + semicolon + marker


def _dotted(parts: tuple[int, ...]) -> str:
    return ".".join(map(str, parts))


def raised(text: str, *, to: Version) -> str:
    """Returns the requirement with its floor at `to`, all else (extras, markers, spacing, other bounds) as it was.

    A requirement without a floor, or with a floor at or above `to`, comes back unchanged.
    """
    floor = floor_of(text)
    if floor is None or floor >= Version(to.public):
        return text
    return with_floor(text, to)
