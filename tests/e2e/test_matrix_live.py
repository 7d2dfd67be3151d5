"""Asks live servers, keeps what they say, and runs the matrix again without them."""

import json
import shutil
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from pinctl.tools import http
from pinctl.wire.cases import CASES
from pinctl.wire.forms import encode_response
from support import Demo, Pinctl
from support.serving import serving, stack_server
from support.stack import replaced

ROOT = Path(__file__).parents[2]
CASE_NAMES = ("greedy", "top-p", "sampling-mask", "routed-experts", "empty", "no-evidence")


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A directory with a plan and no checkout of any repository: enough where no variant is code."""
    directory = tmp_path / "plan"
    directory.mkdir()
    shutil.copy(ROOT / "pins.toml", directory)
    shutil.copytree(ROOT / "landing_plans", directory / "landing_plans")
    return directory


class Replaying(BaseHTTPRequestHandler):
    """Answers with the true values of the case that is asked, as the form `vllm` writes them."""

    def do_POST(self) -> None:
        self.answer(200, self.body(self.request_json()["pinctl_case"]["name"]))

    def request_json(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def body(self, name: str) -> bytes:
        return encode_response("vllm", CASES[name])

    def answer(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        """Says nothing."""


def matrix(pinctl: Pinctl, cwd: Path, *words: str | Path, status: int) -> dict[str, Any]:
    result = pinctl("matrix", "packed-generate", *words, "--format", "json", cwd=cwd)
    assert (result.status, result.stderr) == (status, ""), result
    data: dict[str, Any] = json.loads(result.stdout)
    return data


def test_the_stacks_own_server_live_and_recorded(demo: Demo, pinctl: Pinctl, tmp_path: Path) -> None:
    clients = ("--client", "verifiers@main", "--client", "wire:packed", "--client", "wire:vllm")
    live: dict[bool, dict[str, Any]] = {}
    for replay in (True, False):
        with stack_server(demo, "origin/perf/packed-generate-gc", replay=replay) as url:
            live[replay] = matrix(pinctl, demo.superproject, "--server", url, *clients, status=1)
            made = matrix(pinctl, demo.superproject, "--server", url, "--record", tmp_path / f"{replay}", status=0)
        assert (made["server"], made["plan"]) == (url, "packed-generate")
        assert [(case["case"], case["replayed"]) for case in made["cases"]] == [(name, replay) for name in CASE_NAMES]

    # The servers are gone.
    for replay in (True, False):
        label = f"recorded:{tmp_path / f'{replay}'}"
        again = matrix(pinctl, demo.superproject, "--server", label, *clients, status=1)
        assert [cell["server"] for cell in again["cells"]] == [label] * 3
        assert _unlabelled(again) == _unlabelled(live[replay])

    verdicts = {replay: [cell["verdict"] for cell in live[replay]["cells"]] for replay in live}
    # With the case's true values, an empty array and its dimensions among them.
    assert verdicts[True] == ["ok", "ok", "rejects"]
    # What its own engine samples is never empty, and has evidence for every token.
    assert verdicts[False] == ["ok", "ok", "rejects"]


def test_a_server_without_replay_is_judged_by_what_its_own_form_says(plan: Path, pinctl: Pinctl) -> None:
    class Sampling(Replaying):
        def body(self, name: str) -> bytes:
            # Another answer than the case's, to each case.
            assert name in CASE_NAMES
            body = json.loads(encode_response("vllm", CASES["one-token"]))
            del body["choices"][0]["routed_experts"]
            return json.dumps(body).encode()

    with serving(Sampling) as url:
        clients = ("--client", "wire:vllm", "--client", "wire:packed")
        found = matrix(pinctl, plan, "--server", url, *clients, status=1)

    (reads_it, does_not) = found["cells"]
    fields = {(case["case"], field["field"]): field for case in reads_it["cases"] for field in case["fields"]}
    # What was asked for and not sent is not ok, and neither is it the form's fault.
    absent = {name for name, field in fields.items() if field["verdict"] != "ok"}
    assert absent == {("routed-experts", "routed_experts"), ("empty", "routed_experts")}
    assert {fields[name]["verdict"] for name in absent} == {"missing"}
    assert fields["empty", "routed_experts"]["reason"] == (
        "the server sends no such field, and the client did not object"
    )
    assert does_not["verdict"] == "rejects"


def test_what_is_in_no_known_form_is_unknown(plan: Path, pinctl: Pinctl) -> None:
    class Mixed(Replaying):
        def body(self, name: str) -> bytes:
            packed = json.loads(encode_response("packed", CASES[name]))
            packed["choices"][0]["kept_tokens"] = {}
            return json.dumps(packed).encode()

    with serving(Mixed) as url:
        found = matrix(pinctl, plan, "--server", url, "--client", "wire:packed", status=3)

    (cell,) = found["cells"]
    assert {case["verdict"] for case in cell["cases"]} == {"unknown"}
    assert cell["reason"] == (
        "greedy: logprobs: nothing says what is true of the response: body: is in no wire form that pinctl knows: "
        "none has completion_logprobs, kept_tokens together"
    )


def test_a_route_that_is_gone_rejects_every_client(plan: Path, pinctl: Pinctl) -> None:
    class Unified(Replaying):
        def do_POST(self) -> None:
            name = self.request_json()["pinctl_case"]["name"]
            found = self.path == "/inference/v1/generate"
            self.answer(200 if found else 404, self.body(name) if found else b"Not Found", Pinctl_Case=name)

    with serving(Unified) as url:
        new = matrix(pinctl, plan, "--server", url, "--client", "wire:vllm", status=0)
        # As clients asked before the endpoint moved; no environment of theirs is needed to know.
        old = matrix(
            *(pinctl, plan, "--server", f"{url}/v1/generate", "--client", "renderers==0.1.6", "--client", "wire:vllm"),
            status=1,
        )

    assert new["verdict"] == "ok"
    assert [cell["server"] for cell in old["cells"]] == [f"{url}/v1/generate"] * 2
    assert {(cell["verdict"], cell["reason"]) for cell in old["cells"]} == {
        ("rejects", "greedy: logprobs: POST /v1/generate: HTTP 404 Not Found: nothing is served there")
    }


def test_nobody_at_the_port_is_unknown(plan: Path, pinctl: Pinctl, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        found = matrix(pinctl, plan, "--server", url, "--client", "wire:vllm", status=3)
        recorded = pinctl("matrix", "packed-generate", "--server", url, "--record", tmp_path / "recording", cwd=plan)

    reason = f"{url} gave no answer: Connection refused"
    assert found["cells"][0]["reason"] == reason
    assert (recorded.status, recorded.stdout) == (3, "")
    assert recorded.stderr == f"error: nothing was recorded: {reason}\n"
    assert not (tmp_path / "recording").exists()


def _sleep(handler: Replaying, stop: threading.Event) -> None:
    stop.wait(30)
    handler.close_connection = True


def _drip_headers(handler: Replaying, stop: threading.Event) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not stop.wait(0.02):
        handler.wfile.write(b"x")


def _drip_body(handler: Replaying, stop: threading.Event) -> None:
    handler.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n")
    while not stop.wait(0.02):
        handler.wfile.write(b" ")


@pytest.mark.parametrize("behaviour", [_sleep, _drip_headers, _drip_body])
def test_a_server_that_is_slow_is_unknown_when_its_time_is_over(
    plan: Path, pinctl: Pinctl, behaviour: Callable[[Replaying, threading.Event], None]
) -> None:
    file = plan / "landing_plans/packed-generate.toml"
    probe = 'probe = "probes/generate_server.py"\n'
    file.write_text(replaced(file.read_text(), (probe, f"{probe}seconds = 0.4\n")))
    stop = threading.Event()

    class Slow(Replaying):
        def do_POST(self) -> None:
            self.request_json()
            try:
                behaviour(self, stop)
            except OSError:
                self.close_connection = True

    with serving(Slow) as url:
        start = time.monotonic()
        found = matrix(pinctl, plan, "--server", url, "--client", "wire:vllm", status=3)
        took = time.monotonic() - start
        stop.set()

    assert took < 10
    (cell,) = found["cells"]
    assert {case["verdict"] for case in cell["cases"]} == {"unknown"}
    assert cell["reason"] == f"greedy: logprobs: {url} took longer than 0.4 s for all cases"


def test_a_server_that_is_too_loud_or_breaks_off_or_fails_is_unknown(
    plan: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "BODY_LIMIT", 2**20)

    class Failing(Replaying):
        def do_POST(self) -> None:
            name = self.request_json()["pinctl_case"]["name"]
            match name:
                case "greedy":
                    self.answer(200, b"x" * (2**20 + 1))
                case "top-p":
                    self.send_response(200)
                    self.send_header("Content-Length", "1000")
                    self.end_headers()
                    self.wfile.write(b"{}")
                case "sampling-mask":
                    self.answer(500, b"engine\n \x1b[31mdied")
                case "routed-experts":
                    self.answer(200, b"\xff\xfe")
                case "empty":
                    self.answer(200, self.body(name), Pinctl_Case="greedy")
                case _:
                    self.answer(200, self.body(name), Pinctl_Case=name)

    with serving(Failing) as url:
        found = matrix(pinctl, plan, "--server", url, "--client", "wire:vllm", status=3)

    (cell,) = found["cells"]
    assert {case["case"]: (case["verdict"], case["reason"]) for case in cell["cases"]} == {
        "greedy": ("unknown", f"logprobs: {url} sends more than 1 MiB"),
        "top-p": ("unknown", f"logprobs: {url} gave no answer: IncompleteRead(2 bytes read, 998 more expected)"),
        "sampling-mask": (
            "unknown",
            "logprobs: POST /inference/v1/generate: HTTP 500 Internal Server Error: engine [31mdied",
        ),
        "routed-experts": ("unknown", "logprobs: the response is not UTF-8"),
        "empty": ("unknown", f"logprobs: {url} replayed the case 'greedy', not 'empty'"),
        "no-evidence": ("ok", ""),
    }


def test_redirects_are_not_followed(plan: Path, pinctl: Pinctl) -> None:
    asked: list[str] = []

    class Other(Replaying):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.answer(200, self.body(self.request_json()["pinctl_case"]["name"]))

        do_GET = do_POST  # noqa: N815 - http.server looks for this name

    with serving(Other) as other:

        class Redirecting(Replaying):
            def do_POST(self) -> None:
                self.request_json()
                self.answer(307, b"", Location=f"{other.replace('//', '//name:secret@')}/there?key=secret")

        with serving(Redirecting) as url:
            found = matrix(pinctl, plan, "--server", url, "--client", "wire:vllm", status=3)

    assert asked == []
    assert found["cells"][0]["reason"] == (
        "greedy: logprobs: POST /inference/v1/generate: HTTP 307 Temporary Redirect: "
        f"redirects are not followed, and this one leads to {other}/there"
    )


def test_credentials_are_sent_and_never_shown_and_this_machine_is_asked_without_a_proxy(
    plan: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("all_proxy", "http://127.0.0.1:9")
    seen: set[str | None] = set()

    class Guarded(Replaying):
        def do_POST(self) -> None:
            seen.add(self.headers["Authorization"])
            super().do_POST()

    with serving(Guarded) as url:
        server = url.replace("//", "//mara:s3cr%40t@")
        result = pinctl(
            *("matrix", "packed-generate", "--server", server, "--client", "wire:vllm"),
            *("--record", tmp_path / "recording"),
            cwd=plan,
        )
        grid = pinctl("--verbose", "matrix", "packed-generate", "--server", server, "--client", "wire:vllm", cwd=plan)
    dead = pinctl("matrix", "packed-generate", "--server", server, "--client", "wire:vllm", cwd=plan)
    wrong = pinctl("matrix", "packed-generate", "--server", f"{server}?key=s3cr@t", "--client", "wire:vllm", cwd=plan)
    client = pinctl("matrix", "packed-generate", "--server", "wire:vllm", "--client", server, cwd=plan)

    assert seen == {"Basic bWFyYTpzM2NyQHQ="}
    assert [run.status for run in (result, grid, dead, wrong, client)] == [3, 3, 3, 2, 2]
    written = "".join(path.read_text() for path in (tmp_path / "recording").iterdir())
    printed = "".join(run.stdout + run.stderr for run in (result, grid, dead, wrong, client))
    assert url in printed
    assert url in written
    assert not any(secret in printed + written for secret in ("s3cr", "mara"))


def test_a_live_server_is_asked_every_time(plan: Path, pinctl: Pinctl) -> None:
    asked: list[str] = []

    class Counting(Replaying):
        def body(self, name: str) -> bytes:
            asked.append(name)
            return super().body(name)

    with serving(Counting) as url:
        for _ in range(2):
            matrix(pinctl, plan, "--server", url, "--client", "wire:vllm", status=3)

    assert asked == [*CASE_NAMES, *CASE_NAMES]


def test_a_server_that_speaks_no_tls_is_unknown(plan: Path, pinctl: Pinctl) -> None:
    with serving(Replaying) as url:
        secure = url.replace("http:", "https:")
        found = matrix(pinctl, plan, "--server", secure, "--client", "wire:vllm", status=3)

    assert found["cells"][0]["reason"].startswith(f"{secure} gave no answer: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--record needs one --server, and there is none"),
        (("--server", "wire:vllm", "--server", "wire:packed"), "--record needs one --server, and there are 2"),
        (("--server", "wire:vlm"), "--server wire:vlm: there is no wire form 'vlm'; did you mean 'vllm'?"),
    ],
)
def test_what_cannot_be_recorded(
    plan: Path, pinctl: Pinctl, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    result = pinctl("matrix", "packed-generate", *words, "--record", tmp_path / "recording", cwd=plan)

    assert (result.status, result.stdout) == (2, "")
    assert result.stderr.splitlines()[0] == f"error: {message}"
    assert not (tmp_path / "recording").exists()


def test_every_server_can_be_recorded_also_one_that_fails_on_a_case(plan: Path, pinctl: Pinctl, tmp_path: Path) -> None:
    clients = ("--client", "wire:uint8", "--client", "wire:packed")
    made = matrix(pinctl, plan, "--server", "wire:uint8", "--record", tmp_path / "one", status=0)
    matrix(pinctl, plan, "--server", f"recorded:{tmp_path / 'one'}", "--record", tmp_path / "two", status=0)
    before = matrix(pinctl, plan, "--server", "wire:uint8", *clients, status=1)
    after = matrix(pinctl, plan, "--server", f"recorded:{tmp_path / 'two'}", *clients, status=1)

    failed = {case["case"]: case["failure"] for case in made["cases"] if case["failure"]}
    assert failed == {
        "routed-experts": "the server failed: routed_experts: holds the expert 437, which uint8 cannot",
    }
    assert _unlabelled(before) == _unlabelled(after)


def test_recording_shows_what_it_kept_and_compares_the_clients_that_are_named(
    plan: Path, pinctl: Pinctl, tmp_path: Path
) -> None:
    place = tmp_path / "recording"
    only = pinctl("matrix", "packed-generate", "--server", "wire:vllm", "--record", place, cwd=plan)
    both = pinctl(
        *("matrix", "packed-generate", "--server", "wire:vllm", "--record", place, "--client", "wire:packed"), cwd=plan
    )

    lines = [line.rstrip() for line in only.stdout.splitlines()]
    size = len(encode_response("vllm", CASES["greedy"]))
    assert (only.status, only.stderr) == (0, "")
    assert lines[0] == f"recorded wire:vllm in {place}"
    assert lines[1].split() == ["greedy", str(size), *["bytes", "the", "case's", "own", "values"]]
    assert lines[-1] == f"Compare it with clients: pinctl matrix packed-generate --server recorded:{place}"
    assert (both.status, both.stderr) == (1, f"recorded wire:vllm in {place}\n")
    assert f"rejects  recorded:{place} x wire:packed" in both.stdout


def _unlabelled(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [{key: value for key, value in cell.items() if key != "server"} for cell in found["cells"]]
