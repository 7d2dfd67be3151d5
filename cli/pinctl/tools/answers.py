"""Keeps what probes answered, by the hash of everything that went in: the same question is not asked twice."""

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from pinctl.tools.places import cache_directory

ANSWERS = "answers"
"""Below the cache directory. A file's time says when it was last used: `upkeep` goes by it."""


def digest_of(*parts: Any) -> str:
    """Returns the hash of JSON-able parts, which names the answer to the question they make up."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of_file(path: Path) -> str:
    """Returns the hash of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def recall(digest: str) -> Any:
    """Returns the answer that was kept under a digest; None where there is none, or where it was damaged."""
    path = _path(digest)
    try:
        checksum, _, data = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    if checksum.decode("ascii", "replace") != hashlib.sha256(data).hexdigest():
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return json.loads(data)


def remember(digest: str, answer: Any) -> None:
    """Keeps an answer, wholly or not at all, with a checksum against damage."""
    data = json.dumps(answer).encode()
    path = _path(digest)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(hashlib.sha256(data).hexdigest().encode() + b"\n" + data)
    Path(name).replace(path)


def _path(digest: str) -> Path:
    return cache_directory() / ANSWERS / digest[:2] / digest[2:]
