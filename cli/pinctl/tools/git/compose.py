"""Builds trees and commits in the object database, without any checkout and without the user's index."""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import Oid
from pinctl.tools.git.history import Person
from pinctl.tools.git.objects import GITLINK_MODE, TREE_MODE, TreeEntry
from pinctl.tools.git.repository import Repository
from pinctl.tools.git.surroundings import exported_index
from pinctl.tools.places import scratch

FILE_MODE = "100644"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One entry that a tree is to have, or not to have.

    Attributes:
        oid: what the entry names; None removes it.
    """

    path: str
    mode: str
    oid: Oid | None

    @classmethod
    def gitlink(cls, path: str, oid: Oid) -> "Edit":
        """Makes the edit that sets a gitlink."""
        return cls(path=path, mode=GITLINK_MODE, oid=oid)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts:
    """The files in which a merge needs a person."""

    paths: tuple[str, ...]


def write_blob(repository: Repository, contents: bytes) -> Oid:
    """Stores a file's contents and returns their id."""
    return write_blobs(repository, contents)[0]


def write_blobs(repository: Repository, *contents: bytes) -> tuple[Oid, ...]:
    """Stores the contents of some files and returns their ids."""
    return repository.storage.store("blob", *contents) if contents else ()


def edit_tree(repository: Repository, tree: str, edits: Iterable[Edit]) -> Oid:
    """Returns a tree with some entries set or removed, made without any index."""
    by_path = {edit.path: edit for edit in edits}
    if not by_path:
        return repository.tree_of(tree)
    return _edited(repository, tree, by_path) or repository.storage.store_tree(())


def _edited(repository: Repository, tree: str | None, edits: Mapping[str, Edit]) -> Oid | None:
    """Returns a tree, or one that is not there yet, with edits of its own paths; None where that leaves it empty."""
    entries = {entry.path: entry for entry in repository.children(tree)} if tree is not None else {}
    below: dict[str, dict[str, Edit]] = {}
    for path, edit in edits.items():
        name, _, rest = path.partition("/")
        if rest:
            below.setdefault(name, {})[rest] = edit
        elif edit.oid is None:
            entries.pop(name, None)
        else:
            entries[name] = TreeEntry(mode=edit.mode, oid=edit.oid, path=name)
    for name, deeper in below.items():
        held = entries.pop(name, None)
        if held is not None and held.mode != TREE_MODE:
            if any(edit.oid is not None for edit in deeper.values()):
                raise CouldNotFindOutError(f"{name} is no directory in {tree}, so nothing can be put into it")
            entries[name] = held
            continue
        subtree = _edited(repository, held.oid if held is not None else None, deeper)
        if subtree is not None:
            entries[name] = TreeEntry(mode=TREE_MODE, oid=subtree, path=name)
    return repository.storage.store_tree(entries.values()) if entries else None


def staged_tree(repository: Repository) -> Oid:
    """Returns the tree of what is staged: of the index that a surrounding `git commit` is making, if there is one.

    Raises:
        CouldNotFindOutError: the index has conflicts.
    """
    index = exported_index()
    env = {"GIT_INDEX_FILE": index} if index is not None else {}
    unmerged = repository.run("ls-files", "--unmerged", "-z", env=env).stdout.decode("utf-8", "surrogateescape")
    paths = sorted({line.partition("\t")[2] for line in unmerged.split("\0") if line})
    if paths:
        raise CouldNotFindOutError(
            f"the index has conflicts in {', '.join(paths)}", hint="Settle them, and git add the result."
        )
    # In a copy: write-tree keeps what it found out in the index itself.
    with scratch() as directory:
        source = Path(index) if index is not None else repository.git_dir / "index"
        copy = directory / "index"
        if source.is_file():
            shutil.copyfile(source, copy)
        return Oid(repository.run("write-tree", env={"GIT_INDEX_FILE": str(copy)}).text)


def merge_trees(repository: Repository, *, base: Oid, ours: Oid, theirs: Oid) -> Oid | Conflicts:
    """Merges three trees as git merges branches.

    git 2.38 finds the base itself from the history, so the three trees get a little history of their own.
    """
    root = _scratch_commit(repository, base)
    one, other = (_scratch_commit(repository, tree, root) for tree in (ours, theirs))
    return _merge(repository, one, other)


def _merge(repository: Repository, one: Oid, other: Oid) -> Oid | Conflicts:
    completed = repository.run(
        "merge-tree", "--write-tree", "--name-only", "-z", "--no-messages", one, other, accept=(0, 1)
    )
    tree, *paths = completed.stdout.decode("utf-8", "surrogateescape").split("\0")
    if completed.status == 0:
        return Oid(tree.strip())
    return Conflicts(paths=tuple(dict.fromkeys(path for path in paths if path)))


def merge_commits(repository: Repository, ours: Oid, theirs: Oid) -> Oid | Conflicts:
    """Merges two commits of one history, and returns the tree."""
    return _merge(repository, ours, theirs)


def commit_tree(repository: Repository, tree: Oid, *, parent: Oid, message: str, author: Person | None = None) -> Oid:
    """Makes a commit as the user, by another author where one is given. No ref names it yet.

    Raises:
        CouldNotFindOutError: git does not know who the user is.
    """
    env: Mapping[str, str] = {}
    if author is not None:
        env = {
            "GIT_AUTHOR_NAME": author.name,
            "GIT_AUTHOR_EMAIL": author.email,
            "GIT_AUTHOR_DATE": author.date,
        }
    completed = repository.run(
        "commit-tree", tree, "-p", parent, "-F", "-", stdin=message.encode(), env=env, accept=(0, 128)
    )
    if completed.status != 0:
        raise CouldNotFindOutError(
            f"git cannot make the commit: {completed.stderr.strip().splitlines()[-1]}",
            hint='Tell git who you are: git config user.name "…" and git config user.email "…"',
        )
    return Oid(completed.text)


def _scratch_commit(repository: Repository, tree: Oid, *parents: Oid) -> Oid:
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines += [f"{role} pinctl <pinctl@localhost> 0 +0000" for role in ("author", "committer")]
    (oid,) = repository.storage.store("commit", "\n".join((*lines, "", "scratch", "")).encode())
    return oid


def scratch_commit(repository: Repository, tree: Oid, *, parent: Oid) -> Oid:
    """Makes a commit that depends on nothing but its tree and parent, for what needs a commit before the real one."""
    return _scratch_commit(repository, tree, parent)
