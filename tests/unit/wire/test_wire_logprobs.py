"""The sampled tokens' log-probabilities: evidence or a refusal, never a number made up."""

import math
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.wire import arrays, logprobs
from pinctl.wire.logprobs import NO_EVIDENCE
from pinctl.wire.refusal import WireRefusal

SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=100)

EVIDENCE = st.floats(width=32, min_value=-9998, max_value=0)
NONE_AT_ALL = st.sampled_from([None, -math.inf, math.inf, math.nan, NO_EVIDENCE, -10_000.0, -1e30])
NO_NUMBERS: list[Any] = [
    *(None, True, False, "-1", [], math.nan, math.inf, -math.inf, -9999.0, -9999, -1e9, 10**400, 10**5000)
]
TOKEN_IDS = st.integers(0, 2**31 - 1)


def completions() -> st.SearchStrategy[tuple[list[float], list[int]]]:
    return st.lists(st.tuples(EVIDENCE, TOKEN_IDS), max_size=20).map(
        lambda pairs: ([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    )


def content(*entries: object) -> dict[str, object]:
    return {"content": list(entries)}


def entry(token_id: int, logprob: object) -> dict[str, object]:
    return {"token": f"token_id:{token_id}", "logprob": logprob, "bytes": None, "top_logprobs": []}


@SETTINGS
@given(completion=completions())
def test_round_trip_of_every_form(completion: tuple[list[float], list[int]]) -> None:
    values, token_ids = completion
    sent = orjson.loads(orjson.dumps(logprobs.encode_vllm(values, token_ids)))
    assert logprobs.decode_vllm(sent, token_ids=token_ids).tolist() == values
    sent = orjson.loads(orjson.dumps(logprobs.encode_skyrl(values)))
    assert logprobs.decode_skyrl(sent, tokens=len(values)).tolist() == values
    sent = orjson.loads(orjson.dumps(logprobs.encode_packed(values)))
    assert logprobs.decode_packed(sent, tokens=len(values)).tolist() == values
    scores = [0.0, *values[1:]] if values else []
    sent = orjson.loads(orjson.dumps(logprobs.encode_teacher(scores, token_ids)))
    if values:
        assert logprobs.decode_teacher(sent, prompt_token_ids=token_ids).tolist() == scores


@SETTINGS
@given(completion=completions(), at=st.integers(0, 20), missing=NONE_AT_ALL)
def test_what_is_no_evidence_is_floored_and_then_refused(
    completion: tuple[list[float], list[int]], at: int, missing: float | None
) -> None:
    values, token_ids = completion
    with_gap: list[float | None] = [*values[:at], missing, *values[at:]]
    index = min(at, len(values))
    token_ids = [*token_ids[:at], 7, *token_ids[at:]]
    assert logprobs.floored(with_gap)[index] == NO_EVIDENCE
    message = rf"\[{index}\]: is -9999.0, which is no evidence"
    with pytest.raises(WireRefusal, match=message):
        logprobs.decode_vllm(logprobs.encode_vllm(with_gap, token_ids), token_ids=token_ids)
    with pytest.raises(WireRefusal, match=message):
        logprobs.decode_skyrl(logprobs.encode_skyrl(with_gap), tokens=len(with_gap))
    with pytest.raises(WireRefusal, match=message):
        logprobs.decode_packed(logprobs.encode_packed(with_gap), tokens=len(with_gap))


def test_flooring_passes_the_trap_of_max() -> None:
    assert math.isnan(max(math.nan, NO_EVIDENCE))
    assert logprobs.floored([math.nan, -1.0]).tolist() == [NO_EVIDENCE, -1.0]


@SETTINGS
@given(bits=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=8))
def test_any_bytes_decode_to_evidence_or_are_refused(bits: list[int]) -> None:
    packed = arrays.pack(np.array(bits, dtype=np.uint32).view(np.float32))
    try:
        values = logprobs.decode_packed(packed, tokens=len(bits))
    except WireRefusal:
        return
    assert np.isfinite(values).all()
    assert (values > NO_EVIDENCE).all()


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"content": None},
        {"content": {}},
        content(entry(8, -1.0)),
        content(entry(8, -1.0), entry(9, -1.0), entry(9, -1.0)),
        content(entry(9, -1.0), entry(8, -1.0)),
        content(entry(8, -1.0), entry(7, -1.0)),
        content(entry(8, -1.0), None),
        content(entry(8, -1.0), {"token": "token_id:9"}),
        content(entry(8, -1.0), {"logprob": -1.0}),
        content(entry(8, -1.0), {"token": "token_id:09", "logprob": -1.0}),
        content(entry(8, -1.0), {"token": 9, "logprob": -1.0}),
        *(content(entry(8, -1.0), entry(9, number)) for number in NO_NUMBERS),
    ],
)
def test_the_list_form_is_complete_or_refused(value: Any) -> None:
    with pytest.raises(WireRefusal):
        logprobs.decode_vllm(value, token_ids=[8, 9])


