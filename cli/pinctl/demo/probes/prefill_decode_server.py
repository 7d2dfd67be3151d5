"""Encodes a case as prime-rl's prefill and decode instances would answer it: what a router has to join."""

# ruff: noqa: INP001 (a probe is no module of a package: it is run by its path)

from typing import Any

from prime_rl.inference.vllm.disaggregated import prefill_experts  # type: ignore[import-not-found]
from prime_rl.inference.vllm.serving_tokens import Completion, build_generate_response  # type: ignore[import-not-found]


def encode(case: dict[str, Any]) -> dict[str, Any]:
    """Returns the response to one case; with the prefill instance's own below `prefill` where there are two."""
    routed = case["routed_experts"]
    if case["name"] != "prefill-decode":
        return _respond(case, case["token_ids"], routed["ids"], routed["start"])
    rows, start, prompt_tokens = routed["ids"], routed["start"], len(case["prompt_token_ids"])
    until_prompt_end = prompt_tokens - start
    # The decode instance forwards the prompt's last token once more; both were asked for the same start.
    response = _respond(case, case["token_ids"], rows[until_prompt_end - 1 :], start)
    handed_out = prefill_experts(rows[:until_prompt_end])
    response["prefill"] = _respond(case, case["token_ids"][:1], handed_out, start)
    return response


def _respond(case: dict[str, Any], token_ids: list[int], rows: list[Any] | None, start: int) -> dict[str, Any]:
    completion = Completion(
        token_ids=token_ids,
        finish_reason=case["finish_reason"],
        logprobs=case["logprobs"][: len(token_ids)],
        routed_experts=rows,
        experts_per_row=tuple(case["routed_experts_shape"][1:]),
        routed_experts_start=start,
    )
    response: dict[str, Any] = build_generate_response(
        request_id=case["name"], prompt_token_ids=case["prompt_token_ids"], completion=completion
    )
    return response
