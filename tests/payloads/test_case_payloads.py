"""What the strict decoders refuse of one payload, by the name of the field, and what they take."""

import base64
import io
import math
import pickle
import random
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from pinctl.flows.matrix.cases import Fields, judged, questions
from pinctl.model.matrix import Verdict
from pinctl.model.plan import Probe
from pinctl.tools.probes.probe import Body, ask_client
from pinctl.wire.cases import CASES
from pinctl.wire.forms import decode_field, encode_response
from pinctl.wire.refusal import WireRefusal

Change = Callable[[dict[str, Any]], object]


def changed(form: str, case: str, change: Change) -> bytes:
    """Returns the response to a case with its choice changed."""
    response = orjson.loads(encode_response(form, CASES[case]))
    change(response["choices"][0])
    return orjson.dumps(response)


def with_data(form: str, case: str, key: str, data: bytes) -> bytes:
    """Returns the response to a case with other data in one of its packed arrays."""
    return changed(form, case, lambda choice: choice[key].update(data=data.decode()))


def decode(form: str, field: str, body: bytes, case: str) -> Any:
    return decode_field(form, field, body, dict(CASES[case].request()))


def refusal(form: str, field: str, body: bytes, case: str) -> str:
    with pytest.raises(WireRefusal) as caught:
        decode(form, field, body, case)
    return str(caught.value)


def verdict_of(directory: Path, code: str, body: bytes, case: str, field: str) -> Verdict:
    """Returns what a client's own code makes of one field of a body."""
    path = directory / "probe.py"
    path.write_text(code)
    probe = Probe(path=path, reads=(field,))
    asked = {key: (body.decode(), request) for key, request in questions(CASES[case]).items()}
    decoded = ask_client(probe, Path(sys.executable), asked)
    return judged(CASES[case], Fields(reads=(field,)), Body(text=body.decode()), decoded).verdict


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda choice: choice["logprobs"]["content"].pop(), "logprobs.content: has 2 entries, expected 3"),
        (lambda choice: choice.update(logprobs=None), "logprobs: is null, expected an object"),
        (lambda choice: choice.update(logprobs={"content": None}), "logprobs.content: is null, expected a list"),
    ],
)
def test_d2_short_and_absent_logprobs_are_refused_and_filled_up_with_zeros_they_corrupt(
    tmp_path: Path, change: Change, words: str
) -> None:
    body = changed("vllm", "few-experts", change)
    assert refusal("vllm", "logprobs", body, "few-experts") == words
    zeros = """
import json
def decode_logprobs(body, request):
    choice = json.loads(body)["choices"][0]
    content = (choice["logprobs"] or {}).get("content") or []
    found = [entry["logprob"] for entry in content]
    return found + [0.0] * (len(choice["token_ids"]) - len(found))
"""
    assert verdict_of(tmp_path, zeros, body, "few-experts", "logprobs") is Verdict.CORRUPTS


@pytest.mark.parametrize(
    ("key", "value"), [("logprob", -9999.0), ("logprob", True), ("token", "token_id:7"), ("token", "hello")]
)
def test_d3_ambiguous_entries_are_refused_by_their_place(key: str, value: object) -> None:
    body = changed("vllm", "greedy", lambda choice: choice["logprobs"]["content"][1].update({key: value}))
    assert refusal("vllm", "logprobs", body, "greedy").startswith("logprobs.content[1]")


STRICT_JSON = "parse_constant=lambda name: (_ for _ in ()).throw(ValueError(name))"
CLIENTS = {
    "json": "json.loads(body)",
    "strict json": f"json.loads(body, {STRICT_JSON})",
}
FINITE = "    if not all(isinstance(x, float) and -9999.0 < x < 1 for x in found): raise ValueError('not finite')\n"


