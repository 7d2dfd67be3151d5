"""The sampling mask: the same rows from every form, or a refusal."""

import tracemalloc
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.wire import arrays, sampling_mask
from pinctl.wire.refusal import WireRefusal
from pinctl.wire.sampling_mask import SamplingMask

SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=100)

ROWS = st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=6), max_size=8)
FULL_ROWS = st.lists(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=6), max_size=8)
INT32 = st.integers(-(2**31), 2**31 - 1)


def int32(values: Any) -> dict[str, object]:
    return arrays.pack(np.array(values, dtype=np.int32))


def csr(ids: list[int], counts: list[int]) -> dict[str, object]:
    return {"ids": int32(ids), "counts": int32(counts)}


def refused_packed(value: object, *, tokens: int = 3, vocab: int | None = None) -> WireRefusal:
    with pytest.raises(WireRefusal) as caught:
        sampling_mask.decode_packed(value, tokens=tokens, vocab=vocab)
    return caught.value


@SETTINGS
@given(rows=ROWS)
def test_round_trip_of_lists_and_packed(rows: list[list[int]]) -> None:
    mask = SamplingMask.from_rows(rows)
    sent = orjson.loads(orjson.dumps(sampling_mask.encode_vllm(mask)))
    assert sent == rows
    assert sampling_mask.decode_vllm(sent, tokens=len(rows)).rows() == rows
    sent = orjson.loads(orjson.dumps(sampling_mask.encode_packed(mask)))
    assert sampling_mask.decode_packed(sent, tokens=len(rows)).rows() == rows


@SETTINGS
@given(rows=FULL_ROWS)
def test_round_trip_of_dense(rows: list[list[int]]) -> None:
    sent: Any = sampling_mask.encode_dense(SamplingMask.from_rows(rows))
    assert sent["shape"] == [len(rows), max(map(len, rows), default=1)]
    assert sampling_mask.decode_dense(sent, tokens=len(rows)).rows() == rows


def test_dense_rows_may_be_empty_only_where_no_loss_is_borne() -> None:
    rows = [[5, 6], [], [7]]
    sent = sampling_mask.encode_dense(SamplingMask.from_rows(rows))
    decoded = sampling_mask.decode_dense(sent, tokens=3, bears_loss=[True, False, True])
    assert decoded.rows() == rows
    with pytest.raises(WireRefusal, match=r"^sampling_mask\[1\]: is empty, though its token bears loss$"):
        sampling_mask.decode_dense(sent, tokens=3)


@SETTINGS
@given(
    ids=st.lists(INT32, max_size=8), counts=st.lists(INT32 | st.integers(0, 4), max_size=6), tokens=st.integers(0, 6)
)
def test_any_packed_numbers_make_good_rows_or_are_refused(ids: list[int], counts: list[int], tokens: int) -> None:
    try:
        mask = sampling_mask.decode_packed(csr(ids, counts), tokens=tokens)
    except WireRefusal:
        return
    rows = mask.rows()
    assert len(rows) == tokens == len(counts)
    assert [len(row) for row in rows] == counts
    assert [token_id for row in rows for token_id in row] == ids
    assert all(token_id >= 0 for token_id in ids)


