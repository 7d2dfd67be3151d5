"""Reads the superproject: what it pins, by what and from where, and how its pins stand to their branches."""
