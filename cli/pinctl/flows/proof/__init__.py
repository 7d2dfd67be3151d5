"""Proves a staged landing, and certifies what was proven."""
