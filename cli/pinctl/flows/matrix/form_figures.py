"""Measures the reference wire forms: pinctl's own encoders and decoders, in this process."""

import json
from collections.abc import Iterable
from typing import Any

from pinctl.model.matrix import Verdict
from pinctl.model.measure import REFERENCE, Figures
from pinctl.model.variant import Wire
from pinctl.tools.probes.probe_harness import timed, tracked
from pinctl.wire.body import parse_request, parse_response
from pinctl.wire.case import Case
from pinctl.wire.forms import FORMS, FieldName
from pinctl.wire.refusal import UnencodableError, WireRefusal


def reference_figures(form: str, case: Case, *, repeat: int) -> tuple[Figures, Figures]:
    """Measures one form.

    Args:
        form: a key of `FORMS`.
        case: what is written and read.
        repeat: how often each call is timed.

    Returns:
        The figures of the encoder, and those of the decoder; without numbers where the form cannot carry the case, or
        its own decoder refuses it.
    """
    wire_form, label = FORMS[form], Wire(form=form).label
    try:
        body = wire_form.encode(case)
    except UnencodableError as error:
        refused = Figures(server=label, verdict=Verdict.REJECTS, reason=str(error))
        return refused, Figures(server=label, client=REFERENCE, verdict=Verdict.REJECTS, reason=str(error))
    carried = tuple(name for name in _fields_of(case) if name in wire_form.fields)
    server = Figures(
        server=label,
        size=len(body),
        **timed(lambda: wire_form.encode(case), repeat),
        objects=parsed_objects(body),
        lacks=tuple(name.value for name in _fields_of(case) if name not in carried),
    )

    def decode() -> list[Any]:
        response, request = parse_response(body, choices=len(case.choices)), parse_request(case.request())
        return [wire_form.decode(name, response=response, request=request) for name in carried]

    try:
        decode()
    except WireRefusal as error:
        return server, Figures(server=label, client=REFERENCE, verdict=Verdict.REJECTS, reason=str(error))
    return server, Figures(server=label, client=REFERENCE, **timed(decode, repeat), objects=tracked(decode))


def parsed_objects(body: bytes | str) -> int:
    """Counts the objects that a body, parsed and held, adds to each full garbage collection."""
    return tracked(lambda: json.loads(body))


def _fields_of(case: Case) -> Iterable[FieldName]:
    yield FieldName.LOGPROBS
    if case.sampling_mask is not None:
        yield FieldName.SAMPLING_MASK
    if case.routed_experts is not None:
        yield FieldName.ROUTED_EXPERTS
