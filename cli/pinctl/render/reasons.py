"""Gathers the cells that are not ok by what is wrong with them, so that each reason is read once."""

from dataclasses import dataclass

from pinctl.model.matrix import Cell, Matrix, Verdict

NOT_REQUIRED = "not required: no state of the declared order has it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why some cells are not ok.

    Attributes:
        required: whether the answer depends on these cells.
        evidence: what was expected and what came; empty where there is none.
        cells: those that share it, in the matrix's order.
    """

    verdict: Verdict
    required: bool
    words: str
    evidence: str
    cells: tuple[Cell, ...]


def reasons_of(matrix: Matrix) -> tuple[Reason, ...]:
    """Returns the reasons of all cells that are not ok, those that the answer depends on first."""
    found: dict[tuple[bool, Verdict, str, str], list[Cell]] = {}
    for cell in matrix.cells:
        if cell.verdict is not Verdict.OK:
            key = (matrix.is_required(cell), cell.verdict, cell.reason, cell.evidence)
            found.setdefault(key, []).append(cell)
    reasons = (
        Reason(required=required, verdict=verdict, words=words, evidence=evidence, cells=tuple(cells))
        for (required, verdict, words, evidence), cells in found.items()
    )
    return tuple(sorted(reasons, key=lambda reason: not reason.required))


def share(cell: Cell) -> str:
    """Says in how many of a cell's cases its verdict shows; empty where no case was run."""
    guilty = sum(case.counts and case.verdict is cell.verdict for case in cell.cases)
    return f" ({guilty} of {len(cell.cases)} cases)" if guilty else ""