@pytest.mark.parametrize("parser", CLIENTS)
@pytest.mark.parametrize("checks", [False, True])
@pytest.mark.parametrize("number", ["NaN", "-Infinity", "null", "-9999.0", "-1.5"])
def test_d4_what_a_server_writes_for_no_number_is_refused_none_or_corrupts(
    tmp_path: Path, parser: str, number: str, *, checks: bool
) -> None:
    body = encode_response("vllm", CASES["no-evidence"]).replace(b"-9999.0", number.encode())
    code = "import json\ndef decode_logprobs(body, request):\n"
    code += f'    content = {CLIENTS[parser]}["choices"][0]["logprobs"]["content"]\n'
    code += "    found = [entry['logprob'] for entry in content]\n" + (FINITE if checks else "") + "    return found\n"
    refused_by_parser = parser == "strict json" and number in {"NaN", "-Infinity"}
    is_right = refused_by_parser or number == "null" or (checks and number != "-1.5")
    expected = Verdict.OK if is_right else Verdict.CORRUPTS
    assert verdict_of(tmp_path, code, body, "no-evidence", "logprobs") is expected
    if number != "-1.5":
        words = refusal("vllm", "logprobs", body, "no-evidence")
        place = "body: is not JSON" if number in {"NaN", "-Infinity"} else "logprobs.content[1]"
        assert words.startswith(place)


def test_d4_finite_numbers_are_taken_and_nan_in_packed_bytes_is_not() -> None:
    assert decode("packed", "logprobs", encode_response("packed", CASES["greedy"]), "greedy") == list(
        CASES["greedy"].logprobs
    )
    for bad in (math.nan, -math.inf, math.inf, -9999.0, max(math.nan, -9999.0)):
        data = np.array([-0.5, bad, -0.5, -0.5], dtype="<f4").tobytes()
        body = with_data("packed", "greedy", "completion_logprobs", base64.b64encode(data))
        assert refusal("packed", "logprobs", body, "greedy").startswith("completion_logprobs")


def test_d6_a_lenient_reader_takes_much_base85_for_base64_and_the_strict_one_none() -> None:
    generator = random.Random(6)  # noqa: S311 - the same payloads every time
    lenient = 0
    for _ in range(300):
        text = base64.b85encode(generator.randbytes(4 * 4))
        body = with_data("packed", "greedy", "completion_logprobs", text)
        assert refusal("packed", "logprobs", body, "greedy").startswith("completion_logprobs.data: ")
        try:
            base64.b64decode(text)
        except ValueError:
            continue
        lenient += 1
    assert 50 < lenient < 250

    body = changed("vllm-0.20", "few-experts", lambda choice: choice["routed_experts"].update(data="QUJDRA=="))
    assert refusal("vllm-0.20", "routed_experts", body, "few-experts").startswith("routed_experts.data: ")


def test_d7_a_dtype_that_is_not_that_of_the_bytes_is_refused() -> None:
    body = changed("skyrl", "edge-ids", lambda choice: choice["routed_experts"].update(dtype="int16"))
    assert refusal("skyrl", "routed_experts", body, "edge-ids") == (
        "routed_experts.data: has 32 characters, which cannot hold int16 [3, 1, 2] as base64"
    )


@pytest.mark.parametrize(
    ("form", "key", "value", "found"),
    [
        ("vllm", "sampling_mask", [], "refused"),
        ("vllm", "sampling_mask", None, None),
        ("vllm", "kept_tokens", {}, [[2768, 1917, 311], [220], [16, 17, 18, 19], [30, 0]]),
        ("kept-tokens", "sampling_mask", [[1]], [[2768, 1917, 311], [220], [16, 17, 18, 19], [30, 0]]),
        ("kept-tokens", "kept_tokens", None, None),
        ("kept-tokens", "kept_tokens", [[1], [1], [1], [1]], "refused"),
    ],
)
def test_d8_each_form_reads_its_own_name_alone(form: str, key: str, value: object, found: object) -> None:
    body = changed(form, "top-p", lambda choice: choice.update({key: value}))
    if found == "refused":
        assert refusal(form, "sampling_mask", body, "top-p").startswith(key)
    else:
        assert decode(form, "sampling_mask", body, "top-p") == found


