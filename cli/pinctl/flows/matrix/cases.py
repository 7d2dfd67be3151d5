"""Asks a client about the cases of a contract, and judges its answers: choice by choice, field by field."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pinctl.model.judgement import Decoded, judge_absent, judge_read, judge_relayed
from pinctl.model.matrix import CaseResult, FieldResult, Verdict
from pinctl.tools.probes.probe import Body
from pinctl.tools.probes.probe_answers import is_shallow

if TYPE_CHECKING:
    from pinctl.wire.case import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """What a client does with the fields of a response.

    Attributes:
        reads: those that it decodes.
        relays: those that it hands on unchanged.
        optional: those of them that it can do without.
    """

    reads: tuple[str, ...]
    relays: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


def needed_fields(case: "Case", fields: Fields) -> tuple[str, ...]:
    """Returns those of a client's fields that a case is about: those that it has a true value for."""
    truth: Mapping[str, Any] = case.choice_truth()
    return tuple(field for field in (*fields.reads, *fields.relays) if truth.get(field) is not None)


def questions(case: "Case") -> Mapping[str, Mapping[str, Any]]:
    """Returns what a client is asked about a case: one request, or one for each of several choices, by its key."""
    return {_key(case, index): dict(case.request(index)) for index in range(len(case.choices))}


def judged(case: "Case", fields: Fields, body: Body, decoded: Mapping[str, Mapping[str, Decoded]]) -> CaseResult:
    """Judges what a client made of a case.

    Args:
        case: the case.
        fields: what the client does with them.
        body: what the server sent, and what is true of it where that is not what the case says.
        decoded: what the client made of each field, by the key of the question.

    Returns:
        A result for each field; where there are several choices, for each field of each.
    """
    results: list[FieldResult] = []
    for index, choice in enumerate(case.choices):
        answers = decoded.get(_key(case, index), {})
        found = _choice_results(choice, index, fields, body, answers)
        prefix = f"choices[{index}]." if case.more else ""
        results += [replace(result, field=prefix + result.field) for result in found]
    return CaseResult(case=case.name, fields=tuple(results))


def _key(case: "Case", index: int) -> str:
    return f"{case.name}[{index}]" if case.more else case.name


def _choice_results(
    choice: "Case", index: int, fields: Fields, body: Body, answers: Mapping[str, Decoded]
) -> Iterator[FieldResult]:
    truth = _truth(choice, index, body)
    for field in needed_fields(choice, fields):
        answer = answers.get(field, Decoded(failure="the probe gave no answer"))
        result = _without_body(field, index, body)
        if result is None and field in fields.relays:
            result = judge_relayed(field, sent=_on_the_wire(body, index, field), decoded=answer)
        elif result is None and truth.get(field) is None:
            result = judge_absent(field, decoded=answer)
        elif result is None:
            result = judge_read(field, truth=truth[field], decoded=answer)
        can_do_without = field in fields.optional and result.verdict is Verdict.MISSING
        yield FieldResult(field=field, verdict=Verdict.OK) if can_do_without else result


def _truth(choice: "Case", index: int, body: Body) -> Mapping[str, Any]:
    if body.truth is None:
        return {**choice.choice_truth()}
    # Of a server that answers what it likes.
    found: Mapping[str, Any] = body.truth["choices"][index] if "choices" in body.truth else body.truth
    return found


def _without_body(field: str, index: int, body: Body) -> FieldResult | None:
    """Judges a choice that the client was never sent; None where it was."""
    if body.refusal is not None:
        return FieldResult(field=field, verdict=Verdict.REJECTS, reason=body.refusal)
    if body.text is None:
        return FieldResult(field=field, verdict=Verdict.UNKNOWN, reason=body.failure or "no body")
    if index and _choice(body, index) is None:
        return FieldResult(field=field, verdict=Verdict.MISSING, reason=f"the server sends no choice {index}")
    return None


def _on_the_wire(body: Body, index: int, field: str) -> Any:
    """Returns the value that a response carries under a field's name; None where it carries none that can be read."""
    carrier = _response(body) if field == "prompt_logprobs" else _choice(body, index)
    value = carrier.get(field) if carrier is not None else None
    return value if is_shallow(value) else None


def _response(body: Body) -> Mapping[str, Any] | None:
    try:
        response = json.loads(body.text or "")
    except (ValueError, RecursionError):
        return None
    return response if isinstance(response, dict) else None


def _choice(body: Body, index: int) -> Mapping[str, Any] | None:
    try:
        choice = (_response(body) or {})["choices"][index]
    except (KeyError, IndexError, TypeError):
        return None
    return choice if isinstance(choice, dict) else None
