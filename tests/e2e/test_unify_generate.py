"""Lands unify-generate: a route that moves, so that server and pinned clients are safe in one step only."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from support import Pinctl
from support.rig import Repo, checked
from support.snapshot import unchanged
from support.stack import replaced
from support.unify import NEW, OLD, PLAN, UnifyStack, unify_stack
from support.uv_rig import answered, changed, refusals, text_of

NAME = "unify-generate"
LANDING = f"landing/{NAME}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> UnifyStack:
    return unify_stack(tmp_path_factory.mktemp("unify"))


@pytest.fixture
def stack(built: UnifyStack, tmp_path: Path) -> UnifyStack:
    """The stack with a checkout of the test's own; nothing changes its remotes."""
    shutil.copytree(built.superproject.directory, tmp_path / "super")
    return replace(built, superproject=Repo(directory=tmp_path / "super"))


def not_found(route: str, what: str) -> str:
    return f"{what}: LookupError: 404 Not Found: POST {route}"


def test_only_an_atomic_step_is_safe_for_the_pinned_clients(stack: UnifyStack, pinctl: Pinctl) -> None:
    result = pinctl("order", NAME, cwd=stack.superproject.directory)

    before, _, after = (oid[:7] for oid in stack.renderers)
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout == (
        "safe: renderers, then verifiers, then endpoint with its pins\n"
        "2 of 6 orders are safe; 5 of 8 states are\n"
        "\n"
        "shortest unsafe order: endpoint first\n"
        f"    rejects  prime-rl@staged x renderers@{before}, the pinned client\n"
        f"    {not_found(OLD, 'greedy: logprobs')}\n"
        "\n"
        "endpoint without its pins: unsafe\n"
        f"    rejects  prime-rl@staged x renderers@{before}, the pinned client\n"
        f"    {not_found(OLD, 'greedy: logprobs')}\n"
        "the pins before endpoint: unsafe\n"
        f"    rejects  prime-rl@main x renderers@{after}, the pinned client\n"
        f"    {not_found(NEW, 'greedy: logprobs')}\n"
        "only an atomic step is safe: endpoint and its pins in one commit\n"
    )


def test_it_lands_with_the_release_that_has_the_change_and_the_merged_verifiers(
    stack: UnifyStack, pinctl: Pinctl
) -> None:
    repo = stack.superproject
    landing = answered(pinctl, repo, "land", NAME)

    # The commit of the release, not that of the change: the tag came later.
    assert [(pin["component"], pin["from"], pin["to"], pin["version"]) for pin in landing["pins"]] == [
        ("renderers", None, stack.renderers[2], "0.1.6"),
        ("verifiers", *stack.verifiers, "0.2.0"),
    ]
    assert changed(repo, "main", LANDING) == [
        "deps/verifiers",
        f"landing_plans/certificates/{NAME}.json",
        "pins.toml",
        "prime_rl/inference/serve.py",
        "prime_rl/teacher.py",
        "pyproject.toml",
        "uv.lock",
    ]
    assert '"renderers==0.1.6"' in text_of(repo, LANDING)
    versions = [line for line in text_of(repo, LANDING, "uv.lock").splitlines() if line.startswith("version = ")]
    assert versions == ["version = 1", 'version = "0"', 'version = "0.1.6"', 'version = "0.2.0"', 'version = "0.20.0"']
    assert checked(pinctl, repo, "--base", "main", "--head", LANDING).answer() == (0, [])


def test_third_party_versions_need_the_plan_s_leave(stack: UnifyStack, pinctl: Pinctl) -> None:
    plan = stack.superproject.directory / PLAN
    plan.write_text(replaced(plan.read_text(), ('third_party = "move"', 'third_party = "keep"')))

    (found,) = refusals(pinctl, stack.superproject, "land", NAME)

    assert (found["kind"], found["details"]) == ("third-party", ["vllm 0.19.0 -> 0.20.0"])


def test_the_server_without_a_pin_is_refused(stack: UnifyStack, pinctl: Pinctl) -> None:
    plan = stack.superproject.directory / PLAN
    old, new = (oid[:7] for oid in stack.verifiers)
    verifiers = f'[[changes]]\nid = "verifiers"\ncomponent = "verifiers"\npull = 1282\ncommit = "{new}"\n'
    text = replaced(
        plan.read_text(),
        (f'{verifiers}after = ["renderers"]\n', ""),
        ('after = ["renderers", "verifiers"]\npins = ["renderers", "verifiers"]', 'pins = ["renderers"]'),
    )
    plan.write_text(text)

    with unchanged(stack.superproject.directory):
        found = refusals(pinctl, stack.superproject, "land", NAME)

    assert [(item["kind"], item["message"]) for item in found] == [
        ("cell", f"prime-rl@staged x verifiers@{old}: rejects: {not_found(OLD, 'few-experts: routed_experts')}")
    ]


def test_a_teacher_that_takes_the_first_candidate_is_refused(stack: UnifyStack, pinctl: Pinctl) -> None:
    plan = stack.superproject.directory / PLAN
    plan.write_text(replaced(plan.read_text(), ("pull = 2408", 'branch = "first-candidate"')))

    found = refusals(pinctl, stack.superproject, "land", NAME)

    wrong = "greedy: prompt_logprobs: no error, and a wrong value: entry 1 is -0.5, not -1.0"
    assert [(item["kind"], item["message"]) for item in found] == [
        ("cell", f"prime-rl@staged x prime-rl@staged: corrupts: {wrong}")
    ]


def test_a_pin_without_the_server_is_refused(stack: UnifyStack, pinctl: Pinctl) -> None:
    result = pinctl("can-land", "verifiers", cwd=stack.superproject.directory)

    assert (result.status, result.stderr) == (1, "")
    assert not_found(NEW, "few-experts: routed_experts") in result.stdout


def test_a_client_that_counts_at_the_head_of_its_branch_has_no_safe_order(stack: UnifyStack, pinctl: Pinctl) -> None:
    plan = stack.superproject.directory / PLAN
    plan.write_text("".join(line for line in plan.read_text().splitlines(keepends=True) if "head = false" not in line))

    proof = answered(pinctl, stack.superproject, "order", NAME, status=1)

    assert (proof["safe_orders"], proof["counter_example"]["role"]) == (0, "head")


def test_a_change_that_no_release_has_cannot_be_pinned_by_release(stack: UnifyStack, pinctl: Pinctl) -> None:
    plan = stack.superproject.directory / PLAN
    tip = stack.rig.components["renderers"].oid()
    plan.write_text(replaced(plan.read_text(), ("pull = 1\n", f'commit = "{tip}"\n')))

    (found,) = refusals(pinctl, stack.superproject, "land", NAME)

    assert (found["kind"], found["message"]) == (
        "not-a-release",
        f"renderers is pinned by release, and {tip[:7]} is none",
    )
