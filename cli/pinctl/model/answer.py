"""The answer to whether one pin may move."""

from dataclasses import dataclass

from pinctl.errors import ExitStatus
from pinctl.model.landing import Objection, ObjectionKind
from pinctl.model.matrix import Cell, Matrix, Verdict
from pinctl.model.oid import Oid


@dataclass(frozen=True, slots=True, kw_only=True)
class PinAnswer:
    """Whether a pin may move.

    Attributes:
        commit: where it would go; None where it cannot be written there.
        objections: what the rules or the resolver have against it.
        matrices: by plan with a contract for the component, the target's server against the client at the commit.
    """

    component: str
    commit: Oid | None
    objections: tuple[Objection, ...]
    matrices: tuple[Matrix, ...]

    @property
    def bad_cells(self) -> tuple[Cell, ...]:
        """The cells that are not ok."""
        return tuple(cell for matrix in self.matrices for cell in matrix.cells if cell.verdict is not Verdict.OK)

    @property
    def exit_status(self) -> ExitStatus:
        """Yes, no, or could not find out; a no outweighs what could not be found out."""
        unknown = {Verdict.UNKNOWN, ObjectionKind.UNKNOWN_CELL}
        kinds = {objection.kind for objection in self.objections} | {cell.verdict for cell in self.bad_cells}
        if kinds - unknown:
            return ExitStatus.NO
        return ExitStatus.UNKNOWN if kinds else ExitStatus.YES
