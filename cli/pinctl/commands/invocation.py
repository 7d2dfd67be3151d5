"""Carries the global options from the command line to the commands, with the options that several commands share."""

from dataclasses import dataclass
from typing import Annotated, NoReturn

import typer

from pinctl.errors import ExitStatus
from pinctl.model.where import Where
from pinctl.render.output import Format, Output

PlanName = Annotated[str, typer.Argument(help="The landing plan's name: landing_plans/NAME.toml.", metavar="NAME")]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print the answer.")]
OntoOption = Annotated[
    str | None,
    typer.Option("--onto", help="The branch to land on, instead of the superproject's own.", metavar="BRANCH"),
]

EXCLUDE_OPTION = typer.Option(
    "--exclude-conflicting", help="Leave new workspace members out for which uv finds no solution."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One run of pinctl: where the user stands, and how to print."""

    where: Where
    output: Output


def invocation(context: typer.Context) -> Invocation:
    """Returns what the global options said."""
    found = context.obj
    if not isinstance(found, Invocation):
        raise TypeError(found)
    return found


def leave(status: ExitStatus) -> NoReturn:
    """Ends the command with an exit status."""
    raise typer.Exit(int(status))
