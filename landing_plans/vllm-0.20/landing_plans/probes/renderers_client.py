"""Reads a response with renderers' own generate(), which asks the route that it knows."""

# ruff: noqa: INP001 (a probe is no module of a package: it is run by its path)

import json
from typing import Any

from renderers.client import generate  # type: ignore[import-not-found]


def decode_logprobs(body: bytes, request: dict[str, Any]) -> list[float]:
    """Returns the logprobs of the sampled tokens."""
    response = json.loads(body)

    def post(route: str, _payload: dict[str, Any]) -> dict[str, Any]:
        if route != response["route"]:
            raise LookupError(f"404 Not Found: POST {route}")
        return dict(response)

    return list(generate(post, request["prompt_token_ids"])["completion_logprobs"])
