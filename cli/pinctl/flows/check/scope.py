"""Finds out what there is to judge: the range, its result on the target's tip, and the pins that it moves."""

from collections.abc import Iterator
from dataclasses import dataclass

from pinctl.flows.superproject.floors import manifests_at
from pinctl.flows.superproject.sites import PinnedSite, entries_of, site_of
from pinctl.flows.superproject.stack import Stack
from pinctl.model.entry import Entry
from pinctl.model.oid import Oid
from pinctl.model.pins import Component, GitlinkSite
from pinctl.model.plan import LandingPlan
from pinctl.tools.git.compose import Conflicts, merge_commits, scratch_commit
from pinctl.tools.git.history import LogEntry, changed_paths, log, merge_base
from pinctl.tools.git.submodules import Submodule, read_submodules
from pinctl.tools.toml.source import TomlSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """What is judged.

    Attributes:
        base: the tip it would land on; None judges the head by itself.
        head: the commit that is judged.
        source: where the two were taken from, in words.
        trunk: a later tip of the history that the base is of, where the range is one of the past: branches may have
            been cut since.
    """

    base: Oid | None
    head: Oid
    source: str
    trunk: Oid | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the user asks for beside the range.

    Attributes:
        everything: judge what the range did not touch as well.
        first_parent: pins must be first-parent commits of their branch.
        require_tip: pins must be the tip of their branch.
        staged: judge the index instead of a commit.
        deepen: fetch what a shallow clone lacks of its history.
        run_releases: judge by running the releases that floors admit, where a plan can.
    """

    everything: bool = False
    first_parent: bool = False
    require_tip: bool = False
    staged: bool = False
    deepen: bool = False
    run_releases: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedPin:
    """A pin that the range sets.

    Attributes:
        path: the gitlink's path, or the manifest's.
        entry: the manifest's entry; None for a gitlink.
        before: the pin on the target's tip; None where there is none.
        renamed_from: the path it had there, where it was another.
        guessed: whether that is so only since one path went away and another came.
        before_unknown: why the pin on the target's tip could not be found out, where there is one.
    """

    component: Component
    path: str
    before: Oid | None
    after: Oid
    renamed_from: str | None = None
    guessed: bool = False
    entry: Entry | None = None
    before_unknown: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownPin:
    """A pin in a manifest that the range sets, and that names nothing which can be found."""

    component: Component
    site: PinnedSite


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Everything that the rules look at.

    Attributes:
        result: the commit that would stand on the target after the range has landed there.
        gitlinks: the pins of the result.
        moved: those that differ from the target's tip; all of them where everything is to be judged.
        unknown: those that differ and could not be found out.
        submodules: the sections of .gitmodules in the result.
        touched: the paths that differ between the target's tip and the result.
        plans: the landing plans.
    """

    stack: Stack
    range: Range
    asked: Asked
    result: Oid
    gitlinks: dict[str, Oid]
    moved: tuple[MovedPin, ...]
    unknown: tuple[UnknownPin, ...]
    submodules: tuple[Submodule, ...]
    submodules_before: tuple[Submodule, ...]
    touched: frozenset[str]
    plans: tuple[LandingPlan, ...]

    @property
    def sole(self) -> bool:
        """Whether everything is judged, because that was asked for or because there is nothing to compare with."""
        return self.asked.everything or self.range.base is None


def scope_of(stack: Stack, judged: Range, asked: Asked, *, plans: tuple[LandingPlan, ...]) -> Scope:
    """Looks at a range as it would come out on the target's tip.

    What the target moved since the branch was cut is not what the branch moves: a pin that the branch left alone has
    in the result the target's commit, whatever the branch has.
    """
    repository = stack.repository
    base, head = judged.base, judged.head
    before = repository.gitlinks(base) if base is not None else {}
    result, gitlinks = _result(stack, base, head, before)
    submodules = read_submodules(repository, result)
    submodules_before = read_submodules(repository, base) if base is not None else ()
    everything = asked.everything or base is None
    moved = tuple(
        _moved(stack, path, pin, before=before, gitlinks=gitlinks, now=submodules, then=submodules_before)
        for path, pin in gitlinks.items()
        if everything or before.get(path) != pin
    )
    stack.ask(pin.component for pin in moved if pin.component.skip is None)
    touched = changed_paths(repository, before=base, after=result) if base is not None else ()
    entries: tuple[MovedPin | UnknownPin, ...] = ()
    if everything or not set(stack.pins.superproject.manifests).isdisjoint(touched):
        entries = tuple(_moved_entries(stack, base, result, everything=everything))
    return Scope(
        stack=stack,
        range=judged,
        asked=asked,
        result=result,
        gitlinks=gitlinks,
        moved=(*moved, *(pin for pin in entries if isinstance(pin, MovedPin))),
        unknown=tuple(pin for pin in entries if isinstance(pin, UnknownPin)),
        submodules=submodules,
        submodules_before=submodules_before,
        touched=frozenset(touched),
        plans=plans,
    )


