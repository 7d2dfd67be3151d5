"""`pinctl demo`."""

from pathlib import Path
from typing import Annotated

import typer

from pinctl.commands.invocation import invocation


def demo(
    context: typer.Context,
    directory: Annotated[Path, typer.Argument(help="Where to build it; must not hold anything.")] = Path("demo"),
) -> None:
    """Build the embedded stack to try pinctl on, offline."""
    from pinctl.demo.build import build_demo

    build_demo(directory)
    invocation(context).output.say(
        f"built {directory}; try: cd {directory / 'prime-rl'} && pinctl land packed-generate"
    )
