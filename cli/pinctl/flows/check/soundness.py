"""Judges whether floors are sound: does every release that a floor admits hold what the landed plans require."""

from collections.abc import Iterator

from packaging.version import Version

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.check.fixes import replace_command
from pinctl.flows.check.plans import is_in_result
from pinctl.flows.check.scope import Scope
from pinctl.flows.floors import floors_on, manifests_at
from pinctl.flows.resolve import find_companion
from pinctl.model.finding import Finding, Level
from pinctl.model.landing import Landed
from pinctl.model.pins import Component
from pinctl.model.plan import LandingPlan
from pinctl.model.releases import Release
from pinctl.model.requirement import FloorSite, admits, raised
from pinctl.tools.git.history import contains


def soundness_findings(scope: Scope) -> Iterator[Finding]:
    """Judges the floors of the components whose pins a landed plan moves, where the range touched either."""
    touched = scope.sole or not scope.touched.isdisjoint(scope.stack.pins.superproject.manifests) or bool(scope.moved)
    if not touched:
        return
    for plan in scope.plans:
        try:
            yield from _of_plan(scope, plan)
        except CouldNotFindOutError as error:
            message = f"could not find out for plan {plan.name}: {error.message}"
            yield Finding(rule="FLR003", component=None, path=plan.path.name, line=None, message=message, unknown=True)


def _of_plan(scope: Scope, plan: LandingPlan) -> Iterator[Finding]:
    for name in plan.moving():
        component = scope.stack.pins.components[name]
        if component.distribution is None or component.skip is not None:
            continue
        movers = [change for change in plan.of_superproject(scope.stack.name) if name in change.pins]
        if not any(is_in_result(scope, change) for change in movers):
            continue
        changes = [change for change in plan.changes if change.component == name]
        found = [find_companion(scope.stack, change, component) for change in changes]
        landed = tuple(item for item in found if isinstance(item, Landed))
        for site in floors_on(manifests_at(scope.stack, scope.result), component):
            yield from _of_site(scope, plan, component, site, landed)


def _of_site(
    scope: Scope, plan: LandingPlan, component: Component, site: FloorSite, landed: tuple[Landed, ...]
) -> Iterator[Finding]:
    repository = scope.stack.mirror(component).repository

    def holds(release: Release) -> bool:
        return all(contains(repository, commit=release.commit, ancestor=item.commit) for item in landed)

    releases = scope.stack.releases(component)
    admitted = [release for release in releases if admits(site.text, release.version)]
    lacking = sorted((release for release in admitted if not holds(release)), key=lambda release: release.version)
    if not lacking:
        return
    sound = min((release.version for release in releases if holds(release)), default=None)
    titles = ", ".join(item.change.title for item in landed)
    message = f"{site.text} admits {lacking[0].version}, which lacks {titles} of plan {plan.name}"
    if sound is None:
        message += "; no release has it yet: only the pin protects"
    yield Finding(
        rule="FLR003",
        component=component.name,
        path=site.manifest,
        line=site.line,
        message=message,
        fix=_fix(site, sound) if sound is not None else None,
        # What nobody can mend before there is a release must not stop the change that waits for it.
        level=Level.ERROR if sound else Level.WARNING,
    )


def _fix(site: FloorSite, sound: Version) -> str | None:
    """Returns the command that raises a floor to a release that holds the change, if the requirement then admits it."""
    text = raised(site.text, to=sound)
    fits = text != site.text and admits(text, sound)
    return replace_command(site.manifest, site.line, site.text, text) if fits else None
