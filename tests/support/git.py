"""Runs git for tests."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path


def run(directory: Path, *arguments: str | Path, stdin: str = "", env: Mapping[str, str] | None = None) -> str:
    """Runs git, and returns what it prints without the final newline."""
    return output(directory, *arguments, stdin=stdin, env=env).removesuffix("\n")


def output(directory: Path, *arguments: str | Path, stdin: str = "", env: Mapping[str, str] | None = None) -> str:
    """Runs git, and returns all that it prints."""
    ended = subprocess.run(
        ["git", "-C", directory, *arguments],
        input=stdin,
        env={**os.environ, **(env or {})},
        check=False,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, f"git {arguments}: {ended.stderr}"
    return ended.stdout
