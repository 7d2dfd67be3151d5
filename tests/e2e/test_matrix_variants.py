"""Ranges of releases and reference decoders on the axis of clients."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from support import Pinctl
from support.uv_rig import WHEELS, wheel

ROOT = Path(__file__).parents[2]
PROBE = '''\
"""Reads lists, but does not check them before 1.1, and drops them before 1.0."""

import json
from importlib.metadata import version


def decode_logprobs(body, request):
    content = json.loads(body)["choices"][0]["logprobs"]["content"]
    if version("renderers") < "1":
        return None
    return [max(entry["logprob"], -5.0) if version("renderers") < "1.1" else entry["logprob"] for entry in content]
'''


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plan whose one client is released in four versions, in a directory of wheels."""
    directory = tmp_path / "plan"
    (directory / "landing_plans/probes").mkdir(parents=True)
    shutil.copy(ROOT / "pins.toml", directory)
    text = (ROOT / "landing_plans/packed-generate.toml").read_text().partition("[contract]")[0]
    (directory / "landing_plans/packed-generate.toml").write_text(
        f'{text}[contract]\nserver = "probes/client.py"\ncases = ["greedy", "top-p"]\n'
        '[contract.clients.renderers]\nprobe = "probes/client.py"\nreads = ["logprobs"]\n'
    )
    (directory / "landing_plans/probes/client.py").write_text(PROBE)
    for version in ("0.9", "1.0", "1.1", "1.2rc1"):
        for path, data in wheel("renderers", version).items():
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_bytes(data)
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / WHEELS))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    return directory


def cells(stdout: str) -> dict[str, str]:
    found: list[dict[str, Any]] = json.loads(stdout)["cells"]
    return {cell["client"]: cell["verdict"] for cell in found}


def test_a_range_is_each_release_in_it(plan: Path, pinctl: Pinctl) -> None:
    words = ("matrix", "packed-generate", "--server", "wire:vllm", "--client", "renderers==1.0")
    result = pinctl(*words, "--client", "renderers>=0.9,<2", "--format", "json", cwd=plan)
    quiet = pinctl("--quiet", *words, "--client", "renderers>=1.0", cwd=plan)

    # One that is named twice is run once.
    assert list(cells(result.stdout).items()) == [
        ("renderers==1.0", "corrupts"),
        ("renderers==1.1", "ok"),
        ("renderers==0.9", "missing"),
    ]
    assert (result.status, result.stderr) == (1, "--client renderers>=0.9,<2: 3 releases: 1.1, 1.0, 0.9\n")
    assert (quiet.status, quiet.stderr) == (1, "")


@pytest.mark.parametrize(
    ("spec", "status", "words"),
    [
        ("renderers>=3", 2, "--client renderers>=3: no release of renderers is in the range >=3: Because "),
        ("rendrers>=1", 2, "--client rendrers>=1: the plan has no probe of 'rendrers'; did you mean 'renderers'?"),
    ],
)
def test_a_range_of_nothing(plan: Path, pinctl: Pinctl, spec: str, status: int, words: str) -> None:
    result = pinctl("matrix", "packed-generate", "--server", "wire:vllm", "--client", spec, cwd=plan)

    assert (result.status, result.stdout) == (status, "")
    assert result.stderr.startswith(f"error: {words}")


def test_a_range_of_an_index_that_is_not_there_could_not_be_found_out(
    plan: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("UV_FIND_LINKS", "UV_NO_INDEX"):
        monkeypatch.delenv(name)
    result = pinctl("matrix", "packed-generate", "--server", "wire:vllm", "--client", "renderers>=1", cwd=plan)

    assert (result.status, result.stdout) == (3, "")
    assert result.stderr.startswith("error: the releases of renderers>=1 cannot be listed: ")


def test_a_form_is_a_client_that_reads_what_it_has_and_the_plan_needs(pinctl: Pinctl) -> None:
    forms = ("vllm", "packed", "kept-tokens", "vllm-0.20")
    clients = [word for form in forms for word in ("--client", f"wire:{form}")]
    result = pinctl("matrix", "packed-generate", "--server", "wire:vllm", *clients, "--format", "json", cwd=ROOT)

    assert (result.status, result.stderr) == (1, "")
    found = {cell["client"]: cell for cell in json.loads(result.stdout)["cells"]}
    assert {name: cell["verdict"] for name, cell in found.items()} == {
        "wire:vllm": "ok",
        "wire:packed": "rejects",
        # It looks for the mask under another name, and finds none.
        "wire:kept-tokens": "missing",
        "wire:vllm-0.20": "rejects",
    }
    fields = {
        name: {field["field"] for case in cell["cases"] for field in case["fields"]} for name, cell in found.items()
    }
    assert fields["wire:vllm"] == {"logprobs", "sampling_mask", "routed_experts"}
    assert fields["wire:vllm-0.20"] == {"logprobs", "routed_experts"}
    assert found["wire:vllm-0.20"]["reason"].startswith("routed-experts: routed_experts: routed_experts")
