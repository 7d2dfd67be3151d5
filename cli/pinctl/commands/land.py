"""`pinctl land`."""

from typing import Annotated

import typer

from pinctl.commands.invocation import EXCLUDE_OPTION, FormatOption, OntoOption, PlanName, invocation, leave
from pinctl.errors import BadInputError
from pinctl.render.output import Format


def land(
    context: typer.Context,
    name: PlanName,
    onto: OntoOption = None,
    exclude_conflicting: Annotated[bool, EXCLUDE_OPTION] = False,
    with_push: Annotated[bool, typer.Option("--push", help="Push landing/NAME, atomically and under a lease.")] = False,
    with_abort: Annotated[bool, typer.Option("--abort", help="Remove landing/NAME here instead.")] = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Land a plan: stage one commit, prove it on the real code, publish it to landing/NAME.

    Your checkout, index, configuration and current branch are left alone.
    """
    from pinctl.flows.landing.land import abort
    from pinctl.flows.landing.land import land as carry_out
    from pinctl.model.landing import Objections
    from pinctl.render.landing import landing_json, landing_text, print_objections
    from pinctl.render.live import live

    run = invocation(context)
    if with_abort:
        if with_push or onto is not None:
            raise BadInputError("--abort goes with neither --push nor --onto")
        removed = abort(run.where, name)
        if isinstance(removed, Objections):
            leave(print_objections(run.output, removed, output_format))
        run.output.answer(f"{removed} is gone", {"branch": removed}, output_format)
        return
    with live(run.output) as tell:
        landing = carry_out(
            run.where,
            name,
            onto=onto,
            exclude_conflicting=exclude_conflicting,
            with_push=with_push,
            tell=tell,
        )
    if isinstance(landing, Objections):
        leave(print_objections(run.output, landing, output_format))
    run.output.answer(landing_text(landing), landing_json(landing), output_format)
    if output_format is Format.TEXT and not landing.already_landed:
        run.output.say(f"see it: git show --stat {landing.branch}")
