"""Where each field stands in a response, and in which encoding: the parts that whole forms are made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pinctl.wire import logprobs, routed_experts, sampling_mask
from pinctl.wire.body import Request, Response
from pinctl.wire.case import Case
from pinctl.wire.refusal import WireRefusal
from pinctl.wire.routed_experts import ExpertsValue, RoutedExperts
from pinctl.wire.sampling_mask import SamplingMask

FieldValue = list[float] | list[list[int]] | ExpertsValue | None
"""A decoded field as JSON; None if the response does not carry it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldForm:
    """One field in one encoding.

    Attributes:
        encode: returns the keys that the field adds; none if the case does not have it.
        decode: reads the field; None if the response does not carry it; raises WireRefusal.
        key: the key that the field is read from.
        in_choice: whether the key stands in the choice, or beside the choices.
    """

    encode: Callable[[Case], Mapping[str, object]]
    decode: Callable[[Response, Request], FieldValue]
    key: str
    in_choice: bool = True


def _encode_vllm_logprobs(case: Case) -> Mapping[str, object]:
    return {"logprobs": logprobs.encode_vllm(case.logprobs, case.token_ids)}


def _decode_vllm_logprobs(response: Response, _: Request) -> FieldValue:
    # null is refused, not taken for absent: clients that did so filled in 0, which says certainty.
    if "logprobs" not in response.choice:
        return None
    return _plain(logprobs.decode_vllm(response.choice["logprobs"], token_ids=response.token_ids))


def _encode_packed_logprobs(case: Case) -> Mapping[str, object]:
    return {"completion_logprobs": logprobs.encode_packed(case.logprobs)}


def _decode_packed_logprobs(response: Response, _: Request) -> FieldValue:
    if "completion_logprobs" not in response.choice:
        return None
    if response.choice.get("logprobs") is not None:
        raise WireRefusal("logprobs", "stands beside completion_logprobs, which replaces it")
    value = response.choice["completion_logprobs"]
    return _plain(logprobs.decode_packed(value, tokens=len(response.token_ids)))


def _encode_skyrl_logprobs(case: Case) -> Mapping[str, object]:
    return {"logprobs": logprobs.encode_skyrl(case.logprobs)}


def _decode_skyrl_logprobs(response: Response, _: Request) -> FieldValue:
    if "logprobs" not in response.choice:
        return None
    return _plain(logprobs.decode_skyrl(response.choice["logprobs"], tokens=len(response.token_ids)))


def _encode_teacher(case: Case) -> Mapping[str, object]:
    return {"prompt_logprobs": logprobs.encode_teacher(case.prompt_logprobs, case.prompt_token_ids)}


def _decode_teacher(response: Response, request: Request) -> FieldValue:
    value = response.fields.get("prompt_logprobs")  # servers write null where no teacher was asked for
    if value is None:
        return None
    return _plain(logprobs.decode_teacher(value, prompt_token_ids=request.prompt_token_ids))


def _plain(values: NDArray[np.float64]) -> list[float]:
    plain: list[float] = values.tolist()
    return plain


def _mask(
    encode: Callable[[SamplingMask], object], decode: Callable[..., SamplingMask], *, key: str = "sampling_mask"
) -> FieldForm:
    def put(case: Case) -> Mapping[str, object]:
        return {} if case.sampling_mask is None else {key: encode(SamplingMask.from_rows(case.sampling_mask))}

    def get(response: Response, _: Request) -> FieldValue:
        value = response.choice.get(key)  # servers write null where no mask was asked for, or none was kept
        return None if value is None else decode(value, tokens=len(response.token_ids), field=key).rows()

    return FieldForm(encode=put, decode=get, key=key)


def _experts(
    encode: Callable[[RoutedExperts, int], object], decode: Callable[[object, int, int | None], RoutedExperts]
) -> FieldForm:
    def put(case: Case) -> Mapping[str, object]:
        experts = case.routed_experts
        return {} if experts is None else {"routed_experts": encode(experts, case.end)}

    def get(response: Response, request: Request) -> FieldValue:
        value = response.choice.get("routed_experts")
        if value is None:  # servers write null where no experts were asked for, or an abort came before the first row
            return None
        return decode(value, response.end_of(request), request.routed_experts_start).value()

    return FieldForm(encode=put, decode=get, key="routed_experts")


VLLM_LOGPROBS = FieldForm(encode=_encode_vllm_logprobs, decode=_decode_vllm_logprobs, key="logprobs")
"""`logprobs.content`, one object a token."""

PACKED_LOGPROBS = FieldForm(encode=_encode_packed_logprobs, decode=_decode_packed_logprobs, key="completion_logprobs")
"""`completion_logprobs`, packed float32 [tokens]; `logprobs` is absent."""

SKYRL_LOGPROBS = FieldForm(encode=_encode_skyrl_logprobs, decode=_decode_skyrl_logprobs, key="logprobs")
"""`logprobs.content`, the float alone in each object."""

TEACHER_LOGPROBS = FieldForm(encode=_encode_teacher, decode=_decode_teacher, key="prompt_logprobs", in_choice=False)
"""`prompt_logprobs` of the body, an object of candidates for each prompt token."""

VLLM_MASK = _mask(sampling_mask.encode_vllm, sampling_mask.decode_vllm)
"""`sampling_mask`, rows of ids."""

PACKED_MASK = _mask(sampling_mask.encode_packed, sampling_mask.decode_packed)
"""`sampling_mask`, packed int32 ids and counts."""

KEPT_TOKENS_MASK = _mask(sampling_mask.encode_packed, sampling_mask.decode_packed, key="kept_tokens")
"""`kept_tokens`, the packed mask under its earlier name: a reader of the other name sees nothing."""

DENSE_MASK = _mask(sampling_mask.encode_dense, sampling_mask.decode_dense)
"""`sampling_mask`, packed int32 [tokens, top_k], filled up with -1."""

PACKED_EXPERTS = _experts(
    lambda experts, _: routed_experts.encode_packed(experts),
    lambda value, end, start: routed_experts.decode_packed(value, end=end, requested_start=start),
)
"""`routed_experts`, packed uint8 or uint16, with `start` as requested."""

END_ANCHORED_EXPERTS = _experts(
    lambda experts, end: routed_experts.encode_end_anchored(experts, end=end),
    lambda value, end, _: routed_experts.decode_packed(value, end=end),
)
"""`routed_experts`, packed uint8 or uint16, with `start` reckoned from the last forwarded token back."""

UINT8_EXPERTS = _experts(
    lambda experts, _: routed_experts.encode_uint8(experts),
    lambda value, end, start: routed_experts.decode_uint8(value, end=end, requested_start=start),
)
"""`routed_experts`, uint8 without saying so, with `start` as requested."""

BASE85_EXPERTS = _experts(
    lambda experts, _: routed_experts.encode_base85(experts),
    lambda value, end, start: routed_experts.decode_base85(value, start=start or 0, end=end),
)
"""`routed_experts`, base85 of int32, neither saying so nor where it starts."""

COMPACT_EXPERTS = _experts(
    lambda experts, _: routed_experts.encode_compact(experts),
    lambda value, end, start: routed_experts.decode_compact(value, start=start or 0, end=end),
)
"""`routed_experts`, packed uint8, int16 or int32, not saying where it starts."""
