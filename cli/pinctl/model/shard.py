"""Splits the cells of a matrix among machines, and joins what they found to what one run would have found.

A shard has all cells of some clients, since a client's environment is what costs time; the servers' bodies are made
wherever they are needed. The split follows from the clients, the number of shards and the durations alone, so that
machines that share nothing else agree on it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from statistics import fmean

from pinctl.model.matrix import Cell, Matrix, Verdict, worst

Durations = Mapping[str, Mapping[str, float]]
"""By component and client label, how many seconds the cells of a client took."""

Split = tuple[tuple[str, ...], ...]
"""The labels of each shard's clients, first shard first."""

_NUMBER = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ShardNumber:
    """Which shard of how many; counted from 1."""

    count: int
    index: int

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


def parse_shard_number(text: str) -> ShardNumber | None:
    """Takes `2/4` apart; None where it is no such thing."""
    found = _NUMBER.fullmatch(text)
    if found is None or int(found[1]) > int(found[2]):
        return None
    return ShardNumber(index=int(found[1]), count=int(found[2]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What all shards of one run have in common.

    Attributes:
        plan: the plan's name.
        servers: the labels on one axis.
        clients: the labels on the other, each with its component.
        required: the (server, client) labels that must be ok, sorted; None means every cell.
        split: which shard has which clients.
        inputs: what the cells are run on, by what it is.
    """

    plan: str
    servers: tuple[str, ...]
    clients: Mapping[str, str]
    required: tuple[tuple[str, str], ...] | None
    split: Split
    inputs: Mapping[str, str]

    @property
    def numbers(self) -> tuple[ShardNumber, ...]:
        """The shards there are."""
        return tuple(ShardNumber(index=index, count=len(self.split)) for index in range(1, len(self.split) + 1))

    def pairs_of(self, number: ShardNumber) -> tuple[tuple[str, str], ...]:
        """Returns the (server, client) labels of a shard's cells, in the order in which one run has them."""
        clients = self.split[number.index - 1]
        return tuple((server, client) for server in self.servers for client in clients)

    def differences(self, other: "Layout") -> tuple[str, ...]:
        """Says in which respects another layout is of other inputs; empty where the two are the same."""
        found = []
        for name in dict.fromkeys((*self.inputs, *other.inputs)):
            ours, theirs = self.inputs.get(name, "absent"), other.inputs.get(name, "absent")
            if ours != theirs:
                found.append(f"{name}: {theirs}, not {ours}")
        for field in fields(self):
            ours, theirs = getattr(self, field.name), getattr(other, field.name)
            if field.name != "inputs" and ours != theirs:
                found.append(f"{field.name}: {_words(theirs)}, not {_words(ours)}")
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """What one machine found.

    Attributes:
        seconds: by client, how long its cells took; without those whose every answer was known before.
    """

    number: ShardNumber
    layout: Layout
    cells: tuple[Cell, ...]
    seconds: Mapping[str, float]

    @property
    def matrix(self) -> Matrix:
        """The shard's own cells."""
        clients = self.layout.split[self.number.index - 1]
        required = self.layout.required
        return Matrix(
            plan=self.layout.plan,
            servers=self.layout.servers,
            clients=clients,
            cells=self.cells,
            required=None if required is None else frozenset(pair for pair in required if pair[1] in clients),
        )

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of its required cells; ok where it has none: the others may have them."""
        matrix = self.matrix
        verdicts = tuple(cell.verdict for cell in self.cells if matrix.is_required(cell))
        return worst(verdicts) if verdicts else Verdict.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What the shards of one run found together.

    Attributes:
        missing: the shards that have cells and are not there; their cells are unknown.
    """

    matrix: Matrix
    missing: tuple[ShardNumber, ...]

    @property
    def verdict(self) -> Verdict:
        """The matrix's verdict; never ok while a shard is missing."""
        return worst((self.matrix.verdict, *(Verdict.UNKNOWN for _ in self.missing)))


def split(clients: Mapping[str, str], count: int, durations: Durations) -> Split:
    """Splits clients among shards, the longest first, each to the shard that has least to do.

    Args:
        clients: the labels in the matrix's order, each with its component.
        count: how many shards.
        durations: how long clients took before. One that is not in there counts as the mean of its component, else as
            the mean of all.

    Returns:
        The clients of each shard. Every client is in one of them; some may be empty.
    """
    weights = {client: _weight(client, component, durations) for client, component in clients.items()}
    order = {client: place for place, client in enumerate(clients)}
    shards: list[list[str]] = [[] for _ in range(count)]
    loads = [0.0] * count
    for client in sorted(clients, key=lambda client: (-weights[client], order[client])):
        lightest = min(range(count), key=lambda index: (loads[index], len(shards[index]), index))
        shards[lightest].append(client)
        loads[lightest] += weights[client]
    return tuple(tuple(sorted(shard, key=order.__getitem__)) for shard in shards)


def joined(layout: Layout, shards: Iterable[Shard]) -> Merged:
    """Joins shards of one layout to the matrix that one run would have found.

    Args:
        layout: what they have in common.
        shards: at most one of each number.

    Returns:
        The matrix, in which the cells of missing shards are unknown.
    """
    there = {shard.number: shard for shard in shards}
    missing = tuple(number for number in layout.numbers if number not in there and layout.pairs_of(number))
    cells = {(cell.server, cell.client): cell for shard in there.values() for cell in shard.cells}
    for number in missing:
        for server, client in layout.pairs_of(number):
            component = layout.clients[client]
            setup = f"shard {number} is not there"
            cells[server, client] = Cell(server=server, client=client, component=component, setup=setup)
    matrix = Matrix(
        plan=layout.plan,
        servers=layout.servers,
        clients=tuple(layout.clients),
        cells=tuple(cells[server, client] for server in layout.servers for client in layout.clients),
        required=None if layout.required is None else frozenset(layout.required),
    )
    return Merged(matrix=matrix, missing=missing)


def updated(durations: Durations, clients: Mapping[str, str], seconds: Mapping[str, float]) -> Durations:
    """Returns durations with what a run took, the newest last, and no more of a component than are of use."""
    result = {component: dict(known) for component, known in durations.items()}
    for client, took in seconds.items():
        known = result.setdefault(clients[client], {})
        known.pop(client, None)
        known[client] = took
    return {component: dict(list(known.items())[-_KEPT:]) for component, known in result.items()}


_KEPT = 50


def _weight(client: str, component: str, durations: Durations) -> float:
    known = durations.get(component, {})
    if client in known:
        return known[client]
    return _mean(known.values()) or _mean(took for ours in durations.values() for took in ours.values()) or 1.0


def _mean(values: Iterable[float]) -> float:
    found = tuple(values)
    return fmean(found) if found else 0.0


def _words(value: object) -> str:
    match value:
        case None:
            return "every cell"
        case str():
            return value
        case Mapping():
            return ", ".join(value)
        case tuple():
            return " | ".join(" ".join(map(str, part)) if isinstance(part, tuple) else str(part) for part in value)
        case _:
            return repr(value)
