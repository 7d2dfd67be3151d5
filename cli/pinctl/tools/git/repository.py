"""Opens a repository, and answers what it holds at a revision."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Self

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import Oid
from pinctl.tools.git.command import Completed, run_git
from pinctl.tools.git.objects import GITLINK_MODE, TREE_MODE, ObjectReader, ObjectWriter, TreeEntry

_NO_FILES = frozenset({GITLINK_MODE.encode(), TREE_MODE.encode()})
_ROWS = {length: re.compile(rb"([0-7]+) ([^\0]+)\0(.{%d})" % (length // 2), re.DOTALL) for length in (40, 64)}
"""The entries of a tree as git stores it, mode, name and id, by the length of ids as they are written."""

OLDEST_GIT = (2, 38)
"""The first release with `git merge-tree --write-tree`."""


@cache
def require_git() -> None:
    """Makes sure that git is there and new enough.

    Raises:
        CouldNotFindOutError: it is not.
    """
    words = run_git(Path.cwd(), "version").text.split()
    version = words[2] if len(words) > 2 else ""
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < OLDEST_GIT:
        raise CouldNotFindOutError(
            f"git {version or 'of an unknown version'} is too old: pinctl needs {'.'.join(map(str, OLDEST_GIT))}",
            hint="Install a newer git and put it first on PATH.",
        )


class Repository:
    """A repository on this machine.

    Attributes:
        git_dir: where its own refs and index are.
        common_dir: where its objects are: another place than git_dir in a linked worktree.
        work_tree: the top of its checkout; None for a bare one.
        shallow: whether its history is cut off.
        storage: stores objects in it.
    """

    def __init__(
        self,
        *,
        git_dir: Path,
        common_dir: Path,
        work_tree: Path | None,
        shallow: bool,
        access: Mapping[str, str] | None = None,
    ) -> None:
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.work_tree = work_tree
        self.shallow = shallow
        self._access = dict(access or {})
        self.storage = ObjectWriter(git_dir)
        self._objects = ObjectReader(git_dir)
        self._partial: bool | None = None
        self._gitlinks: dict[Oid, dict[str, Oid]] = {}
        self._known: dict[tuple[str, ...], Completed] = {}

    @classmethod
    def open(cls, directory: Path, *, access: Mapping[str, str] | None = None) -> Self:
        """Opens the repository that `directory` lies in.

        Args:
            directory: any directory of it.
            access: variables that its git commands need to reach its remotes.

        Raises:
            CouldNotFindOutError: there is none, or git may not read it.
        """
        require_git()
        if not directory.is_dir():
            raise CouldNotFindOutError(f"{directory} is not a directory")
        asked = ("--is-bare-repository", "--is-shallow-repository", "--git-dir", "--git-common-dir", "--show-toplevel")
        completed = run_git(directory, "rev-parse", "--path-format=absolute", *asked, accept=(0, 128))
        answers = completed.text.splitlines()
        if len(answers) < len(asked) - 1:
            raise _cannot_open(directory, completed)
        bare, shallow, git_dir, common_dir, *top = answers
        work_tree = Path(top[0]) if top and bare == "false" else None
        return cls(
            git_dir=Path(git_dir),
            common_dir=Path(common_dir),
            work_tree=work_tree,
            shallow=shallow == "true",
            access=access,
        )

    def run(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        accept: tuple[int, ...] = (0,),
        seconds: float | None = None,
    ) -> Completed:
        """Runs one git command on this repository, wherever the current directory is."""
        variables = {**self._access, "GIT_DIR": str(self.git_dir), **(env or {})}
        if self.work_tree is not None:
            variables.setdefault("GIT_WORK_TREE", str(self.work_tree))
        where = self.work_tree or self.git_dir
        return run_git(where, *arguments, stdin=stdin, env=variables, accept=accept, seconds=seconds)

    def known(self, *arguments: str, accept: tuple[int, ...] = (0,)) -> Completed:
        """Runs a git command once in a run: one whose answer rests on objects alone, all named by their full ids."""
        if arguments not in self._known:
            self._known[arguments] = self.run(*arguments, accept=accept)
        return self._known[arguments]

    def knows(self, *arguments: str) -> bool:
        """Tells whether a command has been run in this run, and has answered yes."""
        completed = self._known.get(arguments)
        return completed is not None and completed.status == 0

    def resolve(self, revision: str) -> Oid | None:
        """Returns the commit that a revision names; None where it names none."""
        found = self._objects.info(f"{revision}^{{commit}}")
        return found[0] if found is not None else None

    def id_of(self, name: str) -> Oid | None:
        """Returns the id of the object that a ref or another name stands for, not peeled; None where there is none."""
        found = self._objects.info(name)
        return found[0] if found is not None else None

    def kind_of(self, name: str) -> str | None:
        """Returns the type of an object: commit, tree, blob or tag; None where it is not here."""
        found = self._objects.info(name)
        return found[1] if found is not None else None

    def commit(self, revision: str) -> Oid:
        """Returns the commit that a revision names.

        Raises:
            CouldNotFindOutError: it names none.
        """
        oid = self.resolve(revision)
        if oid is None:
            raise CouldNotFindOutError(
                f"{revision} names no commit in {self.work_tree or self.git_dir}",
                hint="Correct the name, or fetch it first.",
            )
        return oid

    def has_commit(self, oid: str) -> bool:
        """Tells whether a commit of that id is here."""
        return self.resolve(oid) is not None

    def tree_of(self, revision: str) -> Oid:
        """Returns the tree of a commit or tree.

        Raises:
            CouldNotFindOutError: it has none, or is not here.
        """
        found = self._objects.info(f"{revision}^{{tree}}")
        if found is None:
            raise CouldNotFindOutError(f"{revision} has no tree in {self.work_tree or self.git_dir}")
        return found[0]

    def read(self, revision: str, path: str) -> bytes | None:
        """Returns the bytes of a file at a revision; None where there is no file of that path."""
        oid = self.blob_at(revision, path)
        return None if oid is None else self._contents("blob", oid)

    def blob_at(self, revision: str, path: str) -> Oid | None:
        """Returns the id of a file's contents at a revision; None where there is no file of that path."""
        entry = self.entry_at(revision, path)
        return entry.oid if entry is not None and entry.mode not in {GITLINK_MODE, TREE_MODE} else None

    def entries(self, revision: str) -> tuple[TreeEntry, ...]:
        """Lists every entry of a revision's tree, without the trees themselves."""
        listing = self.run("ls-tree", "-r", "-z", "--full-tree", revision).stdout
        entries = []
        for line in listing.decode("utf-8", "surrogateescape").split("\0"):
            if line:
                head, _, path = line.partition("\t")
                mode, _, oid = head.split(" ")
                entries.append(TreeEntry(mode=mode, oid=Oid(oid), path=path))
        return tuple(entries)

    def gitlinks(self, revision: str) -> dict[str, Oid]:
        """Returns the gitlinks of a revision's tree, by path."""
        return dict(self._gitlinks_below(self.tree_of(revision)))

    def gitlink_at(self, revision: str, path: str) -> Oid | None:
        """Returns the gitlink at one path of a revision; None where there is none."""
        entry = self.entry_at(revision, path)
        return entry.oid if entry is not None and entry.mode == GITLINK_MODE else None

    def entry_at(self, revision: str, path: str) -> TreeEntry | None:
        """Returns the entry at one path of a revision; None where there is none."""
        directory, _, name = path.rpartition("/")
        found = next((entry for entry in self.children(revision, directory) if entry.path == name), None)
        return None if found is None else TreeEntry(mode=found.mode, oid=found.oid, path=path)

    def children(self, revision: str, directory: str = "") -> Iterator[TreeEntry]:
        """Lists the entries of a revision's tree, or of one directory in it, each with its name for a path."""
        data = self._contents("tree", f"{revision}^{{tree}}" if not directory else f"{revision}:{directory}")
        for mode, name, oid in _ROWS[len(self.tree_of(revision))].findall(data or b""):
            yield TreeEntry(mode=mode.decode(), oid=Oid(oid.hex()), path=name.decode("utf-8", "surrogateescape"))

    def _contents(self, kind: str, name: str) -> bytes | None:
        """Returns an object's bytes; those that a partial clone lacks are fetched."""
        data = self._objects.contents(name)
        if data is not None or not self._is_partial():
            return data
        completed = self.run("cat-file", kind, name, accept=(0, 128))
        return completed.stdout if completed.status == 0 else None

    def _is_partial(self) -> bool:
        if self._partial is None:
            found = self.run(
                "config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$", accept=(0, 1)
            )
            self._partial = found.status == 0
        return self._partial

    def _gitlinks_below(self, tree: Oid) -> dict[str, Oid]:
        """Walks a tree; what it shares with one that was walked before is not walked again."""
        if tree not in self._gitlinks:
            found: dict[str, Oid] = {}
            data = self._contents("tree", tree)
            if data is None:
                raise CouldNotFindOutError(f"the tree {tree[:7]} is not in {self.work_tree or self.git_dir}")
            for mode, name, oid in _ROWS[len(tree)].findall(data):
                if mode not in _NO_FILES:
                    continue
                path = name.decode("utf-8", "surrogateescape")
                if mode == GITLINK_MODE.encode():
                    found[path] = Oid(oid.hex())
                else:
                    below = self._gitlinks_below(Oid(oid.hex()))
                    found |= {f"{path}/{rest}": pin for rest, pin in below.items()}
            self._gitlinks[tree] = found
        return self._gitlinks[tree]

    def config(self, key: str) -> str | None:
        """Returns the value of a configuration key; None where it is not set."""
        completed = self.run("config", "--get", key, accept=(0, 1))
        return completed.text if completed.status == 0 else None


def _cannot_open(directory: Path, completed: Completed) -> CouldNotFindOutError:
    if "dubious ownership" in completed.stderr:
        return CouldNotFindOutError(
            f"git refuses to read {directory}: it belongs to another user",
            hint=f"If that is right: git config --global --add safe.directory {directory}",
        )
    if "not a git repository" in completed.stderr:
        return CouldNotFindOutError(
            f"{directory} is not inside a git repository",
            hint="Run pinctl in the superproject, or name it with --superproject DIR.",
        )
    return CouldNotFindOutError(f"git cannot open {directory}: {completed.stderr.strip()}")
