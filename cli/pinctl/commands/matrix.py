"""`pinctl matrix`."""

from pathlib import Path
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
        typer.Option(
            "--server",
            help="A server variant: SUPERPROJECT@REVISION, wire:FORM, recorded:DIR, or the URL of a live server. "
            "May be given again.",
        ),
    ] = None,
    clients: Annotated[
        list[str] | None,
        typer.Option(
            "--client",
            help="A client variant: COMPONENT@REVISION, COMPONENT==VERSION, a range such as COMPONENT>=VERSION for "
            "each release in it, or wire:FORM. May be given again.",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            "--record",
            metavar="DIR",
            help="Keep what the one --server answers in DIR, for --server recorded:DIR. Clients are run only if named.",
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
    if record is not None:
        from pinctl.flows.recording import record as record_server
        from pinctl.render.recording import recording_json, recording_text

        recording = record_server(run.where, name, directory=record, servers=tuple(servers or ()))
        if not clients:
            run.output.answer(recording_text(recording), recording_json(recording), output_format)
            return
        run.output.say(f"recorded {recording.server} in {record}")
        servers = [f"recorded:{record}"]
    found = compare(
        run.where,
        name,
        servers=tuple(servers or ()),
        clients=tuple(clients or ()),
        onto=onto,
        tell=run.output.progress,
        say=run.output.say,
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
