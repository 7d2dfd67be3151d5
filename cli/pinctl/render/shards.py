"""Shows what one shard found, and which shards there are, for people and for other programs."""

import json
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from pinctl.model.shard import Layout, Shard
from pinctl.render.matrix import matrix_text
from pinctl.render.reports import printable

_NAMED = 3


def shard_text(shard: Shard) -> RenderableType:
    """Returns a shard's cells as a matrix of their own."""
    number, total = shard.number, len(shard.layout.servers) * len(shard.layout.clients)
    if not shard.cells:
        return Text(f"shard {number} has no cells: there are more shards than clients ({len(shard.layout.clients)})")
    words = f"shard {number} has {len(shard.cells)} of the {total} cells"
    return Group(matrix_text(shard.matrix), Text(words, style="dim"))


def shard_json(shard: Shard) -> dict[str, Any]:
    """Returns everything of a shard that merging it needs."""
    layout = asdict(shard.layout)
    return {
        "version": 1,
        "shard": str(shard.number),
        **layout,
        "seconds": dict(shard.seconds),
        "cells": [asdict(cell) for cell in shard.cells],
    }


def github_matrix(layout: Layout) -> str:
    """Returns the jobs of a GitHub Actions matrix in one line, for `strategy.matrix: ${{ fromJson(...) }}`."""
    jobs = [
        {"shard": str(number), "name": _name(layout.split[number.index - 1])}
        for number in layout.numbers
        if layout.pairs_of(number)
    ]
    return json.dumps({"include": jobs}, separators=(",", ":")) + "\n"


def _name(clients: tuple[str, ...]) -> str:
    shown = ", ".join(printable(client) for client in clients[:_NAMED])
    return shown if len(clients) <= _NAMED else f"{shown} and {len(clients) - _NAMED} more"
