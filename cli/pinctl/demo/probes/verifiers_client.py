"""Reads what renderers hands on with verifiers' own code: the sampling mask, and each position's experts."""

# ruff: noqa: INP001 (a probe is no module of a package: it is run by its path)

import json
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

from verifiers.v1 import graph  # type: ignore[import-not-found]
from verifiers.v1.types import SamplingMask  # type: ignore[import-not-found]


def decode_sampling_mask(body: bytes, _request: dict[str, Any]) -> list[list[int]] | None:
    """Returns the surviving token ids of each completion token, None where the response has none."""
    sent = _choice(body).get("sampling_mask")
    if sent is None:
        return None
    mask = SamplingMask.from_sampling_mask(sent)
    ids, counts = _as_lists(mask.ids), _as_lists(mask.counts)
    ends = accumulate(counts)
    return [ids[end - count : end] for count, end in zip(counts, ends, strict=True)]


def decode_routed_experts(body: bytes, request: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the experts of each forwarded position, None where the graph says that it has none."""
    choice = _choice(body)
    if choice.get("routed_experts") is None:
        return None
    filled = [node for node in _nodes(choice, request) if node.token_ids]
    if any(node.routed_experts is None for node in filled):
        return None
    rows = [row for node in filled for row in _as_lists(node.routed_experts)]
    # The last position was never forwarded; what stands there is a placeholder.
    return {"ids": rows[:-1], "start": request["routed_experts_start"] or 0}


def receive(body: bytes, request: dict[str, Any]) -> Any:
    """Returns what a rollout keeps of a response."""
    choice = _choice(body)
    sent = choice.get("sampling_mask")
    return None if sent is None else SamplingMask.from_sampling_mask(sent), _nodes(choice, request)


def _nodes(choice: dict[str, Any], request: dict[str, Any]) -> list[SimpleNamespace]:
    """Returns the nodes of one turn, each with the experts of its tokens where the response has any."""
    # The tokens before the requested start belong to an earlier turn, which has their experts already.
    start = request["routed_experts_start"] or 0
    nodes = [
        SimpleNamespace(token_ids=token_ids, sampled=sampled, routed_experts=None)
        for token_ids, sampled in ((request["prompt_token_ids"][start:], False), (choice["token_ids"], True))
    ]
    if choice.get("routed_experts") is not None:
        graph._attribute_routed_experts(  # noqa: SLF001
            SimpleNamespace(nodes=nodes), [], [0, 1], start, choice["routed_experts"]
        )
    return nodes


def _choice(body: bytes) -> dict[str, Any]:
    choice: dict[str, Any] = json.loads(body)["choices"][0]
    return choice


def _as_lists(values: Any) -> list[Any]:
    # One release holds numpy arrays, another arrays of the standard library, a third nested lists.
    return list(values.tolist() if hasattr(values, "tolist") else values)
