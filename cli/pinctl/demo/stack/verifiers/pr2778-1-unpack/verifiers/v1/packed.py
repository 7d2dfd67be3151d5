"""Reads a packed int32 array: base64 of a little-endian buffer beside its shape and dtype, with all of it checked."""

import base64
import binascii
import sys
from array import array
from collections.abc import Mapping
from typing import Any


def unpack_int32(packed: Any, *, name: str) -> array:
    """Reads a packed int32 array of one dimension.

    Args:
        packed: `{"data", "shape", "dtype"}` as it came.
        name: what the errors call the array.

    Returns:
        The numbers, none below zero.

    Raises:
        ValueError: anything about the array is not as it says.
    """
    if not isinstance(packed, Mapping):
        raise ValueError(f"{name} must be a packed array")
    if packed.get("dtype") != "int32":
        raise ValueError(f"{name} must have dtype 'int32', not {packed.get('dtype')!r}")
    shape = packed.get("shape")
    if not isinstance(shape, list) or [type(size) for size in shape] != [int] or shape[0] < 0:
        raise ValueError(f"{name} must have one dimension, not the shape {shape!r}")
    buffer = _decode(packed.get("data"), name=name)
    numbers = array("i")
    if len(buffer) != shape[0] * numbers.itemsize:
        raise ValueError(f"{name} holds {len(buffer)} bytes, its shape says {shape[0] * numbers.itemsize}")
    numbers.frombytes(buffer)
    if sys.byteorder == "big":
        numbers.byteswap()
    if any(number < 0 for number in numbers):
        raise ValueError(f"{name} holds a negative number")
    return numbers


def _decode(data: Any, *, name: str) -> bytes:
    if not isinstance(data, str):
        raise ValueError(f"{name} must have data that is a string")
    try:
        buffer = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"{name} must have data that is base64") from error
    # The unused bits of the last character may be set, and then two spellings would give the same bytes.
    if base64.b64encode(buffer).decode() != data:
        raise ValueError(f"{name} must have data that is canonical base64")
    return buffer
