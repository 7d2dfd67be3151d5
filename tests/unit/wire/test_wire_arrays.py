"""Packed arrays: what goes in comes out, and nothing else does."""

import base64
import io
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pinctl.wire import arrays
from pinctl.wire.arrays import WireDtype, pack, unpack
from pinctl.wire.refusal import WireRefusal

SETTINGS = settings(
    deadline=None, derandomize=True, database=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
ALL = tuple(WireDtype)
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def wire_arrays() -> st.SearchStrategy[np.ndarray[Any, Any]]:
    dtypes = st.sampled_from([np.dtype(order + np.dtype(name).str[1:]) for name in ALL for order in "<>"])
    shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
    return st.builds(lambda dtype, shape: (dtype, shape), dtypes, shapes).flatmap(
        lambda pair: hnp.arrays(dtype=pair[0], shape=pair[1])
    )


def refused(value: object, *, dtypes: tuple[WireDtype, ...] = ALL, ndim: int | None = None) -> WireRefusal:
    with pytest.raises(WireRefusal) as caught:
        unpack(value, field="f", dtypes=dtypes, ndim=ndim)
    return caught.value


@SETTINGS
@given(array=wire_arrays())
def test_round_trip(array: np.ndarray[Any, Any]) -> None:
    result = unpack(pack(array), field="f", dtypes=ALL)
    assert result.shape == array.shape
    assert result.dtype.name == array.dtype.name
    assert result.tobytes() == array.astype(array.dtype.newbyteorder("<")).tobytes()
    assert not result.flags.writeable


@pytest.mark.parametrize("array", [np.arange(12, dtype=np.int32).reshape(3, 4).T, np.arange(12, dtype=np.int32)[::3]])
def test_order_and_strides_do_not_show(array: np.ndarray[Any, Any]) -> None:
    assert unpack(pack(array), field="f", dtypes=ALL).tolist() == array.tolist()


def test_big_endian_is_converted_before_it_is_packed() -> None:
    assert pack(np.array([1, 258], dtype=">u2")) == {
        "data": base64.b64encode(b"\x01\x00\x02\x01").decode(),
        "shape": [2],
        "dtype": "uint16",
    }


@pytest.mark.parametrize(
    "array",
    [
        np.array([{}], dtype=object),
        np.array(["a"]),
        np.array([True]),
        np.array([1.0]),
        np.array([1], dtype=np.int64),
        np.array([1j]),
        np.zeros(1, dtype="V4"),
        np.zeros(1, dtype=[("a", "<i4")]),
        np.zeros(1, dtype="M8[s]"),
        [1],
    ],
    ids=str,
)
def test_pack_refuses_what_has_no_wire_form(array: Any) -> None:
    with pytest.raises(TypeError):
        pack(array)


def structural_mutations(good: dict[str, Any]) -> Iterator[dict[str, Any]]:
    data, shape = good["data"], good["shape"]
    others: list[Any] = [None, True, 1, 1.5, [], {}, [data], "", b"AAAA"]
    for key, value in good.items():
        yield {k: v for k, v in good.items() if k != key}
        yield from (good | {key: other} for other in others if other != value)
    yield good | {"order": "C"}
    yield good | {"dtype": good["dtype"].upper()}
    yield good | {"dtype": "<" + good["dtype"]}
    for axis, size in enumerate(shape):
        for other in (
            size + 1,
            size - 1,
            -size - 1,
            2**40,
            2**63,
            2**64 + size,
            10**5000,
            float(size),
            str(size),
            None,
        ):
            yield good | {"shape": [*shape[:axis], other, *shape[axis + 1 :]]}
    yield good | {"shape": [*shape, 2]}
    yield good | {"shape": [*shape, 1, 1, 1, 1, 1, 1, 1, 1, 1]}
    for text in (data + "A", data + "AAAA", data + "=", data + "====", data + "\n", " " + data, data[1:], data[:-1]):
        yield good | {"data": text}
    for position in range(0, len(data), 5):
        for letter in "-_= \n\0é\ud800!":
            changed = data[:position] + letter + data[position + 1 :]
            if changed != data:
                yield good | {"data": changed}


@SETTINGS
@given(array=wire_arrays().filter(lambda array: array.size > 0))
def test_every_structural_mutation_is_refused(array: np.ndarray[Any, Any]) -> None:
    for bad in structural_mutations(pack(array)):
        refused(bad, ndim=array.ndim)


@SETTINGS
@given(array=wire_arrays().filter(lambda array: array.nbytes % 3 > 0))
def test_spare_bits_are_refused(array: np.ndarray[Any, Any]) -> None:
    good = pack(array)
    text = str(good["data"]).rstrip("=")
    padding = str(good["data"])[len(text) :]
    last = ALPHABET.index(text[-1])
    for spare in range(1, 4 ** len(padding)):
        refused(good | {"data": text[:-1] + ALPHABET[last | spare] + padding})


@SETTINGS
@given(array=wire_arrays(), data=st.data())
def test_other_bytes_decode_to_exactly_these_bytes(array: np.ndarray[Any, Any], data: st.DataObject) -> None:
    other = data.draw(st.binary(min_size=array.nbytes, max_size=array.nbytes))
    result = unpack(pack(array) | {"data": base64.b64encode(other).decode()}, field="f", dtypes=ALL)
    assert result.tobytes() == other


@SETTINGS
@given(buffer=st.binary(min_size=10, max_size=64))
def test_base85_is_never_taken_for_base64(buffer: bytes) -> None:
    refused({"data": base64.b85encode(buffer).decode(), "shape": [len(buffer)], "dtype": "uint8"})


@pytest.mark.parametrize(
    ("packed", "place"),
    [
        ([], "f"),
        ({"shape": [], "dtype": "uint8"}, "f.data"),
        ({"data": "AA==", "shape": [1], "dtype": "int64"}, "f.dtype"),
        ({"data": "AA==", "shape": [True], "dtype": "uint8"}, "f.shape[0]"),
        ({"data": "AA==", "shape": [1, -1], "dtype": "uint8"}, "f.shape[1]"),
        ({"data": "AA==", "shape": [2], "dtype": "uint8"}, "f.data"),
        ({"data": "AB==", "shape": [1], "dtype": "uint8"}, "f.data"),
        ({"data": "", "shape": [0, 2**62, 2**62], "dtype": "uint8"}, "f.shape"),
    ],
)
def test_a_refusal_names_the_place(packed: object, place: str) -> None:
    refusal = refused(packed)
    assert refusal.field == place
    assert str(refusal) == f"{place}: {refusal.reason}"


def test_dtype_and_dimensions_are_the_fields_choice() -> None:
    packed = pack(np.zeros((2, 3), dtype=np.int32))
    assert refused(packed, dtypes=(WireDtype.FLOAT32,)).reason == "is 'int32', expected float32"
    assert refused(packed, ndim=1).reason == "has 2 dimensions, expected 1"


def test_dimensions_are_bounded() -> None:
    packed = {"data": "AA==", "shape": [1] * arrays.MAX_NDIM, "dtype": "uint8"}
    assert unpack(packed, field="f", dtypes=ALL).ndim == 8
    assert refused(packed | {"shape": [1] * 9}).reason == "has 9 dimensions, expected at most 8"
    assert refused(packed | {"shape": [1] * 100_000}).field == "f.shape"


def test_a_constant_dtype_label_is_refused_by_the_number_of_bytes() -> None:
    refused(pack(np.zeros(5, dtype=np.int32)) | {"dtype": "int16"})


def test_npy_is_not_a_packed_array() -> None:
    for array, pickles in ((np.zeros(3, dtype=np.int32), False), (np.array([{}], dtype=object), True)):
        stream = io.BytesIO()
        np.save(stream, array, allow_pickle=pickles)
        text = base64.b64encode(stream.getvalue()).decode()
        refused(text)
        refused({"data": text, "shape": [3], "dtype": "int32"})
        refused({"data": text, "shape": [1], "dtype": "object"})


@pytest.mark.parametrize("shape", [[2**31], [2**20, 2**20], [2**62 + 1], [0, 2**62, 2**62], [2**32, 0, 2**32]])
def test_a_claimed_shape_allocates_nothing(shape: list[int]) -> None:
    tracemalloc.start()
    try:
        for dtype in ALL:
            try:
                array = unpack({"data": "AAAA", "shape": shape, "dtype": dtype.value}, field="f", dtypes=ALL)
            except WireRefusal:
                continue
            assert array.size == 0
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_the_lowest_level_checks_for_itself() -> None:
    with pytest.raises(WireRefusal):
        arrays.from_buffer(b"123", field="f", shape=(2, 2), dtype=WireDtype.UINT8)
