"""Mistakes in the constraints of a landing plan: each is named with its line and its key."""

from pathlib import Path

import pytest

from pinctl.errors import BadFileError
from pinctl.model.pins import Component, GitlinkSite, Pins, SuperprojectDeclaration
from pinctl.tools.files.plan_file import read_plan

PLAN = """\
version = 1
title = "T"
changes = [
    { id = "a", component = "renderers", pull = 1 },
    { id = "b", component = "prime-rl", pull = 2 },
]
"""
CASES = "constraints[0].cases"
CONTRACT = """\
contract.server = "server.py"
contract.clients.renderers = "client.py"
contract.cases = ["greedy", "prefill-decode"]
"""


def mistakes_of(directory: Path, text: str) -> list[str]:
    plans = directory / "landing_plans"
    plans.mkdir()
    for name in ("server.py", "client.py"):
        (plans / name).write_text("")
    pins = Pins(
        path=directory / "pins.toml",
        superproject=SuperprojectDeclaration(name="prime-rl", url=None, branch=None, manifests=(), lock=None),
        components={"renderers": Component(name="renderers", site=GitlinkSite(path="deps/renderers"))},
    )
    path = plans / "plan.toml"
    path.write_text(text)
    with pytest.raises(BadFileError) as caught:
        read_plan("plan", pins)
    return [line.removeprefix(f"{path}:") for line in caught.value.message.splitlines()]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            ["for = 'f'", "together = ['a', 'c']", "cases = ['greedy']"],
            ["12: constraints[0].together[1]: 'c' is no change of this plan; there are 'a', 'b'"],
        ),
        (
            ["for = 'f'", "together = ['a', 'a']", "cases = ['greedy']"],
            ["12: constraints[0].together[1]: 'a' is named twice"],
        ),
        (
            ["for = 'f'", "together = ['a']", "cases = ['greedy']"],
            ["12: constraints[0].together: must name two changes or more"],
        ),
        (["for = 'f'", "together = []", "cases = ['greedy']"], ["12: constraints[0].together: must not be empty"]),
        (
            ["for = 'f'", "together = ['a', 'b']", "cases = ['prefil-decode', 'empty']"],
            [
                f"13: {CASES}[0]: 'prefil-decode' is no case of this contract; did you mean 'prefill-decode'?",
                f"13: {CASES}[1]: 'empty' is no case of this contract; there are 'greedy', 'prefill-decode'",
            ],
        ),
        (
            ["for = 'f'", "together = ['a', 'b']", "fields = ['logprob']"],
            ["13: constraints[0].fields[0]: 'logprob' is no field of the contract; did you mean 'logprobs'?"],
        ),
        (
            ["for = 'f'", "together = ['a', 'b']"],
            ["10: constraints[0]: must name the cases or the fields that need all of the changes"],
        ),
        (["for = 'f'", "together = ['a', 'b']", "cases = 'greedy'"], ["13: constraints[0].cases: must be an array"]),
        (["together = ['a', 'b']", "cases = ['greedy']"], ["10: constraints[0].for: is missing"]),
        (
            ["fro = 'f'", "together = ['a', 'b']", "cases = ['greedy']"],
            [
                "10: constraints[0].for: is missing",
                "11: constraints[0].fro: is no key of this table; did you mean 'for'?",
            ],
        ),
    ],
)
def test_a_mistake_is_named_with_its_line_and_key(tmp_path: Path, lines: list[str], expected: list[str]) -> None:
    text = "\n".join([PLAN + CONTRACT + "[[constraints]]", *lines, ""])
    assert mistakes_of(tmp_path, text) == expected


def test_two_constraints_are_for_different_things(tmp_path: Path) -> None:
    one = "[[constraints]]\nfor = 'f'\ntogether = ['a', 'b']\ncases = ['greedy']\n"
    found = mistakes_of(tmp_path, PLAN + CONTRACT + one + one)
    assert found == ["15: constraints[1].for: 'f' is what another constraint is for already"]


def test_a_constraint_needs_a_contract(tmp_path: Path) -> None:
    text = f"{PLAN}[[constraints]]\nfor = 'f'\ntogether = ['a', 'b']\ncases = ['greedy']\n"
    words = "there is no [contract], so there are no cases that could need all of the changes"
    assert mistakes_of(tmp_path, text) == [f"7: constraints[0]: {words}"]