@pytest.mark.parametrize("form", ["vllm", "packed", "uint8"])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_d10_rows_are_one_less_than_the_tokens_and_anything_else_is_refused(form: str, more: int) -> None:
    case = CASES["few-experts"]
    tokens = len(case.prompt_token_ids) + len(case.token_ids)

    def change(choice: dict[str, Any]) -> None:
        packed = choice["routed_experts"]
        rows, layers, top_k = packed["shape"]
        assert rows == tokens - 1
        data = base64.b64decode(packed["data"])
        row = data[: layers * top_k]
        data = data + row if more > 0 else data[: (rows + more) * layers * top_k]
        packed.update(data=base64.b64encode(data).decode(), shape=[rows + more, layers, top_k])

    body = changed(form, "few-experts", change)
    if more == 0:
        truth = case.truth()["routed_experts"]
        assert decode(form, "routed_experts", body, "few-experts") == truth
    else:
        assert refusal(form, "routed_experts", body, "few-experts").startswith("routed_experts")


@pytest.mark.parametrize("experts", ["null", "empty array"])
def test_d11_an_abort_without_tokens_has_no_experts_and_keeps_their_dimensions(tmp_path: Path, experts: str) -> None:
    def change(choice: dict[str, Any]) -> None:
        assert (choice["finish_reason"], choice["token_ids"]) == ("abort", [])
        assert (choice["routed_experts"]["shape"], choice["routed_experts"]["data"]) == ([0, 3, 2], "")
        if experts == "null":
            choice["routed_experts"] = None

    body = changed("packed", "empty", change)
    value = decode("packed", "routed_experts", body, "empty")
    assert value == (None if experts == "null" else CASES["empty"].truth()["routed_experts"])
    code = """
import json
def decode_routed_experts(body, request):
    packed = json.loads(body)["choices"][0]["routed_experts"]
    return None if packed is None else {"ids": [], "start": packed["start"]}
"""
    assert verdict_of(tmp_path, code, body, "empty", "routed_experts") is Verdict.OK


@pytest.mark.parametrize("dtype", [">u2", "<u2", "=u2", "|u2", "uint16be", "UINT16", "u2"])
def test_d13_a_dtype_must_be_the_plain_name(dtype: str) -> None:
    body = changed("packed", "routed-experts", lambda choice: choice["routed_experts"].update(dtype=dtype))
    assert refusal("packed", "routed_experts", body, "routed-experts").startswith("routed_experts.dtype: ")
    floats = dtype.replace("u2", "f4").replace("uint16", "float32").replace("UINT16", "FLOAT32")
    body = changed("packed", "greedy", lambda choice: choice["completion_logprobs"].update(dtype=floats))
    assert refusal("packed", "logprobs", body, "greedy").startswith("completion_logprobs.dtype: ")


def test_d13_big_endian_bytes_under_a_plain_name_are_refused_where_a_rule_gives_them_away_and_corrupt_elsewhere(
    tmp_path: Path,
) -> None:
    def swap(packed: dict[str, Any]) -> None:
        values = np.frombuffer(base64.b64decode(packed["data"]), dtype=packed["dtype"])
        packed["data"] = base64.b64encode(values.byteswap().tobytes()).decode()

    counts = changed("packed", "top-p", lambda choice: swap(choice["sampling_mask"]["counts"]))
    assert refusal("packed", "sampling_mask", counts, "top-p").startswith("sampling_mask")
    body = changed("packed", "routed-experts", lambda choice: swap(choice["routed_experts"]))
    truth = CASES["routed-experts"].truth()["routed_experts"]
    assert decode("packed", "routed_experts", body, "routed-experts") != truth
    code = """
import array, base64, json
def decode_routed_experts(body, request):
    packed = json.loads(body)["choices"][0]["routed_experts"]
    ids = array.array("H")
    ids.frombytes(base64.b64decode(packed["data"]))
    rows, layers, top_k = packed["shape"]
    cells = [ids[at : at + top_k].tolist() for at in range(0, len(ids), top_k)]
    return {"ids": [cells[row * layers : (row + 1) * layers] for row in range(rows)], "start": packed["start"]}
"""
    assert verdict_of(tmp_path, code, body, "routed-experts", "routed_experts") is Verdict.CORRUPTS
    good = encode_response("packed", CASES["routed-experts"])
    assert verdict_of(tmp_path, code, good, "routed-experts", "routed_experts") is Verdict.OK


