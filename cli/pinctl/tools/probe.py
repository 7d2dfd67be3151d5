"""Asks probes: starts one in its environment, hands it requests, and reads its answers as untrusted text."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinctl.model.judgement import Decoded
from pinctl.model.measure import Sample
from pinctl.model.plan import Probe
from pinctl.tools import probe_harness
from pinctl.tools.places import scratch
from pinctl.tools.process import Ended, run

_TAIL = 300


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
    answers, lost = _ask(probe, python, cases)
    return {name: _body(answers.get(name, {"failure": lost})) for name in cases}


def ask_client(
    probe: Probe, python: Path, bodies: Mapping[str, tuple[str, Mapping[str, Any]]]
) -> dict[str, dict[str, Decoded]]:
    """Has a client probe decode bodies.

    Args:
        probe: the probe, which says which fields the client reads and relays.
        python: the interpreter of the client's environment.
        bodies: by case, the body and what the client asked for.

    Returns:
        What the client made of each field, by case; a failure for each that got no answer.
    """
    cases = {name: _question(probe, name, body, request) for name, (body, request) in bodies.items()}
    answers, lost = _ask(probe, python, cases)
    return {name: _fields(probe, answers.get(name, {}), lost) for name in cases}


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
    answers, lost = _ask(probe, python, {name: {"role": "server", "case": truth, "repeat": repeat}})
    answer = answers.get(name, {"failure": lost})
    return _body(answer), _sample(answer, lost)


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
    answers, lost = _ask(probe, python, {case: {**_question(probe, case, body, request), "repeat": repeat}})
    answer = answers.get(case, {})
    return _fields(probe, answer, lost), _sample(answer, lost)


def _question(probe: Probe, case: str, body: str, request: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "role": "client",
        "case": case,
        "body": body,
        "request": request,
        "reads": probe.reads,
        "relays": probe.relays,
    }


def _body(answer: Mapping[str, Any]) -> Body:
    body = answer.get("body")
    if isinstance(body, str):
        return Body(text=body)
    return Body(failure=f"the server failed: {answer.get('failure') or 'no body'}")


def _fields(probe: Probe, answer: Mapping[str, Any], lost: str) -> dict[str, Decoded]:
    fields = answer.get("fields")
    return {
        field: _decoded(fields.get(field) if isinstance(fields, dict) else None, lost)
        for field in (*probe.reads, *probe.relays)
    }


def _sample(answer: Mapping[str, Any], lost: str) -> Sample:
    match answer.get("measured"):
        case {"failure": str(failure)}:
            return Sample(failure=failure)
        case {"best": float(best), "median": float(median), "objects": int(objects)} if (
            0 < best <= median < math.inf and objects >= 0 and objects is not True and objects is not False
        ):
            return Sample(best=best, median=median, objects=objects)
        case None:
            return Sample(failure=lost)
        case _:
            return Sample(failure="the probe answered with a measure that is none")


def _decoded(answer: Any, lost: str) -> Decoded:
    match answer:
        case {"refusal": str(refusal)}:
            return Decoded(refusal=refusal)
        case {"failure": str(failure)}:
            return Decoded(failure=failure)
        case {"value": value}:
            return Decoded(value=value)
        case _:
            return Decoded(failure=lost)


def _ask(probe: Probe, python: Path, cases: Mapping[str, Any]) -> tuple[dict[str, dict[str, Any]], str]:
    """Returns the answers by case, and why one that is not there is not."""
    feed = "".join(json.dumps(case) + "\n" for case in cases.values()).encode()
    harness = Path(probe_harness.__file__)
    with scratch() as home:
        # Nothing of the user's environment: neither secrets nor settings reach the code under test.
        env = {"HOME": str(home), "TMPDIR": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        command: list[str | Path] = [python, "-I", harness, probe.path, str(probe.memory)]
        ended = run(command, cwd=home, env=env, stdin=feed, seconds=probe.seconds)
    answers: dict[str, dict[str, Any]] = {}
    failure: str | None = None
    for line in ended.stdout.splitlines():
        try:
            answer = json.loads(line)
        except ValueError:
            failure = failure or "the probe answered what is not JSON"
            continue
        if isinstance(answer, dict) and isinstance(answer.get("case"), str):
            answers[answer["case"]] = answer
        elif isinstance(answer, dict) and isinstance(answer.get("failure"), str):
            failure = answer["failure"]
    return answers, failure or _why_lost(probe, ended)


def _why_lost(probe: Probe, ended: Ended) -> str:
    if ended.timed_out:
        return f"the probe took longer than {probe.seconds:g} s and was ended"
    if ended.status == 0:
        return "the probe gave no answer"
    words = " ".join(ended.stderr.split())
    return f"the probe ended with status {ended.status}" + (f": {words[-_TAIL:]}" if words else "")
