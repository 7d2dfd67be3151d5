"""Makes the certificate of a proven landing."""

import platform

from pinctl import __version__
from pinctl.flows.matrix.modes import Versions
from pinctl.flows.matrix.variants import Axes
from pinctl.flows.proof.certified import cases_of, probes_of, without_certificate
from pinctl.flows.superproject.stack import Stack
from pinctl.model.certificate import Certificate, CertifiedCell, CertifiedNeed, Inputs
from pinctl.model.landing import Staged
from pinctl.model.matrix import Matrix
from pinctl.model.order import OrderProof, declared_needs
from pinctl.model.plan import Contract, LandingPlan
from pinctl.model.variant import Code
from pinctl.tools.answers import digest_of_file
from pinctl.tools.python.uv import uv_version


def certify(
    stack: Stack,
    plan: LandingPlan,
    contract: Contract,
    staged: Staged,
    *,
    axes: Axes,
    wanted: Versions,
    matrix: Matrix,
    order: OrderProof,
) -> Certificate:
    """Makes the certificate of a landing that was proven.

    Args:
        stack: the opened stack.
        plan: the landing plan.
        contract: its contract.
        staged: the commit that the proof is about.
        axes: the variants of the landing itself.
        wanted: all that were run, those that the contract's mode adds among them.
        matrix: what came of them.
        order: the proof over the states.
    """
    needs = declared_needs(plan, superproject=stack.name)
    pins = staged.bump.pins
    labels = [axes.labels_of(need) or (None, None) for need in needs]
    variants = (*wanted.servers, *wanted.clients)
    return Certificate(
        plan=plan.name,
        parent=staged.bump.tip,
        inputs=Inputs(
            plan=digest_of_file(plan.path),
            probes={name: digest_of_file(plan.path.parent / name) for name in probes_of(plan.path.parent, contract)},
            cases=cases_of(contract),
            pins={
                component.name: pins[component.name]
                for component, _ in stack.gitlink_components()
                if component.name in pins
            },
            tree=without_certificate(stack, staged.tree, plan.name),
        ),
        variants={
            variant.label: variant.commit if isinstance(variant, Code) else variant.label for variant in variants
        },
        cells=tuple(
            CertifiedCell(
                server=cell.server,
                client=cell.client,
                verdict=cell.verdict,
                reason=cell.reason,
                cases={case.case: case.verdict for case in cell.cases},
                asked=cell.is_asked,
            )
            for cell in matrix.cells
        ),
        needs=tuple(
            CertifiedNeed(
                landed=tuple(sorted(need.landed)),
                component=need.component,
                new=need.new,
                role=need.role,
                server=server,
                client=client,
            )
            for need, (server, client) in zip(needs, labels, strict=True)
        ),
        changes=order.changes,
        orders=order.orders,
        safe_orders=order.safe_orders,
        made_with={
            "pinctl": __version__,
            "python": f"{platform.python_implementation()} {platform.python_version()}",
            "uv": uv_version(),
        },
        versions=wanted.compared,
    )
