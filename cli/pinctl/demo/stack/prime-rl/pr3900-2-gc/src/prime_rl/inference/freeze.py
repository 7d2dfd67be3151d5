"""Keeps the garbage collector away from what a server holds for good."""

import gc

# Responses make many short-lived objects; with the default thresholds each burst walks the whole heap.
THRESHOLDS = (50_000, 20, 100)


def freeze_heap() -> None:
    """Collects once, and then never again looks at what is alive now."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
