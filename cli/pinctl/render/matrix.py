"""Shows a matrix: the grid at a glance, then the reason for each cell that is not ok."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from pinctl.model.matrix import CaseResult, Cell, Matrix
from pinctl.render.controls import controls_json, strictness_text
from pinctl.render.grid import STYLES, grid_lines
from pinctl.render.reasons import NOT_REQUIRED, Reason, reasons_of, share
from pinctl.render.reports import printable

_INDENT = 4


def matrix_text(matrix: Matrix) -> RenderableType:
    """Returns the grid, clients down and servers across, with the reasons below.

    On a terminal no line is longer than it is wide; elsewhere a reason is one line, for other programs.
    """
    reasons: list[RenderableType] = [line for reason in reasons_of(matrix) for line in _reason(reason)]
    reasons += (_Paragraph(text=line) for line in strictness_text(matrix))
    return Group(_Grid(matrix=matrix), *([Text()] if reasons else []), *reasons, Text(), _summary(matrix))


def matrix_json(matrix: Matrix) -> dict[str, Any]:
    """Returns the matrix with the same values."""
    return {
        "plan": matrix.plan,
        "verdict": matrix.verdict,
        "cells": [cell_json(cell, required=matrix.is_required(cell)) for cell in matrix.cells],
    }


def cell_json(cell: Cell, *, required: bool = True) -> dict[str, Any]:
    """Returns a cell with its cases and their fields."""
    return {
        "server": cell.server,
        "client": cell.client,
        "verdict": cell.verdict,
        "reason": cell.reason,
        "required": required,
        "cases": [_case_json(case) for case in cell.cases],
        "strict": cell.strict,
        "controls": controls_json(cell),
    }


def summary_words(matrix: Matrix) -> str:
    """Says how many cells are ok."""
    required = [cell for cell in matrix.cells if matrix.is_required(cell)]
    fine = sum(cell.verdict == "ok" for cell in required)
    return f"{fine} of {len(required)} required cells are ok, {len(matrix.cells)} were run"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grid:
    """The grid, as wide as the page is."""

    matrix: Matrix

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in grid_lines(self.matrix, options.max_width):
            yield from _folded(line, console, options, indent=_INDENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paragraph:
    """A line that goes on below, indented, where a terminal is too narrow for it."""

    text: Text
    indent: int = _INDENT

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from _folded(self.text, console, options, indent=self.indent)


def _folded(text: Text, console: Console, options: ConsoleOptions, *, indent: int) -> Iterator[Text]:
    width = options.max_width
    if not options.is_terminal or text.cell_len <= width:
        yield text
        return
    first, *_ = text.wrap(console, width, no_wrap=False, overflow="fold")
    yield _bare(first)
    rest = text[len(first) :]
    rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
    for line in rest.wrap(console, max(1, width - indent), no_wrap=False, overflow="fold"):
        yield Text(" " * indent).append_text(_bare(line))


def _bare(line: Text) -> Text:
    line.rstrip()
    return line


def _case_json(case: CaseResult) -> dict[str, Any]:
    fields = [
        {"field": field.field, "verdict": field.verdict, "reason": field.reason, "evidence": field.evidence}
        | ({"waits_for": field.waits_for} if field.waits_for else {})
        for field in case.fields
    ]
    return {"case": case.case, "verdict": case.verdict, "reason": case.reason, "fields": fields}


def _reason(reason: Reason) -> Iterator[RenderableType]:
    for cell in reason.cells:
        where = printable(f"  {cell.server} x {cell.client}") + share(cell)
        wanted = "" if reason.required else f"  {NOT_REQUIRED}"
        yield _Paragraph(text=Text.assemble((reason.verdict, STYLES[reason.verdict]), where, (wanted, "dim")))
    for words, style in ((reason.words, ""), (reason.evidence, "dim")):
        for line in words.splitlines():
            yield _Paragraph(text=Text(" " * _INDENT + printable(line.expandtabs()), style=style))


def _summary(matrix: Matrix) -> RenderableType:
    verdict = matrix.verdict
    return _Paragraph(text=Text.assemble((verdict, STYLES[verdict]), f": {summary_words(matrix)}"))
