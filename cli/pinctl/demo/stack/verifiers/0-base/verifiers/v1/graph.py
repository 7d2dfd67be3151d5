"""Grows a rollout's graph: each turn adds what is new of its prompt, and what the model wrote."""

from dataclasses import dataclass, field
from typing import Any

from verifiers.v1.experts import Row, unpack_rows
from verifiers.v1.types import SamplingMask, TurnTokens


@dataclass(slots=True, kw_only=True)
class Node:
    """A stretch of tokens that was added in one turn.

    Attributes:
        parent: the node that it follows; None for a root.
        token_ids: its own tokens, without those of its ancestors.
        sampled: whether the model wrote them.
        logprobs: one per token of a sampled node.
        routed_experts: one row per token; None where the engine did not say.
        sampling_mask: one row per token of a sampled node; None where the engine did not say.
    """

    parent: int | None
    token_ids: list[int]
    sampled: bool = False
    logprobs: list[float] = field(default_factory=list)
    routed_experts: list[Row] | None = None
    sampling_mask: SamplingMask | None = None


@dataclass(slots=True, kw_only=True)
class Trace:
    """A rollout: nodes that name their parents, so that turns may share a prefix."""

    nodes: list[Node] = field(default_factory=list)


def commit_turn(trace: Trace, tokens: TurnTokens) -> int:
    """Adds a turn's new tokens to the graph.

    Args:
        trace: grown by the turn.
        tokens: what the turn brought home.

    Returns:
        The id of the node that the model wrote.

    Raises:
        ValueError: the sampling mask does not have one row per completion token.
    """
    prefix = _shared_prefix(trace, tokens.prompt_ids)
    path_len = sum(len(trace.nodes[node_id].token_ids) for node_id in prefix)
    parent = prefix[-1] if prefix else None
    new_node_ids: list[int] = []
    if path_len < len(tokens.prompt_ids):
        trace.nodes.append(Node(parent=parent, token_ids=tokens.prompt_ids[path_len:]))
        parent = len(trace.nodes) - 1
        new_node_ids.append(parent)
    trace.nodes.append(
        Node(parent=parent, token_ids=tokens.completion_ids, sampled=True, logprobs=tokens.completion_logprobs)
    )
    assistant_id = len(trace.nodes) - 1
    new_node_ids.append(assistant_id)
    _attribute_routed_experts(trace, prefix, new_node_ids, path_len, tokens.routed_experts)
    _attribute_sampling_mask(trace, assistant_id, tokens.sampling_mask)
    return assistant_id


def path(trace: Trace, node_id: int) -> list[int]:
    """Returns the ids from the root down to a node."""
    found: list[int] = []
    current: int | None = node_id
    while current is not None:
        found.append(current)
        current = trace.nodes[current].parent
    return found[::-1]


def _shared_prefix(trace: Trace, prompt_ids: list[int]) -> list[int]:
    longest: list[int] = []
    for node_id in range(len(trace.nodes)):
        candidate = path(trace, node_id)
        token_ids = [token_id for step in candidate for token_id in trace.nodes[step].token_ids]
        if prompt_ids[: len(token_ids)] == token_ids and len(candidate) > len(longest):
            longest = candidate
    return longest


def _attribute_routed_experts(
    trace: Trace, prefix_node_ids: list[int], new_node_ids: list[int], path_len: int, payload: dict[str, Any] | None
) -> None:
    """Hands each new node the rows of its own tokens.

    The array's row i belongs to position `start + i`. The turn's last position was never forwarded, so it has no row:
    the node that holds it gets a copy of the row before, as a placeholder. A node that reaches outside the array in
    any other way stays without routing, and its branch says that it has none.
    """
    if payload is None:
        return
    rows = unpack_rows(payload)
    at = path_len - int(payload.get("start", 0) or 0)
    last = at + sum(len(trace.nodes[node_id].token_ids) for node_id in new_node_ids)
    for node_id in new_node_ids:
        node = trace.nodes[node_id]
        end = at + len(node.token_ids)
        if node.token_ids and at >= 0:
            if end <= len(rows):
                node.routed_experts = rows[at:end]
            elif rows and end == last == len(rows) + 1:
                node.routed_experts = [*rows[at:], rows[-1]]
        at = end


def _attribute_sampling_mask(trace: Trace, assistant_id: int, mask: SamplingMask | None) -> None:
    if mask is None:
        return
    node = trace.nodes[assistant_id]
    if len(mask.counts) != len(node.token_ids):
        raise ValueError(f"{len(node.token_ids)} completion tokens have {len(mask.counts)} rows of sampling mask")
    node.sampling_mask = mask
