"""Reads what a teacher scored with prime-rl's own code, as its orchestrator does."""

# ruff: noqa: INP001 (a probe is no module of a package: it is run by its path)

import json
from typing import Any

from prime_rl.teacher import flattened  # type: ignore[import-not-found]


def decode_prompt_logprobs(body: bytes, request: dict[str, Any]) -> list[float]:
    """Returns the logprob of each token of the prompt, 0 for the first."""
    return list(flattened(json.loads(body)["prompt_logprobs"], request["prompt_token_ids"]))
