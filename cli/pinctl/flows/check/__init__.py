"""Judges a range of the superproject by the rules, one module for each family of them."""
