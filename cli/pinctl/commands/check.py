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
    first_parent: Annotated[
        bool, typer.Option("--first-parent", help="Pins must be first-parent commits of their branch.")
    ] = False,
    require_tip: Annotated[bool, typer.Option("--require-tip", help="Pins must be the tip of their branch.")] = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Judge a pull request by the rules, before it is merged.

    Exits with 1 where a rule is broken, with 3 where one could not be judged.
    """
    from pinctl.flows.check.judge import check as judge
    from pinctl.flows.check.scope import Asked
    from pinctl.flows.workspace import open_stack
    from pinctl.render.findings import findings_json, findings_text

    run = invocation(context)
    asked = Asked(everything=everything, first_parent=first_parent, require_tip=require_tip)
    findings = judge(open_stack(run.where), base=base, head=head, asked=asked)
    run.output.answer(findings_text(findings), findings_json(findings), output_format)
    if findings.exit_status is not ExitStatus.YES:
        leave(findings.exit_status)
