"""The Typer application, and the one place where an error becomes a message and an exit status."""

import gc
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer

from pinctl import __version__
from pinctl.commands.audit import audit
from pinctl.commands.bump import bump
from pinctl.commands.can_land import can_land
from pinctl.commands.check import check
from pinctl.commands.demo import demo
from pinctl.commands.describe import describe
from pinctl.commands.invocation import Invocation
from pinctl.commands.land import land
from pinctl.commands.matrix import matrix
from pinctl.commands.order import order
from pinctl.commands.plan import plan
from pinctl.commands.rule import rule
from pinctl.commands.status import status
from pinctl.errors import ExitStatus, PinctlError
from pinctl.model.where import Where
from pinctl.render.output import Output
from pinctl.tools.git.surroundings import forget_inherited_repository
from pinctl.tools.process import end_all

app = typer.Typer(
    name="pinctl",
    help="Land a change that spans git repositories in its order: pins, floors and lock in one proven commit.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
# Typer brings click along under a name of its own; this is the base of all its complaints about a command line.
_UsageError: Any = typer.BadParameter.__bases__[0]

for _command in (status, plan, land, bump, check, matrix, order, can_land, audit, describe, rule, demo):
    app.command()(_command)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer hands the value on by position
    if wanted:
        typer.echo(f"pinctl {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    pins: Annotated[
        Path | None, typer.Option(help="The pins.toml to use, instead of searching upwards.", metavar="FILE")
    ] = None,
    superproject: Annotated[
        Path | None, typer.Option(help="The superproject's checkout, where pins.toml is kept elsewhere.", metavar="DIR")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the answer and nothing beside it.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Tell what is going on.")] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="Print without colours.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    del version
    context.obj = Invocation(
        where=Where(directory=Path.cwd(), pins=pins, superproject=superproject),
        output=Output(quiet=quiet, verbose=verbose, color=not no_color),
    )


def main() -> None:
    """Runs pinctl, and leaves with its exit status."""
    # A run is short, and what it imports lives as long as it does: looking through that for garbage again and again
    # takes a tenth of the run, and finds none.
    gc.set_threshold(100_000, 20, 100)
    status = run(sys.argv[1:])
    # Else Python would wait for them: a build backend that was asked for a version may work for long.
    end_all()
    sys.exit(int(status))


def run(arguments: list[str]) -> int:
    """Runs pinctl with arguments.

    Returns:
        The exit status (see `ExitStatus`); 130 where the user interrupted it.
    """
    forget_inherited_repository()
    output = Output(color="--no-color" not in arguments)
    try:
        result = app(arguments, standalone_mode=False, prog_name="pinctl")
    except _UsageError as error:
        error.show()
        return ExitStatus.BAD_INPUT
    except typer.Abort:
        return 130
    except PinctlError as error:
        output.error(error)
        return error.exit_status
    except Exception:  # noqa: BLE001 - the boundary: whatever gets here is a bug of pinctl
        traceback.print_exc()
        output.error(
            PinctlError(
                "this is a bug of pinctl; nothing says that what it was doing was finished",
                hint="Report it with the lines above.",
            )
        )
        return ExitStatus.BUG
    return result if isinstance(result, int) else ExitStatus.YES
