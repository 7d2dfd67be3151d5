"""Processes run within limits, and nothing they started outlives them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pinctl.errors import CouldNotFindOutError
from pinctl.tools import process
from pinctl.tools.process import Ended, run

SLEEPER = "import time; time.sleep(600)"
ENV = {"PATH": os.environ["PATH"]}


def python(code: str, directory: Path, *, stdin: bytes = b"", seconds: float | None = None) -> Ended:
    return run([sys.executable, "-c", code], cwd=directory, env=ENV, stdin=stdin, seconds=seconds)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until_gone(pid: int) -> bool:
    for _ in range(200):
        if not is_running(pid):
            return True
        time.sleep(0.01)
    return False


def test_what_a_process_prints_and_how_it_ends_is_taken(tmp_path: Path) -> None:
    code = "import sys; sys.stdout.buffer.write(b'\\xff\\0out'); sys.stderr.buffer.write(b'err\\xff'); sys.exit(7)"
    assert python(code, tmp_path) == Ended(status=7, stdout=b"\xff\0out", stderr="err\ufffd")


def test_a_process_reads_what_it_is_given(tmp_path: Path) -> None:
    data = bytes(range(256)) * 5000
    code = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])"
    assert python(code, tmp_path, stdin=data) == Ended(status=0, stdout=data[::-1], stderr="")
    assert python(code, tmp_path) == Ended(status=0, stdout=b"", stderr="")


def test_a_process_has_the_environment_and_the_directory_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    code = "import os; print(os.getcwd(), sorted(set(os.environ) - {'LC_CTYPE'}))"
    ended = run([sys.executable, "-c", code], cwd=tmp_path, env={"ONLY": "this"})
    assert ended == Ended(status=0, stdout=f"{tmp_path} ['ONLY']\n".encode(), stderr="")


def test_the_status_of_a_process_ended_by_a_signal_is_negative(tmp_path: Path) -> None:
    assert python("import os; os.kill(os.getpid(), 9)", tmp_path) == Ended(status=-9, stdout=b"", stderr="")


def test_a_process_that_takes_too_long_is_ended_with_what_it_said_so_far(tmp_path: Path) -> None:
    code = f"print('begun', flush=True); {SLEEPER}"
    assert python(code, tmp_path, seconds=0.7) == Ended(status=-9, stdout=b"begun\n", stderr="", timed_out=True)


def test_the_children_of_a_process_that_takes_too_long_are_ended_with_it(tmp_path: Path) -> None:
    grandchild = f"import os; print(os.getpid(), flush=True); {SLEEPER}"
    child = f"import os, subprocess, sys; subprocess.run([sys.executable, '-c', {grandchild!r}])"
    code = (
        f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {child!r}]).pid, flush=True); {SLEEPER}"
    )
    ended = python(code, tmp_path, seconds=1.5)
    pids = [int(line) for line in ended.stdout.split()]
    assert (ended.timed_out, len(pids)) == (True, 2)
    assert [wait_until_gone(pid) for pid in pids] == [True, True]


def test_what_a_process_leaves_running_is_ended_when_it_ends(tmp_path: Path) -> None:
    code = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {SLEEPER!r}]).pid)"
    begun = time.monotonic()
    ended = python(code, tmp_path, seconds=60)
    assert (ended.status, ended.timed_out) == (0, False)
    assert time.monotonic() - begun < 30
    assert wait_until_gone(int(ended.stdout))


def test_output_beyond_the_limit_is_cut_off_and_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 1000)
    assert python("print('x' * 999)", tmp_path) == Ended(status=0, stdout=b"x" * 999 + b"\n", stderr="")
    assert python("print('x' * 1000)", tmp_path) == Ended(status=0, stdout=b"x" * 1000, stderr="", flooded=True)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_process_that_floods_an_output_is_ended_long_before_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: str
) -> None:
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 100_000)
    begun = time.monotonic()
    ended = python(f"import sys\nwhile True: sys.{stream}.write('x' * 1000)", tmp_path, seconds=60)
    assert time.monotonic() - begun < 30
    assert (ended.status, ended.timed_out, ended.flooded) == (-9, False, True)
    assert len(ended.stdout) <= 100_000
    assert len(ended.stderr) <= 2**20


def test_the_end_of_what_a_process_complained_of_is_kept(tmp_path: Path) -> None:
    ended = python("import sys; sys.stderr.write('x' * 2**21 + 'the end')", tmp_path)
    assert (len(ended.stderr), ended.stderr[-8:]) == (2**20, "xthe end")


ESCAPING = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        print(os.getpid(), flush=True)
        time.sleep(600)
    os._exit(0)
os.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands orphans to whom they descend from")
@pytest.mark.parametrize("then", ["", "time.sleep(600)", "os.kill(os.getpid(), 9)"])
def test_a_daemon_that_left_its_group_and_session_is_ended_too(tmp_path: Path, then: str) -> None:
    ended = python(f"{ESCAPING}time.sleep(0.3)\n{then}", tmp_path, seconds=3)
    assert wait_until_gone(int(ended.stdout))


KILLED = """
import sys
from pathlib import Path
from pinctl.tools.process import run
run([sys.executable, "-c", sys.argv[1]], cwd=Path(sys.argv[2]), env={})
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands orphans to whom they descend from")
def test_nothing_runs_on_when_pinctl_itself_is_killed(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    note = f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')"
    code = f"{ESCAPING.replace('print(os.getpid(), flush=True)', note)}{note}\ntime.sleep(600)"
    pinctl = subprocess.Popen([sys.executable, "-c", KILLED, code, str(tmp_path)])
    try:
        for _ in range(1000):
            if pids.exists() and pids.read_text().count("\n") == 2:
                break
            time.sleep(0.01)
    finally:
        pinctl.kill()
        pinctl.wait()
    running = [int(line) for line in pids.read_text().splitlines()]
    assert len(running) == 2
    assert [wait_until_gone(pid) for pid in running] == [True, True]


@pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")
def test_a_process_ignores_no_signal_because_python_does(tmp_path: Path) -> None:
    ended = run(["grep", "SigIgn", "/proc/self/status"], cwd=tmp_path, env=ENV)
    ignored = int(ended.stdout.split()[1], 16)
    # What the tests' own parent ignores is handed on, such as SIGINT of a job in the background.
    assert [name for name in (signal.SIGPIPE, signal.SIGXFSZ) if ignored & 1 << name - 1] == []


def test_much_environment_reaches_a_process_whole(tmp_path: Path) -> None:
    env = {f"NAME_{number}": "x" * 1000 for number in range(300)}
    code = "import os; print(sum(len(value) for name, value in os.environ.items() if name.startswith('NAME_')))"
    assert run([sys.executable, "-c", code], cwd=tmp_path, env=env).stdout == b"300000\n"


@pytest.mark.parametrize("program", ["no-such-program", "/no/such/program", "./text", "./directory", "./broken"])
def test_a_program_that_cannot_be_run_is_no_answer(tmp_path: Path, program: str) -> None:
    (tmp_path / "text").write_text("not executable")
    (tmp_path / "directory").mkdir()
    (tmp_path / "broken").write_bytes(b"\x7fELF, but not really")
    (tmp_path / "broken").chmod(0o755)
    path = str(tmp_path / program) if program.startswith("./") else program
    with pytest.raises(CouldNotFindOutError) as caught:
        run([path], cwd=tmp_path, env=ENV)
    assert caught.value.message.startswith(f"{path} cannot be run: ")


def test_a_directory_that_is_gone_is_not_taken_for_a_program_that_is(tmp_path: Path) -> None:
    with pytest.raises(CouldNotFindOutError) as caught:
        run([sys.executable, "-c", ""], cwd=tmp_path / "gone", env=ENV)
    assert str(tmp_path / "gone") in caught.value.message
