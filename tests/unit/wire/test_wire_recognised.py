"""Responses whose form nobody has named."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.wire.cases import CASES
from pinctl.wire.forms import FORMS, FieldName, decode_field
from pinctl.wire.recognised import recognise
from pinctl.wire.refusal import UnencodableError, WireRefusal

NO_FORM = "body: is in no wire form that pinctl knows"
CLAMPED = "logprobs.content[1]: is -9999.0, which is no evidence"
EVIDENT = [name for name in CASES if CASES[name].has_evidence and name != "long"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", EVIDENT)
def test_a_response_says_what_its_own_form_reads(form: str, name: str) -> None:
    case = CASES[name]
    if form == "uint8" and name in {"routed-experts", "edge-ids"}:
        with pytest.raises(UnencodableError):
            FORMS[form].encode(case)
        return
    body = FORMS[form].encode(case)
    request: Any = case.request()
    try:
        own = {str(field): decode_field(form, field, body, request) for field in FieldName}
    except WireRefusal:
        with pytest.raises(WireRefusal, match="in no wire form"):
            recognise(body, request)
        return
    found = recognise(body, request)
    assert form in found.forms
    assert found.values == {field: value for field, value in own.items() if value is not None}


def _body(form: str, name: str, **keys: Any) -> bytes:
    body = json.loads(FORMS[form].encode(CASES[name]))
    body["choices"][0].update(keys)
    return json.dumps(body).encode()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"data: {}", "body: is not JSON"),
        (
            _body("vllm", "top-p", completion_logprobs={}),
            f"{NO_FORM}: none has completion_logprobs, logprobs, sampling_mask together",
        ),
        (
            _body("packed", "top-p", sampling_mask=[[1]] * 4),
            f"{NO_FORM} (packed: sampling_mask: is a list, expected an object)",
        ),
        (
            _body("vllm", "no-evidence"),
            f"{NO_FORM} (vllm, vllm-0.20, uint8, kept-tokens, skyrl: {CLAMPED})",
        ),
    ],
)
def test_what_is_in_no_form_is_refused_with_the_reasons_of_those_that_have_its_fields(body: bytes, reason: str) -> None:
    with pytest.raises(WireRefusal) as caught:
        recognise(body, {"prompt_token_ids": [1, 2, 3], "routed_experts_start": None})
    assert str(caught.value) == reason


def test_null_is_no_field() -> None:
    request: Any = CASES["greedy"].request()
    found = recognise(_body("packed", "greedy", logprobs=None, kept_tokens=None, routed_experts=None), request)
    assert (found.forms, set(found.values)) == (("packed",), {"logprobs"})


@given(body=st.binary(max_size=200))
def test_nothing_but_a_refusal_comes_of_any_bytes(body: bytes) -> None:
    with pytest.raises(WireRefusal):
        recognise(body, {"prompt_token_ids": [1], "routed_experts_start": None})
