"""`pinctl check`."""

from typing import Annotated

import typer

from pinctl.commands.invocation import FormatOption, invocation, leave
from pinctl.errors import ExitStatus
from pinctl.render.output import Format


def check(
    context: typer.Context,
    base: Annotated[
        str | None,
        typer.Option(help="What to compare with. Default: the tip of the branch to land on, else the head's parent."),
    ] = None,
    head: Annotated[str | None, typer.Option(help="The commit to judge. Default: HEAD.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Judge also the pins, floors and lock that did not change.")
    ] = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Judge a pull request by the rules, before it is merged.

    Exits with 1 where a rule is broken, with 3 where one could not be judged.
    """
    from pinctl.flows.judge import find_range, judge
    from pinctl.flows.workspace import open_stack
    from pinctl.render.findings import findings_json, findings_text

    run = invocation(context)
    stack = open_stack(run.where)
    verdict = judge(stack, find_range(stack, base=base, head=head), everything=everything)
    run.output.answer(findings_text(verdict), findings_json(verdict), output_format)
    if verdict.exit_status is not ExitStatus.YES:
        leave(verdict.exit_status)
