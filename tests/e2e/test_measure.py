"""Measures packed-generate on the code of the embedded stack; of what is timed, only that it is there is asserted."""

import json
from typing import Any

import pytest

from support import Demo, Pinctl
from support.snapshot import unchanged
from support.stack import replaced

PLAN = "landing_plans/packed-generate.toml"
FORMS = ["wire:vllm", "wire:packed", "wire:vllm-0.20", "wire:uint8", "wire:kept-tokens", "wire:skyrl"]
REFERENCE = ("--server", "wire:vllm", "--server", "wire:packed")
SMALL = ('case = "long"', 'case = "top-p"')
"""Figures of a small case come at once; their ratios are other ones."""
UNTIMED = ("at_most = 0.8", "at_most = 1e9")
"""A machine may do anything while something is timed."""


def test_the_plan_s_budgets_hold_on_its_own_code_at_12500_tokens(demo: Demo, pinctl: Pinctl) -> None:
    plan = demo.superproject / PLAN
    plan.write_text(replaced(plan.read_text(), UNTIMED))
    with unchanged(demo.superproject, demo.remote("prime-rl")):
        result = pinctl("matrix", "packed-generate", "--measure", "--format", "json", cwd=demo.superproject)

    assert (result.status, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    assert (found["plan"], found["case"], found["tokens"]) == ("packed-generate", "long", 12_500)
    servers = {row["server"]: row for row in found["servers"]}
    assert list(servers) == ["prime-rl@main", "prime-rl@staged", *FORMS]
    assert servers["prime-rl@staged"]["bytes"] < 0.3 * servers["prime-rl@main"]["bytes"]
    assert servers["wire:packed"]["bytes"] < 0.2 * servers["wire:vllm"]["bytes"]
    # Each token has an object and two lists in one form; the other holds three arrays as text.
    assert servers["prime-rl@main"]["objects"] > 3 * 12_500
    assert servers["prime-rl@staged"]["objects"] < 20
    assert servers["wire:vllm-0.20"]["lacks"] == ["sampling_mask"]
    pairs = [(row["client"].partition("@")[0], row["server"]) for row in found["clients"]]
    assert pairs == [
        ("renderers", "prime-rl@main"),
        ("renderers", "prime-rl@main"),
        ("renderers", "prime-rl@staged"),
        ("verifiers", "prime-rl@main"),
        ("verifiers", "prime-rl@main"),
        ("verifiers", "prime-rl@staged"),
        *(("reference", form) for form in FORMS),
    ]
    for row, key in [(row, "encode") for row in found["servers"]] + [(row, "decode") for row in found["clients"]]:
        assert (row["verdict"], row["reason"]) == ("ok", "")
        assert 0 < row[key]["best"] <= row[key]["median"]
    budgets = {budget["measure"]: budget for budget in found["budgets"]}
    assert {name: budget["verdict"] for name, budget in budgets.items()} == dict.fromkeys(
        ("bytes", "objects", "decode"), "kept"
    )
    assert budgets["bytes"]["ratio"] == servers["prime-rl@staged"]["bytes"] / servers["prime-rl@main"]["bytes"]
    assert budgets["objects"]["client"].startswith("renderers@")


def test_a_broken_budget_is_a_no_that_names_its_place(demo: Demo, pinctl: Pinctl) -> None:
    plan = demo.superproject / PLAN
    plan.write_text(replaced(plan.read_text(), SMALL, ("at_most = 0.4", "at_most = 0.0001")))

    result = pinctl("matrix", "packed-generate", "--measure", cwd=demo.superproject)

    assert (result.status, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("broken  bytes of prime-rl@staged: "))
    assert lines[at].endswith(" of prime-rl@main, at most 0.0001")
    line = plan.read_text().splitlines().index("[[contract.measure.budgets]]") + 1
    assert lines[at + 1] == f"    {plan}:{line}: contract.measure.budgets[0]"


def test_a_budget_that_cannot_be_measured_is_unknown(demo: Demo, pinctl: Pinctl) -> None:
    plan = demo.superproject / PLAN
    # Packed into so few bytes, the small case is larger than as lists; what is known and what is not must stay apart.
    plan.write_text(replaced(plan.read_text(), SMALL, ("at_most = 0.4", "at_most = 40"), UNTIMED))
    probe = demo.superproject / "landing_plans/probes/renderers_client.py"
    probe.write_text("import nothing_of_that_name\n" + probe.read_text())

    result = pinctl("matrix", "packed-generate", "--measure", "--format", "json", cwd=demo.superproject)

    assert (result.status, result.stderr) == (3, "")
    found = json.loads(result.stdout)
    assert [budget["verdict"] for budget in found["budgets"]] == ["kept", "unknown", "unknown"]
    assert all("No module named 'nothing_of_that_name'" in budget["reason"] for budget in found["budgets"][1:])
    verdicts = {row["client"].partition("@")[0]: row["verdict"] for row in found["clients"]}
    assert verdicts == {"renderers": "unknown", "verifiers": "ok", "reference": "ok"}


def test_named_variants_need_no_landing_and_leave_its_budgets_alone(demo: Demo, pinctl: Pinctl) -> None:
    plan = demo.superproject / PLAN
    own = (
        '[[contract.measure.budgets]]\nmeasure = "objects"\nof = "wire:packed"\nagainst = "wire:vllm"\nat_most = 0.9\n'
    )
    plan.write_text(replaced(plan.read_text(), SMALL) + "\n" + own)

    result = pinctl(
        *("matrix", "packed-generate", "--measure", *REFERENCE, "--client", "verifiers@main", "--format", "json"),
        cwd=demo.superproject,
    )

    assert (result.status, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    assert [row["server"] for row in found["servers"]] == ["wire:vllm", "wire:packed"]
    assert [(row["server"], row["client"].partition("@")[0]) for row in found["clients"]] == [
        ("wire:vllm", "verifiers"),
        ("wire:packed", "verifiers"),
        ("wire:vllm", "reference"),
        ("wire:packed", "reference"),
    ]
    assert [budget["verdict"] for budget in found["budgets"]] == ["not judged", "not judged", "not judged", "kept"]
    assert found["budgets"][0]["reason"] == "after is not among the variants that were named"


def test_a_client_that_does_not_get_the_true_values_is_not_measured(demo: Demo, pinctl: Pinctl) -> None:
    plan = demo.superproject / PLAN
    plan.write_text(replaced(plan.read_text(), SMALL))

    # main pins a verifiers that knows lists alone.
    result = pinctl(
        *("matrix", "packed-generate", "--measure", *REFERENCE, "--client", "verifiers@v0.4.0"), cwd=demo.superproject
    )

    assert (result.status, result.stderr) == (0, "")
    row = next(line for line in result.stdout.splitlines() if line.startswith("verifiers@") and "wire:packed" in line)
    assert row.split()[2:] == ["rejects", "rejects"]
    assert "    sampling_mask: ValueError: invalid literal for int() with base 10: 'i'" in result.stdout.splitlines()


def test_figures_are_taken_anew_each_time(demo: Demo, pinctl: Pinctl) -> None:
    plan = demo.superproject / PLAN
    plan.write_text(replaced(plan.read_text(), SMALL))

    def run() -> list[Any]:
        variants = ("--server", "prime-rl@main", "--client", "verifiers@main")
        result = pinctl("matrix", "packed-generate", "--measure", *variants, "--format", "json", cwd=demo.superproject)
        assert (result.status, result.stderr) == (0, "")
        found = json.loads(result.stdout)
        return [row["encode"] for row in found["servers"]] + [row["decode"] for row in found["clients"]]

    first, second = run(), run()
    assert all(one != other for one, other in zip(first, second, strict=True))


@pytest.mark.usefixtures("own_cache")
def test_a_mistake_in_a_budget_ends_every_command_that_reads_the_plan(demo: Demo, pinctl: Pinctl) -> None:
    plan = demo.superproject / PLAN
    plan.write_text(replaced(plan.read_text(), ("at_most = 0.4", "at_least = 0.4")))

    result = pinctl("matrix", "packed-generate", "--measure", cwd=demo.superproject)

    assert (result.status, result.stdout) == (2, "")
    assert [line.partition(": ")[2] for line in result.stderr.splitlines()] == [
        "contract.measure.budgets[0].at_most: is missing",
        "contract.measure.budgets[0].at_least: is no key of this table; did you mean 'at_most'?",
    ]
