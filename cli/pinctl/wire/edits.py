"""The ways to make one JSON object of a good response bad, by name: what the negative controls are made of."""

import base64
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pybase64

from pinctl.wire.logprobs import NO_EVIDENCE

Edit = Callable[[Any], Mapping[str, object]]
"""Returns the keys of a good JSON object to replace; an edit that does not apply to it returns none."""

MISSING = object()
"""Stands for a key that is taken away."""


def elements(packed: Any) -> Any:
    """Returns the elements of a good packed array.

    Args:
        packed: with `data` and `dtype`.

    Returns:
        Array [elements], of that dtype, writable.
    """
    return np.frombuffer(pybase64.b64decode(packed["data"]), dtype=packed["dtype"]).copy()


def _with(packed: Any, values: Any, *, shape: list[int] | None = None) -> Mapping[str, object]:
    return {
        "data": pybase64.b64encode_as_string(values.tobytes()),
        "shape": packed["shape"] if shape is None else shape,
    }


def _with_first(packed: Any, value: float) -> Mapping[str, object]:
    values = elements(packed)
    values[:1] = value
    return _with(packed, values)


def _without_last(packed: Any) -> Mapping[str, object]:
    rows, *rest = packed["shape"]
    if rows == 0:
        return {}
    values = elements(packed).reshape(rows, *rest)[:-1]
    return _with(packed, values, shape=list(values.shape))


def _with_shape(packed: Any, change: Callable[[int, int, int], list[int]]) -> Mapping[str, object]:
    # Without rows the other axes hold nothing that could be taken for something else.
    return {"shape": change(*packed["shape"])} if packed["shape"][0] else {}


def _with_spare_bits(packed: Any) -> Mapping[str, object]:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    text = packed["data"].rstrip("=")
    padding = packed["data"][len(text) :]
    # Without padding the last character has no spare bits.
    return {"data": text[:-1] + alphabet[alphabet.index(text[-1]) | 1] + padding} if padding else {}


def _as_base85(packed: Any) -> Mapping[str, object]:
    buffer = pybase64.b64decode(packed["data"])
    return {} if len(buffer) in {3, 6, 9} else {"data": base64.b85encode(buffer).decode("ascii")}


def _with_compensated_count(packed: Any) -> Mapping[str, object]:
    counts = elements(packed)
    if counts.size < 2:
        return {}
    counts[1] += counts[0] + 1
    counts[0] = -1
    return _with(packed, counts)


def _with_overflowing_counts(packed: Any) -> Mapping[str, object]:
    # Their sum is 2**32 more than the ids: in 32 bits it looks right.
    counts = elements(packed)
    if counts.size < 3:
        return {}
    total = int(counts.sum())
    counts[:] = 0
    counts[:3] = 2**31 - 1, 2**31 - 1, 2 + total
    return _with(packed, counts)


def _with_first_entry(logprobs: Any, key: str, *, value: object) -> Mapping[str, object]:
    return {"content": [{**entry, key: value} if i == 0 else entry for i, entry in enumerate(logprobs["content"])]}


def _value_edit(key: str, change: Callable[[Any], object]) -> Edit:
    return lambda choice: {key: change(choice[key])} if choice.get(key) is not None else {}


def _choice_edit(key: str, value: object) -> Edit:
    return lambda response: {"choices": [{**response["choices"][0], key: value}]}


MORE_ROWS = "one row more in the shape"
CUT_SHORT = "data cut short"
BASE85 = "base85"
FEWER_TOKENS = "one token less"
FEWER_ROWS = "one row less"
BIG_ENDIAN = "big-endian bytes"
SWAPPED_AXES = "layers and top_k swapped in the shape"

ARRAY_EDITS: dict[str, Edit] = {
    "one axis more": lambda packed: {"shape": [*packed["shape"], 1]},
    "one axis more in front": lambda packed: {"shape": [1, *packed["shape"]]},
    "no axes": lambda _: {"shape": []},
    MORE_ROWS: lambda packed: {"shape": [packed["shape"][0] + 1, *packed["shape"][1:]]},
    "negative shape": lambda packed: {"shape": [-size for size in packed["shape"]]},
    "boolean shape": lambda packed: {"shape": [bool(size) for size in packed["shape"]]},
    "fractional shape": lambda packed: {"shape": [float(size) for size in packed["shape"]]},
    "huge shape": lambda packed: {"shape": [2**40, *packed["shape"][1:]]},
    "shape that wraps around 64 bits": lambda packed: {"shape": [packed["shape"][0] + 2**62, *packed["shape"][1:]]},
    "shape is a number": lambda packed: {"shape": packed["shape"][0]},
    CUT_SHORT: lambda packed: {"data": packed["data"][:-4]},
    "data too long": lambda packed: {"data": packed["data"] + "AAAA"},
    "line break in data": lambda packed: {"data": packed["data"] + "\n"},
    "foreign letter in data": lambda packed: {"data": "-" + packed["data"][1:]},
    "padding dropped": lambda packed: {"data": packed["data"].rstrip("=")},
    "spare bits set": _with_spare_bits,
    BASE85: _as_base85,
    "list for data": lambda packed: {"data": elements(packed).tolist()},
    "null for data": lambda _: {"data": None},
    "no data": lambda _: {"data": MISSING},
    "no shape": lambda _: {"shape": MISSING},
    "no dtype": lambda _: {"dtype": MISSING},
    "one key more": lambda _: {"order": "C"},
    "dtype of another size": lambda _: {"dtype": "float64"},
    "dtype of the same size": lambda packed: {"dtype": "V" + str(np.dtype(packed["dtype"]).itemsize)},
    "dtype of objects": lambda _: {"dtype": "object"},
    "dtype with its byte order": lambda packed: {"dtype": np.dtype(packed["dtype"]).newbyteorder(">").str},
    BIG_ENDIAN: lambda packed: _with(packed, elements(packed).byteswap()),
}

