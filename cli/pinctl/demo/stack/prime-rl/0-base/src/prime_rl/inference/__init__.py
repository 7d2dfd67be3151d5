"""Samples completions."""
