"""Packed arrays: a buffer as base64 text, with the shape and the dtype that say what it means."""

import binascii
import math
from collections.abc import Collection
from enum import StrEnum

import numpy as np
import pybase64
from numpy.typing import NDArray

from pinctl.wire import typed
from pinctl.wire.refusal import WireRefusal

MAX_NDIM = 8
"""No field has more dimensions; the product of a longer shape is not worth computing."""


class WireDtype(StrEnum):
    """What an element of a packed array can be; the buffer is little-endian, always."""

    UINT8 = "uint8"
    UINT16 = "uint16"
    INT16 = "int16"
    INT32 = "int32"
    FLOAT32 = "float32"

    @property
    def little_endian(self) -> np.dtype[np.generic]:
        """The numpy dtype of the buffer, whatever the byte order of this machine."""
        return np.dtype(self.value).newbyteorder("<")


def pack(array: NDArray[np.generic]) -> dict[str, object]:
    """Packs an array.

    The form is WIRE.md's "Packed arrays". The name of a dtype drops the byte order, so the bytes are converted.

    Args:
        array: of any shape and byte order, contiguous or not; its dtype is one of `WireDtype`.

    Returns:
        `data`, the base64 of the C-contiguous little-endian buffer; `shape`; `dtype`, numpy's name.

    Raises:
        TypeError: the array is none, or of another dtype.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"only an array can be packed, this is a {type(array).__name__}")
    if array.dtype.name not in set(WireDtype):
        raise TypeError(f"dtype {array.dtype.name} has no wire form; it can be one of {', '.join(WireDtype)}")
    dtype = WireDtype(array.dtype.name)
    return {"data": to_base64(array), "shape": list(array.shape), "dtype": dtype.value}


def to_base64(array: NDArray[np.generic]) -> str:
    """Returns the base64 of an array's C-contiguous little-endian buffer.

    Args:
        array: of any shape, dtype and byte order.

    Returns:
        Canonical base64, padded.
    """
    return pybase64.b64encode_as_string(little_endian_bytes(array))


def little_endian_bytes(array: NDArray[np.generic]) -> bytes:
    """Returns an array's C-contiguous little-endian buffer.

    Args:
        array: of any shape, dtype and byte order.

    Returns:
        The bytes.
    """
    return array.astype(array.dtype.newbyteorder("<"), order="C", copy=False).tobytes(order="C")


def unpack(value: object, *, field: str, dtypes: Collection[WireDtype], ndim: int | None = None) -> NDArray[np.generic]:
    """Unpacks an array, strictly.

    Args:
        value: anything; a packed array has the keys `data`, `shape` and `dtype`, and no other.
        field: the place, for the refusal.
        dtypes: what the field allows.
        ndim: how many dimensions there must be.

    Returns:
        Array of the claimed shape and dtype, little-endian, read-only.

    Raises:
        WireRefusal: a rule of WIRE.md's "Packed arrays" is broken.
    """
    packed = typed.as_closed_object(value, field=field, keys=("data", "shape", "dtype"))
    dtype = read_dtype(packed["dtype"], field=field, dtypes=dtypes)
    shape = read_shape(packed["shape"], field=field, ndim=ndim)
    return from_base64(packed["data"], field=field, shape=shape, dtype=dtype)


def read_dtype(value: object, *, field: str, dtypes: Collection[WireDtype]) -> WireDtype:
    """Reads the dtype of a packed array.

    Args:
        value: anything.
        field: the place of the packed array, for the refusal.
        dtypes: what the field allows.

    Returns:
        The dtype.

    Raises:
        WireRefusal: it is not the plain name of an allowed dtype.
    """
    name = typed.as_text(value, field=f"{field}.dtype")
    for dtype in dtypes:
        if dtype.value == name:
            return dtype
    raise WireRefusal(f"{field}.dtype", f"is {name[:40]!r}, expected {' or '.join(dtypes)}")


def read_shape(value: object, *, field: str, ndim: int | None) -> tuple[int, ...]:
    """Reads the shape of a packed array; nothing is allocated for it.

    Args:
        value: anything.
        field: the place of the packed array, for the refusal.
        ndim: how many dimensions there must be; None for any number up to `MAX_NDIM`.

    Returns:
        The dimensions.

    Raises:
        WireRefusal: it is not a list of so many non-negative integers.
    """
    place = f"{field}.shape"
    dimensions = typed.as_list(value, field=place)
    if ndim is not None and len(dimensions) != ndim:
        raise WireRefusal(place, f"has {len(dimensions)} dimensions, expected {ndim}")
    if len(dimensions) > MAX_NDIM:
        raise WireRefusal(place, f"has {len(dimensions)} dimensions, expected at most {MAX_NDIM}")
    return tuple(typed.as_count(dimension, field=f"{place}[{i}]") for i, dimension in enumerate(dimensions))


def from_base64(value: object, *, field: str, shape: tuple[int, ...], dtype: WireDtype) -> NDArray[np.generic]:
    """Decodes the `data` of a packed array.

    Args:
        value: anything.
        field: the place of the packed array, for the refusal.
        shape: non-negative dimensions, as claimed and not yet believed.
        dtype: of the elements.

    Returns:
        Array of that shape and dtype, little-endian, read-only.

    Raises:
        WireRefusal: it is not a string of canonical base64 of exactly so many bytes.
    """
    place = f"{field}.data"
    text = typed.as_text(value, field=place)
    size = math.prod(shape) * dtype.little_endian.itemsize
    # The text's length bounds everything that follows: what a shape merely claims is never allocated.
    if len(text) != 4 * ((size + 2) // 3):
        raise WireRefusal(place, f"has {len(text)} characters, which cannot hold {_claim(shape, dtype)} as base64")
    try:
        buffer = pybase64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise WireRefusal(place, "is not base64") from error
    # Lenient readers drop the spare bits of the last character, so two texts could mean one buffer.
    if pybase64.b64encode_as_string(buffer) != text:
        raise WireRefusal(place, "is not canonical base64")
    return from_buffer(buffer, field=field, shape=shape, dtype=dtype)


def from_buffer(buffer: bytes, *, field: str, shape: tuple[int, ...], dtype: WireDtype) -> NDArray[np.generic]:
    """Gives a buffer its shape and dtype.

    Args:
        buffer: C-contiguous, little-endian.
        field: the place of the packed array, for the refusal.
        shape: non-negative dimensions, as claimed and not yet believed.
        dtype: of the elements.

    Returns:
        Array of that shape and dtype, little-endian, read-only.

    Raises:
        WireRefusal: the buffer has not exactly the bytes of that shape.
    """
    if len(buffer) != math.prod(shape) * dtype.little_endian.itemsize:
        raise WireRefusal(f"{field}.data", f"has {len(buffer)} bytes, which are not {_claim(shape, dtype)}")
    try:
        return np.frombuffer(buffer, dtype=dtype.little_endian).reshape(shape)
    except (ValueError, OverflowError) as error:  # a dimension of 0 hides the size of the others from the product
        raise WireRefusal(f"{field}.shape", "has a dimension that no array can have") from error


def _claim(shape: tuple[int, ...], dtype: WireDtype) -> str:
    return f"{dtype.value} {list(shape)}"
