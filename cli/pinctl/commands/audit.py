"""`pinctl audit`."""

from typing import Annotated

import typer

from pinctl.commands.invocation import FormatOption, invocation, leave
from pinctl.render.output import Format


def audit(
    context: typer.Context,
    revisions: Annotated[
        str | None,
        typer.Argument(help="BASE..HEAD, or HEAD alone for all that led to it. Default: HEAD.", metavar="RANGE"),
    ] = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Judge a history by the rules: each commit that touches pins, floors or the lock, against its first parent.

    Exits with 1 where a commit breaks a rule, with 3 where one could not be judged. Changes nothing.
    """
    from pinctl.flows.check.audit import audit as judge
    from pinctl.flows.superproject.workspace import open_stack
    from pinctl.render.audit import audit_json, audit_text

    run = invocation(context)
    found = judge(open_stack(run.where), revisions, tell=run.output.progress)
    run.output.answer(audit_text(found), audit_json(found), output_format)
    leave(found.exit_status)
