"""The first version of the rollout graph."""
