"""Makes two real repositories of the history that tests/data/prime-stack describes: prime-rl, and its verifiers.

The data is a graph without contents, so ids are new; a map leads from the old ones. Every commit of verifiers adds a
file of its own, which keeps trees and patches apart. Its version is derived from tags, as the real one is.
"""

import gzip
import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from support.rig import Repo

Changes = Callable[["Entry", Mapping[str, str]], Iterator[bytes]]
"""Says in fast-import's language what a commit changes; it is given the ids that are known already."""

DATA = Path(__file__).parents[1] / "data/prime-stack"
ORIGINS = {
    "deps/prime-envs": "prime-envs",
    "deps/prime-kernels": "prime-kernels",
    "deps/pydantic-config": "pydantic-config",
    "deps/renderers": "renderers",
    "deps/research-environments": "research-environments",
    "deps/verifiers": "verifiers",
}
"""The components by path; only verifiers is there to be fetched."""

HEADS = {2396: "6bcedc7625a278c5b8d55e54161a5830e14fb53a"}
"""Heads of pull requests of verifiers that the data's description names, which a forge keeps under refs/pull."""

_WHO = "Somebody <somebody@prime.example>"
_VERIFIERS = """[build-system]
requires = ["hatchling", "hatch-vcs"]
build-backend = "hatchling.build"

[project]
name = "verifiers"
dynamic = ["version"]
requires-python = ">=3.11"

[tool.hatch.version]
source = "vcs"

[tool.hatch.version.raw-options]
git_describe_command = ["git", "describe", "--tags", "--long", "--match", "v*", "--exclude", "*dev*"]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One commit of the data.

    Attributes:
        gitlinks: by path, of a commit that changed them.
        requirements: by manifest, of a commit that changed them.
    """

    id: str
    parents: tuple[str, ...]
    time: int
    pull: int | None
    reverts: str | None
    gitlinks: Mapping[str, str] | None
    requirements: Mapping[str, tuple[str, ...]] | None

    @classmethod
    def read(cls, line: str) -> "Entry":
        record: dict[str, Any] = json.loads(line)
        requirements = record.get("requirements")
        return cls(
            id=record["id"],
            parents=tuple(record["parents"]),
            time=record["time"],
            pull=record.get("pull"),
            reverts=record.get("reverts"),
            gitlinks=record.get("gitlinks"),
            requirements={name: tuple(texts) for name, texts in requirements.items()} if requirements else None,
        )


class History:
    """The graph of one repository."""

    def __init__(self, name: str) -> None:
        with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            self.entries = {entry.id: entry for entry in map(Entry.read, lines)}
        self.refs: dict[str, str] = json.loads((DATA / f"{name}-refs.json").read_text("utf-8"))

    def first_parents(self, head: str) -> list[Entry]:
        """Returns a commit's first-parent history, oldest first."""
        chain = []
        entry: Entry | None = self.entries[head]
        while entry is not None:
            chain.append(entry)
            entry = self.entries[entry.parents[0]] if entry.parents else None
        return chain[::-1]

    def ancestors(self, head: str) -> frozenset[str]:
        """Returns a commit with everything before it."""
        seen: set[str] = set()
        waiting = [head]
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                waiting += self.entries[one].parents
        return frozenset(seen)

    @cached_property
    def main(self) -> list[Entry]:
        return self.first_parents(self.refs["refs/heads/main"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """The two repositories, with the way from the data's ids to theirs.

    Attributes:
        prime_rl: the superproject; nothing is checked out.
        verifiers: its component's remote.
        ids: of both, by the data's ids.
    """

    prime_rl: Repo
    verifiers: Repo
    ids: Mapping[str, str]


def build_replica(top: Path, *, prime_rl: History, verifiers: History) -> Replica:
    """Makes the two repositories below a directory: the same ids every time, wherever the directory is."""
    component = Repo.make(top / "verifiers.git", bare=True)
    ids = _import(component, verifiers, _own_file, {})
    for pull, head in HEADS.items():
        component.branch(f"refs/pull/{pull}/head", ids[head])
    superproject = Repo.make(top / "prime-rl")
    superproject.git("remote", "add", "origin", "https://forge.example/prime-rl.git")
    superproject.git("config", f"url.{component.directory}.insteadOf", "https://forge.example/verifiers.git")
    superproject.git("config", f"url.{top}/none/.insteadOf", "https://forge.example/")
    ids |= _import(superproject, prime_rl, _changes, ids)
    return Replica(prime_rl=superproject, verifiers=component, ids=ids)


def _import(repo: Repo, history: History, changes: Changes, ids: Mapping[str, str]) -> dict[str, str]:
    marks = {identity: number for number, identity in enumerate(history.entries, 1)}
    path = repo.directory / "marks"
    command = ["git", "-C", str(repo.directory), "fast-import", "--quiet", "--done", f"--export-marks={path}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        sink, source = process.stdin, process.stdout
        assert sink is not None
        assert source is not None
        for entry in history.entries.values():
            message = f"Change {entry.id[:12]}" + (f" (#{entry.pull})" if entry.pull is not None else "") + "\n"
            if entry.reverts is not None:
                reverted = entry.reverts
                if reverted in marks:
                    sink.write(f"get-mark :{marks[reverted]}\n".encode())
                    sink.flush()
                    reverted = source.readline().decode().strip()
                message += f"\nThis reverts commit {reverted}.\n"
            when = f"{_WHO} {entry.time} +0000"
            sink.write(f"commit refs/heads/main\nmark :{marks[entry.id]}\nauthor {when}\ncommitter {when}\n".encode())
            sink.write(_data(message))
            for number, parent in enumerate(entry.parents):
                sink.write(f"{'merge' if number else 'from'} :{marks[parent]}\n".encode())
            sink.writelines(changes(entry, ids))
        for name, identity in history.refs.items():
            sink.write(f"reset {name}\nfrom :{marks[identity]}\n\n".encode())
        sink.write(b"done\n")
    assert process.returncode == 0
    found = dict(line.split() for line in path.read_text().splitlines())
    path.unlink()
    return {identity: found[f":{number}"] for identity, number in marks.items()}


def _own_file(entry: Entry, _: Mapping[str, str]) -> Iterator[bytes]:
    if not entry.parents:
        yield _file("pyproject.toml", _VERIFIERS)
    yield _file(f"commits/{entry.id[:2]}/{entry.id}", entry.id)


def _changes(entry: Entry, ids: Mapping[str, str]) -> Iterator[bytes]:
    yield _file("commit", entry.id)
    if entry.gitlinks is not None:
        sections = [
            f'[submodule "{ORIGINS[path]}"]\n\tpath = {path}\n\turl = https://forge.example/{ORIGINS[path]}.git\n'
            for path in entry.gitlinks
        ]
        yield _file(".gitmodules", "".join(sections))
        yield b"D deps\n"
        yield from (f"M 160000 {ids.get(oid, oid)} {path}\n".encode() for path, oid in entry.gitlinks.items())
    for manifest, requirements in (entry.requirements or {}).items():
        name = "prime-rl-configs" if "configs" in manifest else "prime-rl"
        lines = [f"    {json.dumps(text)}," for text in requirements]
        head = f'[project]\nname = "{name}"\nversion = "0"\nrequires-python = ">=3.11"\ndependencies = ['
        yield _file(manifest, "\n".join([head, *lines, "]", ""]))


def _file(path: str, contents: str) -> bytes:
    return f"M 100644 inline {path}\n".encode() + _data(contents)


def _data(text: str) -> bytes:
    return f"data {len(text.encode())}\n{text}\n".encode()
