"""The algebra of verdicts: no order of cells and no further cell makes a matrix look better than it is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.model.matrix import CaseResult, Cell, FieldResult, Matrix, Verdict, worst
from pinctl.model.need import spared
from pinctl.model.plan import Constraint

SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=120)

SERVERS = ("old", "staged", "wire:packed")
CLIENTS = ("renderers@1", "renderers@2", "verifiers@1")
PAIRS = tuple((server, client) for server in SERVERS for client in CLIENTS)
VERDICTS = st.sampled_from(Verdict)
DEFINITE = (Verdict.MISSING, Verdict.REJECTS, Verdict.CORRUPTS)


def case(name: str, *verdicts: Verdict) -> CaseResult:
    return CaseResult(
        case=name,
        fields=tuple(
            FieldResult(field=f"field-{index}", verdict=verdict, reason="" if verdict is Verdict.OK else f"why {index}")
            for index, verdict in enumerate(verdicts)
        ),
    )


def cell(pair: tuple[str, str], *verdicts: Verdict, setup: str | None = None) -> Cell:
    cases = tuple(case(f"case-{index}", verdict) for index, verdict in enumerate(verdicts))
    return Cell(server=pair[0], client=pair[1], component="renderers", cases=cases, setup=setup)


def matrix(cells: list[Cell], required: frozenset[tuple[str, str]] | None = None) -> Matrix:
    return Matrix(plan="plan", servers=SERVERS, clients=CLIENTS, cells=tuple(cells), required=required)


CELLS = st.builds(
    lambda pair, verdicts, setup: cell(pair, *verdicts, setup=setup),
    st.sampled_from(PAIRS),
    st.lists(VERDICTS, max_size=3),
    st.sampled_from([None, None, None, "no environment"]),
)
REQUIRED = st.none() | st.frozensets(st.sampled_from(PAIRS), max_size=4)


def test_verdicts_have_one_order_from_best_to_worst() -> None:
    assert sorted(Verdict, key=lambda verdict: verdict.severity) == [
        Verdict.OK,
        Verdict.UNKNOWN,
        Verdict.MISSING,
        Verdict.REJECTS,
        Verdict.CORRUPTS,
    ]


def test_nothing_at_all_is_unknown() -> None:
    assert worst(()) is Verdict.UNKNOWN
    assert matrix([]).verdict is Verdict.UNKNOWN
    assert matrix([], frozenset()).verdict is Verdict.UNKNOWN
    assert matrix([cell(PAIRS[0], Verdict.OK)], frozenset()).verdict is Verdict.UNKNOWN


@SETTINGS
@given(verdicts=st.lists(VERDICTS, min_size=1), data=st.data())
def test_the_worst_does_not_depend_on_order_or_grouping(verdicts: list[Verdict], data: st.DataObject) -> None:
    expected = max(verdicts, key=list(Verdict).index)
    shuffled = data.draw(st.permutations(verdicts))
    cut = data.draw(st.integers(1, len(verdicts)))
    groups = [part for part in (shuffled[:cut], shuffled[cut:]) if part]
    assert worst(tuple(shuffled)) is expected
    assert worst(tuple(worst(tuple(group)) for group in groups)) is expected


@SETTINGS
@given(cells=st.lists(CELLS, max_size=6), required=REQUIRED, data=st.data())
def test_a_matrix_does_not_depend_on_the_order_of_its_cells(
    cells: list[Cell], required: frozenset[tuple[str, str]] | None, data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(cells))
    assert matrix(list(shuffled), required).verdict is matrix(cells, required).verdict


@SETTINGS
@given(cells=st.lists(CELLS, max_size=6), added=CELLS, required=REQUIRED)
def test_a_further_cell_never_turns_no_into_yes(
    cells: list[Cell], added: Cell, required: frozenset[tuple[str, str]] | None
) -> None:
    before, after = matrix(cells, required).verdict, matrix([*cells, added], required).verdict
    if before in DEFINITE:
        assert after.severity >= before.severity
    has_something = required is None and bool(cells)
    was_there = any((known.server, known.client) == (added.server, added.client) for known in cells)
    if has_something or was_there:
        assert after.severity >= before.severity


@SETTINGS
@given(verdicts=st.lists(st.lists(VERDICTS, max_size=3), max_size=4), data=st.data())
def test_a_cell_does_not_depend_on_the_order_of_its_cases_and_fields(
    verdicts: list[list[Verdict]], data: st.DataObject
) -> None:
    shuffled = [data.draw(st.permutations(fields)) for fields in data.draw(st.permutations(verdicts))]
    cells = [
        Cell(
            server="old",
            client="new",
            component="renderers",
            cases=tuple(case(f"case-{index}", *fields) for index, fields in enumerate(found)),
        )
        for found in (verdicts, shuffled)
    ]
    assert cells[0].verdict is cells[1].verdict


@SETTINGS
@given(verdicts=st.lists(VERDICTS, min_size=1, max_size=4), more=VERDICTS)
def test_a_further_case_or_field_never_makes_a_cell_better(verdicts: list[Verdict], more: Verdict) -> None:
    before = cell(PAIRS[0], *verdicts).verdict
    assert cell(PAIRS[0], *verdicts, more).verdict.severity >= before.severity
    assert case("case", *verdicts, more).verdict.severity >= case("case", *verdicts).verdict.severity


@SETTINGS
@given(cells=st.lists(CELLS, max_size=6), required=st.frozensets(st.sampled_from(PAIRS), min_size=1, max_size=4))
def test_asking_for_one_more_cell_never_turns_no_into_yes(
    cells: list[Cell], required: frozenset[tuple[str, str]]
) -> None:
    before = matrix(cells, required).verdict
    assert all(matrix(cells, required | {pair}).verdict.severity >= before.severity for pair in PAIRS)


@SETTINGS
@given(cells=st.lists(CELLS, min_size=1, max_size=6), data=st.data())
def test_a_cell_that_corrupts_is_what_the_matrix_says(cells: list[Cell], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(cells) - 1))
    worse = cell((cells[place].server, cells[place].client), Verdict.CORRUPTS)
    assert matrix([*cells[:place], worse, *cells[place + 1 :]]).verdict is Verdict.CORRUPTS


@SETTINGS
@given(verdicts=st.lists(VERDICTS, min_size=1, max_size=5), waiting=st.sets(st.integers(0, 4)))
def test_what_waits_does_not_count_and_all_the_rest_does(verdicts: list[Verdict], waiting: set[int]) -> None:
    cases = cell(PAIRS[0], *verdicts).cases
    constraint = Constraint(feature="f", together=("a", "b"), cases=tuple(f"case-{index}" for index in sorted(waiting)))
    made = spared(cell(PAIRS[0], *verdicts), (constraint,) if waiting else ())
    left = tuple(item.verdict for index, item in enumerate(cases) if index not in waiting)
    assert made.verdict is worst(left)
    assert made.is_asked == bool(left)


@SETTINGS
@given(cells=st.lists(CELLS, max_size=6), required=REQUIRED)
def test_a_matrix_is_ok_only_where_every_required_cell_is_there_and_ok(
    cells: list[Cell], required: frozenset[tuple[str, str]] | None
) -> None:
    wanted = {(known.server, known.client) for known in cells} if required is None else required
    by_pair = {pair: [known for known in cells if (known.server, known.client) == pair] for pair in wanted}
    all_fine = bool(by_pair) and all(
        found and all(known.verdict is Verdict.OK for known in found) for found in by_pair.values()
    )
    assert (matrix(cells, required).verdict is Verdict.OK) == all_fine


@pytest.mark.parametrize(
    ("there", "expected"),
    [(Verdict.OK, Verdict.UNKNOWN), (Verdict.UNKNOWN, Verdict.UNKNOWN)] + [(v, v) for v in DEFINITE],
)
def test_a_required_cell_that_was_not_run_is_unknown_beside_the_others(there: Verdict, expected: Verdict) -> None:
    assert matrix([cell(PAIRS[0], there)], frozenset(PAIRS[:2])).verdict is expected


def test_a_second_cell_of_the_same_pair_does_not_stand_for_the_one_that_was_not_run() -> None:
    twice = [cell(PAIRS[0], Verdict.OK), cell(PAIRS[0], Verdict.OK)]
    assert matrix(twice, frozenset(PAIRS[:2])).verdict is Verdict.UNKNOWN


def test_a_cell_that_is_not_required_does_not_count() -> None:
    cells = [cell(PAIRS[0], Verdict.OK), cell(PAIRS[1], Verdict.CORRUPTS)]
    found = matrix(cells, frozenset(PAIRS[:1]))
    assert found.verdict is Verdict.OK
    assert [found.is_required(one) for one in cells] == [True, False]
    assert [matrix(cells).is_required(one) for one in cells] == [True, True]


def test_a_matrix_finds_its_cells_by_label() -> None:
    cells = [cell(PAIRS[0], Verdict.OK), cell(PAIRS[1], Verdict.CORRUPTS)]
    assert matrix(cells).cell(*PAIRS[1]) is cells[1]
    assert matrix(cells).cell(*PAIRS[2]) is None


@pytest.mark.parametrize(
    ("made", "verdict", "reason"),
    [
        (cell(PAIRS[0]), Verdict.UNKNOWN, "no case was run"),
        (cell(PAIRS[0], setup="uv cannot"), Verdict.UNKNOWN, "uv cannot"),
        (cell(PAIRS[0], Verdict.CORRUPTS, setup="uv cannot"), Verdict.UNKNOWN, "uv cannot"),
        (cell(PAIRS[0], Verdict.OK, Verdict.OK), Verdict.OK, ""),
        (cell(PAIRS[0], Verdict.OK, Verdict.UNKNOWN), Verdict.UNKNOWN, "case-1: field-0: why 0"),
        (
            cell(PAIRS[0], Verdict.MISSING, Verdict.REJECTS, Verdict.OK, Verdict.REJECTS),
            Verdict.REJECTS,
            "case-1: field-0: why 0",
        ),
    ],
)
def test_a_cell_is_its_worst_case_and_says_which(made: Cell, verdict: Verdict, reason: str) -> None:
    assert (made.verdict, made.reason) == (verdict, reason)


@pytest.mark.parametrize(
    ("made", "verdict", "reason"),
    [
        (case("none"), Verdict.UNKNOWN, "the client needs no field of this case"),
        (case("fine", Verdict.OK, Verdict.OK), Verdict.OK, ""),
        (case("worst", Verdict.MISSING, Verdict.CORRUPTS, Verdict.OK), Verdict.CORRUPTS, "field-1: why 1"),
        (case("unknown", Verdict.OK, Verdict.UNKNOWN), Verdict.UNKNOWN, "field-1: why 1"),
    ],
)
def test_a_case_is_its_worst_field_and_says_which(made: CaseResult, verdict: Verdict, reason: str) -> None:
    assert (made.verdict, made.reason) == (verdict, reason)


def test_a_cell_of_which_a_case_has_no_fields_is_not_ok() -> None:
    half = Cell(server="old", client="new", component="renderers", cases=(case("fine", Verdict.OK), case("none")))
    assert half.verdict is Verdict.UNKNOWN
    assert half.reason == "none: the client needs no field of this case"
