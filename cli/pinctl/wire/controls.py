"""Negative controls: good responses made bad in one place, to see whether a client notices.

A client that takes every good response proves little if it takes these too. Each control says whether the rules of its
form give it away. Three kinds cannot be told from a good response by its rules alone, whoever reads it; only a case
whose true values are known finds them out:

- big-endian bytes under the plain name of a dtype, as long as what they are misread as is in range: expert ids of
  uint16 always are, vocabulary ids unless one reads negative, logprobs of few significant bits; counts never are;
- two axes swapped in a shape whose first axis is right: layers and top_k;
- base85 text that happens to be canonical base64 of the same size: 3, 6 or 9 bytes (no such control is made).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from pinctl.wire import edits
from pinctl.wire.forms import FieldName, FormName
from pinctl.wire.logprobs import NO_EVIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One bad response.

    Attributes:
        name: the place and what is bad there, such as `sampling_mask.counts: negative shape`.
        field: the field that must not be taken for good.
        body: the JSON body.
        refusable: whether the rules of the form give it away; otherwise it decodes, to wrong values.
    """

    name: str
    field: FieldName
    body: bytes
    refusable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """One JSON object of a choice, and what can be made bad in it; the empty path is the choice itself."""

    path: tuple[str, ...] = ()
    changes: Mapping[str, edits.Edit]


def field_controls(body: bytes, field: FieldName, form: FormName) -> Iterator[Control]:
    """Makes bad responses of a good one, in one of its fields.

    Args:
        body: a good response.
        field: which one; where the response does not carry it, it has no controls.
        form: that the field is in.

    Yields:
        The controls. A change that would leave the response as it is yields none.
    """
    for place in _PLACES[form].get(field, ()):
        yield from _controls(body, field, place)


def packed_controls(body: bytes) -> Iterator[Control]:
    """Makes bad responses of a good one of form `packed`, in each of its fields; see `field_controls`."""
    for field in _PLACES[FormName.PACKED]:
        yield from field_controls(body, field, FormName.PACKED)


def vllm_controls(body: bytes) -> Iterator[Control]:
    """Makes bad responses of a good one of form `vllm`, in each of its fields; see `field_controls`."""
    for field in _PLACES[FormName.VLLM]:
        yield from field_controls(body, field, FormName.VLLM)


def body_controls(body: bytes) -> Iterator[Control]:
    """Makes responses with a bad envelope of a good one.

    Args:
        body: a good response of any form, that carries logprobs.

    Yields:
        The controls, refusable all of them.
    """
    opened = body.removesuffix(b"}")
    for name, bad in {
        "cut short": opened,
        "bare NaN": opened + b',"x":NaN}',
        "bare infinity": opened + b',"x":-Infinity}',
        "one key twice": opened + b',"request_id":"another"}',
        "a list at the top": b"[" + body + b"]",
        "a number that is infinite": opened + b',"x":1e999}',
    }.items():
        yield Control(name=f"body: {name}", field=FieldName.LOGPROBS, body=bad)
    for name, change in edits.ENVELOPE_EDITS.items():
        response = orjson.loads(body)
        response.update(change(response))
        yield Control(name=f"body: {name}", field=FieldName.LOGPROBS, body=orjson.dumps(response))


def _controls(body: bytes, field: FieldName, place: _Place) -> Iterator[Control]:
    for name, change in place.changes.items():
        response = orjson.loads(body)
        node = response["choices"][0]
        for key in place.path:
            node = node.get(key) if isinstance(node, dict) else None
        if node is None:
            return
        before = orjson.dumps(node)
        node.update(change(node))
        for key in [key for key, value in node.items() if value is edits.MISSING]:
            del node[key]
        if orjson.dumps(node) != before:
            where = ".".join(place.path) or field.value
            refusable = name != edits.SWAPPED_AXES and (name != edits.BIG_ENDIAN or _out_of_range(place.path[-1], node))
            yield Control(name=f"{where}: {name}", field=field, body=orjson.dumps(response), refusable=refusable)


def _out_of_range(key: str, packed: Any) -> bool:
    values = edits.elements(packed)
    match key:
        case "completion_logprobs":
            with np.errstate(invalid="ignore"):
                return not bool((np.isfinite(values) & (values > NO_EVIDENCE)).all())
        case "ids":
            return bool((values < 0).any())
        case "counts":
            return True
        case _:
            return False


def _some(changes: Mapping[str, edits.Edit], *names: str) -> Mapping[str, edits.Edit]:
    return {name: changes[name] for name in names}


def _mask_places(key: str) -> tuple[_Place, ...]:
    return (
        _Place(path=(key, "ids"), changes=edits.ARRAY_EDITS | edits.IDS_EDITS),
        _Place(path=(key, "counts"), changes=edits.ARRAY_EDITS | edits.COUNTS_EDITS),
        _Place(path=(key,), changes=edits.MASK_EDITS),
    )


_CONTENT = (_Place(path=("logprobs",), changes=edits.CONTENT_EDITS),)
_ROWS = (_Place(changes=edits.ROWS_EDITS),)
_EXPERTS = (_Place(path=("routed_experts",), changes=edits.ARRAY_EDITS | edits.EXPERTS_EDITS),)

_PLACES: Mapping[FormName, Mapping[FieldName, tuple[_Place, ...]]] = {
    FormName.PACKED: {
        FieldName.LOGPROBS: (
            _Place(path=("completion_logprobs",), changes=edits.ARRAY_EDITS | edits.LOGPROBS_EDITS),
            _Place(changes=edits.LOGPROBS_CHOICE_EDITS),
        ),
        FieldName.SAMPLING_MASK: _mask_places("sampling_mask"),
        FieldName.ROUTED_EXPERTS: _EXPERTS,
    },
    FormName.VLLM: {
        FieldName.LOGPROBS: _CONTENT,
        FieldName.SAMPLING_MASK: _ROWS,
        FieldName.ROUTED_EXPERTS: _EXPERTS,
    },
    FormName.KEPT_TOKENS: {
        FieldName.LOGPROBS: _CONTENT,
        FieldName.SAMPLING_MASK: _mask_places("kept_tokens"),
        FieldName.ROUTED_EXPERTS: _EXPERTS,
    },
    # Here some changes mean nothing: to a dtype that is not there, to the byte order of single bytes.
    FormName.UINT8: {
        FieldName.LOGPROBS: _CONTENT,
        FieldName.SAMPLING_MASK: _ROWS,
        FieldName.ROUTED_EXPERTS: (
            _Place(
                path=("routed_experts",),
                changes=_some(edits.ARRAY_EDITS, edits.MORE_ROWS, edits.BASE85, edits.CUT_SHORT),
            ),
        ),
    },
    FormName.VLLM_0_20: {
        FieldName.LOGPROBS: _CONTENT,
        FieldName.ROUTED_EXPERTS: (
            _Place(path=("routed_experts",), changes=_some(edits.ARRAY_EDITS, edits.MORE_ROWS, edits.CUT_SHORT)),
        ),
    },
    FormName.SKYRL: {
        FieldName.LOGPROBS: (_Place(path=("logprobs",), changes=_some(edits.CONTENT_EDITS, edits.FEWER_TOKENS)),),
        FieldName.SAMPLING_MASK: (_Place(path=("sampling_mask",), changes=edits.ARRAY_EDITS),),
        FieldName.ROUTED_EXPERTS: (_Place(path=("routed_experts",), changes=edits.ARRAY_EDITS),),
    },
}
