"""Encodes a case with SkyRL's own code, as its engines would answer."""

# ruff: noqa: INP001 (a probe is no module of a package: it is run by its path)

from typing import Any

from skyrl.respond import respond  # type: ignore[import-not-found]


def encode(case: dict[str, Any]) -> dict[str, Any]:
    """Returns the response to one case, as a JSON object."""
    choice = respond(token_ids=case["token_ids"], logprobs=case["logprobs"], support=case["sampling_mask"])
    return {"request_id": case["name"], "choices": [{"index": 0, "finish_reason": case["finish_reason"], **choice}]}
