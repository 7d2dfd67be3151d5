"""Compares the releases of the embedded stack with what its landing makes of them, by named modes."""

import json
from typing import Any

import pytest

from support import Demo, Git, Pinctl
from support.stack import VERIFIERS_SQUASH, by_subject, replaced

PLAN = "landing_plans/packed-generate.toml"


def cells_of(stdout: str) -> dict[tuple[str, str], str]:
    cells: list[dict[str, Any]] = json.loads(stdout)["cells"]
    return {(cell["server"], cell["client"]): cell["verdict"] for cell in cells if cell["required"]}


def merged(demo: Demo) -> dict[str, str]:
    subjects = {"renderers": "Read packed completion logprobs (#174)", "verifiers": VERIFIERS_SQUASH}
    return {name: f"{name}@{by_subject(demo.remote(name), 'main', subject)[:7]}" for name, subject in subjects.items()}


def test_the_new_clients_read_what_the_server_before_wrote(demo: Demo, pinctl: Pinctl) -> None:
    new = merged(demo)
    result = pinctl("matrix", "packed-generate", "--mode", "backward", "--format", "json", cwd=demo.superproject)
    assert (result.status, result.stderr) == (0, "")
    # No tag names a release of the server: the target stands for the one before.
    assert cells_of(result.stdout) == {
        (f"prime-rl@{server}", client): "ok" for server in ("main", "staged") for client in new.values()
    }


def test_released_clients_do_not_read_what_the_new_server_writes(demo: Demo, pinctl: Pinctl) -> None:
    new = merged(demo)
    plain = pinctl("matrix", "packed-generate", "--mode", "forward", "--format", "json", cwd=demo.superproject)
    far = pinctl("matrix", "packed-generate", "--mode", "forward-transitive", "--format", "json", cwd=demo.superproject)
    assert (plain.status, plain.stderr, far.status, far.stderr) == (1, "", 1, "")
    ok = {("prime-rl@staged", client): "ok" for client in new.values()}
    newest = {"renderers@renderers-v0.1.12": "rejects", "verifiers@v0.4.0": "rejects"}
    older = {"renderers@renderers-v0.1.11": "rejects", "verifiers@v0.3.0": "rejects"}
    assert cells_of(plain.stdout) == ok | {("prime-rl@staged", name): verdict for name, verdict in newest.items()}
    assert cells_of(far.stdout) == cells_of(plain.stdout) | {
        ("prime-rl@staged", name): verdict for name, verdict in older.items()
    }


def test_releases_of_the_server_are_its_earlier_versions(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    git(demo.superproject, "tag", "v0.5.0", "main~1")
    git(demo.superproject, "tag", "v0.4.0", "main~2")
    backward = pinctl("matrix", "packed-generate", "--mode", "backward", "--format", "json", cwd=demo.superproject)
    assert backward.status == 0
    assert {server for server, _ in cells_of(backward.stdout)} == {"prime-rl@v0.5.0", "prime-rl@staged"}


def test_a_mode_of_the_plan_holds_for_its_landing(demo: Demo, pinctl: Pinctl) -> None:
    plan = demo.superproject / PLAN
    plan.write_text(replaced(plan.read_text(), ("[contract]\n", '[contract]\nmode = "full"\n')))
    landing = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)
    assert (landing.status, landing.stderr) == (1, "")
    messages = [item["message"] for item in json.loads(landing.stdout)["objections"]]
    assert [message.partition(": ")[0] for message in messages] == [
        "prime-rl@staged x renderers@renderers-v0.1.12",
        "prime-rl@staged x verifiers@v0.4.0",
    ]


def test_a_side_without_an_earlier_version_is_not_found_out(demo: Demo, pinctl: Pinctl) -> None:
    pins = demo.superproject / "pins.toml"
    pins.write_text(replaced(pins.read_text(), ('tags = "renderers-v[0-9]*"', 'tags = "release-*"')))
    result = pinctl("matrix", "packed-generate", "--mode", "forward", cwd=demo.superproject)
    assert (result.status, result.stdout) == (3, "")
    words = "the mode forward needs an earlier version of renderers, and no tag like release-* names one"
    assert result.stderr.splitlines()[0] == f"error: {words}"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--mode", "full", "--server", "wire:vllm"), "--mode finds its own variants"),
        (("--mode", "sideways"), "'sideways' is not one of"),
    ],
)
def test_modes_that_are_none(demo: Demo, pinctl: Pinctl, arguments: tuple[str, ...], words: str) -> None:
    result = pinctl("matrix", "packed-generate", *arguments, cwd=demo.superproject)
    assert (result.status, result.stdout) == (2, "")
    assert words in result.stderr
