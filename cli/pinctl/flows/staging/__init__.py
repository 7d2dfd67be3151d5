"""Builds a landing out of sight: from what the pins should be to the candidate commit."""
