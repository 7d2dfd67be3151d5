"""Reads a response with verifiers' own client, which asks the route that it knows."""

# ruff: noqa: INP001 (a probe is no module of a package: it is run by its path)

import json
from typing import Any

from verifiers.engine import routed_experts  # type: ignore[import-not-found]


def decode_routed_experts(body: bytes, request: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the experts of each forwarded position, None where the response has none."""
    response = json.loads(body)

    def post(route: str, _payload: dict[str, Any]) -> dict[str, Any]:
        if route != response["route"]:
            raise LookupError(f"404 Not Found: POST {route}")
        return dict(response)

    rows = routed_experts(post, request["prompt_token_ids"])
    # Where they begin is not said: it is where the client asked for them from.
    return None if rows is None else {"ids": rows, "start": request["routed_experts_start"] or 0}
