"""Samples without a model: an engine whose answer is a table, for runs on a machine that has no accelerator."""

from math import log

from prime_rl.inference.vllm.serving_tokens import Completion

ANSWER = b"A landing has an order."
LAYERS = 2
EXPERTS = 8
TOP_K = 2


def sample(
    *, prompt_token_ids: list[int], stop_token_ids: list[int], max_tokens: int, mask: bool, experts_start: int | None
) -> Completion:
    """Samples one completion.

    Args:
        prompt_token_ids: what to go on from.
        stop_token_ids: the first of them ends the answer.
        max_tokens: the longest completion.
        mask: whether to say which ids survived the sampling filters.
        experts_start: the first position to tell the experts of; None tells of none.
    """
    token_ids = [*ANSWER, *stop_token_ids[:1]][:max_tokens]
    kept = [sorted({token_id, (token_id + 1) % 256}) for token_id in token_ids]
    # The last token was sampled, never forwarded, so nothing was routed for it.
    forwarded = [*prompt_token_ids, *token_ids][:-1]
    return Completion(
        token_ids=token_ids,
        finish_reason="stop" if token_ids[-1:] == stop_token_ids[:1] else "length",
        logprobs=[-log(len(row)) for row in kept],
        sampling_mask=kept if mask else None,
        routed_experts=None if experts_start is None else [_route(token_id) for token_id in forwarded[experts_start:]],
        experts_per_row=(LAYERS, TOP_K),
        routed_experts_start=experts_start or 0,
    )


def _route(token_id: int) -> list[list[int]]:
    return [[(token_id + layer + 3 * rank) % EXPERTS for rank in range(TOP_K)] for layer in range(LAYERS)]
