"""Trains a model on its own rollouts."""
