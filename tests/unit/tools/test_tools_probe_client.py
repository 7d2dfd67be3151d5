"""Client probes: what they make of each field, how they refuse, and what is nobody's answer."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pinctl.model.judgement import Decoded
from pinctl.model.plan import Probe
from pinctl.tools.probes.probe import ask_client

PYTHON = Path(sys.executable)
Bodies = Mapping[str, tuple[str, Mapping[str, Any]]]
ONE: Bodies = {"one": ("{}", {})}
BOTH: Bodies = {"one": ('{"v": 1}', {"start": 0}), "two": ('{"v": 2}', {"start": 5})}


def ask(
    directory: Path,
    code: str,
    bodies: Bodies = ONE,
    *,
    reads: tuple[str, ...] = ("logprobs",),
    relays: tuple[str, ...] = (),
    seconds: float = 30,
) -> dict[str, dict[str, Decoded]]:
    path = directory / "probe.py"
    path.write_text(code)
    return ask_client(Probe(path=path, reads=reads, relays=relays, seconds=seconds), PYTHON, bodies)


def test_what_a_client_makes_of_each_field_comes_by_case(tmp_path: Path) -> None:
    code = """
import json
def decode_logprobs(body, request):
    return [json.loads(body)["v"], request["start"]]
def relay_sampling_mask(body, request):
    return body.decode()
"""
    assert ask(tmp_path, code, BOTH, relays=("sampling_mask",)) == {
        "one": {"logprobs": Decoded(value=[1, 0]), "sampling_mask": Decoded(value='{"v": 1}')},
        "two": {"logprobs": Decoded(value=[2, 5]), "sampling_mask": Decoded(value='{"v": 2}')},
    }


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def decode_logprob(body, request): ...", "the probe has no function decode_logprobs"),
        (
            "def decode_logprobs(body): ...",
            "the probe's decode_logprobs cannot be called with 2 positional arguments: too many positional arguments",
        ),
    ],
)
def test_a_probe_that_cannot_be_asked_is_no_refusal_of_the_client(tmp_path: Path, code: str, reason: str) -> None:
    assert ask(tmp_path, code, {"one": ("{}", {})}) == {"one": {"logprobs": Decoded(failure=reason)}}


def test_a_type_error_of_the_client_s_own_is_its_refusal(tmp_path: Path) -> None:
    code = "def decode_logprobs(body, request):\n    return dict(1)\n"
    (found,) = ask(tmp_path, code, {"one": ("{}", {})}).values()
    assert (found["logprobs"].refusal or "").startswith("TypeError: 'int' object is not iterable")


def test_a_client_gets_the_body_s_own_bytes(tmp_path: Path) -> None:
    body = '{"text": "é🦀\\u0000\\n"}\n  '
    code = "def decode_logprobs(body, request):\n    return [type(body).__name__, list(body)]\n"
    assert ask(tmp_path, code, {"one": (body, {})}) == {
        "one": {"logprobs": Decoded(value=["bytes", list(body.encode())])}
    }


def test_a_client_that_spoils_its_request_spoils_it_for_one_field_alone(tmp_path: Path) -> None:
    code = """
def decode_logprobs(body, request):
    request.clear()
def decode_sampling_mask(body, request):
    return request
