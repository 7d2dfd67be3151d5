"""Joins what prefill and decode instances answer with the router's own code, and reads the experts of the result."""

# ruff: noqa: INP001 (a probe is no module of a package: it is run by its path)

import base64
import json
import struct
from typing import Any

from vllm_router.routed_experts import join  # type: ignore[import-not-found]


def decode_routed_experts(body: bytes, request: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the experts of each forwarded position, None where an instance hands out none."""
    response = json.loads(body)
    sent = response["choices"][0].get("routed_experts")
    if "prefill" in response:
        prefill = response["prefill"]["choices"][0].get("routed_experts")
        if prefill is None or sent is None:
            return None
        sent = join(prefill, sent, prompt_tokens=len(request["prompt_token_ids"]))
    return None if sent is None else {"ids": _rows(sent), "start": sent["start"]}


def _rows(packed: dict[str, Any]) -> list[list[list[int]]]:
    buffer = base64.b64decode(packed["data"], validate=True)
    rows, layers, top_k = packed["shape"]
    typecode = {"uint8": "B", "uint16": "H"}[packed["dtype"]]
    ids = struct.unpack(f"<{rows * layers * top_k}{typecode}", buffer)
    return [[list(ids[(row * layers + layer) * top_k :][:top_k]) for layer in range(layers)] for row in range(rows)]
