"""`pinctl can-land`."""

from typing import Annotated

import typer

from pinctl.commands.invocation import FormatOption, invocation, leave
from pinctl.render.output import Format


def can_land(
    context: typer.Context,
    spec: Annotated[
        str,
        typer.Argument(help="The component, by name or path, and where it is to go.", metavar="COMPONENT[@REVISION]"),
    ],
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Tell whether one pin may move, with everything else as it is. Changes nothing.

    Exits with 1 where it may not, with 3 where that could not be found out.
    """
    from pinctl.flows.landing.can_land import can_land as find_out
    from pinctl.render.can_land import answer_json, answer_text
    from pinctl.render.live import live

    run = invocation(context)
    with live(run.output) as tell:
        answer = find_out(run.where, spec, tell=tell)
    run.output.answer(answer_text(answer), answer_json(answer), output_format)
    leave(answer.exit_status)
