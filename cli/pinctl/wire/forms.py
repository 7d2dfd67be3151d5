"""The wire forms by name: each writes a whole response, and reads its fields back."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

import orjson

from pinctl.wire import body as envelope
from pinctl.wire import fields
from pinctl.wire.body import Request, Response
from pinctl.wire.case import Case
from pinctl.wire.fields import FieldForm, FieldValue


class FieldName(StrEnum):
    """What crosses between server and client; `PROMPT_LOGPROBS` only in the form that has a teacher."""

    LOGPROBS = "logprobs"
    SAMPLING_MASK = "sampling_mask"
    ROUTED_EXPERTS = "routed_experts"
    PROMPT_LOGPROBS = "prompt_logprobs"


class FormName(StrEnum):
    """The names of the forms, as plans write them."""

    VLLM = "vllm"
    PACKED = "packed"
    VLLM_0_20 = "vllm-0.20"
    UINT8 = "uint8"
    KEPT_TOKENS = "kept-tokens"
    SKYRL = "skyrl"


@dataclass(frozen=True, slots=True, kw_only=True)
class WireForm:
    """One way to write a whole response.

    Attributes:
        name: in plans and reports.
        source: who speaks it.
        fields: how each field is written; a field that is not here does not exist in this form.
    """

    name: FormName
    source: str
    fields: Mapping[FieldName, FieldForm]

    def encode(self, case: Case) -> bytes:
        """Writes the response that a server of this form gives.

        Args:
            case: what is true.

        Returns:
            The JSON body.

        Raises:
            UnencodableError: a true value does not fit this form.
        """
        prompt, completion = len(case.prompt_token_ids), sum(len(choice.token_ids) for choice in case.choices)
        body: dict[str, object] = {
            "request_id": f"pinctl-{case.name}",
            "choices": [self._choice(choice, index=index) for index, choice in enumerate(case.choices)],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
            },
        }
        for form in self.fields.values():
            if not form.in_choice:
                body.update(form.encode(case))
        return orjson.dumps(body)

    def _choice(self, case: Case, *, index: int) -> dict[str, object]:
        choice: dict[str, object] = {
            "index": index,
            "token_ids": case.token_ids,
            "finish_reason": case.finish_reason,
        }
        for form in self.fields.values():
            if form.in_choice:
                choice.update(form.encode(case))
        return choice

    def decode(self, name: FieldName, *, response: Response, request: Request) -> FieldValue:
        """Reads one field of a response that is already parsed.

        Args:
            name: of the field.
            response: that claims to be of this form.
            request: that it answers.

        Returns:
            The field as JSON; None if the response, or this form, does not carry it.

        Raises:
            WireRefusal: a rule of this form is broken.
        """
        form = self.fields.get(name)
        return None if form is None else form.decode(response, request)


def encode_response(form: str, case: Case) -> bytes:
    """Writes the response that a server of a form gives.

    Args:
        form: a key of `FORMS`.
        case: what is true.

    Returns:
        The JSON body: `{"request_id", "choices": [{"index", "token_ids", "finish_reason", ...}], "usage"}`, the choices
        in the order of their indices.

    Raises:
        KeyError: there is no such form.
        UnencodableError: a true value does not fit the form.
    """
    return FORMS[form].encode(case)


def decode_field(form: str, field: str, body: bytes, request: Mapping[str, object]) -> FieldValue:
    """Reads one field of a response.

    Args:
        form: a key of `FORMS`.
        field: one of `FieldName`.
        body: the JSON body, of any contents.
        request: what was asked for, and which choice is to be read; see `Case.request`.

    Returns:
        `logprobs`: list of n floats, in nats; `sampling_mask`: list of n lists of token ids; `routed_experts`:
        `{"ids": [rows][layers][top_k] expert ids, "start": position of row 0}`; `prompt_logprobs`: list of p floats,
        in nats. None if the response, or the form, does not carry the field: whether that is a fault is for the
        caller to say, who knows what was asked for.

    Raises:
        KeyError: there is no such form.
        ValueError: there is no such field.
        WireRefusal: a rule of the form is broken.
    """
    wire_form = FORMS[form]
    name = FieldName(field)
    parsed_request = envelope.parse_request(dict(request))
    response = envelope.parse_response(body, choices=parsed_request.choices, choice=parsed_request.choice)
    return wire_form.decode(name, response=response, request=parsed_request)


_FORMS = (
    WireForm(
        name=FormName.VLLM,
        source="stock vLLM, and prime-rl before #3900",
        fields={
            FieldName.LOGPROBS: fields.VLLM_LOGPROBS,
            FieldName.SAMPLING_MASK: fields.VLLM_MASK,
            FieldName.ROUTED_EXPERTS: fields.PACKED_EXPERTS,
        },
    ),
    WireForm(
        name=FormName.PACKED,
        source="prime-rl #3900",
        fields={
            FieldName.LOGPROBS: fields.PACKED_LOGPROBS,
            FieldName.SAMPLING_MASK: fields.PACKED_MASK,
            FieldName.ROUTED_EXPERTS: fields.END_ANCHORED_EXPERTS,
        },
    ),
    WireForm(
        name=FormName.VLLM_0_20,
        source="prime-rl at the vLLM 0.20 migration",
        fields={
            FieldName.LOGPROBS: fields.VLLM_LOGPROBS,
            FieldName.ROUTED_EXPERTS: fields.BASE85_EXPERTS,
            FieldName.PROMPT_LOGPROBS: fields.TEACHER_LOGPROBS,
        },
    ),
    WireForm(
        name=FormName.UINT8,
        source="prime-rl before #3051",
        fields={
            FieldName.LOGPROBS: fields.VLLM_LOGPROBS,
            FieldName.SAMPLING_MASK: fields.VLLM_MASK,
            FieldName.ROUTED_EXPERTS: fields.UINT8_EXPERTS,
        },
    ),
    WireForm(
        name=FormName.KEPT_TOKENS,
        source="renderers #102, until #144 renamed the field",
        fields={
            FieldName.LOGPROBS: fields.VLLM_LOGPROBS,
            FieldName.SAMPLING_MASK: fields.KEPT_TOKENS_MASK,
            FieldName.ROUTED_EXPERTS: fields.PACKED_EXPERTS,
        },
    ),
    WireForm(
        name=FormName.SKYRL,
        source="SkyRL #1915",
        fields={
            FieldName.LOGPROBS: fields.SKYRL_LOGPROBS,
            FieldName.SAMPLING_MASK: fields.DENSE_MASK,
            FieldName.ROUTED_EXPERTS: fields.COMPACT_EXPERTS,
        },
    ),
)

FORMS: Mapping[str, WireForm] = MappingProxyType({form.name.value: form for form in _FORMS})
"""Every form by its name."""
