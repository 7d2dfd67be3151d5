"""Measures the reference wire forms: what they weigh, what they lack, and what does not fit them."""

from dataclasses import replace

import pytest

from pinctl.flows.matrix.form_figures import parsed_objects, reference_figures
from pinctl.model.matrix import Verdict
from pinctl.model.measure import REFERENCE
from pinctl.wire.cases import CASES
from pinctl.wire.forms import FORMS

MASKED = replace(CASES["long"], routed_experts=None)


def test_a_form_s_size_is_that_of_its_body() -> None:
    for form, wire_form in FORMS.items():
        server, client = reference_figures(form, CASES["top-p"], repeat=1)
        assert (server.server, server.client, server.size) == (
            f"wire:{form}",
            None,
            len(wire_form.encode(CASES["top-p"])),
        )
        assert (client.server, client.client, client.size) == (f"wire:{form}", REFERENCE, None)
        for figures in (server, client):
            assert figures.verdict is Verdict.OK
            assert figures.best is not None
            assert figures.median is not None
            assert 0 < figures.best <= figures.median


def test_packing_pays_at_12500_tokens() -> None:
    (packed, _), (lists, _) = (reference_figures(form, MASKED, repeat=1) for form in ("packed", "vllm"))
    assert packed.size is not None
    assert lists.size is not None
    assert packed.size < 0.2 * lists.size
    # Each token has an object with two lists, and a row of the mask; packed, there are three arrays as text.
    assert lists.objects is not None
    assert lists.objects > 4 * 12_500
    assert packed.objects is not None
    assert packed.objects < 20


def test_a_form_says_which_fields_it_lacks() -> None:
    server, _ = reference_figures("vllm-0.20", CASES["long"], repeat=1)
    assert server.lacks == ("sampling_mask",)
    assert reference_figures("packed", CASES["long"], repeat=1)[0].lacks == ()


@pytest.mark.parametrize(
    ("form", "case", "encodes", "reason"),
    [
        ("uint8", "routed-experts", False, "routed_experts: "),
        ("packed", "no-evidence", True, "completion_logprobs[1]: is -9999.0, which is no evidence"),
    ],
)
def test_what_does_not_fit_has_a_reason_and_no_figures(form: str, case: str, *, encodes: bool, reason: str) -> None:
    server, client = reference_figures(form, CASES[case], repeat=1)
    assert (server.verdict is Verdict.OK, server.size is not None) == (encodes, encodes)
    assert (client.verdict, client.best, client.objects) == (Verdict.REJECTS, None, None)
    assert client.reason.startswith(reason)


def test_the_objects_of_a_body_are_those_that_hold_others() -> None:
    assert parsed_objects(b'{"a": [[1, 2], [3]], "b": "text"}') == 4
