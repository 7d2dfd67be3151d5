"""`pinctl order`."""

import typer

from pinctl.commands.invocation import FormatOption, OntoOption, PlanName, invocation, leave
from pinctl.render.output import Format


def order(
    context: typer.Context, name: PlanName, onto: OntoOption = None, output_format: FormatOption = Format.TEXT
) -> None:
    """Prove a plan's order from the matrix: how many orders are safe, and the shortest one that is not.

    Exits with 1 where the declared order is not safe, with 3 where that could not be found out.
    """
    from pinctl.flows.landing.land import examine
    from pinctl.model.landing import Objections
    from pinctl.render.landing import print_objections
    from pinctl.render.live import live
    from pinctl.render.order import order_json, order_text

    run = invocation(context)
    with live(run.output) as tell:
        found = examine(run.where, name, onto=onto, tell=tell)
    if isinstance(found, Objections):
        leave(print_objections(run.output, found, output_format))
    run.output.answer(order_text(found.order), order_json(found.order), output_format)
    leave(found.order.verdict.exit_status)
