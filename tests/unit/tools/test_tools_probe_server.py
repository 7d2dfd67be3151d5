"""Server probes: what they answer, and what becomes of the cases they cannot."""

import sys
from pathlib import Path
from typing import Any

import pytest

from pinctl.model.plan import Probe
from pinctl.tools.probes.probe import Body, ask_server

PYTHON = Path(sys.executable)
TRUTHS: list[dict[str, Any]] = [{"name": "one", "token_ids": [1]}, {"name": "two", "token_ids": [2, 3]}]


def ask(directory: Path, code: str, truths: list[dict[str, Any]] = TRUTHS, seconds: float = 30) -> dict[str, Body]:
    path = directory / "probe.py"
    path.write_text(code)
    return ask_server(Probe(path=path, seconds=seconds), PYTHON, truths)


def failed(reason: str) -> Body:
    return Body(failure=f"the server failed: {reason}")


def test_a_server_s_bodies_come_by_case(tmp_path: Path) -> None:
    code = "def encode(case):\n    return {'name': case['name'], 'ids': case['token_ids'], 'x': [None, True, 1.5]}\n"
    assert ask(tmp_path, code) == {
        "one": Body(text='{"name": "one", "ids": [1], "x": [null, true, 1.5]}'),
        "two": Body(text='{"name": "two", "ids": [2, 3], "x": [null, true, 1.5]}'),
    }


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ("'{\"raw\":  1}'", '{"raw":  1}'),
        ("b'{\"raw\":  1}'", '{"raw":  1}'),
        ("'é🦀\\n'", "é🦀\n"),
        ("'é🦀'.encode()", "é🦀"),
        ("''", ""),
        ("float('nan')", "NaN"),
        ("['case', {'body': 1}]", '["case", {"body": 1}]'),
    ],
)
def test_a_body_that_is_text_is_not_touched(tmp_path: Path, returned: str, text: str) -> None:
    assert ask(tmp_path, f"def encode(case):\n    return {returned}\n", TRUTHS[:1]) == {"one": Body(text=text)}


def test_what_one_case_raises_is_that_case_s_failure(tmp_path: Path) -> None:
    code = "def encode(case):\n    return {'ids': case['token_ids'][1]}\n"
    assert ask(tmp_path, code) == {
        "one": failed("IndexError: list index out of range"),
        "two": Body(text='{"ids": 3}'),
    }


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise ValueError('two\\n   lines')", "ValueError: two lines"),
        ("raise ValueError", "ValueError"),
        ("raise ImportError('no module')", "ImportError: no module"),
        ("pass", "TypeError: encode returned nothing, expected a dict, a str or bytes"),
        ("return object", "TypeError: Object of type type is not JSON serializable"),
        (
            "return b'\\xff'",
            "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
        ),
        (
            "return '\\ud800'",
            "UnicodeEncodeError: 'utf-8' codec can't encode character '\\ud800' in position 0: surrogates not allowed",
        ),
    ],
)
def test_what_is_no_body_is_a_failure(tmp_path: Path, body: str, reason: str) -> None:
    assert ask(tmp_path, f"def encode(case):\n    {body}\n", TRUTHS[:1]) == {"one": failed(reason)}


def test_a_body_too_deep_for_json_is_one_case_s_failure(tmp_path: Path) -> None:
    code = """
def encode(case):
    deep = []
    for _ in range(100_000 if case["name"] == "one" else 3):
        deep = [deep]
    return deep
"""
    bodies = ask(tmp_path, code)
    assert bodies["one"].text is None
    assert (bodies["one"].failure or "").startswith("the server failed: RecursionError")
    assert bodies["two"] == Body(text="[[[[]]]]")


def test_a_probe_without_the_function_fails_every_case(tmp_path: Path) -> None:
    reason = failed("the probe has no function encode")
    assert ask(tmp_path, "x = 1\n") == {"one": reason, "two": reason}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def encode(", "SyntaxError: '(' was never closed (probe.py, line 1)"),
    ],
)
def test_a_probe_that_cannot_be_loaded_fails_every_case(tmp_path: Path, code: str, reason: str) -> None:
    body = failed(f"the probe cannot be loaded: {reason}")
    assert ask(tmp_path, code) == {"one": body, "two": body}


