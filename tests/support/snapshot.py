"""Takes down everything of a repository that a refusal must leave as it is."""

import contextlib
import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

Snapshot = dict[str, str]


def snapshot(repository: Path) -> Snapshot:
    """Returns every ref, and a digest of every file: of HEAD, index, config, logs, submodules, work tree.

    Object databases are left out: they are no state, nothing can tell what is in them until a ref names it.
    """
    taken = {f"ref {line.partition(' ')[0]}": line.partition(" ")[2] for line in _refs(repository)}
    for top, directories, files in os.walk(repository):
        if "HEAD" in files:
            directories[:] = [name for name in directories if name != "objects"]
        for name in files:
            path = Path(top, name)
            taken[f"file {path.relative_to(repository)}"] = _digest(path)
    return taken


@contextlib.contextmanager
def unchanged(*repositories: Path) -> Iterator[None]:
    """Holds some repositories to being the same afterwards, byte for byte."""
    before = [snapshot(repository) for repository in repositories]
    yield
    for repository, taken in zip(repositories, before, strict=True):
        assert difference(taken, snapshot(repository)) == set(), repository


def difference(before: Snapshot, after: Snapshot) -> set[str]:
    """Returns the names of what is new, gone or different."""
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def _refs(repository: Path) -> list[str]:
    shown = "--format=%(refname) %(objectname) %(symref)"
    command = ["git", "-C", str(repository), "for-each-ref", shown]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def _digest(path: Path) -> str:
    if path.is_symlink():
        return f"link to {path.readlink()}"
    return f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
