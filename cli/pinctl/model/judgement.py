"""Judges what a client made of a payload, field by field, against the values that were put in."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pinctl.model.control import Outcome
from pinctl.model.matrix import FieldResult, Verdict

_SHOWN = 160
_MINUS_INFINITY = float("-inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """What a client made of one field.

    Attributes:
        value: what it returned, JSON-able; None where it found nothing.
        unusable: what its own code said when that value was used further.
        refusal: what it said when it refused loudly.
        failure: why the probe itself could not say.
    """

    value: Any = None
    unusable: str | None = None
    refusal: str | None = None
    failure: str | None = None


def judge_read(field: str, *, truth: Any, decoded: Decoded) -> FieldResult:
    """Judges a field that the client decodes.

    Args:
        field: the field's name.
        truth: the value that was put in; a logprob of None means that there is no evidence, which a client must refuse
            or hand on as none; so does minus infinity, which cases write "-Infinity", and which may come as itself too.
        decoded: what the client made of it.

    Returns:
        The verdict with its reason.
    """
    if field == "logprobs":
        truth = [_MINUS_INFINITY if logprob == "-Infinity" else logprob for logprob in truth]
    unreadable = _unreadable(field, decoded, may_refuse=field == "logprobs" and not all(map(_is_evidence, truth)))
    if unreadable is not None:
        return unreadable
    if _is_empty(truth) and (decoded.value is None or _is_empty(decoded.value)):
        return FieldResult(field=field, verdict=Verdict.OK)
    if decoded.value is None or _is_empty(decoded.value):
        what = "found no such field" if decoded.value is None else "handed on an empty value"
        return _missing(field, f"the client {what}, and did not object")
    difference = _difference(field, truth, decoded.value)
    if difference is not None:
        return FieldResult(
            field=field,
            verdict=Verdict.CORRUPTS,
            reason=f"no error, and a wrong value: {difference}",
            evidence=f"expected {_shorten(truth)}, got {_shorten(decoded.value)}",
        )
    # To decode is one thing, to use what came of it another: a dtype may be read, and be of no use further on.
    useless = f"decoded, but the client cannot use it: {decoded.unusable}" if decoded.unusable is not None else ""
    return FieldResult(field=field, verdict=Verdict.REJECTS if useless else Verdict.OK, reason=useless)


def judge_relayed(field: str, *, sent: Any, decoded: Decoded) -> FieldResult:
    """Judges a field that the client must hand on as it came.

    Args:
        field: the field's name.
        sent: the JSON value on the wire; None where there is none.
        decoded: what the client handed on.

    Returns:
        The verdict with its reason.
    """
    unreadable = _unreadable(field, decoded, may_refuse=False)
    if unreadable is not None:
        return unreadable
    if sent is None:
        return _missing(field, "the server sends no field of this name")
    if _same(sent, decoded.value):
        return FieldResult(field=field, verdict=Verdict.OK)
    if decoded.value is None:
        return _missing(field, "the client dropped the field, and did not object")
    return FieldResult(
        field=field,
        verdict=Verdict.CORRUPTS,
        reason="the client handed on something else than it was sent",
        evidence=f"sent {_shorten(sent)}, handed on {_shorten(decoded.value)}",
    )


def judge_control(decoded: Decoded) -> tuple[Outcome, str, str]:
    """Tells what a client made of a negative control.

    Args:
        decoded: what it made of the field that was bad.

    Returns:
        The outcome; the client's own words, or why it is unknown; and the value that it took, shortened.
    """
    if decoded.failure is not None:
        return Outcome.UNKNOWN, decoded.failure, ""
    if decoded.refusal is not None:
        return Outcome.REFUSED, decoded.refusal, ""
    if decoded.value is None or _is_empty(decoded.value):
        return Outcome.DROPPED, "", ""
    return Outcome.TAKEN, "", f"got {_shorten(decoded.value)}"


def judge_absent(field: str, *, decoded: Decoded) -> FieldResult:
    """Judges a field that was asked for, and that a response does not carry in any form that is known.

    Args:
        field: the field's name.
        decoded: what the client made of the response.

    Returns:
        The verdict with its reason.
    """
    unreadable = _unreadable(field, decoded, may_refuse=False)
    if unreadable is not None:
        return unreadable
    if decoded.value is None or _is_empty(decoded.value):
        return _missing(field, "the server sends no such field, and the client did not object")
    return FieldResult(
        field=field,
        verdict=Verdict.UNKNOWN,
        reason="the client read a value where no wire form that pinctl knows has one",
        evidence=f"got {_shorten(decoded.value)}",
    )


def _unreadable(field: str, decoded: Decoded, *, may_refuse: bool) -> FieldResult | None:
    """Judges a field that gave no value; None where it gave one."""
    if decoded.failure is not None:
        return FieldResult(field=field, verdict=Verdict.UNKNOWN, reason=decoded.failure)
    if decoded.refusal is None:
        return None
    if may_refuse:
        return FieldResult(field=field, verdict=Verdict.OK)
    return FieldResult(field=field, verdict=Verdict.REJECTS, reason=decoded.refusal)


def _missing(field: str, reason: str) -> FieldResult:
    return FieldResult(field=field, verdict=Verdict.MISSING, reason=reason)


def _is_evidence(logprob: Any) -> bool:
    return isinstance(logprob, int | float) and not isinstance(logprob, bool) and logprob > _MINUS_INFINITY


def _is_empty(value: Any) -> bool:
    if isinstance(value, Mapping) and "ids" in value:
        return not value["ids"]
    return isinstance(value, list | dict | str) and not value


def _difference(field: str, truth: Any, value: Any) -> str | None:
    match field:
        case "logprobs" | "prompt_logprobs":
            if not _are_numbers(value):
                return "not a list of numbers"
            return _sequence_difference(_rounded(truth), _with_gaps_of(truth, _rounded(value)))
        case "routed_experts" if isinstance(value, Mapping) and isinstance(truth, Mapping):
            if not _same(truth["start"], value.get("start")):
                return f"rows start at {_shorten(value.get('start'))}, not at {truth['start']!r}"
            return _sequence_difference(truth["ids"], value.get("ids"))
        case _:
            return _sequence_difference(truth, value)


def _are_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(
        item is None or (isinstance(item, int | float) and not isinstance(item, bool)) for item in value
    )


def _rounded(values: Sequence[float | None]) -> list[float | None]:
    """Rounds to float32: the precision that every wire form carries."""
    return [None if value is None else _as_float32(value) for value in values]


def _with_gaps_of(truth: Sequence[float | None], values: list[float | None]) -> list[float | None]:
    """Writes minus infinity for none where that is what was put in: either says that there is no evidence."""
    gaps = {index for index, logprob in enumerate(truth) if logprob == _MINUS_INFINITY}
    return [_MINUS_INFINITY if value is None and index in gaps else value for index, value in enumerate(values)]


def _as_float32(value: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except (OverflowError, struct.error):
        return float("inf") if value > 0 else float("-inf")


def _sequence_difference(truth: Any, value: Any) -> str | None:
    if _same(truth, value):
        return None
    if not isinstance(value, list) or not isinstance(truth, list):
        return f"a {type(value).__name__} where a {type(truth).__name__} was expected"
    if len(value) != len(truth):
        return f"{len(value)} entries, not {len(truth)}"
    pairs = enumerate(zip(truth, value, strict=True))
    index = next(index for index, (expected, got) in pairs if not _same(expected, got))
    return f"entry {index} is {_shorten(value[index])}, not {_shorten(truth[index])}"


def _same(one: Any, other: Any) -> bool:
    """Compares as JSON does, where true is no number: Python takes True for 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    return bool(one == other)


def _shorten(value: Any) -> str:
    text = repr(value) if not isinstance(value, list) or len(value) <= 64 else f"{value[:64]!r}"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
