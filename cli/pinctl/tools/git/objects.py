"""Reads and stores objects: a long-lived git process answers for any number of them."""

import contextlib
import threading
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import git

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import Oid
from pinctl.tools.places import scratch
from pinctl.tools.process import PIPE

GITLINK_MODE = "160000"
TREE_MODE = "40000"

_KINDS = {GITLINK_MODE: "commit", TREE_MODE: "tree"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    """One entry of a tree."""

    mode: str
    oid: Oid
    path: str


class ObjectReader:
    """Asks one `git cat-file --batch-command`; safe for several threads.

    It looks at what is here and fetches nothing. In a partial clone git would ask the remote for every object that is
    missing, also for one that no remote has, and over some transports it then asks itself again without end.
    """

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._lock = threading.Lock()
        self._process: git.Git.AutoInterrupt | None = None

    def info(self, name: str) -> tuple[Oid, str, int] | None:
        """Returns id, type and size; None where the name names nothing here."""
        with self._lock:
            return self._header("info", name)[0]

    def contents(self, name: str) -> bytes | None:
        """Returns the object's bytes; None where the name names nothing here."""
        with self._lock:
            header, source = self._header("contents", name)
            if header is None:
                return None
            data = source.read(header[2])
            source.read(1)
            return data

    def _header(self, command: str, name: str) -> tuple[tuple[Oid, str, int] | None, IO[bytes]]:
        if "\n" in name:
            raise CouldNotFindOutError(f"{name!r} cannot name an object")
        sink, source = self._streams()
        try:
            sink.write(f"{command} {name}\n".encode("utf-8", "surrogateescape"))
            sink.flush()
        except BrokenPipeError as error:
            raise CouldNotFindOutError(f"git cat-file ended early in {self._git_dir}") from error
        words = source.readline().decode("utf-8", "surrogateescape").split()
        if not words:
            # git ends when a partial clone lacks the object and it may not fetch it: the object is not here.
            self._process = None
            return None, source
        if len(words) != 3 or not words[2].isdigit():
            return None, source
        return (Oid(words[0]), words[1], int(words[2])), source

    def _streams(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._process is None:
            # No transport at all, and the word for the same in newer releases.
            sealed = {"GIT_DIR": str(self._git_dir), "GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1"}
            self._process = _start(self, self._git_dir, "cat-file", "--batch-command", env=sealed)
        return _streams_of(self._process, self._git_dir)


class ObjectWriter:
    """Asks one `git hash-object` a kind for files and commits, and one `git mktree` for trees.

    Safe for several threads. What is stored is whole at once, and no ref names it.
    """

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._lock = threading.Lock()
        self._processes: dict[str, git.Git.AutoInterrupt] = {}

    def store(self, kind: str, *contents: bytes) -> tuple[Oid, ...]:
        """Stores blobs or commits by their bytes, and returns their ids."""
        command = ("hash-object", "-w", "--no-filters", "-t", kind, "--stdin-paths")
        with self._lock, scratch() as directory:
            path = directory / kind
            found = []
            for data in contents:
                path.write_bytes(data)
                found.append(self._answer(command, f"{path}\n".encode("utf-8", "surrogateescape")))
            return tuple(found)

    def store_tree(self, entries: Iterable[TreeEntry]) -> Oid:
        """Stores a tree of entries, each with its name for a path; what they name need not be here."""
        lines = (f"{entry.mode} {_KINDS.get(entry.mode, 'blob')} {entry.oid}\t{entry.path}\0" for entry in entries)
        feed = "".join((*lines, "\0")).encode("utf-8", "surrogateescape")
        with self._lock:
            return self._answer(("mktree", "-z", "--missing", "--batch"), feed)

    def _answer(self, command: tuple[str, ...], feed: bytes) -> Oid:
        process = self._processes.get(" ".join(command))
        if process is None:
            process = _start(self, self._git_dir, *command, env={"GIT_DIR": str(self._git_dir)})
            self._processes[" ".join(command)] = process
        sink, source = _streams_of(process, self._git_dir)
        with contextlib.suppress(BrokenPipeError):
            sink.write(feed)
            sink.flush()
        answer = source.readline().decode().strip()
        if not answer:
            raise CouldNotFindOutError(f"git {command[0]} cannot store what it is given in {self._git_dir}")
        return Oid(answer)


def _start(keeper: object, git_dir: Path, *arguments: str, env: Mapping[str, str]) -> git.Git.AutoInterrupt:
    process = git.Git(git_dir).execute(["git", *arguments], istream=PIPE, as_process=True, env=dict(env))
    # Not left to __del__: in a circle of garbage, such as an error's, the process may go before its keeper.
    weakref.finalize(keeper, _end, process.proc)
    return process


def _streams_of(process: git.Git.AutoInterrupt, git_dir: Path) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise CouldNotFindOutError(f"git gives no answer in {git_dir}")
    return process.stdin, process.stdout


def _end(process: Any) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()
    process.wait()
