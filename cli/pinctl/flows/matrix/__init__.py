"""Runs servers against clients: which variants, over which cases, on how many machines, at what cost."""
