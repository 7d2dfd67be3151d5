"""Judges floors: against the version at pin, against each other, and against what gets published."""

from collections.abc import Iterator

from packaging.version import Version

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.check.fixes import replace_command
from pinctl.flows.check.scope import Scope
from pinctl.flows.superproject.floors import bounds_among, excluding, floors_on, manifests_at, too_high
from pinctl.flows.superproject.sites import pinned_sites
from pinctl.model.finding import Finding, Level
from pinctl.model.oid import Oid
from pinctl.model.pins import Component
from pinctl.model.requirement import FloorSite, admitting, raised, with_floor
from pinctl.tools.toml.source import TomlSource

_UNPUBLISHED = "Private :: Do Not Upload"


def floor_findings(scope: Scope) -> Iterator[Finding]:
    """Judges the floors of every gitlink component, where the range touched what they depend on."""
    declared = scope.stack.pins.superproject
    moved = {pin.component.name for pin in scope.moved}
    touched = scope.sole or not scope.touched.isdisjoint(declared.manifests)
    manifests = manifests_at(scope.stack, scope.result)
    judged = []
    for component in scope.stack.pins.components.values():
        bounded = bounds_among(floors_on(manifests, component), component)
        if not bounded or component.skip is not None or not (touched or component.name in moved):
            continue
        place = _pinned(scope, component, manifests)
        if place is not None:
            scope.stack.foresee_version(component, place[1])
            judged.append((component, bounded, *place))
    for component, bounded, path, pin in judged:
        sites = tuple(site for site in bounded if site.floor is not None)
        version = None
        try:
            version = scope.stack.version(component, pin)
        except CouldNotFindOutError as error:
            message = f"could not find out: {error.message}"
            rule = "FLR001" if sites else "FLR005"
            yield Finding(rule=rule, component=component.name, path=path, line=None, message=message, unknown=True)
        if version is not None:
            yield from _above_pin(component, pin, sites, version)
            yield from _excluding_pin(component, pin, bounded, version)
        yield from _disagreeing(component, sites, version)
        yield from _development(manifests, component, sites)


def _above_pin(component: Component, pin: Oid, sites: tuple[FloorSite, ...], version: Version) -> Iterator[Finding]:
    for site in too_high(sites, version):
        message = f"{site.text} is above {version}, the version at pin {pin.short}"
        lowered = with_floor(site.text, Version(version.public))
        yield _finding("FLR001", component, site, message, fix=_command(site, lowered))


def _excluding_pin(component: Component, pin: Oid, sites: tuple[FloorSite, ...], version: Version) -> Iterator[Finding]:
    for site in excluding(sites, version):
        message = f"{site.text} excludes {version}, the version at pin {pin.short}"
        moved = admitting(site.text, version)
        yield _finding("FLR005", component, site, message, fix=_command(site, moved) if moved is not None else None)


def _disagreeing(component: Component, sites: tuple[FloorSite, ...], version: Version | None) -> Iterator[Finding]:
    """Compares floors with the highest of them; one that is above the version at pin is no reason to raise others."""
    highest = max(sites, key=lambda site: site.floor or Version("0"), default=None)
    if highest is None or highest.floor is None:
        return
    wanted = min(highest.floor, Version(version.public)) if version is not None else highest.floor
    for site in sites:
        if site.floor is not None and site.floor != highest.floor:
            message = f"{site.text} disagrees with {highest.text} in {highest.manifest}:{highest.line}"
            fix = _command(site, raised(site.text, to=wanted))
            if site.floor >= wanted:
                fix = _command(highest, with_floor(highest.text, wanted))
            yield _finding("FLR002", component, site, message, fix=fix)


def _development(
    manifests: tuple[TomlSource, ...], component: Component, sites: tuple[FloorSite, ...]
) -> Iterator[Finding]:
    published = {str(manifest.path) for manifest in manifests if _is_published(manifest)}
    for site in sites:
        if site.floor is not None and site.floor.is_prerelease and site.manifest in published:
            message = f"{site.text} is a pre-release, and {site.manifest} is of a package that gets published"
            yield _finding("FLR004", component, site, message, fix=None, level=Level.WARNING)


def _is_published(manifest: TomlSource) -> bool:
    """Tells whether a manifest describes a distribution that may be uploaded: its classifiers can forbid it."""
    classifiers = manifest.at(("project", "classifiers"))
    forbidden = isinstance(classifiers, list) and any(str(item).startswith(_UNPUBLISHED) for item in classifiers)
    builds = isinstance(manifest.at(("build-system",)), dict) and manifest.at(("tool", "uv", "package")) is not False
    return isinstance(manifest.at(("project", "name")), str) and builds and not forbidden


def _pinned(scope: Scope, component: Component, manifests: tuple[TomlSource, ...]) -> tuple[str, Oid] | None:
    """Returns where a component is pinned, and at what; None where that is nowhere, or no tag says what."""
    if component.gitlink is not None:
        pin = scope.gitlinks.get(component.gitlink)
        return (component.gitlink, pin) if pin is not None else None
    sites = pinned_sites(scope.stack, component, scope.gitlinks, manifests)
    return (sites[0].place, sites[0].commit) if sites and sites[0].commit is not None else None


def _command(site: FloorSite, text: str) -> str:
    return replace_command(site.manifest, site.line, site.text, text)


def _finding(
    rule: str, component: Component, site: FloorSite, message: str, *, fix: str | None, level: Level = Level.ERROR
) -> Finding:
    return Finding(
        rule=rule, component=component.name, path=site.manifest, line=site.line, message=message, fix=fix, level=level
    )
