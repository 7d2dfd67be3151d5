"""Prints: answers to stdout, talk and progress to stderr."""

import json
import os
import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from pinctl.errors import BadFileError, PinctlError


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
            sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
        else:
            self._console(sys.stdout).print(text)

    def plain(self, text: str) -> None:
        """Prints text as it is, such as a diff."""
        sys.stdout.write(text if text.endswith("\n") or not text else text + "\n")

    def say(self, text: str) -> None:
        """Tells the user something beside the answer."""
        if not self.quiet:
            self._console(sys.stderr).print(Text(text))

    def progress(self, text: str) -> None:
        """Tells the user how far things are, where that was asked for."""
        if self.verbose and not self.quiet:
            self._console(sys.stderr).print(Text(text, style="dim"))

    def error(self, error: PinctlError) -> None:
        """Prints what kept pinctl from answering."""
        lines = [Text(line) for line in error.message.splitlines()]
        if lines and not isinstance(error, BadFileError):
            lines[0] = Text.assemble(("error: ", "bold red"), lines[0])
        if error.hint:
            lines.append(Text.assemble(("hint: ", "bold"), error.hint))
        self._console(sys.stderr).print(Group(*lines))

    def _console(self, stream: Any) -> Console:
        no_color = not self.color or bool(os.environ.get("NO_COLOR"))
        # A pipe has no width: lines must not be broken for it.
        width = None if stream.isatty() else 200
        return Console(file=stream, no_color=no_color, highlight=False, markup=False, soft_wrap=True, width=width)
