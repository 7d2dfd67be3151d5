"""Judges budgets by figures: what holds, what is broken, what is unknown, and what nobody asked about."""

from dataclasses import replace
from typing import Any

import pytest

from pinctl.errors import ExitStatus
from pinctl.model.matrix import Verdict
from pinctl.model.measure import (
    AFTER,
    BEFORE,
    REFERENCE,
    Budget,
    BudgetVerdict,
    Figures,
    JudgedBudget,
    Measure,
    Measured,
    judge,
)

PLACE = "plan.toml:9: contract.measure.budgets[0]"
OLD, NEW = "prime-rl@main", "prime-rl@staged"
MEASURED = Measured(
    plan="plan",
    case="long",
    tokens=12_500,
    without=(),
    repeat=7,
    servers=(
        Figures(server=OLD, size=1_000, best=0.2, median=0.3, objects=50_000),
        Figures(server=NEW, size=250, best=0.1, median=0.9, objects=10),
        Figures(server="wire:vllm", size=2_000, best=0.02, median=0.02, objects=60_000),
        Figures(server="wire:packed", size=200, best=0.002, median=0.002, objects=11),
    ),
    clients=(
        Figures(server=OLD, client="renderers@1", best=0.03, median=0.03, objects=12_000),
        Figures(server=NEW, client="renderers@1", best=0.003, median=0.03, objects=12),
        Figures(server=OLD, client="renderers@2", best=0.04, median=0.04, objects=0),
        Figures(server=NEW, client="renderers@2", best=0.02, median=0.02, objects=0),
        Figures(server=OLD, client="verifiers@1", best=0.01, median=0.01, objects=8),
        Figures(server=NEW, client="verifiers@1", verdict=Verdict.REJECTS, reason="sampling_mask: ValueError"),
        Figures(server="wire:vllm", client=REFERENCE, best=0.06, median=0.06, objects=3),
        Figures(server="wire:packed", client=REFERENCE, best=0.003, median=0.003, objects=3),
    ),
    names={BEFORE: OLD, AFTER: NEW, "wire:vllm": "wire:vllm", "wire:packed": "wire:packed"},
    judging={"renderers": ("renderers@1", "renderers@2"), "verifiers": ("verifiers@1",)},
    named_servers=False,
    named_clients=False,
    budgets=(),
)
BYTES = Budget(measure=Measure.BYTES, of=AFTER, against=BEFORE, at_most=0.4, place=PLACE)


def budget(measure: str, **changes: Any) -> Budget:
    return replace(BYTES, measure=Measure(measure), **changes)


WIRE = {"of": "wire:packed", "against": "wire:vllm"}


@pytest.mark.parametrize(
    ("what", "ratio", "client"),
    [
        (budget("bytes"), 0.25, None),
        # Of times, the best ones are compared: what else a machine does only ever adds to them.
        (budget("encode"), 0.5, None),
        (budget("objects"), 0.0002, None),
        (budget("decode", client="renderers"), 0.5, "renderers@2"),
        (budget("bytes", **WIRE), 0.1, None),
        (budget("encode", **WIRE), 0.1, None),
        (budget("decode", **WIRE), 0.05, None),
        (budget("bytes", of=BEFORE, against=AFTER), 4.0, None),
    ],
)
def test_a_budget_bounds_the_ratio_of_two_figures_and_holds_up_to_it(
    what: Budget, ratio: float, client: str | None
) -> None:
    kept = judge(replace(what, at_most=ratio * (1 + 1e-9)), MEASURED)
    assert (kept.verdict, kept.client, kept.reason) == (BudgetVerdict.KEPT, client, "")
    assert kept.ratio == pytest.approx(ratio)
    assert judge(replace(what, at_most=kept.ratio or 0), MEASURED).verdict is BudgetVerdict.KEPT
    assert judge(replace(what, at_most=ratio * (1 - 1e-9)), MEASURED).verdict is BudgetVerdict.BROKEN


