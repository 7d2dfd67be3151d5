"""Reads a packed array: base64 of a little-endian buffer beside its shape and dtype, with nothing taken on trust."""

import base64
import binascii
import sys
from array import array
from collections.abc import Mapping
from typing import Any


def unpack_float32(packed: Any, *, length: int) -> list[float]:
    """Reads a packed float32 array of one dimension.

    Args:
        packed: `{"data", "shape", "dtype"}` as it came.
        length: how many numbers it must hold.

    Returns:
        The numbers; they may be infinite or NaN.

    Raises:
        ValueError: the message goes on after the array's name: "must be an object".
    """
    if not isinstance(packed, Mapping):
        raise ValueError("must be an object")
    if packed.get("dtype") != "float32":
        raise ValueError(f"must have dtype 'float32', not {packed.get('dtype')!r}")
    shape = packed.get("shape")
    if not isinstance(shape, list) or [type(size) for size in shape] != [int] or shape[0] != length:
        raise ValueError(f"must have shape [{length}], not {shape!r}")
    buffer = _decode(packed.get("data"))
    numbers = array("f")
    if len(buffer) != length * numbers.itemsize:
        raise ValueError(f"must hold {length * numbers.itemsize} bytes, not {len(buffer)}")
    numbers.frombytes(buffer)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()


def _decode(data: Any) -> bytes:
    if not isinstance(data, str):
        raise ValueError("must have data that is a string")
    try:
        buffer = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("must have data that is base64") from error
    # The unused bits of the last character may be set, and then two spellings would give the same bytes.
    if base64.b64encode(buffer).decode() != data:
        raise ValueError("must have data that is canonical base64")
    return buffer