def _moved_entries(stack: Stack, base: Oid | None, result: Oid, *, everything: bool) -> Iterator[MovedPin | UnknownPin]:
    """Finds the pins in manifests that differ between the target's tip and the result.

    They are compared as they are written: what an entry means is asked of its remote only where it moved.
    """
    now = manifests_at(stack, result)
    then = manifests_at(stack, base) if base is not None else ()
    for component in stack.pins.components.values():
        if component.skip is not None:
            continue
        before = {(entry.manifest, entry.key_path): entry for entry in _entries(component, then)}
        for entry in _entries(component, now):
            former = before.get((entry.manifest, entry.key_path))
            if not everything and former is not None and (former.kind, former.text) == (entry.kind, entry.text):
                continue
            site = site_of(stack, component, entry)
            if site.commit is None:
                yield UnknownPin(component=component, site=site)
                continue
            formerly = site_of(stack, component, former) if former is not None else None
            yield MovedPin(
                component=component,
                path=site.place,
                before=formerly.commit if formerly else None,
                after=site.commit,
                entry=entry,
                before_unknown=formerly.unknown if formerly else None,
            )


def _entries(component: Component, manifests: tuple[TomlSource, ...]) -> tuple[Entry, ...]:
    return tuple(entry for manifest in manifests for entry in entries_of(component, manifest))


def _result(stack: Stack, base: Oid | None, head: Oid, before: dict[str, Oid]) -> tuple[Oid, dict[str, Oid]]:
    """Returns the commit that would stand on the base, and its gitlinks; the head itself where they conflict."""
    repository = stack.repository
    at_head = repository.gitlinks(head)
    fork = merge_base(repository, base, head) if base is not None else None
    if base is None or fork is None or fork == base:
        return head, at_head
    at_fork = repository.gitlinks(fork)
    gitlinks = {}
    for path in sorted({*at_head, *before}):
        ours, theirs, common = before.get(path), at_head.get(path), at_fork.get(path)
        pin = ours if theirs == common else theirs
        if pin is not None:
            gitlinks[path] = pin
    merged = merge_commits(repository, base, head)
    if isinstance(merged, Conflicts):
        return head, gitlinks
    return scratch_commit(repository, merged, parent=base), gitlinks


def _moved(
    stack: Stack,
    path: str,
    pin: Oid,
    *,
    before: dict[str, Oid],
    gitlinks: dict[str, Oid],
    now: tuple[Submodule, ...],
    then: tuple[Submodule, ...],
) -> MovedPin:
    component = component_at(stack, path, now)
    if path in before:
        return MovedPin(component=component, path=path, before=before[path], after=pin)
    gone = {old: oid for old, oid in before.items() if old not in gitlinks}
    old = _former_path(path, pin, gone, now=now, then=then)
    guessed = old is None and len(gone) == 1 and len(gitlinks.keys() - before.keys()) == 1
    if guessed:
        (old,) = gone
    if old is None:
        return MovedPin(component=component, path=path, before=None, after=pin)
    return MovedPin(component=component, path=path, before=gone[old], after=pin, renamed_from=old, guessed=guessed)


def _former_path(
    path: str, pin: Oid, gone: dict[str, Oid], *, now: tuple[Submodule, ...], then: tuple[Submodule, ...]
) -> str | None:
    """Finds the path that a component had before it was renamed: by its section, its URL or its commit."""
    described = next((submodule for submodule in now if submodule.path == path), None)
    former = [submodule for submodule in then if submodule.path in gone]
    for submodule in former:
        if described is not None and submodule.name == described.name:
            return submodule.path
    for submodule in former:
        if described is not None and submodule.url == described.url:
            return submodule.path
    return next((old for old, commit in gone.items() if commit == pin), None)


def commits_of(scope: Scope) -> tuple[LogEntry, ...]:
    """Returns the commits of the range, newest first; the head alone where there is nothing to compare with."""
    base, head = scope.range.base, scope.range.head
    revisions = ("-1", head) if base is None else (f"{base}..{head}",)
    return log(scope.stack.repository, *revisions, first_parent=False)


def named_in_trailers(scope: Scope, trailer: str) -> Iterator[tuple[str, str, LogEntry]]:
    """Yields what trailers of the range name, the reason that they give for it, and the commit that has them."""
    for entry in commits_of(scope) if scope.range.base is not None else ():
        for line in entry.body.splitlines():
            key, colon, text = line.partition(":")
            name, _, reason = text.strip().partition(" ")
            if colon and key == trailer and reason.strip():
                yield name, reason.strip(), entry


def component_at(stack: Stack, path: str, submodules: tuple[Submodule, ...]) -> Component:
    """Returns the component whose pin is the gitlink at a path, made from .gitmodules where pins.toml has none."""
    declared = stack.pins.at_gitlink(path)
    if declared is not None:
        return declared
    submodule = next((submodule for submodule in submodules if submodule.path == path), None)
    return Component(
        name=submodule.name if submodule else path,
        site=GitlinkSite(path=path),
        branch=submodule.branch if submodule else None,
    )