@pytest.mark.parametrize(
    ("form", "case", "field", "change", "place"),
    [
        ("packed", "greedy", "logprobs", lambda choice: choice.update(completion_logprobs=[-0.5] * 4), ""),
        ("packed", "greedy", "logprobs", lambda choice: choice["completion_logprobs"].update(data=[1, 2]), ".data"),
        ("packed", "greedy", "logprobs", lambda choice: choice.update(completion_logprobs="AAAA"), ""),
        ("packed", "top-p", "sampling_mask", lambda choice: choice.update(sampling_mask=[[1]] * 4), ""),
        ("vllm", "top-p", "sampling_mask", lambda choice: choice.update(sampling_mask="AAAA"), ""),
        ("vllm", "top-p", "sampling_mask", lambda choice: choice.update(sampling_mask={"ids": [], "counts": []}), ""),
        ("packed", "few-experts", "routed_experts", lambda choice: choice.update(routed_experts=[[[1]]]), ""),
        ("packed", "few-experts", "routed_experts", lambda choice: choice["routed_experts"].update(data=[1]), ".data"),
    ],
)
def test_d14_a_list_for_a_string_and_a_string_for_a_list_are_refused_by_their_type(
    form: str, case: str, field: str, change: Change, place: str
) -> None:
    words = refusal(form, field, changed(form, case, change), case)
    assert words.startswith(("completion_logprobs" if field == "logprobs" else field) + place)
    assert ", expected a" in words


class _Bomb:
    """Leaves a file behind where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self._path,))


def _npy(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, values, allow_pickle=True)
    return file.getvalue()


@pytest.mark.parametrize("form", ["packed", "vllm", "uint8", "skyrl", "vllm-0.20"])
def test_d15_npy_files_are_refused_and_what_is_pickled_in_them_is_not_run(tmp_path: Path, form: str) -> None:
    trace = tmp_path / "unpickled"
    objects = _npy(np.array([_Bomb(trace)], dtype=object))
    assert b"Path" in objects
    with pytest.raises(ValueError, match="allow_pickle"):
        np.load(io.BytesIO(objects))
    for payload in (objects, pickle.dumps(_Bomb(trace)), _npy(np.zeros((5, 4, 3), dtype=np.uint8))):
        encoded = base64.b85encode(payload) if form == "vllm-0.20" else base64.b64encode(payload)
        body = with_data(form, "few-experts", "routed_experts", encoded)
        assert refusal(form, "routed_experts", body, "few-experts").startswith("routed_experts")
    assert not trace.exists()


@pytest.mark.parametrize(
    "shape", [[2**40, 4, 3], [2**62, 4, 3], [10**30, 1, 1], [2**31, 2**31, 2**31], [5, 2**60, 3], [-5, -4, 3]]
)
def test_d15_huge_shapes_are_refused_before_anything_is_allocated(shape: list[int]) -> None:
    body = changed("packed", "few-experts", lambda choice: choice["routed_experts"].update(shape=0))
    body = body.replace(b'"shape":0', b'"shape":' + str(shape).encode())
    tracemalloc.start()
    try:
        assert refusal("packed", "routed_experts", body, "few-experts").startswith("routed_experts.")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("envelope", ["nvext", "meta_info", "sgl_ext"])
def test_d17_a_field_in_another_envelope_is_absent_and_absent_is_missing(tmp_path: Path, envelope: str) -> None:
    def move(choice: dict[str, Any]) -> None:
        choice[envelope] = {"routed_experts": choice.pop("routed_experts")}

    body = changed("packed", "routed-experts", move)
    assert decode("packed", "routed_experts", body, "routed-experts") is None
    for empty in ("None", "{'ids': [], 'start': 0}"):
        code = f"""
import json
def decode_routed_experts(body, request):
    return json.loads(body)["choices"][0].get("routed_experts") or {empty}
"""
        assert verdict_of(tmp_path, code, body, "routed-experts", "routed_experts") is Verdict.MISSING
