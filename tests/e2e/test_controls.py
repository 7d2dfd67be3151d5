"""Negative controls in a run of the matrix: they tell strict clients from lenient ones, and decide where asked to."""

import json
import re
from typing import Any

import pytest

from support.releases import Releases

READER = """
import array, base64, json

def choice(body, request):
    return json.loads(body)["choices"][request.get("choice", 0)]

def numbers(packed, typecode, *, is_strict):
    data = base64.b64decode(packed["data"], validate=is_strict)
    if is_strict and len(data) != packed["shape"][0] * 4:
        raise ValueError("the shape is not that of the data")
    found = array.array(typecode)
    found.frombytes(data[: len(data) // 4 * 4])
    return found.tolist()

def mask(body, request, *, is_strict):
    packed = choice(body, request).get("sampling_mask")
    if packed is None:
        return None
    ids, counts = (numbers(packed[key], "i", is_strict=is_strict) for key in ("ids", "counts"))
    if is_strict and (sum(counts) != len(ids) or min(ids, default=0) < 0):
        raise ValueError("ids and counts do not agree")
    rows = iter(ids)
    return [[next(rows, -1) for _ in range(min(count, 9))] for count in counts]
"""
STRICT = READER + "def decode_mask(body, request):\n    return mask(body, request, is_strict=True)\n"
LENIENT = READER + "def decode_mask(body, request):\n    return mask(body, request, is_strict=False)\n"
PROBE = "from wire_client import decode_mask as decode_sampling_mask\n"
READS = 'reads = ["sampling_mask"]\n'
WRONG_SHAPES = "sampling_mask.ids with a wrong shape"


def outcomes(cell: dict[str, Any]) -> dict[str, str]:
    return {control["control"]: control["outcome"] for control in cell["controls"]}


def test_controls_tell_strict_clients_from_lenient_ones_beside_the_verdict(releases: Releases) -> None:
    releases.publish("1", LENIENT)
    releases.publish("2", STRICT)
    releases.plan(PROBE, cases=["top-p"], client=READS)

    cells = releases.matrix("packed", versions=("1", "2"))

    assert {labels: cell["verdict"] for labels, cell in cells.items()} == {("packed", "1"): "ok", ("packed", "2"): "ok"}
    lenient, strict = outcomes(cells["packed", "1"]), outcomes(cells["packed", "2"])
    places = ("sampling_mask.ids", "sampling_mask.counts")
    changes = ("one row more in the shape", "data cut short", "base85", "big-endian bytes")
    assert set(lenient) == set(strict) == {f"{place}: {change}" for place in places for change in changes}
    assert set(strict.values()) == {"refused"}
    assert lenient["sampling_mask.ids: one row more in the shape"] == "taken"
    (control,) = (
        control
        for control in cells["packed", "1"]["controls"]
        if control["control"] == "sampling_mask.ids: one row more in the shape"
    )
    assert control == {
        "control": "sampling_mask.ids: one row more in the shape",
        "field": "sampling_mask",
        "case": "top-p",
        "refusable": True,
        "outcome": "taken",
        "reason": "",
        "evidence": "got [[2768, 1917, 311], [220], [16, 17, 18, 19], [30, 0]]",
    }


def test_the_text_names_what_a_lenient_client_takes(releases: Releases) -> None:
    releases.publish("1", LENIENT)
    releases.publish("2", STRICT)
    releases.plan(PROBE, cases=["top-p"], client=READS)

    result = releases.run("packed", versions=("1", "2"), text=True)

    assert (result.status, result.stderr) == (0, "")
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("lenient"))
    assert line.startswith(f"lenient  {releases.distribution}==1: takes {WRONG_SHAPES}, ")
    assert line.endswith("  of wire:packed")
    assert result.stdout.splitlines()[-1] == "ok: 2 of 2 required cells are ok, 2 were run"


def test_controls_decide_where_the_plan_asks_for_a_strict_client(releases: Releases) -> None:
    releases.publish("1", LENIENT)
    releases.publish("2", STRICT)
    releases.plan(PROBE, cases=["top-p"], client=f"{READS}strict = true\n")

    assert releases.verdicts("packed", versions=("1", "2")) == {("packed", "1"): "corrupts", ("packed", "2"): "ok"}
    result = releases.run("packed", text=True)
    assert result.status == 1
    assert f"    strictness is asked for, and the client takes {WRONG_SHAPES} without an error\n" in result.stdout
    assert "    got [[2768, 1917, 311], [220], [16, 17, 18, 19], [30, 0]]\n" in result.stdout


