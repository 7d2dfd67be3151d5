"""Shards: every cell is in exactly one, every machine splits alike, and joined they are what one run finds."""

from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.model.matrix import CaseResult, Cell, FieldResult, Matrix, Verdict
from pinctl.model.shard import Layout, Shard, ShardNumber, joined, parse_shard_number, split, updated

SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=150)
SERVERS = ("prime-rl@main", "wire:packed")
COMPONENTS = st.sampled_from(("renderers", "verifiers"))
CLIENTS = st.lists(COMPONENTS, min_size=1, max_size=7).map(
    lambda components: {f"{component}@{number}": component for number, component in enumerate(components)}
)
SECONDS = st.floats(min_value=0, max_value=1e6, allow_nan=False)
DURATIONS = st.dictionaries(
    COMPONENTS, st.dictionaries(st.integers(0, 7).map(lambda n: f"renderers@{n}"), SECONDS, max_size=4), max_size=2
)


def cell(server: str, client: str, component: str, verdict: Verdict) -> Cell:
    field = FieldResult(field="logprobs", verdict=verdict, reason="" if verdict is Verdict.OK else f"why {verdict}")
    return Cell(server=server, client=client, component=component, cases=(CaseResult(case="greedy", fields=(field,)),))


def layout_of(clients: Mapping[str, str], count: int, *, required: tuple[tuple[str, str], ...] | None = None) -> Layout:
    parts = split(clients, count, {})
    return Layout(plan="plan", servers=SERVERS, clients=clients, required=required, split=parts, inputs={"tree": "a"})


def shards_of(layout: Layout, matrix: Matrix) -> list[Shard]:
    shards = []
    for number in layout.numbers:
        cells = (matrix.cell(server, client) for server, client in layout.pairs_of(number))
        shards.append(Shard(number=number, layout=layout, cells=tuple(filter(None, cells)), seconds={}))
    return shards


def matrix_of(layout: Layout, verdicts: list[Verdict]) -> Matrix:
    pairs = [(server, client) for server in layout.servers for client in layout.clients]
    return Matrix(
        plan="plan",
        servers=SERVERS,
        clients=tuple(layout.clients),
        cells=tuple(
            cell(server, client, layout.clients[client], verdicts[index % len(verdicts)])
            for index, (server, client) in enumerate(pairs)
        ),
        required=None if layout.required is None else frozenset(layout.required),
    )


@pytest.mark.parametrize(
    "text", ["0/4", "5/4", "1/0", "-1/4", "1", "1/", "/4", "1/4/2", "01/4", "1 /4", "a/b", "1/4\n", ""]
)
def test_what_is_no_number_of_a_shard(text: str) -> None:
    assert parse_shard_number(text) is None


def test_a_number_of_a_shard() -> None:
    number = parse_shard_number("2/4")
    assert (number, str(number)) == (ShardNumber(index=2, count=4), "2/4")
    assert parse_shard_number("1/1") == ShardNumber(index=1, count=1)


@SETTINGS
@given(clients=CLIENTS, count=st.integers(1, 12), durations=DURATIONS)
def test_every_client_is_in_exactly_one_shard(
    clients: dict[str, str], count: int, durations: dict[str, dict[str, float]]
) -> None:
    parts = split(clients, count, durations)
    assert len(parts) == count
    assert sorted(client for part in parts for client in part) == sorted(clients)
    assert parts == split(dict(clients), count, {name: dict(known) for name, known in reversed(durations.items())})


@SETTINGS
@given(clients=CLIENTS, count=st.integers(1, 9))
def test_without_durations_shards_are_of_one_size(clients: dict[str, str], count: int) -> None:
    sizes = [len(part) for part in split(clients, count, {})]
    assert max(sizes) - min(sizes) <= 1


def test_the_longest_go_apart() -> None:
    clients = {
        "renderers@1": "renderers",
        "renderers@2": "renderers",
        "verifiers@1": "verifiers",
        "verifiers@2": "verifiers",
    }
    durations = {
        "renderers": {"renderers@1": 90.0, "renderers@2": 10.0},
        "verifiers": {"verifiers@1": 80.0, "verifiers@2": 15.0},
    }
    assert split(clients, 2, durations) == (("renderers@1", "renderers@2"), ("verifiers@1", "verifiers@2"))
    assert split(clients, 3, durations) == (("renderers@1",), ("verifiers@1",), ("renderers@2", "verifiers@2"))


