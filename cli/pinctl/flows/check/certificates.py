"""Judges certificates: was what the range lands proven, on just what would stand on the target, and safe."""

from collections.abc import Iterator
from pathlib import Path

from pinctl.errors import BadFileError, CouldNotFindOutError
from pinctl.flows.check.plans import is_brought
from pinctl.flows.check.scope import Scope, commits_of
from pinctl.flows.proof.certified import certificate_path, inputs_in
from pinctl.flows.staging.message import certificate_trailer, digest_of_certificate, heading_of_plan, is_landing
from pinctl.model.certificate import Certificate
from pinctl.model.finding import Finding
from pinctl.model.matrix import Verdict
from pinctl.model.order import declared_needs
from pinctl.model.plan import Contract, LandingPlan
from pinctl.tools.files.certificate_file import read_certificate


def certificate_findings(scope: Scope) -> Iterator[Finding]:
    """Judges the certificate of every plan with a contract whose own change the range brings. Runs nothing."""
    if scope.range.base is None:
        return
    for plan in scope.plans:
        own = plan.of_superproject(scope.stack.name)
        path = certificate_path(scope.stack, plan.name)
        if plan.contract is None or path is None:
            continue
        try:
            if any(is_brought(scope, change) for change in own):
                yield from _of_plan(scope, plan, plan.contract, path)
        except CouldNotFindOutError as error:
            yield _stale(plan, path, f"could not find out: {error.message}", unknown=True)


def _of_plan(scope: Scope, plan: LandingPlan, contract: Contract, path: str) -> Iterator[Finding]:
    data = scope.stack.repository.read(scope.result, path)
    if data is None:
        yield _stale(plan, path, f"the change of plan {plan.name} is there without a certificate")
        return
    try:
        certificate = read_certificate(Path(path), data)
    except BadFileError as error:
        yield _stale(plan, path, f"the certificate cannot be read: {error.mistakes[0].message}")
        return
    named = _named_digest(scope, plan)
    if named is not None and named != digest_of_certificate(data):
        yield _stale(plan, path, "it is not the certificate that the landing's commit names")
    yield from _changed(scope, plan, contract, certificate, path)
    yield from _weak(scope, plan, contract, certificate, path)


def _changed(
    scope: Scope, plan: LandingPlan, contract: Contract, certificate: Certificate, path: str
) -> Iterator[Finding]:
    now = inputs_in(scope.stack, scope.result, plan, contract, tuple(certificate.inputs.pins))
    changes = certificate.inputs.changes_to(now)
    if changes and scope.range.base is not None and certificate.parent != scope.range.base:
        parent, base = certificate.parent[:7], scope.range.base.short
        changes = (*changes, f"it is of a landing on {parent}, and the target is at {base}")
    if changes:
        yield _stale(plan, path, f"the certificate is not of what would stand on the target: {'; '.join(changes)}")


def _weak(
    scope: Scope, plan: LandingPlan, contract: Contract, certificate: Certificate, path: str
) -> Iterator[Finding]:
    """Finds what the declared order and the contract's mode need, and the certificate does not say is ok."""
    for component, verdict, words in _needed(scope, plan, contract, certificate):
        if verdict is Verdict.OK:
            continue
        unknown = verdict is Verdict.UNKNOWN
        yield Finding(
            rule="MTX002" if unknown else "MTX001",
            component=component,
            path=path,
            line=1,
            message=f"plan {plan.name} needs this cell ok: {words}",
            fix=None,
            unknown=unknown,
        )


def _needed(
    scope: Scope, plan: LandingPlan, contract: Contract, certificate: Certificate
) -> Iterator[tuple[str, Verdict, str]]:
    """Yields the component, the verdict and what is to be said of each cell that must be ok; each said once."""
    said: set[tuple[str, str]] = set()
    for need in declared_needs(plan, superproject=scope.stack.name):
        verdict, words = certificate.verdict_of(need)
        said.add((need.component, words))
        yield need.component, verdict, words
    if contract.mode is None:
        return
    for name in contract.clients:
        for verdict, words in certificate.verdicts_of_mode(contract.mode, server=scope.stack.name, client=name):
            if (name, words) not in said:
                yield name, verdict, words


def _named_digest(scope: Scope, plan: LandingPlan) -> str | None:
    """Returns the digest that the landing's own commit names, where the range still has that commit."""
    messages = (entry.message for entry in commits_of(scope))
    heading = heading_of_plan(plan.name)
    return next((certificate_trailer(message) for message in messages if is_landing(message, heading)), None)


def _stale(plan: LandingPlan, path: str, message: str, *, unknown: bool = False) -> Finding:
    fix = f"pinctl land {plan.name}"
    return Finding(
        rule="MTX003", component=None, path=path, line=1, message=message, fix=None if unknown else fix, unknown=unknown
    )
