"""Whole responses: every form carries every case that fits it, and refuses what breaks its rules."""

import math
from typing import Any

import orjson
import pytest

from pinctl.wire import arrays
from pinctl.wire.body import parse_request, parse_response
from pinctl.wire.case import Case
from pinctl.wire.cases import CASES
from pinctl.wire.forms import FORMS, FieldName, FormName, decode_field, encode_response
from pinctl.wire.logprobs import NO_EVIDENCE
from pinctl.wire.refusal import UnencodableError, WireRefusal

PROMPT = 3
TOKENS = [8, 9]


def decode(form: str, field: str, body: bytes, case: Case) -> Any:
    return decode_field(form, field, body, dict(case.request()))


def changed(body: bytes, **changes: object) -> bytes:
    """Returns the body with keys of its choice replaced, or taken away where the new value is Ellipsis."""
    response = orjson.loads(body)
    choice = response["choices"][0]
    choice.update(changes)
    response["choices"] = [{key: value for key, value in choice.items() if value is not ...}]
    return orjson.dumps(response)


def envelope(**choice: object) -> bytes:
    fields = {"index": 0, "token_ids": TOKENS, "finish_reason": "stop"} | choice
    return orjson.dumps({"request_id": "r", "choices": [fields], "usage": {}})


def test_the_names() -> None:
    assert list(FORMS) == ["vllm", "packed", "vllm-0.20", "uint8", "kept-tokens", "skyrl"]
    assert [form.name for form in FORMS.values()] == list(FormName)
    assert all(form.source for form in FORMS.values())
    with pytest.raises(KeyError):
        encode_response("pakced", CASES["greedy"])
    with pytest.raises(KeyError):
        decode("pakced", "logprobs", b"{}", CASES["greedy"])
    with pytest.raises(ValueError, match="logprob"):
        decode("packed", "logprob", b"{}", CASES["greedy"])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CASES)
def test_every_form_carries_every_case_that_fits(form: str, name: str) -> None:
    case = CASES[name]
    truth = case.truth()
    if form == "uint8" and name in {"routed-experts", "edge-ids"}:
        with pytest.raises(UnencodableError):
            encode_response(form, case)
        return
    body = encode_response(form, case)

    if case.has_evidence:
        assert decode(form, "logprobs", body, case) == truth["logprobs"]
    else:
        with pytest.raises(WireRefusal, match="no evidence"):
            decode(form, "logprobs", body, case)

    if form == "vllm-0.20":
        assert decode(form, "sampling_mask", body, case) is None
    elif form == "skyrl" and name == "sampling-mask":
        with pytest.raises(WireRefusal, match="is empty, though its token bears loss"):
            decode(form, "sampling_mask", body, case)
    else:
        assert decode(form, "sampling_mask", body, case) == truth["sampling_mask"]

    assert decode(form, "routed_experts", body, case) == truth["routed_experts"]
    scores = list(case.prompt_logprobs) if form == "vllm-0.20" else None
    assert decode(form, "prompt_logprobs", body, case) == scores


