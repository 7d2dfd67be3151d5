"""Whatever is read, a decoder answers or refuses: no other exception, no memory for what is merely claimed."""

import base64
import json
import math
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinctl.wire import logprobs, routed_experts, sampling_mask
from pinctl.wire.arrays import WireDtype, unpack
from pinctl.wire.body import parse_request, parse_response
from pinctl.wire.cases import CASES
from pinctl.wire.forms import FORMS, FieldName, decode_field, encode_response
from pinctl.wire.refusal import WireRefusal

SETTINGS = settings(
    deadline=None, derandomize=True, database=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow]
)

REQUEST: dict[str, object] = {"prompt_token_ids": [1, 2, 3], "routed_experts_start": 0}

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([0, 1, 2, 2**31, 2**63, 2**64, -1, 10**400])
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["", "AAAA", "AA==", "AB==", "uint8", "int32", "float32", "token_id:8", "stop"])
)
KEYS = st.sampled_from(
    ["data", "shape", "dtype", "start", "ids", "counts", "content", "token", "logprob", "8", "2", "3"]
) | st.text(max_size=4)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=20
)
SHAPES = st.lists(st.sampled_from([0, 1, 2, 3, -1, True, 1.0, 2**31, 2**62, 2**64, None]), max_size=4) | JSON
PACKED = st.fixed_dictionaries(
    {
        "data": st.sampled_from(["", "AAAA", "AAAAAA==", "AACAvwAAgL8=", "00000"]) | JSON,
        "shape": SHAPES,
        "dtype": st.sampled_from([*WireDtype, "object", "<i4"]) | JSON,
    },
    optional={"start": st.integers(-1, 3) | JSON, "ids": JSON},
)
MASKS = st.fixed_dictionaries({"ids": PACKED, "counts": PACKED})
PAYLOADS = PACKED | MASKS | JSON


def plain(value: Any) -> Any:
    """Returns the value as a JSON parser would: without enum members, with text that is text."""
    match value:
        case WireDtype():
            return value.value
        case dict():
            return {key: plain(inner) for key, inner in value.items()}
        case list():
            return [plain(inner) for inner in value]
        case _:
            return value


def refusal_of(decode: Callable[[], object]) -> WireRefusal | None:
    try:
        decode()
    except WireRefusal as refusal:
        return refusal
    return None


@SETTINGS
@given(value=PAYLOADS)
def test_no_decoder_raises_anything_but_a_refusal(value: object) -> None:
    value = plain(value)
    for decode in (
        lambda: unpack(value, field="f", dtypes=tuple(WireDtype)),
        lambda: logprobs.decode_vllm(value, token_ids=[8, 9]),
        lambda: logprobs.decode_skyrl(value, tokens=2),
        lambda: logprobs.decode_packed(value, tokens=2),
        lambda: logprobs.decode_teacher(value, prompt_token_ids=[1, 2, 3]),
        lambda: sampling_mask.decode_vllm(value, tokens=2),
        lambda: sampling_mask.decode_packed(value, tokens=2),
        lambda: sampling_mask.decode_dense(value, tokens=2),
        lambda: sampling_mask.decode_dense(value, tokens=0),
        lambda: routed_experts.decode_base85(value, start=0, end=1),
        lambda: routed_experts.decode_uint8(value, end=1).value(),
        lambda: routed_experts.decode_packed(value, end=3).value(),
        lambda: routed_experts.decode_compact(value, start=0, end=1),
        lambda: parse_request(value),
    ):
        assert len(str(refusal_of(decode))) < 400


