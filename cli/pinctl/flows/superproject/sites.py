"""Reads a component's pin wherever it is written: gitlink, entries of tool.uv.sources, exact requirements."""

import contextlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name
from packaging.version import Version

from pinctl.errors import BadFileError, CouldNotFindOutError
from pinctl.flows.superproject.stack import Stack
from pinctl.model.entry import Entry, EntryKind, Target
from pinctl.model.oid import Oid
from pinctl.model.pins import Component, GitlinkSite, PinSite, RequirementSite, SourceSite
from pinctl.tools.python.lockfile import read_lock
from pinctl.tools.python.sources import exact_entries, source_entries
from pinctl.tools.toml.source import TomlSource, read_toml


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedSite:
    """One place where a component is pinned.

    Attributes:
        place: the gitlink's path, or the manifest's.
        line: counted from 1; None for a gitlink.
        text: what stands there.
        commit: what that means; None where that could not be found out.
        entry: the entry, where it stands in a manifest.
        unknown: why there is no commit: no tag names it, or no remote has it.
    """

    place: str
    line: int | None
    text: str
    commit: Oid | None
    entry: Entry | None = None
    unknown: str | None = None


def pinned_sites(
    stack: Stack, component: Component, gitlinks: dict[str, Oid], manifests: tuple[TomlSource, ...]
) -> tuple[PinnedSite, ...]:
    """Lists the places where a component is pinned, in the order in which pins.toml names them.

    What cannot be found out about one does not keep the others from being listed.
    """
    found: list[PinnedSite] = []
    for site in component.sites:
        match site:
            case GitlinkSite(path=path):
                pin = gitlinks.get(path)
                if pin is not None:
                    found.append(PinnedSite(place=path, line=None, text=pin, commit=pin))
            case _:
                entries = (entry for manifest in manifests for entry in _entries_at(site, manifest))
                found += [site_of(stack, component, entry) for entry in entries]
    return tuple(found)


def site_of(stack: Stack, component: Component, entry: Entry) -> PinnedSite:
    """Finds out what an entry of a manifest pins a component to."""
    commit, unknown = None, f"no tag of {component.name} says which commit {entry.text} is"
    try:
        commit = _commit_of(stack, component, entry)
    except CouldNotFindOutError as error:
        unknown = error.message
    return PinnedSite(
        place=entry.manifest,
        line=entry.line,
        text=entry.text,
        commit=commit,
        entry=entry,
        unknown=None if commit is not None else unknown,
    )


def locked_commit(stack: Stack, component: Component, revision: str) -> Oid | None:
    """Finds the commit of the release that a lock has of a component which nothing pins yet, only a dependency brings.

    Returns:
        The commit; None where the lock has no version of it, or no tag names that.
    """
    path = stack.pins.superproject.lock
    data = stack.repository.read(revision, path) if path is not None else None
    if data is None or component.distribution is None:
        return None
    name = canonicalize_name(component.distribution)
    packages = read_lock(data, first_party=(component.distribution,)).packages
    versions = {package.version for package in packages if package.name == name and package.version is not None}
    return _of_version(stack, component, Version(versions.pop())) if len(versions) == 1 else None


def entries_of(component: Component, manifest: TomlSource) -> tuple[Entry, ...]:
    """Lists the entries of a manifest that pin a component."""
    return tuple(entry for site in component.sites for entry in _entries_at(site, manifest))


def _entries_at(site: PinSite, manifest: TomlSource) -> tuple[Entry, ...]:
    match site:
        case SourceSite(name=name):
            return source_entries(manifest, name)
        case RequirementSite(name=name):
            return exact_entries(manifest, name)
        case GitlinkSite():
            return ()


def component_manifests(stack: Stack, component: Component, commit: Oid) -> tuple[TomlSource, ...]:
    """Returns every pyproject.toml of a component's commit that can be read."""
    repository = stack.mirror(component).repository
    found = []
    for entry in repository.entries(stack.obtain(component, commit)):
        if PurePosixPath(entry.path).name == "pyproject.toml":
            with contextlib.suppress(BadFileError):
                found.append(read_toml(Path(entry.path), repository.read(commit, entry.path) or b""))
    return tuple(found)


def target_of(stack: Stack, component: Component, commit: Oid) -> Target:
    """Returns what a component's pins are to name when they move to a commit."""
    named = [release for release in stack.releases(component) if release.commit == commit]
    release = max(named, key=lambda item: item.version, default=None)
    return Target(
        commit=commit,
        tag=release.tag if release else None,
        version=release.version if release else None,
        digits=_digits(stack, component, commit)
        if any(isinstance(site, SourceSite) for site in component.sites)
        else 0,
    )


def _digits(stack: Stack, component: Component, commit: Oid) -> int:
    """Counts the digits of a commit's id that name no other object of the component."""
    return len(stack.mirror(component).repository.run("rev-parse", "--short=4", commit).text)


def _commit_of(stack: Stack, component: Component, entry: Entry) -> Oid | None:
    match entry.kind:
        case EntryKind.REV:
            return stack.obtain(component, entry.text)
        case EntryKind.TAG:
            return _of_tag(stack, component, entry.text)
        case EntryKind.BRANCH:
            return stack.mirror(component).tip(entry.text)
        case EntryKind.URL | EntryKind.VERSION:
            return _of_version(stack, component, entry.version)


def _of_tag(stack: Stack, component: Component, tag: str) -> Oid:
    commit = stack.mirror(component).repository.resolve(f"refs/tags/{tag}")
    if commit is None:
        raise CouldNotFindOutError(
            f"{component.name}: its remote has no tag {tag}", hint="Push the tag, or correct the pin."
        )
    return commit


def _of_version(stack: Stack, component: Component, version: Version | None) -> Oid | None:
    if version is None:
        return None
    commits = {release.version: release.commit for release in stack.releases(component)}
    # The label of a build, such as +cu12, is not in the tag.
    return commits.get(version) or commits.get(Version(version.public))
