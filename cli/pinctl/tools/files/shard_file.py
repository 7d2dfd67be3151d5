"""Reads the files in which shards hand on what they found, and the file of durations; writes the latter."""

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field, ValidationError

from pinctl.errors import BadFileError, BadInputError, Mistake
from pinctl.model.matrix import Cell
from pinctl.model.shard import Durations, Layout, Shard, ShardNumber, parse_shard_number
from pinctl.tools.files.declaration import Shape, Text, Version, words_of
from pinctl.tools.toml.source import dotted

_HOW = "Shards are written by: pinctl matrix NAME --shard I/N --format json"
_PLACE = re.compile(r" at line (\d+) column \d+$")

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Shard(Shape):
    version: Version
    shard: Text
    plan: Text
    servers: tuple[Text, ...]
    clients: dict[str, str]
    required: tuple[tuple[Text, Text], ...] | None
    split: tuple[tuple[Text, ...], ...]
    inputs: dict[str, str]
    seconds: dict[str, Seconds]
    cells: tuple[Cell, ...]


class _Durations(Shape):
    version: Version
    seconds: dict[str, dict[str, Seconds]]


FileT = TypeVar("FileT", bound=Shape)


def shard_paths(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Returns the files that paths name; for a directory, every .json file in it and below it.

    Raises:
        BadInputError: a path is not there, or a directory holds none.
    """
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise BadInputError(f"{path} is not there", hint=_HOW)
        files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        if not files:
            raise BadInputError(f"{path} holds no .json file", hint=_HOW)
        found += files
    return tuple(dict.fromkeys(found))


def read_shard(path: Path) -> Shard:
    """Reads what one shard found.

    Raises:
        BadInputError: the file cannot be read.
        BadFileError: it holds mistakes.
    """
    file = _read(path, _Shard, hint=_HOW)
    layout = Layout(
        plan=file.plan,
        servers=file.servers,
        clients=file.clients,
        required=file.required,
        split=file.split,
        inputs=file.inputs,
    )
    number = parse_shard_number(file.shard)
    mistakes = tuple(_mistakes(file, layout, number))
    if number is None or mistakes:
        raise BadFileError(path, mistakes, hint=_HOW)
    return Shard(number=number, layout=layout, cells=file.cells, seconds=file.seconds)


def read_durations(path: Path) -> Durations:
    """Reads how long clients took; nothing is known where the file is not there yet.

    Raises:
        BadInputError: the file cannot be read.
        BadFileError: it holds mistakes.
    """
    if not path.exists():
        return {}
    return _read(path, _Durations, hint="Remove it: a run without it balances less well, and writes it anew.").seconds


def write_durations(path: Path, durations: Durations) -> None:
    """Writes how long clients took, wholly or not at all.

    Raises:
        BadInputError: it cannot be written.
    """
    text = json.dumps({"version": 1, "seconds": durations}, indent=2) + "\n"
    try:
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError as error:
        raise BadInputError(f"{path} cannot be written: {error.strerror}") from error


def _read(path: Path, shape: type[FileT], *, hint: str) -> FileT:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInputError(f"{path} cannot be read: {error.strerror}") from error
    try:
        return shape.model_validate_json(data)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        mistakes = tuple(_mistake(problem["loc"], problem["type"], problem["msg"]) for problem in problems)
        raise BadFileError(path, mistakes, hint=hint) from error


def _mistake(loc: tuple[int | str, ...], kind: str, text: str) -> Mistake:
    if kind == "json_invalid":
        place = _PLACE.search(text)
        words = _PLACE.sub("", text.removeprefix("Invalid JSON: "))
        return Mistake(key="", line=int(place[1]) if place else None, message=f"is no JSON: {words}")
    return Mistake(key=dotted(loc), line=None, message=words_of(kind, text))


def _mistakes(file: _Shard, layout: Layout, number: ShardNumber | None) -> Iterator[Mistake]:
    """Finds what the shape of the file cannot say: whether its parts fit together."""
    if number is None or number.count != len(file.split):
        yield Mistake(key="shard", line=None, message=f"{file.shard!r} is none of {len(file.split)} shards")
        return
    in_shards = [client for clients in file.split for client in clients]
    if sorted(in_shards) != sorted(file.clients):
        yield Mistake(key="split", line=None, message="does not have every client once")
        return
    pairs = set(layout.pairs_of(number))
    known = {(server, client) for server in file.servers for client in file.clients}
    for index, pair in enumerate(file.required or ()):
        if pair not in known:
            yield Mistake(key=f"required[{index}]", line=None, message=f"{' x '.join(pair)} is no cell")
    for index, cell in enumerate(file.cells):
        pair = (cell.server, cell.client)
        if pair not in pairs or cell.component != file.clients[cell.client]:
            words = f"{cell.server} x {cell.client} is no cell of shard {number}, or is there twice"
            yield Mistake(key=f"cells[{index}]", line=None, message=words)
        pairs.discard(pair)
    for server, client in sorted(pairs):
        yield Mistake(key="cells", line=None, message=f"{server} x {client} is missing")
    for client in file.seconds:
        if client not in file.split[number.index - 1]:
            yield Mistake(key=dotted(("seconds", client)), line=None, message=f"is no client of shard {number}")