LOGPROBS_EDITS: dict[str, Edit] = {
    "no evidence": lambda packed: _with_first(packed, NO_EVIDENCE),
    "NaN": lambda packed: _with_first(packed, np.nan),
    "minus infinity": lambda packed: _with_first(packed, -np.inf),
    "one token less": _without_last,
    "int32 of the same bytes": lambda _: {"dtype": "int32"},
}

LOGPROBS_CHOICE_EDITS: dict[str, Edit] = {
    "list for an array": _value_edit("completion_logprobs", lambda packed: elements(packed).tolist()),
    "text for an array": _value_edit("completion_logprobs", lambda packed: packed["data"]),
    "null for an array": _value_edit("completion_logprobs", lambda _: None),
    "both forms at once": lambda choice: {"logprobs": {"content": []}} if "completion_logprobs" in choice else {},
}

IDS_EDITS: dict[str, Edit] = {
    "negative id": lambda packed: _with_first(packed, -1),
    "one id less": _without_last,
}

COUNTS_EDITS: dict[str, Edit] = {
    "sum too high": lambda packed: _with_first(packed, int(elements(packed)[:1].sum()) + 1),
    "one row less": _without_last,
    "negative count that keeps the sum": _with_compensated_count,
    "sum that wraps around 32 bits": _with_overflowing_counts,
}

MASK_EDITS: dict[str, Edit] = {
    "no counts": lambda _: {"counts": MISSING},
    "no ids": lambda _: {"ids": MISSING},
    "one key more": lambda _: {"offsets": [0]},
    "lists for arrays": lambda mask: {key: elements(mask[key]).tolist() for key in ("ids", "counts")},
}

EXPERTS_EDITS: dict[str, Edit] = {
    "one row less": _without_last,
    "rows and layers joined": lambda packed: _with_shape(packed, lambda rows, layers, top_k: [rows * layers, 1, top_k]),
    SWAPPED_AXES: lambda packed: _with_shape(packed, lambda rows, layers, top_k: [rows, top_k, layers]),
    "start one too high": lambda packed: {"start": packed["start"] + 1},
    "start one too low": lambda packed: {"start": packed["start"] - 1},
    "start is a boolean": lambda packed: {"start": bool(packed["start"])},
    "start is a fraction": lambda packed: {"start": float(packed["start"])},
    "no start": lambda _: {"start": MISSING},
}

CONTENT_EDITS: dict[str, Edit] = {
    "no content": lambda _: {"content": MISSING},
    "null for content": lambda _: {"content": None},
    FEWER_TOKENS: lambda logprobs: {"content": logprobs["content"][:-1]},
    "one token more": lambda logprobs: {"content": [*logprobs["content"], {"token": "token_id:0", "logprob": -1.0}]},
    "another token": lambda logprobs: _with_first_entry(logprobs, "token", value="token_id:-1"),
    "token without its id": lambda logprobs: _with_first_entry(logprobs, "token", value="a"),
    "no evidence": lambda logprobs: _with_first_entry(logprobs, "logprob", value=NO_EVIDENCE),
    "null for a number": lambda logprobs: _with_first_entry(logprobs, "logprob", value=None),
    "boolean for a number": lambda logprobs: _with_first_entry(logprobs, "logprob", value=True),
    "text for a number": lambda logprobs: _with_first_entry(logprobs, "logprob", value="-Infinity"),
}

ROWS_EDITS: dict[str, Edit] = {
    FEWER_ROWS: _value_edit("sampling_mask", lambda rows: rows[:-1]),
    "one row more": _value_edit("sampling_mask", lambda rows: [*rows, []]),
    "negative id": _value_edit("sampling_mask", lambda rows: [[-1], *rows[1:]]),
    "id beyond int32": _value_edit("sampling_mask", lambda rows: [[2**31], *rows[1:]]),
    "boolean id": _value_edit("sampling_mask", lambda rows: [[True], *rows[1:]]),
    "fractional id": _value_edit("sampling_mask", lambda rows: [[1.0], *rows[1:]]),
    "null for a row": _value_edit("sampling_mask", lambda rows: [None, *rows[1:]]),
    "ids end to end": _value_edit("sampling_mask", lambda rows: [token_id for row in rows for token_id in row]),
    "text for rows": _value_edit("sampling_mask", lambda _: "AAAA"),
}

ENVELOPE_EDITS: dict[str, Edit] = {
    "no choices": lambda _: {"choices": []},
    "two choices": lambda response: {"choices": response["choices"] * 2},
    "null for choices": lambda _: {"choices": None},
    "number for the request's id": lambda _: {"request_id": 1},
    "another index": _choice_edit("index", 1),
    "null for token ids": _choice_edit("token_ids", None),
    "text for token ids": _choice_edit("token_ids", "AAAA"),
    "boolean token id": _choice_edit("token_ids", [True]),
    "negative token id": _choice_edit("token_ids", [-1]),
    "number for the finish reason": _choice_edit("finish_reason", 0),
}
