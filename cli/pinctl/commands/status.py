"""`pinctl status`."""

import typer

from pinctl.commands.invocation import FormatOption, invocation, leave
from pinctl.errors import ExitStatus
from pinctl.render.output import Format


def status(context: typer.Context, output_format: FormatOption = Format.TEXT) -> None:
    """Show what is pinned, at which version, how it stands, which floors, and what drifts.

    Exits with 3 where something could not be found out.
    """
    from pinctl.flows.superproject.survey import survey
    from pinctl.flows.superproject.workspace import open_stack
    from pinctl.render.status import status_json, status_text

    run = invocation(context)
    found = survey(open_stack(run.where))
    run.output.answer(status_text(found), status_json(found), output_format)
    if any(pin.unknown for pin in found.pins):
        leave(ExitStatus.UNKNOWN)
