"""Starts processes other than git, with limits on their time and their output, and leaves none behind."""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pinctl.errors import CouldNotFindOutError

PIPE = subprocess.PIPE

ProcessFailedError = subprocess.SubprocessError
"""What other people's code raises where a process that it started failed."""

OUTPUT_LIMIT = 256 * 2**20
"""Bytes of output that one process may write before it counts as broken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a process ended.

    Attributes:
        status: its exit status; negative for the signal that ended it.
        timed_out: whether it was ended for taking too long.
    """

    status: int
    stdout: bytes
    stderr: str
    timed_out: bool = False


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes = b"",
    seconds: float | None = None,
) -> Ended:
    """Runs a command to its end and takes what it prints.

    Args:
        command: the program and its arguments.
        cwd: the directory to run in.
        env: its whole environment.
        stdin: what it reads.
        seconds: the time limit; its whole process group is ended when it is over.

    Raises:
        CouldNotFindOutError: the program is not there.
    """
    # Files instead of pipes: a process that prints more than it should fills the disk's quota, not our memory.
    with tempfile.TemporaryFile() as feed, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        feed.write(stdin)
        feed.seek(0)
        try:
            process = subprocess.Popen(
                [str(word) for word in command],
                cwd=cwd,
                env=dict(env),
                stdin=feed,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as error:
            what = command[0] if cwd.is_dir() else f"{command[0]} in {cwd}"
            raise CouldNotFindOutError(f"{what} cannot be run: {error.strerror}") from error
        timed_out = False
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            _end_group(process)
        size = out.seek(0, os.SEEK_END)
        out.seek(0)
        err.seek(0)
        stdout = out.read(OUTPUT_LIMIT)
        stderr = err.read(2**20).decode("utf-8", "replace")
    if size > OUTPUT_LIMIT:
        stderr += f"\n[more than {OUTPUT_LIMIT} bytes of output: cut off]"
    return Ended(status=process.returncode, stdout=stdout, stderr=stderr, timed_out=timed_out)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends what is left of the process and of anything it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
