"""Walks the orders of a plan: how many pass through safe states only, and the shortest that does not."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from pinctl.model.matrix import Cell, Verdict
from pinctl.model.need import Need
from pinctl.model.plan import Constraint
from pinctl.model.states import States

_Trail = tuple[int, "_Trail"] | None
"""The bit of the change that landed last, and how it went before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterExample:
    """The shortest way into an unsafe state.

    Attributes:
        steps: the changes in the order in which they land, the last of which does the harm.
        cell: the cell that shows it.
        need: what asked for the cell.
    """

    steps: tuple[str, ...]
    need: Need
    cell: Cell

    @property
    def verdict(self) -> Verdict:
        """The verdict of the cell that breaks the order."""
        return self.cell.verdict


def count_orders(states: States) -> tuple[int, CounterExample | None]:
    """Counts the orders that pass through safe states only, and finds the shortest that does not."""
    if states.verdict(0, 0) is not Verdict.OK:
        return 0, _example(states, None)
    example: CounterExample | None = None
    level: dict[tuple[int, int], tuple[int, _Trail]] = {(0, 0): (1, None)}
    for _ in states.ids:
        following: dict[tuple[int, int], tuple[int, _Trail]] = {}
        unsafe: dict[tuple[int, int], _Trail] = {}
        for (landed, pins), (ways, trail) in level.items():
            for bit, alike in states.next(landed):
                key = states.after(landed, pins, bit)
                if bit & states.own:
                    key = (key[0], key[1] & states.pins_that_matter(key[0] & states.own))
                before = following.get(key)
                if before is not None:
                    following[key] = (before[0] + ways * alike, before[1])
                elif key not in unsafe:
                    if states.verdict(*key) is Verdict.OK:
                        following[key] = (ways * alike, (bit, trail))
                    else:
                        unsafe[key] = (bit, trail)
        if example is None:
            example = _first([_example(states, trail) for trail in unsafe.values()])
        level = following
    return sum(ways for ways, _ in level.values()), example


def rearranged(states: States, constraint: Constraint) -> tuple[int, int, CounterExample | None]:
    """Walks the declared order with the changes of a constraint in every order that the plan's `after` allows.

    Returns:
        How many orders there are, how many of them are safe, and the shortest that is not.
    """
    members = states.bits(constraint.together)

    @cache
    def ahead(landed: int, pins: int) -> tuple[int, int]:
        is_safe = states.verdict(landed, pins) is Verdict.OK
        if landed.bit_count() == len(states.ids):
            return 1, int(is_safe)
        found = [ahead(*states.after(landed, pins, bit)) for bit in states.next_among(members, landed)]
        return sum(orders for orders, _ in found), sum(safe for _, safe in found) if is_safe else 0

    unsafe: list[CounterExample] = []
    level: dict[tuple[int, int], _Trail] = {(0, 0): None}
    while level and not unsafe:
        unsafe = [_example(states, trail) for key, trail in level.items() if states.verdict(*key) is not Verdict.OK]
        following: dict[tuple[int, int], _Trail] = {}
        for key, trail in level.items():
            for bit in states.next_among(members, key[0]):
                after = states.after(*key, bit)
                if ahead(*after)[0]:
                    following.setdefault(after, (bit, trail))
        level = following
    return *ahead(0, 0), _first(unsafe)


def states_rearranged(states: States, constraint: Constraint) -> Iterator[tuple[int, int]]:
    """Walks the states of `rearranged`, as `needs` and `broken` take them."""
    members = states.bits(constraint.together)
    level = {(0, 0)}
    while level:
        yield from sorted(level)
        level = {states.after(*key, bit) for key in level for bit in states.next_among(members, key[0])}


def _example(states: States, trail: _Trail) -> CounterExample:
    names: list[str] = []
    while trail is not None:
        bit, trail = trail
        names.append(states.name_of[bit])
    *_, (steps, landed, pins) = states.along(tuple((name,) for name in reversed(names)))
    broken = states.broken(landed, pins)
    if broken is None:
        msg = f"nothing is broken after {steps}"
        raise AssertionError(msg)
    return CounterExample(steps=steps, need=broken[0], cell=broken[1])


def _first(found: list[CounterExample]) -> CounterExample | None:
    """Returns one that is known to break, else one that is not known."""
    known = next((item for item in found if item.verdict is not Verdict.UNKNOWN), None)
    return known or next(iter(found), None)
