"""Lays a rollout out for the trainer: one number per token, in the order of the conversation."""

from dataclasses import dataclass

from verifiers.v1.graph import Trace, path


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One branch of a rollout.

    Attributes:
        token_ids: the whole conversation.
        loss_mask: true for the tokens that the model wrote.
        logprobs: how likely each token was when it was sampled; 0.0 for tokens that were given.
    """

    token_ids: list[int]
    loss_mask: list[bool]
    logprobs: list[float]


def lay_out(trace: Trace, leaf: int) -> Sample:
    """Lays out the branch that ends in a leaf."""
    nodes = [trace.nodes[node_id] for node_id in path(trace, leaf)]
    return Sample(
        token_ids=[token_id for node in nodes for token_id in node.token_ids],
        loss_mask=[node.sampled for node in nodes for _ in node.token_ids],
        logprobs=[logprob for node in nodes for logprob in (node.logprobs or [0.0] * len(node.token_ids))],
    )
