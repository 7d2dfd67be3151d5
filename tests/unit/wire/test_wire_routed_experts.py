"""The routed experts: rows at their positions, or a refusal; never a row too many or too few."""

import base64
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pinctl.wire import arrays, routed_experts
from pinctl.wire.prefill_decode import merge, split_at_prompt
from pinctl.wire.refusal import UnencodableError, WireRefusal
from pinctl.wire.routed_experts import RoutedExperts

SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=100)


def experts(highest: int) -> st.SearchStrategy[RoutedExperts]:
    shapes = st.tuples(st.integers(0, 5), st.integers(1, 4), st.integers(1, 3))
    ids = shapes.flatmap(lambda shape: hnp.arrays(np.int32, shape, elements=st.integers(0, highest)))
    return st.builds(lambda ids, start: RoutedExperts(ids=ids, start=start), ids, st.integers(0, 9))


def sent(value: object) -> Any:
    return orjson.loads(orjson.dumps(value))


def of(rows: int, *, start: int = 0, layers: int = 2, top_k: int = 2, first: int = 0) -> RoutedExperts:
    ids = first + np.arange(rows * layers * top_k, dtype=np.int32).reshape(rows, layers, top_k)
    return RoutedExperts(ids=ids, start=start)


@SETTINGS
@given(few=experts(255), many=experts(65_535), huge=experts(2**31 - 1))
def test_round_trip_of_every_form(few: RoutedExperts, many: RoutedExperts, huge: RoutedExperts) -> None:
    decoded = routed_experts.decode_uint8(
        sent(routed_experts.encode_uint8(few)), end=few.end, requested_start=few.start
    )
    assert decoded.value() == few.value()
    for packed in (routed_experts.encode_packed(many), routed_experts.encode_end_anchored(many, end=many.end)):
        decoded = routed_experts.decode_packed(sent(packed), end=many.end)
        assert decoded.value() == many.value()
        assert decoded.ids.shape == many.ids.shape
    for decode, encode in (
        (routed_experts.decode_base85, routed_experts.encode_base85),
        (routed_experts.decode_compact, routed_experts.encode_compact),
    ):
        decoded = decode(sent(encode(huge)), start=huge.start, end=huge.end)
        assert decoded.value() == huge.value()


@pytest.mark.parametrize(
    ("highest", "packed", "compact"),
    [
        (255, "uint8", "uint8"),
        (256, "uint16", "int16"),
        (32_767, "uint16", "int16"),
        (32_768, "uint16", "int32"),
        (65_535, "uint16", "int32"),
    ],
)
def test_the_smallest_dtype_that_holds_the_ids(highest: int, packed: str, compact: str) -> None:
    value = RoutedExperts(ids=np.array([[[0, highest]]]), start=0)
    assert routed_experts.encode_packed(value)["dtype"] == packed
    assert routed_experts.encode_compact(value)["dtype"] == compact


def test_ids_that_do_not_fit_are_not_cut() -> None:
    with pytest.raises(UnencodableError, match=r"^routed_experts: holds the expert 511, which uint8 cannot$"):
        routed_experts.encode_uint8(of(128, first=0))
    with pytest.raises(UnencodableError):
        routed_experts.encode_packed(RoutedExperts(ids=np.array([[[65_536]]]), start=0))


def test_a_dtype_is_neither_ignored_nor_made_up() -> None:
    many, few = of(128), of(4)
    with pytest.raises(WireRefusal, match="has a key that this form does not have: 'dtype'"):
        routed_experts.decode_uint8(routed_experts.encode_packed(many), end=128)
    without = {key: value for key, value in routed_experts.encode_packed(many).items() if key != "dtype"}
    with pytest.raises(WireRefusal, match=r"^routed_experts\.data: has"):
        routed_experts.decode_uint8(without, end=128)
    with pytest.raises(WireRefusal, match=r"^routed_experts\.dtype: is missing$"):
        routed_experts.decode_packed(routed_experts.encode_uint8(few), end=4)


def test_base85_and_base64_are_never_taken_for_each_other() -> None:
    old = routed_experts.encode_base85(of(4))
    with pytest.raises(WireRefusal, match="cannot hold"):
        routed_experts.decode_compact(old | {"dtype": "int32"}, start=0, end=4)
    new = routed_experts.encode_compact(of(4))
    with pytest.raises(WireRefusal, match=r"^routed_experts\.data: "):
        routed_experts.decode_base85({"data": new["data"], "shape": new["shape"]}, start=0, end=4)


