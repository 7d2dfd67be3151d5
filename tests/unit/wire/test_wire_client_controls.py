"""Negative controls for clients: made of what a server sent, in whatever form, and only where it can be read."""

from collections.abc import Mapping

import pytest

from pinctl.wire.cases import CASES
from pinctl.wire.client_controls import client_controls
from pinctl.wire.forms import FORMS, decode_field, encode_response
from pinctl.wire.refusal import WireRefusal

FIELDS = ("logprobs", "sampling_mask", "routed_experts")
ARRAY = ("one row more in the shape", "data cut short", "base85", "big-endian bytes")


def made(body: bytes, case: str = "prefill-decode", *, every: bool = False) -> Mapping[str, bool]:
    request = dict(CASES[case].request())
    return {control.name: control.refusable for control in client_controls(body, request, FIELDS, every=every)}


def names(*places: str, changes: tuple[str, ...] = ARRAY) -> set[str]:
    return {f"{place}: {change}" for place in places for change in changes}


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        # All expert ids of the case are below 256: single bytes have no order.
        (
            "packed",
            names("completion_logprobs", "sampling_mask.ids", "sampling_mask.counts")
            | names("routed_experts", changes=ARRAY[:3]),
        ),
        (
            "vllm",
            {"logprobs: one token less", "sampling_mask: one row less"} | names("routed_experts", changes=ARRAY[:3]),
        ),
        (
            "kept-tokens",
            {"logprobs: one token less"}
            | names("kept_tokens.ids", "kept_tokens.counts")
            | names("routed_experts", changes=ARRAY[:3]),
        ),
        (
            "uint8",
            {"logprobs: one token less", "sampling_mask: one row less"} | names("routed_experts", changes=ARRAY[:3]),
        ),
        ("vllm-0.20", {"logprobs: one token less"} | names("routed_experts", changes=ARRAY[:2])),
        (
            "skyrl",
            {"logprobs: one token less"} | names("sampling_mask") | names("routed_experts", changes=ARRAY[:3]),
        ),
    ],
)
def test_each_form_has_the_controls_that_mean_something_in_it(form: str, expected: set[str]) -> None:
    assert set(made(encode_response(form, CASES["prefill-decode"]))) == expected


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["greedy", "top-p", "few-experts", "one-token", "prefill-decode", "several-choices"])
def test_refusable_is_what_the_strict_decoder_of_the_form_refuses(form: str, name: str, *, every: bool) -> None:
    case = CASES[name]
    body = encode_response(form, case)
    for control in client_controls(body, dict(case.request()), FIELDS, every=every):
        try:
            value = decode_field(form, control.field, control.body, dict(case.request()))
        except WireRefusal:
            assert control.refusable
        else:
            assert control.refusable == (value is None)


def test_what_no_rule_gives_away_is_said_not_to_be_refusable() -> None:
    found = made(encode_response("packed", CASES["routed-experts"]), "routed-experts")
    assert [name for name, refusable in found.items() if not refusable] == ["routed_experts: big-endian bytes"]


def test_all_controls_are_many_more() -> None:
    assert len(made(encode_response("packed", CASES["prefill-decode"]), every=True)) > 100


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"\xff",
        b'{"choices": []}',
        b'{"choices": [{"logprobs": {"content": []}}]}',
        b'{"request_id": "x", "choices": [{"index": 0, "token_ids": [1, 2], "sampling_mask": {"ids": 1}}]}',
        encode_response("packed", CASES["greedy"])[:-9],
        encode_response("packed", CASES["no-evidence"]),
    ],
)
def test_a_body_that_no_strict_decoder_takes_has_none(body: bytes) -> None:
    assert made(body, every=True) == {}


def test_only_fields_that_are_read_have_controls() -> None:
    case = CASES["prefill-decode"]
    found = client_controls(encode_response("packed", case), dict(case.request()), ("sampling_mask",), every=True)
    assert {control.field.value for control in found} == {"sampling_mask"}
