"""Runs probes, and takes what they answer for what it is: somebody else's."""
