"""Shows whether a pin may move."""

from textwrap import indent
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from pinctl.errors import ExitStatus
from pinctl.model.answer import PinAnswer
from pinctl.render.grid import STYLES
from pinctl.render.matrix import cell_json

_WORDS = {ExitStatus.YES: ("yes", "green"), ExitStatus.NO: ("no", "red"), ExitStatus.UNKNOWN: ("unknown", "magenta")}


def answer_text(answer: PinAnswer) -> RenderableType:
    """Returns the answer, with everything that speaks against it."""
    cells = [cell for matrix in answer.matrices for cell in matrix.cells]
    count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
    proof = f"{count} run" if cells else "no plan has a contract for it, so no cell was run"
    at = f" at {answer.commit.short}" if answer.commit else ""
    lines = [Text.assemble(_WORDS[answer.exit_status], f": {answer.component}{at}, {proof}")]
    for objection in answer.objections:
        lines.append(Text(f"    {objection.message}"))
        lines += [Text(f"      {detail}") for detail in objection.details]
    for cell in answer.bad_cells:
        lines.append(Text.assemble("    ", (cell.verdict, STYLES[cell.verdict]), f"  {cell.server} x {cell.client}"))
        lines.append(Text(indent(cell.reason, "      ")))
    return Group(*lines)


def answer_json(answer: PinAnswer) -> dict[str, Any]:
    """Returns the answer with the same values."""
    return {
        "component": answer.component,
        "commit": answer.commit,
        "answer": _WORDS[answer.exit_status][0],
        "reasons": [
            *(objection.message for objection in answer.objections),
            *(f"{cell.server} x {cell.client}: {cell.reason}" for cell in answer.bad_cells),
        ],
        "cells": [cell_json(cell) for matrix in answer.matrices for cell in matrix.cells],
    }
