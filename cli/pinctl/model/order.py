"""Proves an order of landing: every state that an order passes through must be safe.

A state is the set of a plan's changes that have landed. Which cells a state needs follows from the plan: the clients
pinned by the superproject in that state, and the clients at the heads of their branches, against the server of that
state. What is pinned moves only with the change that moves it, and only to what has landed by then, so a state is
walked with the pins that have moved; that is all that is left of the path.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import factorial

from pinctl.model.matrix import Cell, Verdict, worst
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
        declared_unknown: whether only unknown cells speak against the declared order.
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
    declared_unknown: bool = False

    @property
    def verdict(self) -> Verdict:
        """Ok where the declared order is safe; unknown where only unknown cells speak against it."""
        if self.declared_safe:
            return Verdict.OK
        return Verdict.UNKNOWN if self.declared_unknown else Verdict.REJECTS


CellOf = Callable[[Need], Cell | None]
"""Finds the cell that answers a need; None where none was run."""


def needs_of(
    plan: LandingPlan, state: State, *, superproject: str, pinned: frozenset[str] | None = None
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
    needs: list[Need] = []
    for component in plan.contract.clients:
        changes = frozenset(change.id for change in plan.changes if change.component == component)
        movers = frozenset(change.id for change in plan.changes if component in change.pins)
        head_is_new = bool(changes) and changes <= state
        moved = bool(movers) and movers <= state if pinned is None else component in pinned
        pinned_is_new = head_is_new and moved
        needs.append(Need(landed=own, component=component, new=pinned_is_new, role="pinned"))
        if head_is_new != pinned_is_new:
            needs.append(Need(landed=own, component=component, new=head_is_new, role="head"))
    return tuple(needs)


def declared_needs(plan: LandingPlan, *, superproject: str) -> tuple[Need, ...]:
    """Returns the cells that the states of a plan's declared order must have ok, each once."""
    landed: frozenset[str] = frozenset()
    needs = list(needs_of(plan, landed, superproject=superproject))
    for change in plan.in_order():
        landed |= {change.id}
        needs += needs_of(plan, landed, superproject=superproject)
    return tuple(dict.fromkeys(needs))


def prove_order(plan: LandingPlan, *, superproject: str, cell_of: CellOf) -> OrderProof:
    """Judges every state of the plan and every order through them.

    Counting walks the states level by level, so it costs states times changes, not orders.

    Args:
        plan: the landing plan.
        superproject: the superproject's name among the components.
        cell_of: finds the cell of a need.

    Returns:
        The proof. A need without a cell counts as unknown, which is not safe.
    """
    ids = tuple(change.id for change in plan.in_order())
    walk = Walk(plan, superproject=superproject, cell_of=cell_of)
    lattice = tuple(walk.everywhere())
    unsafe = [found for found in lattice if found is not None]
    against = [found[1].verdict for found in walk.along(ids) if found is not None]
    safe_orders, counter_example = walk.count()
    return OrderProof(
        changes=ids,
        states=len(lattice),
        unsafe_states=len(unsafe),
        unknown_states=sum(cell.verdict is Verdict.UNKNOWN for _, cell in unsafe),
        orders=factorial(len(ids)),
        safe_orders=safe_orders,
        declared_safe=not against,
        declared_unknown=bool(against) and worst(tuple(against)) is Verdict.UNKNOWN,
        counter_example=counter_example,
        apart=tuple(_apart(plan, change, superproject, cell_of) for change in plan.changes if change.pins),
    )


