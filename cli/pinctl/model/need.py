"""Says which cells a state of a plan must have ok."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pinctl.model.matrix import CaseResult, Cell, FieldResult, Matrix
from pinctl.model.plan import Constraint, LandingPlan

State = frozenset[str]
"""The ids of the changes that have landed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A cell that a state must have ok.

    Attributes:
        landed: the superproject's own changes in the server of that state.
        component: whose client it is.
        new: whether the client is the one with the component's changes, or the one before them.
        role: `pinned` by the superproject, at the `head` of its branch, or the superproject's `own`.
        waits: the constraints whose changes have not all landed: what they cover is not asked of the cell.
    """

    landed: State
    component: str
    new: bool
    role: str
    waits: tuple[Constraint, ...] = ()


CellOf = Callable[[Need], Cell | None]
"""Finds the cell that answers a need; None where none was run."""


def needs_of(
    plan: LandingPlan,
    state: State,
    *,
    superproject: str,
    pinned: frozenset[str] | None = None,
) -> tuple[Need, ...]:
    """Returns the cells that a state must have ok.

    Args:
        plan: the landing plan, with a contract.
        state: the changes that have landed.
        superproject: the superproject's name among the components.
        pinned: the components whose pins have moved to their changes; None takes it from the state alone, as it is
            where each change that moves pins landed after its companions.
    """
    if plan.contract is None:
        return ()
    own = frozenset(change.id for change in plan.of_superproject(superproject)) & state
    waits = tuple(item for item in plan.constraints if not state >= frozenset(item.together))
    needs: list[Need] = []
    for component in plan.contract.clients:
        if component == superproject:
            needs.append(need_of_own(own, component, waits=waits))
            continue
        changes = frozenset(change.id for change in plan.changes if change.component == component)
        movers = frozenset(change.id for change in plan.changes if component in change.pins)
        head_is_new = bool(changes) and changes <= state
        moved = bool(movers) and movers <= state if pinned is None else component in pinned
        pinned_is_new = head_is_new and moved
        at_head = head_is_new if plan.contract.clients[component].head else pinned_is_new
        needs += needs_of_client(own, component, at_head=at_head, pinned=pinned_is_new, waits=waits)
    return tuple(needs)


def need_of_own(own: State, superproject: str, *, waits: tuple[Constraint, ...]) -> Need:
    """Returns what a server needs of the superproject's own client: that of the same commit, whatever has landed."""
    return Need(landed=own, component=superproject, new=False, role="own", waits=waits)


def needs_of_client(
    own: State, component: str, *, at_head: bool, pinned: bool, waits: tuple[Constraint, ...]
) -> tuple[Need, ...]:
    """Returns what a server needs of one component: of its pinned client, and of its branch's where that is another.

    Args:
        own: the superproject's own changes in the server.
        component: whose client it is.
        at_head: whether the head of its branch has all of its changes.
        pinned: whether the pin has.
        waits: the constraints whose changes have not all landed.
    """
    by_pin = Need(landed=own, component=component, new=pinned, role="pinned", waits=waits)
    if at_head == pinned:
        return (by_pin,)
    return by_pin, replace(by_pin, new=at_head, role="head")


def spared(cell: Cell, waits: tuple[Constraint, ...]) -> Cell:
    """Returns a cell in which what some constraints cover does not count, and says what it waits for."""
    if not waits:
        return cell
    return replace(cell, cases=tuple(_spared_case(case, waits) for case in cell.cases))


def spared_matrix(matrix: Matrix, waits: Mapping[tuple[str, str], tuple[Constraint, ...]]) -> Matrix:
    """Returns a matrix whose cells are judged by what is asked of them.

    Args:
        matrix: as it was run, every cell over all cases.
        waits: by the labels of a cell, the constraints that wait wherever it is needed.
    """
    cells = tuple(spared(cell, waits.get((cell.server, cell.client), ())) for cell in matrix.cells)
    return replace(matrix, cells=cells)


def answer_of(need: Need, cell_of: CellOf) -> Cell | None:
    """Returns the cell of a need, judged by what is asked of it there.

    Returns:
        The cell, an unknown one where none was run; None where all that was run of it waits for something.
    """
    cell = spared(cell_of(need) or _absent(need), need.waits)
    return cell if cell.is_asked else None


def _spared_case(case: CaseResult, waits: tuple[Constraint, ...]) -> CaseResult:
    return replace(case, fields=tuple(_spared_field(case.case, field, waits) for field in case.fields))


def _spared_field(case: str, field: FieldResult, waits: tuple[Constraint, ...]) -> FieldResult:
    covering = next((item for item in waits if item.covers(case=case, field=field.field)), None)
    return field if covering is None else replace(field, waits_for=covering.feature)


def _absent(need: Need) -> Cell:
    server = f"server with {', '.join(sorted(need.landed)) or 'none of the changes'}"
    age = "with its changes" if need.new else "before its changes"
    return Cell(server=server, client=f"{need.component} {age}", component=need.component, setup="no such cell was run")
