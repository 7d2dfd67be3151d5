"""Runs what action.yml runs, as GitHub Actions does: its outputs are never better than what pinctl found out."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.rig import Repo, Rig

TOP = Path(__file__).parents[2]
SCRIPT = TOP / "action.sh"
FOUND = '{"status": "ok", "findings": []}'


def _act(directory: Path, pinctl: str, **env: str) -> tuple[int, dict[str, str]]:
    """Runs the script with a pinctl of a few lines of shell; returns its exit status and its outputs."""
    program, outputs = directory / ".git/pinctl", directory / ".git/outputs"
    program.write_text(f"#!/bin/sh\n{pinctl}\n")
    program.chmod(0o755)
    outputs.touch()
    given = {"BASE": "", "HEAD": "", "ARGUMENTS": "", "SARIF": "", **env, "GITHUB_OUTPUT": str(outputs)}
    ended = subprocess.run(
        ["bash", SCRIPT, program], cwd=directory, env={**os.environ, **given}, check=False, capture_output=True
    )
    found = re.fullmatch(r"status=(.*)\nfindings<<PINCTL_END\n(.*)\nPINCTL_END\n", outputs.read_text(), re.DOTALL)
    assert found is not None, outputs.read_text()
    return ended.returncode, {"status": found[1], "findings": found[2]}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A pull request that takes lib back."""
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid()})
    repo.commit("pr", "Move lib back", gitlinks={"deps/lib": lib.oid("main~1")}, parents=[repo.oid()])
    return repo


@pytest.mark.parametrize(
    ("base", "expected"),
    [("pr", (0, "ok", [])), ("main", (1, "broken", ["PIN002"])), ("nowhere", (3, "unknown", None))],
)
def test_the_outputs_are_what_a_check_finds(repo: Repo, base: str, expected: tuple[int, str, list[str] | None]) -> None:
    pinctl = f'exec "{sys.executable}" -m pinctl "$@"'

    status, outputs = _act(repo.directory, pinctl, BASE=base, HEAD="pr", SARIF="out")

    answer = json.loads(outputs["findings"])
    rules = None if answer is None else [finding["rule"] for finding in answer["findings"]]
    assert (status, outputs["status"], rules) == expected
    # Code scanning gets a report or no file, and never an empty one.
    assert (repo.directory / "out").exists() is (answer is not None)
    if answer is not None:
        assert json.loads((repo.directory / "out").read_text())["version"] == "2.1.0"


@pytest.mark.parametrize(
    ("pinctl", "expected"),
    [
        (f"echo '{FOUND}'", (0, "ok", FOUND)),
        ("exit 0", (3, "unknown", "null")),
        ("exit 1", (3, "unknown", "null")),
        ("exit 2", (2, "unknown", "null")),
        ("kill -9 $$", (137, "unknown", "null")),
        ("exit 127", (127, "unknown", "null")),
        (f"echo '{FOUND}'; exit 3", (3, "unknown", FOUND)),
        # The second run sees something else than the first.
        (f"case $* in *json*) echo '{FOUND}'; exit 3;; esac", (3, "unknown", FOUND)),
        ("case $* in *json*) kill -9 $$;; esac", (3, "unknown", "null")),
    ],
)
def test_a_check_that_does_not_answer_is_unknown(repo: Repo, pinctl: str, expected: tuple[int, str, str]) -> None:
    status, outputs = _act(repo.directory, pinctl)

    assert (status, outputs["status"], outputs["findings"]) == expected


def test_inputs_reach_pinctl_as_they_are_and_run_nothing(repo: Repo, tmp_path: Path) -> None:
    log = tmp_path / "log"
    hostile = f"$(touch {tmp_path}/ran);`touch {tmp_path}/ran`"

    _act(repo.directory, f'printf "%s\\n" "$@" >> {log}', BASE=hostile, ARGUMENTS="--first-parent --all")

    assert log.read_text().splitlines()[:8] == [
        "check", "--deepen", "--format", "github", "--first-parent", "--all", "--base", hostile,
    ]  # fmt: skip
    assert not (tmp_path / "ran").exists()


def test_the_action_hands_every_input_over_by_environment() -> None:
    text = (TOP / "action.yml").read_text()
    run = "\n".join(block for block in re.findall(r"run: (.*?)(?=\n    - |\Z)", text, re.DOTALL))
    assert "${{" not in run
    given = set(re.findall(r"^ {8}([A-Z]+): \$\{\{ inputs\.", text, re.MULTILINE))
    assert given == {"PYTHON", "BASE", "HEAD", "ARGUMENTS", "SARIF"}
    assert f'bash "$GITHUB_ACTION_PATH/{SCRIPT.name}"' in run
