"""Lands router-replay-pd: a constraint without an order, and a router that is pinned by its release."""

import json
from pathlib import Path
from typing import Any

import pytest

from support import Pinctl
from support.replay import PADDED, PLAN, ReplayStack, replay_stack
from support.rig import as_checked
from support.stack import replaced

NAME = "router-replay-pd"
FEATURE = "router replay with prefill/decode"
CHANGES = ["router", "replay", "packed"]


@pytest.fixture
def stack(tmp_path: Path) -> ReplayStack:
    return replay_stack(tmp_path)


def answer(pinctl: Pinctl, stack: ReplayStack, *arguments: str, status: int = 0) -> dict[str, Any]:
    result = pinctl(*arguments, "--format", "json", cwd=stack.superproject.directory)
    assert (result.status, result.stderr) == (status, ""), result
    data: dict[str, Any] = json.loads(result.stdout)
    return data


def test_the_server_s_changes_may_land_in_either_order(stack: ReplayStack, pinctl: Pinctl) -> None:
    proof = answer(pinctl, stack, "order", NAME)
    (found,) = proof["any_order"]
    assert {key: found[key] for key in ("for", "together", "cases", "fields")} == {
        "for": FEATURE,
        "together": CHANGES,
        "cases": ["prefill-decode"],
        "fields": [],
    }
    assert (found["verdict"], found["feature"], found["orders"], found["safe_orders"]) == ("ok", "ok", 3, 3)
    assert (proof["verdict"], proof["declared_safe"], proof["steps"]) == (
        "ok",
        True,
        [["router"], ["replay", "packed"]],
    )
    # Only the router has to come before the change that moves its pin.
    assert (proof["orders"], proof["safe_orders"]) == (6, 3)
    assert proof["counter_example"]["cell"]["verdict"] == "corrupts"


def test_the_words_say_what_the_feature_needs(stack: ReplayStack, pinctl: Pinctl) -> None:
    result = pinctl("order", NAME, cwd=stack.superproject.directory)
    assert (result.status, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "safe: router, then replay and packed with its pins"
    assert "any order: safe: router, replay and packed, 3 of 3; router before replay" in lines
    assert f"{FEATURE} needs router, replay and packed: case prefill-decode: with all of them, it works" in lines


def test_what_needs_all_of_them_is_asked_only_of_the_staged_server(stack: ReplayStack, pinctl: Pinctl) -> None:
    matrix = answer(pinctl, stack, "matrix", NAME)
    assert matrix["verdict"] == "ok"
    waiting = {
        (cell["server"].removeprefix("prime-rl@"), case["verdict"])
        for cell in matrix["cells"]
        if cell["required"]
        for case in cell["cases"]
        if all(field.get("waits_for") == FEATURE for field in case["fields"])
    }
    assert {name for name, _ in waiting} == {"main", "main+replay", "main+packed"}
    # It would not work there: a half that is missing, or rows that are anchored elsewhere.
    assert {verdict for _, verdict in waiting} >= {"missing", "corrupts"}


def test_it_lands_with_the_router_s_release_in_one_commit(stack: ReplayStack, pinctl: Pinctl) -> None:
    landing = answer(pinctl, stack, "land", NAME)
    repo = stack.superproject
    manifest = repo.git("cat-file", "blob", f"{landing['branch']}:pyproject.toml")
    assert manifest.count("/v0.2.3/vllm_router-0.2.3-") == 2
    assert "0.2.2" not in manifest
    assert repo.git("log", "--format=%s", f"main..{landing['branch']}").count("\n") == 0
    checked = as_checked(
        pinctl("check", "--format", "json", "--base", "main", "--head", landing["branch"], cwd=repo.directory)
    )
    # The certificate covers the states between, and what waits in them counts neither for nor against.
    assert [item for item in checked.findings if item["rule"].startswith("MTX")] == []
    rehearsed = answer(pinctl, stack, "plan", NAME)
    assert [item["for"] for item in rehearsed["constraints"]] == [FEATURE]


@pytest.mark.parametrize("first", ["packed", "replay"])
def test_the_other_lands_where_one_has_landed(stack: ReplayStack, pinctl: Pinctl, first: str) -> None:
    stack.merge(first)
    proof = answer(pinctl, stack, "order", NAME)
    assert (proof["verdict"], proof["any_order"][0]["verdict"]) == ("ok", "ok")
    landing = answer(pinctl, stack, "land", NAME)
    body = stack.superproject.git("log", "-1", "--format=%B", landing["branch"])
    other = {"packed": "#3830", "replay": "#3900"}[first]
    assert f"Change: prime-rl{other}" in body


def test_a_pin_may_move_before_the_feature_is_there(stack: ReplayStack, pinctl: Pinctl) -> None:
    found = pinctl("can-land", "vllm-router@v0.2.3", cwd=stack.superproject.directory)
    assert (found.status, found.stderr) == (0, "")


def test_a_router_that_stays_at_the_release_before_is_refused(stack: ReplayStack, pinctl: Pinctl) -> None:
    plan = stack.superproject.directory / PLAN
    text = replaced(
        plan.read_text(),
        ('[[changes]]\nid = "router"\ncomponent = "vllm-router"\npull = 61\n', ""),
        ('after = ["router"]\npins = ["vllm-router"]\n', ""),
        ('together = ["router", "replay", "packed"]', 'together = ["replay", "packed"]'),
    )
    plan.write_text(text)
    refused = answer(pinctl, stack, "land", NAME, status=1)
    (objection,) = refused["objections"]
    old = stack.router.oid("v0.2.2")[:7]
    assert objection["kind"] == "cell"
    assert objection["message"].startswith(f"prime-rl@staged x vllm-router@{old}: corrupts: prefill-decode: routed_")
    proof = answer(pinctl, stack, "order", NAME, status=1)
    (found,) = proof["any_order"]
    assert (found["feature"], found["broken"]["client"]) == ("corrupts", f"vllm-router@{old}")


def test_a_release_that_still_joins_padded_rows_is_refused(tmp_path: Path, pinctl: Pinctl) -> None:
    stack = replay_stack(tmp_path, join=PADDED)
    refused = answer(pinctl, stack, "land", NAME, status=1)
    (objection,) = refused["objections"]
    assert (objection["kind"], "corrupts: prefill-decode" in objection["message"]) == ("cell", True)
