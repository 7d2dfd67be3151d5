"""Runs the released clients against the reference encoders: what the floors of prime-rl admit."""

import json
from pathlib import Path
from typing import Any

import pytest

from support import Demo, Pinctl
from support.rig import Repo, checked
from support.stack import LANDING

ROOT = Path(__file__).parents[2]

_OFFLINE = ("dns error", "Failed to fetch", "client error (Connect)")

pytestmark = pytest.mark.network


def _require_index(reasons: list[str]) -> None:
    """Skips the test where nothing could be installed since no index answered."""
    cut_off = [reason for reason in reasons if any(words in reason for words in _OFFLINE)]
    if cut_off:
        pytest.skip(f"the package index is not there: {cut_off[0]}")


def _matrix(pinctl: Pinctl, *clients: str) -> tuple[int, dict[tuple[str, str], Any]]:
    """Runs the matrix in pinctl's own repository, where no superproject is checked out."""
    options = [word for client in clients for word in ("--client", client)]
    servers = ("--server", "wire:vllm", "--server", "wire:packed")
    result = pinctl("--quiet", "matrix", "packed-generate", *servers, *options, "--format", "json", cwd=ROOT)
    if any(words in result.stderr for words in _OFFLINE):
        pytest.skip(f"the package index is not there: {result.stderr}")
    assert result.stdout, result.stderr
    matrix = json.loads(result.stdout)
    reasons = [cell["reason"] for cell in matrix["cells"] if cell["verdict"] == "unknown"]
    _require_index(reasons)
    return result.status, {(cell["server"], cell["client"]): cell for cell in matrix["cells"]}


def test_releases_that_the_floors_admit_read_lists_and_reject_packed_arrays(pinctl: Pinctl) -> None:
    status, cells = _matrix(pinctl, "renderers==0.1.12", "verifiers==0.4.0")

    assert {labels: cell["verdict"] for labels, cell in cells.items()} == {
        ("wire:vllm", "renderers==0.1.12"): "ok",
        ("wire:packed", "renderers==0.1.12"): "rejects",
        ("wire:vllm", "verifiers==0.4.0"): "ok",
        ("wire:packed", "verifiers==0.4.0"): "rejects",
    }
    assert status == 1
    assert "choice.logprobs must be an object" in cells["wire:packed", "renderers==0.1.12"]["reason"]
    assert "ValueError" in cells["wire:packed", "verifiers==0.4.0"]["reason"]


def test_releases_are_lenient_or_strict_about_lists_that_are_too_short(pinctl: Pinctl) -> None:
    _, cells = _matrix(pinctl, "renderers==0.1.12", "verifiers==0.4.0")

    def outcomes(client: str) -> dict[str, str]:
        return {control["control"]: control["outcome"] for control in cells["wire:vllm", client]["controls"]}

    assert outcomes("renderers==0.1.12") == {"logprobs: one token less": "refused"}
    assert outcomes("verifiers==0.4.0")["sampling_mask: one row less"] == "taken"
    # What a client cannot read at all has no controls.
    assert cells["wire:packed", "renderers==0.1.12"]["controls"] == []


def test_the_release_before_drops_the_mask_in_silence(pinctl: Pinctl) -> None:
    status, cells = _matrix(pinctl, "renderers==0.1.11")

    lists = cells["wire:vllm", "renderers==0.1.11"]
    fields = {field["field"]: field["verdict"] for case in lists["cases"] for field in case["fields"]}
    assert (lists["verdict"], fields["logprobs"], fields["sampling_mask"]) == ("missing", "ok", "missing")
    assert cells["wire:packed", "renderers==0.1.11"]["verdict"] == "rejects"
    assert status == 1


def test_a_release_that_does_not_exist_is_unknown(pinctl: Pinctl) -> None:
    status, cells = _matrix(pinctl, "renderers==0.0.0.dev999")

    assert {cell["verdict"] for cell in cells.values()} == {"unknown"}
    assert status == 3


def test_a_range_is_each_release_that_the_index_has_in_it(pinctl: Pinctl) -> None:
    status, cells = _matrix(pinctl, "renderers>=0.1.11,<0.1.13")

    assert {labels: cell["verdict"] for labels, cell in cells.items()} == {
        ("wire:vllm", "renderers==0.1.12"): "ok",
        ("wire:vllm", "renderers==0.1.11"): "missing",
        ("wire:packed", "renderers==0.1.12"): "rejects",
        ("wire:packed", "renderers==0.1.11"): "rejects",
    }
    assert status == 1


def test_the_floors_of_a_landing_admit_releases_that_its_server_breaks(demo: Demo, pinctl: Pinctl) -> None:
    """The floors that prime-rl has since its #4056, as the landing sets them, and the releases of the real clients."""
    plan = (ROOT / "landing_plans/packed-generate.toml").read_text("utf-8")
    repo = Repo(directory=demo.superproject)
    repo.commit("main", "Take the real plan", files={"landing_plans/packed-generate.toml": plan})
    repo.switch("main")
    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0

    found = checked(pinctl, repo, "--base", "main", "--head", LANDING, "--run-releases")

    _require_index([item["message"] for item in found.findings if item["unknown"]])
    words = "which rejects what the server sends (plan packed-generate)"
    assert {item["message"].partition(": ")[0] for item in found.findings} == {
        f"renderers[multimodal] >= 0.1.12 admits 0.1.12, {words}",
        f"renderers>=0.1.12 admits 0.1.12, {words}",
        f"verifiers[harbor]>=0.4.0 admits 0.4.0, {words}",
        f"verifiers>=0.4.0 admits 0.4.0, {words}",
    }
    assert {item["rule"] for item in found.findings} == {"FLR003"}
