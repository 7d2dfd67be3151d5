"""Releases of clients against the forms that servers send: what two sides make between them."""

import json
from pathlib import Path
from typing import Any

import pytest

from pinctl.model.matrix import CaseResult, Cell, FieldResult, Verdict
from pinctl.model.need import Need
from pinctl.model.order import prove_order
from pinctl.model.plan import Change, Contract, LandingPlan, Probe
from support.releases import Releases

OLD_DECODER = """
import base64, json

def rows_of(ids, shape):
    rows, layers, top_k = shape
    cells = [ids[at : at + top_k] for at in range(0, rows * layers * top_k, top_k)]
    return [cells[row * layers : (row + 1) * layers] for row in range(rows)]

def decode_experts(body, request):
    packed = json.loads(body)["choices"][0]["routed_experts"]
    # A byte is an expert: there are at most 256. What more bytes there are is not looked at.
    ids = list(base64.b64decode(packed["data"]))
    return {"ids": rows_of(ids, packed["shape"]), "start": packed["start"]}
"""
NEW_DECODER = OLD_DECODER.replace(
    '    ids = list(base64.b64decode(packed["data"]))\n',
    "    import array\n"
    '    ids = array.array({"uint8": "B", "uint16": "H"}[packed.get("dtype", "uint8")])\n'
    '    ids.frombytes(base64.b64decode(packed["data"], validate=True))\n'
    "    ids = ids.tolist()\n",
)
EXPERTS = "from wire_client import decode_experts as decode_routed_experts\n"
READS_EXPERTS = 'reads = ["routed_experts"]\n'


def _publish_decoders(releases: Releases, *cases: str) -> None:
    releases.publish("1", OLD_DECODER)
    releases.publish("2", NEW_DECODER)
    releases.plan(EXPERTS, cases=cases, client=READS_EXPERTS)


def test_d1_ids_of_one_byte_reach_every_decoder(releases: Releases) -> None:
    _publish_decoders(releases, "few-experts")
    assert releases.verdicts("uint8", "packed", versions=("1", "2")) == {
        ("uint8", "1"): "ok",
        ("uint8", "2"): "ok",
        ("packed", "1"): "ok",
        ("packed", "2"): "ok",
    }


def test_d1_ids_of_two_bytes_reach_the_new_decoder_alone_and_the_old_encoder_has_no_room_for_them(
    releases: Releases,
) -> None:
    _publish_decoders(releases, "few-experts", "routed-experts")
    assert releases.verdicts("uint8", "packed", versions=("1", "2")) == {
        ("uint8", "1"): "unknown",
        ("uint8", "2"): "unknown",
        ("packed", "1"): "corrupts",
        ("packed", "2"): "ok",
    }


def test_d1_the_decoder_lands_before_the_server(releases: Releases) -> None:
    # What each server is asked to send is what its model has: 256 experts before, 512 after.
    _publish_decoders(releases, "few-experts")
    cells = releases.matrix("uint8", versions=("1", "2"))
    _publish_decoders(releases, "few-experts", "routed-experts")
    cells |= releases.matrix("packed", versions=("1", "2"))
    changes = (
        Change(id="decoder", component="client", branch="decoder"),
        Change(id="server", component="super", branch="server", after=("decoder",), pins=("client",)),
    )
    contract = Contract(
        server=Probe(path=Path("server.py")), clients={"client": Probe(path=Path("client.py"))}, cases=("few-experts",)
    )
    plan = LandingPlan(name="plan", path=Path("plan.toml"), title="uint16", changes=changes, contract=contract)

    def cell_of(need: Need) -> Cell:
        form, version = "packed" if "server" in need.landed else "uint8", "2" if need.new else "1"
        verdict = Verdict(cells[form, version]["verdict"])
        field = FieldResult(field="routed_experts", verdict=verdict)
        case = CaseResult(case="experts", fields=(field,))
        return Cell(server=form, client=version, component="client", cases=(case,))

    proof = prove_order(plan, superproject="super", cell_of=cell_of)

    assert (proof.changes, proof.declared_safe) == (("decoder", "server"), True)
    assert (proof.orders, proof.safe_orders) == (2, 1)
    assert proof.counter_example is not None
    assert proof.counter_example.steps == ("server",)
    assert proof.counter_example.cell.verdict is Verdict.CORRUPTS


