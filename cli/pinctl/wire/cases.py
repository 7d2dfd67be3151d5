"""The cases of the contract: completions whose true values are known, whatever form they travel in."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from pinctl.wire.logprobs import NO_EVIDENCE
from pinctl.wire.routed_experts import ExpertsValue, RoutedExperts, forwarded_positions


class RequestValue(TypedDict):
    """What a client asks for, as JSON; experts from a position on, or None."""

    prompt_token_ids: list[int]
    routed_experts_start: int | None


class TruthValue(TypedDict):
    """The true values of a case, as JSON; see `Case.truth`."""

    name: str
    prompt_token_ids: list[int]
    token_ids: list[int]
    finish_reason: str
    logprobs: list[float | str | None]
    sampling_mask: list[list[int]] | None
    routed_experts: ExpertsValue | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One completion, and what is true of it.

    Attributes:
        name: in plans and reports.
        title: what it is for, in a sentence.
        prompt_token_ids: of the prompt.
        token_ids: of the completion.
        finish_reason: why it ended.
        logprobs: of each completion token, in nats, exact in float32 so that every form carries the same number;
            None where the engine has no evidence. No number is 0, which is what a careless reader fills in.
        sampling_mask: the rows of the mask; None if the server keeps none.
        routed_experts: from the position that is asked for on; None if the model has none.
    """

    name: str
    title: str
    prompt_token_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    finish_reason: str
    logprobs: tuple[float | None, ...]
    sampling_mask: tuple[tuple[int, ...], ...] | None = None
    routed_experts: RoutedExperts | None = None

    @property
    def has_evidence(self) -> bool:
        """Whether every token has a number; a client must refuse the logprobs of any other case."""
        return all(logprob is not None and NO_EVIDENCE < logprob < math.inf for logprob in self.logprobs)

    @property
    def end(self) -> int:
        """The number of forwarded positions, where the rows of the experts end."""
        return forwarded_positions(prompt_tokens=len(self.prompt_token_ids), completion_tokens=len(self.token_ids))

    @property
    def prompt_logprobs(self) -> tuple[float, ...]:
        """What a teacher scores the prompt with, in nats; 0 for the first token."""
        return (0.0, *(-(1 + 7 * i % 61) / 8 for i in range(1, len(self.prompt_token_ids))))

    def request(self) -> RequestValue:
        """Returns what a client asks to get this case.

        Returns:
            A JSON object.
        """
        start = None if self.routed_experts is None else self.routed_experts.start
        return {"prompt_token_ids": list(self.prompt_token_ids), "routed_experts_start": start}

    def truth(self) -> TruthValue:
        """Returns the true values, as they are handed to a server's probe.

        Minus infinity is no JSON number: it stands in `logprobs` as the string "-Infinity". No evidence is null.

        Returns:
            A JSON object.
        """
        return {
            "name": self.name,
            "prompt_token_ids": list(self.prompt_token_ids),
            "token_ids": list(self.token_ids),
            "finish_reason": self.finish_reason,
            "logprobs": ["-Infinity" if logprob == -math.inf else logprob for logprob in self.logprobs],
            "sampling_mask": None if self.sampling_mask is None else [list(row) for row in self.sampling_mask],
            "routed_experts": None if self.routed_experts is None else self.routed_experts.value(),
        }


class _Cases(Mapping[str, Case]):
    """Builds each case when it is asked for: a command that needs one does not wait for the long one."""

    def __init__(self, makers: Mapping[str, Callable[[], Case]]) -> None:
        self._makers = {name: cache(make) for name, make in makers.items()}

    def __getitem__(self, name: str) -> Case:
        return self._makers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def _greedy() -> Case:
    return Case(
        name="greedy",
        title="Plain sampled logprobs, without mask and experts.",
        prompt_token_ids=(9906, 11, 1268),
        token_ids=(40, 1097, 7060, 13),
        finish_reason="stop",
        logprobs=_exact(-0.1, -1.75, -12.3456789, -0.0009765625),
    )


def _top_p() -> Case:
    return Case(
        name="top-p",
        title="A mask of a few ids for each token, the sampled one among them.",
        prompt_token_ids=(3923, 374, 279),
        token_ids=(2768, 220, 17, 30),
        finish_reason="stop",
        logprobs=_exact(-0.6931, -0.25, -2.5, -0.0625),
        sampling_mask=((2768, 1917, 311), (220,), (16, 17, 18, 19), (30, 0)),
    )


def _sampling_mask() -> Case:
    wide = tuple(range(1000, 1300))
    return Case(
        name="sampling-mask",
        title="Rows of very different length: empty in the middle and at the end, more than 255 ids, ids above 65535.",
        prompt_token_ids=(31, 32),
        token_ids=(151_642, 1042, 77, 88, 99),
        finish_reason="length",
        logprobs=_exact(-0.3, -5.5, -0.7, -0.011, -3.25),
        sampling_mask=((151_642, 65_536, 7), wide, (), (88,), ()),
    )


def _routed_experts() -> Case:
    return Case(
        name="routed-experts",
        title="More than 256 experts, asked for from the third position on: uint16.",
        prompt_token_ids=(1, 2, 3, 4, 5),
        token_ids=(6, 7, 8, 9),
        finish_reason="stop",
        logprobs=_exact(-0.2, -0.4, -0.8, -1.6),
        routed_experts=_experts(start=2, rows=6, layers=3, top_k=2, experts=512),
    )


