"""`pinctl check`."""

from enum import StrEnum
from typing import Annotated

import typer

from pinctl.commands.invocation import Invocation, invocation, leave
from pinctl.commands.job_summary import append_to_job_summary
from pinctl.errors import BadInputError
from pinctl.model.finding import Findings
from pinctl.render.output import Format


class CheckFormat(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"
    JUNIT = "junit"
    MARKDOWN = "markdown"


def check(
    context: typer.Context,
    base: Annotated[
        str | None,
        typer.Option(help="The tip it would land on. Default: what the CI system says, else the target's tip."),
    ] = None,
    head: Annotated[
        str | None, typer.Option(help="What would land. Default: what the CI system says, else HEAD.")
    ] = None,
    staged: Annotated[bool, typer.Option("--staged", help="Judge what is staged in the index, against HEAD.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Judge also the pins, floors and lock that did not change.")
    ] = False,
    first_parent: Annotated[
        bool, typer.Option("--first-parent", help="Pins must be first-parent commits of their branch.")
    ] = False,
    require_tip: Annotated[bool, typer.Option("--require-tip", help="Pins must be the tip of their branch.")] = False,
    deepen: Annotated[bool, typer.Option("--deepen", help="Fetch what a shallow clone lacks of its history.")] = False,
    run_releases: Annotated[
        bool,
        typer.Option(
            "--run-releases",
            help="Run the releases that floors admit against the server of landed plans, from the package index.",
        ),
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Explain the rules that found something.")] = False,
    output_format: Annotated[CheckFormat, typer.Option("--format", help="How to print.")] = CheckFormat.TEXT,
) -> None:
    """Judge a pull request by the rules, before it is merged.

    Exits with 1 where a rule is broken, with 3 where one could not be judged.
    """
    from pinctl.flows.check.judge import check as judge
    from pinctl.flows.check.scope import Asked
    from pinctl.flows.superproject.workspace import open_stack
    from pinctl.render.reports import as_markdown

    if staged and (base is not None or head is not None):
        raise BadInputError("--staged judges the index against HEAD: it goes with neither --base nor --head")
    run = invocation(context)
    asked = Asked(
        everything=everything,
        first_parent=first_parent,
        require_tip=require_tip,
        staged=staged,
        deepen=deepen,
        run_releases=run_releases,
    )
    findings = judge(open_stack(run.where), base=base, head=head, asked=asked, tell=run.output.progress)
    for words in findings.defaults:
        run.output.progress(f"no pins.toml: {words}")
    _print(run, findings, output_format, explain=explain)
    append_to_job_summary(run.output, as_markdown(findings))
    leave(findings.exit_status)


def _print(run: Invocation, findings: Findings, output_format: CheckFormat, *, explain: bool) -> None:
    from pinctl.render import reports
    from pinctl.render.findings import findings_json, findings_text

    match output_format:
        case CheckFormat.TEXT | CheckFormat.JSON:
            text, data = findings_text(findings, explain=explain), findings_json(findings, explain=explain)
            run.output.answer(text, data, Format(output_format.value))
        case CheckFormat.GITHUB:
            run.output.plain(reports.as_github(findings))
        case CheckFormat.SARIF:
            run.output.plain(reports.as_sarif(findings))
        case CheckFormat.JUNIT:
            run.output.plain(reports.as_junit(findings))
        case CheckFormat.MARKDOWN:
            run.output.plain(reports.as_markdown(findings))
