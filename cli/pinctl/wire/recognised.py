"""Recognises the wire form of a response that nobody has named, and reads its fields by it."""

from collections.abc import Mapping
from dataclasses import dataclass

from pinctl.wire.body import Request, Response, parse_request, parse_response
from pinctl.wire.fields import FieldValue
from pinctl.wire.forms import FORMS, WireForm
from pinctl.wire.refusal import WireRefusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """What a response says.

    Attributes:
        forms: the names of the forms that it is in; more than one where they differ in fields that it does not carry.
        values: by field, as JSON; only the fields that it carries.
    """

    forms: tuple[str, ...]
    values: Mapping[str, FieldValue]


def recognise(body: bytes, request: Mapping[str, object]) -> Recognised:
    """Reads a response by whichever form it is in.

    A response is in a form where each field that any form knows is one of that form, and keeps its rules. Where it is
    in several, they must read the same.

    Args:
        body: of any contents.
        request: what was asked for; see `Case.request`.

    Returns:
        The forms, and the values that they read.

    Raises:
        WireRefusal: it is in none, or in two that read it differently.
    """
    parsed_request = parse_request(dict(request))
    response = parse_response(body, choices=parsed_request.choices, choice=parsed_request.choice)
    present = {
        (key, in_choice)
        for key, in_choice in set().union(*map(_keys, FORMS.values()))
        if (response.choice if in_choice else response.fields).get(key) is not None
    }
    fitting = {name: form for name, form in FORMS.items() if present <= _keys(form)}
    if not fitting:
        keys = ", ".join(sorted(key for key, _ in present))
        raise WireRefusal("body", f"is in no wire form that pinctl knows: none has {keys} together")
    read: dict[str, Mapping[str, FieldValue]] = {}
    refused: dict[str, list[str]] = {}
    for name, form in fitting.items():
        try:
            read[name] = _read(form, response, parsed_request)
        except WireRefusal as refusal:
            refused.setdefault(str(refusal), []).append(name)
    if not read:
        reasons = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in refused.items())
        raise WireRefusal("body", f"is in no wire form that pinctl knows ({reasons})")
    first, *others = read
    differing = next((name for name in others if read[name] != read[first]), None)
    if differing is not None:
        raise WireRefusal("body", f"is in the forms {first} and {differing}, which read it differently")
    return Recognised(forms=tuple(read), values=read[first])


def _keys(form: WireForm) -> set[tuple[str, bool]]:
    return {(field.key, field.in_choice) for field in form.fields.values()}


def _read(form: WireForm, response: Response, request: Request) -> Mapping[str, FieldValue]:
    values = {str(name): form.decode(name, response=response, request=request) for name in form.fields}
    return {name: value for name, value in values.items() if value is not None}