def _empty() -> Case:
    # n = 0 forwards p - 1 positions; asked for from p - 1 on, there are no rows.
    return Case(
        name="empty",
        title="Aborted before the first token: every array has length 0, and keeps its dimensions.",
        prompt_token_ids=(11, 12, 13, 14),
        token_ids=(),
        finish_reason="abort",
        logprobs=(),
        sampling_mask=(),
        routed_experts=_experts(start=3, rows=0, layers=3, top_k=2, experts=512),
    )


def _no_evidence() -> Case:
    return Case(
        name="no-evidence",
        title="The engine has no logprob for one token: a client must refuse, never fill in.",
        prompt_token_ids=(21, 22),
        token_ids=(23, 24, 25),
        finish_reason="stop",
        logprobs=(*_exact(-0.5), None, *_exact(-0.75)),
    )


def _one_token() -> Case:
    return Case(
        name="one-token",
        title="The smallest completion: one prompt token, one token, one row of one layer and one expert.",
        prompt_token_ids=(50,),
        token_ids=(51,),
        finish_reason="length",
        logprobs=_exact(-0.9),
        sampling_mask=((51,),),
        routed_experts=_experts(start=0, rows=1, layers=1, top_k=1, experts=8),
    )


def _minus_infinity() -> Case:
    return Case(
        name="minus-infinity",
        title="The engine says minus infinity for one token: it must not arrive as a number.",
        prompt_token_ids=(61, 62),
        token_ids=(63, 64, 65),
        finish_reason="stop",
        logprobs=(*_exact(-0.5), -math.inf, *_exact(-0.75)),
    )


def _few_experts() -> Case:
    return Case(
        name="few-experts",
        title="Up to 256 experts, asked for from the first position on: uint8.",
        prompt_token_ids=(71, 72, 73),
        token_ids=(74, 75, 76),
        finish_reason="stop",
        logprobs=_exact(-0.15, -0.35, -0.55),
        routed_experts=_experts(start=0, rows=5, layers=4, top_k=3, experts=256),
    )


def _prefill_decode() -> Case:
    return Case(
        name="prefill-decode",
        title="What a router must join from a prefill and a decode instance: a short prompt, a longer completion.",
        prompt_token_ids=(81, 82, 83),
        token_ids=(84, 85, 86, 87, 88, 89),
        finish_reason="stop",
        logprobs=_exact(-0.1, -0.2, -0.3, -0.4, -0.5, -0.6),
        sampling_mask=tuple((token_id, token_id + 100) for token_id in range(84, 90)),
        routed_experts=_experts(start=0, rows=8, layers=2, top_k=4, experts=128),
    )


def _edge_ids() -> Case:
    highest = 2**31 - 1
    ids = np.array([0, 255, 256, 32_767, 32_768, 65_535], dtype=np.int32).reshape(3, 1, 2)
    return Case(
        name="edge-ids",
        title="The lowest and the highest ids that int32 and uint16 hold.",
        prompt_token_ids=(highest, 0),
        token_ids=(0, highest),
        finish_reason="stop",
        logprobs=_exact(-9998.9990234375, -1e-30),
        sampling_mask=((0, highest), (highest,)),
        routed_experts=_read_only(ids, start=0),
    )


def _long() -> Case:
    tokens = 12_500
    # A multiplicative hash: well spread, and the same on every machine and numpy.
    spread = (np.arange(tokens, dtype=np.uint64) * 2_654_435_761) % 2**32
    token_ids = (spread % 151_000).tolist()
    lengths = (1 + spread // 7 % 4).tolist()
    logprobs = (-(1 + spread % 8191).astype(np.float32) / 1024).tolist()
    return Case(
        name="long",
        title="12,500 tokens: the size at which packing pays.",
        prompt_token_ids=tuple(range(200, 264)),
        token_ids=tuple(token_ids),
        finish_reason="length",
        logprobs=tuple(logprobs),
        sampling_mask=tuple(
            tuple(range(token_id, token_id + length)) for token_id, length in zip(token_ids, lengths, strict=True)
        ),
        routed_experts=_experts(start=0, rows=64 + tokens - 1, layers=4, top_k=2, experts=128),
    )


def _exact(*logprobs: float) -> tuple[float, ...]:
    return tuple(np.array(logprobs, dtype=np.float32).tolist())


def _experts(*, start: int, rows: int, layers: int, top_k: int, experts: int) -> RoutedExperts:
    # Position, layer and slot all show in the id, so that rows from elsewhere and swapped axes do not pass for right.
    positions = np.arange(start, start + rows).reshape(rows, 1, 1)
    ids = (experts - 1 - 37 * positions - 11 * np.arange(layers).reshape(1, layers, 1) - np.arange(top_k)) % experts
    return _read_only(ids.astype(np.int32), start=start)


def _read_only(ids: NDArray[np.int32], *, start: int) -> RoutedExperts:
    ids.setflags(write=False)  # a case is shared by all who ask for it
    return RoutedExperts(ids=ids, start=start)


CASES: Mapping[str, Case] = _Cases(
    {
        "greedy": _greedy,
        "top-p": _top_p,
        "sampling-mask": _sampling_mask,
        "routed-experts": _routed_experts,
        "empty": _empty,
        "no-evidence": _no_evidence,
        "one-token": _one_token,
        "minus-infinity": _minus_infinity,
        "few-experts": _few_experts,
        "prefill-decode": _prefill_decode,
        "long": _long,
        "edge-ids": _edge_ids,
    }
)
"""The cases by name, each built when it is first asked for."""
