"""Picks the negative controls that a client gets beside the cases, and reads what it made of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pinctl.model.control import ControlResult, Controls
from pinctl.model.judgement import Decoded, judge_control
from pinctl.model.matrix import CaseResult, Verdict
from pinctl.model.plan import Probe
from pinctl.tools.probes.probe import Body

if TYPE_CHECKING:
    from pinctl.wire.case import Case

_BODY_LIMIT = 256 * 2**10
"""Bytes of a body that controls are made of: what a client takes does not depend on the size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentControl:
    """A negative control as it goes to a client.

    Attributes:
        key: its name among the cases of the same run.
        body: the response.
        request: that it answers.
        field: the one field that the client is to read of it.

    The rest is as in `ControlResult`.
    """

    key: str
    body: str
    request: Mapping[str, Any]
    field: str
    name: str
    title: str
    case: str
    refusable: bool


def controls_for(
    which: Controls, probe: Probe, cases: "tuple[Case, ...]", bodies: Mapping[str, Body]
) -> tuple[SentControl, ...]:
    """Makes the controls of a cell out of what its server really sent.

    Each change is sent once, in the first case of the plan in which the rules of its form give it away. Only fields
    that the client reads have controls: what it hands on unchanged is for others to judge.

    Args:
        which: those that the plan asks for.
        probe: says what the client reads.
        cases: those that the client is asked for.
        bodies: what the server sent, by case.

    Returns:
        The controls; none of a body that is in no known form.
    """
    if which is Controls.NONE:
        return ()
    chosen: dict[str, SentControl] = {}
    for control in _made(which, probe, cases, bodies):
        if control.name not in chosen or (control.refusable and not chosen[control.name].refusable):
            chosen[control.name] = control
    return tuple(chosen.values())


def _made(
    which: Controls, probe: Probe, cases: "tuple[Case, ...]", bodies: Mapping[str, Body]
) -> Iterator[SentControl]:
    from pinctl.wire.client_controls import WORDS, client_controls  # noqa: PLC0415 - brings numpy

    for case in cases:
        text = bodies[case.name].text
        # Where nothing was sampled there is next to nothing to be wrong.
        if text is None or len(text) > _BODY_LIMIT or not case.token_ids or not case.has_evidence:
            continue
        truth: Mapping[str, Any] = case.truth()
        fields = tuple(field for field in probe.reads if truth[field] is not None)
        request: Mapping[str, Any] = case.request()
        for control in client_controls(text.encode(), request, fields, every=which is Controls.ALL):
            where, _, change = control.name.partition(": ")
            yield SentControl(
                key=f"{case.name} / {control.name}",
                body=control.body.decode(),
                request=request,
                title=f"{where} {WORDS.get(change, f'with its fault: {change}')}",
                name=control.name,
                field=control.field.value,
                case=case.name,
                refusable=control.refusable,
            )


def told(
    controls: tuple[SentControl, ...], decoded: Mapping[str, Mapping[str, Decoded]], results: tuple[CaseResult, ...]
) -> tuple[ControlResult, ...]:
    """Returns what a client made of controls.

    Args:
        controls: those that were sent.
        decoded: what the client made of each field, by key.
        results: what came of the cases. Where the client cannot even read the good response, its refusal of a bad one
            tells nothing, and the control is left out.
    """
    # Controls are made of the first choice.
    read = {
        (case.case, field.field.removeprefix("choices[0]."))
        for case in results
        for field in case.fields
        if field.verdict is Verdict.OK
    }
    return tuple(
        _result(control, decoded[control.key][control.field])
        for control in controls
        if (control.case, control.field) in read
    )


def _result(control: SentControl, decoded: Decoded) -> ControlResult:
    outcome, reason, evidence = judge_control(decoded)
    return ControlResult(
        control=control.name,
        title=control.title,
        field=control.field,
        case=control.case,
        refusable=control.refusable,
        outcome=outcome,
        reason=reason,
        evidence=evidence,
    )
