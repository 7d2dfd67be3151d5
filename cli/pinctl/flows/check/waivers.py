"""Applies waivers: those of pins.toml, and the Pin-Rollback trailers of the range."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pinctl.flows.check.scope import Scope, named_in_trailers
from pinctl.flows.superproject.workspace import pins_path_in
from pinctl.model.finding import Finding
from pinctl.model.rule import ROLLBACK_TRAILER
from pinctl.model.rules import RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiver:
    """A reason why findings do not count.

    Attributes:
        codes: the rules it is about.
        place: where it stands, for the finding that it waives nothing.
    """

    component: str
    codes: frozenset[str]
    reason: str
    place: str


def apply_waivers(scope: Scope, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Marks the findings that are waived, and adds one for each waiver that waives nothing."""
    waivers = _waivers(scope)
    used: set[_Waiver] = set()
    judged: list[Finding] = []
    for finding in findings:
        waiver = next((item for item in waivers if _covers(item, finding)), None)
        if waiver is None:
            judged.append(finding)
        else:
            used.add(waiver)
            judged.append(replace(finding, waived=waiver.reason))
    # What was skipped, or could not be found out about a component, may be just what a waiver is for.
    unknown = {finding.component for finding in judged if finding.unknown}
    looked_at = {pin.component.name for pin in scope.moved if pin.component.skip is None} - unknown
    for waiver in waivers:
        if waiver not in used and waiver.component in looked_at:
            codes = ", ".join(sorted(waiver.codes))
            message = f"the waiver of {codes} for {waiver.component} ({waiver.reason}) waives nothing"
            judged.append(
                Finding(rule="WVR001", component=waiver.component, path=waiver.place, line=None, message=message)
            )
    return tuple(judged)


def _covers(waiver: _Waiver, finding: Finding) -> bool:
    return waiver.component == finding.component and finding.rule in waiver.codes and not finding.unknown


def _waivers(scope: Scope) -> tuple[_Waiver, ...]:
    path = pins_path_in(scope.stack) or "pins.toml"
    declared = [
        _Waiver(component=component.name, codes=frozenset({code}), reason=reason, place=path)
        for component in scope.stack.pins.components.values()
        for code, reason in component.waive.items()
    ]
    return (*declared, *_trailers(scope))


def _trailers(scope: Scope) -> tuple[_Waiver, ...]:
    codes = frozenset(rule.code for rule in RULES.values() if rule.trailer)
    return tuple(
        _Waiver(component=component, codes=codes, reason=reason, place=f"the trailer of {entry.commit.short}")
        for component, reason, entry in named_in_trailers(scope, ROLLBACK_TRAILER)
    )
