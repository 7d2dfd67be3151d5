"""Asks probes: starts one in its environment, hands it requests, and reads its answers as untrusted text."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinctl.model.judgement import Decoded
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
    bodies = {}
    for name in cases:
        answer = answers.get(name, {"failure": lost})
        body, failure = answer.get("body"), answer.get("failure")
        if isinstance(body, str):
            bodies[name] = Body(text=body)
        else:
            bodies[name] = Body(failure=f"the server failed: {failure or 'no body'}")
    return bodies


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
    fields = {"reads": probe.reads, "relays": probe.relays}
    cases = {
        name: {"role": "client", "case": name, "body": body, "request": request, **fields}
        for name, (body, request) in bodies.items()
    }
    answers, lost = _ask(probe, python, cases)
    decoded = {}
    for name in cases:
        answer = answers.get(name, {}).get("fields")
        decoded[name] = {
            field: _decoded(answer.get(field) if isinstance(answer, dict) else None, lost)
            for field in (*probe.reads, *probe.relays)
        }
    return decoded


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
