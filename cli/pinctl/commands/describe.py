"""`pinctl describe`."""

from typing import Annotated

import typer

from pinctl.commands.invocation import FormatOption, invocation
from pinctl.render.output import Format


def describe(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The plan that was landed, or the landing branch of a bump.")],
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Write the text of a landing's pull request, as Markdown: pins, what comes in, floors, lock, order and matrix.

    It is read from the landing's commit, on landing/NAME or where it has landed. Changes nothing.
    """
    from pinctl.flows.landing.describe import describe as find_out
    from pinctl.render.description import description_json, description_markdown

    run = invocation(context)
    description = find_out(run.where, name)
    if output_format is Format.JSON:
        run.output.answer("", description_json(description), output_format)
    else:
        run.output.plain(description_markdown(description))
