"""Says what a renderer is, and what it takes and gives."""

from dataclasses import dataclass, field
from typing import Any, Protocol, TypedDict


class Message(TypedDict):
    """One message of a conversation."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedTokens:
    """A prompt as tokens.

    Attributes:
        token_ids: the whole prompt.
        spans: where each message stands in it, as [start, end) pairs.
    """

    token_ids: list[int]
    spans: list[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedResponse:
    """A completion as a message."""

    content: str
    reasoning_content: str | None = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)


class Renderer(Protocol):
    """Knows one model's chat format."""

    def render(
        self, messages: list[Message], *, tools: list[dict[str, Any]] | None, add_generation_prompt: bool
    ) -> RenderedTokens:
        """Returns the prompt's tokens."""

    def get_stop_token_ids(self) -> list[int]:
        """Returns the tokens that end a completion."""

    def parse_response(
        self, token_ids: list[int], *, prompt_ids: list[int], tools: list[dict[str, Any]] | None
    ) -> ParsedResponse:
        """Returns the message that the completion's tokens spell."""
