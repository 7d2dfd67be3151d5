"""Proves an order of landing: every state that an order passes through must be safe.

A state is the set of a plan's changes that have landed. Which cells a state needs follows from the plan: the clients
pinned by the superproject in that state, and the clients at the heads of their branches, against the server of that
state. What is pinned moves only with the change that moves it, and only to what has landed by then, so a state is
walked with the pins that have moved; that is all that is left of the path.
"""

from dataclasses import dataclass
from itertools import groupby
from math import factorial

from pinctl.model.matrix import Cell, Verdict, worst
from pinctl.model.need import CellOf, Need, State, answer_of
from pinctl.model.plan import Change, Constraint, LandingPlan
from pinctl.model.states import States
from pinctl.model.walk import CounterExample, count_orders, rearranged, states_rearranged


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
        """Whether neither half is safe alone, as far as is known."""
        return all(
            cell is not None and cell.verdict is not Verdict.UNKNOWN for cell in (self.without_pins, self.pins_first)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOrder:
    """What the cells say of a constraint: that its changes may land in any order, and that all of them suffice.

    Attributes:
        orders: the declared order with the changes of the constraint in each order that the plan's `after` allows.
        safe_orders: how many of these pass through safe states only.
        counter_example: the shortest of them that does not; None where all do.
        feature: the verdict of what the constraint covers, once all has landed; unknown where nothing was asked.
        broken: the cell in which the feature does not work; None where it does, or where nothing was asked.
        fixed: pairs of its changes of which the plan's `after` says that the first lands before the second.
    """

    constraint: Constraint
    orders: int
    safe_orders: int
    counter_example: CounterExample | None
    feature: Verdict
    broken: Cell | None = None
    fixed: tuple[tuple[str, str], ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Ok where every order is safe and the feature works in the end."""
        order = self.counter_example.verdict if self.counter_example is not None else Verdict.OK
        return worst((order, self.feature))


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderProof:
    """What the cells say of a plan's orders.

    Attributes:
        changes: the ids, in the declared order.
        steps: the same as they are landed: the superproject's own changes that follow each other are one commit.
        states: how many states were judged.
        unsafe_states: how many of them are not safe.
        unknown_states: how many of the unsafe ones rest on unknown cells alone.
        orders: how many orders there are at all.
        safe_orders: how many pass through safe states only.
        declared_safe: whether the order that the plan declares does, in its steps.
        declared_unknown: whether only unknown cells speak against the declared order.
        counter_example: the shortest unsafe order; None where every order is safe.
        apart: for each change with pins, what happens without its pins.
        one_by_one: where the declared order breaks if each change lands alone; None where it does not.
        any_order: for each constraint, whether its changes may land in any order.
    """

    changes: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]
    states: int
    unsafe_states: int
    unknown_states: int
    orders: int
    safe_orders: int
    declared_safe: bool
    counter_example: CounterExample | None
    apart: tuple[Apart, ...]
    declared_unknown: bool = False
    one_by_one: CounterExample | None = None
    any_order: tuple[AnyOrder, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Ok where all that the plan claims is safe; unknown where only unknown cells speak against that."""
        claims = [Verdict.OK if self.declared_safe else Verdict.REJECTS]
        if self.declared_unknown:
            claims = [Verdict.UNKNOWN]
        claims += [
            Verdict.REJECTS if item.verdict is not Verdict.UNKNOWN else Verdict.UNKNOWN
            for item in self.any_order
            if item.verdict is not Verdict.OK
        ]
        return worst(tuple(claims))

    @property
    def atomic_steps(self) -> tuple[tuple[str, ...], ...]:
        """The steps of several changes that are safe as one commit, and known to break if they land one by one."""
        example = self.one_by_one
        if not self.declared_safe or example is None or example.verdict is Verdict.UNKNOWN:
            return ()
        return tuple(step for step in self.steps if len(step) > 1 and example.steps[-1:] and example.steps[-1] in step)


def declared_needs(plan: LandingPlan, *, superproject: str) -> tuple[Need, ...]:
    """Returns the needs of all states that the plan claims to be safe, each once.

    These are the states of the declared order in its steps, and those of the orders that its constraints leave free.
    """
    return claimed_needs(plan, superproject=superproject)[0]


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
    states = States(plan, superproject=superproject, cell_of=cell_of)
    steps = steps_of(plan, superproject=superproject)
    lattice = states.everywhere()
    against = [verdict for _, *state in states.along(steps) if (verdict := states.verdict(*state)) is not Verdict.OK]
    safe_orders, counter_example = count_orders(states)
    return OrderProof(
        changes=states.ids,
        steps=steps,
        states=sum(lattice.values()),
        unsafe_states=lattice[Verdict.REJECTS] + lattice[Verdict.UNKNOWN],
        unknown_states=lattice[Verdict.UNKNOWN],
        orders=factorial(len(states.ids)),
        safe_orders=safe_orders,
        declared_safe=not against,
        declared_unknown=bool(against) and worst(tuple(against)) is Verdict.UNKNOWN,
        counter_example=counter_example,
        apart=tuple(_apart(plan, change, superproject, cell_of) for change in plan.changes if change.pins),
        one_by_one=_one_by_one(states),
        any_order=tuple(_any_order(states, steps, item, cell_of) for item in plan.constraints),
    )


def steps_of(plan: LandingPlan, *, superproject: str) -> tuple[tuple[str, ...], ...]:
    """Returns the declared order in steps: what is landed in one commit is one step."""
    steps: list[tuple[str, ...]] = []
    for is_own, changes in groupby(plan.in_order(), key=lambda change: change.component == superproject):
        ids = tuple(change.id for change in changes)
        steps += [ids] if is_own else [(name,) for name in ids]
    return tuple(steps)


def claimed_needs(plan: LandingPlan, *, superproject: str) -> tuple[tuple[Need, ...], tuple[Need, ...]]:
    """Returns the needs of all states that the plan claims to be safe, and those that tell what one commit is good for.

    Returns:
        The needs of the declared order in its steps and of the constraints' orders; those of the declared order one by
        one, of which nothing is claimed.
    """
    states = States(plan, superproject=superproject, cell_of=lambda _need: None)
    claimed = [state[1:] for state in states.along(steps_of(plan, superproject=superproject))]
    claimed += [state for item in plan.constraints for state in states_rearranged(states, item)]
    alone = [state[1:] for state in states.along(tuple((name,) for name in states.ids))]
    return _needs(states, claimed), _needs(states, alone)


def _needs(states: States, found: list[tuple[int, int]]) -> tuple[Need, ...]:
    return tuple(dict.fromkeys(need for state in dict.fromkeys(found) for need in states.needs(*state)))


def _one_by_one(states: States) -> CounterExample | None:
    for names, landed, pins in states.along(tuple((name,) for name in states.ids)):
        broken = states.broken(landed, pins)
        if broken is not None:
            return CounterExample(steps=names, need=broken[0], cell=broken[1])
    return None


def _any_order(states: States, steps: tuple[tuple[str, ...], ...], constraint: Constraint, cell_of: CellOf) -> AnyOrder:
    orders, safe, example = rearranged(states, constraint)
    *_, (_, landed, pins) = states.along(steps)
    feature: list[Verdict] = []
    broken: Cell | None = None
    for need in states.needs(landed, pins):
        cell = answer_of(need, cell_of)
        found = [] if cell is None else _of_feature(cell, constraint)
        feature += found
        if found and worst(tuple(found)) is not Verdict.OK:
            broken = broken or cell
    return AnyOrder(
        constraint=constraint,
        orders=orders,
        safe_orders=safe,
        counter_example=example,
        feature=worst(tuple(feature)),
        broken=broken,
        fixed=states.fixed(constraint),
    )


def _of_feature(cell: Cell, constraint: Constraint) -> list[Verdict]:
    """Returns the verdicts of what a constraint covers in a cell; unknown where the cell could not be set up."""
    if cell.setup is not None:
        return [Verdict.UNKNOWN]
    return [
        field.verdict
        for case in cell.cases
        for field in case.fields
        if constraint.covers(case=case.case, field=field.field)
    ]


def _apart(plan: LandingPlan, change: Change, superproject: str, cell_of: CellOf) -> Apart:
    """Judges the two halves of an atomic step, with everything that the plan asks for before it landed."""
    own = frozenset(other.id for other in plan.of_superproject(superproject))
    step = next(step for step in steps_of(plan, superproject=superproject) if change.id in step)
    before = own - frozenset(step)
    clients = plan.contract.clients if plan.contract else {}
    pins = tuple(pin for pin in change.pins if pin in clients)
    others = frozenset(other.id for other in plan.changes) - own

    def first_broken(landed: State, *, new: bool) -> Cell | None:
        there = landed | others
        waits = tuple(item for item in plan.constraints if not there >= frozenset(item.together))
        for component in pins:
            need = Need(landed=landed, component=component, new=new, role="pinned", waits=waits)
            cell = answer_of(need, cell_of)
            if cell is not None and cell.verdict is not Verdict.OK:
                return cell
        return None

    return Apart(change=change.id, without_pins=first_broken(own, new=False), pins_first=first_broken(before, new=True))
