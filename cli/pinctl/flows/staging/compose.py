"""Composes the tree of a landing in the object database: the target, the changes, and what the plan owns on top.

The plan owns gitlinks, floors, the records in pins.toml and the lock. Before anything is merged, all sides of the
merge get the plan's values there: these places cannot conflict, and every conflict that is left is one for a person.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.superproject.sites import entries_of
from pinctl.flows.superproject.stack import Stack
from pinctl.flows.superproject.workspace import pins_path_in
from pinctl.model.entry import EntryMove, Target
from pinctl.model.landing import BumpPlan, Objection, ObjectionKind, Objections
from pinctl.model.oid import Oid
from pinctl.model.pins import Component
from pinctl.model.requirement import FloorMove
from pinctl.tools.git.compose import FILE_MODE, Conflicts, Edit, edit_tree, merge_trees, write_blobs
from pinctl.tools.git.history import contains, merge_base
from pinctl.tools.git.repository import Repository
from pinctl.tools.python.manifest import raise_floors
from pinctl.tools.python.sources import move_entries
from pinctl.tools.toml.edit import set_string
from pinctl.tools.toml.source import read_toml


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A tree with everything of a landing but the lock."""

    tree: Oid
    floors: tuple[FloorMove, ...]
    entries: tuple[EntryMove, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Owned:
    """What the plan owns in a tree.

    Attributes:
        gitlinks: pins by path.
        floors: by component, its distribution and its lowest version.
        targets: by component, what its pins are to name: in manifests, and in the records of pins.toml.
        lock: the lock's path and the contents it has until uv has written it.
    """

    manifests: tuple[str, ...]
    gitlinks: dict[str, Oid]
    floors: dict[str, tuple[str, Version]]
    pins_path: str | None
    components: Mapping[str, Component]
    targets: Mapping[str, Target]
    lock: tuple[str, Oid | None] | None


def compose(stack: Stack, bump: BumpPlan) -> Composed | Objections:
    """Merges the changes into the target and settles what the plan owns.

    Args:
        stack: the opened stack.
        bump: what is to be done.

    Returns:
        The tree, or the files in which the merge needs a person.

    Raises:
        CouldNotFindOutError: a change has no history in common with the target.
    """
    repository = stack.repository
    owned = _owned(stack, bump)
    ours, floors, entries = _settled(repository, repository.tree_of(bump.tip), owned)
    previous: Oid | None = None
    for item in bump.to_land:
        # A change that stacks on the one before brings only what it adds to it.
        stacked = previous is not None and contains(repository, commit=item.head, ancestor=previous)
        base = previous if stacked else merge_base(repository, bump.tip, item.head)
        if base is None:
            raise CouldNotFindOutError(
                f"{item.change.title} has no history in common with {bump.target}",
                hint=f"Correct change {item.change.id!r} of the plan.",
            )
        before, *_ = _settled(repository, repository.tree_of(base), owned)
        theirs, *_ = _settled(repository, repository.tree_of(item.head), owned)
        merged = merge_trees(repository, base=before, ours=ours, theirs=theirs)
        if isinstance(merged, Conflicts):
            branch = item.change.branch or item.head.short
            return Objections(
                objections=(
                    Objection(
                        kind=ObjectionKind.CONFLICT,
                        message=f"{branch} conflicts with {bump.target} outside the pins, floors and lock",
                        hint=f"Rebase {branch} onto {bump.target}, push it, and run this again.",
                        details=merged.paths,
                    ),
                )
            )
        ours, *_ = _settled(repository, merged, owned)
        previous = item.head
    absent = tuple(path for path in owned.gitlinks if repository.gitlink_at(ours, path) is None)
    if absent:
        message = f"{bump.target} has no submodule where pins.toml says that one is pinned"
        hint = "Add the submodule on the branch that is to land, or correct pins.toml."
        objection = Objection(kind=ObjectionKind.CONFLICT, message=message, hint=hint, details=absent)
        return Objections(objections=(objection,))
    return Composed(tree=ours, floors=floors, entries=entries)


def _owned(stack: Stack, bump: BumpPlan) -> _Owned:
    components = stack.pins.components
    lock = stack.pins.superproject.lock
    return _Owned(
        manifests=stack.pins.superproject.manifests,
        gitlinks={path: pin for name, pin in bump.pins.items() if (path := components[name].gitlink) is not None},
        floors={name: (components[name].distribution or name, version) for name, version in bump.floors.items()},
        pins_path=pins_path_in(stack),
        components=components,
        targets=bump.targets,
        lock=(lock, stack.repository.blob_at(bump.tip, lock)) if lock is not None else None,
    )


def _settled(
    repository: Repository, tree: Oid, owned: _Owned
) -> tuple[Oid, tuple[FloorMove, ...], tuple[EntryMove, ...]]:
    """Returns a tree that has the plan's values wherever the plan owns something in it."""
    edits: list[Edit] = []
    floors: list[FloorMove] = []
    entries_moved: list[EntryMove] = []
    rewritten: dict[str, bytes] = {}
    held = (path for path in owned.gitlinks if repository.entry_at(tree, path) is not None)
    edits += [Edit.gitlink(path, owned.gitlinks[path]) for path in held]
    for path in owned.manifests:
        data = repository.read(tree, path)
        if data is not None:
            manifest = read_toml(Path(path), data)
            own = {name: (entries_of(owned.components[name], manifest), owned.targets[name]) for name in owned.targets}
            moved_data, entry_moves = move_entries(manifest, own)
            raised, floor_moves = raise_floors(read_toml(Path(path), moved_data), owned.floors)
            entries_moved += entry_moves
            floors += floor_moves
            rewritten[path] = raised
    if owned.pins_path is not None and repository.blob_at(tree, owned.pins_path) is not None:
        rewritten[owned.pins_path] = _recorded(repository, tree, owned.pins_path, owned)
    edits += _rewrites(repository, tree, rewritten)
    if owned.lock is not None:
        path, contents = owned.lock
        entry = repository.entry_at(tree, path)
        if contents is not None or entry is not None:
            edits.append(Edit(path=path, mode=entry.mode if entry is not None else FILE_MODE, oid=contents))
    return edit_tree(repository, tree, edits), tuple(floors), tuple(entries_moved)


def _rewrites(repository: Repository, tree: Oid, files: Mapping[str, bytes]) -> tuple[Edit, ...]:
    """Stores those of some files of a tree that are not as they were, and returns the edits that put them there."""
    changed = {path: data for path, data in files.items() if data != repository.read(tree, path)}
    entries = (repository.entry_at(tree, path) for path in changed)
    stored = zip(entries, write_blobs(repository, *changed.values()), strict=True)
    return tuple(Edit(path=entry.path, mode=entry.mode, oid=oid) for entry, oid in stored if entry is not None)


def _recorded(repository: Repository, tree: Oid, path: str, owned: _Owned) -> bytes:
    """Writes the records: the commit of a gitlink, and the tag or commit that pins.toml has for another pin."""
    data = repository.read(tree, path) or b""
    for name, target in owned.targets.items():
        table = read_toml(Path(path), data).at(("components", name))
        if not isinstance(table, dict):
            continue
        if "commit" in table or owned.components[name].gitlink is not None:
            data = set_string(read_toml(Path(path), data), ("components", name, "commit"), target.commit)
        if "tag" in table and target.tag is not None:
            data = set_string(read_toml(Path(path), data), ("components", name, "tag"), target.tag)
    return data