class Walk:
    """Walks the states of a plan, each with the pins that have moved by then.

    A pin moves with the change that moves it, and only to what has landed by then; so two orders can reach one set of
    landed changes with different pins, and what lands next is judged against the pins that are there.
    """

    def __init__(self, plan: LandingPlan, *, superproject: str, cell_of: CellOf) -> None:
        self._plan = plan
        self._superproject = superproject
        self._cell_of = cell_of
        self._ids = tuple(change.id for change in plan.in_order())
        self._bit = {name: 1 << place for place, name in enumerate(self._ids)}
        self._components = tuple(plan.contract.clients) if plan.contract else ()
        self._needed = tuple(
            sum(self._bit[change.id] for change in plan.changes if change.component == component)
            for component in self._components
        )
        self._moves = {
            self._bit[change.id]: tuple(
                place for place, component in enumerate(self._components) if component in change.pins
            )
            for change in plan.changes
        }
        self._movers = tuple(
            sum(bit for bit, places in self._moves.items() if place in places) for place in range(len(self._components))
        )
        self._own = sum(self._bit[change.id] for change in plan.of_superproject(superproject))
        self._known: dict[tuple[int, int, int], tuple[Need, Cell] | None] = {}

    def broken_need(self, state: State, pinned: frozenset[str] | None) -> tuple[Need, Cell] | None:
        """Returns a need of a state whose cell is not ok, one with a definite answer before an unknown one."""
        unknown: tuple[Need, Cell] | None = None
        for need in needs_of(self._plan, state, superproject=self._superproject, pinned=pinned):
            cell = self._cell_of(need) or _absent(need)
            if cell.verdict is Verdict.UNKNOWN:
                unknown = unknown or (need, cell)
            elif cell.verdict is not Verdict.OK:
                return need, cell
        return unknown

    def everywhere(self) -> Iterator[tuple[Need, Cell] | None]:
        """Returns what is broken in each state of the lattice, taking the pins from the state alone."""
        for landed in range(1 << len(self._ids)):
            moved = sum(1 << place for place, movers in enumerate(self._movers) if movers and landed & movers == movers)
            yield self._broken(landed, moved)

    def along(self, order: tuple[str, ...]) -> list[tuple[Need, Cell] | None]:
        """Returns what is broken in each state of one order."""
        landed = pins = 0
        found = [self._broken(landed, pins)]
        for name in order:
            landed, pins = self._after(landed, pins, self._bit[name])
            found.append(self._broken(landed, pins))
        return found

    def count(self) -> tuple[int, CounterExample | None]:
        """Counts the orders that pass through safe states only, and finds the shortest that does not."""
        example = self._example((), self._broken(0, 0))
        level: dict[tuple[int, int], tuple[int, tuple[str, ...]]] = {} if example else {(0, 0): (1, ())}
        for _ in self._ids:
            following: dict[tuple[int, int], tuple[int, tuple[str, ...]]] = {}
            found: list[CounterExample] = []
            for (landed, pins), (ways, steps) in level.items():
                for name, bit in self._bit.items():
                    if landed & bit:
                        continue
                    key = self._after(landed, pins, bit)
                    broken = self._broken(*key)
                    if broken is None:
                        before = following.get(key)
                        following[key] = (before[0] + ways, before[1]) if before else (ways, (*steps, name))
                    elif example is None:
                        found += filter(None, [self._example((*steps, name), broken)])
            example = example or next((item for item in found if item.verdict is not Verdict.UNKNOWN), None)
            example = example or next(iter(found), None)
            level = following
        return sum(ways for ways, _ in level.values()), example

    def _after(self, landed: int, pins: int, bit: int) -> tuple[int, int]:
        landed |= bit
        for place in self._moves[bit]:
            needed = self._needed[place]
            if needed and landed & needed == needed:
                pins |= 1 << place
        return landed, pins

    def _broken(self, landed: int, pins: int) -> tuple[Need, Cell] | None:
        # All that decides a state's needs: the superproject's own changes, which components are whole, and the pins.
        whole = sum(1 << place for place, needed in enumerate(self._needed) if needed and landed & needed == needed)
        key = (landed & self._own, whole, pins & whole)
        if key not in self._known:
            state = frozenset(name for name, bit in self._bit.items() if landed & bit)
            pinned = frozenset(name for place, name in enumerate(self._components) if pins & 1 << place)
            self._known[key] = self.broken_need(state, pinned)
        return self._known[key]

    def _example(self, steps: tuple[str, ...], broken: tuple[Need, Cell] | None) -> CounterExample | None:
        return CounterExample(steps=steps, need=broken[0], cell=broken[1]) if broken is not None else None


def _absent(need: Need) -> Cell:
    server = f"server with {', '.join(sorted(need.landed)) or 'none of the changes'}"
    age = "with its changes" if need.new else "before its changes"
    return Cell(server=server, client=f"{need.component} {age}", component=need.component, setup="no such cell was run")


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
