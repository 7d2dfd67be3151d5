"""Asks a client about the cases of a contract, and judges its answers: choice by choice, field by field."""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pinctl.model.judgement import Decoded, judge_read, judge_relayed
from pinctl.model.matrix import CaseResult, FieldResult, Verdict
from pinctl.model.plan import Probe
from pinctl.tools.probe import Body
from pinctl.tools.probe_answers import is_shallow

if TYPE_CHECKING:
    from pinctl.wire.case import Case


def needed_fields(case: "Case", fields: tuple[str, ...]) -> tuple[str, ...]:
    """Returns those of a client's fields that a case is about: those that it has a true value for."""
    truth: Mapping[str, Any] = case.choice_truth()
    return tuple(field for field in fields if truth.get(field) is not None)


def questions(case: "Case") -> Mapping[str, Mapping[str, Any]]:
    """Returns what a client is asked about a case: one request, or one for each of several choices, by its key."""
    return {_key(case, index): dict(case.request(index)) for index in range(len(case.choices))}


def judged(case: "Case", probe: Probe, body: Body, decoded: Mapping[str, Mapping[str, Decoded]]) -> CaseResult:
    """Judges what a client made of a case.

    Args:
        case: the case.
        probe: says what the client reads, what it relays, and what it can do without.
        body: what the server sent.
        decoded: what the client made of each field, by the key of the question.

    Returns:
        A result for each field; where there are several choices, for each field of each.
    """
    results: list[FieldResult] = []
    for index, choice in enumerate(case.choices):
        answers = decoded.get(_key(case, index), {})
        prefix = f"choices[{index}]." if case.more else ""
        results += [_named(prefix, result) for result in _choice_results(choice, index, probe, body, answers)]
    return CaseResult(case=case.name, fields=tuple(results))


def _key(case: "Case", index: int) -> str:
    return f"{case.name}[{index}]" if case.more else case.name


def _named(prefix: str, result: FieldResult) -> FieldResult:
    return FieldResult(
        field=prefix + result.field, verdict=result.verdict, reason=result.reason, evidence=result.evidence
    )


def _choice_results(
    choice: "Case", index: int, probe: Probe, body: Body, answers: Mapping[str, Decoded]
) -> Iterator[FieldResult]:
    truth: Mapping[str, Any] = choice.choice_truth()
    for field in needed_fields(choice, (*probe.reads, *probe.relays)):
        if body.text is None:
            yield FieldResult(field=field, verdict=Verdict.UNKNOWN, reason=body.failure or "no body")
            continue
        answer = answers.get(field, Decoded(failure="the probe gave no answer"))
        if index and _choice(body.text, index) is None:
            reason = f"the server sends no choice {index}"
            result = FieldResult(field=field, verdict=Verdict.MISSING, reason=reason)
        elif field in probe.relays:
            result = judge_relayed(field, sent=_on_the_wire(body.text, index, field), decoded=answer)
        else:
            result = judge_read(field, truth=truth[field], decoded=answer)
        can_do_without = field in probe.optional and result.verdict is Verdict.MISSING
        yield FieldResult(field=field, verdict=Verdict.OK) if can_do_without else result


def _on_the_wire(body: str, index: int, field: str) -> Any:
    """Returns the value that a choice carries under a field's name; None where it carries none that can be read."""
    choice = _choice(body, index)
    value = choice.get(field) if choice is not None else None
    return value if is_shallow(value) else None


def _choice(body: str, index: int) -> Mapping[str, Any] | None:
    try:
        choice = json.loads(body)["choices"][index]
    except (ValueError, RecursionError, KeyError, IndexError, TypeError):
        return None
    return choice if isinstance(choice, dict) else None
