"""Judges decoded values: what is right, what is refused, and what is wrong without anybody saying so."""

import math
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.model.judgement import Decoded, judge_absent, judge_read, judge_relayed
from pinctl.model.matrix import FieldResult, Verdict

SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=150)

EXPERTS = {"ids": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], "start": 1}
NO_EXPERTS: dict[str, Any] = {"ids": [], "start": 1}
MASK = [[8, 3], [9], []]
TRUTHS = [("logprobs", [-0.5, -2.0]), ("sampling_mask", MASK), ("routed_experts", EXPERTS)]
EMPTY_TRUTHS: list[tuple[str, Any]] = [("logprobs", []), ("sampling_mask", []), ("routed_experts", NO_EXPERTS)]


def float32(value: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def result(field: str, verdict: Verdict, reason: str = "", evidence: str = "") -> FieldResult:
    return FieldResult(field=field, verdict=verdict, reason=reason, evidence=evidence)


def read(field: str, truth: Any, value: Any) -> FieldResult:
    return judge_read(field, truth=truth, decoded=Decoded(value=value))


@pytest.mark.parametrize(("field", "truth"), TRUTHS)
def test_the_true_value_is_ok(field: str, truth: Any) -> None:
    assert read(field, truth, truth) == result(field, Verdict.OK)


@pytest.mark.parametrize(("field", "truth"), TRUTHS + EMPTY_TRUTHS)
def test_a_probe_that_fails_says_nothing_about_the_client(field: str, truth: Any) -> None:
    failed = Decoded(value=truth, refusal="ValueError", failure="the probe ended with status 1")
    assert judge_read(field, truth=truth, decoded=failed) == result(
        field, Verdict.UNKNOWN, "the probe ended with status 1"
    )


@pytest.mark.parametrize(("field", "truth"), TRUTHS + EMPTY_TRUTHS)
def test_refusing_what_is_right_is_loud(field: str, truth: Any) -> None:
    refused = Decoded(refusal="KeyError: 'content'")
    assert judge_read(field, truth=truth, decoded=refused) == result(field, Verdict.REJECTS, "KeyError: 'content'")


@pytest.mark.parametrize(("field", "truth"), TRUTHS)
def test_nothing_where_there_is_a_value_is_missing(field: str, truth: Any) -> None:
    assert read(field, truth, None) == result(
        field, Verdict.MISSING, "the client found no such field, and did not object"
    )


@pytest.mark.parametrize(("field", "truth"), TRUTHS)
@pytest.mark.parametrize("empty", [[], {}, "", {"ids": [], "start": 1}])
def test_something_empty_where_there_is_a_value_is_missing(field: str, truth: Any, empty: Any) -> None:
    assert read(field, truth, empty) == result(
        field, Verdict.MISSING, "the client handed on an empty value, and did not object"
    )


@pytest.mark.parametrize(("field", "truth"), EMPTY_TRUTHS)
@pytest.mark.parametrize("value", [None, [], {"ids": [], "start": 0}])
def test_nothing_where_there_is_nothing_is_ok(field: str, truth: Any, value: Any) -> None:
    assert read(field, truth, value) == result(field, Verdict.OK)


@pytest.mark.parametrize(
    ("field", "truth", "value", "reason"),
    [
        ("logprobs", [], [0.0], "1 entries, not 0"),
        ("sampling_mask", [], [[1]], "1 entries, not 0"),
        ("routed_experts", NO_EXPERTS, {"ids": [[[1, 2]]], "start": 1}, "1 entries, not 0"),
        ("logprobs", [-0.5, -2.0], [-0.5], "1 entries, not 2"),
        ("logprobs", [-0.5, -2.0], [-0.5, -2.0, 0.0], "3 entries, not 2"),
        ("logprobs", [-0.5, -2.0], [-0.5, -2.5], "entry 1 is -2.5, not -2.0"),
        ("logprobs", [-0.5, -2.0], [-0.5, None], "entry 1 is None, not -2.0"),
        ("logprobs", [-0.5, -2.0], [-0.5, math.nan], "entry 1 is nan, not -2.0"),
        ("logprobs", [-0.5, -2.0], [-0.5, -math.inf], "entry 1 is -inf, not -2.0"),
        ("logprobs", [-0.5, -2.0], [-0.5, -1e300], "entry 1 is -inf, not -2.0"),
        ("logprobs", [-0.5, -2.0], [-0.5, 10**39], "entry 1 is inf, not -2.0"),
        ("logprobs", [-0.5, -2.0], [-0.5, True], "not a list of numbers"),
        ("logprobs", [-1.0, 0.0], [-1.0, False], "not a list of numbers"),
        ("logprobs", [-0.5, -2.0], ["-0.5", "-2.0"], "not a list of numbers"),
        ("logprobs", [-0.5, -2.0], [[-0.5, -2.0]], "not a list of numbers"),
        ("logprobs", [-0.5, -2.0], "AAAAvwAAAMA=", "not a list of numbers"),
        ("logprobs", [-0.5, -2.0], {"content": [-0.5]}, "not a list of numbers"),
        ("logprobs", [-0.5, -2.0], -0.5, "not a list of numbers"),
        ("sampling_mask", MASK, [[3, 8], [9], []], "entry 0 is [3, 8], not [8, 3]"),
        ("sampling_mask", MASK, [[8, 3], [9]], "2 entries, not 3"),
        ("sampling_mask", MASK, "CAMJ", "a str where a list was expected"),
        ("sampling_mask", MASK, {"ids": [8, 3, 9], "counts": [2, 1, 0]}, "a dict where a list was expected"),
        ("routed_experts", EXPERTS, {**EXPERTS, "start": 0}, "rows start at 0, not at 1"),
        ("routed_experts", EXPERTS, {"ids": EXPERTS["ids"]}, "rows start at None, not at 1"),
        ("routed_experts", EXPERTS, {"start": 1}, "a NoneType where a list was expected"),
        (
            "routed_experts",
            EXPERTS,
            {"ids": [[[1, 2], [3, 4]], [[5, 6], [7, 9]]], "start": 1},
            "entry 1 is [[5, 6], [7, 9]], not [[5, 6], [7, 8]]",
        ),
    ],
)
def test_a_wrong_value_without_an_error_corrupts(field: str, truth: Any, value: Any, reason: str) -> None:
    assert read(field, truth, value) == result(
        field, Verdict.CORRUPTS, f"no error, and a wrong value: {reason}", f"expected {truth!r}, got {value!r}"
    )


@pytest.mark.parametrize("rows", [[], [[[1, 2], [3, 4]]], EXPERTS["ids"], [1, 2], [1, 2, 3], "AQIDBAUGBwg=", 5])
def test_experts_without_their_start_are_not_the_experts(rows: Any) -> None:
    found = read("routed_experts", EXPERTS, rows)
    assert found.verdict is (Verdict.CORRUPTS if rows else Verdict.MISSING)


@pytest.mark.parametrize(
    ("field", "truth", "value"),
    [
        ("sampling_mask", [[1], [0]], [[True], [False]]),
        ("routed_experts", {"ids": [[[1]]], "start": 0}, {"ids": [[[True]]], "start": 0}),
        ("routed_experts", {"ids": [[[1]]], "start": 1}, {"ids": [[[1]]], "start": True}),
    ],
)
def test_a_truth_value_is_no_number(field: str, truth: Any, value: Any) -> None:
    assert read(field, truth, value).verdict is Verdict.CORRUPTS


NO_EVIDENCE = [None, -math.inf, math.nan]


@pytest.mark.parametrize("gap", NO_EVIDENCE)
def test_missing_evidence_may_be_refused(gap: float | None) -> None:
    refused = Decoded(refusal="ValueError: position 1 has no evidence")
    assert judge_read("logprobs", truth=[-0.5, gap], decoded=refused) == result("logprobs", Verdict.OK)


@pytest.mark.parametrize("gap", [None, -math.inf])
def test_missing_evidence_may_be_handed_on_as_none(gap: float | None) -> None:
    assert read("logprobs", [-0.5, gap], [-0.5, gap]) == result("logprobs", Verdict.OK)


@pytest.mark.parametrize("gap", NO_EVIDENCE)
@pytest.mark.parametrize("made_up", [0.0, -9999.0, -1.0])
def test_missing_evidence_must_not_be_made_up(gap: float | None, made_up: float) -> None:
    found = read("logprobs", [-0.5, gap], [-0.5, made_up])
    assert found == result(
        "logprobs",
        Verdict.CORRUPTS,
        f"no error, and a wrong value: entry 1 is {made_up!r}, not {gap!r}",
        f"expected [-0.5, {gap!r}], got [-0.5, {made_up!r}]",
    )


@pytest.mark.parametrize("handed_on", [None, -math.inf])
def test_minus_infinity_as_cases_write_it_may_be_refused_or_handed_on(handed_on: float | None) -> None:
    truth = [-0.5, "-Infinity"]
    refused = Decoded(refusal="ValueError: position 1 has no evidence")
    assert judge_read("logprobs", truth=truth, decoded=refused) == result("logprobs", Verdict.OK)
    assert read("logprobs", truth, [-0.5, handed_on]) == result("logprobs", Verdict.OK)


@pytest.mark.parametrize("made_up", [0.0, -9999.0, math.nan, math.inf])
def test_minus_infinity_as_cases_write_it_must_not_be_made_up(made_up: float) -> None:
    found = read("logprobs", [-0.5, "-Infinity"], [-0.5, made_up])
    assert found.verdict is Verdict.CORRUPTS
    assert found.reason == f"no error, and a wrong value: entry 1 is {made_up!r}, not -inf"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(10**4000),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["ids", "start", "x"]), inner),
)


