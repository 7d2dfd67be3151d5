"""`pinctl plan`."""

from typing import Annotated

import typer

from pinctl.commands.invocation import FormatOption, OntoOption, invocation, leave
from pinctl.render.output import Format


def plan(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="The landing plan to rehearse; none lists them all.")] = None,
    onto: OntoOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """List the landing plans, or show what landing one would do, as a diff. Changes nothing."""
    from pinctl.flows.land import plans, rehearse
    from pinctl.model.landing import Objections
    from pinctl.render.landing import (
        objections_json,
        objections_status,
        objections_text,
        plans_json,
        plans_text,
        rehearsal_json,
        rehearsal_text,
    )
    from pinctl.tools.git.history import difference

    run = invocation(context)
    if name is None:
        found = plans(run.where)
        run.output.answer(plans_text(found), plans_json(found), output_format)
        return
    stack, staged = rehearse(run.where, name, onto=onto)
    if isinstance(staged, Objections):
        run.output.answer(objections_text(staged), objections_json(staged), output_format)
        leave(objections_status(staged))
        return
    diff = difference(stack.repository, before=staged.bump.tip, after=staged.tree)
    run.output.answer(rehearsal_text(staged), rehearsal_json(staged, diff), output_format)
    if output_format is Format.TEXT:
        run.output.plain(f"\n{diff}" if diff else "")
