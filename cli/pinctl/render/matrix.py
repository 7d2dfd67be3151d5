"""Shows a matrix: the grid at a glance, then the reason for each cell that is not ok."""

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pinctl.model.matrix import CaseResult, Cell, Matrix, Verdict
from pinctl.render.strictness import controls_json, strictness_text

STYLES = {
    Verdict.OK: "green",
    Verdict.UNKNOWN: "magenta",
    Verdict.MISSING: "yellow",
    Verdict.REJECTS: "red",
    Verdict.CORRUPTS: "bold white on red",
}


def matrix_text(matrix: Matrix) -> RenderableType:
    """Returns the grid, clients down and servers across, with the reasons below.

    A cell that nothing requires to be ok is shown in brackets.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("client \\ server", style="bold", no_wrap=True)
    for server in matrix.servers:
        table.add_column(server, no_wrap=True)
    for client in matrix.clients:
        cells = (matrix.cell(server, client) for server in matrix.servers)
        table.add_row(client, *(_mark(matrix, cell) for cell in cells))
    reasons = [line for cell in matrix.cells for line in _reason(matrix, cell)]
    reasons += strictness_text(matrix)
    return Group(table, *([Text()] if reasons else []), *reasons, Text(), _summary(matrix))


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


def _case_json(case: CaseResult) -> dict[str, Any]:
    fields = [
        {"field": field.field, "verdict": field.verdict, "reason": field.reason, "evidence": field.evidence}
        for field in case.fields
    ]
    return {"case": case.case, "verdict": case.verdict, "reason": case.reason, "fields": fields}


def _mark(matrix: Matrix, cell: Cell | None) -> Text:
    if cell is None:
        return Text("-", style="dim")
    text = cell.verdict if matrix.is_required(cell) else f"({cell.verdict})"
    return Text(text, style=STYLES[cell.verdict])


def _reason(matrix: Matrix, cell: Cell) -> list[Text]:
    if cell.verdict is Verdict.OK:
        return []
    guilty = tuple(case for case in cell.cases if case.verdict is cell.verdict)
    where = f" ({len(guilty)} of {len(cell.cases)} cases)" if guilty else ""
    lines = [
        Text.assemble(
            (cell.verdict, STYLES[cell.verdict]),
            f"  {cell.server} x {cell.client}{where}",
            ("" if matrix.is_required(cell) else "  not required: no state of the declared order has it", "dim"),
        ),
        Text(f"    {cell.reason}"),
    ]
    control = cell.guilty_control.evidence if cell.guilty_control else ""
    evidence = next((field.evidence for case in guilty for field in case.fields if field.evidence), control)
    return [*lines, Text(f"    {evidence}", style="dim")] if evidence else lines


def _summary(matrix: Matrix) -> Text:
    required = [cell for cell in matrix.cells if matrix.is_required(cell)]
    fine = sum(cell.verdict is Verdict.OK for cell in required)
    verdict = matrix.verdict
    return Text.assemble(
        (verdict, STYLES[verdict]), f": {fine} of {len(required)} required cells are ok, {len(matrix.cells)} were run"
    )
