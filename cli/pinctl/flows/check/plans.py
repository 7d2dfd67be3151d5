"""Judges by the landing plans: are changes and their pins together, in every commit, and does no pin lose one."""

from collections.abc import Iterator
from dataclasses import dataclass

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.check.records import pin_command
from pinctl.flows.check.scope import MovedPin, Scope, commits_of
from pinctl.flows.staging.message import change_trailer
from pinctl.flows.staging.resolve import find_companion
from pinctl.flows.superproject.stack import Stack
from pinctl.model.finding import Finding
from pinctl.model.landing import Landed
from pinctl.model.oid import Oid
from pinctl.model.pins import GitlinkSite
from pinctl.model.plan import Change, LandingPlan
from pinctl.tools.git.history import (
    LogEntry,
    changed_paths,
    commit_naming_pull,
    commit_with_trailer,
    contains,
    descendants,
    log,
    merge_base,
    names_pull,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _OwnChange:
    """A change of the superproject, as it can be recognised in a commit.

    Attributes:
        head: the tip of its branch; None where it is not known any more.
        contents: by path, the blobs that the change has made of what was there, without what a plan owns.
        on_target: the commit of the target that has it already, if any.
    """

    change: Change
    head: Oid | None
    contents: dict[str, Oid]
    on_target: Oid | None


def plan_findings(scope: Scope) -> Iterator[Finding]:
    """Judges every plan: PIN004 for the pins that moved, PIN008 for the changes that the range brings."""
    entries = commits_of(scope) if scope.plans else ()
    for plan in scope.plans:
        try:
            yield from _lost_changes(scope, plan)
            yield from _apart(scope, plan, entries)
        except CouldNotFindOutError as error:
            message = f"could not find out for plan {plan.name}: {error.message}"
            path = str(plan.path.name)
            yield Finding(rule="PIN008", component=None, path=path, line=None, message=message, unknown=True)


def _lost_changes(scope: Scope, plan: LandingPlan) -> Iterator[Finding]:
    for pin in scope.moved:
        if pin.before is None or pin.before == pin.after or pin.component.skip is not None:
            continue
        for change in plan.changes:
            if change.component == pin.component.name:
                yield from _lost_change(scope, plan, pin, change, pin.before)


def _lost_change(scope: Scope, plan: LandingPlan, pin: MovedPin, change: Change, before: Oid) -> Iterator[Finding]:
    stack = scope.stack
    repository = stack.mirror(pin.component).repository
    landed = find_companion(stack, change, pin.component)
    if not isinstance(landed, Landed) or stack.mirror(pin.component).obtain(before) is None:
        return
    had = contains(repository, commit=before, ancestor=landed.commit)
    if had and not contains(repository, commit=pin.after, ancestor=landed.commit):
        message = f"{pin.after.short} lacks {change.title} ({landed.commit.short}), which plan {plan.name} requires"
        yield Finding(
            rule="PIN004",
            component=pin.component.name,
            path=pin.path,
            line=None,
            message=message,
            fix=pin_command(scope, pin, before),
        )


def _apart(scope: Scope, plan: LandingPlan, entries: tuple[LogEntry, ...]) -> Iterator[Finding]:
    for change in plan.of_superproject(scope.stack.name):
        if not change.pins:
            continue
        own = _recognise(scope, change)
        # In the result, the content alone counts: a history may have the change, and a merge have dropped it.
        holding = _holding(scope, own) - {scope.result}
        found = [entry.commit for entry in entries if _is_present(scope, own, entry, has_head=entry.commit in holding)]
        present = [scope.result, *found] if _is_in_result(scope, own) else found
        if present:
            yield from _apart_in(scope, plan, change, present)


def is_in_result(scope: Scope, change: Change) -> bool:
    """Tells whether a change of the superproject is in what would stand on the target."""
    own = _recognise(scope, change)
    return own.on_target is not None or _is_in_result(scope, own)


def is_brought(scope: Scope, change: Change) -> bool:
    """Tells whether the range brings a change of the superproject to the target."""
    own = _recognise(scope, change)
    return own.on_target is None and _is_in_result(scope, own)


def commits_bringing(
    stack: Stack, plans: tuple[LandingPlan, ...], *, tip: Oid
) -> tuple[frozenset[str], frozenset[Oid]]:
    """Finds how commits are known that may bring a change of the superproject up to a tip.

    Returns:
        The files that the changes' branches touch, and the commits that name a change.
    """
    paths: set[str] = set()
    named: set[Oid] = set()
    for change in (change for plan in plans for change in plan.of_superproject(stack.name) if change.pins):
        found = _on_target(stack, change, tip)
        if found is not None:
            named.add(found)
        head = _head_of(stack, change)
        if head is not None:
            paths.update(_paths_of_branch(stack, head, trunk=tip))
    return frozenset(paths), frozenset(named)


def _apart_in(scope: Scope, plan: LandingPlan, change: Change, present: list[Oid]) -> Iterator[Finding]:
    stack = scope.stack
    for name in change.pins:
        component = stack.pins.components[name]
        if component.skip is not None or not isinstance(component.site, GitlinkSite):
            continue
        path = component.site.path
        required = [other for other in plan.changes if other.component == name]
        found = [find_companion(stack, other, component) for other in required]
        missing = [other for other, landed in zip(required, found, strict=True) if not isinstance(landed, Landed)]
        landed = tuple(item for item in found if isinstance(item, Landed))
        pins = {commit: _pin_in(scope, commit, path) for commit in present}
        good = () if missing else tuple(pin for pin in set(pins.values()) if _holds(scope, pin, name, landed))
        bad = [commit for commit, pin in pins.items() if pin not in good]
        if not bad:
            continue
        fix = None if missing else f"pinctl land {plan.name}"
        where = "the result" if bad[0] == scope.result else f"{bad[0].short} of the range"
        if missing:
            reason = f"{', '.join(other.title for other in missing)} is not merged"
        else:
            lacking = ", ".join(f"{item.change.title} ({item.commit.short})" for item in landed)
            reason = f"{path} does not hold {lacking}"
        yield Finding(
            rule="PIN008",
            component=name,
            path=path,
            line=None,
            message=f"{where} has {change.title} of plan {plan.name}, and {reason}",
            fix=fix,
        )


def _pin_in(scope: Scope, commit: Oid, path: str) -> Oid | None:
    return scope.gitlinks.get(path) if commit == scope.result else scope.stack.repository.gitlink_at(commit, path)


def _holds(scope: Scope, pin: Oid | None, name: str, landed: tuple[Landed, ...]) -> bool:
    if pin is None:
        return False
    mirror = scope.stack.mirror(scope.stack.pins.components[name])
    if mirror.obtain(pin) is None:
        return False
    return all(contains(mirror.repository, commit=pin, ancestor=item.commit) for item in landed)


def _recognise(scope: Scope, change: Change) -> _OwnChange:
    stack = scope.stack
    base = scope.range.base
    on_target = _on_target(stack, change, base) if base is not None else None
    head = None if on_target is not None else _head_of(stack, change)
    contents: dict[str, Oid] = {}
    if head is not None:
        owned = _owned_paths(scope)
        for path in _paths_of_branch(stack, head, trunk=scope.range.trunk or base or scope.range.head):
            blob = stack.repository.blob_at(head, path)
            if path not in owned and blob is not None:
                contents[path] = blob
    return _OwnChange(change=change, head=head, contents=contents, on_target=on_target)


def _paths_of_branch(stack: Stack, head: Oid, *, trunk: Oid) -> tuple[str, ...]:
    """Lists the paths that a branch changed since it was cut; none where the trunk has it, or nothing in common."""
    fork = merge_base(stack.repository, trunk, head)
    return changed_paths(stack.repository, before=fork, after=head) if fork not in {None, head} else ()


def _head_of(stack: Stack, change: Change) -> Oid | None:
    """Finds a change's branch here, and asks the remote only where it is not here."""
    if change.branch is not None:
        for name in (f"refs/remotes/origin/{change.branch}", f"refs/heads/{change.branch}"):
            found = stack.repository.resolve(name)
            if found is not None:
                return found
        found = stack.branch_tip(change.branch)
        if found is not None:
            return found
    if change.pull is not None:
        return stack.pull_head(change.pull)
    return stack.repository.resolve(change.commit) if change.commit is not None else None


def _on_target(stack: Stack, change: Change, tip: Oid) -> Oid | None:
    named = commit_with_trailer(stack.repository, tip=tip, beginning=change_trailer(change))
    if named is None and change.pull is not None:
        named = commit_naming_pull(stack.repository, tip=tip, pull=change.pull)
    return named


def _holding(scope: Scope, own: _OwnChange) -> frozenset[Oid]:
    """Returns the commits up to the range's head whose histories have the tip of a change's branch."""
    repository, head = scope.stack.repository, scope.range.head
    if own.on_target is not None or own.head is None or not contains(repository, commit=head, ancestor=own.head):
        return frozenset()
    return descendants(repository, ancestor=own.head, tip=head)


def _is_in_result(scope: Scope, own: _OwnChange) -> bool:
    if own.on_target is not None:
        return bool(scope.moved)
    return _is_present(scope, own, log(scope.stack.repository, "-1", scope.result)[0], has_head=False)


def _is_present(scope: Scope, own: _OwnChange, entry: LogEntry, *, has_head: bool) -> bool:
    """Tells whether a commit has a change: its history, its name, or any of the files as the change made them."""
    if own.on_target is not None:
        return False
    if has_head:
        return True
    repository = scope.stack.repository
    if any(repository.blob_at(entry.commit, path) == blob for path, blob in own.contents.items()):
        return True
    by_number = own.change.pull is not None and names_pull(entry, own.change.pull)
    return by_number or any(line.startswith(change_trailer(own.change)) for line in entry.body.splitlines())


def _owned_paths(scope: Scope) -> frozenset[str]:
    declared = scope.stack.pins.superproject
    gitlinks = [path for _, path in scope.stack.gitlink_components()]
    lock = [declared.lock] if declared.lock else []
    return frozenset({*declared.manifests, *lock, *gitlinks, "pins.toml", ".gitmodules"})
