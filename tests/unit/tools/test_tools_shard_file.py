"""The files of shards: read back as they were, and refused by file and place where they are damaged."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pinctl.errors import BadFileError, BadInputError
from pinctl.model.matrix import CaseResult, Cell, FieldResult, Verdict
from pinctl.model.shard import Layout, Shard, ShardNumber
from pinctl.render.shards import shard_json
from pinctl.tools.files.shard_file import read_durations, read_shard, shard_paths, write_durations

LAYOUT = Layout(
    plan="packed",
    servers=("prime-rl@main", "wire:packed"),
    clients={"renderers@1": "renderers", "verifiers@1": "verifiers"},
    required=(("prime-rl@main", "renderers@1"),),
    split=(("renderers@1",), ("verifiers@1",)),
    inputs={"plan file": "sha256:1"},
)
BAD = FieldResult(
    field="logprobs", verdict=Verdict.CORRUPTS, reason="wrong \U0001f980\n|", evidence="expected 1, got 2"
)
SHARD = Shard(
    number=ShardNumber(index=1, count=2),
    layout=LAYOUT,
    cells=(
        Cell(
            server="prime-rl@main",
            client="renderers@1",
            component="renderers",
            cases=(CaseResult(case="greedy", fields=(BAD,)), CaseResult(case="empty", fields=())),
        ),
        Cell(server="wire:packed", client="renderers@1", component="renderers", setup="no environment"),
    ),
    seconds={"renderers@1": 1.5},
)


def written(directory: Path, change: Callable[[dict[str, Any]], object] = lambda _: None) -> Path:
    data = json.loads(json.dumps(shard_json(SHARD)))
    change(data)
    path = directory / "shard.json"
    path.write_text(json.dumps(data, indent=2))
    return path


def test_a_shard_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_shard(written(tmp_path)) == SHARD


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.update(version=2), "version: must be 1"),
        (lambda data: data.pop("inputs"), "inputs: is missing"),
        (lambda data: data.update(shards="1/2"), "shards: is no key of this table"),
        (lambda data: data.update(shard="3/2"), "shard: '3/2' is none of 2 shards"),
        (lambda data: data.update(shard="1/3"), "shard: '1/3' is none of 2 shards"),
        (lambda data: data.update(split=[["renderers@1"], []]), "split: does not have every client once"),
        (lambda data: data.update(required=[["x", "y"]]), "required[0]: x x y is no cell"),
        (lambda data: data["cells"].pop(), "cells: wire:packed x renderers@1 is missing"),
        (
            lambda data: data["cells"].append(data["cells"][0]),
            "cells[2]: prime-rl@main x renderers@1 is no cell of shard 1/2, or is there twice",
        ),
        (
            lambda data: data["cells"][0].update(client="verifiers@1"),
            (
                "cells[0]: prime-rl@main x verifiers@1 is no cell of shard 1/2, or is there twice\n"
                "PATH: cells: prime-rl@main x renderers@1 is missing"
            ),
        ),
        (
            lambda data: data["cells"][0]["cases"][0]["fields"][0].update(verdict="fine"),
            "cells[0].cases[0].fields[0].verdict: must be 'ok', 'unknown', 'missing', 'rejects' or 'corrupts'",
        ),
        (lambda data: data["cells"][1].update(setup=3), "cells[1].setup: must be a string"),
        (lambda data: data["cells"][1].update(extra=3), "cells[1].extra: is no key of this table"),
        (lambda data: data["cells"][1].pop("component"), "cells[1].component: is missing"),
        (lambda data: data["cells"].append(3), "cells[2]: must be a table"),
        (lambda data: data["seconds"].update(x=-1), "seconds.x: must be greater than or equal to 0"),
        (lambda data: data["seconds"].update({"verifiers@1": 1}), "seconds.verifiers@1: is no client of shard 1/2"),
    ],
)
def test_a_damaged_shard_is_named_with_the_place(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    path = written(tmp_path, change)
    with pytest.raises(BadFileError) as caught:
        read_shard(path)
    assert caught.value.message == f"{path}: {words.replace('PATH', str(path))}"
    assert caught.value.hint is not None


@pytest.mark.parametrize(
    ("data", "line"),
    [(b"", 1), (b"{", 1), (b'{\n"version": 1,\n"shard": nope}', 3), (b"[" * 100_000, 1), (b'{"a": "\xff"}', 1)],
)
def test_what_is_no_json_is_named_with_its_line(tmp_path: Path, data: bytes, line: int) -> None:
    path = tmp_path / "shard.json"
    path.write_bytes(data)
    with pytest.raises(BadFileError) as caught:
        read_shard(path)
    assert caught.value.message.startswith(f"{path}:{line}: is no JSON: ")


def test_directories_hold_shards_at_any_depth(tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    files = [tmp_path / "one.json", tmp_path / "two/b.json"]
    for file in (*files, tmp_path / "notes.txt"):
        file.write_text("{}")
    assert shard_paths([tmp_path, files[0]]) == tuple(files)
    with pytest.raises(BadInputError, match="is not there"):
        shard_paths([tmp_path / "none"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInputError, match=r"holds no \.json file"):
        shard_paths([tmp_path / "empty"])


def test_durations_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "durations.json"
    assert read_durations(path) == {}
    write_durations(path, {"renderers": {"renderers@1": 2.5}})
    assert read_durations(path) == {"renderers": {"renderers@1": 2.5}}
    assert [entry.name for entry in tmp_path.iterdir()] == ["durations.json"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"version": 1, "seconds": {"a": {"b": -1}}}', ": seconds.a.b: must be greater than or equal to 0"),
        ('{"version": 1, "seconds": {"a": {"b": NaN}}}', ": seconds.a.b: must be a finite number"),
        ('{"version": 1, "seconds": 3}', ": seconds: must be a table"),
        ("", ":1: is no JSON: EOF while parsing a value"),
    ],
)
def test_damaged_durations_are_named_with_the_place(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "durations.json"
    path.write_text(text)
    with pytest.raises(BadFileError) as caught:
        read_durations(path)
    assert caught.value.message == f"{path}{words}"


def test_durations_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"none/durations\.json cannot be written: No such file or directory"):
        write_durations(tmp_path / "none/durations.json", {})