@SETTINGS
@given(data=st.data(), shape=st.tuples(st.integers(0, 5), st.integers(0, 4)))
def test_any_dense_numbers_make_good_rows_or_are_refused(data: st.DataObject, shape: tuple[int, int]) -> None:
    size = shape[0] * shape[1]
    numbers = data.draw(st.lists(st.sampled_from([-1, -1, 0, 5, 2**31 - 1, -2]), min_size=size, max_size=size))
    dense = np.array(numbers, dtype=np.int32).reshape(shape)
    try:
        mask = sampling_mask.decode_dense(arrays.pack(dense), tokens=shape[0])
    except WireRefusal:
        return
    for row, numbers_of_row in zip(mask.rows(), dense.tolist(), strict=True):
        assert row
        assert min(row) >= 0
        assert numbers_of_row == row + [-1] * (shape[1] - len(row))


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ([[1], [2], [3]], "sampling_mask"),  # lists where packed arrays are expected
        (None, "sampling_mask"),
        ({"ids": int32([1])}, "sampling_mask.counts"),
        ({"counts": int32([1])}, "sampling_mask.ids"),
        (csr([1], [1, 0, 0]) | {"offsets": int32([0])}, "sampling_mask"),
        ({"ids": [1], "counts": [1, 0, 0]}, "sampling_mask.counts"),
        (csr([1, 2], [1, 1]), "sampling_mask.counts"),
        (csr([1, 2], [1, 1, 0, 0]), "sampling_mask.counts"),
        (csr([1, 2], [1, 1, 1]), "sampling_mask.counts"),
        (csr([1, 2], [-1, 3, 0]), "sampling_mask.counts"),
        (csr([1, 2], [2**31 - 1, 2**31 - 1, 4]), "sampling_mask.counts"),
        (csr([1, -2], [1, 1, 0]), "sampling_mask.ids"),
        ({"ids": int32([[1, 2]]), "counts": int32([1, 1, 0])}, "sampling_mask.ids.shape"),
        ({"ids": int32([1, 2]), "counts": arrays.pack(np.array([1, 1, 0], np.uint8))}, "sampling_mask.counts.dtype"),
    ],
)
def test_packed_ids_and_counts_belong_together_or_are_refused(value: object, place: str) -> None:
    assert refused_packed(value).field == place


@pytest.mark.parametrize(
    "value",
    [
        csr([1], [1]),  # packed arrays where lists are expected
        None,
        "AAAA",
        [[1], [2]],
        [[1], [2], [3], [4]],
        [[1], [2], None],
        [[1], [2], 3],
        [[1], [2], [True]],
        [[1], [2], [3.0]],
        [[1], [2], ["3"]],
        [[1], [2], [-1]],
        [[1], [2], [2**31]],
        [[1], [2], [10**5000]],
        [[1], [2], [[3]]],
    ],
)
def test_rows_hold_token_ids_or_are_refused(value: object) -> None:
    with pytest.raises(WireRefusal):
        sampling_mask.decode_vllm(value, tokens=3)


@pytest.mark.parametrize(
    "value",
    [
        [[1], [2, 3]],  # the lists of the time before
        int32([[1, -1], [-1, 2]]),
        int32([[1, -1], [2, -2]]),
        int32([[1, 2], [-1, -1]]),
        int32([[1, 2]]),
        int32([1, 2]),
        int32([[[1]], [[2]]]),
        int32([[], []]),
        arrays.pack(np.array([[1], [2]], dtype=np.uint16)),
    ],
)
def test_dense_is_padded_at_the_end_only_or_refused(value: object) -> None:
    with pytest.raises(WireRefusal):
        sampling_mask.decode_dense(value, tokens=2)


def test_a_known_vocabulary_bounds_the_ids() -> None:
    mask = SamplingMask.from_rows([[0, 9], [10]])
    for decode, encode in (
        (sampling_mask.decode_vllm, sampling_mask.encode_vllm),
        (sampling_mask.decode_packed, sampling_mask.encode_packed),
        (sampling_mask.decode_dense, sampling_mask.encode_dense),
    ):
        assert decode(encode(mask), tokens=2, vocab=11).rows() == [[0, 9], [10]]
        with pytest.raises(WireRefusal, match="holds the id 10, expected less than 10"):
            decode(encode(mask), tokens=2, vocab=10)


def test_a_vocabulary_gives_big_endian_ids_away() -> None:
    swapped = {"ids": arrays.pack(np.array([1, 2, 3], np.int32).byteswap()), "counts": int32([1, 1, 1])}
    assert sampling_mask.decode_packed(swapped, tokens=3).rows() != [[1], [2], [3]]
    assert refused_packed(swapped, vocab=200_000).field == "sampling_mask.ids"


def test_a_width_without_rows_allocates_nothing() -> None:
    tracemalloc.start()
    try:
        mask = sampling_mask.decode_dense({"data": "", "shape": [0, 2**40], "dtype": "int32"}, tokens=0)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
    assert mask.rows() == []
