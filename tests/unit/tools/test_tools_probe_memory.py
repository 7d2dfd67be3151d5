"""Probes that take memory without bound: nobody's answer, and no harm to the machine."""

import sys
from pathlib import Path

import pytest

from pinctl.model.plan import Probe
from pinctl.tools.probes.probe import ask_client, ask_server

PYTHON = Path(sys.executable)
MEMORY = 128 * 2**20
REASON = "MemoryError: (more than the plan's memory for this probe)"
GROW = "    kept = []\n    while True:\n        kept.append(bytes(2**20))\n"


def probe(directory: Path, code: str, *, memory: int = MEMORY) -> Probe:
    path = directory / "probe.py"
    path.write_text(code)
    return Probe(path=path, reads=("logprobs",), seconds=60, memory=memory)


def test_a_client_that_takes_memory_without_bound_is_unknown(tmp_path: Path) -> None:
    decoded = ask_client(probe(tmp_path, f"def decode_logprobs(body, request):\n{GROW}"), PYTHON, {"one": ("{}", {})})

    assert decoded["one"]["logprobs"].failure == REASON
    assert decoded["one"]["logprobs"].refusal is None


def test_a_server_that_takes_memory_without_bound_is_unknown(tmp_path: Path) -> None:
    bodies = ask_server(probe(tmp_path, f"def encode(case):\n{GROW}"), PYTHON, [{"name": "one"}])

    assert bodies["one"].text is None
    assert bodies["one"].failure == f"the server failed: {REASON}"


def test_code_that_takes_it_when_it_is_imported(tmp_path: Path) -> None:
    decoded = ask_client(probe(tmp_path, f"if True:\n{GROW}"), PYTHON, {"one": ("{}", {})})

    assert decoded["one"]["logprobs"].failure == f"the probe cannot be loaded: {REASON}"


def test_what_it_starts_is_bounded_as_well(tmp_path: Path) -> None:
    code = f"""
import subprocess, sys
def decode_logprobs(body, request):
    grown = subprocess.run([sys.executable, "-c", "bytearray({2 * MEMORY})"], capture_output=True)
    return [grown.returncode]
"""
    decoded = ask_client(probe(tmp_path, code), PYTHON, {"one": ("{}", {})})

    assert decoded["one"]["logprobs"].value == [1]


@pytest.mark.parametrize(("memory", "expected"), [(MEMORY, None), (4 * MEMORY, [2 * MEMORY])])
def test_the_plan_says_how_much(tmp_path: Path, memory: int, expected: list[int] | None) -> None:
    code = f"def decode_logprobs(body, request):\n    return [len(bytearray({2 * MEMORY}))]\n"
    decoded = ask_client(probe(tmp_path, code, memory=memory), PYTHON, {"one": ("{}", {})})

    assert decoded["one"]["logprobs"].value == expected
