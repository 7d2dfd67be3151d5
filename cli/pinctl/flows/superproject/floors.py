"""Reads the floors of a revision: every requirement on a component in every manifest of the superproject."""

from pathlib import Path

from packaging.version import Version

from pinctl.flows.superproject.stack import Stack
from pinctl.model.pins import Component, RequirementSite
from pinctl.model.requirement import FloorSite, excludes, is_bare
from pinctl.tools.python.manifest import floor_sites
from pinctl.tools.python.sources import exact_version
from pinctl.tools.toml.source import TomlSource, read_toml


def manifests_at(stack: Stack, revision: str) -> tuple[TomlSource, ...]:
    """Returns the superproject's manifests that are there at a revision."""
    found = []
    for path in stack.pins.superproject.manifests:
        data = stack.repository.read(revision, path)
        if data is not None:
            found.append(read_toml(Path(path), data))
    return tuple(found)


def floors_on(manifests: tuple[TomlSource, ...], component: Component) -> tuple[FloorSite, ...]:
    """Lists the requirements on a component, bare ones too."""
    if component.distribution is None:
        return ()
    return tuple(site for manifest in manifests for site in floor_sites(manifest, component.distribution))


def too_high(sites: tuple[FloorSite, ...], version: Version) -> tuple[FloorSite, ...]:
    """Picks the requirements whose floor is above a version."""
    return tuple(site for site in sites if site.floor is not None and site.floor > version)


def bounds_among(sites: tuple[FloorSite, ...], component: Component) -> tuple[FloorSite, ...]:
    """Picks the requirements that say which versions they take, and are not the component's pin themselves."""
    names = [pin.name for pin in component.sites if isinstance(pin, RequirementSite)]
    return tuple(
        site
        for site in sites
        if not is_bare(site.text) and all(exact_version(site.text, name) is None for name in names)
    )


def excluding(sites: tuple[FloorSite, ...], version: Version) -> tuple[FloorSite, ...]:
    """Picks the requirements that exclude a version though it reaches their floor."""
    return tuple(site for site in sites if excludes(site.text, version))
