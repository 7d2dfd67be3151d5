"""Reads the packed array of expert ids into one row per sequence position."""

import binascii
import math
import sys
from array import array
from collections.abc import Mapping
from typing import Any

Row = list[list[int]]
"""The expert ids of one position: one list of top-k ids per layer."""

_TYPECODES = {"uint8": "B", "int8": "b", "uint16": "H", "int16": "h", "uint32": "I", "int32": "i"}


def unpack_rows(payload: Mapping[str, Any]) -> list[Row]:
    """Reads `{"data", "shape", "dtype"}`; without a dtype the ids are bytes.

    Raises:
        ValueError: the dtype is unknown, or the bytes do not fill the shape.
    """
    dtype = payload.get("dtype", "uint8")
    if dtype not in _TYPECODES:
        raise ValueError(f"routed experts of dtype {dtype!r} cannot be read")
    ids = array(_TYPECODES[dtype])
    ids.frombytes(binascii.a2b_base64(payload["data"]))
    if sys.byteorder == "big":
        ids.byteswap()
    rows, layers, top_k = payload["shape"]
    if math.prod((rows, layers, top_k)) != len(ids):
        raise ValueError(f"{len(ids)} expert ids do not fill the shape {payload['shape']}")
    cells = [ids[at : at + top_k].tolist() for at in range(0, len(ids), top_k)] if ids else []
    return [cells[row * layers : (row + 1) * layers] for row in range(rows)]
