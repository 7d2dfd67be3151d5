"""Encodes a case with prime-rl's own code, as its /inference/v1/generate would answer."""

# ruff: noqa: INP001 (a probe is no module of a package: it is run by its path)

from typing import Any

from prime_rl.inference.vllm.serving_tokens import Completion, build_generate_response  # type: ignore[import-not-found]


def encode(case: dict[str, Any]) -> dict[str, Any]:
    """Returns the response to one case, as a JSON object."""
    routed, shape = case["routed_experts"], case["routed_experts_shape"]
    completion = Completion(
        token_ids=case["token_ids"],
        finish_reason=case["finish_reason"],
        logprobs=case["logprobs"],
        sampling_mask=case["sampling_mask"],
        routed_experts=None if routed is None else routed["ids"],
        experts_per_row=(0, 0) if shape is None else tuple(shape[1:]),
        routed_experts_start=0 if routed is None else routed["start"],
    )
    response: dict[str, Any] = build_generate_response(
        request_id=case["name"], prompt_token_ids=case["prompt_token_ids"], completion=completion
    )
    return response
