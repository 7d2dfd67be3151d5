"""What a turn brings home from the engine."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any


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
    def from_sampling_mask(cls, sampling_mask: list[list[int]]) -> "SamplingMask":
        """Flattens one list of token ids per completion token.

        Raises:
            ValueError: an id is not an integer.
        """
        return cls(
            ids=array("i", (int(token_id) for row in sampling_mask for token_id in row)),
            counts=array("i", (len(row) for row in sampling_mask)),
        )

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
