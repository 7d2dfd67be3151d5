"""Generates a completion: renders the messages, posts the tokens to /inference/v1/generate, reads the answer."""

import json
import math
from collections.abc import Mapping
from typing import Any, Protocol

from renderers.packed import unpack_float32
from renderers.types import Message, Renderer

# The engine sends this where it has no evidence, and also where a real logprob was clamped: it proves nothing.
NO_EVIDENCE = -9999.0


class MalformedGenerateResponseError(ValueError):
    """The engine's response holds no usable evidence of how its tokens were sampled."""


class OverlongPromptError(Exception):
    """The prompt is longer than the engine's context."""

    def __init__(self, *, prompt_len: int, max_prompt_len: int) -> None:
        super().__init__(f"The prompt has {prompt_len} tokens, the engine takes at most {max_prompt_len}.")
        self.prompt_len = prompt_len
        self.max_prompt_len = max_prompt_len


class RawResponse(Protocol):
    """What a client gives back."""

    @property
    def content(self) -> bytes:
        """The body as it came."""


class Client(Protocol):
    """The part of an OpenAI-compatible client that generating needs."""

    base_url: str

    async def post(self, path: str, *, cast_to: type, body: Mapping[str, Any]) -> RawResponse:
        """Posts a JSON body."""


def parse_generate_response(raw: bytes) -> dict[str, Any]:
    """Returns the response's JSON object."""
    return json.loads(raw)


async def generate(
    *,
    client: Client,
    renderer: Renderer,
    messages: list[Message],
    model: str,
    prompt_ids: list[int] | None = None,
    tools: list[dict[str, Any]] | None = None,
    sampling_params: Mapping[str, Any] | None = None,
    max_prompt_len: int | None = None,
) -> dict[str, Any]:
    """Generates one completion.

    Args:
        client: posts the request.
        renderer: renders the messages and parses the completion.
        messages: the conversation so far.
        model: the name that the engine serves the model under.
        prompt_ids: the prompt as tokens, where the caller has it already.
        tools: the tools that the model may call.
        sampling_params: handed to the engine as they are.
        max_prompt_len: the longest prompt that the engine takes; None leaves the check to the engine.

    Returns:
        What training needs of the completion, by name.

    Raises:
        OverlongPromptError: the prompt is longer than `max_prompt_len`; nothing was sent.
        MalformedGenerateResponseError: the response does not prove how its tokens were sampled.
    """
    if prompt_ids is None:
        prompt_ids = renderer.render(messages, tools=tools, add_generation_prompt=True).token_ids
    if max_prompt_len is not None and len(prompt_ids) > max_prompt_len:
        raise OverlongPromptError(prompt_len=len(prompt_ids), max_prompt_len=max_prompt_len)

    # The endpoint stands at the server's root, beside /v1 and not under it.
    server = str(client.base_url).rstrip("/").removesuffix("/v1")
    response = await client.post(
        f"{server}/inference/v1/generate",
        cast_to=RawResponse,
        body={
            "model": model,
            "token_ids": prompt_ids,
            "sampling_params": {
                **(sampling_params or {}),
                "stop_token_ids": renderer.get_stop_token_ids(),
                "logprobs": 1,
            },
        },
    )
    payload = parse_generate_response(response.content)
    choice = payload["choices"][0]
    completion_ids = choice["token_ids"]
    completion_logprobs = _completion_logprobs(choice, completion_ids)
    parsed = renderer.parse_response(completion_ids, prompt_ids=prompt_ids, tools=tools)
    return {
        "request_id": payload.get("request_id") or "",
        "prompt_ids": prompt_ids,
        "completion_ids": completion_ids,
        "completion_logprobs": completion_logprobs,
        "content": parsed.content,
        "reasoning_content": parsed.reasoning_content,
        "tool_calls": parsed.tool_calls,
        "finish_reason": choice.get("finish_reason"),
        "routed_experts": choice.get("routed_experts"),
        "sampling_mask": choice.get("sampling_mask"),
    }


def _completion_logprobs(choice: Mapping[str, Any], completion_ids: list[int]) -> list[float]:
    packed = choice.get("completion_logprobs")
    if packed is not None:
        return _packed_logprobs(packed, completion_ids)
    logprobs = choice.get("logprobs")
    if not isinstance(logprobs, Mapping):
        raise MalformedGenerateResponseError("Engine response choice.logprobs must be an object.")
    content = logprobs.get("content")
    if not isinstance(content, list):
        raise MalformedGenerateResponseError("Engine response choice.logprobs.content must be a list.")
    if len(content) != len(completion_ids):
        raise MalformedGenerateResponseError(
            f"Engine response has {len(completion_ids)} completion tokens and {len(content)} logprobs."
        )
    return [
        _entry_logprob(entry, token_id, where=f"choice.logprobs.content[{index}]")
        for index, (entry, token_id) in enumerate(zip(content, completion_ids, strict=True))
    ]


def _packed_logprobs(packed: Any, completion_ids: list[int]) -> list[float]:
    where = "choice.completion_logprobs"
    try:
        logprobs = unpack_float32(packed, length=len(completion_ids))
    except ValueError as error:
        raise MalformedGenerateResponseError(f"Engine response {where} {error}.") from error
    return [_evidence(logprob, where=f"{where}[{index}]") for index, logprob in enumerate(logprobs)]


def _entry_logprob(entry: Any, token_id: int, *, where: str) -> float:
    if not isinstance(entry, Mapping):
        raise MalformedGenerateResponseError(f"Engine response {where} must be an object.")
    if entry.get("token") != f"token_id:{token_id}":
        raise MalformedGenerateResponseError(f"Engine response {where}.token must be 'token_id:{token_id}'.")
    logprob = entry.get("logprob")
    if isinstance(logprob, bool) or not isinstance(logprob, int | float):
        raise MalformedGenerateResponseError(f"Engine response {where}.logprob must be a number.")
    try:
        return _evidence(float(logprob), where=f"{where}.logprob")
    except OverflowError as error:
        raise MalformedGenerateResponseError(f"Engine response {where}.logprob must be finite.") from error


def _evidence(logprob: float, *, where: str) -> float:
    if not math.isfinite(logprob):
        raise MalformedGenerateResponseError(f"Engine response {where} must be finite.")
    if logprob == NO_EVIDENCE:
        raise MalformedGenerateResponseError(f"Engine response {where} does not contain sampling evidence.")
    return logprob