@settings(SETTINGS, max_examples=500)
@given(JSON, st.sampled_from([*TRUTHS, *EMPTY_TRUTHS, ("logprobs", [None, "-Infinity"])]), JSON)
def test_whatever_a_client_returns_is_judged_in_few_words(value: Any, case: tuple[str, Any], sent: Any) -> None:
    field, truth = case
    for found in (read(field, truth, value), judge_relayed(field, sent=sent, decoded=Decoded(value=value))):
        assert (found.verdict is Verdict.OK) == (found.reason == "")
        assert len(found.reason) + len(found.evidence) < 1500


@pytest.mark.parametrize("value", [None, []])
def test_missing_evidence_does_not_excuse_dropping_the_rest(value: Any) -> None:
    assert read("logprobs", [-0.5, None], value).verdict is Verdict.MISSING


@SETTINGS
@given(st.lists(st.floats(max_value=0, min_value=-1e6), min_size=1))
def test_logprobs_are_compared_as_float32(values: list[float]) -> None:
    assert read("logprobs", values, [float32(value) for value in values]) == result("logprobs", Verdict.OK)
    assert read("logprobs", [float32(value) for value in values], values) == result("logprobs", Verdict.OK)


@SETTINGS
@given(st.lists(st.floats(max_value=-1, min_value=-1e6, width=32), min_size=1), st.data())
def test_the_next_float32_is_another_value(values: list[float], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(values) - 1))
    bits = struct.unpack("<I", struct.pack("<f", values[index]))[0]
    other = list(values)
    other[index] = struct.unpack("<f", struct.pack("<I", bits + 1))[0]
    assert read("logprobs", values, other).verdict is Verdict.CORRUPTS


