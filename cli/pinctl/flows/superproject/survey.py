"""Surveys the pins of a superproject: what is pinned, how it stands, and what drifts."""

from dataclasses import replace

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.superproject.floors import bounds_among, excluding, floors_on, manifests_at, too_high
from pinctl.flows.superproject.sites import pinned_sites
from pinctl.flows.superproject.stack import Stack
from pinctl.model.oid import Oid
from pinctl.model.pins import Component, GitlinkSite, RequirementSite, SourceSite
from pinctl.model.releases import newest
from pinctl.model.standing import StandingKind
from pinctl.model.status import PinStatus, Status
from pinctl.tools.toml.source import TomlSource

_FINE = frozenset({StandingKind.ON_BRANCH})


def survey(stack: Stack) -> Status:
    """Looks at every pin of the superproject's HEAD.

    What cannot be found out about one pin does not keep the others from being looked at.
    """
    head = stack.repository.commit("HEAD")
    gitlinks = stack.repository.gitlinks(head)
    manifests = manifests_at(stack, head)
    stack.ask(component for component in stack.pins.components.values() if component.skip is None)
    for component, path in stack.gitlink_components():
        if component.skip is None and path in gitlinks:
            stack.foresee_version(component, gitlinks[path])
    pins = [_pin(stack, component, gitlinks, manifests) for component in stack.pins.components.values()]
    declared = {pin.path for pin in pins if pin.kind == "gitlink"}
    undeclared = [path for path in gitlinks if path not in declared]
    defaults = ["no pins.toml: the gitlinks and .gitmodules stand for it"] if stack.pins.path is None else []
    defaults += [
        f"{component.name} is not looked at: {component.skip}"
        for component in stack.pins.components.values()
        if component.skip is not None
    ]
    defaults += [f"{path} is a submodule that pins.toml does not name" for path in undeclared]
    branch = stack.repository.run("symbolic-ref", "--short", "--quiet", "HEAD", accept=(0, 1)).text
    return Status(superproject=stack.name, head=head, branch=branch or None, pins=tuple(pins), defaults=tuple(defaults))


def _pin(stack: Stack, component: Component, gitlinks: dict[str, Oid], manifests: tuple[TomlSource, ...]) -> PinStatus:
    kind, path = _written(component)
    blank = replace(_blank(component, kind, path, gitlinks.get(path)), floors=floors_on(manifests, component))
    if component.skip is not None:
        return blank
    sites = pinned_sites(stack, component, gitlinks, manifests)
    if not sites:
        return replace(blank, drift=(f"there is no pin at {path}",))
    unknown = tuple(site.unknown for site in sites if site.unknown is not None)
    commit = sites[0].commit
    if commit is None:
        return replace(blank, unknown=unknown)
    apart = tuple(
        f"{site.place} pins {site.text}, {sites[0].place} pins {sites[0].text}"
        for site in sites[1:]
        if site.commit not in {None, commit}
    )
    surveyed = _standing(stack, replace(blank, commit=commit))
    return replace(surveyed, drift=(*apart, *surveyed.drift), unknown=(*unknown, *surveyed.unknown))


def _written(component: Component) -> tuple[str, str]:
    match component.site:
        case GitlinkSite(path=path):
            return "gitlink", path
        case SourceSite(name=name):
            return "source", name
        case RequirementSite(name=name):
            return "requirement", name


def _blank(component: Component, kind: str, path: str, commit: Oid | None) -> PinStatus:
    return PinStatus(
        component=component,
        kind=kind,
        path=path,
        commit=commit,
        version=None,
        released=None,
        standing=None,
        floors=(),
        drift=(),
        unknown=(),
    )


def _standing(stack: Stack, pin: PinStatus) -> PinStatus:
    component, commit = pin.component, pin.commit
    if commit is None:
        return pin
    drift: list[str] = []
    if component.commit is not None and not commit.startswith(component.commit):
        drift.append(f"pins.toml records {component.commit[:12]}, the pin is {commit.short}")
    try:
        standing = stack.standing(component, commit)
        release = newest(stack.releases(component, commit))
    except CouldNotFindOutError as error:
        return replace(pin, drift=tuple(drift), unknown=(error.message,))
    if standing.kind not in _FINE:
        drift.append(standing.describe())
    pin = replace(pin, standing=standing, released=release.version if release else None)
    try:
        version = stack.version(component, commit)
    except CouldNotFindOutError as error:
        return replace(pin, drift=tuple(drift), unknown=(error.message,))
    if version is not None:
        high = too_high(pin.floors, version)
        drift += [f"{site.manifest}:{site.line} wants {site.text}, above {version} at pin" for site in high]
        out = excluding(bounds_among(pin.floors, component), version)
        drift += [f"{site.manifest}:{site.line} wants {site.text}, which excludes {version} at pin" for site in out]
    return replace(pin, version=version, drift=tuple(drift))
