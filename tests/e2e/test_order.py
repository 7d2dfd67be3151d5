"""Proves the order of packed-generate from its cells, and finds the orders that would have done harm."""

import json
from typing import Any

from support import Demo, Git, Pinctl
from support.git import run
from support.snapshot import unchanged
from support.stack import LANDING, replaced

REJECTED = "greedy: logprobs: MalformedGenerateResponseError: Engine response choice.logprobs must be an object."


def test_the_declared_order_is_safe_and_the_server_first_is_not(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    renderers = git(demo.superproject, "rev-parse", "--short=7", "main:deps/renderers")
    with unchanged(demo.superproject, demo.remote("prime-rl")):
        result = pinctl("order", "packed-generate", "--format", "json", cwd=demo.superproject)

    assert (result.status, result.stderr) == (0, "")
    proof = json.loads(result.stdout)
    example = proof.pop("counter_example")
    (apart,) = proof.pop("apart")
    assert proof == {
        "order": ["renderers", "verifiers", "server"],
        "steps": [["renderers"], ["verifiers"], ["server"]],
        "verdict": "ok",
        "orders": 6,
        "safe_orders": 2,
        "declared_safe": True,
        "states": 8,
        "unsafe_states": 3,
        "unknown_states": 0,
        "any_order": [],
        "atomic_steps": [],
    }
    cell = {"server": "prime-rl@staged", "client": f"renderers@{renderers}", "verdict": "rejects", "reason": REJECTED}
    assert (example["order"], example["role"], _brief(example["cell"])) == (["server"], "pinned", cell)
    assert (apart["change"], apart["atomic_only"], apart["pins_first"]) == ("server", False, None)
    assert _brief(apart["without_pins"]) == cell


def test_the_words_say_the_same(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    renderers = git(demo.superproject, "rev-parse", "--short=7", "main:deps/renderers")
    result = pinctl("order", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stderr) == (0, "")
    assert result.stdout == (
        "safe: renderers, then verifiers, then server with its pins\n"
        "2 of 6 orders are safe; 5 of 8 states are\n"
        "\n"
        "shortest unsafe order: server first\n"
        f"    rejects  prime-rl@staged x renderers@{renderers}, the pinned client\n"
        f"    {REJECTED}\n"
        "\n"
        "server without its pins: unsafe\n"
        f"    rejects  prime-rl@staged x renderers@{renderers}, the pinned client\n"
        f"    {REJECTED}\n"
        "the pins before server: safe\n"
    )


def test_a_plan_that_lands_the_server_first_is_unsafe_and_is_not_landed(demo: Demo, pinctl: Pinctl) -> None:
    plan = demo.superproject / "landing_plans/packed-generate.toml"
    text = replaced(plan.read_text(), ('after = ["verifiers"]\n', ""), ('after = ["renderers"]\n', ""))
    head, *changes, contract = text.replace("[contract]", "[[changes]]\n[contract]", 1).split("[[changes]]\n")
    plan.write_text(head + "".join(f"[[changes]]\n{change}" for change in reversed(changes)) + contract)

    with unchanged(demo.superproject):
        order = pinctl("order", "packed-generate", "--format", "json", cwd=demo.superproject)
        landing = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    assert (order.status, order.stderr) == (1, "")
    proof = json.loads(order.stdout)
    assert proof["order"] == ["server", "verifiers", "renderers"]
    assert (proof["declared_safe"], proof["safe_orders"], proof["counter_example"]["order"]) == (False, 2, ["server"])
    assert (landing.status, landing.stderr) == (1, "")
    objections = json.loads(landing.stdout)["objections"]
    assert {objection["kind"] for objection in objections} == {"cell"}
    assert any("rejects" in objection["message"] for objection in objections)


def test_an_order_that_rests_on_what_could_not_be_run_is_unknown(demo: Demo, pinctl: Pinctl) -> None:
    probe = demo.superproject / "landing_plans/probes/generate_server.py"
    probe.write_text("import nothing_of_that_name\n" + probe.read_text())

    result = pinctl("order", "packed-generate", "--format", "json", cwd=demo.superproject)

    assert (result.status, result.stderr) == (3, "")
    proof = json.loads(result.stdout)
    assert (proof["declared_safe"], proof["safe_orders"]) == (False, 0)
    assert proof["counter_example"]["order"] == []
    assert proof["counter_example"]["cell"]["verdict"] == "unknown"


def test_a_plan_that_has_landed_is_still_safe(demo: Demo, pinctl: Pinctl) -> None:
    """Both sides before the plan are found in the histories, when the branches have it."""
    before = pinctl("order", "packed-generate", "--format", "json", cwd=demo.superproject)
    assert pinctl("land", "packed-generate", "--push", cwd=demo.superproject).status == 0
    run(demo.remote("prime-rl"), "update-ref", "refs/heads/main", f"refs/heads/{LANDING}")

    after = pinctl("order", "packed-generate", "--format", "json", cwd=demo.superproject)
    matrix = pinctl("matrix", "packed-generate", "--format", "json", cwd=demo.superproject)

    counts = ("order", "orders", "safe_orders", "declared_safe", "states", "unsafe_states")
    assert (after.status, after.stderr) == (0, "")
    proofs = [json.loads(result.stdout) for result in (before, after)]
    assert {key: proofs[1][key] for key in counts} == {key: proofs[0][key] for key in counts}
    assert (matrix.status, json.loads(matrix.stdout)["verdict"]) == (0, "ok")


def _brief(cell: dict[str, Any]) -> dict[str, str]:
    return {key: cell[key] for key in ("server", "client", "verdict", "reason")}