"""
    assert ask(tmp_path, code, {"one": ("{}", {"start": 1})}, reads=("logprobs", "sampling_mask")) == {
        "one": {"logprobs": Decoded(), "sampling_mask": Decoded(value={"start": 1})}
    }


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return None", Decoded(value=None)),
        ("return []", Decoded(value=[])),
        ("return {'ids': [[1]], 'start': 0}", Decoded(value={"ids": [[1]], "start": 0})),
        ("return (1, 2)", Decoded(value=[1, 2])),
        ("return float('inf')", Decoded(value=float("inf"))),
        ("return 10 ** 300", Decoded(value=10**300)),
        ("raise ValueError('no\\n  evidence')", Decoded(refusal="ValueError: no evidence")),
        ("raise KeyError('content')", Decoded(refusal="KeyError: 'content'")),
        ("raise AssertionError", Decoded(refusal="AssertionError")),
        ("import no_such_module", Decoded(failure="ModuleNotFoundError: No module named 'no_such_module'")),
        ("from json import gone", Decoded(failure="ImportError: cannot import name 'gone' from 'json'")),
        (
            "return {1, 2}",
            Decoded(failure="decode_logprobs returned what is not JSON: Object of type set is not JSON serializable"),
        ),
        (
            "return b'bytes'",
            Decoded(failure="decode_logprobs returned what is not JSON: Object of type bytes is not JSON serializable"),
        ),
        (
            "a = []; a.append(a); return a",
            Decoded(failure="decode_logprobs returned what is not JSON: Circular reference detected"),
        ),
    ],
)
def test_a_field_is_a_value_a_refusal_or_a_failure(tmp_path: Path, body: str, expected: Decoded) -> None:
    answer = ask(tmp_path, f"def decode_logprobs(body, request):\n    {body}\n")["one"]["logprobs"]
    shortened = (answer.failure or "").partition(" (/")[0] or None
    assert Decoded(value=answer.value, refusal=answer.refusal, failure=shortened) == expected


def test_a_number_that_is_none_comes_through(tmp_path: Path) -> None:
    value = ask(tmp_path, "def decode_logprobs(body, request):\n    return float('nan')\n")["one"]["logprobs"].value
    assert isinstance(value, float)
    assert value != value  # noqa: PLR0124 - that is what makes it one


def test_values_too_deep_or_too_long_for_json_are_a_failure_of_their_field_alone(tmp_path: Path) -> None:
    code = """
def decode_logprobs(body, request):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    return deep
def decode_sampling_mask(body, request):
    return 10 ** 5000
def decode_routed_experts(body, request):
    return 1
"""
    found = ask(tmp_path, code, reads=("logprobs", "sampling_mask", "routed_experts"))["one"]
    assert (found["logprobs"].failure or "").startswith("decode_logprobs returned what is not JSON")
    assert (found["sampling_mask"].failure or "").startswith("decode_sampling_mask returned what is not JSON")
    assert found["routed_experts"] == Decoded(value=1)


def test_a_function_that_is_not_there_is_the_probe_s_failure(tmp_path: Path) -> None:
    found = ask(tmp_path, "x = 1\n", reads=("logprobs",), relays=("sampling_mask",))
    assert found == {
        "one": {
            "logprobs": Decoded(failure="the probe has no function decode_logprobs"),
            "sampling_mask": Decoded(failure="the probe has no function relay_sampling_mask"),
        }
    }


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import no_such_module", "the probe cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
        ("import os\nos._exit(3)", "the probe ended with status 3"),
        ("import time\ntime.sleep(600)", "the probe took longer than 1.5 s and was ended"),
    ],
)
def test_a_probe_that_cannot_start_fails_every_field_of_every_case(tmp_path: Path, code: str, reason: str) -> None:
    failed = {"logprobs": Decoded(failure=reason), "sampling_mask": Decoded(failure=reason)}
    found = ask(tmp_path, code, BOTH, relays=("sampling_mask",), seconds=1.5)
    assert found == {"one": failed, "two": failed}


def test_a_process_that_ends_part_way_keeps_what_it_answered(tmp_path: Path) -> None:
    code = """
import json, os
def decode_logprobs(body, request):
    if json.loads(body)["v"] == 2:
        os._exit(9)
    return 1
"""
    lost = {"logprobs": Decoded(failure="the probe ended with status 9")}
    bodies = {**BOTH, "three": ('{"v": 3}', {})}
    assert ask(tmp_path, code, bodies) == {"one": {"logprobs": Decoded(value=1)}, "two": lost, "three": lost}


@pytest.mark.parametrize("leave", ["sys.exit(0)", "raise KeyboardInterrupt"])
def test_code_that_wants_to_leave_ends_no_other_case(tmp_path: Path, leave: str) -> None:
    code = f"""
import json, sys
def decode_logprobs(body, request):
    if json.loads(body)["v"] == 1:
        {leave}
    return 2
"""
    found = ask(tmp_path, code, BOTH)
    assert found["one"]["logprobs"].value is None
    assert found["one"]["logprobs"] != Decoded()
    assert found["two"] == {"logprobs": Decoded(value=2)}


def test_no_bodies_are_no_answers(tmp_path: Path) -> None:
    assert ask(tmp_path, "x = 1\n", {}) == {}
