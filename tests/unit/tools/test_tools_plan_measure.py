"""Reads [contract.measure]: its defaults, its budgets with their places, and every mistake in them at once."""

from pathlib import Path

import pytest

from pinctl.errors import BadFileError
from pinctl.model.measure import Budget, Measure, Measuring
from pinctl.model.pins import Component, GitlinkSite, Pins, SuperprojectDeclaration
from pinctl.tools.files.plan_file import read_plan

PLAN = """\
version = 1
title = "T"
[[changes]]
id = "a"
component = "renderers"
pull = 1
[contract]
cases = ["greedy"]
server = "server.py"
clients.renderers = "client.py"
"""
FIRST = PLAN.count("\n") + 1
BUDGET = "contract.measure.budgets[0]"
NO_FIELD = "is no field that can be left out"
SERVERS = (
    "'before', 'after', 'wire:vllm', 'wire:packed', 'wire:vllm-0.20', 'wire:uint8', 'wire:kept-tokens', 'wire:skyrl'"
)


@pytest.fixture
def pins(tmp_path: Path) -> Pins:
    (tmp_path / "landing_plans").mkdir()
    for name in ("server.py", "client.py"):
        (tmp_path / "landing_plans" / name).touch()
    return Pins(
        path=tmp_path / "pins.toml",
        superproject=SuperprojectDeclaration(name="prime-rl", url=None, branch=None, manifests=(), lock=None),
        components={"renderers": Component(name="renderers", site=GitlinkSite(path="deps/renderers"))},
    )


def measuring(pins: Pins, text: str) -> Measuring:
    assert pins.directory is not None
    (pins.directory / "landing_plans" / "plan.toml").write_text(PLAN + text)
    contract = read_plan("plan", pins).contract
    assert contract is not None
    return contract.measuring


def test_without_the_table_the_long_case_is_measured_and_nothing_is_bounded(pins: Pins) -> None:
    assert measuring(pins, "") == Measuring(case="long", without=(), budgets=())


def test_a_budget_knows_its_place(pins: Pins) -> None:
    text = """\
[contract.measure]
case = "top-p"
without = ["routed_experts"]

[[contract.measure.budgets]]
measure = "bytes"
of = "after"
against = "before"
at_most = 0.4

[[contract.measure.budgets]]
measure = "decode"
of = "wire:packed"
against = "wire:vllm"
client = "renderers"
at_most = 1
"""
    found = measuring(pins, text)
    path = pins.directory / "landing_plans" / "plan.toml" if pins.directory else None
    assert found == Measuring(
        case="top-p",
        without=("routed_experts",),
        budgets=(
            Budget(
                measure=Measure.BYTES,
                of="after",
                against="before",
                at_most=0.4,
                place=f"{path}:{FIRST + 4}: contract.measure.budgets[0]",
            ),
            Budget(
                measure=Measure.DECODE,
                of="wire:packed",
                against="wire:vllm",
                client="renderers",
                at_most=1.0,
                place=f"{path}:{FIRST + 10}: contract.measure.budgets[1]",
            ),
        ),
    )


def budget(**values: str) -> str:
    found = {"measure": "'bytes'", "of": "'after'", "against": "'before'", "at_most": "0.4", **values}
    return "[[contract.measure.budgets]]\n" + "".join(f"{key} = {value}\n" for key, value in found.items() if value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[contract.measure]\ncase = 'lang'\n", ["1: contract.measure.case: 'lang' is no case; did you mean 'long'?"]),
        (
            "[contract.measure]\nwithout = ['routed_expert', 'logprobs']\n",
            [
                f"1: contract.measure.without[0]: 'routed_expert' {NO_FIELD}; did you mean 'routed_experts'?",
                f"1: contract.measure.without[1]: 'logprobs' {NO_FIELD}; there are 'sampling_mask', 'routed_experts'",
            ],
        ),
        (
            "[contract.measure]\nbudget = []\n",
            ["1: contract.measure.budget: is no key of this table; did you mean 'budgets'?"],
        ),
        (
            budget(measure="'byte'"),
            [f"1: {BUDGET}.measure: must be 'bytes', 'encode', 'decode' or 'objects'"],
        ),
        (
            budget(measure="['bytes']", client="'renderers'"),
            [f"1: {BUDGET}.measure: must be 'bytes', 'encode', 'decode' or 'objects'"],
        ),
        (budget(of="'afer'"), [f"2: {BUDGET}.of: 'afer' is no server of a budget; did you mean 'after'?"]),
        (
            budget(against="'wire:pack'"),
            [f"3: {BUDGET}.against: 'wire:pack' is no server of a budget; did you mean 'wire:packed'?"],
        ),
        (budget(against="'zzz'"), [f"3: {BUDGET}.against: 'zzz' is no server of a budget; there are {SERVERS}"]),
        (budget(against="'after'"), [f"3: {BUDGET}.against: is the very server that is compared with it"]),
        (budget(at_most="0"), [f"4: {BUDGET}.at_most: must be greater than 0"]),
        (budget(at_most="inf"), [f"4: {BUDGET}.at_most: must be a finite number"]),
        (budget(at_most="'0.4'"), [f"4: {BUDGET}.at_most: must be a number"]),
        (budget(at_most=""), [f"0: {BUDGET}.at_most: is missing"]),
        (
            budget(faster="20"),
            [f"5: {BUDGET}.faster: is no key of this table; there are 'measure', 'of', 'against', 'client', 'at_most'"],
        ),
        (budget(client="'renderers'"), [f"5: {BUDGET}.client: no client has a part in bytes: leave it out"]),
        (
            budget(measure="'decode'"),
            [f"0: {BUDGET}: needs a client that decodes; only wire forms are decoded by pinctl itself"],
        ),
        (
            budget(measure="'objects'", client="'renderer'"),
            [f"5: {BUDGET}.client: 'renderer' is no client of this contract; did you mean 'renderers'?"],
        ),
        (
            "[contract.measure]\nwithout = 1\nbudgets = [{ measure = 1, of = 2, against = [], client = 3 }, 4]\n",
            [
                "1: contract.measure.without: must be an array",
                f"2: {BUDGET}.measure: must be 'bytes', 'encode', 'decode' or 'objects'",
                f"2: {BUDGET}.of: must be a string",
                f"2: {BUDGET}.against: must be a string",
                f"2: {BUDGET}.client: must be a string",
                f"2: {BUDGET}.at_most: is missing",
                "2: contract.measure.budgets[1]: must be a table",
            ],
        ),
    ],
)
def test_a_mistake_is_named_with_its_line_and_key(pins: Pins, text: str, expected: list[str]) -> None:
    with pytest.raises(BadFileError) as caught:
        measuring(pins, text)
    path = caught.value.path
    lines = [line.removeprefix(f"{path}:").split(":", 1) for line in caught.value.message.splitlines()]
    assert [f"{int(number) - FIRST}:{words}" for number, words in lines] == expected