def test_what_no_rule_gives_away_never_counts_against_a_client(releases: Releases) -> None:
    # Expert ids of uint16 are in range in either byte order: only the case's true values tell.
    code = """
import array, base64, json, math
def decode_experts(body, request):
    packed = json.loads(body)["choices"][0]["routed_experts"]
    if set(packed) != {"data", "shape", "dtype", "start"} or packed["dtype"] != "uint16":
        raise ValueError("not packed")
    ids = array.array("H")
    ids.frombytes(base64.b64decode(packed["data"], validate=True))
    rows, layers, top_k = packed["shape"]
    if len(ids) != math.prod(packed["shape"]):
        raise ValueError("shape")
    cells = [ids[at : at + top_k].tolist() for at in range(0, len(ids), top_k)]
    return {"ids": [cells[row * layers : (row + 1) * layers] for row in range(rows)], "start": packed["start"]}
"""
    releases.publish("1", code)
    probe = "from wire_client import decode_experts as decode_routed_experts\n"
    releases.plan(probe, cases=["routed-experts"], client='reads = ["routed_experts"]\nstrict = true\n')

    cell = releases.matrix("packed")["packed", "1"]

    assert cell["verdict"] == "ok"
    assert outcomes(cell)["routed_experts: big-endian bytes"] == "taken"
    assert [control["control"] for control in cell["controls"] if not control["refusable"]] == [
        "routed_experts: big-endian bytes"
    ]
    assert "lenient" not in releases.run("packed", text=True).stdout


def test_a_client_that_dies_of_a_control_has_answered_the_cases(releases: Releases) -> None:
    releases.publish("1", LENIENT)
    log = releases.directory / "log"
    probe = f"""
import os
from wire_client import choice, mask
open({str(log)!r}, 'a').write('started ')
def decode_sampling_mask(body, request):
    if choice(body, request)["sampling_mask"]["ids"]["shape"] == [11]:
        os._exit(9)
    return mask(body, request, is_strict=True)
"""
    releases.plan(probe, cases=["top-p"], client=READS)

    cell = releases.matrix("packed")["packed", "1"]

    assert cell["verdict"] == "ok"
    assert {control["reason"] for control in cell["controls"]} == {"the probe ended with status 9"}
    text = releases.run("packed", text=True).stdout
    assert (
        f"lenient or strict is unknown  {releases.distribution}==1: the probe ended with status 9 (8 controls)" in text
    )
    # What it died of decides nothing, so it is not asked again; where strictness is asked for, it is.
    assert log.read_text() == "started "
    releases.plan(probe, cases=["top-p"], client=f"{READS}strict = true\n")
    assert releases.run("packed").status == 3
    assert log.read_text() == "started started "


def test_relays_and_unreadable_fields_have_no_controls(releases: Releases) -> None:
    releases.publish("1", STRICT)
    relay = "import wire_client\ndef relay_sampling_mask(body, request):\n"
    relay += "    return wire_client.choice(body, request)['sampling_mask']\n"
    releases.plan(relay, cases=["top-p"], client='reads = []\nrelays = ["sampling_mask"]\nstrict = true\n')
    cell = releases.matrix("packed")["packed", "1"]
    assert (cell["verdict"], cell["controls"], cell["strict"]) == ("ok", [], False)

    # A client that refuses the form itself has shown nothing by refusing its controls too.
    releases.plan(PROBE, cases=["top-p"], client=READS)
    cell = releases.matrix("vllm")["vllm", "1"]
    assert (cell["verdict"], cell["controls"]) == ("rejects", [])


def test_strictness_that_no_control_can_show_is_unknown(releases: Releases) -> None:
    releases.publish("1", STRICT)
    # Nothing was sampled: there is nothing to make bad.
    releases.plan(PROBE, cases=["empty"], client=f"{READS}strict = true\n")
    cell = releases.matrix("packed")["packed", "1"]
    assert (cell["verdict"], cell["reason"]) == (
        "unknown",
        "strictness is asked for, and there was no control to send",
    )


