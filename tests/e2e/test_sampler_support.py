"""Lands sampler-support: seven changes of one repository, whose last must bring the reader together with the server."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from support import Pinctl
from support.sampler import NUMBERS, PINS, SamplerStack, sampler_stack
from support.snapshot import unchanged

NAME = "sampler-support"
IDS = [str(number) for number in NUMBERS]
REFUSED = "top-p: sampling_mask: ValueError: sampling_mask must be a list, not a dict"
HALVES = """\
[[changes]]
id = "server"
component = "skyrl"
branch = "halves"
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> SamplerStack:
    return sampler_stack(tmp_path_factory.mktemp("sampler"))


def answer(pinctl: Pinctl, stack: SamplerStack, *arguments: str, pins: Path = PINS, status: int = 0) -> dict[str, Any]:
    """Runs a command on the stack with the plans that this repository keeps for SkyRL."""
    where = ("--pins", pins, "--superproject", stack.superproject.directory)
    result = pinctl(*where, *arguments, "--format", "json")
    assert (result.status, result.stderr) == (status, ""), result
    data: dict[str, Any] = json.loads(result.stdout)
    return data


def plan_of(directory: Path, changes: str) -> Path:
    """Copies the plan with other changes, and returns the path of its pins.toml."""
    shutil.copytree(PINS.parent, directory / "skyrl")
    plan = directory / f"skyrl/landing_plans/{NAME}.toml"
    head, _, rest = plan.read_text().partition("[[changes]]")
    plan.write_text(head + changes + "\n[contract]" + rest.partition("\n[contract]")[2])
    return directory / "skyrl/pins.toml"


def test_the_seven_land_as_one_commit_and_each_of_them_would_be_safe_alone(stack: SamplerStack, pinctl: Pinctl) -> None:
    proof = answer(pinctl, stack, "order", NAME)
    landing = answer(pinctl, stack, "land", NAME)

    assert (proof["verdict"], proof["declared_safe"], proof["steps"]) == ("ok", True, [IDS])
    # Before any change and after each: the reader of a commit reads what the server of that commit sends.
    assert (proof["states"] - proof["unsafe_states"], proof["atomic_steps"]) == (8, [])
    repo = stack.superproject
    assert repo.git("rev-list", "--parents", "-1", landing["commit"]) == f"{landing['commit']} {repo.oid('main')}"
    assert repo.oid(f"{landing['branch']}^{{tree}}") == stack.remote.oid("refs/pull/1915/head^{tree}")
    body = repo.git("log", "-1", "--format=%B", landing["branch"])
    assert [line for line in body.splitlines() if line.startswith("Change: ")] == [
        f"Change: skyrl#{number} {stack.remote.oid(f'refs/pull/{number}/head')}" for number in NUMBERS
    ]


def test_the_two_halves_of_the_last_are_safe_in_one_step_only(
    stack: SamplerStack, pinctl: Pinctl, tmp_path: Path
) -> None:
    reader = '\n[[changes]]\nid = "reader"\ncomponent = "skyrl"\npull = 1915\nafter = ["server"]\n'
    pins = plan_of(tmp_path, HALVES + reader)

    proof = answer(pinctl, stack, "order", NAME, pins=pins)

    assert (proof["verdict"], proof["atomic_steps"]) == ("ok", [["server", "reader"]])
    example = proof["counter_example"]
    assert (example["order"], example["role"], example["cell"]["verdict"]) == (["server"], "own", "rejects")
    assert (example["cell"]["server"], example["cell"]["client"]) == ("skyrl@main+server", "skyrl@main+server")


def test_the_last_without_the_reader_is_refused(stack: SamplerStack, pinctl: Pinctl, tmp_path: Path) -> None:
    pins = plan_of(tmp_path, HALVES)

    with unchanged(stack.superproject.directory):
        refused = answer(pinctl, stack, "land", NAME, pins=pins, status=1)

    assert [(item["kind"], item["message"]) for item in refused["objections"]] == [
        ("cell", f"skyrl@staged x skyrl@staged: rejects: {REFUSED}")
    ]


def test_a_reader_can_be_named_as_a_client(stack: SamplerStack, pinctl: Pinctl) -> None:
    words = ("--server", "skyrl@main", "--client", "skyrl@main", "--client", "wire:skyrl")
    cells = answer(pinctl, stack, "matrix", NAME, *words, status=1)["cells"]

    assert [(cell["client"], cell["verdict"]) for cell in cells] == [("skyrl@main", "ok"), ("wire:skyrl", "rejects")]
