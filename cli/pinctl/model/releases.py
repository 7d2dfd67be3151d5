"""Reads releases out of tags: which tags name releases of a component, and as which versions."""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from packaging.version import InvalidVersion, Version

from pinctl.model.oid import Oid

_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A tag that names a release.

    Attributes:
        commit: what the tag points at, peeled.
    """

    tag: str
    version: Version
    commit: Oid


def version_of_tag(tag: str, *, pattern: str, exclude: str | None) -> Version | None:
    """Reads the version that a tag names.

    The literal beginning of the pattern is the prefix that is not part of the version: `v` of `v[0-9]*`,
    `renderers-v` of `renderers-v*`.

    Args:
        tag: the tag's name.
        pattern: the glob of tags that name releases.
        exclude: the glob of tags that do not.

    Returns:
        The version; None where the tag names no release.
    """
    if not fnmatchcase(tag, pattern) or (exclude is not None and fnmatchcase(tag, exclude)):
        return None
    wildcard = _GLOB.search(pattern)
    prefix = pattern[: wildcard.start()] if wildcard else ""
    try:
        return Version(tag[len(prefix) :])
    except InvalidVersion:
        return None


def newest(releases: tuple[Release, ...]) -> Release | None:
    """Returns the release of the highest version, final ones before pre-releases."""
    finals = tuple(release for release in releases if not release.version.is_prerelease)
    return max(finals or releases, key=lambda release: release.version, default=None)
