"""Reads a response with SkyRL's own code, as its trainer does."""

# ruff: noqa: INP001 (a probe is no module of a package: it is run by its path)

import json
from typing import Any

from skyrl.read import logprobs_of, support_of  # type: ignore[import-not-found]


def decode_logprobs(body: bytes, _request: dict[str, Any]) -> list[float] | None:
    """Returns the logprobs of the sampled tokens."""
    choice = json.loads(body)["choices"][0]
    return None if "logprobs" not in choice else list(logprobs_of(choice))


def decode_sampling_mask(body: bytes, _request: dict[str, Any]) -> list[list[int]] | None:
    """Returns the surviving token ids of each completion token, None where the response has none."""
    choice = json.loads(body)["choices"][0]
    return None if choice.get("sampling_mask") is None else [list(row) for row in support_of(choice)]
