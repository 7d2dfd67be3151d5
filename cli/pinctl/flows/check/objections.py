"""Judges a bump or a landing before it is made: by the rules that none of them may break."""

from pinctl.flows.check.floors import floor_findings
from pinctl.flows.check.pins import pin_findings
from pinctl.flows.check.plans import plan_findings
from pinctl.flows.check.scope import Asked, Range, scope_of
from pinctl.flows.check.waivers import apply_waivers
from pinctl.flows.superproject.plans import plans_at
from pinctl.flows.superproject.stack import Stack
from pinctl.model.finding import Level
from pinctl.model.landing import BumpPlan, Objection, ObjectionKind, Objections
from pinctl.model.oid import Oid
from pinctl.model.rules import RULES

_REFUSED = frozenset({"PIN001", "PIN002", "PIN003", "PIN004", "PIN005", "PIN006", "PIN008", "FLR001", "FLR005"})
"""The rules that no landing and no bump may break."""


def objections_to(stack: Stack, bump: BumpPlan, candidate: Oid) -> Objections | None:
    """Finds what a check would refuse of a bump, before it is locked and published; None where there is nothing.

    What pins.toml waives does not count.

    The lock is left out: uv makes it for this very tree. So is what was wrong with other components before.

    Args:
        stack: the opened stack.
        bump: what is to be done.
        candidate: the commit that does it, but for the lock.
    """
    judged = Range(base=bump.tip, head=candidate, source="the candidate")
    scope = scope_of(stack, judged, Asked(), plans=plans_at(stack, candidate))
    rollback = bump.rollback is not None
    findings = [
        finding
        for family in (pin_findings, plan_findings, floor_findings)
        for finding in family(scope)
        if finding.component in bump.targets
        and finding.rule in _REFUSED
        and finding.level is Level.ERROR
        and not (rollback and RULES[finding.rule].trailer)
    ]
    findings = [item for item in apply_waivers(scope, findings) if item.waived is None and item.rule in _REFUSED]
    objections = tuple(
        Objection(
            kind=ObjectionKind.UNKNOWN_CELL if finding.unknown else ObjectionKind.RULE,
            message=f"{finding.rule} {finding.path}: {finding.message}",
            hint=f"What that means: pinctl rule {finding.rule}",
        )
        for finding in findings
    )
    return Objections(objections=objections) if objections else None
