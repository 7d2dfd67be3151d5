"""Names objects of git: ids that refuse to be anything else."""

import re
from typing import Self

FULL = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
ABBREVIATED = re.compile(r"[0-9a-f]{7,64}")
"""What a file may write for a commit: seven or more hex digits."""


class Oid(str):
    """The full id of an object: 40 hex digits, or 64 in a SHA-256 repository.

    Raises:
        ValueError: the text is no full id.
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Makes the id, or refuses."""
        if not FULL.fullmatch(text):
            msg = f"{text!r} is not a full object id"
            raise ValueError(msg)
        return super().__new__(cls, text)

    @property
    def short(self) -> str:
        """The first seven digits, for people."""
        return self[:7]
