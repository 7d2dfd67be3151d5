"""The routed experts: which experts a mixture-of-experts model sent each forwarded token to."""

import base64
from collections.abc import Collection
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from pinctl.wire import arrays, typed
from pinctl.wire.arrays import WireDtype
from pinctl.wire.refusal import UnencodableError, WireRefusal

FIELD = "routed_experts"


class ExpertsValue(TypedDict):
    """The routed experts as JSON.

    Attributes:
        ids: [rows][layers][top_k] expert ids.
        start: the position of row 0, counted from the first prompt token.
    """

    ids: list[list[list[int]]]
    start: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RoutedExperts:
    """The experts of consecutive positions.

    Attributes:
        ids: array [rows, layers, top_k], integers from 0; row i belongs to position start + i.
        start: the position of row 0, counted from the first prompt token.
    """

    ids: NDArray[np.integer]
    start: int

    @property
    def end(self) -> int:
        """The position after the last row."""
        return self.start + len(self.ids)

    def value(self) -> ExpertsValue:
        """Returns the same as JSON.

        Returns:
            Plain lists of plain integers.
        """
        return {"ids": self.ids.tolist(), "start": self.start}


def forwarded_positions(*, prompt_tokens: int, completion_tokens: int) -> int:
    """Returns how many positions a model forwards: the last sampled token never is.

    Args:
        prompt_tokens: p.
        completion_tokens: n.

    Returns:
        p + n - 1, the end of the rows of every complete answer.
    """
    return prompt_tokens + completion_tokens - 1


def encode_base85(experts: RoutedExperts) -> dict[str, object]:
    """Encodes the oldest form: `{"data": base85, "shape"}`, int32, without `start`.

    Source: prime-rl at the vLLM 0.20 migration (WIRE.md, `base85`).

    Args:
        experts: of a completion.

    Returns:
        The value of the choice's `routed_experts`.
    """
    buffer = arrays.little_endian_bytes(_narrowed(experts, (WireDtype.INT32,)))
    return {"data": base64.b85encode(buffer).decode("ascii"), "shape": list(experts.ids.shape)}


def decode_base85(value: object, *, start: int, end: int, field: str = FIELD) -> RoutedExperts:
    """Decodes the oldest form.

    Args:
        value: anything; base64 is not guessed at.
        start: the position that was asked for; the form does not repeat it.
        end: the number of forwarded positions.
        field: the place, for the refusal.

    Returns:
        The experts, int32.

    Raises:
        WireRefusal: it is not canonical base85 of that shape, or not the rows from start to end.
    """
    packed = typed.as_closed_object(value, field=field, keys=("data", "shape"))
    shape = arrays.read_shape(packed["shape"], field=field, ndim=3)
    text = typed.as_text(packed["data"], field=f"{field}.data")
    try:
        buffer = base64.b85decode(text)
    except ValueError as error:
        raise WireRefusal(f"{field}.data", "is not base85") from error
    if base64.b85encode(buffer).decode("ascii") != text:
        raise WireRefusal(f"{field}.data", "is not canonical base85")
    ids = arrays.from_buffer(buffer, field=field, shape=shape, dtype=WireDtype.INT32)
    return _placed(ids, start=start, end=end, field=field)


def encode_uint8(experts: RoutedExperts) -> dict[str, object]:
    """Encodes the form of models with up to 256 experts: `{"data": base64, "shape", "start"}`, no dtype.

    Source: prime-rl before #3051 (WIRE.md, `uint8`).

    Args:
        experts: of a completion.

    Returns:
        The value of the choice's `routed_experts`.

    Raises:
        UnencodableError: an id is above 255.
    """
    packed = arrays.pack(_narrowed(experts, (WireDtype.UINT8,)))
    return {"data": packed["data"], "shape": packed["shape"], "start": experts.start}


def decode_uint8(value: object, *, end: int, requested_start: int | None = None, field: str = FIELD) -> RoutedExperts:
    """Decodes the form without dtype.

    Args:
        value: anything; with a `dtype` it is another form, and its bytes mean something else.
        end: the number of forwarded positions.
        requested_start: the position that was asked for, if it must be the one that is answered.
        field: the place, for the refusal.

    Returns:
        The experts, uint8.

    Raises:
        WireRefusal: it is not base64 of that shape, or not the rows from start to end.
    """
    packed = typed.as_closed_object(value, field=field, keys=("data", "shape", "start"))
    shape = arrays.read_shape(packed["shape"], field=field, ndim=3)
    ids = arrays.from_base64(packed["data"], field=field, shape=shape, dtype=WireDtype.UINT8)
    start = _read_start(packed["start"], requested_start=requested_start, field=field)
    return _placed(ids, start=start, end=end, field=field)


