"""Judges a range by all rules."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.check.certificates import certificate_findings
from pinctl.flows.check.floors import floor_findings
from pinctl.flows.check.lock import lock_findings
from pinctl.flows.check.pins import pin_findings
from pinctl.flows.check.plans import plan_findings
from pinctl.flows.check.scope import Asked, Range, Scope, scope_of
from pinctl.flows.check.soundness import soundness_findings
from pinctl.flows.check.third_party import third_party_findings
from pinctl.flows.check.waivers import apply_waivers
from pinctl.flows.staging.resolve import pulls_of
from pinctl.flows.superproject.floors import manifests_at
from pinctl.flows.superproject.plans import plans_at
from pinctl.flows.superproject.remotes import REMOTE
from pinctl.flows.superproject.sites import entries_of
from pinctl.flows.superproject.stack import Stack
from pinctl.flows.superproject.workspace import pins_path_in, stack_at
from pinctl.model.finding import Finding, Findings
from pinctl.model.oid import Oid
from pinctl.model.progress import Listener, Step
from pinctl.tools.ci import Announced, announced_range
from pinctl.tools.git.compose import scratch_commit, staged_tree
from pinctl.tools.git.history import contains
from pinctl.tools.git.refs import deepened, fetch_objects, local_ref
from pinctl.tools.git.submodules import FILE
from pinctl.tools.toml.source import read_toml

Family = Callable[[Scope], Iterable[Finding]]
"""Judges by the rules that belong together."""


def _silent(text: str, *, step: Step | None = None) -> None:
    """Hears the progress where nobody wants to."""
    del text, step


def check(stack: Stack, *, base: str | None, head: str | None, asked: Asked, tell: Listener = _silent) -> Findings:
    """Judges a pull request, or whatever else the two revisions are.

    Args:
        stack: the opened stack.
        base: the tip it would land on; None finds it.
        head: what would land; None finds it.
        asked: what is asked for beyond.
        tell: hears the progress of what takes long: of running releases.

    Raises:
        CouldNotFindOutError: there is no such commit, or the clone is too shallow to say.
    """
    if asked.deepen and stack.repository.shallow:
        stack = Stack(pins=stack.pins, repository=deepened(stack.repository, REMOTE))
    judged = _staged(stack) if asked.staged else find_range(stack, base=base, head=head)
    stack = stack_at(stack, judged.head)
    plans = plans_at(stack, judged.head)
    stack = stack.with_pulls(pulls_of(*plans))
    scope = scope_of(stack, judged, asked, plans=plans)
    families: tuple[Family, ...] = (
        pin_findings,
        plan_findings,
        floor_findings,
        partial(soundness_findings, tell=tell),
        lock_findings,
        third_party_findings,
        certificate_findings,
    )
    return findings_in(scope, families)


def findings_in(scope: Scope, families: Iterable[Family]) -> Findings:
    """Judges what a scope holds by some families of rules, and applies what pins.toml waives."""
    findings = [finding for family in families for finding in family(scope)]
    return Findings(
        base=scope.range.base,
        head=scope.range.head,
        source=scope.range.source,
        items=tuple(_anchored(scope, finding) for finding in apply_waivers(scope, findings)),
        judged=_judged(scope),
        defaults=tuple(_defaults(scope)),
    )


def find_range(stack: Stack, *, base: str | None, head: str | None) -> Range:
    """Finds what to judge: what the user names, what the CI system says, else the head against its target."""
    announced = announced_range() if base is None and head is None else None
    if announced is not None:
        return _announced(stack, announced)
    to = _named(stack, head or "HEAD")
    if base is not None:
        return Range(base=_named(stack, base), head=to, source="the command line")
    return _against_target(stack, to)


def _against_target(stack: Stack, head: Oid) -> Range:
    """Takes the tip of the target for the base; the head's parent, where the head is on the target already."""
    repository, target = stack.repository, stack.target
    for name in (f"refs/remotes/{REMOTE}/{target}", f"refs/heads/{target}"):
        tip = local_ref(repository, name)
        if tip is not None and not contains(repository, commit=tip, ancestor=head):
            return Range(base=tip, head=head, source=f"the tip of {name.removeprefix('refs/')}")
    return Range(base=repository.resolve(f"{head}^1"), head=head, source="the head's parent")


