"""Rolls out one conversation: asks the server for each turn, and keeps what it says in a graph."""

import asyncio

from prime_rl_configs import RunConfig
from renderers.client import generate
from renderers.types import Message
from verifiers.v1.graph import Trace, commit_turn
from verifiers.v1.types import SamplingMask, TurnTokens

from prime_rl.inference.server import Server, start


async def take_turn(trace: Trace, messages: list[Message], *, server: Server, config: RunConfig) -> Message:
    """Asks for the next message, and adds the turn to the graph.

    Args:
        trace: grown by the turn.
        messages: the conversation so far.
        server: whom to ask.
        config: how to ask.

    Returns:
        What the model said.
    """
    answer = await generate(
        client=server,
        renderer=config.make_renderer(),
        messages=messages,
        model=config.model,
        sampling_params={"max_tokens": config.max_tokens},
    )
    mask = answer.get("sampling_mask")
    tokens = TurnTokens(
        prompt_ids=answer["prompt_ids"],
        completion_ids=answer["completion_ids"],
        completion_logprobs=answer["completion_logprobs"],
        routed_experts=answer["routed_experts"],
        sampling_mask=None if mask is None else SamplingMask.from_sampling_mask(mask),
    )
    commit_turn(trace, tokens)
    return Message(role="assistant", content=answer["content"])


async def roll_out(questions: list[str], *, config: RunConfig) -> Trace:
    """Asks one question after another in the same conversation."""
    server = start(config)
    trace = Trace()
    messages: list[Message] = []
    for question in questions:
        messages.append(Message(role="user", content=question))
        messages.append(await take_turn(trace, messages, server=server, config=config))
    return trace


def main() -> None:
    """Prints the graph of a short conversation."""
    trace = asyncio.run(roll_out(["What has an order?", "And what does it end in?"], config=RunConfig()))
    for node_id, node in enumerate(trace.nodes):
        writer = "model" if node.sampled else "prompt"
        rows = len(node.routed_experts or ())
        kept = len(node.sampling_mask.counts) if node.sampling_mask is not None else 0
        print(f"{node_id} after {node.parent}: {writer}, {len(node.token_ids)} tokens, {rows} routed, {kept} masked")


if __name__ == "__main__":
    main()
