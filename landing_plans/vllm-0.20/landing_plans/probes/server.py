"""Encodes a case with prime-rl's own code, and says on which route it would answer."""

# ruff: noqa: INP001 (a probe is no module of a package: it is run by its path)

from typing import Any

from prime_rl.inference.serve import ROUTE, respond, scored  # type: ignore[import-not-found]


def encode(case: dict[str, Any]) -> dict[str, Any]:
    """Returns the response to one case; beside it the route, which a client must have asked."""
    routed = case["routed_experts"]
    choice = respond(case["token_ids"], case["logprobs"], None if routed is None else routed["ids"])
    scores = scored(case["prompt_logprobs"], case["prompt_token_ids"])
    return {"request_id": case["name"], "choices": [{"index": 0, **choice}], "prompt_logprobs": scores, "route": ROUTE}
