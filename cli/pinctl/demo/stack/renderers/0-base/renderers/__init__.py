"""Turns messages into prompt tokens, and completion tokens back into messages."""
