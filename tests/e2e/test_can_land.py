"""Whether one pin may move: answered from cells, with reasons, running only what nobody has run before."""

import json
from pathlib import Path
from typing import Any

import pytest

from support import Demo, Pinctl
from support.snapshot import unchanged

PROBES = ("generate_server", "renderers_client", "verifiers_client")


@pytest.fixture
def runs(demo: Demo) -> Path:
    """A file that gets a line from each probe that is run."""
    log = demo.directory / "runs"
    for name in PROBES:
        probe = demo.superproject / f"landing_plans/probes/{name}.py"
        probe.write_text(f"{probe.read_text()}\nwith open({str(log)!r}, 'a') as log:\n    log.write('{name}\\n')\n")
    return log


def answer(demo: Demo, pinctl: Pinctl, spec: str, *, status: int) -> dict[str, Any]:
    with unchanged(demo.superproject):
        result = pinctl("can-land", spec, "--format", "json", cwd=demo.superproject)
    assert (result.status, result.stderr) == (status, "")
    data: dict[str, Any] = json.loads(result.stdout)
    return data


def test_only_cells_that_were_not_run_before_are_run(demo: Demo, pinctl: Pinctl, runs: Path) -> None:
    found = answer(demo, pinctl, "renderers", status=0)
    assert (found["answer"], [cell["verdict"] for cell in found["cells"]]) == ("yes", ["ok"])
    assert runs.read_text().split() == ["generate_server", "renderers_client"]
    assert answer(demo, pinctl, "renderers", status=0) == found
    assert runs.read_text().split() == ["generate_server", "renderers_client"]
    # The server's answers are there, whoever had asked for them.
    answer(demo, pinctl, "verifiers", status=0)
    assert runs.read_text().split() == ["generate_server", "renderers_client", "verifiers_client"]


def test_a_pin_that_would_move_back_may_not(demo: Demo, pinctl: Pinctl) -> None:
    found = answer(demo, pinctl, "renderers@renderers-v0.1.12", status=1)
    assert found["answer"] == "no"
    assert any("back" in reason for reason in found["reasons"]), found["reasons"]


def test_what_could_not_be_run_is_unknown(demo: Demo, pinctl: Pinctl) -> None:
    probe = demo.superproject / "landing_plans/probes/renderers_client.py"
    probe.write_text("import no_such_module\n")
    found = answer(demo, pinctl, "renderers", status=3)
    (reason,) = found["reasons"]
    assert found["answer"] == "unknown"
    assert "the probe cannot be loaded: ModuleNotFoundError" in reason
