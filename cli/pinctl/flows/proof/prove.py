"""Proves a staged landing: the matrix on the code involved, and the order over all states of the plan."""

from collections.abc import Iterator
from dataclasses import dataclass

from pinctl.flows.matrix.modes import Versions, wanted_for_landing
from pinctl.flows.matrix.run import run_matrix
from pinctl.flows.matrix.variants import Axes, axes_of
from pinctl.flows.proof.certify import certify
from pinctl.flows.superproject.stack import Stack
from pinctl.model.landing import Objection, ObjectionKind, Objections, Proven, Staged
from pinctl.model.matrix import Cell, Matrix, Verdict
from pinctl.model.need import Need, spared_matrix
from pinctl.model.order import OrderProof, prove_order
from pinctl.model.plan import Contract, LandingPlan
from pinctl.model.progress import Listener


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The matrix and the order proof of a staged landing, whatever they say."""

    matrix: Matrix
    order: OrderProof
    axes: Axes
    wanted: Versions


def gather(stack: Stack, plan: LandingPlan, contract: Contract, staged: Staged, *, tell: Listener) -> Evidence:
    """Runs the matrix of a staged landing and judges the plan's orders by it."""
    axes = axes_of(stack, plan, contract, staged)
    wanted = wanted_for_landing(stack, plan, contract, staged, axes)
    matrix = run_matrix(
        stack,
        plan,
        contract,
        servers=wanted.servers,
        clients=wanted.clients,
        required=frozenset(wanted.waits),
        tell=tell,
    )
    # The order asks each cell for what its states need; the matrix, for what any of them needs.
    order = _order(stack, plan, axes, matrix)
    return Evidence(matrix=spared_matrix(matrix, wanted.waits), order=order, axes=axes, wanted=wanted)


def prove(stack: Stack, staged: Staged, *, tell: Listener) -> Proven | Objections:
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
        stack,
        plan,
        plan.contract,
        staged,
        axes=evidence.axes,
        wanted=evidence.wanted,
        matrix=evidence.matrix,
        order=evidence.order,
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
    if not objections and order.verdict is not Verdict.OK:
        unknown = order.verdict is Verdict.UNKNOWN
        objections += [
            Objection(
                kind=ObjectionKind.UNKNOWN_CELL if unknown else ObjectionKind.ORDER,
                message=message,
                hint="See what is in the way: pinctl order",
            )
            for message in _unproven(order)
        ]
    return tuple(objections)


def _unproven(order: OrderProof) -> Iterator[str]:
    if not order.declared_safe:
        yield f"the declared order {', '.join(order.changes)} is not proven safe"
    for item in order.any_order:
        names = ", ".join(item.constraint.together)
        if item.feature is not Verdict.OK:
            yield f"{item.constraint.feature} is not proven to work once {names} have landed"
        if item.counter_example is not None:
            yield f"{names} are not proven safe in any order: not {', then '.join(item.counter_example.steps)}"
