"""The cases of the contract: completions whose true values are known, whatever form they travel in."""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pinctl.wire.case import Case
from pinctl.wire.routed_experts import RoutedExperts


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


def _several_choices() -> Case:
    def choice(index: int, token_ids: tuple[int, ...], *, finish_reason: str, more: tuple[Case, ...] = ()) -> Case:
        tokens = len(token_ids)
        return Case(
            name=f"several-choices[{index}]" if index else "several-choices",
            title="Three choices of one prompt, two of them of the same length: nothing of one may end in another.",
            prompt_token_ids=(91, 92, 93),
            token_ids=token_ids,
            finish_reason=finish_reason,
            logprobs=_exact(*(-(1 + index + 4 * token) / 8 for token in range(tokens))),
            sampling_mask=tuple((token_id, token_id + 1 + index) for token_id in token_ids),
            # Rows of the prompt are the same in each: the model has read it once.
            routed_experts=_experts(start=0, rows=3, layers=2, top_k=2, experts=64, then=tokens - 1, shift=5 * index),
            more=more,
        )

    second = choice(1, (201, 202, 203), finish_reason="length")
    third = choice(2, (301, 302, 303, 304, 305), finish_reason="stop")
    return choice(0, (101, 102, 103), finish_reason="stop", more=(second, third))


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


def _experts(
    *, start: int, rows: int, layers: int, top_k: int, experts: int, then: int = 0, shift: int = 0
) -> RoutedExperts:
    # Position, layer and slot all show in the id, so that rows from elsewhere and swapped axes do not pass for right.
    # The rows that come `then` are shifted, to tell one choice from another.
    positions = np.arange(start, start + rows + then).reshape(rows + then, 1, 1)
    positions[rows:] += shift
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
        "several-choices": _several_choices,
    }
)
"""The cases by name, each built when it is first asked for."""
