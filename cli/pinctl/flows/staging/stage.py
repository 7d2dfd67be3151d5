"""Stages a landing: builds the candidate commit out of sight, with a lock that uv made for exactly that tree."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pinctl.flows.staging.compose import compose
from pinctl.flows.staging.conflict import Explanation, explain, without_members
from pinctl.flows.superproject.layout import lay_out_stack
from pinctl.flows.superproject.stack import Stack
from pinctl.flows.superproject.workspace import declaring_paths
from pinctl.model.landing import BumpPlan, Objection, ObjectionKind, Objections, Staged
from pinctl.model.lock import LockDiff
from pinctl.model.oid import Oid
from pinctl.tools.answers import digest_of, recall, remember
from pinctl.tools.git.compose import FILE_MODE, Edit, edit_tree, scratch_commit, write_blob
from pinctl.tools.places import scratch
from pinctl.tools.python import uv
from pinctl.tools.python.lockfile import compare_locks, is_closed
from pinctl.tools.toml.source import read_toml

Judge = Callable[[Stack, BumpPlan, Oid], Objections | None]
"""Judges what a bump makes: the commit that does it, but for the lock."""


def dirty_target_files(stack: Stack) -> Objection | None:
    """Finds uncommitted work in the files that a landing writes.

    It would not be lost, since a landing leaves the checkout alone; but it would not be in the landing either.
    """
    paths = declaring_paths(stack)
    output = stack.repository.run(
        "status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames", "--", *paths
    ).stdout
    dirty = tuple(line[3:] for line in output.decode("utf-8", "surrogateescape").split("\0") if line)
    if not dirty:
        return None
    return Objection(
        kind=ObjectionKind.DIRTY,
        message="files that the landing writes have uncommitted changes, which it would leave out",
        hint="Commit them, or put them away with git stash.",
        details=dirty,
    )


def stage(stack: Stack, bump: BumpPlan, *, judge: Judge | None = None) -> Staged | Objections:
    """Builds the candidate commit of a bump.

    Args:
        stack: the opened stack.
        bump: what is to be done.
        judge: finds what is wrong with it, once it is composed: what a person must settle first is said first, and
            not hidden by a lock that cannot be made, maybe for that very reason.

    Returns:
        The candidate, which no ref names; or what is in the way.

    Raises:
        CouldNotFindOutError: uv cannot run, or a component cannot be laid out.
    """
    composed = compose(stack, bump)
    if isinstance(composed, Objections):
        return composed
    tree, diff = composed.tree, LockDiff()
    refused = judge(stack, bump, scratch_commit(stack.repository, tree, parent=bump.tip)) if judge is not None else None
    if refused is not None:
        return refused
    excluded: tuple[str, ...] = ()
    path = stack.pins.superproject.lock
    if path is not None and stack.repository.blob_at(bump.tip, path) is not None:
        locked = _locked_before(stack, tree, path) or _locked(stack, bump, tree, path)
        if isinstance(locked, Objection):
            return Objections(objections=(locked,))
        _keep_lock(stack, tree, path, locked)
        tree, excluded = locked.tree, locked.excluded
        diff = lock_difference(stack, stack.repository.read(bump.tip, path), locked.lock)
        if diff.third_party and not bump.third_party:
            return Objections(objections=(_third_party(diff),))
        edit = Edit(path=path, mode=FILE_MODE, oid=write_blob(stack.repository, locked.lock))
        tree = edit_tree(stack.repository, tree, [edit])
    return Staged(
        bump=bump,
        tree=tree,
        commit=scratch_commit(stack.repository, tree, parent=bump.tip),
        floors=composed.floors,
        entries=composed.entries,
        excluded=excluded,
        lock=diff,
    )


def lock_difference(stack: Stack, before: bytes | None, after: bytes | None) -> LockDiff:
    """Returns what a lock of the superproject has that another one has not; a lock that is not there is an empty one.

    Raises:
        CouldNotFindOutError: one of them cannot be read.
    """
    return compare_locks(before or b"", after or b"", first_party=_own_distributions(stack))


def _third_party(diff: LockDiff) -> Objection:
    return Objection(
        kind=ObjectionKind.THIRD_PARTY,
        message="the new lock moves packages that are not ours",
        hint='Where that is meant: [lock] third_party = "move" in the plan, or --third-party for a bump.',
        details=tuple(change.words for change in diff.third_party),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Locked:
    """A lock, with the tree it is of: that of the landing, maybe with members left out of the workspace."""

    lock: bytes
    tree: Oid
    excluded: tuple[str, ...]


def _locked(stack: Stack, bump: BumpPlan, tree: Oid, path: str) -> _Locked | Objection:
    moved = tuple(move.component.distribution or move.component.name for move in bump.moves)
    with scratch() as directory:
        commit = scratch_commit(stack.repository, tree, parent=bump.tip)
        top = lay_out_stack(stack, commit, directory / stack.name)
        project = top / Path(*PurePosixPath(path).parts).parent
        refused = uv.lock(project, refresh=moved)
        excluded: tuple[str, ...] = ()
        if refused is not None:
            explanation = explain(stack, bump, tree=tree, project=project, refused=refused)
            if not (bump.exclude_conflicting and explanation.exclude):
                return _no_lock(stack, refused, explanation)
            manifest = str(PurePosixPath(path).parent / "pyproject.toml")
            excluded = explanation.exclude
            data = without_members(read_toml(project / "pyproject.toml"), excluded)
            (project / "pyproject.toml").write_bytes(data)
            edit = Edit(path=manifest, mode=FILE_MODE, oid=write_blob(stack.repository, data))
            tree = edit_tree(stack.repository, tree, [edit])
            refused = uv.lock(project, refresh=moved)
            if refused is not None:
                return _no_lock(stack, refused, explanation)
        return _Locked(lock=(project / PurePosixPath(path).name).read_bytes(), tree=tree, excluded=excluded)


def _locked_before(stack: Stack, tree: Oid, path: str) -> _Locked | None:
    """Returns the lock that was made of this very tree before, if it depends on nothing else: on no package index."""
    kept = recall(_lock_digest(stack, tree, path))
    return _Locked(lock=kept.encode(), tree=tree, excluded=()) if isinstance(kept, str) else None


def _keep_lock(stack: Stack, tree: Oid, path: str, locked: _Locked) -> None:
    if not locked.excluded and is_closed(locked.lock):
        remember(_lock_digest(stack, tree, path), locked.lock.decode())


def _lock_digest(stack: Stack, tree: Oid, path: str) -> str:
    versions = [
        [name, str(stack.version(component, pin))]
        for name, component in stack.pins.components.items()
        if component.gitlink is not None and (pin := stack.repository.gitlink_at(tree, component.gitlink)) is not None
    ]
    return digest_of("lock", tree, path, uv.uv_version(), versions)


def _own_distributions(stack: Stack) -> list[str]:
    return [component.distribution or component.name for component in stack.pins.components.values()]


def _no_lock(stack: Stack, refused: uv.Refused, explanation: Explanation) -> Objection:
    hint = "Mend the requirements on the branch that is to land, or in the component that brought them."
    if explanation.exclude:
        hint = "Run it with --exclude-conflicting to leave that member out in the same commit."
    return Objection(
        kind=ObjectionKind.LOCK,
        message=f"uv finds no lock for {stack.name} with the new pins",
        hint=hint,
        details=(*refused.explanation.splitlines(), *explanation.lines),
    )
