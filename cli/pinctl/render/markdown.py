"""Writes other people's text into markdown, so that nothing in it is taken for markup, a link or a mention."""

import re

from pinctl.render.reports import printable

_RUN = re.compile(r"`+")


def code(text: str) -> str:
    """Returns a text as code, for a line or a table's cell; its lines are joined by a break.

    GitHub looks for markup, mentions and references everywhere but in code.
    """
    return "<br>".join(_code(printable(line.expandtabs())) for line in text.splitlines() if line.strip())


def table_row(*cells: str) -> str:
    """Returns a row of a table; its cells are markdown already."""
    return f"| {' | '.join(cells)} |"


def _code(line: str) -> str:
    if "|" in line:
        # In a code span a table would still be split at it, and a backslash before it be ambiguous.
        return f"<code>{''.join(map(_entity, line))}</code>"
    longest = max(map(len, _RUN.findall(line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith(("`", " ")) or line.endswith(("`", " ")) else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _entity(character: str) -> str:
    return character if character.isalnum() or character == " " else f"&#{ord(character)};"