@SETTINGS
@given(
    choice=st.fixed_dictionaries(
        {"index": st.just(0) | JSON, "token_ids": st.sampled_from([[], [8], [8, 9]]) | JSON},
        optional={
            "finish_reason": JSON,
            "logprobs": PAYLOADS,
            "completion_logprobs": PAYLOADS,
            "sampling_mask": PAYLOADS,
            "kept_tokens": PAYLOADS,
            "routed_experts": PAYLOADS,
        },
    ),
    prompt_logprobs=JSON,
)
def test_no_response_raises_anything_but_a_refusal(choice: dict[str, object], prompt_logprobs: object) -> None:
    response = plain({"request_id": "r", "choices": [choice], "prompt_logprobs": prompt_logprobs})
    try:
        body = json.dumps(response).encode()
    except ValueError:  # the standard library does not write numbers of thousands of digits either
        return
    for form in FORMS:
        for field in FieldName:
            assert len(str(refusal_of(partial(decode_field, form, field, body, REQUEST)))) < 400


@SETTINGS
@given(body=st.binary(max_size=60) | st.text(max_size=30).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_bytes_raise_anything_but_a_refusal(body: bytes) -> None:
    for form in FORMS:
        for field in FORMS[form].fields:
            assert refusal_of(partial(decode_field, form, field, body, REQUEST)) is not None


ENVELOPE = {"request_id": "r", "prompt_logprobs": None}


def _array(data: bytes, shape: list[int], dtype: str) -> dict[str, object]:
    return {"data": base64.b64encode(data).decode(), "shape": shape, "dtype": dtype}


@SETTINGS
@given(data=st.binary(max_size=48), counts=st.binary(min_size=8, max_size=8), shape=st.lists(st.integers(0, 6)))
def test_arrays_of_any_bytes_keep_the_rules_or_are_refused(data: bytes, counts: bytes, shape: list[int]) -> None:
    """Here the structure is right, or nearly so, and the bytes are anything."""
    tokens, rows = 2, len(data)
    experts = {"start": 4 - rows} if rows <= 4 else {"start": 0}
    choice: dict[str, Any] = {"index": 0, "token_ids": [8, 9], "finish_reason": "stop"}
    bodies = [
        choice | {"completion_logprobs": _array(data[:8], [tokens], "float32")},
        choice
        | {"sampling_mask": {"ids": _array(data, [len(data) // 4], "int32"), "counts": _array(counts, [2], "int32")}},
        choice | {"sampling_mask": _array(data, [tokens, len(data) // 8], "int32"), "logprobs": [-1.0, -2.0]},
        choice
        | {"kept_tokens": {"ids": _array(data, [len(data) // 4], "int32"), "counts": _array(counts, [2], "int32")}},
        choice | {"routed_experts": {"data": base64.b85encode(data).decode(), "shape": [4, 1, len(data) // 16]}},
        *(
            choice | {"routed_experts": _array(data, given_shape, dtype) | start}
            for dtype in ("uint8", "uint16", "int16", "int32")
            for given_shape in (shape, [rows, 1, 1], [4, 1, len(data) // 4 // np.dtype(dtype).itemsize])
            for start in ({}, experts)
        ),
        choice
        | {"routed_experts": {"data": base64.b64encode(data).decode(), "shape": [4, len(data) // 4, 1], "start": 0}},
    ]
    for body in bodies:
        written = orjson.dumps(ENVELOPE | {"choices": [body]})
        for form in FORMS:
            for field in FORMS[form].fields:
                try:
                    value: Any = decode_field(form, field, written, REQUEST)
                except WireRefusal:
                    continue
                if value is None:
                    continue
                if field is FieldName.LOGPROBS:
                    assert all(-9999 < logprob < math.inf for logprob in value)
                elif field is FieldName.SAMPLING_MASK:
                    assert len(value) == tokens
                    assert all(0 <= token_id < 2**31 for row in value for token_id in row)
                elif field is FieldName.ROUTED_EXPERTS:
                    assert value["start"] + len(value["ids"]) == 4
                    assert all(expert >= 0 for row in value["ids"] for layer in row for expert in layer)


@SETTINGS
@given(data=st.data(), form=st.sampled_from(list(FORMS)), name=st.sampled_from(["one-token", "few-experts", "empty"]))
def test_a_body_with_other_bytes_raises_nothing_but_a_refusal(data: st.DataObject, form: str, name: str) -> None:
    case = CASES[name]
    body = bytearray(encode_response(form, case))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(body) - 1))
        body[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.sampled_from([b"", b'"', b"0", b"-", b"]", b"A", b"e9"])
        )
    for field in FORMS[form].fields:
        tracemalloc.start()
        try:
            value = decode_field(form, field, bytes(body), dict(case.request()))
        except WireRefusal:
            continue
        finally:
            # A digit more in a shape, or in a count, claims much and must cost nothing.
            assert tracemalloc.get_traced_memory()[1] < 200_000 + 64 * len(body)
            tracemalloc.stop()
        if field is FieldName.LOGPROBS and value is not None:
            assert all(type(logprob) is float and -9999 < logprob < math.inf for logprob in value)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"1",
        b"\xef\xbb\xbf{}",
        "{}".encode("utf-16"),
        b"\xff",
        b'"\\ud800"',
        b"[" * 2000 + b"]" * 2000,
        b"[" * 100_000,
        b'{"request_id":"r","choices":[{"index":0,"token_ids":[]}],"a":' + b"[" * 1010 + b"]" * 1010 + b"}",
        b'{"request_id":"r","choices":[{"index":0,"token_ids":[],"token_ids":[]}]}',
        b'{"request_id":"r","choices":[{"index":0,"token_ids":[],"a":{"b":1,"\\u0062":2}}]}',
        b'{"request_id":"r","choices":[{"index":0,"token_ids":[]}]} x',
        b'{"request_id":"r","choices":[{"index":0,"token_ids":[1e2]}]}',
        b'{"request_id":"r","choices":[{"index":-0.0,"token_ids":[]}]}',
        b'{"request_id":"r","choices":[{"index":false,"token_ids":[]}]}',
        b'{"request_id":"r","choices":[{"token_ids":[]}]}',
        b'{"request_id":"r","choices":[{"index":0}]}',
        b'{"request_id":"r","choices":{"0":{"index":0,"token_ids":[]}}}',
        b'{"choices":[{"index":0,"token_ids":[]}]}',
    ],
    ids=lambda body: repr(body[:40]),
)
def test_an_envelope_that_is_none_is_refused(body: bytes) -> None:
    with pytest.raises(WireRefusal):
        parse_response(body)


def test_the_smallest_envelope() -> None:
    response = parse_response(b'{"request_id":"r","choices":[{"index":0,"token_ids":[]}]}')
    assert response.token_ids == ()


@pytest.mark.parametrize("rows", [2**31, 2**40, 2**62])
def test_claims_allocate_nothing(rows: int) -> None:
    bodies = []
    for tail in ([], [1], [0], [2, 2], [2**20, 0], [0, 2**20]):
        array = {"data": "", "shape": [rows, *tail], "dtype": "int32"}
        choice = {
            "index": 0,
            "token_ids": [],
            "completion_logprobs": array | {"dtype": "float32"},
            "sampling_mask": {"ids": array, "counts": array},
            "routed_experts": array | {"start": 0, "dtype": "uint8"},
        }
        empty = array | {"shape": [0, rows]}
        bodies.append(choice)
        bodies.append(choice | {"sampling_mask": array, "routed_experts": array})
        bodies.append(choice | {"sampling_mask": empty, "routed_experts": empty | {"shape": [0, rows, rows]}})
        bodies.append(choice | {"routed_experts": {"data": "", "shape": [rows, *tail], "start": 0}})
        bodies.append(
            choice | {"routed_experts": {"data": "", "shape": [0, 2**30, *tail], "start": 2, "dtype": "uint8"}}
        )
    written = [orjson.dumps({"request_id": "r", "choices": [choice]}) for choice in bodies]
    tracemalloc.start()
    try:
        for body in written:
            for form in FORMS:
                for field in FieldName:
                    try:
                        decode_field(form, field, body, REQUEST)
                    except WireRefusal:
                        continue
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
