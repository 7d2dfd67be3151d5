"""Judges a range of the superproject by the rules: what the range moved, and what it left in disagreement."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.floors import floors_on, manifests_at, too_high
from pinctl.flows.stack import Stack
from pinctl.model.finding import Finding, Verdict
from pinctl.model.oid import Oid
from pinctl.model.pins import Component
from pinctl.model.standing import Standing, StandingKind
from pinctl.tools import uv
from pinctl.tools.git.history import ahead_behind, changed_paths, contains
from pinctl.tools.git.refs import local_ref
from pinctl.tools.places import scratch


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """What is judged.

    Attributes:
        base: what it is compared with; None judges the head by itself.
        head: the commit that is judged.
    """

    base: Oid | None
    head: Oid


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moved:
    component: Component
    path: str
    before: Oid | None
    after: Oid


def find_range(stack: Stack, *, base: str | None, head: str | None) -> Range:
    """Finds what to judge: the head against the branch that it would land on, else against its own parent.

    Raises:
        CouldNotFindOutError: a revision names no commit.
    """
    repository = stack.repository
    to = repository.commit(head or "HEAD")
    if base is not None:
        return Range(base=repository.commit(base), head=to)
    target = stack.target
    for name in (f"refs/remotes/origin/{target}", f"refs/heads/{target}"):
        tip = local_ref(repository, name)
        if tip is not None and not contains(repository, commit=tip, ancestor=to):
            return Range(base=tip, head=to)
    return Range(base=repository.resolve(f"{to}^1"), head=to)


def judge(stack: Stack, judged: Range, *, everything: bool) -> Verdict:
    """Applies the rules to a range.

    Args:
        stack: the opened stack.
        judged: the range.
        everything: whether pins, floors and lock are judged that the range did not touch.

    Returns:
        The findings; a rule that could not be judged is one too.
    """
    repository = stack.repository
    before = repository.gitlinks(judged.base) if judged.base is not None else {}
    after = repository.gitlinks(judged.head)
    touched = changed_paths(repository, before=judged.base, after=judged.head) if judged.base is not None else ()
    moved = [
        _Moved(component=component, path=path, before=before.get(path), after=after[path])
        for component, path in stack.gitlink_components()
        if path in after and (everything or judged.base is None or before.get(path) != after[path])
    ]
    findings = [finding for pin in moved for finding in _pin_findings(stack, pin)]
    declared = stack.pins.superproject
    relevant = {*declared.manifests, declared.lock, *(path for _, path in stack.gitlink_components())}
    touches = everything or judged.base is None or not relevant.isdisjoint(touched)
    looked_at = [f"{len(moved)} of {len(after)} pins" + ("" if everything else " (those that moved)")]
    if touches:
        findings += _floor_findings(stack, judged, after)
        looked_at.append("the floors")
        if declared.lock is not None and repository.blob_at(judged.head, declared.lock) is not None:
            findings += _lock_findings(stack, judged, declared.lock)
            looked_at.append("the lock")
    else:
        looked_at.append("neither floors nor lock: nothing that they depend on changed")
    return Verdict(base=judged.base, head=judged.head, findings=tuple(findings), judged=tuple(looked_at))


def _pin_findings(stack: Stack, pin: _Moved) -> list[Finding]:
    component = pin.component
    try:
        standing = stack.standing(component, pin.after)
        findings = [_not_on_branch(stack, pin, standing)] if standing.kind is not StandingKind.ON_BRANCH else []
        if pin.before is not None and pin.before != pin.after:
            findings += _moves(stack, pin, pin.before)
    except CouldNotFindOutError as error:
        return [_unknown("PIN001", pin, error)]
    return findings


def _not_on_branch(stack: Stack, pin: _Moved, standing: Standing) -> Finding:
    match standing.kind:
        case StandingKind.SQUASH_TWIN if standing.twin is not None:
            wanted = standing.twin.commit
            more = f" ({standing.twin.evidence}): pin that instead"
        case _:
            wanted = stack.tip(pin.component)
            more = ""
    return Finding(
        rule="PIN001",
        component=pin.component.name,
        path=pin.path,
        line=None,
        message=f"{pin.after.short} is {standing.describe()}{more}",
        fix=_pin_command(pin.path, wanted),
    )


def _moves(stack: Stack, pin: _Moved, before: Oid) -> list[Finding]:
    repository = stack.mirror(pin.component).repository
    stack.obtain(pin.component, before)
    if contains(repository, commit=pin.after, ancestor=before):
        return []
    if contains(repository, commit=before, ancestor=pin.after):
        ahead, _ = ahead_behind(repository, commit=before, tip=pin.after)
        rule, message = "PIN002", f"the pin moved back by {ahead}, from {before.short} to {pin.after.short}"
    elif stack.standing(pin.component, before).kind is StandingKind.SQUASH_TWIN:
        # Leaving an orphan for the branch loses nothing: its content is there.
        return []
    else:
        ahead, behind = ahead_behind(repository, commit=pin.after, tip=before)
        rule = "PIN003"
        message = f"the pin moved from {before.short} to {pin.after.short}, which lacks {behind} of its commits"
    return [
        Finding(
            rule=rule,
            component=pin.component.name,
            path=pin.path,
            line=None,
            message=message,
            fix=_pin_command(pin.path, before),
        )
    ]


def _pin_command(path: str, commit: Oid) -> str:
    return f"git update-index --cacheinfo 160000,{commit},{path}"


def _unknown(rule: str, pin: _Moved, error: CouldNotFindOutError) -> Finding:
    return Finding(
        rule=rule,
        component=pin.component.name,
        path=pin.path,
        line=None,
        message=f"could not find out: {error.message}",
        fix=error.hint,
        unknown=True,
    )


def _floor_findings(stack: Stack, judged: Range, pins: dict[str, Oid]) -> list[Finding]:
    manifests = manifests_at(stack, judged.head)
    findings: list[Finding] = []
    for component, path in stack.gitlink_components():
        sites = tuple(site for site in floors_on(manifests, component) if site.floor is not None)
        pin = pins.get(path)
        if not sites or pin is None:
            continue
        try:
            version = stack.version(component, pin)
        except CouldNotFindOutError as error:
            findings.append(_unknown("FLR001", _Moved(component=component, path=path, before=None, after=pin), error))
            continue
        findings += [
            Finding(
                rule="FLR001",
                component=component.name,
                path=site.manifest,
                line=site.line,
                message=f"{site.text} is above {version}, the version at pin {pin.short}",
                fix=f"Lower the floor to {version} or below, or move the pin.",
            )
            for site in (too_high(sites, version) if version is not None else ())
        ]
    return findings


def _lock_findings(stack: Stack, judged: Range, lock: str) -> list[Finding]:
    names = [component.distribution or component.name for component, _ in stack.gitlink_components()]
    with scratch() as directory:
        try:
            top = stack.lay_out(judged.head, directory / stack.name)
            project = top / Path(*PurePosixPath(lock).parts).parent
            refused = uv.lock(project, refresh=names, check=True)
        except CouldNotFindOutError as error:
            message = f"could not find out: {error.message}"
            return [
                Finding(
                    rule="LCK001", component=None, path=lock, line=None, message=message, fix=error.hint, unknown=True
                )
            ]
    if refused is None:
        return []
    return [
        Finding(
            rule="LCK001",
            component=None,
            path=lock,
            line=None,
            message=f"the lock is out of date: {refused.explanation.splitlines()[-1]}",
            fix="uv lock" + "".join(f" --refresh-package {name}" for name in names),
        )
    ]
