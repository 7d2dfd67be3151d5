"""Shows what clients made of negative controls, beside the verdicts."""

from dataclasses import dataclass
from typing import Any

from rich.text import Text

from pinctl.model.control import ControlResult, Outcome
from pinctl.model.matrix import Cell, Matrix
from pinctl.render.reports import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """What is said of a client's strictness, once for all the servers that it was seen with.

    Attributes:
        word: `lenient`, or what could not be found out.
        what: what the client takes or drops, or why it is unknown.
    """

    word: str
    client: str
    what: str
    servers: tuple[str, ...]


def complaints_of(matrix: Matrix) -> tuple[Complaint, ...]:
    """Returns what is to be said of clients that took what they should have refused, or did not survive it."""
    said: dict[tuple[str, str, str], list[str]] = {}
    for cell in matrix.cells:
        for word, what in _complaints(cell):
            said.setdefault((word, cell.client, what), []).append(cell.server)
    return tuple(
        Complaint(word=word, client=client, what=what, servers=tuple(servers))
        for (word, client, what), servers in said.items()
    )


def strictness_text(matrix: Matrix) -> list[Text]:
    """Returns a line for each complaint."""
    return [
        Text.assemble(
            (complaint.word, "yellow"),
            printable(f"  {complaint.client}: {complaint.what}"),
            (printable(f"  of {', '.join(complaint.servers)}"), "dim"),
        )
        for complaint in complaints_of(matrix)
    ]


def controls_json(cell: Cell) -> list[dict[str, Any]]:
    """Returns what a client made of each control."""
    return [
        {
            "control": control.control,
            "field": control.field,
            "case": control.case,
            "refusable": control.refusable,
            "outcome": control.outcome,
            "reason": control.reason,
            "evidence": control.evidence,
        }
        for control in cell.controls
    ]


def _complaints(cell: Cell) -> list[tuple[str, str]]:
    lenient = [control for control in cell.controls if control.is_lenient]
    unknown = [control for control in cell.controls if control.refusable and control.outcome is Outcome.UNKNOWN]
    found = []
    for verb, outcome in (("takes", Outcome.TAKEN), ("drops", Outcome.DROPPED)):
        titles = _titles([control for control in lenient if control.outcome is outcome])
        if titles:
            found.append(("lenient", f"{verb} {titles}"))
    if unknown:
        found.append(("lenient or strict is unknown", f"{unknown[0].reason} ({len(unknown)} controls)"))
    return found


def _titles(controls: list[ControlResult]) -> str:
    """Names the places, each once, with all that is wrong there."""
    faults: dict[str, list[str]] = {}
    for control in controls:
        place, _, fault = control.title.partition(" ")
        faults.setdefault(place, []).append(fault)
    return "; ".join(f"{place} {', '.join(found)}" for place, found in faults.items())
