"""Probes that do harm: whatever they write and however they end, there is a reason, and never an answer made of it."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pinctl.model.judgement import Decoded
from pinctl.model.plan import Probe
from pinctl.tools import process
from pinctl.tools.probes import probe_answers
from pinctl.tools.probes.probe import Body, ask_client, ask_server

PYTHON = Path(sys.executable)

FORGE = """
import json, os
def write(data):
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.write(int(name), data)
            except OSError:
                pass
def answer(case, value):
    return json.dumps({"case": case, "fields": {"logprobs": {"value": value}}}).encode() + b"\\n"
"""
"""Writes into the very stream of the harness's answers."""


def ask(directory: Path, code: str, *cases: str, seconds: float = 30) -> dict[str, Decoded]:
    path = directory / "probe.py"
    path.write_text(code)
    bodies: dict[str, tuple[str, dict[str, Any]]] = {name: (json.dumps({"v": name}), {}) for name in cases or ("one",)}
    found = ask_client(Probe(path=path, reads=("logprobs",), seconds=seconds), PYTHON, bodies)
    return {name: fields["logprobs"] for name, fields in found.items()}


def decode(*lines: str) -> str:
    return FORGE + "def decode_logprobs(body, request):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("forged", "reason"),
    [
        ("b'not JSON\\n'", "the probe answered what is not JSON"),
        ("b'\\xff\\xfe\\n'", "the probe answered what is not JSON"),
        ("b'\\n'", "the probe answered what is not JSON"),
        ("b'[' * 100_000 + b'\\n'", "the probe answered what is not JSON"),
        ("b'[' * 100_000 + b']' * 100_000 + b'\\n'", "the probe answered what is not JSON"),
        ("b'9' * 5000 + b'\\n'", "the probe answered what is not JSON"),
        ("b'[1]\\n'", "the probe answered what is no answer"),
        ("b'{\"case\": 5}\\n'", "the probe answered what is no answer"),
        ('b\'{"protocol": 2, "ready": true}\\n\'', "the probe answered what is no answer"),
        ("answer('other', 1)", "the probe answered for 'other', which it was not asked about"),
        ("answer('one', 2)", "the probe gave two different answers for one"),
        ("answer('two', 2)", "the probe gave two different answers for two"),
    ],
)
def test_a_stream_of_answers_that_the_code_under_test_wrote_to_holds_none(
    tmp_path: Path, forged: str, reason: str
) -> None:
    found = ask(tmp_path, decode(f"write({forged})", "return 1"), "one", "two")
    assert found == {"one": Decoded(failure=reason), "two": Decoded(failure=reason)}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("os.kill(os.getpid(), 9)", "the probe ended with status -9"),
        ("os.abort()", "the probe ended with status -6"),
        ("os._exit(0)", "the probe gave no answer"),
        ("os._exit(3)", "the probe ended with status 3"),
        ("while True: pass", "the probe took longer than 1.5 s and was ended"),
        ("os.close(0); import time; time.sleep(600)", "the probe took longer than 1.5 s and was ended"),
        ('write(b\'{"case": "two"\'); os._exit(0)', "the probe gave no answer"),
    ],
)
def test_what_ends_before_its_answer_is_unknown_with_the_reason(tmp_path: Path, line: str, reason: str) -> None:
    found = ask(tmp_path, decode("if b'two' in body:", f"    {line}", "return 1"), "one", "two", "three", seconds=1.5)
    lost = Decoded(failure=reason)
    assert found == {"one": Decoded(value=1), "two": lost, "three": lost}


@pytest.mark.parametrize(
    "line", ["print('x' * 1000)", "sys.stderr.write('x' * 1000)", "write(b'x' * 1000)", "os.write(1, b'x' * 1000)"]
)
def test_a_flood_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 2**20)
    monkeypatch.setattr(probe_answers, "OUTPUT_LIMIT", 2**20)
    begun = time.monotonic()
    found = ask(tmp_path, decode("import sys", f"while True: {line}"), seconds=60)
    assert time.monotonic() - begun < 30
    assert found == {"one": Decoded(failure="the probe wrote more than 1 MiB and was ended")}


