"""The sampling mask: for each completion token, the ids that the sampler could have drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pinctl.wire import arrays, typed
from pinctl.wire.arrays import WireDtype
from pinctl.wire.refusal import WireRefusal

PADDING = -1
"""What fills up a row of the dense form."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SamplingMask:
    """Rows of token ids, end to end.

    Attributes:
        ids: array [sum(counts)], int32, of token ids.
        counts: array [tokens], int32, of the number of ids in each row; a row may be empty.
    """

    ids: NDArray[np.int32]
    counts: NDArray[np.int32]

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[int]]) -> Self:
        """Joins rows.

        Args:
            rows: one for each completion token, of token ids.

        Returns:
            The same mask.
        """
        return cls(
            ids=np.array([token_id for row in rows for token_id in row], dtype=np.int32),
            counts=np.array([len(row) for row in rows], dtype=np.int32),
        )

    def rows(self) -> list[list[int]]:
        """Returns the rows.

        Returns:
            One list of token ids for each completion token.
        """
        ids = self.ids.tolist()
        ends = np.cumsum(self.counts, dtype=np.int64).tolist()
        return [ids[start:end] for start, end in pairwise([0, *ends])]


def encode_vllm(mask: SamplingMask) -> list[list[int]]:
    """Encodes the list form: `sampling_mask: [[int, ...], ...]`.

    Source: vLLM's /inference/v1/generate (WIRE.md, `vllm`).

    Args:
        mask: of a completion.

    Returns:
        The value of the choice's `sampling_mask`.
    """
    return mask.rows()


def decode_vllm(value: object, *, tokens: int, vocab: int | None = None, field: str = "sampling_mask") -> SamplingMask:
    """Decodes the list form.

    Args:
        value: anything.
        tokens: how many completion tokens there are.
        vocab: the number of token ids there are, if known.
        field: the place, for the refusal.

    Returns:
        The mask.

    Raises:
        WireRefusal: it is not so many rows, or a row holds something else than token ids.
    """
    ids, counts = typed.as_token_id_rows(value, field=field, rows=tokens, vocab=vocab)
    return SamplingMask(ids=ids, counts=counts)


def encode_packed(mask: SamplingMask) -> dict[str, object]:
    """Encodes the packed form: `{"ids": packed int32 [sum(counts)], "counts": packed int32 [tokens]}`.

    Source: prime-rl #3900 (WIRE.md, `packed`); under its earlier name, `kept_tokens`, too.

    Args:
        mask: of a completion.

    Returns:
        The value of the choice's `sampling_mask` or `kept_tokens`.
    """
    return {"ids": arrays.pack(mask.ids), "counts": arrays.pack(mask.counts)}


def decode_packed(
    value: object, *, tokens: int, vocab: int | None = None, field: str = "sampling_mask"
) -> SamplingMask:
    """Decodes the packed form.

    Args:
        value: anything.
        tokens: how many completion tokens there are.
        vocab: the number of token ids there are, if known.
        field: the place, for the refusal.

    Returns:
        The mask.

    Raises:
        WireRefusal: an array breaks a rule, or ids and counts do not belong together.
    """
    packed = typed.as_closed_object(value, field=field, keys=("ids", "counts"))
    counts = _unpack(packed["counts"], field=f"{field}.counts", ndim=1)
    ids = _unpack(packed["ids"], field=f"{field}.ids", ndim=1)
    if len(counts) != tokens:
        raise WireRefusal(f"{field}.counts", f"has {len(counts)} rows, expected {tokens}")
    if counts.size and counts.min() < 0:
        raise WireRefusal(f"{field}.counts", f"holds {counts.min()}, expected 0 or more")
    total = int(counts.sum(dtype=np.int64))  # in int32 the sum of a hostile payload comes round to the right one
    if total != len(ids):
        raise WireRefusal(f"{field}.counts", f"sum to {total}, expected the {len(ids)} ids")
    typed.check_token_ids(ids, field=f"{field}.ids", vocab=vocab)
    return SamplingMask(ids=ids, counts=counts)


def encode_dense(mask: SamplingMask) -> dict[str, object]:
    """Encodes the dense form: packed int32 [tokens, top_k], rows filled up with -1.

    Source: SkyRL #1915 (WIRE.md, `skyrl dense`). An empty row can be written, yet no strict reader takes it for a
    token that bears loss.

    Args:
        mask: of a completion.

    Returns:
        The value of the choice's `sampling_mask`; top_k is the longest row, and at least 1.
    """
    width = max(int(mask.counts.max(initial=0)), 1)
    dense = np.full((len(mask.counts), width), PADDING, dtype=np.int32)
    dense[np.arange(width) < mask.counts[:, np.newaxis]] = mask.ids
    return arrays.pack(dense)


def decode_dense(
    value: object,
    *,
    tokens: int,
    vocab: int | None = None,
    bears_loss: Sequence[bool] | None = None,
    field: str = "sampling_mask",
) -> SamplingMask:
    """Decodes the dense form.

    Args:
        value: anything; the lists of the time before are refused.
        tokens: how many completion tokens there are.
        vocab: the number of token ids there are, if known.
        bears_loss: for each completion token, whether its row must not be empty; None for all of them.
        field: the place, for the refusal.

    Returns:
        The mask.

    Raises:
        WireRefusal: it is not a packed array of so many rows, -1 is not only trailing, or a row is empty.
    """
    dense = _unpack(value, field=field, ndim=2)
    if len(dense) != tokens:
        raise WireRefusal(f"{field}.shape", f"says {len(dense)} rows, expected {tokens}")
    held = dense != PADDING
    counts = held.sum(axis=1, dtype=np.int32)
    # Without rows the width is only claimed, and may be astronomical.
    if dense.size and (held != (np.arange(dense.shape[1]) < counts[:, np.newaxis])).any():
        raise WireRefusal(field, f"holds {PADDING} before an id, expected it at the end of a row only")
    must_hold = np.ones(tokens, dtype=np.bool_) if bears_loss is None else np.array(bears_loss, dtype=np.bool_)
    empty = np.flatnonzero(must_hold & (counts == 0))
    if empty.size:
        raise WireRefusal(f"{field}[{empty[0]}]", "is empty, though its token bears loss")
    ids = dense[held]
    typed.check_token_ids(ids, field=field, vocab=vocab)
    return SamplingMask(ids=ids, counts=counts)


def _unpack(value: object, *, field: str, ndim: int) -> NDArray[np.int32]:
    return arrays.unpack(value, field=field, dtypes=(WireDtype.INT32,), ndim=ndim).astype(np.int32, copy=False)
