"""Sums up a rollout in a few numbers, for the logs."""

from dataclasses import dataclass

from verifiers.v1.graph import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStats:
    """How long a rollout is.

    Attributes:
        prompt_tokens: tokens that were given.
        sampled_tokens: tokens that the model wrote.
    """

    prompt_tokens: int
    sampled_tokens: int


def summarise(trace: Trace) -> TraceStats:
    """Counts a rollout's tokens."""
    return TraceStats(
        prompt_tokens=sum(len(node.token_ids) for node in trace.nodes if not node.sampled),
        sampled_tokens=sum(len(node.token_ids) for node in trace.nodes if node.sampled),
    )
