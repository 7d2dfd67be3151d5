"""Several things are done at the same time, and what one of them says is not lost."""

import subprocess
import sys
import threading
from functools import partial

import pytest

from pinctl.tools.at_once import at_once, begin

SECONDS = 20.0
"""How long a test waits for what comes at once, before it fails."""


def meet(barrier: threading.Barrier, answer: int) -> int:
    """Answers only where as many others ask at the same time as the barrier wants."""
    barrier.wait(timeout=SECONDS)
    return answer


def test_answers_come_in_the_order_of_questions_that_are_asked_at_the_same_time() -> None:
    barrier = threading.Barrier(8)
    assert at_once(partial(meet, barrier, number) for number in range(8)) == list(range(8))


def test_no_questions_have_no_answers() -> None:
    assert at_once(()) == []


def test_the_first_that_raises_is_told_and_the_others_are_waited_for() -> None:
    done: list[int] = []

    def ask(number: int) -> None:
        if number % 2:
            raise LookupError(number)
        done.append(number)

    with pytest.raises(LookupError, match=r"^1$"):
        at_once(partial(ask, number) for number in range(6))
    assert sorted(done) == [0, 2, 4]


def test_what_was_begun_goes_on_by_itself_and_tells_who_takes_its_result() -> None:
    barrier = threading.Barrier(2)
    begun = begin(partial(meet, barrier, 7))
    assert meet(barrier, 0) == 0
    assert begun.result(timeout=SECONDS) == 7

    failing = begin(partial(int, "no number"))
    with pytest.raises(ValueError, match="no number"):
        failing.result(timeout=SECONDS)


def test_a_run_that_ends_does_not_wait_for_a_process_that_was_begun() -> None:
    """As with Ctrl-C, while the build backend of a version is at work."""
    code = """
import sys, time
from functools import partial
from pathlib import Path
from pinctl.tools.at_once import begin
from pinctl.tools.process import end_all, run
begin(partial(run, [sys.executable, "-c", "import time; time.sleep(600)"], cwd=Path.cwd(), env={}))
time.sleep(0.5)
end_all()
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=SECONDS, check=False).returncode == 0
