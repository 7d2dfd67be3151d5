"""Proves a staged landing: the matrix on the code involved, and the order over all states of the plan."""

from dataclasses import dataclass

from pinctl.flows.certify import certify
from pinctl.flows.matrix import Tell, run_matrix
from pinctl.flows.stack import Stack
from pinctl.flows.variants import Axes, axes_of
from pinctl.model.landing import Objection, ObjectionKind, Objections, Proven, Staged
from pinctl.model.matrix import Cell, Matrix, Verdict
from pinctl.model.order import Need, OrderProof, prove_order
from pinctl.model.plan import Contract, LandingPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The matrix and the order proof of a staged landing, whatever they say."""

    matrix: Matrix
    order: OrderProof
    axes: Axes


def gather(stack: Stack, plan: LandingPlan, contract: Contract, staged: Staged, *, tell: Tell) -> Evidence:
    """Runs the matrix of a staged landing and judges the plan's orders by it."""
    axes = axes_of(stack, plan, contract, staged)
    matrix = run_matrix(
        stack,
        plan,
        contract,
        servers=axes.servers,
        clients=axes.clients,
        required=axes.required(plan, superproject=stack.name),
        tell=tell,
    )
    return Evidence(matrix=matrix, order=_order(stack, plan, axes, matrix), axes=axes)


def prove(stack: Stack, staged: Staged, *, tell: Tell) -> Proven | Objections:
    """Proves a staged landing, or says which cells and orders speak against it.

    A plan without a contract has nothing to prove on; its landing is published without a certificate.
    """
    plan = staged.bump.plan
    if plan is None or plan.contract is None:
        return Proven(staged=staged, matrix=None, order=None, certificate=None)
    evidence = gather(stack, plan, plan.contract, staged, tell=tell)
    objections = _objections(evidence)
    if objections:
        return Objections(objections=objections)
    certificate = certify(
        stack, plan, plan.contract, staged, axes=evidence.axes, matrix=evidence.matrix, order=evidence.order
    )
    return Proven(staged=staged, matrix=evidence.matrix, order=evidence.order, certificate=certificate)


def _order(stack: Stack, plan: LandingPlan, axes: Axes, matrix: Matrix) -> OrderProof:
    def cell_of(need: Need) -> Cell | None:
        labels = axes.labels_of(need)
        return matrix.cell(*labels) if labels is not None else None

    return prove_order(plan, superproject=stack.name, cell_of=cell_of)


def _objections(evidence: Evidence) -> tuple[Objection, ...]:
    objections = []
    for cell in evidence.matrix.cells:
        if cell.verdict is Verdict.OK or not evidence.matrix.is_required(cell):
            continue
        unknown = cell.verdict is Verdict.UNKNOWN
        objections.append(
            Objection(
                kind=ObjectionKind.UNKNOWN_CELL if unknown else ObjectionKind.CELL,
                message=f"{cell.server} x {cell.client}: {cell.verdict}: {cell.reason}",
                hint="Mend what the reason names, then run this again." if unknown else None,
            )
        )
    order = evidence.order
    if not objections and not order.declared_safe:
        unknown = order.verdict is Verdict.UNKNOWN
        objections.append(
            Objection(
                kind=ObjectionKind.UNKNOWN_CELL if unknown else ObjectionKind.ORDER,
                message=f"the declared order {', '.join(order.changes)} is not proven safe",
                hint="See what is in the way: pinctl order",
            )
        )
    return tuple(objections)