def test_a_wrong_token_is_named() -> None:
    with pytest.raises(WireRefusal) as caught:
        logprobs.decode_vllm(content(entry(7, -1.0)), token_ids=[8])
    assert caught.value.field == "logprobs.content[0].token"
    assert caught.value.reason == "does not name the token 8"


def test_whole_numbers_are_numbers() -> None:
    assert logprobs.decode_vllm(content(entry(8, -3)), token_ids=[8]).tolist() == [-3.0]


@pytest.mark.parametrize("value", [[-1.0, -2.0], content(None, None), content({"logprob": -1.0}), content({}, {})])
def test_the_list_form_without_names_is_complete_or_refused(value: Any) -> None:
    with pytest.raises(WireRefusal):
        logprobs.decode_skyrl(value, tokens=2)


@pytest.mark.parametrize(
    "value",
    [
        [-1.0, -2.0],  # lists where a packed array is expected
        "AACAvwAAAMA=",
        arrays.pack(np.array([-1, -2, -3], dtype=np.float32)),
        arrays.pack(np.array([[-1, -2]], dtype=np.float32)),
        arrays.pack(np.array([-1, -2], dtype=np.int32)),
    ],
    ids=str,
)
def test_the_packed_form_is_complete_or_refused(value: Any) -> None:
    with pytest.raises(WireRefusal):
        logprobs.decode_packed(value, tokens=2)


def test_big_endian_logprobs_pass_unseen() -> None:  # why a case needs its true values
    packed = arrays.pack(np.array([-1.5, -0.25], dtype=np.float32).byteswap())
    values = logprobs.decode_packed(packed, tokens=2)
    assert values.tolist() != [-1.5, -0.25]


def test_a_teacher_is_read_by_the_prompts_own_token() -> None:
    sent: Any = logprobs.encode_teacher([0.0, -2.0, -4.0], [5, 6, 2**31 - 1])
    assert sent[0] is None
    assert [next(iter(candidates)) for candidates in sent[1:]] == ["7", str(2**31 - 2)]
    assert logprobs.decode_teacher(sent, prompt_token_ids=[5, 6, 2**31 - 1]).tolist() == [0.0, -2.0, -4.0]
    assert logprobs.decode_teacher([], prompt_token_ids=[]).tolist() == []


@pytest.mark.parametrize(
    "value",
    [
        None,
        [None],
        [None, None],
        [{"5": {"logprob": -1.0}}, {"6": {"logprob": -1.0}}],
        [None, {"7": {"logprob": -1.0}}],
        [None, {"6": None}],
        [None, {"6": {}}],
        [None, {"6": {"logprob": None}}],
        [None, {"6": {"logprob": -9999.0}}],
        [None, {"6": {"logprob": math.nan}}],
        [None, {"6": {"logprob": True}}],
        [None, {"6": {"logprob": -1.0}}, None],
    ],
    ids=str,
)
def test_a_teacher_is_complete_or_refused(value: Any) -> None:
    with pytest.raises(WireRefusal):
        logprobs.decode_teacher(value, prompt_token_ids=[5, 6])
