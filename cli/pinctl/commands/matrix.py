"""`pinctl matrix`."""

from typing import Annotated

import typer

from pinctl.commands.invocation import FormatOption, OntoOption, PlanName, invocation, leave
from pinctl.errors import ExitStatus
from pinctl.render.output import Format


def matrix(
    context: typer.Context,
    name: PlanName,
    servers: Annotated[
        list[str] | None,
        typer.Option("--server", help="A server variant: wire:FORM, or SUPERPROJECT@REVISION. May be given again."),
    ] = None,
    clients: Annotated[
        list[str] | None,
        typer.Option(
            "--client", help="A client variant: COMPONENT==VERSION, or COMPONENT@REVISION. May be given again."
        ),
    ] = None,
    onto: OntoOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Run the compatibility matrix of a plan on real code: each server's payloads through each client.

    Without --server and --client, over the variants of the landing. Exits with 1 where a required cell is not ok,
    with 3 where one could not be found out.
    """
    from pinctl.flows.land import compare
    from pinctl.model.landing import Objections
    from pinctl.model.matrix import Verdict
    from pinctl.render.landing import print_objections
    from pinctl.render.matrix import matrix_json, matrix_text

    run = invocation(context)
    found = compare(
        run.where, name, servers=tuple(servers or ()), clients=tuple(clients or ()), onto=onto, tell=run.output.progress
    )
    if isinstance(found, Objections):
        leave(print_objections(run.output, found, output_format))
        return
    run.output.answer(matrix_text(found), matrix_json(found), output_format)
    match found.verdict:
        case Verdict.OK:
            return
        case Verdict.UNKNOWN:
            leave(ExitStatus.UNKNOWN)
        case _:
            leave(ExitStatus.NO)
