"""Answers whether one pin may move to a commit, with everything else as it is."""

from pinctl.flows.check.objections import objections_to
from pinctl.flows.matrix.run import run_matrix
from pinctl.flows.staging.bump import BumpOptions, resolve_bump
from pinctl.flows.staging.resolve import pulls_of, waiting_constraints
from pinctl.flows.staging.stage import stage
from pinctl.flows.superproject.workspace import open_stack
from pinctl.model.answer import PinAnswer
from pinctl.model.landing import Objections
from pinctl.model.need import spared_matrix
from pinctl.model.progress import Listener
from pinctl.model.variant import Code
from pinctl.model.where import Where
from pinctl.tools.files.plan_file import read_plans


def can_land(where: Where, spec: str, *, tell: Listener) -> PinAnswer:
    """Finds out whether a component's pin may move to a commit.

    It is staged as a bump, judged by the rules, and its client run against the server that stands on the target.
    Nothing is published. Cells that were run before are not run again.

    Args:
        where: where the user stands.
        spec: `COMPONENT@REVISION`, or a component for the tip of its branch.
        tell: hears the progress.
    """
    stack = open_stack(where)
    bump = resolve_bump(stack, (spec,), how=BumpOptions())
    name = spec.partition("@")[0]
    if isinstance(bump, Objections):
        return PinAnswer(component=name, commit=None, objections=bump.objections, matrices=())
    (component, commit), *_ = bump.pins.items()
    staged = stage(stack, bump, judge=objections_to)
    server = Code(component=stack.name, commit=bump.tip, name=bump.target)
    client = Code(component=component, commit=commit)
    matrices = []
    for plan in read_plans(stack.pins):
        if plan.contract is not None and component in plan.contract.clients:
            tell(f"running {name} against the contract of {plan.name}")
            matrix = run_matrix(
                stack, plan, plan.contract, servers=(server,), clients=(client,), required=None, tell=tell
            )
            waits = waiting_constraints(stack.with_pulls(pulls_of(plan)), plan, target=bump.target, tip=bump.tip)
            matrices.append(spared_matrix(matrix, {(server.label, client.label): waits}))
    return PinAnswer(
        component=component,
        commit=commit,
        objections=staged.objections if isinstance(staged, Objections) else (),
        matrices=tuple(matrices),
    )
