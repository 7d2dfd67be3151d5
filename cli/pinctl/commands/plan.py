"""`pinctl plan`."""

from typing import Annotated

import typer

from pinctl.commands.invocation import EXCLUDE_OPTION, FormatOption, OntoOption, invocation, leave
from pinctl.render.output import Format


def plan(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="The landing plan to rehearse; none lists them all.")] = None,
    onto: OntoOption = None,
    exclude_conflicting: Annotated[bool, EXCLUDE_OPTION] = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """List the landing plans, or show what landing one would do, as a diff. Changes nothing."""
    from pinctl.flows.landing.land import plans, rehearse
    from pinctl.model.landing import Objections
    from pinctl.render.landing import plans_json, plans_text, print_objections, print_rehearsal

    run = invocation(context)
    if name is None:
        found = plans(run.where)
        run.output.answer(plans_text(found), plans_json(found), output_format)
        return
    stack, staged = rehearse(run.where, name, onto=onto, exclude_conflicting=exclude_conflicting)
    if isinstance(staged, Objections):
        leave(print_objections(run.output, staged, output_format))
    print_rehearsal(run.output, staged, stack.difference(staged), output_format)