def test_long_evidence_is_shortened() -> None:
    found = read("sampling_mask", [[index] for index in range(1000)], [[0]] * 1000)
    assert found.reason == "no error, and a wrong value: entry 1 is [0], not [1]"
    assert found.evidence.startswith("expected [[0], [1], ")
    assert len(found.evidence) == len("expected , got ") + 2 * 160


def test_a_relayed_value_comes_through_as_it_was_sent() -> None:
    for sent in (MASK, {"data": "AQI=", "shape": [1, 2]}, "AQI=", [], "", 0):
        assert judge_relayed("sampling_mask", sent=sent, decoded=Decoded(value=sent)) == result(
            "sampling_mask", Verdict.OK
        )


@pytest.mark.parametrize("value", [None, MASK])
def test_a_relayed_value_that_the_server_does_not_send_is_missing(value: Any) -> None:
    assert judge_relayed("sampling_mask", sent=None, decoded=Decoded(value=value)) == result(
        "sampling_mask", Verdict.MISSING, "the server sends no field of this name"
    )


def test_a_relayed_value_that_the_client_drops_is_missing() -> None:
    assert judge_relayed("sampling_mask", sent=MASK, decoded=Decoded()) == result(
        "sampling_mask", Verdict.MISSING, "the client dropped the field, and did not object"
    )


