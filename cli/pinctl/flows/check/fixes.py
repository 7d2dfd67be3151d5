"""Writes the commands that fix findings in files."""

import re
import shlex
from itertools import takewhile


def replace_command(path: str, line: int, before: str, after: str) -> str:
    """Returns a command that replaces a text on one line of a file.

    A quote in the text may stand in the file with a backslash before it, and keeps it: only what differs is written.
    """
    if '"' not in before:
        script = f"{line}s|{_pattern(before)}|{_replacement(after)}|"
    else:
        head = _common(before, after)
        tail = _common(before[len(head) :][::-1], after[len(head) :][::-1])[::-1]
        old, new = (text[len(head) : len(text) - len(tail)] for text in (before, after))
        script = rf"{line}s|\({_pattern(head)}\){_pattern(old)}\({_pattern(tail)}\)|\1{_replacement(new)}\2|"
    return f"sed -i {shlex.quote(script)} {shlex.quote(path)}"


def _common(one: str, other: str) -> str:
    """Returns how two texts begin alike."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(character for character, _ in pairs)


def _pattern(text: str) -> str:
    return re.sub(r"([.*\\[\]^$|])", r"\\\1", text).replace('"', r'\\\{0,1\}"')


def _replacement(text: str) -> str:
    return re.sub(r"([\\&|])", r"\\\1", text)