def _named(stack: Stack, revision: str) -> Oid:
    """Returns the commit of a revision; a branch that is not here may be one of the remote's."""
    found = stack.repository.resolve(revision) or stack.repository.resolve(f"refs/remotes/{REMOTE}/{revision}")
    return found or stack.repository.commit(revision)


def _staged(stack: Stack) -> Range:
    """Makes a commit of what is staged, which no ref names, and takes HEAD for what it would land on."""
    head = stack.repository.commit("HEAD")
    tree = staged_tree(stack.repository)
    return Range(base=head, head=scratch_commit(stack.repository, tree, parent=head), source="the index")


def _announced(stack: Stack, announced: Announced) -> Range:
    head = _first_of(stack, announced.heads)
    if not announced.bases:
        # The first push of a branch: what it brings is what the target has not.
        judged = _against_target(stack, head)
        return replace(judged, source=f"{announced.source}, {judged.source}")
    return Range(base=_first_of(stack, announced.bases), head=head, source=announced.source)


def _first_of(stack: Stack, revisions: tuple[str, ...]) -> Oid:
    """Returns the first commit that can be had, best first; what is checked out counts only where nothing is named."""
    named = tuple(revision for revision in revisions if revision != "HEAD") or revisions
    for revision in named:
        found = stack.repository.resolve(revision) or _fetched(stack, revision)
        if found is not None:
            return found
    raise CouldNotFindOutError(
        f"none of {', '.join(named)} is a commit here", hint="Check out with the whole history (fetch-depth: 0)."
    )


def _fetched(stack: Stack, revision: str) -> Oid | None:
    """Returns a commit of the remote that was not here, by its id or its branch; None where it gives none."""
    tracked = f"refs/remotes/{REMOTE}/"
    try:
        name = revision.replace(tracked, "refs/heads/", 1) if revision.startswith(tracked) else revision
        commit = stack.remote_ref(name) if name != revision else revision
        if commit is None or not stack.has_remote:
            return None
        fetch_objects(stack.repository, REMOTE, [name])
    except CouldNotFindOutError:
        return None
    return stack.repository.resolve(commit)


def _anchored(scope: Scope, finding: Finding) -> Finding:
    """Gives a finding without a line the one that speaks of its pin: in pins.toml, else in .gitmodules."""
    if finding.line is not None:
        return replace(finding, anchor=(finding.path, finding.line))
    path = pins_path_in(scope.stack)
    data = scope.stack.repository.read(scope.result, path) if path is not None else None
    if path is not None and data is not None and finding.component is not None:
        source, declared = read_toml(Path(path), data), ("components", finding.component)
        line = source.line((*declared, "commit")) if source.at(declared) is not None else None
        if line is not None:
            return replace(finding, anchor=(path, line))
    for submodule in scope.submodules:
        if submodule.path == finding.path and submodule.line is not None:
            return replace(finding, anchor=(FILE, submodule.line))
    return finding


def _entries(scope: Scope) -> int:
    """Counts the pins that stand in manifests."""
    manifests = manifests_at(scope.stack, scope.result)
    components = [component for component in scope.stack.pins.components.values() if component.skip is None]
    return sum(len(entries_of(component, manifest)) for component in components for manifest in manifests)


def _judged(scope: Scope) -> tuple[str, ...]:
    which = "" if scope.sole else " that moved"
    words = [f"{len(scope.moved)} of {len(scope.gitlinks) + _entries(scope)} pins{which}"]
    words += [
        f"not {pin.component.name} ({pin.component.skip})" for pin in scope.moved if pin.component.skip is not None
    ]
    return tuple(words)


def _defaults(scope: Scope) -> Iterator[str]:
    """Says by which branches pins were judged where no pins.toml says it."""
    if scope.stack.pins.path is not None:
        return
    moved = {pin.component.name: pin.component for pin in scope.moved if pin.component.skip is None}
    for component in moved.values():
        source = "that .gitmodules names" if component.branch is not None else "that its remote's HEAD names"
        # Without a branch the findings say so.
        with contextlib.suppress(CouldNotFindOutError):
            yield f"{component.name} by {scope.stack.branch(component)}, {source}"
