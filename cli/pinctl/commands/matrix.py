"""`pinctl matrix`."""

from typing import Annotated

import typer

from pinctl.commands.invocation import FormatOption, OntoOption, PlanName, invocation, leave
from pinctl.errors import BadInputError, ExitStatus
from pinctl.model.mode import Mode
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
    mode: Annotated[
        Mode | None,
        typer.Option("--mode", help="Over the releases of both sides instead: how far back they must be compatible."),
    ] = None,
    onto: OntoOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Run the compatibility matrix of a plan on real code: each server's payloads through each client.

    Without --server and --client, over the variants of the landing. Exits with 1 where a required cell is not ok,
    with 3 where one could not be found out.
    """
    from pinctl.flows.land import compare, compare_modes
    from pinctl.model.landing import Objections
    from pinctl.model.matrix import Verdict
    from pinctl.render.landing import print_objections
    from pinctl.render.matrix import matrix_json, matrix_text

    run = invocation(context)
    tell = run.output.progress
    if mode is not None:
        if servers or clients:
            raise BadInputError("--mode finds its own variants", hint="Leave out --server and --client.")
        found = compare_modes(run.where, name, mode=mode, onto=onto, tell=tell)
    else:
        found = compare(
            run.where, name, servers=tuple(servers or ()), clients=tuple(clients or ()), onto=onto, tell=tell
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