@pytest.mark.parametrize("form", FORMS)
def test_a_response_is_what_the_endpoint_answers(form: str) -> None:
    response = orjson.loads(encode_response(form, CASES["top-p"]))
    assert set(response) - {"prompt_logprobs"} == {"request_id", "choices", "usage"}
    assert response["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    (choice,) = response["choices"]
    assert choice["index"] == 0
    assert choice["token_ids"] == [2768, 220, 17, 30]
    assert choice["finish_reason"] == "stop"


def test_the_keys_of_each_form() -> None:
    def keys(form: str) -> dict[str, object]:
        choice = orjson.loads(encode_response(form, CASES["one-token"]))["choices"][0]
        return {
            key: sorted(value) if isinstance(value, dict) else type(value).__name__
            for key, value in choice.items()
            if key not in {"index", "token_ids", "finish_reason"}
        }

    array = ["data", "dtype", "shape"]
    assert keys("vllm") == {
        "logprobs": ["content"],
        "sampling_mask": "list",
        "routed_experts": ["data", "dtype", "shape", "start"],
    }
    assert keys("packed") == {
        "completion_logprobs": array,
        "sampling_mask": ["counts", "ids"],
        "routed_experts": ["data", "dtype", "shape", "start"],
    }
    assert keys("vllm-0.20") == {"logprobs": ["content"], "routed_experts": ["data", "shape"]}
    assert keys("uint8") == {
        "logprobs": ["content"],
        "sampling_mask": "list",
        "routed_experts": ["data", "shape", "start"],
    }
    assert keys("kept-tokens") == {
        "logprobs": ["content"],
        "kept_tokens": ["counts", "ids"],
        "routed_experts": ["data", "dtype", "shape", "start"],
    }
    assert keys("skyrl") == {"logprobs": ["content"], "sampling_mask": array, "routed_experts": array}


def test_an_old_reader_finds_nothing_in_the_new_form() -> None:
    case = CASES["top-p"]
    packed = encode_response("packed", case)
    assert decode("vllm", "logprobs", packed, case) is None
    assert decode("kept-tokens", "sampling_mask", packed, case) is None
    kept = encode_response("kept-tokens", case)
    assert decode("packed", "sampling_mask", kept, case) is None
    with pytest.raises(WireRefusal, match=r"^sampling_mask: is an object, expected a list$"):
        decode("vllm", "sampling_mask", packed, case)
    with pytest.raises(WireRefusal, match=r"^sampling_mask: is a list, expected an object$"):
        decode("packed", "sampling_mask", encode_response("vllm", case), case)


def test_experts_over_255_tell_the_forms_apart() -> None:
    many, few = CASES["routed-experts"], CASES["few-experts"]
    for case in (many, few):
        with pytest.raises(WireRefusal):
            decode("uint8", "routed_experts", encode_response("vllm", case), case)
        with pytest.raises(WireRefusal):
            decode("vllm-0.20", "routed_experts", encode_response("vllm", case), case)
        with pytest.raises(WireRefusal):
            decode("vllm", "routed_experts", encode_response("vllm-0.20", case), case)


@pytest.mark.parametrize("form", ["vllm", "packed", "vllm-0.20", "skyrl"])
@pytest.mark.parametrize("field", ["logprobs", "sampling_mask", "routed_experts"])
def test_an_absent_field_is_none(form: str, field: str) -> None:
    case = CASES["prefill-decode"]
    body = changed(
        encode_response(form, case), logprobs=..., completion_logprobs=..., sampling_mask=..., routed_experts=...
    )
    assert decode(form, field, body, case) is None


def test_a_field_in_another_envelope_is_absent() -> None:
    case = CASES["routed-experts"]
    response = orjson.loads(encode_response("packed", case))
    choice = response["choices"][0]
    choice["nvext"] = {"routed_experts": choice.pop("routed_experts")}
    response["nvext"] = choice["nvext"]
    assert decode("packed", "routed_experts", orjson.dumps(response), case) is None


def test_null_is_no_logprobs_but_may_be_no_mask_and_no_experts() -> None:
    case = CASES["empty"]
    for form in FORMS:
        body = changed(
            encode_response(form, case),
            logprobs=None,
            completion_logprobs=None,
            sampling_mask=None,
            kept_tokens=None,
            routed_experts=None,
        )
        with pytest.raises(WireRefusal):
            decode(form, "logprobs", body, case)
        assert decode(form, "sampling_mask", body, case) is None
        assert decode(form, "routed_experts", body, case) is None


def test_an_abort_without_tokens_keeps_its_dimensions() -> None:
    choice = orjson.loads(encode_response("packed", CASES["empty"]))["choices"][0]
    nothing = {"data": "", "shape": [0], "dtype": "int32"}
    assert choice == {
        "index": 0,
        "token_ids": [],
        "finish_reason": "abort",
        "completion_logprobs": {"data": "", "shape": [0], "dtype": "float32"},
        "sampling_mask": {"ids": nothing, "counts": nothing},
        "routed_experts": {"data": "", "shape": [0, 3, 2], "dtype": "uint8", "start": 3},
    }


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "null", "-9999.0", "-9999", "-1e999"])
def test_what_json_writers_make_of_no_number(token: str) -> None:
    body = envelope(
        logprobs={"content": [{"token": "token_id:8", "logprob": -1}, {"token": "token_id:9", "logprob": 0.5}]}
    )
    request = {"prompt_token_ids": [1, 2, 3], "routed_experts_start": None}
    assert decode_field("vllm", "logprobs", body, request) == [-1.0, 0.5]
    with pytest.raises(WireRefusal):
        decode_field("vllm", "logprobs", body.replace(b"0.5", token.encode()), request)


@pytest.mark.parametrize("form", ["packed", "vllm", "skyrl"])
def test_no_evidence_is_written_as_the_sentinel(form: str) -> None:
    for name in ("no-evidence", "minus-infinity"):
        choice = orjson.loads(encode_response(form, CASES[name]))["choices"][0]
        if form == "packed":
            assert "logprobs" not in choice
        else:
            assert [entry["logprob"] for entry in choice["logprobs"]["content"]] == [-0.5, NO_EVIDENCE, -0.75]


