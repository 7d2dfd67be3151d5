"""Writes the commands that fix findings in files."""

import re
import shlex


def replace_command(path: str, line: int, before: str, after: str) -> str:
    """Returns a command that replaces a text on one line of a file."""
    pattern = re.sub(r"([.*\\[\]^$|])", r"\\\1", before)
    replacement = re.sub(r"([\\&|])", r"\\\1", after)
    return f"sed -i {shlex.quote(f'{line}s|{pattern}|{replacement}|')} {shlex.quote(path)}"
