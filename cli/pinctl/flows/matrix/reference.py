"""Reads bodies with a wire form's strict decoder, where that form stands as a client."""

from collections.abc import Mapping

from pinctl.flows.matrix.asking import Sent
from pinctl.model.judgement import Decoded
from pinctl.model.plan import Contract
from pinctl.wire.forms import FORMS, decode_field
from pinctl.wire.refusal import WireRefusal


def fields_read(form: str, contract: Contract) -> tuple[str, ...]:
    """Returns the fields that a form reads as a client: those that it has, of those that a client of the plan needs."""
    needed = dict.fromkeys(field for probe in contract.clients.values() for field in (*probe.reads, *probe.relays))
    return tuple(field for field in needed if field in FORMS[form].fields)


def read_by_form(form: str, contract: Contract, sent: Sent) -> Mapping[str, Mapping[str, Decoded]]:
    """Returns what a form's decoder makes of bodies, by case and field."""
    fields = fields_read(form, contract)
    return {
        case: {field: _read(form, field, body, request) for field in fields} for case, (body, request) in sent.items()
    }


def _read(form: str, field: str, body: str, request: Mapping[str, object]) -> Decoded:
    try:
        return Decoded(value=decode_field(form, field, body.encode(), request))
    except WireRefusal as refusal:
        return Decoded(refusal=str(refusal))
