"""Carries landings out, and publishes them."""
