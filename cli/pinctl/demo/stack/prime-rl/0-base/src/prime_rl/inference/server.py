"""Serves /inference/v1/generate inside this process: bytes in and bytes out, as over the network."""

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prime_rl_configs import RunConfig

from prime_rl.inference.engine import sample
from prime_rl.inference.vllm.serving_tokens import build_generate_response


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A body as it would come over the network."""

    content: bytes


class Server:
    """Answers requests; it stands where an OpenAI-compatible client of a real server would."""

    base_url = "http://in-process/v1"

    def __init__(self, config: RunConfig) -> None:
        self._config = config
        self._request_ids = itertools.count()

    async def post(self, path: str, *, cast_to: type, body: Mapping[str, Any]) -> Response:
        """Answers one request.

        Raises:
            LookupError: nothing is served under that path.
        """
        if not path.endswith("/inference/v1/generate"):
            raise LookupError(f"nothing is served under {path}")
        sampling = body["sampling_params"]
        completion = sample(
            prompt_token_ids=body["token_ids"],
            stop_token_ids=sampling["stop_token_ids"],
            max_tokens=sampling["max_tokens"],
            mask=self._config.sampling_mask,
            experts_start=sampling.get("routed_experts_start", 0) if self._config.routed_experts else None,
        )
        payload = build_generate_response(
            request_id=f"request-{next(self._request_ids)}",
            prompt_token_ids=body["token_ids"],
            completion=completion,
        )
        return Response(content=json.dumps(payload, separators=(",", ":")).encode())


def start(config: RunConfig) -> Server:
    """Starts a server."""
    return Server(config)
