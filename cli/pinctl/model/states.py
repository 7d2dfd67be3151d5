"""Holds the states of a plan, each with the pins that have moved by then, and judges them by the plan's cells.

A state is a set of landed changes, held as the bits of one integer. A pin moves with the change that moves it, and only
to what has landed by then; so two orders can reach one set of landed changes with different pins, and what lands next
is judged against the pins that are there.

Changes of one component that nothing tells apart stand for each other: they are landed in one fixed order, and the
ways in which they could have been are multiplied in. So most plans have few states, however many changes they have.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import comb, prod
from operator import or_

from pinctl.model.matrix import Cell, Verdict
from pinctl.model.need import CellOf, Need, State, answer_of, need_of_own, needs_of_client
from pinctl.model.plan import Constraint, LandingPlan

Broken = tuple[Need, Cell]
"""A need of a state, and its cell that is not ok."""


class States:
    """The states of one plan, judged by its cells.

    Args:
        plan: the landing plan.
        superproject: the superproject's name among the components.
        cell_of: finds the cell of a need.
    """

    def __init__(self, plan: LandingPlan, *, superproject: str, cell_of: CellOf) -> None:
        self._cell_of = cell_of
        self.ids = tuple(change.id for change in plan.in_order())
        self._bit = {name: 1 << place for place, name in enumerate(self.ids)}
        self.name_of = {bit: name for name, bit in self._bit.items()}
        self.own = self.bits(change.id for change in plan.of_superproject(superproject))
        self._after_of = {self._bit[change.id]: self.bits(change.after) for change in plan.changes}
        clients = plan.contract.clients if plan.contract else {}
        self._components = tuple(clients)
        self._heads = sum(1 << place for place, probe in enumerate(clients.values()) if probe.head)
        self._superproject = superproject
        # A client of the superproject's own is in the commit of the server: nothing of it lands by itself.
        self._changes_of = tuple(
            self.bits(change.id for change in plan.changes if change.component == component != superproject)
            for component in self._components
        )
        self._changed = sum(1 << place for place, bits in enumerate(self._changes_of) if bits)
        self._moves = {
            self._bit[change.id]: sum(
                1 << place for place, component in enumerate(self._components) if component in change.pins
            )
            for change in plan.changes
            if change.pins
        }
        self._movers = tuple(
            sum(bit for bit, places in self._moves.items() if places & 1 << place)
            for place in range(len(self._components))
        )
        self._constraints = tuple((item, self.bits(item.together)) for item in plan.constraints)
        self._told_apart = self.own | self.bits(name for item in plan.constraints for name in item.together)
        self._alike = tuple(
            alike
            for component in {change.component: None for change in plan.changes}
            if (alike := self.bits(c.id for c in plan.changes if c.component == component) & ~self._told_apart)
            and alike.bit_count() > 1
        )
        self._single = (1 << len(self.ids)) - 1 & ~sum(self._alike)
        self._judged: dict[tuple[int, int], _Judged] = {}
        self._relevant: dict[int, int] = {}
        self._verdicts: dict[tuple[int, tuple[Constraint, ...]], tuple[Verdict, Cell]] = {}

    def needs(self, landed: int, pins: int) -> tuple[Need, ...]:
        """Returns the needs of a state; `pins` are the places of the components whose pins have moved."""
        own, waits = self._server(landed)
        whole = self._whole(landed, ~0)
        at_head, pinned = whole & (pins | self._heads), whole & pins
        found: tuple[Need, ...] = ()
        for place, component in enumerate(self._components):
            if component == self._superproject:
                found += (need_of_own(own, component, waits=waits),)
            else:
                new = {"at_head": bool(at_head & 1 << place), "pinned": bool(pinned & 1 << place)}
                found += needs_of_client(own, component, **new, waits=waits)
        return found

    def broken(self, landed: int, pins: int) -> Broken | None:
        """Returns a need of a state whose cell is not ok, one with a definite answer before an unknown one."""
        unknown: Broken | None = None
        for need in self.needs(landed, pins):
            cell = answer_of(need, self._cell_of)
            if cell is None or cell.verdict is Verdict.OK:
                continue
            if cell.verdict is not Verdict.UNKNOWN:
                return need, cell
            unknown = unknown or (need, cell)
        return unknown

    def verdict(self, landed: int, pins: int) -> Verdict:
        """Returns ok for a safe state, unknown for one that only unknown cells speak against, else rejects."""
        # All that decides it: the superproject's own changes, which constraints wait, which components are whole, and
        # the pins. The first two choose the cells, the others which of them count.
        key = (landed & self.own, self._waiting(landed))
        judged = self._judged.get(key) or self._judge(landed, key)
        old, new = judged.not_ok
        if not old | new:
            return Verdict.OK
        whole = self._whole(landed, old | new)
        old, new = old & ~(pins & whole), new & whole & (pins | self._heads)
        if not old | new:
            return Verdict.OK
        return Verdict.REJECTS if old & judged.broken[0] or new & judged.broken[1] else Verdict.UNKNOWN

    def everywhere(self) -> Mapping[Verdict, int]:
        """Judges the states of the lattice, taking the pins from the state alone.

        Returns:
            How many of them there are of each verdict that `verdict` gives.
        """
        found = dict.fromkeys((Verdict.OK, Verdict.UNKNOWN, Verdict.REJECTS), 0)
        groups = [
            [(_lowest(alike, count), comb(alike.bit_count(), count)) for count in range(alike.bit_count() + 1)]
            for alike in self._alike
        ]
        movers = tuple((1 << place, bits) for place, bits in enumerate(self._movers) if bits)
        for chosen in product(*groups):
            companions, states = sum(bits for bits, _ in chosen), prod(ways for _, ways in chosen)
            for single in _subsets(self._single):
                landed = single | companions
                pins = sum(place for place, bits in movers if not bits & ~landed)
                found[self.verdict(landed, pins)] += states
        return found

    def along(self, steps: tuple[tuple[str, ...], ...]) -> Iterator[tuple[tuple[str, ...], int, int]]:
        """Walks one order, in steps of one change or several at once.

        Returns:
            Each state: the changes that have landed in their order, and the state as `needs` and `broken` take it.
        """
        landed = pins = 0
        names: tuple[str, ...] = ()
        yield names, landed, pins
        for step in steps:
            bits = [self._bit[name] for name in step]
            landed |= sum(bits)
            for bit in bits:
                pins |= self._moved(landed, bit)
            names += step
            yield names, landed, pins

    def next(self, landed: int) -> Iterator[tuple[int, int]]:
        """Returns what may land next, and how many changes each stands for."""
        left = self._single & ~landed
        while left:
            bit = left & -left
            left ^= bit
            yield bit, 1
        for alike in self._alike:
            left = alike & ~landed
            if left:
                yield left & -left, left.bit_count()

    def next_among(self, members: int, landed: int) -> Iterator[int]:
        """Returns what may land next where only some changes may change places with each other."""
        place = landed.bit_count()
        if place == len(self.ids):
            return
        declared = 1 << place
        for bit in self._bit.values() if declared & members else (declared,):
            fits = bit == declared or bit & members
            if fits and not landed & bit and not self._after_of[bit] & ~landed:
                yield bit

    def fixed(self, constraint: Constraint) -> tuple[tuple[str, str], ...]:
        """Returns the pairs of a constraint's changes of which the first must land before the second."""
        before: dict[int, int] = {}
        for bit in self.name_of:  # in the declared order: what a change comes after stands before it
            direct = self._after_of[bit]
            before[bit] = reduce(or_, (before[other] for other in before if other & direct), direct)
        return tuple(
            (one, other)
            for one in constraint.together
            for other in constraint.together
            if before[self._bit[other]] & self._bit[one]
        )

    def after(self, landed: int, pins: int, bit: int) -> tuple[int, int]:
        """Returns the state after one more change has landed."""
        return landed | bit, pins | self._moved(landed | bit, bit)

    def _moved(self, landed: int, bit: int) -> int:
        """Returns the pins that move with a change: those of components whose changes have all landed."""
        return self._whole(landed, self._moves.get(bit, 0))

    def _whole(self, landed: int, among: int) -> int:
        """Returns which of some components have changes that have all landed."""
        whole = 0
        among &= self._changed
        while among:
            place = among & -among
            among ^= place
            if not self._changes_of[place.bit_length() - 1] & ~landed:
                whole |= place
        return whole

    def _waiting(self, landed: int) -> int:
        waiting = 0
        for place, (_, members) in enumerate(self._constraints):
            if members & ~landed:
                waiting |= 1 << place
        return waiting

    def _judge(self, landed: int, key: tuple[int, int]) -> "_Judged":
        """Judges each client, before its changes and with them, against the server of a state."""
        own, waits = self._server(landed)
        not_ok, broken = [0, 0], [0, 0]
        for place, component in enumerate(self._components):
            for new in (False, True) if self._changes_of[place] else (False,):
                need = Need(landed=own, component=component, new=new, role="pinned", waits=waits)
                verdict = self._verdict_of(need)
                if verdict is not Verdict.OK:
                    not_ok[new] |= 1 << place
                    broken[new] |= (verdict is not Verdict.UNKNOWN) << place
        judged = _Judged(not_ok=(not_ok[0], not_ok[1]), broken=(broken[0], broken[1]))
        self._judged[key] = judged
        return judged

    def _verdict_of(self, need: Need) -> Verdict:
        """Returns the verdict of a need, each cell judged once: many states share their cells."""
        cell = self._cell_of(need)
        if cell is None:
            return Verdict.UNKNOWN
        key = (id(cell), need.waits)
        if key not in self._verdicts:
            judged = answer_of(need, lambda _need: cell)
            # With the cell itself, so that no other one can get its id.
            self._verdicts[key] = (Verdict.OK if judged is None else judged.verdict, cell)
        return self._verdicts[key][0]

    def _server(self, landed: int) -> tuple[State, tuple[Constraint, ...]]:
        """Returns the superproject's own changes of a state, and the constraints that wait."""
        waiting = self._waiting(landed)
        own = frozenset(name for name, bit in self._bit.items() if landed & self.own & bit)
        return own, tuple(item for place, (item, _) in enumerate(self._constraints) if waiting & 1 << place)

    def pins_that_matter(self, own: int) -> int:
        """Returns the components whose old client some server that can still come does not get along with.

        Where only the pinned client counts, its new one as well. States that differ in other pins alone are equal in
        all that follows.
        """
        if not self._moves:
            return 0
        if own not in self._relevant:
            matter = self._judged_by_pin(own)
            left = self.own & ~own
            while left:
                bit = left & -left
                left ^= bit
                matter |= self.pins_that_matter(own | bit)
            self._relevant[own] = matter
        return self._relevant[own]

    def _judged_by_pin(self, own: int) -> int:
        found = 0
        for members in _subsets(self._told_apart & ~self.own):
            key = (own, self._waiting(own | members))
            old, new = (self._judged.get(key) or self._judge(own | members, key)).not_ok
            found |= old | new & ~self._heads
        return found

    def bits(self, names: Iterable[str]) -> int:
        """Returns changes as bits."""
        return sum(self._bit[name] for name in set(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """The clients that do not get along with a server, as bits: those before their changes, those with them.

    Attributes:
        not_ok: those whose cell is not ok.
        broken: those of them of which it is known why.
    """

    not_ok: tuple[int, int]
    broken: tuple[int, int]


def _subsets(bits: int) -> Iterator[int]:
    subset = 0
    while True:
        yield subset
        if subset == bits:
            return
        subset = (subset - bits) & bits


def _lowest(bits: int, count: int) -> int:
    """Returns the lowest few of some bits."""
    kept = 0
    for _ in range(count):
        lowest = bits & -bits
        kept, bits = kept | lowest, bits ^ lowest
    return kept
