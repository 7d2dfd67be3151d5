"""Asks probes: starts one in its environment, hands it requests, and reads its answers as untrusted text."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pinctl.model.judgement import Decoded
from pinctl.model.measure import Sample
from pinctl.model.plan import Probe
from pinctl.tools.places import scratch
from pinctl.tools.probes import probe_harness
from pinctl.tools.probes.probe_answers import DEPTH_LIMIT, Answers, is_shallow, read_answers, words
from pinctl.tools.process import run

_DEEP = f"nested deeper than {DEPTH_LIMIT} levels"


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What a server sent for one case.

    Attributes:
        text: the response's body; None where there is none.
        failure: why there is none.
        refusal: what the server said where it refused loudly; then there is no body either.
        truth: by field, what is true of this body; None where the case's own values are.
    """

    text: str | None = None
    failure: str | None = None
    refusal: str | None = None
    truth: Mapping[str, Any] | None = None


class _Asked(NamedTuple):
    """The fields that a client is asked for."""

    reads: tuple[str, ...]
    relays: tuple[str, ...]


def ask_server(probe: Probe, python: Path, truths: Iterable[Mapping[str, Any]]) -> dict[str, Body]:
    """Has a server probe encode cases.

    Args:
        probe: the probe.
        python: the interpreter of the server's environment.
        truths: the cases' true values, each with its `name`.

    Returns:
        The bodies by case; a failure for each case that got no answer.
    """
    cases = {truth["name"]: {"role": "server", "case": truth} for truth in truths}
    answers = _ask(probe, python, cases)
    return {name: _body(answers.by_case.get(name, {"failure": answers.lost})) for name in cases}


def ask_client(
    probe: Probe,
    python: Path,
    bodies: Mapping[str, tuple[str, Mapping[str, Any]]],
    *,
    only: Mapping[str, str] | None = None,
) -> dict[str, dict[str, Decoded]]:
    """Has a client probe decode bodies.

    Args:
        probe: the probe, which says which fields the client reads and relays.
        python: the interpreter of the client's environment.
        bodies: by case, the body and what the client asked for.
        only: by case, the one field that the client is to read of it, where it is not to be asked for all.

    Returns:
        What the client made of each field, by case; a failure for each that got no answer.
    """
    alone = only or {}
    every = _Asked(probe.reads, probe.relays)
    asked = {name: _Asked((alone[name],), ()) if name in alone else every for name in bodies}
    cases = {name: _question(asked[name], name, body, request) for name, (body, request) in bodies.items()}
    answers = _ask(probe, python, cases)
    return {name: _fields(asked[name], answers.by_case.get(name, {}), answers.lost) for name in cases}


def measure_server(probe: Probe, python: Path, truth: Mapping[str, Any], *, repeat: int) -> tuple[Body, Sample]:
    """Has a server probe encode one case again and again.

    Args:
        probe: the probe.
        python: the interpreter of the server's environment.
        truth: the case's true values, with its `name`.
        repeat: how often the encoding is timed.

    Returns:
        The body, and what writing it took.
    """
    name = truth["name"]
    answers = _ask(probe, python, {name: {"role": "server", "case": truth, "repeat": repeat}})
    answer = answers.by_case.get(name, {"failure": answers.lost})
    return _body(answer), _sample(answer, answers.lost)


def measure_client(
    probe: Probe, python: Path, case: str, body: str, request: Mapping[str, Any], *, repeat: int
) -> tuple[dict[str, Decoded], Sample]:
    """Has a client probe decode one body again and again.

    Args:
        probe: the probe, which says which fields the client reads and relays.
        python: the interpreter of the client's environment.
        case: the case's name.
        body: what the server sent.
        request: what the client asked for.
        repeat: how often the decoding is timed.

    Returns:
        What the client made of each field, and what reading the body took.
    """
    asked = _Asked(probe.reads, probe.relays)
    answers = _ask(probe, python, {case: {**_question(asked, case, body, request), "repeat": repeat}})
    answer = answers.by_case.get(case, {})
    return _fields(asked, answer, answers.lost), _sample(answer, answers.lost)


def _question(asked: _Asked, name: str, body: str, request: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "client", "case": name, "body": body, "request": request, **asked._asdict()}


def _fields(asked: _Asked, answer: Mapping[str, Any], lost: str) -> dict[str, Decoded]:
    fields = answer.get("fields")
    return {
        field: _decoded(fields.get(field) if isinstance(fields, dict) else None, lost)
        for field in (*asked.reads, *asked.relays)
    }


def _sample(answer: Mapping[str, Any], lost: str) -> Sample:
    match answer.get("measured"):
        case {"failure": str(failure)}:
            return Sample(failure=words(failure))
        case {"best": float(best), "median": float(median), "objects": int(objects)} if (
            0 < best <= median < math.inf and objects >= 0 and objects is not True and objects is not False
        ):
            return Sample(best=best, median=median, objects=objects)
        case None:
            return Sample(failure=lost)
        case _:
            return Sample(failure="the probe answered with a measure that is none")


def _body(answer: Mapping[str, Any]) -> Body:
    match answer:
        case {"body": str(text)}:
            return Body(text=text) if _is_shallow_body(text) else Body(failure=f"the server's body is {_DEEP}")
        case {"failure": str(failure)}:
            return Body(failure=f"the server failed: {words(failure)}")
        case _:
            return Body(failure="the server failed: no body")


def _is_shallow_body(text: str) -> bool:
    """Whether a body can be taken apart; one that is no JSON is for the clients to judge."""
    try:
        return is_shallow(json.loads(text))
    except RecursionError:
        return False
    except ValueError:
        return True


def _decoded(answer: Any, lost: str) -> Decoded:
    match answer:
        case {"refusal": str(refusal)}:
            return Decoded(refusal=words(refusal))
        case {"failure": str(failure)}:
            return Decoded(failure=words(failure))
        case {"value": value}:
            if not is_shallow(value):
                return Decoded(failure=f"the client's value is {_DEEP}")
            unusable = answer.get("unusable")
            return Decoded(value=value, unusable=words(unusable) if isinstance(unusable, str) else None)
        case _:
            return Decoded(failure=lost)


def _ask(probe: Probe, python: Path, cases: Mapping[str, Any]) -> Answers:
    """Runs a probe over cases and returns its answers."""
    feed = "".join(json.dumps(case) + "\n" for case in cases.values()).encode()
    harness = Path(probe_harness.__file__)
    with scratch() as home:
        # Nothing of the user's environment: neither secrets nor settings reach the code under test.
        env = {"HOME": str(home), "TMPDIR": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        command: list[str | Path] = [python, "-I", harness, probe.path, str(probe.memory)]
        ended = run(command, cwd=home, env=env, stdin=feed, seconds=probe.seconds)
    return read_answers(ended, cases, seconds=probe.seconds)
