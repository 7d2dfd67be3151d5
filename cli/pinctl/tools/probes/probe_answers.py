"""Reads what a probe wrote as answers: text of code that is not trusted, of any contents and any size."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pinctl.tools.process import OUTPUT_LIMIT, Ended

DEPTH_LIMIT = 64
"""How deep the lists and objects of an answer may stand in each other; no field of a contract needs ten."""

_WORDS = 500
_TAIL = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a probe answered.

    Attributes:
        by_case: the answers, each to a case that was asked for; none at all where one of them cannot be believed.
        lost: why a case that has no answer here has none.
    """

    by_case: Mapping[str, Mapping[str, Any]]
    lost: str


def read_answers(ended: Ended, asked: Collection[str], *, seconds: float) -> Answers:
    """Reads the answers of a probe that has ended.

    The stream of answers is the harness's own. Where anything stands in it that the harness does not write, the code
    under test has written there, or a child of it: then no answer of the run counts.

    Args:
        ended: how it ended, and what it wrote.
        asked: the cases that it was asked about.
        seconds: its time limit, for the reason.

    Returns:
        The answers.
    """
    by_case: dict[str, Mapping[str, Any]] = {}
    lines_by_case: dict[str, bytes] = {}
    failure: str | None = None
    lines = ended.stdout.split(b"\n")
    # A last line without its end is half an answer: the process was ended while it wrote.
    for line in lines[:-1]:
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            return Answers(by_case={}, lost="the probe answered what is not JSON")
        match answer:
            case {"case": str(case)} if case not in asked:
                return Answers(by_case={}, lost=f"the probe answered for {words(case)!r}, which it was not asked about")
            case {"case": str(case)}:
                # A child that the code under test forked may go on in the harness, and answer the same once more.
                if lines_by_case.setdefault(case, line) != line:
                    return Answers(by_case={}, lost=f"the probe gave two different answers for {case}")
                by_case[case] = answer
            case {"protocol": 1, "failure": str(said)}:
                failure = words(said)
            case {"protocol": 1, "ready": True}:
                pass
            case _:
                return Answers(by_case={}, lost="the probe answered what is no answer")
    return Answers(by_case=by_case, lost=failure or _why_lost(ended, seconds))


def words(said: str) -> str:
    """Returns what a probe said as one line of bounded length that can be printed anywhere."""
    # The cut comes first: what is beyond it may be very long.
    line = " ".join(said[: 8 * _WORDS].split())
    shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line)
    return shown if len(shown) <= _WORDS else shown[: _WORDS - 1] + "…"


def is_shallow(value: Any) -> bool:
    """Tells whether the lists and objects of a JSON value stand in each other at most `DEPTH_LIMIT` deep."""
    level = [value]
    for _ in range(DEPTH_LIMIT + 1):
        containers = [item for item in level if isinstance(item, list | dict)]
        if not containers:
            return True
        level = [child for item in containers for child in (item.values() if isinstance(item, dict) else item)]
    return False


def _why_lost(ended: Ended, seconds: float) -> str:
    if ended.timed_out:
        return f"the probe took longer than {seconds:g} s and was ended"
    if ended.flooded:
        return f"the probe wrote more than {OUTPUT_LIMIT // 2**20} MiB and was ended"
    if ended.status == 0:
        return "the probe gave no answer"
    said = words(ended.stderr[-_TAIL:])
    return f"the probe ended with status {ended.status}" + (f": {said}" if said else "")
