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
from pinctl.wire.forms import FieldName
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


def packed_controls(body: bytes) -> Iterator[Control]:
    """Makes bad responses of a good one of form `packed`.

    Args:
        body: a good response; a field that it does not carry has no controls.

    Yields:
        The controls. A change that would leave the response as it is yields none.
    """
    logprobs, mask, experts = ("completion_logprobs",), ("sampling_mask",), ("routed_experts",)
    yield from _controls(body, FieldName.LOGPROBS, path=logprobs, changes=edits.ARRAY_EDITS | edits.LOGPROBS_EDITS)
    yield from _controls(body, FieldName.LOGPROBS, path=(), changes=edits.LOGPROBS_CHOICE_EDITS)
    yield from _controls(
        body, FieldName.SAMPLING_MASK, path=(*mask, "ids"), changes=edits.ARRAY_EDITS | edits.IDS_EDITS
    )
    yield from _controls(
        body, FieldName.SAMPLING_MASK, path=(*mask, "counts"), changes=edits.ARRAY_EDITS | edits.COUNTS_EDITS
    )
    yield from _controls(body, FieldName.SAMPLING_MASK, path=mask, changes=edits.MASK_EDITS)
    yield from _controls(body, FieldName.ROUTED_EXPERTS, path=experts, changes=edits.ARRAY_EDITS | edits.EXPERTS_EDITS)


def vllm_controls(body: bytes) -> Iterator[Control]:
    """Makes bad responses of a good one of form `vllm`.

    Args:
        body: a good response; a field that it does not carry has no controls.

    Yields:
        The controls of its lists. A change that would leave the response as it is yields none.
    """
    yield from _controls(body, FieldName.LOGPROBS, path=("logprobs",), changes=edits.CONTENT_EDITS)
    yield from _controls(body, FieldName.SAMPLING_MASK, path=(), changes=edits.ROWS_EDITS)


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


def _controls(
    body: bytes, field: FieldName, *, path: tuple[str, ...], changes: Mapping[str, edits.Edit]
) -> Iterator[Control]:
    for name, change in changes.items():
        response = orjson.loads(body)
        node = response["choices"][0]
        for key in path:
            node = node.get(key)
            if node is None:
                return
        before = orjson.dumps(node)
        node.update(change(node))
        for key in [key for key, value in node.items() if value is edits.MISSING]:
            del node[key]
        if orjson.dumps(node) != before:
            place = ".".join(path) or field.value
            refusable = name != edits.SWAPPED_AXES and (name != edits.BIG_ENDIAN or _out_of_range(path[-1], node))
            yield Control(name=f"{place}: {name}", field=field, body=orjson.dumps(response), refusable=refusable)


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
