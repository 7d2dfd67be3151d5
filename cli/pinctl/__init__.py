"""Lands a change that spans git repositories in its order, as one proven commit."""

__version__ = "0.1.0"