def encode_packed(experts: RoutedExperts) -> dict[str, object]:
    """Encodes the packed form, as one instance answers it: a packed array of uint8 or uint16, and `start`.

    Source: prime-rl #3051, where start is the position that was asked for (WIRE.md, `packed`).

    Args:
        experts: of a completion.

    Returns:
        The value of the choice's `routed_experts`.

    Raises:
        UnencodableError: an id is above 65535.
    """
    return {**arrays.pack(_narrowed(experts, (WireDtype.UINT8, WireDtype.UINT16))), "start": experts.start}


def encode_end_anchored(experts: RoutedExperts, *, end: int) -> dict[str, object]:
    """Encodes the packed form with `start` reckoned from the last forwarded token back.

    Source: prime-rl #3900 (WIRE.md, "where rows start").

    Args:
        experts: of a completion.
        end: the number of forwarded positions.

    Returns:
        The value of the choice's `routed_experts`.

    Raises:
        UnencodableError: an id is above 65535.
    """
    return {**encode_packed(experts), "start": end - len(experts.ids)}


def decode_packed(value: object, *, end: int, requested_start: int | None = None, field: str = FIELD) -> RoutedExperts:
    """Decodes the packed form, whichever end `start` is reckoned from.

    Args:
        value: anything.
        end: the number of forwarded positions.
        requested_start: the position that was asked for, if it must be the one that is answered. A decode instance
            answers from its first forward on, normally p - 1: then it must not.
        field: the place, for the refusal.

    Returns:
        The experts, uint8 or uint16.

    Raises:
        WireRefusal: the array breaks a rule, or the rows do not reach from start to end.
    """
    keys = ("data", "shape", "dtype", "start")
    packed = dict(typed.as_closed_object(value, field=field, keys=keys))
    start = _read_start(packed.pop("start"), requested_start=requested_start, field=field)
    ids = arrays.unpack(packed, field=field, dtypes=(WireDtype.UINT8, WireDtype.UINT16), ndim=3)
    return _placed(ids, start=start, end=end, field=field)


def encode_compact(experts: RoutedExperts) -> dict[str, object]:
    """Encodes SkyRL's form: a packed array of the smallest of uint8, int16 and int32, without `start`.

    Source: SkyRL #1909, used by #1915 (WIRE.md, `skyrl compact`).

    Args:
        experts: of a completion.

    Returns:
        The value of the choice's `routed_experts`.
    """
    return arrays.pack(_narrowed(experts, (WireDtype.UINT8, WireDtype.INT16, WireDtype.INT32)))


def decode_compact(value: object, *, start: int, end: int, field: str = FIELD) -> RoutedExperts:
    """Decodes SkyRL's form.

    Args:
        value: anything.
        start: the position that was asked for; the form does not repeat it.
        end: the number of forwarded positions.
        field: the place, for the refusal.

    Returns:
        The experts, of the dtype that was sent.

    Raises:
        WireRefusal: the array breaks a rule, or is not the rows from start to end.
    """
    dtypes = (WireDtype.UINT8, WireDtype.INT16, WireDtype.INT32)
    return _placed(arrays.unpack(value, field=field, dtypes=dtypes, ndim=3), start=start, end=end, field=field)


def _narrowed(experts: RoutedExperts, dtypes: Collection[WireDtype]) -> NDArray[np.generic]:
    highest = int(experts.ids.max(initial=0))
    for dtype in dtypes:
        if highest <= np.iinfo(dtype.value).max:
            return experts.ids.astype(dtype.little_endian)
    raise UnencodableError(FIELD, f"holds the expert {highest}, which {' or '.join(dtypes)} cannot")


def _read_start(value: object, *, requested_start: int | None, field: str) -> int:
    start = typed.as_count(value, field=f"{field}.start")
    if requested_start is not None and start != requested_start:
        raise WireRefusal(f"{field}.start", f"is {start}, expected {requested_start} as requested")
    return start


def _placed(ids: NDArray[np.generic], *, start: int, end: int, field: str) -> RoutedExperts:
    rows, layers, top_k = ids.shape
    if layers == 0 or top_k == 0:
        raise WireRefusal(f"{field}.shape", f"is {list(ids.shape)}, which has no layers or no experts")
    if rows != end - start:
        raise WireRefusal(f"{field}.shape", f"has {rows} rows from {start}, expected {end - start} up to {end}")
    experts = ids.astype(ids.dtype.newbyteorder("="), copy=False)
    if experts.size and experts.min() < 0:
        raise WireRefusal(field, f"holds the expert {experts.min()}, expected 0 or more")
    return RoutedExperts(ids=experts, start=start)
