"""Judges whether floors are sound: can every release that a floor admits do what the landed plans require.

Tags say which releases hold the changes. Where that is asked for, the oldest release that a floor admits is run
instead, against the server as it would stand on the target.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packaging.version import Version

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.check.fixes import replace_command
from pinctl.flows.check.plans import is_in_result
from pinctl.flows.check.scope import Scope
from pinctl.flows.matrix.run import run_matrix
from pinctl.flows.staging.resolve import find_companion
from pinctl.flows.superproject.floors import floors_on, manifests_at
from pinctl.model import variant
from pinctl.model.finding import Finding, Level
from pinctl.model.landing import Landed
from pinctl.model.matrix import Cell, Verdict
from pinctl.model.pins import Component
from pinctl.model.plan import LandingPlan
from pinctl.model.progress import Listener
from pinctl.model.releases import Release
from pinctl.model.requirement import FloorSite, admits, raised
from pinctl.tools.git.history import contains

_DOES = {
    Verdict.REJECTS: "rejects what the server sends",
    Verdict.MISSING: "misses some of what the server sends",
    Verdict.CORRUPTS: "gets wrong values out of what the server sends",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Floor:
    """A requirement on a component whose pin a landed plan moves.

    Attributes:
        landed: the component's own changes that the plan requires.
        admitted: the releases that the requirement admits, oldest first.
        holding: the versions of all releases that hold these changes, oldest first.
    """

    component: Component
    site: FloorSite
    landed: tuple[Landed, ...]
    admitted: tuple[Release, ...]
    holding: tuple[Version, ...]

    @property
    def oldest(self) -> variant.Release:
        """The oldest release that it admits, as it is installed."""
        version = self.admitted[0].version
        distribution = self.component.distribution or self.component.name
        return variant.Release(component=self.component.name, requirement=f"{distribution}=={version}")

    def sound(self, *, above: Version | None = None) -> Version | None:
        """Returns the oldest release that holds the changes, among those above a version."""
        return next((version for version in self.holding if above is None or version > above), None)


def soundness_findings(scope: Scope, *, tell: Listener) -> Iterator[Finding]:
    """Judges the floors of the components whose pins a landed plan moves, where the range touched either."""
    touched = scope.sole or not scope.touched.isdisjoint(scope.stack.pins.superproject.manifests) or bool(scope.moved)
    if not touched:
        return
    for plan in scope.plans:
        try:
            floors = tuple(_floors(scope, plan))
            cells = _run(scope, plan, floors, tell) if scope.asked.run_releases else {}
            for floor in floors:
                cell = cells.get(floor.oldest)
                yield from _by_tags(plan, floor) if cell is None else _by_run(plan, floor, cell)
        except CouldNotFindOutError as error:
            message = f"could not find out for plan {plan.name}: {error.message}"
            yield Finding(rule="FLR003", component=None, path=plan.path.name, line=None, message=message, unknown=True)


def _floors(scope: Scope, plan: LandingPlan) -> Iterator[_Floor]:
    """Lists the requirements that admit releases at all, of the components whose pins a landed change moves."""
    stack = scope.stack
    for name in plan.moving():
        component = stack.pins.components[name]
        if component.distribution is None or component.skip is not None:
            continue
        movers = [change for change in plan.of_superproject(stack.name) if name in change.pins]
        if not any(is_in_result(scope, change) for change in movers):
            continue
        changes = [change for change in plan.changes if change.component == name]
        found = [find_companion(stack, change, component) for change in changes]
        landed = tuple(item for item in found if isinstance(item, Landed))
        releases = sorted(stack.releases(component), key=lambda release: release.version)
        repository = stack.mirror(component).repository
        holding = tuple(
            release.version
            for release in releases
            if all(contains(repository, commit=release.commit, ancestor=item.commit) for item in landed)
        )
        for site in floors_on(manifests_at(stack, scope.result), component):
            admitted = tuple(release for release in releases if admits(site.text, release.version))
            if admitted:
                yield _Floor(component=component, site=site, landed=landed, admitted=admitted, holding=holding)


def _run(scope: Scope, plan: LandingPlan, floors: tuple[_Floor, ...], tell: Listener) -> Mapping[variant.Client, Cell]:
    """Runs the oldest release that each requirement admits, where the plan has a probe of it."""
    contract = plan.contract
    if contract is None:
        return {}
    clients = tuple(dict.fromkeys(floor.oldest for floor in floors if floor.component.name in contract.clients))
    if not clients:
        return {}
    for probe in (contract.server, *contract.clients.values()):
        if not probe.path.is_file():
            raise CouldNotFindOutError(f"its probe {probe.path.name} does not lie here: check out the commit to run it")
    server = variant.Code(component=scope.stack.name, commit=scope.result, name="result")
    matrix = run_matrix(scope.stack, plan, contract, servers=(server,), clients=clients, required=None, tell=tell)
    for cell in matrix.cells:
        tell(f"{cell.client}: {cell.verdict}")
    return dict(zip(clients, matrix.cells, strict=True))


def _by_run(plan: LandingPlan, floor: _Floor, cell: Cell) -> Iterator[Finding]:
    version = floor.admitted[0].version
    if cell.verdict is Verdict.OK:
        return
    if cell.verdict is Verdict.UNKNOWN:
        message = f"could not find out whether {cell.client}, which {floor.site.text} admits, keeps the contract of "
        message += f"plan {plan.name}: {cell.reason}"
        yield _finding(floor, message, sound=None, unknown=True)
        return
    message = f"{floor.site.text} admits {version}, which {_DOES[cell.verdict]} (plan {plan.name}): {cell.reason}"
    yield _finding(floor, message, sound=floor.sound(above=version))


def _by_tags(plan: LandingPlan, floor: _Floor) -> Iterator[Finding]:
    lacking = [release for release in floor.admitted if release.version not in floor.holding]
    if not lacking:
        return
    titles = ", ".join(item.change.title for item in floor.landed)
    message = f"{floor.site.text} admits {lacking[0].version}, which lacks {titles} of plan {plan.name}"
    yield _finding(floor, message, sound=floor.sound())


def _finding(floor: _Floor, message: str, *, sound: Version | None, unknown: bool = False) -> Finding:
    site = floor.site
    if sound is None and not unknown:
        message += "; no release has it yet: only the pin protects"
    return Finding(
        rule="FLR003",
        component=floor.component.name,
        path=site.manifest,
        line=site.line,
        message=message,
        fix=_fix(site, sound) if sound is not None else None,
        unknown=unknown,
        # What nobody can mend before there is a release must not stop the change that waits for it.
        level=Level.ERROR if sound or unknown else Level.WARNING,
    )


def _fix(site: FloorSite, sound: Version) -> str | None:
    """Returns the command that raises a floor to a release that holds the change, if the requirement then admits it."""
    text = raised(site.text, to=sound)
    fits = text != site.text and admits(text, sound)
    return replace_command(site.manifest, site.line, site.text, text) if fits else None
