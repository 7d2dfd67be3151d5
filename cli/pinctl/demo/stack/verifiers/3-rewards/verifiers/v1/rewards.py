"""Turns the rewards of a group of rollouts into advantages."""

from statistics import fmean


def advantages(rewards: list[float]) -> list[float]:
    """Returns how far each reward lies above its group's mean; an empty group has none."""
    if not rewards:
        return []
    mean = fmean(rewards)
    return [reward - mean for reward in rewards]
