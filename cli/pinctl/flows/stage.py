"""Stages a landing: builds the candidate commit out of sight, with a lock that uv made for exactly that tree."""

from pathlib import Path, PurePosixPath

from pinctl.flows.compose import compose
from pinctl.flows.stack import Stack
from pinctl.flows.workspace import pins_path_in
from pinctl.model.landing import BumpPlan, Objection, ObjectionKind, Objections, Staged
from pinctl.model.lock import LockDiff
from pinctl.model.oid import Oid
from pinctl.tools import uv
from pinctl.tools.git.compose import FILE_MODE, Edit, edit_tree, scratch_commit, write_blob
from pinctl.tools.lockfile import compare_locks
from pinctl.tools.places import scratch


def dirty_target_files(stack: Stack) -> Objection | None:
    """Finds uncommitted work in the files that a landing writes.

    It would not be lost, since a landing leaves the checkout alone; but it would not be in the landing either.
    """
    declared = stack.pins.superproject
    paths = [path for path in (*declared.manifests, declared.lock, pins_path_in(stack), ".gitmodules") if path]
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


def stage(stack: Stack, bump: BumpPlan) -> Staged | Objections:
    """Builds the candidate commit of a bump.

    Args:
        stack: the opened stack.
        bump: what is to be done.

    Returns:
        The candidate, which no ref names; or what is in the way.

    Raises:
        CouldNotFindOutError: uv cannot run, or a component cannot be laid out.
    """
    composed = compose(stack, bump)
    if isinstance(composed, Objections):
        return composed
    tree = composed.tree
    path = stack.pins.superproject.lock
    before = stack.repository.blob_at(bump.tip, path) if path is not None else None
    diff = LockDiff()
    if path is not None and before is not None:
        locked = _locked(stack, bump, tree, path)
        if isinstance(locked, Objection):
            return Objections(objections=(locked,))
        diff = _compared(stack, bump, path, locked)
        if diff.third_party and not bump.third_party:
            return Objections(objections=(_third_party(diff),))
        edit = Edit(path=path, mode=FILE_MODE, oid=write_blob(stack.repository, locked))
        tree = edit_tree(stack.repository, tree, [edit])
    return Staged(
        bump=bump,
        tree=tree,
        commit=scratch_commit(stack.repository, tree, parent=bump.tip),
        floors=composed.floors,
        entries=composed.entries,
        lock=diff,
    )


def _compared(stack: Stack, bump: BumpPlan, path: str, locked: bytes) -> LockDiff:
    ours = [component.distribution or component.name for component in stack.pins.components.values()]
    before = stack.repository.read(bump.tip, path) or b""
    return compare_locks(before, locked, first_party=ours)


def _third_party(diff: LockDiff) -> Objection:
    return Objection(
        kind=ObjectionKind.THIRD_PARTY,
        message="the new lock moves packages that are not ours",
        hint='Where that is meant: [lock] third_party = "move" in the plan, or --third-party for a bump.',
        details=tuple(change.words for change in diff.third_party),
    )


def _locked(stack: Stack, bump: BumpPlan, tree: Oid, path: str) -> bytes | Objection:
    moved = tuple(move.component.distribution or move.component.name for move in bump.moves)
    with scratch() as directory:
        commit = scratch_commit(stack.repository, tree, parent=bump.tip)
        top = stack.lay_out(commit, directory / stack.name)
        project = top / Path(*PurePosixPath(path).parts).parent
        refused = uv.lock(project, refresh=moved)
        if refused is not None:
            return Objection(
                kind=ObjectionKind.LOCK,
                message=f"uv finds no lock for {stack.name} with the new pins",
                hint="Mend the requirements on the branch that is to land, or in the component that brought them.",
                details=tuple(refused.explanation.splitlines()),
            )
        return (top / Path(*PurePosixPath(path).parts)).read_bytes()