LOGPROBS = """
import json

def choice(body):
    return json.loads(body)["choices"][0]

def strict(body, request):
    content = choice(body)["logprobs"]["content"]
    if len(content) != len(choice(body)["token_ids"]):
        raise ValueError("not one logprob for each token")
    found = [entry["logprob"] for entry in content]
    if any(type(logprob) is not float or not -9999.0 < logprob <= 0 for logprob in found):
        raise ValueError("no evidence")
    return found

def zeros(body, request):
    content = (choice(body).get("logprobs") or {}).get("content") or []
    found = [entry["logprob"] if entry["logprob"] not in (None, -9999.0) else 0.0 for entry in content]
    return found + [0.0] * (len(choice(body)["token_ids"]) - len(found))

def as_sent(body, request):
    return [entry["logprob"] for entry in choice(body)["logprobs"]["content"]]

def as_none(body, request):
    return [None if logprob == -9999.0 else logprob for logprob in as_sent(body, request)]
"""


@pytest.mark.parametrize("case", ["no-evidence", "minus-infinity"])
@pytest.mark.parametrize(
    ("reader", "verdict"), [("strict", "ok"), ("as_none", "ok"), ("zeros", "corrupts"), ("as_sent", "corrupts")]
)
def test_d2_d3_missing_evidence_is_refused_or_none_and_never_a_number(
    releases: Releases, case: str, reader: str, verdict: str
) -> None:
    releases.publish("1", LOGPROBS)
    probe = f"from wire_client import {reader} as decode_logprobs\n"
    releases.plan(probe, cases=["greedy", case], client='reads = ["logprobs"]')
    assert releases.verdicts("vllm")["vllm", "1"] == verdict


@pytest.mark.parametrize(
    ("reader", "outcome", "verdict"), [("strict", "refused", "ok"), ("zeros", "taken", "corrupts")]
)
def test_d2_a_client_that_fills_up_with_zeros_takes_what_a_strict_one_refuses(
    releases: Releases, reader: str, outcome: str, verdict: str
) -> None:
    releases.publish("1", LOGPROBS)
    probe = f"from wire_client import {reader} as decode_logprobs\n"
    releases.plan(probe, cases=["greedy"], client='reads = ["logprobs"]\nstrict = true')
    cell = releases.matrix("vllm")["vllm", "1"]
    assert (cell["verdict"], [(control["control"], control["outcome"]) for control in cell["controls"]]) == (
        verdict,
        [("logprobs: one token less", outcome)],
    )
    releases.plan(probe, cases=["greedy"], client='reads = ["logprobs"]', contract='controls = "all"')
    controls = releases.matrix("vllm")["vllm", "1"]["controls"]
    outcomes = {control["control"]: control["outcome"] for control in controls}
    changes = ("one token less", "null for content", "no content", "null for a number", "no evidence")
    assert {change: outcomes[f"logprobs: {change}"] for change in changes} == dict.fromkeys(changes, outcome)


MASKS = """
import base64, json

def of_lists(body, request):
    found = json.loads(body)["choices"][0].get("sampling_mask")
    return None if found is None else [[int(token_id) for token_id in row] for row in found]

def packed(body, request, key="sampling_mask"):
    import array
    mask = json.loads(body)["choices"][0].get(key)
    if mask is None:
        return None
    ids, counts = array.array("i"), array.array("i")
    ids.frombytes(base64.b64decode(mask["ids"]["data"], validate=True))
    counts.frombytes(base64.b64decode(mask["counts"]["data"], validate=True))
    rows = iter(ids)
    return [[next(rows) for _ in range(count)] for count in counts]

def kept_tokens(body, request):
    return packed(body, request, "kept_tokens")
"""


@pytest.mark.parametrize(
    ("reader", "verdicts"),
    [
        ("of_lists", {"vllm": "ok", "kept-tokens": "missing", "packed": "rejects"}),
        ("kept_tokens", {"vllm": "missing", "kept-tokens": "ok", "packed": "missing"}),
        ("packed", {"vllm": "rejects", "kept-tokens": "missing", "packed": "ok"}),
    ],
)
def test_d8_a_field_that_was_renamed_or_repacked_is_missing_or_rejected(
    releases: Releases, reader: str, verdicts: dict[str, str]
) -> None:
    releases.publish("1", MASKS)
    probe = f"from wire_client import {reader} as decode_sampling_mask\n"
    # An empty list and an absent field are among the cases: neither excuses the other cases.
    releases.plan(probe, cases=["greedy", "top-p", "empty"], client='reads = ["sampling_mask"]')
    found = releases.verdicts("vllm", "kept-tokens", "packed")
    assert {form: verdict for (form, _), verdict in found.items()} == verdicts


