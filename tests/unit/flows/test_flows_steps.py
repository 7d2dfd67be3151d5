"""Counting the parts of a run, and adding up how long they took."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from pinctl.flows.matrix.steps import Clock, Steps
from pinctl.model.progress import Step


class Heard:
    def __init__(self) -> None:
        self.events: list[tuple[str, Step | None]] = []

    def __call__(self, text: str, *, step: Step | None = None) -> None:
        self.events.append((text, step))


def test_parts_are_told_as_they_begin_and_end() -> None:
    heard = Heard()
    steps = Steps(heard, total=2)
    with steps.part("one"), steps.part("two"):
        pass
    assert heard.events == [
        ("", Step(done=0, total=2, running=("one",))),
        ("", Step(done=0, total=2, running=("one", "two"))),
        ("two: done", Step(done=1, total=2, running=("one",))),
        ("one: done", Step(done=2, total=2, running=())),
    ]


def test_a_part_that_fails_has_ended() -> None:
    heard = Heard()
    with pytest.raises(ValueError, match="no"), Steps(heard, total=1).part("one"):
        raise ValueError("no")
    assert heard.events[-1] == ("one: done", Step(done=1, total=1, running=()))


def test_parts_of_many_threads_are_all_counted() -> None:
    heard = Heard()
    steps = Steps(heard, total=200)

    def work(number: int) -> None:
        with steps.part(str(number)):
            pass

    with ThreadPoolExecutor(max_workers=8) as pool:
        list(pool.map(work, range(200)))
    assert heard.events[-1][1] == Step(done=200, total=200, running=())
    done = [step.done for _, step in heard.events if step is not None]
    assert done == sorted(done)


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0.0, 2.0)], 2.0),
        ([(0.0, 2.0), (5.0, 6.5)], 3.5),
        ([(1.0, 4.0), (0.0, 2.0)], 4.0),
        ([(0.0, 9.0), (1.0, 2.0), (3.0, 4.0)], 9.0),
    ],
)
def test_what_goes_on_at_the_same_time_counts_once(spans: list[tuple[float, float]], expected: float) -> None:
    clock = Clock()
    for begin, end in spans:
        clock.add("renderers@1", begin, end)
    assert clock.seconds() == {"renderers@1": expected}
