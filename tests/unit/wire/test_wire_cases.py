"""The cases hold to the rules that the forms have."""

import math
from itertools import chain

import numpy as np
import orjson
import pytest

from pinctl.wire.case import Case
from pinctl.wire.cases import CASES

NAMES = (
    "greedy",
    "top-p",
    "sampling-mask",
    "routed-experts",
    "empty",
    "no-evidence",
    "one-token",
    "minus-infinity",
    "few-experts",
    "prefill-decode",
    "long",
    "edge-ids",
    "several-choices",
)


@pytest.fixture(params=NAMES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def test_the_names() -> None:
    assert tuple(CASES) == NAMES
    assert len(CASES) == len(NAMES)
    assert {name: case.name for name, case in CASES.items()} == {name: name for name in NAMES}
    assert "another" not in CASES


def test_a_case_is_built_once() -> None:
    assert CASES["long"] is CASES["long"]


def test_lengths_agree(case: Case) -> None:
    assert len(case.logprobs) == len(case.token_ids)
    assert case.sampling_mask is None or len(case.sampling_mask) == len(case.token_ids)
    assert case.prompt_token_ids
    if case.routed_experts is not None:
        start = case.routed_experts.start
        assert 0 <= start < len(case.prompt_token_ids)
        assert len(case.routed_experts.ids) == len(case.prompt_token_ids) + len(case.token_ids) - 1 - start


def test_every_logprob_is_exact_in_float32_and_tells_from_a_filled_in_zero(case: Case) -> None:
    for logprob in case.logprobs:
        assert logprob is None or (logprob < 0 and float(np.float32(logprob)) == logprob)
    assert all(float(np.float32(logprob)) == logprob for logprob in case.prompt_logprobs)
    assert case.prompt_logprobs[0] == 0
    assert all(logprob < 0 for logprob in case.prompt_logprobs[1:])


def test_ids_fit_int32(case: Case) -> None:
    ids = chain(case.prompt_token_ids, case.token_ids, *(case.sampling_mask or ()))
    assert all(type(token_id) is int and 0 <= token_id < 2**31 for token_id in ids)


def test_experts_cannot_be_changed_and_are_distinct(case: Case) -> None:
    experts = case.routed_experts
    if experts is None:
        return
    assert not experts.ids.flags.writeable
    slots = experts.ids.reshape(-1, experts.ids.shape[2])
    assert all(len(set(row)) == len(row) for row in slots.tolist())


def test_request_and_truth_are_json(case: Case) -> None:
    truth, request = case.truth(), case.request()
    assert orjson.loads(orjson.dumps(truth)) == truth
    assert orjson.loads(orjson.dumps(request)) == request
    assert list(truth) == [
        "name",
        "prompt_token_ids",
        "token_ids",
        "finish_reason",
        "logprobs",
        "sampling_mask",
        "routed_experts",
        "routed_experts_shape",
        "prompt_logprobs",
        *(["choices"] if case.more else []),
    ]
    start = None if truth["routed_experts"] is None else truth["routed_experts"]["start"]
    several = {"choices": 3, "choice": 0} if case.more else {}
    assert request == {"prompt_token_ids": truth["prompt_token_ids"], "routed_experts_start": start, **several}


def test_evidence() -> None:
    assert {name for name, case in CASES.items() if not case.has_evidence} == {"no-evidence", "minus-infinity"}
    assert CASES["no-evidence"].truth()["logprobs"] == [-0.5, None, -0.75]
    assert CASES["minus-infinity"].logprobs == (-0.5, -math.inf, -0.75)
    assert CASES["minus-infinity"].truth()["logprobs"] == [-0.5, "-Infinity", -0.75]


def test_what_each_case_is_for() -> None:
    def experts(name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.integer]]:
        found = CASES[name].routed_experts
        assert found is not None
        return found.ids

    assert 255 < experts("routed-experts").max() < 512
    assert experts("routed-experts").min() < 256
    assert experts("few-experts").max() == 255
    assert experts("empty").shape == (0, 3, 2)
    assert experts("prefill-decode").shape == (8, 2, 4)
    assert {0, 255, 256, 65_535} <= set(experts("edge-ids").ravel().tolist())
    assert CASES["empty"].finish_reason == "abort"
    assert CASES["empty"].truth()["sampling_mask"] == []
    assert len(CASES["long"].token_ids) == 12_500
    assert {0, 2**31 - 1} <= set(CASES["edge-ids"].token_ids)
    lengths = [len(row) for row in CASES["sampling-mask"].sampling_mask or ()]
    assert lengths == [3, 300, 0, 1, 0]
    for name in ("top-p", "one-token", "long", "prefill-decode"):
        rows = CASES[name].sampling_mask
        assert rows is not None
        assert all(token in row for token, row in zip(CASES[name].token_ids, rows, strict=True))


def test_the_long_case_is_the_same_everywhere() -> None:
    case = CASES["long"]
    assert case.token_ids[:4] == (0, 6761, 90_226, 96_987)
    assert sum(case.token_ids) == 944_530_022
