"""Proves an order of landing: every state that an order passes through must be safe.

A state is the set of a plan's changes that have landed. Which cells a state needs follows from the plan: the clients
pinned by the superproject in that state, and the clients at the heads of their branches, against the server of that
state. What is pinned moves only with the change that moves it: where that change landed before its companions, the
pinned client is the old one. The order passes that state, which is judged then, so safety needs states, not paths.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

from pinctl.model.matrix import Cell, Verdict
from pinctl.model.plan import Change, LandingPlan

State = frozenset[str]
"""The ids of the changes that have landed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A cell that a state must have ok.

    Attributes:
        landed: the superproject's own changes in the server of that state.
        component: whose client it is.
        new: whether the client is the one with the component's changes, or the one before them.
        role: `pinned` by the superproject, or at the `head` of its branch.
    """

    landed: State
    component: str
    new: bool
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterExample:
    """The shortest way into an unsafe state.

    Attributes:
        steps: the changes in the order in which they land, the last of which does the harm.
        cell: the cell that shows it.
        verdict: that cell's verdict.
        need: what asked for the cell.
    """

    steps: tuple[str, ...]
    need: Need
    cell: Cell

    @property
    def verdict(self) -> Verdict:
        """The verdict of the cell that breaks the order."""
        return self.cell.verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """What happens when a change lands and its pins do not move with it.

    Attributes:
        change: the change with pins.
        without_pins: the cell that breaks when the change lands and its pins stay; None when it is safe.
        pins_first: the cell that breaks when the pins move and the change has not landed; None when it is safe.
    """

    change: str
    without_pins: Cell | None
    pins_first: Cell | None

    @property
    def atomic_only(self) -> bool:
        """Whether neither half is safe alone."""
        return self.without_pins is not None and self.pins_first is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderProof:
    """What the cells say of a plan's orders.

    Attributes:
        changes: the ids, in the declared order.
        states: how many states were judged.
        unsafe_states: how many of them are not safe.
        unknown_states: how many of the unsafe ones rest on unknown cells alone.
        orders: how many orders there are at all.
        safe_orders: how many pass through safe states only.
        declared_safe: whether the order that the plan declares does.
        counter_example: the shortest unsafe order; None where every order is safe.
        apart: for each change with pins, what happens without its pins.
    """

    changes: tuple[str, ...]
    states: int
    unsafe_states: int
    unknown_states: int
    orders: int
    safe_orders: int
    declared_safe: bool
    counter_example: CounterExample | None
    apart: tuple[Apart, ...]

    @property
    def verdict(self) -> Verdict:
        """Ok where the declared order is safe; unknown where only unknown cells speak against it."""
        if self.declared_safe:
            return Verdict.OK
        return Verdict.UNKNOWN if self.unsafe_states == self.unknown_states else Verdict.REJECTS


CellOf = Callable[[Need], Cell | None]
"""Finds the cell that answers a need; None where none was run."""


def needs_of(plan: LandingPlan, state: State, *, superproject: str) -> tuple[Need, ...]:
    """Returns the cells that a state must have ok.

    Args:
        plan: the landing plan, with a contract.
        state: the changes that have landed.
        superproject: the superproject's name among the components.
    """
    if plan.contract is None:
        return ()
    own = frozenset(change.id for change in plan.of_superproject(superproject)) & state
    needs: list[Need] = []
    for component in plan.contract.clients:
        changes = frozenset(change.id for change in plan.changes if change.component == component)
        movers = frozenset(change.id for change in plan.changes if component in change.pins)
        head_is_new = bool(changes) and changes <= state
        pinned_is_new = head_is_new and bool(movers) and movers <= state
        needs.append(Need(landed=own, component=component, new=pinned_is_new, role="pinned"))
        if head_is_new != pinned_is_new:
            needs.append(Need(landed=own, component=component, new=head_is_new, role="head"))
    return tuple(needs)


def prove_order(plan: LandingPlan, *, superproject: str, cell_of: CellOf) -> OrderProof:
    """Judges every state of the plan and every order through them.

    Counting walks the lattice of states once, so it costs states times changes, not orders.

    Args:
        plan: the landing plan.
        superproject: the superproject's name among the components.
        cell_of: finds the cell of a need.

    Returns:
        The proof. A need without a cell counts as unknown, which is not safe.
    """
    ids = tuple(change.id for change in plan.in_order())
    broken = {state: _broken_need(plan, state, superproject, cell_of) for state in _states(ids)}
    ways: dict[State, int] = {}
    for state in _states(ids):
        if broken[state] is not None:
            ways[state] = 0
        elif not state:
            ways[state] = 1
        else:
            ways[state] = sum(ways[state - {last}] for last in state)
    declared = [frozenset(ids[:length]) for length in range(len(ids) + 1)]
    unsafe = [need_cell for need_cell in broken.values() if need_cell is not None]
    return OrderProof(
        changes=ids,
        states=len(broken),
        unsafe_states=len(unsafe),
        unknown_states=sum(cell.verdict is Verdict.UNKNOWN for _, cell in unsafe),
        orders=_factorial(len(ids)),
        safe_orders=ways[frozenset(ids)],
        declared_safe=all(broken[state] is None for state in declared),
        counter_example=_shortest(ids, broken),
        apart=tuple(_apart(plan, change, superproject, cell_of) for change in plan.changes if change.pins),
    )


def _states(ids: tuple[str, ...]) -> Iterator[State]:
    for size in range(len(ids) + 1):
        for chosen in combinations(ids, size):
            yield frozenset(chosen)


def _broken_need(plan: LandingPlan, state: State, superproject: str, cell_of: CellOf) -> tuple[Need, Cell] | None:
    unknown: tuple[Need, Cell] | None = None
    for need in needs_of(plan, state, superproject=superproject):
        cell = cell_of(need) or _absent(need)
        if cell.verdict is Verdict.UNKNOWN:
            unknown = unknown or (need, cell)
        elif cell.verdict is not Verdict.OK:
            return need, cell
    return unknown


def _absent(need: Need) -> Cell:
    server = f"server with {', '.join(sorted(need.landed)) or 'none of the changes'}"
    age = "with its changes" if need.new else "before its changes"
    return Cell(server=server, client=f"{need.component} {age}", component=need.component, setup="no such cell was run")


def _shortest(ids: tuple[str, ...], broken: dict[State, tuple[Need, Cell] | None]) -> CounterExample | None:
    """Walks breadth first from the empty state; prefers a definite answer to an unknown one of the same length."""
    best: CounterExample | None = None
    queue: deque[tuple[str, ...]] = deque([()])
    seen: set[State] = {frozenset()}
    while queue:
        steps = queue.popleft()
        if best is not None and len(steps) > len(best.steps):
            break
        found = broken[frozenset(steps)]
        if found is not None:
            example = CounterExample(steps=steps, need=found[0], cell=found[1])
            if example.verdict is not Verdict.UNKNOWN:
                return example
            best = best or example
            continue
        for change in ids:
            state = frozenset((*steps, change))
            if change not in steps and state not in seen:
                seen.add(state)
                queue.append((*steps, change))
    return best


def _apart(plan: LandingPlan, change: Change, superproject: str, cell_of: CellOf) -> Apart:
    """Judges the two halves of an atomic step, with everything that the plan asks for before it landed."""
    own = frozenset(other.id for other in plan.of_superproject(superproject))
    before = own - {change.id}
    clients = plan.contract.clients if plan.contract else {}
    pins = tuple(pin for pin in change.pins if pin in clients)

    def first_broken(landed: State, *, new: bool) -> Cell | None:
        for component in pins:
            need = Need(landed=landed, component=component, new=new, role="pinned")
            cell = cell_of(need) or _absent(need)
            if cell.verdict is not Verdict.OK:
                return cell
        return None

    return Apart(change=change.id, without_pins=first_broken(own, new=False), pins_first=first_broken(before, new=True))


def _factorial(number: int) -> int:
    return 1 if number < 2 else number * _factorial(number - 1)
