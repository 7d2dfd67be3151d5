"""Turns messages into prompt tokens, and completion tokens back into messages."""

from renderers.client import MalformedGenerateResponseError, OverlongPromptError, generate
from renderers.types import Message, ParsedResponse, RenderedTokens, Renderer
from renderers.utf8 import Utf8Renderer

__all__ = [
    "MalformedGenerateResponseError",
    "Message",
    "OverlongPromptError",
    "ParsedResponse",
    "RenderedTokens",
    "Renderer",
    "Utf8Renderer",
    "generate",
]
