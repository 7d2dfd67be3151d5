"""Learns from rollouts."""
