"""Keeps rollouts as graphs of messages; the code lives in `verifiers.v1`."""

from importlib.metadata import version

__version__ = version("verifiers")