def test_the_clients_of_a_component_must_each_be_within_the_budget() -> None:
    decode = budget("decode", client="renderers", at_most=0.2)
    assert judge(decode, MEASURED).verdict is BudgetVerdict.BROKEN
    one = replace(MEASURED, judging={"renderers": ("renderers@1",)})
    assert judge(decode, one).verdict is BudgetVerdict.KEPT


@pytest.mark.parametrize(
    ("what", "changes", "reason"),
    [
        (budget("decode", client="verifiers"), {}, f"{NEW} x verifiers@1: rejects: sampling_mask: ValueError"),
        (
            budget("bytes"),
            {"servers": (Figures(server=OLD, verdict=Verdict.UNKNOWN, reason="no uv"), *MEASURED.servers[1:])},
            f"{OLD}: unknown: no uv",
        ),
        (budget("decode", client="renderers"), {"clients": ()}, f"{NEW} x renderers@1: was not measured"),
        (budget("bytes"), {"names": {AFTER: NEW}}, "there is no server before the plan's changes"),
        (
            budget("bytes"),
            {"names": {AFTER: NEW}, "named_clients": True},
            "there is no server before the plan's changes",
        ),
        (
            budget("decode", client="renderers"),
            {"judging": {}, "named_servers": True},
            "there is no client renderers",
        ),
        (
            budget("objects", client="renderers"),
            {"judging": {"renderers": ("renderers@2",)}},
            f"{OLD} x renderers@2: 0 objects, and nothing is a ratio of that",
        ),
    ],
)
def test_a_budget_that_cannot_be_measured_is_unknown(what: Budget, changes: dict[str, Any], reason: str) -> None:
    judged = judge(replace(what, at_most=1e9), replace(MEASURED, **changes))
    assert (judged.verdict, judged.ratio, judged.reason) == (BudgetVerdict.UNKNOWN, None, reason)


@pytest.mark.parametrize(
    ("what", "changes", "of", "absent"),
    [
        (BYTES, {"names": {"wire:vllm": "wire:vllm"}}, AFTER, "after"),
        (budget("bytes", of="wire:vllm"), {"names": {"wire:vllm": "wire:vllm"}}, "wire:vllm", "before"),
        (budget("decode", client="verifiers"), {"judging": {"renderers": ("renderers@1",)}}, NEW, "verifiers"),
    ],
)
def test_a_budget_about_other_variants_than_the_named_ones_is_not_judged(
    what: Budget, changes: dict[str, Any], of: str, absent: str
) -> None:
    measured = replace(MEASURED, named_servers=True, named_clients=True, budgets=(what,), **changes)
    (judged,) = measured.judged
    assert judged == JudgedBudget(
        budget=what,
        of=of,
        against=OLD if "judging" in changes else BEFORE,
        verdict=BudgetVerdict.NOT_JUDGED,
        reason=f"{absent} is not among the variants that were named",
    )
    assert replace(measured, clients=()).exit_status is ExitStatus.YES


KEPT, BROKEN = BYTES, replace(BYTES, at_most=0.1)
UNKNOWN = budget("decode", client="verifiers")


@pytest.mark.parametrize(
    ("budgets", "status"),
    [
        ((), ExitStatus.YES),
        ((KEPT,), ExitStatus.YES),
        ((KEPT, BROKEN), ExitStatus.NO),
        ((UNKNOWN, KEPT), ExitStatus.UNKNOWN),
        ((UNKNOWN, BROKEN, KEPT), ExitStatus.NO),
    ],
)
def test_the_answer_is_no_where_a_budget_is_broken_and_never_yes_where_one_is_unknown(
    budgets: tuple[Budget, ...], status: ExitStatus
) -> None:
    assert replace(MEASURED, budgets=budgets).exit_status is status


def test_a_variant_that_could_not_be_run_is_not_yes_even_without_a_budget() -> None:
    lost = Figures(server="wire:vllm", client="verifiers==9", verdict=Verdict.UNKNOWN, reason="no such release")
    assert replace(MEASURED, clients=(*MEASURED.clients, lost)).exit_status is ExitStatus.UNKNOWN
    assert replace(MEASURED, clients=(*MEASURED.clients, lost), budgets=(BROKEN,)).exit_status is ExitStatus.NO
