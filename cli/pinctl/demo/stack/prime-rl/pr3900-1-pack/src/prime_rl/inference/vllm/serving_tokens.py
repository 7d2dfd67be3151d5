"""Writes the response of /inference/v1/generate: the tokens, and how each of them was sampled."""

import base64
import struct
from collections.abc import Sequence
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
        routed_experts_start: the position of the first row, as the request asked; the response counts from the end.
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
    prompt_tokens, completion_tokens = len(prompt_token_ids), len(completion.token_ids)
    choice: dict[str, Any] = {
        "index": 0,
        "token_ids": completion.token_ids,
        "finish_reason": completion.finish_reason,
        "completion_logprobs": _pack_logprobs(completion.logprobs),
    }
    if completion.sampling_mask is not None:
        choice["sampling_mask"] = _pack_mask(completion.sampling_mask)
    if completion.routed_experts is not None:
        rows = completion.routed_experts
        # The last row belongs to the last position that was forwarded, wherever this instance took over.
        start = prompt_tokens + completion_tokens - 1 - len(rows)
        choice["routed_experts"] = {**_pack_experts(rows, completion.experts_per_row), "start": start}
    return {
        "request_id": request_id,
        "choices": [choice],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def _pack_logprobs(logprobs: list[float | None]) -> dict[str, Any]:
    # The comparison is false for NaN too; max() would let it through.
    clamped = [logprob if logprob is not None and logprob > NO_EVIDENCE else NO_EVIDENCE for logprob in logprobs]
    return _pack(clamped, shape=[len(clamped)], dtype="float32", typecode="f")


def _pack_mask(rows: list[list[int]]) -> dict[str, Any]:
    ids = [token_id for row in rows for token_id in row]
    counts = [len(row) for row in rows]
    return {
        "ids": _pack(ids, shape=[len(ids)], dtype="int32", typecode="i"),
        "counts": _pack(counts, shape=[len(counts)], dtype="int32", typecode="i"),
    }


def _pack_experts(rows: list[list[list[int]]], experts_per_row: tuple[int, int]) -> dict[str, Any]:
    expert_ids = [expert_id for row in rows for layer in row for expert_id in layer]
    dtype, typecode = ("uint8", "B") if max(expert_ids, default=0) < 256 else ("uint16", "H")
    return _pack(expert_ids, shape=[len(rows), *experts_per_row], dtype=dtype, typecode=typecode)


def _pack(numbers: Sequence[float], *, shape: list[int], dtype: str, typecode: str) -> dict[str, Any]:
    buffer = struct.pack(f"<{len(numbers)}{typecode}", *numbers)
    return {"data": base64.b64encode(buffer).decode(), "shape": shape, "dtype": dtype}