def test_both_forms_of_the_logprobs_at_once_are_refused() -> None:
    case = CASES["greedy"]
    body = encode_response("packed", case)
    with pytest.raises(WireRefusal, match="stands beside completion_logprobs"):
        decode("packed", "logprobs", changed(body, logprobs={"content": []}), case)
    assert decode("packed", "logprobs", changed(body, logprobs=None), case) == case.truth()["logprobs"]


def test_a_decode_instance_may_start_later_than_requested_only_in_the_packed_form() -> None:
    case = CASES["prefill-decode"]
    assert case.routed_experts is not None
    late = orjson.loads(encode_response("packed", case))["choices"][0]["routed_experts"]
    size = 2 * 4
    late |= arrays.pack(case.routed_experts.ids[2:].astype("u1")) | {"start": 2}
    assert late["shape"] == [6, 2, 4]
    assert len(late["data"]) == 6 * size * 4 // 3
    body = changed(encode_response("packed", case), routed_experts=late)
    value = decode("packed", "routed_experts", body, case)
    assert value == {"ids": case.routed_experts.ids[2:].tolist(), "start": 2}
    with pytest.raises(WireRefusal, match=r"^routed_experts\.start: is 2, expected 0 as requested$"):
        decode("vllm", "routed_experts", changed(encode_response("vllm", case), routed_experts=late), case)


@pytest.mark.parametrize("form", ["vllm", "packed", "vllm-0.20", "uint8", "skyrl"])
@pytest.mark.parametrize("by", [-1, 1])
def test_tokens_and_arrays_of_different_length_are_refused(form: str, by: int) -> None:
    case = CASES["prefill-decode"]
    body = encode_response(form, case)
    tokens = list(case.token_ids)
    cut = changed(body, token_ids=tokens[:by] if by < 0 else [*tokens, 1])
    for field in FORMS[form].fields:
        if field is FieldName.PROMPT_LOGPROBS:
            continue
        with pytest.raises(WireRefusal):
            decode(form, field, cut, case)


def test_another_prompt_than_was_answered_is_refused() -> None:
    case = CASES["routed-experts"]
    for form in ("vllm", "packed", "vllm-0.20", "skyrl"):
        body = encode_response(form, case)
        request = dict(case.request()) | {"prompt_token_ids": [1, 2, 3, 4]}
        with pytest.raises(WireRefusal):
            decode_field(form, "routed_experts", body, request)
    with pytest.raises(WireRefusal):
        decode_field("vllm-0.20", "prompt_logprobs", encode_response("vllm-0.20", case), request)


@pytest.mark.parametrize(
    "request_value",
    [
        {},
        {"prompt_token_ids": None},
        {"prompt_token_ids": [True]},
        {"prompt_token_ids": [1], "routed_experts_start": True},
        {"prompt_token_ids": [1], "routed_experts_start": -1},
    ],
    ids=str,
)
def test_a_request_that_is_none_is_refused(request_value: dict[str, object]) -> None:
    with pytest.raises(WireRefusal, match=r"^request\."):
        decode_field("packed", "logprobs", encode_response("packed", CASES["greedy"]), request_value)


def test_one_parse_serves_all_fields() -> None:
    case = CASES["top-p"]
    body = encode_response("packed", case)
    response = parse_response(body)
    request = parse_request(case.request())
    form = FORMS["packed"]
    assert form.decode(FieldName.LOGPROBS, response=response, request=request) == case.truth()["logprobs"]
    assert form.decode(FieldName.SAMPLING_MASK, response=response, request=request) == case.truth()["sampling_mask"]


def test_servers_may_add_to_the_envelope_but_not_to_a_payload() -> None:
    case = CASES["one-token"]
    for form in FORMS:
        response = orjson.loads(encode_response(form, case))
        response["kv_transfer_params"] = {"a": [None]}
        choice = response["choices"][0]
        choice["stop_reason"] = None
        if "logprobs" in choice:
            choice["logprobs"]["refusal"] = None
            choice["logprobs"]["content"][0]["rank"] = 1
        body = orjson.dumps(response)
        assert decode(form, "logprobs", body, case) == case.truth()["logprobs"]
        assert decode(form, "routed_experts", body, case) == case.truth()["routed_experts"]
        choice["routed_experts"]["note"] = None
        with pytest.raises(WireRefusal, match="has a key that this form does not have: 'note'"):
            decode(form, "routed_experts", orjson.dumps(response), case)


def test_numbers_survive_the_form_exactly() -> None:
    case = CASES["edge-ids"]
    for form in FORMS:
        if form == "uint8":
            continue
        assert decode(form, "logprobs", encode_response(form, case), case) == list(case.logprobs)
    assert all(logprob is not None and math.isfinite(logprob) for logprob in case.logprobs)
