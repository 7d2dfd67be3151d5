"""Reads a response with renderers' own generate(): what it decodes of it, and what it hands on."""

# ruff: noqa: INP001 (a probe is no module of a package: it is run by its path)

import asyncio
from types import SimpleNamespace
from typing import Any

from renderers.client import generate  # type: ignore[import-not-found]


def decode_logprobs(body: bytes, request: dict[str, Any]) -> list[float]:
    """Returns the logprobs of the sampled tokens."""
    return list(_generate(body, request)["completion_logprobs"])


def relay_sampling_mask(body: bytes, request: dict[str, Any]) -> Any:
    """Returns the sampling mask that the caller gets, None where it is dropped."""
    return _as_json(_generate(body, request).get("sampling_mask"))


def relay_routed_experts(body: bytes, request: dict[str, Any]) -> Any:
    """Returns the routed experts that the caller gets, None where they are dropped."""
    return _as_json(_generate(body, request).get("routed_experts"))


def receive(body: bytes, request: dict[str, Any]) -> Any:
    """Returns everything that the caller gets of a response."""
    return _generate(body, request)


class _Engine:
    """Stands where the HTTP client stands, and has one answer to everything."""

    base_url = "http://engine.invalid/v1"

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def post(self, _path: str, **_options: object) -> SimpleNamespace:
        return SimpleNamespace(content=self._body)


class _Renderer:
    """Stands where a model's renderer stands; the prompt is tokens already, and the message is not looked at."""

    def get_stop_token_ids(self) -> list[int]:
        return []

    def parse_response(self, _token_ids: list[int], **_options: object) -> SimpleNamespace:
        return SimpleNamespace(content="", reasoning_content=None, reasoning_complete=True, tool_calls=[])


def _generate(body: bytes, request: dict[str, Any]) -> dict[str, Any]:
    prompt_ids = request["prompt_token_ids"]
    result: dict[str, Any] = asyncio.run(
        generate(
            client=_Engine(body),
            renderer=_Renderer(),
            messages=[],
            model="probe",
            prompt_ids=prompt_ids,
            # Without a limit, releases ask the engine for its own.
            max_prompt_len=len(prompt_ids),
        )
    )
    return result


def _as_json(value: Any) -> Any:
    # Releases cut long base64 out of the body and hand it on as a view into it.
    match value:
        case memoryview():
            return value.tobytes().decode("ascii")
        case dict():
            return {key: _as_json(item) for key, item in value.items()}
        case list():
            return [_as_json(item) for item in value]
        case _:
            return value
