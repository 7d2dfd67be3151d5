"""Writes the commands that fix findings in files and in the lock."""

import re
import shlex
from collections.abc import Iterable
from itertools import takewhile
from pathlib import PurePosixPath


def replace_command(path: str, line: int | None, before: str, after: str) -> str:
    """Returns a command that replaces a text on one line of a file, or wherever it is where the line is not known.

    A quote in the text may stand in the file with a backslash before it, and keeps it: only what differs is written.
    """
    place = "" if line is None else str(line)
    if '"' not in before:
        script = f"{place}s|{_pattern(before)}|{_replacement(after)}|"
    else:
        head = _common(before, after)
        tail = _common(before[len(head) :][::-1], after[len(head) :][::-1])[::-1]
        old, new = (text[len(head) : len(text) - len(tail)] for text in (before, after))
        script = rf"{place}s|\({_pattern(head)}\){_pattern(old)}\({_pattern(tail)}\)|\1{_replacement(new)}\2|"
    return f"sed -i {shlex.quote(script)} {shlex.quote(path)}"


def lock_command(lock: str, distributions: Iterable[str]) -> str:
    """Returns the command that makes a lock anew, with the submodules at their pins.

    Args:
        lock: its path, from the top of the superproject.
        distributions: those that uv must not take from its cache.
    """
    project = PurePosixPath(lock).parent
    where = "" if project == PurePosixPath() else f" --directory {shlex.quote(str(project))}"
    refresh = "".join(f" --refresh-package {name}" for name in distributions)
    return f"git submodule update --init && uv lock{where}{refresh}"


def _common(one: str, other: str) -> str:
    """Returns how two texts begin alike."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(character for character, _ in pairs)


def _pattern(text: str) -> str:
    return re.sub(r"([.*\\[\]^$|])", r"\\\1", text).replace('"', r'\\\{0,1\}"')


def _replacement(text: str) -> str:
    return re.sub(r"([\\&|])", r"\\\1", text)