@pytest.mark.parametrize(
    ("sent", "value"), [(MASK, [[8, 3], [9]]), (MASK, "CAMJ"), (MASK, []), ({"start": 1}, {"start": 0})]
)
def test_a_relayed_value_that_the_client_changes_corrupts(sent: Any, value: Any) -> None:
    assert judge_relayed("sampling_mask", sent=sent, decoded=Decoded(value=value)) == result(
        "sampling_mask",
        Verdict.CORRUPTS,
        "the client handed on something else than it was sent",
        f"sent {sent!r}, handed on {value!r}",
    )


@pytest.mark.parametrize(("sent", "value"), [([[1], [0]], [[True], [False]]), ({"start": 1}, {"start": True})])
def test_a_truth_value_is_not_the_number_that_was_sent(sent: Any, value: Any) -> None:
    assert judge_relayed("sampling_mask", sent=sent, decoded=Decoded(value=value)).verdict is Verdict.CORRUPTS


@pytest.mark.parametrize(
    ("decoded", "verdict", "reason"),
    [
        (Decoded(refusal="KeyError: 'x'"), Verdict.REJECTS, "KeyError: 'x'"),
        (Decoded(failure="no answer"), Verdict.UNKNOWN, "no answer"),
        (Decoded(value=MASK, refusal="KeyError", failure="no answer"), Verdict.UNKNOWN, "no answer"),
    ],
)
@pytest.mark.parametrize("sent", [MASK, None])
def test_a_relay_that_gives_no_value_is_refused_or_unknown(
    sent: Any, decoded: Decoded, verdict: Verdict, reason: str
) -> None:
    assert judge_relayed("sampling_mask", sent=sent, decoded=decoded) == result("sampling_mask", verdict, reason)


@pytest.mark.parametrize("value", [None, [], {}, "", NO_EXPERTS])
def test_a_field_that_was_asked_for_and_not_sent_is_missing(value: Any) -> None:
    assert judge_absent("sampling_mask", decoded=Decoded(value=value)) == result(
        "sampling_mask", Verdict.MISSING, "the server sends no such field, and the client did not object"
    )


@pytest.mark.parametrize(
    ("decoded", "verdict", "reason"),
    [
        (Decoded(refusal="no mask"), Verdict.REJECTS, "no mask"),
        (Decoded(failure="it died"), Verdict.UNKNOWN, "it died"),
        (Decoded(value=[[1]]), Verdict.UNKNOWN, "the client read a value where no wire form that pinctl knows has one"),
    ],
)
def test_a_field_that_was_not_sent_is_never_ok(decoded: Decoded, verdict: Verdict, reason: str) -> None:
    found = judge_absent("logprobs", decoded=decoded)
    assert (found.verdict, found.reason) == (verdict, reason)