def test_an_answer_beyond_the_limit_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 2**20)
    monkeypatch.setattr(probe_answers, "OUTPUT_LIMIT", 2**20)
    found = ask(tmp_path, decode("return 'x' * 2**21 if b'two' in body else 1"), "one", "two")
    assert found == {
        "one": Decoded(value=1),
        "two": Decoded(failure="the probe wrote more than 1 MiB and was ended"),
    }


def test_what_a_probe_prints_is_garbage_to_nobody(tmp_path: Path) -> None:
    code = decode("print('{'); os.write(1, b'\\xff\\n'); os.system('echo garbage')", "return 1")
    assert ask(tmp_path, code) == {"one": Decoded(value=1)}


@pytest.mark.parametrize(
    ("child", "expected"),
    [
        ("os._exit(0)", Decoded(value=1)),
        ("__import__('time').sleep(600)", Decoded(value=1)),
        # The child goes on in the harness, where its parent is, and says the same.
        ("pass", Decoded(value=1)),
        ("return 2", Decoded(failure="the probe gave two different answers for one")),
    ],
)
def test_children_of_a_probe_do_no_harm(tmp_path: Path, child: str, expected: Decoded) -> None:
    code = decode("if os.fork() == 0:", f"    {child}", "else:", "    __import__('time').sleep(0.3)", "return 1")
    begun = time.monotonic()
    assert ask(tmp_path, code, seconds=60) == {"one": expected}
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize(
    ("value", "is_deep"), [("[]", False), ("[[" * 31 + "]]" * 31, False), ("[[" * 40 + "]]" * 40, True)]
)
def test_values_have_a_depth_that_all_of_pinctl_can_take(tmp_path: Path, value: str, *, is_deep: bool) -> None:
    deep = Decoded(failure="the client's value is nested deeper than 64 levels")
    assert ask(tmp_path, decode(f"return {value}")) == {"one": deep if is_deep else Decoded(value=json.loads(value))}
    assert ask(tmp_path, decode("deep = 1", "for _ in range(900): deep = {'a': deep}", "return deep")) == {"one": deep}


@pytest.mark.parametrize("depth", [100, 900, 100_000])
def test_a_body_that_is_a_recursion_bomb_is_unknown(tmp_path: Path, depth: int) -> None:
    path = tmp_path / "probe.py"
    path.write_text(f"def encode(case):\n    return '[' * {depth} + ']' * {depth}\n")
    assert ask_server(Probe(path=path), PYTHON, [{"name": "one"}]) == {
        "one": Body(failure="the server's body is nested deeper than 64 levels")
    }


def test_a_body_that_is_no_text_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "probe.py"
    path.write_text("def encode(case):\n    return '\\ud800'\n")
    body = ask_server(Probe(path=path), PYTHON, [{"name": "one"}])["one"]
    reason = "'utf-8' codec can't encode character '\\ud800' in position 0: surrogates not allowed"
    assert body == Body(failure=f"the server failed: UnicodeEncodeError: {reason}")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("a\x1b[31mred\x07\x00", "ValueError: a\ufffd[31mred\ufffd\ufffd"),
        ("lone \ud800", "ValueError: lone \ufffd"),
        ("é🦀\n\n  two", "ValueError: é🦀 two"),
        ("x" * 10_000_000, "ValueError: " + "x" * 487 + "…"),
    ],
)
def test_what_a_probe_says_can_be_printed_anywhere(tmp_path: Path, said: str, shown: str) -> None:
    text = f"{said[:1]!r} * {len(said)}" if len(said) > 1000 else ascii(said)
    assert ask(tmp_path, decode(f"raise ValueError({text})")) == {"one": Decoded(refusal=shown)}