@SETTINGS
@given(buffer=st.binary(min_size=12, max_size=48).map(lambda raw: raw[: len(raw) // 4 * 4]), data=st.data())
def test_base64_text_is_refused_as_base85_by_its_size(buffer: bytes, data: st.DataObject) -> None:
    layers = data.draw(st.sampled_from([1, len(buffer) // 4]))
    shape = [len(buffer) // 4 // layers, layers, 1]
    text = base64.b64encode(buffer).decode()
    with pytest.raises(WireRefusal):
        routed_experts.decode_base85({"data": text, "shape": shape}, start=0, end=shape[0])


@pytest.mark.parametrize(
    "text", ["", "0", "00000", "0000~~~~", "~~~~~", "000 0", "00\n000", "0000é", "00000" * 3, None, []]
)
def test_base85_is_canonical_or_refused(text: object) -> None:
    with pytest.raises(WireRefusal):
        routed_experts.decode_base85({"data": text, "shape": [1, 2, 1]}, start=0, end=1)


@pytest.mark.parametrize("rows", [2, 3, 4, 5, 6])
def test_rows_reach_from_start_to_the_last_forwarded_token(rows: int) -> None:
    prompt, completion, start = 3, 4, 2
    end = routed_experts.forwarded_positions(prompt_tokens=prompt, completion_tokens=completion)
    packed = routed_experts.encode_packed(of(rows, start=start))
    if rows == prompt + completion - 1 - start:
        assert len(routed_experts.decode_packed(packed, end=end).ids) == rows
    else:
        with pytest.raises(WireRefusal, match=f"has {rows} rows from 2, expected 4 up to 6"):
            routed_experts.decode_packed(packed, end=end)


def test_rows_of_the_completion_alone_are_good_where_start_declares_it() -> None:
    prompt, completion = 5, 4
    alone = routed_experts.encode_packed(of(completion - 1, start=prompt))
    assert routed_experts.decode_packed(alone, end=prompt + completion - 1).start == prompt


@pytest.mark.parametrize("start", [None, True, 2.0, "2", -1, 2**63, 1, 3, 10**400])
def test_start_is_a_position_that_fits_the_rows(start: object) -> None:
    good = routed_experts.encode_packed(of(4, start=2))
    assert routed_experts.decode_packed(good, end=6).start == 2
    with pytest.raises(WireRefusal):
        routed_experts.decode_packed(good | {"start": start}, end=6)


def test_start_as_requested_is_checked_and_end_anchored_start_is_not() -> None:
    decode_instance = routed_experts.encode_end_anchored(of(4, start=2), end=6)
    assert routed_experts.decode_packed(decode_instance, end=6).start == 2
    with pytest.raises(WireRefusal, match=r"^routed_experts\.start: is 2, expected 0 as requested$"):
        routed_experts.decode_packed(decode_instance, end=6, requested_start=0)
    with pytest.raises(WireRefusal):
        routed_experts.decode_uint8(routed_experts.encode_uint8(of(4, start=2)), end=6, requested_start=0)


def test_no_rows_keep_their_dimensions() -> None:
    none = of(0, start=3, layers=5, top_k=7)
    packed: Any = routed_experts.encode_packed(none)
    assert packed == {"data": "", "shape": [0, 5, 7], "dtype": "uint8", "start": 3}
    assert routed_experts.decode_packed(packed, end=3).ids.shape == (0, 5, 7)


@pytest.mark.parametrize("shape", [[0, 0, 2], [0, 2, 0], [1, 0, 2], [1, 2**40, 0], [3, 2**62, 0], [-1, 2, 2], [0, 2]])
def test_a_shape_without_layers_or_experts_is_refused(shape: list[int]) -> None:
    for end in (0, 1, 3):
        with pytest.raises(WireRefusal):
            routed_experts.decode_packed({"data": "", "shape": shape, "dtype": "uint8", "start": 0}, end=end)


def test_negative_experts_are_refused() -> None:
    value = arrays.pack(np.array([[[0, -1]]], dtype=np.int16))
    with pytest.raises(WireRefusal, match="holds the expert -1, expected 0 or more"):
        routed_experts.decode_compact(value, start=0, end=1)


def test_big_endian_experts_pass_unseen() -> None:  # why a case needs its true values
    value = of(128)
    swapped = arrays.pack(value.ids.astype(np.uint16).byteswap())
    decoded = routed_experts.decode_packed(swapped | {"start": 0}, end=128)
    assert decoded.value() != value.value()


def test_values_are_plain_integers_whatever_the_dtype() -> None:
    decoded = routed_experts.decode_packed(routed_experts.encode_packed(of(128)), end=128)
    assert decoded.ids.dtype == np.dtype("uint16")
    assert {type(expert) for row in decoded.value()["ids"] for layer in row for expert in layer} == {int}


@SETTINGS
@given(prompt=st.integers(1, 6), completion=st.integers(1, 6), data=st.data())
def test_what_was_split_is_merged(prompt: int, completion: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, prompt - 1))
    whole = of(prompt + completion - 1 - start, start=start)
    prefill, decode = split_at_prompt(whole, prompt_tokens=prompt)
    assert (prefill.start, prefill.end) == (start, prompt)
    assert (decode.start, len(decode.ids)) == (prompt - 1, completion)
    assert merge(prefill, decode).value() == whole.value()


def test_the_merge_cuts_by_position() -> None:
    prefill, decode = of(6, start=2), of(5, start=6, first=100)
    merged = merge(prefill, decode)
    assert (merged.start, merged.end) == (2, 11)
    assert merged.ids[:6].tolist() == prefill.ids.tolist()
    assert merged.ids[6:].tolist() == decode.ids[2:].tolist()


def test_a_merge_keeps_ids_of_either_dtype() -> None:
    prefill = RoutedExperts(ids=np.array([[[255]]], dtype=np.uint8), start=0)
    decode = RoutedExperts(ids=np.array([[[256]]], dtype=np.uint16), start=1)
    assert merge(prefill, decode).ids.tolist() == [[[255]], [[256]]]


@pytest.mark.parametrize(
    ("decode", "reason"),
    [
        (of(3, start=5), "decode starts at 5, 1 rows after prefill ends"),
        (of(1, start=2), "decode has 1 rows, expected at least 2"),
        (of(3, start=3, layers=1), r"decode has \(1, 2\) layers and top_k, prefill \(2, 2\)"),
        (of(3, start=3, top_k=3), r"decode has \(2, 3\) layers and top_k, prefill \(2, 2\)"),
    ],
)
def test_a_merge_that_does_not_fit_is_refused(decode: RoutedExperts, reason: str) -> None:
    with pytest.raises(WireRefusal, match=f"^routed_experts: {reason}$"):
        merge(of(4), decode)
