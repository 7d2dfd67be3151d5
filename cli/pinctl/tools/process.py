"""Starts processes other than git, with limits on their time and their output, and leaves none behind."""

import contextlib
import marshal
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pinctl.errors import CouldNotFindOutError
from pinctl.tools import process_guard

PIPE = subprocess.PIPE

ProcessFailedError = subprocess.SubprocessError
"""What other people's code raises where a process that it started failed."""

OUTPUT_LIMIT = 256 * 2**20
"""Bytes that one process may write to either of its outputs; one that writes more is ended."""

_STDERR_KEPT = 2**20
_SECONDS_BETWEEN_LOOKS = 0.25
_SECONDS_TO_END = 15.0

_nobody_waits = threading.Event()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a process ended.

    Attributes:
        status: its exit status; negative for the signal that ended it.
        stdout: what it wrote, up to the limit.
        stderr: the end of what it wrote there.
        timed_out: whether it was ended for taking too long.
        flooded: whether it wrote more than it may.
    """

    status: int
    stdout: bytes
    stderr: str
    timed_out: bool = False
    flooded: bool = False


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes = b"",
    seconds: float | None = None,
) -> Ended:
    """Runs a command to its end and takes what it prints.

    Whatever it started is ended with it, and all of it is ended when this process is, in whatever way.

    Args:
        command: the program and its arguments.
        cwd: the directory to run in.
        env: its whole environment.
        stdin: what it reads.
        seconds: the time limit.

    Raises:
        CouldNotFindOutError: the program is not there.
    """
    # Files instead of pipes: what a process prints waits on the disk, not in our memory.
    with tempfile.TemporaryFile() as feed, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        feed.write(stdin)
        feed.seek(0)
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                process = _start_guard(theirs, command, cwd, streams=(feed, out, err))
            try:
                with contextlib.suppress(BrokenPipeError):
                    data = marshal.dumps(dict(env))
                    ours.sendall(len(data).to_bytes(8, "big") + data)
                timed_out = not _wait(process, (out, err), seconds)
            finally:
                _end(process, ours)
            report = dict(line.split() for line in ours.makefile())
        if "errno" in report:
            raise CouldNotFindOutError(f"{command[0]} cannot be run: {os.strerror(int(report['errno']))}")
        sizes = [stream.seek(0, os.SEEK_END) for stream in (out, err)]
        out.seek(0)
        err.seek(max(0, sizes[1] - _STDERR_KEPT))
        return Ended(
            # Without a report the guard itself was killed.
            status=int(report.get("status", -signal.SIGKILL)),
            stdout=out.read(OUTPUT_LIMIT),
            stderr=err.read().decode("utf-8", "replace"),
            timed_out=timed_out,
            flooded=max(sizes) > OUTPUT_LIMIT,
        )


def end_all() -> None:
    """Ends what threads still run when nobody waits for it any more, as after Ctrl-C; nothing can be run afterwards."""
    _nobody_waits.set()


def _start_guard(
    theirs: socket.socket,
    command: Sequence[str | Path],
    cwd: Path,
    *,
    streams: tuple[IO[bytes], IO[bytes], IO[bytes]],
) -> subprocess.Popen[bytes]:
    guard = [sys.executable, "-IS", process_guard.__file__, str(theirs.fileno())]
    stdin, stdout, stderr = streams
    try:
        return subprocess.Popen(
            [*guard, *(str(word) for word in command)],
            cwd=cwd,
            # What an interpreter may need to start at all.
            env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            pass_fds=(theirs.fileno(),),
        )
    except OSError as error:
        what = guard[0] if cwd.is_dir() else f"a program in {cwd}"
        raise CouldNotFindOutError(f"{what} cannot be run: {error.strerror}") from error


def _wait(process: subprocess.Popen[bytes], outputs: tuple[IO[bytes], ...], seconds: float | None) -> bool:
    """Waits for the end, or until too much was written; returns whether it came in time."""
    deadline = time.monotonic() + seconds if seconds is not None else float("inf")
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=min(left, _SECONDS_BETWEEN_LOOKS))
            return True
        if _nobody_waits.is_set():
            return False
        if any(os.fstat(output.fileno()).st_size > OUTPUT_LIMIT for output in outputs):
            return True


def _end(process: subprocess.Popen[bytes], ours: socket.socket) -> None:
    """Has the guard end what is left of the program and of anything it started."""
    with contextlib.suppress(OSError):
        ours.shutdown(socket.SHUT_WR)
    try:
        process.wait(timeout=_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
