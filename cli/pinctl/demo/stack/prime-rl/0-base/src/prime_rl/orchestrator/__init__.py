"""Collects rollouts."""
