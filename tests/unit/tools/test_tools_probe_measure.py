"""Measures what probes do: the answer comes with times and objects, or says why it has none."""

import sys
from pathlib import Path

import pytest

from pinctl.model.judgement import Decoded
from pinctl.model.measure import Sample
from pinctl.model.plan import Probe
from pinctl.tools.probes.probe import Body, measure_client, measure_server
from pinctl.tools.probes.probe_harness import timed, tracked

PYTHON = Path(sys.executable)


def server(directory: Path, code: str, *, seconds: float = 30) -> tuple[Body, Sample]:
    path = directory / "probe.py"
    path.write_text(code)
    return measure_server(Probe(path=path, seconds=seconds), PYTHON, {"name": "one"}, repeat=3)


def client(directory: Path, code: str, *, seconds: float = 30) -> tuple[dict[str, Decoded], Sample]:
    path = directory / "probe.py"
    path.write_text(code)
    probe = Probe(path=path, reads=("logprobs",), relays=("sampling_mask",), seconds=seconds)
    return measure_client(probe, PYTHON, "one", "[]", {"start": 1}, repeat=3)


FIELDS = """
calls = []
def decode_logprobs(body, request):
    calls.append(request)
    return [-0.5]
def relay_sampling_mask(body, request):
    return len(calls)
"""


def test_a_server_s_body_comes_with_what_writing_it_takes(tmp_path: Path) -> None:
    body, sample = server(tmp_path, "def encode(case):\n    return {'name': case['name']}\n")
    assert body == Body(text='{"name": "one"}')
    assert sample.failure is None
    assert sample.best is not None
    assert sample.median is not None
    assert 0 < sample.best <= sample.median


def test_a_server_that_fails_the_first_time_has_no_body_and_no_figures(tmp_path: Path) -> None:
    body, sample = server(tmp_path, "def encode(case):\n    raise ValueError('no')\n")
    assert body == Body(failure="the server failed: ValueError: no")
    assert (sample.best, sample.median, sample.objects) == (None, None, None)
    assert sample.failure is not None


def test_a_client_is_measured_by_what_it_receives(tmp_path: Path) -> None:
    receive = "def receive(body, request):\n    return [[index] for index in range(1000)]\n"
    decoded, sample = client(tmp_path, FIELDS + receive)
    # The fields were asked for once: the rest of the runs went to receive.
    assert decoded == {"logprobs": Decoded(value=[-0.5]), "sampling_mask": Decoded(value=1)}
    assert sample.objects == 1001
    assert sample.failure is None


def test_a_client_without_receive_is_measured_by_its_fields(tmp_path: Path) -> None:
    code = FIELDS.replace("return [-0.5]", "return [[0] for _ in range(500)]")
    _, sample = client(tmp_path, code)
    # Each call is held: 501 lists, and the list of the two results.
    assert sample.objects is not None
    assert 502 <= sample.objects <= 504


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("def receive(body, request):\n    raise ValueError('bad  mask')\n", "ValueError: bad mask"),
        ("def receive(body, request):\n    import sys; sys.exit(3)\n", "SystemExit: 3"),
        ("def receive(body, request):\n    import os; os._exit(5)\n", "the probe ended with status 5"),
        (
            "def receive(body, request):\n    import time; time.sleep(60)\n",
            "the probe took longer than 1.5 s and was ended",
        ),
        ("import nowhere\n", "the probe cannot be loaded: ModuleNotFoundError: No module named 'nowhere'"),
    ],
)
def test_what_cannot_be_measured_says_why(tmp_path: Path, code: str, failure: str) -> None:
    _, sample = client(tmp_path, FIELDS + code, seconds=1.5)
    assert sample == Sample(failure=failure)


@pytest.mark.parametrize(
    "forged",
    [
        '{"best": 0.0, "median": 1.0, "objects": 1}',
        '{"best": 2.0, "median": 1.0, "objects": 1}',
        '{"best": 1.0, "median": Infinity, "objects": 1}',
        '{"best": 1.0, "median": 1.0, "objects": -1}',
        '{"best": 1.0, "median": 1.0, "objects": true}',
        '{"best": "1.0", "median": 1.0, "objects": 1}',
        "[]",
    ],
)
def test_measures_that_are_none_are_not_taken(tmp_path: Path, forged: str) -> None:
    code = f"""
import os
def encode(case):
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.write(int(name), b'{{"case": "one", "body": "x", "measured": {forged}}}\\n')
            except OSError:
                pass
    os._exit(0)
"""
    body, sample = server(tmp_path, code)
    assert body == Body(text="x")
    assert sample == Sample(failure="the probe answered with a measure that is none")


def test_timing_calls_at_least_as_often_as_asked_with_the_collector_off_and_leaves_it_as_it_was() -> None:
    import gc
    import time

    seen: list[bool] = []

    def call() -> None:
        seen.append(gc.isenabled())
        time.sleep(0.1)

    times = timed(call, 4)
    assert seen == [False] * 4
    assert gc.isenabled()
    assert 0.1 <= times["best"] <= times["median"]

    def fail() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        timed(fail, 1)
    assert gc.isenabled()


def test_what_the_collector_need_not_look_at_is_not_counted() -> None:
    assert tracked(lambda: [[] for _ in range(100)]) == 101
    assert tracked(lambda: "text") == 0
