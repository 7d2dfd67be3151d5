"""What a turn brings home from the engine."""

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from verifiers.v1.packed import unpack_int32


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingMask:
    """Which token ids survived the sampling filters, for each completion token.

    Attributes:
        ids: the rows one after another, int32.
        counts: the length of each row, int32.
    """

    ids: array
    counts: array

    @classmethod
    def from_sampling_mask(cls, sampling_mask: list[list[int]] | Mapping[str, Any]) -> "SamplingMask":
        """Reads a mask as the engine sent it.

        Args:
            sampling_mask: one list of token ids per completion token, or the packed arrays `ids` and `counts`.

        Raises:
            ValueError: an id is not an integer, a packed array is malformed, or the two do not fit each other.
        """
        if isinstance(sampling_mask, Mapping):
            return cls._from_packed(sampling_mask)
        return cls(
            ids=array("i", (int(token_id) for row in sampling_mask for token_id in row)),
            counts=array("i", (len(row) for row in sampling_mask)),
        )

    @classmethod
    def _from_packed(cls, packed: Mapping[str, Any]) -> "SamplingMask":
        ids = unpack_int32(packed.get("ids"), name="sampling_mask.ids")
        counts = unpack_int32(packed.get("counts"), name="sampling_mask.counts")
        if sum(counts) != len(ids):
            raise ValueError(f"sampling_mask.counts add up to {sum(counts)}, sampling_mask.ids holds {len(ids)}")
        return cls(ids=ids, counts=counts)

    def rows(self) -> Iterator[list[int]]:
        """Yields the surviving ids of each completion token."""
        ids = iter(self.ids)
        return (list(islice(ids, count)) for count in self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTokens:
    """One turn's tokens, with the evidence of how they were sampled.

    Attributes:
        prompt_ids: everything that the model read.
        completion_ids: what it wrote.
        completion_logprobs: one per completion token.
        routed_experts: the packed array of expert ids, as it came.
        sampling_mask: one row per completion token.
    """

    prompt_ids: list[int]
    completion_ids: list[int]
    completion_logprobs: list[float] = field(default_factory=list)
    routed_experts: dict[str, Any] | None = None
    sampling_mask: SamplingMask | None = None
