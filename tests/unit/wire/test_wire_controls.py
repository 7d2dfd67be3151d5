"""The negative controls: the strict decoders refuse every one that can be refused."""

from collections import Counter
from collections.abc import Iterator

import orjson
import pytest

from pinctl.wire.case import Case
from pinctl.wire.cases import CASES
from pinctl.wire.controls import Control, body_controls, packed_controls, vllm_controls
from pinctl.wire.forms import decode_field, encode_response
from pinctl.wire.refusal import WireRefusal

NAMES = [name for name, case in CASES.items() if case.has_evidence and name != "long"]


def controls(form: str, case: Case) -> Iterator[Control]:
    body = encode_response(form, case)
    if form == "packed":
        yield from packed_controls(body)
    if form == "vllm":
        yield from vllm_controls(body)
    yield from body_controls(body)


def refuses(form: str, control: Control, case: Case) -> bool:
    try:
        decode_field(form, control.field, control.body, dict(case.request()))
    except WireRefusal:
        return True
    return False


@pytest.mark.parametrize("form", ["packed", "vllm", "vllm-0.20", "skyrl"])
@pytest.mark.parametrize("name", NAMES)
def test_every_control_is_refused_or_known_to_pass_with_wrong_values(form: str, name: str) -> None:
    case = CASES[name]
    good = encode_response(form, case)
    found = list(controls(form, case))
    assert found
    for control in found:
        assert control.body != good, control.name
        if control.refusable:
            assert refuses(form, control, case), control.name
        else:
            value = decode_field(form, control.field, control.body, dict(case.request()))
            assert value is not None
            assert value != dict(case.truth())[control.field.value], control.name


def test_names_are_unique_and_say_the_place() -> None:
    names = Counter(control.name for control in controls("packed", CASES["prefill-decode"]))
    assert names.most_common(1)[0][1] == 1
    assert {name.split(": ")[0] for name in names} == {
        "logprobs",
        "completion_logprobs",
        "sampling_mask",
        "sampling_mask.ids",
        "sampling_mask.counts",
        "routed_experts",
        "body",
    }
    assert len(names) > 120


def test_what_no_rule_gives_away() -> None:
    def passing(name: str) -> set[str]:
        return {control.name for control in controls("packed", CASES[name]) if not control.refusable}

    assert passing("routed-experts") == {
        "routed_experts: big-endian bytes",
        "routed_experts: layers and top_k swapped in the shape",
    }
    assert passing("empty") == set()
    assert passing("prefill-decode") == {"routed_experts: layers and top_k swapped in the shape"}
    assert passing("one-token") == {
        "completion_logprobs: big-endian bytes",
        "sampling_mask.ids: big-endian bytes",
    }


def test_a_field_that_is_not_there_has_no_controls() -> None:
    body = encode_response("packed", CASES["greedy"])
    assert {control.field.value for control in packed_controls(body)} == {"logprobs"}
    response = orjson.loads(body)
    del response["choices"][0]["completion_logprobs"]
    assert list(packed_controls(orjson.dumps(response))) == []
    assert {control.field.value for control in vllm_controls(encode_response("vllm", CASES["greedy"]))} == {"logprobs"}
