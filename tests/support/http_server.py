"""Serves the embedded stack's /inference/v1/generate over HTTP, where the interpreter's environment has prime-rl.

Prints its port once it listens. With `replay` it answers with the true values of the case that a request brings; else
it samples, with the stack's own engine.
"""

import asyncio
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from prime_rl.inference.server import start  # type: ignore[import-not-found]
from prime_rl.inference.vllm import serving_tokens  # type: ignore[import-not-found]
from prime_rl_configs import RunConfig  # type: ignore[import-not-found]

ROUTE = "/inference/v1/generate"
REPLAY = sys.argv[1:] == ["replay"]
SERVER = start(RunConfig())


class Handler(BaseHTTPRequestHandler):
    """Answers what is posted to the one route."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != ROUTE:
            self.send_error(404)
            return
        content = _replayed(request["pinctl_case"]) if REPLAY else _sampled(request)
        self.send_response(200)
        if REPLAY:
            self.send_header("Pinctl-Case", request["pinctl_case"]["name"])
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        """Says nothing."""


def _sampled(request: dict[str, Any]) -> bytes:
    content: bytes = asyncio.run(SERVER.post(ROUTE, cast_to=bytes, body=request)).content
    return content


def _replayed(case: dict[str, Any]) -> bytes:
    routed = case["routed_experts"] or {"ids": None, "start": 0}
    completion = serving_tokens.Completion(
        token_ids=case["token_ids"],
        finish_reason=case["finish_reason"],
        logprobs=case["logprobs"],
        sampling_mask=case["sampling_mask"],
        routed_experts=routed["ids"],
        experts_per_row=tuple((case["routed_experts_shape"] or (0, 0, 0))[1:]),
        routed_experts_start=routed["start"],
    )
    payload = serving_tokens.build_generate_response(
        request_id=case["name"], prompt_token_ids=case["prompt_token_ids"], completion=completion
    )
    return json.dumps(payload).encode()


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        print(server.server_port, flush=True)  # noqa: T201 - whoever started it reads the port
        server.serve_forever()
