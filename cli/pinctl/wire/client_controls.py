"""Makes negative controls for a client of what a server really sent, in whatever form its fields are."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pinctl.wire import edits
from pinctl.wire.controls import Control, body_controls, field_controls
from pinctl.wire.forms import FORMS, FieldName, WireForm, decode_field
from pinctl.wire.refusal import WireRefusal

WORDS: Mapping[str, str] = {
    edits.MORE_ROWS: "with a wrong shape",
    edits.BIG_ENDIAN: "with big-endian bytes under a plain name",
    edits.BASE85: "with base85 text",
    edits.CUT_SHORT: "with truncated data",
    edits.FEWER_TOKENS: "with one token less",
    edits.FEWER_ROWS: "with one row less",
}
"""The words for what is bad, where they are not just its name."""

_NAMED = frozenset({edits.MORE_ROWS, edits.BIG_ENDIAN, edits.BASE85, edits.CUT_SHORT})
_NAMED_OF_LISTS = frozenset({f"logprobs: {edits.FEWER_TOKENS}", f"sampling_mask: {edits.FEWER_ROWS}"})


def client_controls(
    body: bytes, request: Mapping[str, object], fields: tuple[str, ...], *, every: bool = False
) -> Iterator[Control]:
    """Makes bad responses of a good one, in the fields that a client reads.

    Args:
        body: what a server sent, of any contents; a field that no strict decoder takes has no controls.
        request: that it answers.
        fields: those that the client reads.
        every: whether to make all controls there are, also of the envelope; else the few that tell most:
            a wrong shape, big-endian bytes, base85 text and truncated data.

    Yields:
        The controls. `refusable` says whether the strict decoder of the field's form refuses it.
    """
    forms = {field: form for field in fields if (form := _form_of(field, body, request)) is not None}
    for field, form in forms.items():
        for control in field_controls(body, FieldName(field), form.name):
            if every or control.name.rpartition(": ")[2] in _NAMED or control.name in _NAMED_OF_LISTS:
                yield _weighed(control, form, request)
    if every and FieldName.LOGPROBS in forms:
        for control in body_controls(body):
            yield _weighed(control, forms[FieldName.LOGPROBS], request)


def _form_of(field: str, body: bytes, request: Mapping[str, object]) -> WireForm | None:
    """Returns the first form whose strict decoder finds the field in a body; None where there is none."""
    return next((form for form in FORMS.values() if _takes(form, field, body, request)), None)


def _weighed(control: Control, form: WireForm, request: Mapping[str, object]) -> Control:
    return replace(control, refusable=not _takes(form, control.field, control.body, request))


def _takes(form: WireForm, field: str, body: bytes, request: Mapping[str, object]) -> bool:
    try:
        return decode_field(form.name, field, body, request) is not None
    except WireRefusal:
        return False
