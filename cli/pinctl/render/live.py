"""Shows on a terminal how far a run is, in a line that is gone when it ends; elsewhere in plain lines."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pinctl.model.progress import Listener, Step
from pinctl.render.output import Output
from pinctl.render.reports import printable


@contextmanager
def live(output: Output) -> Iterator[Listener]:
    """Opens the display on stderr.

    Args:
        output: how this run prints. Quiet shows nothing; verbose tells each step in a line that stays, too.

    Yields:
        What hears the progress.
    """
    if output.quiet or not sys.stderr.isatty():
        yield output.progress
        return
    # Imported here: nobody else needs it, and it takes a while.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415
    from rich.table import Column  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(
        file=sys.stderr,
        no_color=not output.color or bool(os.environ.get("NO_COLOR")),
        highlight=False,
        markup=False,
    )
    columns = (
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
    )
    with Progress(*columns, console=console, transient=True, expand=True) as progress:
        task = progress.add_task("", total=None)

        def hear(text: str, *, step: Step | None = None) -> None:
            if text and output.verbose:
                progress.console.print(Text(printable(text), style="dim"))
            if step is not None:
                running = printable(", ".join(step.running))
                progress.update(task, completed=step.done, total=step.total, description=running)
            elif text:
                progress.update(task, description=printable(text))

        yield hear