BASE64 = """
import array, base64, json, math

def decode(body, is_strict):
    packed = json.loads(body)["choices"][0]["routed_experts"]
    ids = array.array("i")
    data = base64.b64decode(packed["data"], validate=is_strict)
    ids.frombytes(data[: len(data) // 4 * 4])
    rows, layers, top_k = packed["shape"]
    if is_strict and len(ids) != rows * layers * top_k:
        raise ValueError("not as many ids as the shape says")
    cells = [ids[at : at + top_k].tolist() for at in range(0, rows * layers * top_k, top_k)]
    return {"ids": [cells[row * layers : (row + 1) * layers] for row in range(rows)], "start": 0}

def strict(body, request):
    return decode(body, True)

def lenient(body, request):
    return decode(body, False)
"""


@pytest.mark.parametrize(("reader", "verdicts"), [("strict", {"rejects"}), ("lenient", {"corrupts", "rejects"})])
def test_d6_base85_that_reaches_a_base64_reader_is_loud_only_where_that_is_strict(
    releases: Releases, reader: str, verdicts: set[str]
) -> None:
    releases.publish("1", BASE64)
    probe = f"from wire_client import {reader} as decode_routed_experts\n"
    releases.plan(probe, cases=["few-experts", "prefill-decode"], client=READS_EXPERTS)
    cell = releases.matrix("vllm-0.20")["vllm-0.20", "1"]
    assert {case["verdict"] for case in cell["cases"]} == verdicts


@pytest.mark.parametrize(
    ("form", "reader"), [("packed", "of_lists"), ("vllm", "packed")], ids=["packed for lists", "lists for packed"]
)
def test_d14_a_form_for_another_is_loud_and_is_told_by_its_type(releases: Releases, form: str, reader: str) -> None:
    releases.publish("1", MASKS)
    probe = f"from wire_client import {reader} as decode_sampling_mask\n"
    releases.plan(probe, cases=["top-p"], client='reads = ["sampling_mask"]')
    cell = releases.matrix(form)[form, "1"]
    assert cell["verdict"] == "rejects"
    assert cell["reason"].startswith(("top-p: sampling_mask: ValueError", "top-p: sampling_mask: TypeError"))


def test_d17_what_was_asked_for_and_is_not_there_is_missing_unless_it_is_optional(
    releases: Releases,
) -> None:
    # The client looks where the server does not put it.
    code = 'import json\ndef get(body, request):\n    return json.loads(body).get("nvext", {}).get("routed_experts")\n'
    releases.publish("1", code)
    probe = "from wire_client import get as decode_routed_experts\n"
    for more, verdict in (("", "missing"), ('optional = ["routed_experts"]\n', "ok")):
        releases.plan(probe, cases=["routed-experts"], client=READS_EXPERTS + more)
        assert releases.verdicts("packed")["packed", "1"] == verdict
    # Nothing came because nothing was asked for: the case is not about this field.
    releases.plan(probe, cases=["greedy", "routed-experts"], client=READS_EXPERTS)
    cases = releases.matrix("packed")["packed", "1"]["cases"]
    assert [case["case"] for case in cases] == ["routed-experts"]


CONSUMER = (
    NEW_DECODER
    + """
def use(body, request):
    packed = json.loads(body)["choices"][0]["routed_experts"]
    if packed["dtype"] == "uint16":
        raise TypeError("no operation of this kind for uint16")
    return object()
"""
)


def test_d18_what_decodes_is_told_from_what_can_be_used(releases: Releases) -> None:
    releases.publish("1", CONSUMER)
    cases = ["few-experts", "routed-experts"]
    releases.plan(EXPERTS, cases=cases, client=READS_EXPERTS)
    assert releases.verdicts("packed")["packed", "1"] == "ok"

    releases.plan(
        f"{EXPERTS}from wire_client import use as consume_routed_experts\n", cases=cases, client=READS_EXPERTS
    )
    for _ in range(2):  # once asked, once from what is kept
        cell = releases.matrix("packed")["packed", "1"]
        found: dict[str, Any] = {case["case"]: (case["verdict"], case["reason"]) for case in cell["cases"]}
        words = "the client cannot use it: TypeError: no operation of this kind for uint16"
        assert found == {
            "few-experts": ("ok", ""),
            "routed-experts": ("rejects", f"routed_experts: decoded, but {words}"),
        }


def test_d18_a_consumer_that_is_not_installed_is_unknown(releases: Releases) -> None:
    releases.publish("1", NEW_DECODER)
    consume = "def consume_routed_experts(body, request):\n    import torch_that_is_not_here\n"
    releases.plan(EXPERTS + consume, cases=["few-experts"], client=READS_EXPERTS)
    result = releases.run("packed")
    assert result.status == 3
    assert "No module named 'torch_that_is_not_here'" in json.loads(result.stdout)["cells"][0]["reason"]
