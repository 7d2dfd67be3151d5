"""Stands between pinctl and a program that it starts: when either of them ends, nothing of the program is left.

Started as `python -IS process_guard.py FD PROGRAM [ARGUMENT ...]`; knows nothing but the standard library. FD is a
socket whose other end pinctl alone holds. The program's environment comes in over it, and how it ended goes out. When
it closes, because pinctl wants an end of it or was killed itself, the program is killed with all that it started, also
what has left its group.
"""

import marshal
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import NoReturn

_SECONDS_TO_KILL = 10.0
_PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    """Runs one program to its end, or to pinctl's."""
    pinctl, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(pinctl, False)  # noqa: FBT003 - the system's own
    env = marshal.loads(_read(pinctl, int.from_bytes(_read(pinctl, 8), "big")))  # noqa: S302 - of pinctl
    _adopt_orphans()
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    program = os.fork()
    if program == 0:
        _become(command, env, pinctl)
    ended: dict[int, int] = {}
    while program not in ended:
        ready, _, _ = select.select([pinctl, woken], [], [])
        if pinctl in ready:
            break
        os.read(woken, 4096)
        _reap(ended)
    _end(program, ended)
    if program in ended:
        _report(pinctl, f"status {os.waitstatus_to_exitcode(ended[program])}\n")


def _read(source: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = os.read(source, min(size - len(data), 2**16))
        if not more:
            sys.exit(1)  # pinctl ended before it could say what to run
        data += more
    return data


def _report(pinctl: int, line: str) -> None:
    try:  # noqa: SIM105 - contextlib takes long to load
        os.write(pinctl, line.encode())
    except OSError:
        pass  # pinctl is gone, and nobody asks any more


def _become(command: list[str], env: dict[str, str], pinctl: int) -> NoReturn:
    signal.set_wakeup_fd(-1)
    # Python ignores these two, and what is ignored stays so in the program.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    os.setsid()
    try:
        os.execvpe(command[0], command, env)  # noqa: S606 - without a shell is how it is meant
    except OSError as error:
        _report(pinctl, f"errno {error.errno}\n")
    os._exit(127)


def _adopt_orphans() -> None:
    """Becomes the parent of all descendants whose own parent ends, so that none gets out of reach."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - takes longer than all the rest

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _reap(ended: dict[int, int]) -> bool:
    """Takes note of the children that ended; returns whether there are any left."""
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if child == 0:
            return True
        ended[child] = status


def _end(program: int, ended: dict[int, int]) -> None:
    """Kills the program's group, then its descendants as they become children of this process."""
    _kill(os.killpg, program)
    deadline = time.monotonic() + _SECONDS_TO_KILL
    while _reap(ended) and time.monotonic() < deadline:
        for child in _children():
            _kill(os.kill, child)
        time.sleep(0.002)


def _kill(how: Callable[[int, int], None], target: int) -> None:
    try:  # noqa: SIM105 - likewise
        how(target, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _children() -> list[int]:
    found = []
    for name in os.listdir("/proc") if sys.platform == "linux" else ():  # noqa: PTH208 - pathlib takes too long to load
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - likewise
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if name.isdigit() and parent == os.getpid():
            found.append(int(name))
    return found


if __name__ == "__main__":
    main()
