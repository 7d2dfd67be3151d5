"""Runs a part of a matrix, and joins the parts that several machines have run."""

import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pinctl import __version__
from pinctl.errors import BadInputError
from pinctl.flows.matrix.run import run_matrix
from pinctl.flows.matrix.selection import Selection
from pinctl.flows.matrix.steps import Clock
from pinctl.model.matrix import Matrix
from pinctl.model.need import spared_matrix
from pinctl.model.progress import Listener
from pinctl.model.shard import Durations, Layout, Merged, Shard, ShardNumber, joined, split, updated
from pinctl.model.variant import Client, Code, Recorded, Server
from pinctl.tools.answers import digest_of_file
from pinctl.tools.files.recording import INDEX
from pinctl.tools.files.shard_file import read_durations, read_shard, shard_paths, write_durations

MOST_SHARDS = 20
"""As many jobs as GitHub runs at a time for an account without a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A matrix, with how long its clients took."""

    matrix: Matrix
    seconds: Mapping[str, float]


def run_timed(selection: Selection, *, durations: Path | None, tell: Listener) -> Matrix:
    """Runs a whole matrix, and brings a file of durations up to date where one is named."""
    before = read_durations(durations) if durations is not None else {}
    found = _run(selection, selection.clients, tell)
    if durations is not None:
        write_durations(durations, updated(before, _components(selection), found.seconds))
    return found.matrix


def run_shard(selection: Selection, number: ShardNumber, *, durations: Path | None, tell: Listener) -> Shard:
    """Runs the cells of one shard."""
    layout = _layout(selection, number.count, read_durations(durations) if durations is not None else {})
    mine = layout.split[number.index - 1]
    found = _run(selection, tuple(client for client in selection.clients if client.label in mine), tell)
    return Shard(number=number, layout=layout, cells=found.matrix.cells, seconds=found.seconds)


def lay_out_shards(selection: Selection, count: int | None, *, durations: Path | None) -> Layout:
    """Says which shard would have which clients; runs nothing.

    Args:
        selection: what is to be run.
        count: how many shards at most; None for one a client, up to `MOST_SHARDS`. There are never more than clients.
        durations: a file of durations.
    """
    count = max(1, min(count or MOST_SHARDS, len(selection.clients)))
    return _layout(selection, count, read_durations(durations) if durations is not None else {})


def merge_shards(name: str, paths: tuple[Path, ...], *, durations: Path | None) -> Merged:
    """Joins the files of shards to what one run would have found.

    Args:
        name: the plan's name.
        paths: files, or directories of files.
        durations: a file of durations to bring up to date.

    Raises:
        BadInputError: they are not shards of one run of that plan: says which file differs, and in what.
        BadFileError: one is damaged.
    """
    shards = {path: read_shard(path) for path in shard_paths(paths)}
    first, *others = shards
    layout = shards[first].layout
    if layout.plan != name:
        raise BadInputError(
            f"{first} is a shard of the plan {layout.plan}, not of {name}",
            hint=f"Name its plan: pinctl matrix {layout.plan} ... --merge",
        )
    for path in others:
        differences = layout.differences(shards[path].layout)
        if differences:
            details = "".join(f"\n    {line}" for line in differences)
            raise BadInputError(
                f"{path} is no shard of the run that {first} is of:{details}",
                hint="Merge the shards of one run only; give all of them the same --durations.",
            )
    kept: dict[ShardNumber, Path] = {}
    for path, shard in shards.items():
        earlier = kept.setdefault(shard.number, path)
        cells = ", ".join(_unlike(shards[earlier], shard))
        if cells:
            raise BadInputError(
                f"{earlier} and {path} are both shard {shard.number}, and say different things of {cells}",
                hint="Remove one of them.",
            )
    if durations is not None:
        _add_durations(durations, layout, tuple(shards.values()))
    return joined(layout, (shards[path] for path in kept.values()))


def _run(selection: Selection, clients: tuple[Client, ...], tell: Listener) -> Timed:
    clock = Clock()
    if not clients:
        labels = tuple(server.label for server in selection.servers)
        empty = Matrix(plan=selection.plan.name, servers=labels, clients=(), cells=(), required=selection.required)
        return Timed(matrix=empty, seconds={})
    matrix = run_matrix(
        selection.stack,
        selection.plan,
        selection.contract,
        servers=selection.servers,
        clients=clients,
        required=selection.required,
        tell=tell,
        clock=clock,
    )
    matrix = spared_matrix(matrix, selection.waits)
    return Timed(matrix=matrix, seconds=clock.seconds())


def _add_durations(path: Path, layout: Layout, shards: tuple[Shard, ...]) -> None:
    known = read_durations(path)
    for shard in shards:
        known = updated(known, layout.clients, shard.seconds)
    write_durations(path, known)


def _components(selection: Selection) -> dict[str, str]:
    return {client.label: client.component for client in selection.clients}


def _layout(selection: Selection, count: int, durations: Durations) -> Layout:
    clients = _components(selection)
    return Layout(
        plan=selection.plan.name,
        servers=tuple(server.label for server in selection.servers),
        clients=clients,
        required=None if selection.required is None else tuple(sorted(selection.required)),
        split=split(clients, count, durations),
        inputs=_inputs(selection),
    )


def _inputs(selection: Selection) -> dict[str, str]:
    """Names everything that the cells are run on, so that shards of different runs are told apart."""
    contract = selection.contract
    python = ".".join(map(str, sys.version_info[:2]))
    inputs = {
        "pinctl": __version__,
        "Python": f"{platform.python_implementation()} {python}",
        "machine": f"{platform.system()} {platform.machine()}",
        "plan file": _hashed(selection.plan.path),
    }
    for name, probe in (("server", contract.server), *contract.clients.items()):
        inputs[f"probe of {name}"] = _hashed(probe.path)
    for variant in (*selection.servers, *selection.clients):
        inputs[variant.label] = _identity(selection, variant)
    return inputs


def _identity(selection: Selection, variant: Server | Client) -> str:
    match variant:
        case Code(component=component, commit=commit):
            # Each machine stages a commit of its own: the tree is what they have in common.
            stack = selection.stack
            own = stack is not None and component == stack.name
            return f"tree {stack.repository.tree_of(commit)}" if stack is not None and own else f"commit {commit}"
        case Recorded(directory=directory):
            return f"recording {_hashed(directory / INDEX)}"
        case _:
            return variant.label


def _hashed(path: Path) -> str:
    return f"sha256:{digest_of_file(path)}"


def _unlike(one: Shard, other: Shard) -> list[str]:
    """Names the cells in which two shards differ; they have the same cells, maybe in another order."""
    theirs = {(cell.server, cell.client): cell for cell in other.cells}
    return [f"{cell.server} x {cell.client}" for cell in one.cells if theirs[cell.server, cell.client] != cell]
