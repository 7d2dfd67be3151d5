"""Writes the response of /inference/v1/generate: the tokens, and how each of them was sampled."""

import base64
import struct
from dataclasses import dataclass
from typing import Any

NO_EVIDENCE = -9999.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What the engine produced for one request.

    Attributes:
        token_ids: the sampled tokens.
        finish_reason: why the engine stopped.
        logprobs: one per sampled token; None where the engine has no evidence.
        sampling_mask: for each sampled token the ids that survived the sampling filters, if asked for.
        routed_experts: expert ids by position, layer and rank, one row for each forwarded position, if asked for.
        experts_per_row: how many layers and ranks a row has, known even where there is no row.
        routed_experts_start: the position of the first row, as the request asked.
    """

    token_ids: list[int]
    finish_reason: str
    logprobs: list[float | None]
    sampling_mask: list[list[int]] | None = None
    routed_experts: list[list[list[int]]] | None = None
    experts_per_row: tuple[int, int] = (0, 0)
    routed_experts_start: int = 0


def build_generate_response(*, request_id: str, prompt_token_ids: list[int], completion: Completion) -> dict[str, Any]:
    """Builds the response's JSON object.

    Args:
        request_id: repeated to the client.
        prompt_token_ids: what the engine read.
        completion: what it wrote.
    """
    choice: dict[str, Any] = {
        "index": 0,
        "token_ids": completion.token_ids,
        "finish_reason": completion.finish_reason,
        "logprobs": {"content": _logprob_entries(completion)},
    }
    if completion.sampling_mask is not None:
        choice["sampling_mask"] = completion.sampling_mask
    if completion.routed_experts is not None:
        choice["routed_experts"] = {
            **_pack_experts(completion.routed_experts, completion.experts_per_row),
            "start": completion.routed_experts_start,
        }
    prompt_tokens, completion_tokens = len(prompt_token_ids), len(completion.token_ids)
    return {
        "request_id": request_id,
        "choices": [choice],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def _logprob_entries(completion: Completion) -> list[dict[str, Any]]:
    return [
        {
            "token": f"token_id:{token_id}",
            "logprob": NO_EVIDENCE if logprob is None else max(logprob, NO_EVIDENCE),
            "bytes": None,
            "top_logprobs": [],
        }
        for token_id, logprob in zip(completion.token_ids, completion.logprobs, strict=True)
    ]


def _pack_experts(rows: list[list[list[int]]], experts_per_row: tuple[int, int]) -> dict[str, Any]:
    expert_ids = [expert_id for row in rows for layer in row for expert_id in layer]
    dtype, typecode = ("uint8", "B") if max(expert_ids, default=0) < 256 else ("uint16", "H")
    return _pack(expert_ids, shape=[len(rows), *experts_per_row], dtype=dtype, typecode=typecode)


def _pack(numbers: list[int], *, shape: list[int], dtype: str, typecode: str) -> dict[str, Any]:
    buffer = struct.pack(f"<{len(numbers)}{typecode}", *numbers)
    return {"data": base64.b64encode(buffer).decode(), "shape": shape, "dtype": dtype}