@pytest.mark.parametrize(("which", "least", "most"), [("none", 0, 0), ("named", 8, 8), ("all", 60, 200)])
def test_a_plan_says_which_controls_are_sent(releases: Releases, which: str, least: int, most: int) -> None:
    releases.publish("1", STRICT)
    releases.plan(PROBE, cases=["top-p"], client=READS, contract=f'controls = "{which}"')
    assert least <= len(releases.matrix("packed")["packed", "1"]["controls"]) <= most


def test_all_cases_and_controls_of_a_cell_go_through_one_process_and_are_not_asked_again(releases: Releases) -> None:
    releases.publish("1", STRICT)
    log = releases.directory / "log"
    releases.plan(f"open({str(log)!r}, 'a').write('started\\n')\n{PROBE}", cases=["top-p", "empty"], client=READS)
    first = releases.run("packed")
    assert releases.run("packed") == first
    assert log.read_text() == "started\n"


@pytest.mark.parametrize(
    ("client", "contract", "words"),
    [
        ("strict = true", 'controls = "none"', r"\.strict: needs controls, and the contract says controls = \"none\""),
        ("", 'controls = "some"', r"contract\.controls: "),
        ('reads = ["logprobs"]\noptional = ["sampling_mask"]', "", "neither reads nor relays 'sampling_mask'"),
        ('optional = ["masks"]', "", "'masks' is no field of the contract"),
    ],
)
def test_mistakes_about_strictness_are_named(releases: Releases, client: str, contract: str, words: str) -> None:
    releases.publish("1", STRICT)
    releases.plan(PROBE, cases=["top-p"], client=client, contract=contract)
    result = releases.run("packed")
    assert result.status == 2
    assert re.search(words, result.stderr), result.stderr


def test_a_field_that_a_client_can_do_without_may_be_absent_and_not_be_wrong(releases: Releases) -> None:
    # kept-tokens sends the mask under its other name: this client does not see it.
    releases.publish("1", STRICT)
    releases.plan(PROBE, cases=["top-p"], client=READS)
    assert releases.verdicts("kept-tokens")["kept-tokens", "1"] == "missing"
    releases.plan(PROBE, cases=["top-p"], client=f'{READS}optional = ["sampling_mask"]\n')
    assert releases.verdicts("kept-tokens", "vllm") == {("kept-tokens", "1"): "ok", ("vllm", "1"): "rejects"}


CHOICES = (
    READER
    + """
def first(body, request):
    return mask(body, {}, is_strict=True)
def right(body, request):
    return mask(body, request, is_strict=True)
def mixed(body, request):
    return mask(body, {"choice": {1: 0, 0: 1}.get(request["choice"], 2)}, is_strict=True)
"""
)


@pytest.mark.parametrize(
    ("reader", "verdicts"),
    [
        ("right", ["ok", "ok", "ok"]),
        ("first", ["ok", "corrupts", "corrupts"]),
        ("mixed", ["corrupts", "corrupts", "ok"]),
    ],
)
def test_a_client_that_mixes_choices_up_corrupts(releases: Releases, reader: str, verdicts: list[str]) -> None:
    releases.publish("1", CHOICES)
    probe = f"from wire_client import {reader} as decode_sampling_mask\n"
    releases.plan(probe, cases=["several-choices"], client=READS)

    (case,) = releases.matrix("packed")["packed", "1"]["cases"]

    assert {field["field"]: field["verdict"] for field in case["fields"]} == {
        f"choices[{index}].sampling_mask": verdict for index, verdict in enumerate(verdicts)
    }


def test_a_form_that_cannot_hold_a_case_is_unknown_for_it(releases: Releases) -> None:
    releases.publish("1", STRICT)
    probe = "def decode_routed_experts(body, request):\n    return None\n"
    releases.plan(probe, cases=["routed-experts"], client='reads = ["routed_experts"]')
    result = releases.run("uint8")
    assert (result.status, result.stderr) == (3, "")
    assert json.loads(result.stdout)["cells"][0]["reason"].startswith(
        "routed-experts: routed_experts: the server failed: routed_experts: holds the expert "
    )
