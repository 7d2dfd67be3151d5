"""Sums up a rollout in a few numbers, for the logs."""

from dataclasses import dataclass
from statistics import fmean

from verifiers.v1.graph import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStats:
    """How long a rollout is, and how freely it was sampled.

    Attributes:
        prompt_tokens: tokens that were given.
        sampled_tokens: tokens that the model wrote.
        mean_kept_set: how many token ids survived the sampling filters on average; None without a mask.
    """

    prompt_tokens: int
    sampled_tokens: int
    mean_kept_set: float | None


def summarise(trace: Trace) -> TraceStats:
    """Counts a rollout's tokens, and the choices that the model had."""
    counts = [count for node in trace.nodes if node.sampling_mask is not None for count in node.sampling_mask.counts]
    return TraceStats(
        prompt_tokens=sum(len(node.token_ids) for node in trace.nodes if not node.sampled),
        sampled_tokens=sum(len(node.token_ids) for node in trace.nodes if node.sampled),
        mean_kept_set=fmean(counts) if counts else None,
    )