def test_a_probe_that_is_not_there_fails_every_case(tmp_path: Path) -> None:
    bodies = ask_server(Probe(path=tmp_path / "gone.py"), PYTHON, TRUTHS)
    reason = f"the probe cannot be loaded: FileNotFoundError: [Errno 2] No such file or directory: '{tmp_path}/gone.py'"
    assert bodies == {"one": failed(reason), "two": failed(reason)}


def test_what_the_code_under_test_prints_is_no_answer(tmp_path: Path) -> None:
    code = """
import os, subprocess, sys
print('{"case": "one", "body": "forged"}', flush=True)
os.write(1, b'{"case": "two", "body": "forged"}\\n')
subprocess.run([sys.executable, "-c", "print('{\\"failure\\": \\"forged\\"}')"])
def encode(case):
    print('{"case": "two", "body": "forged"}', flush=True)
    sys.stdout.write("no end of line")
    return case["name"]
"""
    assert ask(tmp_path, code) == {"one": Body(text="one"), "two": Body(text="two")}


def test_a_process_that_ends_part_way_keeps_what_it_answered(tmp_path: Path) -> None:
    truths = [{"name": name} for name in ("one", "two", "three")]
    code = """
import os, sys
def encode(case):
    if case["name"] == "two":
        print("free(): invalid pointer", file=sys.stderr, flush=True)
        os._exit(5)
    return case["name"]
"""
    reason = failed("the probe ended with status 5: free(): invalid pointer")
    assert ask(tmp_path, code, truths) == {"one": Body(text="one"), "two": reason, "three": reason}


def test_a_signal_that_ends_the_process_is_told(tmp_path: Path) -> None:
    code = "import os\ndef encode(case):\n    os.kill(os.getpid(), 11)\n"
    assert ask(tmp_path, code, TRUTHS[:1]) == {"one": failed("the probe ended with status -11")}


@pytest.mark.parametrize("leave", ["sys.exit()", "raise KeyboardInterrupt", "sys.exit('enough')"])
def test_code_that_wants_to_leave_fails_its_own_case_alone(tmp_path: Path, leave: str) -> None:
    code = f"import sys\ndef encode(case):\n    if case['name'] == 'one':\n        {leave}\n    return case['name']\n"
    bodies = ask(tmp_path, code)
    assert bodies["one"].text is None
    assert bodies["two"] == Body(text="two")


def test_a_probe_that_hangs_is_ended_and_keeps_what_it_answered(tmp_path: Path) -> None:
    code = """
import time
def encode(case):
    if case["name"] == "two":
        time.sleep(600)
    return case["name"]
"""
    assert ask(tmp_path, code, seconds=1.5) == {
        "one": Body(text="one"),
        "two": failed("the probe took longer than 1.5 s and was ended"),
    }


def test_a_probe_that_leaves_quietly_gave_no_answer(tmp_path: Path) -> None:
    code = "import os\ndef encode(case):\n    os._exit(0)\n"
    assert ask(tmp_path, code, TRUTHS[:1]) == {"one": failed("the probe gave no answer")}


def test_nothing_of_the_user_s_environment_reaches_the_code_under_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "planted"))
    code = """
import os, sys
def encode(case):
    names = sorted(set(os.environ) - {"LC_CTYPE"})
    places = {os.environ["HOME"], os.environ["TMPDIR"], os.getcwd()}
    planted = [path for path in sys.path if "planted" in path]
    return {"names": names, "one place": len(places), "left": os.listdir(), "planted": planted}
"""
    assert ask(tmp_path, code, TRUTHS[:1]) == {
        "one": Body(text='{"names": ["HOME", "LANG", "PATH", "TMPDIR"], "one place": 1, "left": [], "planted": []}')
    }


def test_the_code_under_test_does_not_see_pinctl_s_own_modules(tmp_path: Path) -> None:
    code = "import sys\ndef encode(case):\n    return [p for p in sys.path if p.endswith(('tools', 'pinctl'))]\n"
    assert ask(tmp_path, code, TRUTHS[:1]) == {"one": Body(text="[]")}


def test_no_cases_are_no_bodies(tmp_path: Path) -> None:
    assert ask(tmp_path, "def encode(case): ...\n", []) == {}
