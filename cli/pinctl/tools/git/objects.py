"""Reads objects that are here: one long-lived git process answers for any number of them."""

import contextlib
import threading
import weakref
from pathlib import Path
from typing import IO, Any

import git

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import Oid
from pinctl.tools.process import PIPE


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
            self._process = git.Git(self._git_dir).execute(
                ["git", "cat-file", "--batch-command"],
                istream=PIPE,
                as_process=True,
                # No transport at all, and the word for the same in newer releases.
                env={"GIT_DIR": str(self._git_dir), "GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1"},
            )
            # Not left to __del__: in a circle of garbage, such as an error's, the process may go before its keeper.
            weakref.finalize(self, _end, self._process.proc)
        sink, source = self._process.stdin, self._process.stdout
        if sink is None or source is None:
            raise CouldNotFindOutError(f"git cat-file gives no answer in {self._git_dir}")
        return sink, source


def _end(process: Any) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()
    process.wait()
