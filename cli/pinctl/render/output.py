"""Prints: answers to stdout, talk and progress to stderr."""

import io
import json
import os
import re
import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TextIO

from rich.console import Console, Group, RenderableType
from rich.text import Text

from pinctl.errors import BadFileError, PinctlError
from pinctl.model.progress import Step

_PIPE_WIDTH = 200


class Format(StrEnum):
    """How an answer is printed."""

    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where and how this run prints.

    Attributes:
        quiet: whether talk is left out.
        verbose: whether progress is told step by step.
        color: whether colours are allowed at all; a pipe gets none anyway.
    """

    quiet: bool = False
    verbose: bool = False
    color: bool = True

    def answer(self, text: RenderableType, data: Any, output_format: Format) -> None:
        """Prints an answer in the format that was asked for."""
        if output_format is Format.JSON:
            _write(sys.stdout, _as_text(json.dumps(data, indent=2, ensure_ascii=False)) + "\n")
        else:
            self._print(sys.stdout, text)

    def plain(self, text: str) -> None:
        """Prints text as it is, such as a diff."""
        _write(sys.stdout, text if text.endswith("\n") or not text else text + "\n")

    def say(self, text: str) -> None:
        """Tells the user something beside the answer."""
        if not self.quiet:
            self._print(sys.stderr, Text(text))

    def progress(self, text: str, *, step: Step | None = None) -> None:
        """Tells the user how far things are in plain lines, where that was asked for."""
        del step
        if text and self.verbose and not self.quiet:
            self._print(sys.stderr, Text(text, style="dim"))

    def error(self, error: PinctlError) -> None:
        """Prints what kept pinctl from answering."""
        lines = [Text(line) for line in error.message.splitlines()]
        if lines and not isinstance(error, BadFileError):
            lines[0] = Text.assemble(("error: ", "bold red"), lines[0])
        if error.hint:
            lines.append(Text.assemble(("hint: ", "bold"), error.hint))
        self._print(sys.stderr, Group(*lines))

    def _print(self, stream: TextIO, text: RenderableType) -> None:
        """Lets rich lay a text out, and writes it: rich itself leaves the program when the reader has gone."""
        terminal = stream.isatty()
        page = io.StringIO()
        console = Console(
            file=page,
            force_terminal=terminal,
            no_color=not self.color or bool(os.environ.get("NO_COLOR")),
            highlight=False,
            markup=False,
            soft_wrap=True,
            # A pipe has no width: lines must not be broken for it.
            width=None if terminal else _PIPE_WIDTH,
        )
        console.print(text)
        _write(stream, page.getvalue())


def _as_text(data: str) -> str:
    """Returns JSON in which bytes that are no text are written as JSON writes them, for streams that take text only."""
    return re.sub("[\udc80-\udcff]", lambda match: f"\\u{ord(match[0]):04x}", data)


def _write(stream: TextIO, text: str) -> None:
    """Writes at once. A reader that has gone, such as head, wants no more, which is neither a no nor an error."""
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        # Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