def test_a_client_that_nobody_knows_counts_as_the_mean_of_its_component() -> None:
    clients = {
        "renderers@new": "renderers",
        "verifiers@new": "verifiers",
        "verifiers@old": "verifiers",
        "third@new": "third",
    }
    durations = {"renderers": {"renderers@a": 100.0}, "verifiers": {"verifiers@old": 4.0, "verifiers@b": 8.0}}
    # 100, 6, 4, and for the third the mean of all: 37.
    assert split(clients, 2, durations) == (("renderers@new",), ("verifiers@new", "verifiers@old", "third@new"))


@SETTINGS
@given(
    clients=CLIENTS,
    count=st.integers(1, 9),
    verdicts=st.lists(st.sampled_from(Verdict), min_size=1, max_size=9),
    some=st.booleans(),
    order=st.randoms(use_true_random=False),
)
def test_all_shards_in_any_order_are_what_one_run_finds(
    clients: dict[str, str], count: int, verdicts: list[Verdict], *, some: bool, order: Random
) -> None:
    required = tuple((SERVERS[0], client) for client in sorted(clients)[:2]) if some else None
    layout = layout_of(clients, count, required=required)
    matrix = matrix_of(layout, verdicts)
    shards = shards_of(layout, matrix)
    order.shuffle(shards)
    merged = joined(layout, shards)
    assert merged.matrix == matrix
    assert merged.missing == ()
    assert merged.verdict is matrix.verdict


@SETTINGS
@given(clients=CLIENTS, count=st.integers(1, 9), lost=st.integers(1, 9), required=st.booleans())
def test_a_missing_shard_is_named_and_its_cells_are_unknown(
    clients: dict[str, str], count: int, lost: int, *, required: bool
) -> None:
    layout = layout_of(clients, count, required=None if required else ((SERVERS[0], next(iter(clients))),))
    matrix = matrix_of(layout, [Verdict.OK])
    gone = ShardNumber(index=min(lost, count), count=count)
    merged = joined(layout, [shard for shard in shards_of(layout, matrix) if shard.number != gone])
    pairs = set(layout.pairs_of(gone))
    assert merged.missing == ((gone,) if pairs else ())
    assert merged.verdict is (Verdict.UNKNOWN if pairs else Verdict.OK)
    for found in merged.matrix.cells:
        is_lost = (found.server, found.client) in pairs
        assert found.verdict is (Verdict.UNKNOWN if is_lost else Verdict.OK)
        assert found.reason == (f"shard {gone} is not there" if is_lost else "")


def test_what_is_known_to_be_wrong_outweighs_a_missing_shard() -> None:
    layout = layout_of({"renderers@1": "renderers", "verifiers@1": "verifiers"}, 2)
    first, _ = shards_of(layout, matrix_of(layout, [Verdict.CORRUPTS]))
    assert joined(layout, [first]).verdict is Verdict.CORRUPTS


def test_a_shard_answers_for_its_own_required_cells() -> None:
    layout = layout_of(
        {"renderers@1": "renderers", "verifiers@1": "verifiers"}, 3, required=((SERVERS[0], "renderers@1"),)
    )
    bad, others, empty = shards_of(layout, matrix_of(layout, [Verdict.REJECTS]))
    assert [shard.verdict for shard in (bad, others, empty)] == [Verdict.REJECTS, Verdict.OK, Verdict.OK]


def test_layouts_say_in_what_they_differ() -> None:
    one = layout_of({"renderers@1": "renderers"}, 1)
    other = layout_of(
        {"renderers@1": "renderers", "verifiers@1": "verifiers"}, 2, required=((SERVERS[0], "renderers@1"),)
    )
    assert one.differences(layout_of({"renderers@1": "renderers"}, 1)) == ()
    assert one.differences(other) == (
        "clients: renderers@1, verifiers@1, not renderers@1",
        "required: prime-rl@main renderers@1, not every cell",
        "split: renderers@1 | verifiers@1, not renderers@1",
    )


def test_durations_keep_what_was_not_run_and_forget_the_oldest() -> None:
    before = {"renderers": {f"renderers@{number}": 1.0 for number in range(50)}}
    after = updated(
        before, {"renderers@0": "renderers", "verifiers@1": "verifiers"}, {"renderers@0": 9.0, "verifiers@1": 2.5}
    )
    assert after["renderers"] == {**{f"renderers@{number}": 1.0 for number in range(1, 50)}, "renderers@0": 9.0}
    assert after["verifiers"] == {"verifiers@1": 2.5}
    more = updated(after, {"renderers@new": "renderers"}, {"renderers@new": 3.0})
    assert len(more["renderers"]) == 50
    assert "renderers@1" not in more["renderers"]
    assert list(more["renderers"])[-1] == "renderers@new"
