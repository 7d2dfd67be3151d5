"""A shell that has pinctl's completion asks pinctl itself what may follow."""

from pathlib import Path

import pytest

from support.rig import apart


@pytest.mark.parametrize(
    ("line", "word", "offered"),
    [
        ("pinctl ca", 1, ["can-land"]),
        ("pinctl land --ex", 2, ["--exclude-conflicting"]),
        ("pinctl matrix packed-generate --format ma", 4, ["markdown"]),
    ],
)
def test_what_may_follow_is_offered(tmp_path: Path, line: str, word: int, offered: list[str]) -> None:
    env = {"_PINCTL_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(word)}

    result = apart(tmp_path, env=env)

    assert (result.status, result.stderr) == (0, "")
    assert result.stdout.split() == offered
