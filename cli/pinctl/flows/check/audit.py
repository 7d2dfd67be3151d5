"""Judges a history: each commit that touches pins, floors or the lock, as a change to its first parent."""

from dataclasses import replace

from pinctl.errors import BadInputError, CouldNotFindOutError
from pinctl.flows.check.certificates import certificate_findings
from pinctl.flows.check.floors import floor_findings
from pinctl.flows.check.judge import Family, findings_in
from pinctl.flows.check.pins import pin_findings
from pinctl.flows.check.plans import commits_bringing, plan_findings
from pinctl.flows.check.scope import Asked, Range, scope_of
from pinctl.flows.check.third_party import third_party_findings
from pinctl.flows.staging.resolve import pulls_of
from pinctl.flows.superproject.plans import plans_at
from pinctl.flows.superproject.stack import Stack
from pinctl.flows.superproject.workspace import declaring_paths, stack_at
from pinctl.model.audit import Audit, Audited
from pinctl.model.finding import Findings
from pinctl.model.oid import Oid
from pinctl.model.progress import Listener
from pinctl.tools.git.history import changes_along, contains, log

_FAMILIES: tuple[Family, ...] = (
    pin_findings,
    plan_findings,
    floor_findings,
    third_party_findings,
    certificate_findings,
)
"""The rules that need nothing but histories: not those that run uv or releases, which judge what is there now."""


def audit(stack: Stack, revisions: str | None, *, tell: Listener) -> Audit:
    """Judges a first-parent history of the superproject.

    Branches and tags are as they are now: a pin that was ahead of its branch then, and has been merged since, is on it.

    Args:
        stack: the opened stack.
        revisions: `BASE..HEAD`, or HEAD alone for all that led to it; None for the checkout's HEAD.
        tell: hears the progress.

    Raises:
        BadInputError: it is no range.
        CouldNotFindOutError: there is no such commit, or the history is cut off before it begins.
    """
    base, head = _ends(stack, revisions)
    if stack.repository.shallow and (base is None or not contains(stack.repository, commit=head, ancestor=base)):
        raise CouldNotFindOutError(
            f"the history of {head.short} is cut off here (a shallow clone)",
            hint="Fetch the rest: git fetch --unshallow",
        )
    plans = plans_at(stack, head)
    stack = stack.with_pulls(pulls_of(*plans))
    revisions_asked = (head,) if base is None else (head, f"^{base}")
    along = changes_along(stack.repository, *revisions_asked)
    subjects = {entry.commit: entry.subject for entry in log(stack.repository, *revisions_asked)}
    of_changes, named = commits_bringing(stack, plans, tip=head)
    watched = of_changes.union(declaring_paths(stack))
    touching = [
        commit
        for commit, paths, has_gitlink in reversed(along)
        if has_gitlink or commit in named or not paths.isdisjoint(watched)
    ]
    judged = []
    for number, commit in enumerate(touching, 1):
        tell(f"{commit.short}, {number} of {len(touching)}")
        judged.append(Audited(subject=subjects[commit], findings=_judged(stack, commit, trunk=head)))
    words = f"{base.short}..{head.short}" if base is not None else head.short
    return Audit(range=words, commits=len(along), judged=tuple(judged))


def _ends(stack: Stack, revisions: str | None) -> tuple[Oid | None, Oid]:
    base, dots, head = (revisions or "HEAD").partition("..")
    if not dots:
        return None, stack.repository.commit(base)
    if head.startswith("."):
        raise BadInputError(
            f"{revisions} is no range of one history", hint=f"Write BASE..HEAD: {base}..{head.lstrip('.')}"
        )
    return stack.repository.commit(base or "HEAD"), stack.repository.commit(head or "HEAD")


def _judged(stack: Stack, commit: Oid, *, trunk: Oid) -> Findings:
    there = stack_at(stack, commit)
    parent = stack.repository.commit(f"{commit}^1")
    judged = Range(base=parent, head=commit, source="the commit's parent", trunk=trunk)
    findings = findings_in(scope_of(there, judged, Asked(), plans=plans_at(there, commit)), _FAMILIES)
    # The past is not mended: what is wrong still is mended at the tip, as a check of that says.
    return replace(findings, items=tuple(replace(finding, fix=None) for finding in findings.items))
