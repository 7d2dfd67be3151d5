"""Several choices in one response: each is read by its index, and nothing of one passes for another's."""

import itertools
from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from pinctl.wire.cases import CASES
from pinctl.wire.forms import FORMS, FieldName, decode_field, encode_response
from pinctl.wire.refusal import WireRefusal

CASE = CASES["several-choices"]
FIELDS = ("logprobs", "sampling_mask", "routed_experts")


def truth_of(choice: int) -> Mapping[str, Any]:
    return {**CASE.choices[choice].choice_truth()}


def test_the_choices_share_the_prompt_and_nothing_else() -> None:
    assert [len(choice.token_ids) for choice in CASE.choices] == [3, 3, 5]
    assert {choice.prompt_token_ids for choice in CASE.choices} == {CASE.prompt_token_ids}
    for one, other in itertools.combinations(range(3), 2):
        assert all(truth_of(one)[field] != truth_of(other)[field] for field in ("token_ids", *FIELDS))
        rows = len(CASE.prompt_token_ids)
        first, second = (truth_of(choice)["routed_experts"]["ids"] for choice in (one, other))
        assert first[:rows] == second[:rows]
        assert all(row != other_row for row, other_row in zip(first[rows:], second[rows:], strict=False))


def test_the_truth_holds_every_choice_and_the_first_one_s_values_as_ever() -> None:
    truth = CASE.truth()
    assert truth["choices"] == [truth_of(choice) for choice in range(3)]
    assert {key: value for key, value in truth.items() if key in truth_of(0)} == truth_of(0)
    assert "choices" not in CASES["greedy"].truth()
    assert "choice" not in CASES["greedy"].request()


@pytest.mark.parametrize("form", ["vllm", "packed", "uint8", "kept-tokens", "skyrl"])
@pytest.mark.parametrize("choice", [0, 1, 2])
def test_each_choice_comes_back_by_its_index(form: str, choice: int) -> None:
    body = encode_response(form, CASE)
    assert [entry["index"] for entry in orjson.loads(body)["choices"]] == [0, 1, 2]
    for field in FORMS[form].fields:
        if field is not FieldName.PROMPT_LOGPROBS:
            assert decode_field(form, field, body, dict(CASE.request(choice))) == truth_of(choice)[field]


def test_usage_counts_the_tokens_of_all_choices() -> None:
    usage = orjson.loads(encode_response("packed", CASE))["usage"]
    assert usage == {"prompt_tokens": 3, "completion_tokens": 11, "total_tokens": 14}


def changed(change: str) -> bytes:
    response = orjson.loads(encode_response("packed", CASE))
    choices = response["choices"]
    match change:
        case "swapped":
            choices[0], choices[1] = choices[1], choices[0]
        case "one less":
            choices.pop()
        case "one more":
            choices.append({**choices[2], "index": 3})
        case "one index twice":
            choices[2]["index"] = 1
        case "one alone":
            response["choices"] = choices[1:2]
        case "not an object":
            choices[2] = []
        case _:
            pass
    return orjson.dumps(response)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ("swapped", "choices[0].index"),
        ("one less", "choices"),
        ("one more", "choices"),
        ("one index twice", "choices[2].index"),
        ("one alone", "choices"),
        ("not an object", "choices[2]"),
    ],
)
@pytest.mark.parametrize("choice", [0, 1, 2])
def test_choices_that_are_not_those_that_were_asked_for_are_refused(change: str, place: str, choice: int) -> None:
    with pytest.raises(WireRefusal) as caught:
        decode_field("packed", "logprobs", changed(change), dict(CASE.request(choice)))
    assert caught.value.field == place


@pytest.mark.parametrize(
    ("request_", "place"),
    [
        ({"choices": 3, "choice": 3}, "request.choice"),
        ({"choices": 0}, "request.choice"),
        ({"choices": True}, "request.choices"),
        ({"choice": -1}, "request.choice"),
    ],
)
def test_requests_for_no_choice_are_refused(request_: Mapping[str, object], place: str) -> None:
    with pytest.raises(WireRefusal) as caught:
        decode_field("packed", "logprobs", changed(""), {**CASE.request(), "choices": 3, "choice": 0, **request_})
    assert caught.value.field == place


def test_one_choice_is_all_that_is_asked_for_where_nothing_is_said() -> None:
    request = {"prompt_token_ids": list(CASE.prompt_token_ids), "routed_experts_start": 0}
    with pytest.raises(WireRefusal, match="choices: has 3 entries, expected 1"):
        decode_field("packed", "logprobs", changed(""), request)
