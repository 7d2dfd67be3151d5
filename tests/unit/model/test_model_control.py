"""Negative controls and the verdict of a cell: beside it, and part of it where the plan asks for a strict client."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.model.control import ControlResult, Outcome
from pinctl.model.judgement import Decoded, judge_control
from pinctl.model.matrix import CaseResult, Cell, FieldResult, Verdict

SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=200)


def control(outcome: Outcome, *, refusable: bool = True) -> ControlResult:
    return ControlResult(
        control="sampling_mask.ids: base85",
        title="sampling_mask.ids with base85 text",
        field="sampling_mask",
        case="top-p",
        refusable=refusable,
        outcome=outcome,
        reason="the probe ended with status 9" if outcome is Outcome.UNKNOWN else "",
        evidence="got [[1]]" if outcome is Outcome.TAKEN else "",
    )


def cell(verdicts: list[Verdict], controls: list[ControlResult], *, strict: bool) -> Cell:
    cases = tuple(
        CaseResult(case=f"case-{index}", fields=(FieldResult(field="sampling_mask", verdict=verdict, reason="why"),))
        for index, verdict in enumerate(verdicts)
    )
    return Cell(
        server="server", client="client", component="client", cases=cases, controls=tuple(controls), strict=strict
    )


VERDICTS = st.lists(st.sampled_from(Verdict), max_size=3)
CONTROLS = st.lists(st.builds(control, st.sampled_from(Outcome), refusable=st.booleans()), max_size=4)


@SETTINGS
@given(VERDICTS, CONTROLS)
def test_controls_change_no_verdict_where_nobody_asks_for_a_strict_client(
    verdicts: list[Verdict], controls: list[ControlResult]
) -> None:
    with_controls, without = cell(verdicts, controls, strict=False), cell(verdicts, [], strict=False)
    assert (with_controls.verdict, with_controls.reason) == (without.verdict, without.reason)
    assert with_controls.guilty_control is None


@SETTINGS
@given(VERDICTS, CONTROLS)
def test_asking_for_a_strict_client_makes_nothing_better(
    verdicts: list[Verdict], controls: list[ControlResult]
) -> None:
    strict, other = cell(verdicts, controls, strict=True), cell(verdicts, controls, strict=False)
    assert strict.verdict.severity >= other.verdict.severity
    assert strict.verdict is not Verdict.OK or strict.reason == ""
    assert strict.verdict is Verdict.OK or strict.reason != ""
    assert strict.verdict == cell(verdicts[::-1], controls[::-1], strict=True).verdict


@SETTINGS
@given(VERDICTS, CONTROLS, st.builds(control, st.sampled_from(Outcome), refusable=st.booleans()))
def test_one_more_control_makes_a_definite_no_no_better(
    verdicts: list[Verdict], controls: list[ControlResult], more: ControlResult
) -> None:
    before, after = cell(verdicts, controls, strict=True), cell(verdicts, [*controls, more], strict=True)
    if before.verdict is not Verdict.UNKNOWN:
        assert after.verdict.severity >= before.verdict.severity
    if not more.refusable:
        assert after.verdict is before.verdict


@pytest.mark.parametrize(
    ("outcome", "verdict", "reason"),
    [
        (Outcome.REFUSED, Verdict.OK, ""),
        (
            Outcome.TAKEN,
            Verdict.CORRUPTS,
            "strictness is asked for, and the client takes sampling_mask.ids with base85 text without an error",
        ),
        (
            Outcome.DROPPED,
            Verdict.MISSING,
            "strictness is asked for, and the client drops sampling_mask.ids with base85 text without an error",
        ),
        (Outcome.UNKNOWN, Verdict.UNKNOWN, "control sampling_mask.ids: base85: the probe ended with status 9"),
    ],
)
def test_what_a_strict_client_is_held_to(outcome: Outcome, verdict: Verdict, reason: str) -> None:
    found = cell([Verdict.OK], [control(Outcome.REFUSED), control(outcome)], strict=True)
    assert (found.verdict, found.reason) == (verdict, reason)
    assert (found.guilty_control == control(outcome)) == (outcome is not Outcome.REFUSED)


def test_no_control_and_no_case_are_unknown() -> None:
    assert cell([Verdict.OK], [], strict=True).verdict is Verdict.UNKNOWN
    assert cell([Verdict.OK], [control(Outcome.TAKEN, refusable=False)], strict=True).verdict is Verdict.UNKNOWN
    empty = cell([], [control(Outcome.REFUSED)], strict=True)
    assert (empty.verdict, empty.reason) == (Verdict.UNKNOWN, "no case was run")
    broken = replace(empty, setup="no environment")
    assert (broken.verdict, broken.reason) == (Verdict.UNKNOWN, "no environment")


@pytest.mark.parametrize(
    ("decoded", "expected"),
    [
        (Decoded(value=[[1]]), (Outcome.TAKEN, "", "got [[1]]")),
        (Decoded(value=0), (Outcome.TAKEN, "", "got 0")),
        (Decoded(value=None), (Outcome.DROPPED, "", "")),
        (Decoded(value=[]), (Outcome.DROPPED, "", "")),
        (Decoded(value={"ids": [], "start": 0}), (Outcome.DROPPED, "", "")),
        (Decoded(refusal="ValueError"), (Outcome.REFUSED, "ValueError", "")),
        (Decoded(failure="died"), (Outcome.UNKNOWN, "died", "")),
    ],
)
def test_what_a_client_makes_of_a_control(decoded: Decoded, expected: tuple[Outcome, str, str]) -> None:
    assert judge_control(decoded) == expected
