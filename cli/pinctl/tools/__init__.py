"""Who does it: one module for each outside thing, each translating that thing's errors."""
