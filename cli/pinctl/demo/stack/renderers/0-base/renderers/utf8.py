"""Renders with one token per byte of UTF-8: a chat format that needs no vocabulary."""

from typing import Any

from renderers.types import Message, ParsedResponse, RenderedTokens

ROLES = {"system": 256, "user": 257, "assistant": 258}
END_OF_MESSAGE = 259
VOCABULARY_SIZE = 260


class Utf8Renderer:
    """Writes a message as its role's token, its bytes, and the token that ends it."""

    def render(
        self, messages: list[Message], *, tools: list[dict[str, Any]] | None = None, add_generation_prompt: bool = False
    ) -> RenderedTokens:
        """Returns the prompt's tokens.

        Raises:
            ValueError: tools were given; this format has no place for them.
        """
        if tools:
            raise ValueError("Utf8Renderer does not support tools.")
        token_ids: list[int] = []
        spans: list[tuple[int, int]] = []
        for message in messages:
            start = len(token_ids)
            token_ids += [ROLES[message["role"]], *message["content"].encode(), END_OF_MESSAGE]
            spans.append((start, len(token_ids)))
        if add_generation_prompt:
            token_ids.append(ROLES["assistant"])
        return RenderedTokens(token_ids=token_ids, spans=spans)

    def get_stop_token_ids(self) -> list[int]:
        """Returns the tokens that end a completion."""
        return [END_OF_MESSAGE]

    def parse_response(
        self, token_ids: list[int], *, prompt_ids: list[int], tools: list[dict[str, Any]] | None = None
    ) -> ParsedResponse:
        """Returns the message that the completion's tokens spell."""
        spelled = bytes(token_id for token_id in token_ids if token_id < 256)
        return ParsedResponse(content=spelled.decode(errors="replace"))
