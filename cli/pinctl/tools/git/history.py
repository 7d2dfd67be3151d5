"""Asks a repository how commits stand to each other."""

import hashlib
import re
from dataclasses import dataclass

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import Oid
from pinctl.model.releases import Release, version_of_tag
from pinctl.tools.git.objects import GITLINK_MODE
from pinctl.tools.git.repository import Repository

_PERSON = re.compile(r"\s*(?P<name>[^<>]*[^<>\s])\s*<(?P<email>[^<>\s]+)>\s*")
_NUMBERS = re.compile(r"(\(#\d+\)\s*)+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One commit of a history."""

    commit: Oid
    tree: Oid
    subject: str
    body: str

    @property
    def message(self) -> str:
        """Subject and body, as the commit has them."""
        return f"{self.subject}\n\n{self.body}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who wrote a commit, and when, in git's own raw form."""

    name: str
    email: str
    date: str


def contains(repository: Repository, *, commit: Oid, ancestor: Oid) -> bool:
    """Tells whether `ancestor` is `commit` itself or one of its ancestors.

    Raises:
        CouldNotFindOutError: the history is cut off, so that a "no" would prove nothing.
    """
    if commit == ancestor:
        return True
    found = repository.known("merge-base", "--is-ancestor", ancestor, commit, accept=(0, 1)).status == 0
    if not found and repository.shallow:
        raise _too_shallow(repository, f"whether {ancestor[:7]} is an ancestor of {commit[:7]}")
    return found


def ahead_behind(repository: Repository, *, commit: Oid, tip: Oid) -> tuple[int, int]:
    """Counts the commits that only `commit` has, and those that only `tip` has."""
    ahead, behind = repository.known("rev-list", "--left-right", "--count", f"{commit}...{tip}").text.split()
    return int(ahead), int(behind)


def merge_base(repository: Repository, one: Oid, other: Oid) -> Oid | None:
    """Returns the best common ancestor; None for unrelated histories.

    Raises:
        CouldNotFindOutError: none was found, and the history is cut off.
    """
    if one == other:
        return one
    for commit, ancestor in ((one, other), (other, one)):
        if repository.knows("merge-base", "--is-ancestor", ancestor, commit):
            return ancestor
    completed = repository.known("merge-base", one, other, accept=(0, 1))
    if completed.status != 0 and repository.shallow:
        raise _too_shallow(repository, f"where {one[:7]} and {other[:7]} have gone apart")
    return Oid(completed.text) if completed.status == 0 else None


def _too_shallow(repository: Repository, question: str) -> CouldNotFindOutError:
    return CouldNotFindOutError(
        f"{repository.work_tree or repository.git_dir} is a shallow clone: it cannot tell {question}",
        hint="Fetch the whole history: git fetch --unshallow (in CI: fetch-depth: 0), or let check --deepen do it.",
    )


def log(repository: Repository, *revisions: str, first_parent: bool = True) -> tuple[LogEntry, ...]:
    """Lists commits, newest first; revisions are full ids, or ranges of them."""
    options = ("--first-parent",) if first_parent else ()
    output = repository.known("log", "-z", "--format=%H%n%T%n%s%n%b", *options, *revisions, "--").stdout
    entries = []
    for record in output.decode("utf-8", "replace").split("\0"):
        if record:
            commit, tree, subject, body = record.split("\n", 3)
            entries.append(LogEntry(commit=Oid(commit), tree=Oid(tree), subject=subject, body=body))
    return tuple(entries)


def commit_naming_pull(repository: Repository, *, tip: Oid, pull: int) -> Oid | None:
    """Returns the newest first-parent commit that a forge names after a pull request.

    Args:
        repository: has the history.
        tip: the tip of the branch to look on.
        pull: the pull request's number.
    """
    greps = ("--grep", f"(#{pull})", "--grep", f"Merge pull request #{pull} ")
    for entry in log(repository, "--fixed-strings", *greps, tip):
        if names_pull(entry, pull):
            return entry.commit
    return None


def names_pull(entry: LogEntry, pull: int) -> bool:
    """Tells whether a commit's subject is that of a forge's merge or squash of a pull request."""
    # A landing's own pull request adds its number behind that of the change: "Pack the payloads (#3900) (#3950)".
    numbers = _NUMBERS.search(entry.subject)
    at_end = numbers is not None and f"(#{pull})" in numbers[0]
    return at_end or entry.subject.startswith(f"Merge pull request #{pull} ")


def commit_with_trailer(repository: Repository, *, tip: Oid, beginning: str, whole: bool = False) -> Oid | None:
    """Returns the newest commit of a history, merged branches included, that has a trailer of this beginning.

    Args:
        repository: where the history is.
        tip: its newest commit.
        beginning: of the trailer.
        whole: whether that is all of the trailer.
    """
    for entry in log(repository, "--fixed-strings", "--grep", beginning, tip, first_parent=False):
        if any(line == beginning or (line.startswith(beginning) and not whole) for line in entry.body.splitlines()):
            return entry.commit
    return None


def brought_by(repository: Repository, *, commit: Oid, tip: Oid) -> Oid:
    """Returns the first-parent commit of `tip` that brought `commit` onto the branch: itself, or its merge."""
    trunk = repository.known("rev-list", "--first-parent", tip).text.split()
    if commit in trunk:
        return commit
    above = set(repository.known("rev-list", "--ancestry-path", f"{commit}..{tip}").text.split())
    chain = [line for line in trunk if line in above]
    return Oid(chain[-1]) if chain else commit


def descendants(repository: Repository, *, ancestor: Oid, tip: Oid) -> frozenset[Oid]:
    """Returns the commits of a tip's history that contain one of it, which is among them."""
    output = repository.run("rev-list", "--ancestry-path", f"{ancestor}..{tip}").text
    return frozenset((ancestor, *(Oid(line) for line in output.split())))


def people(repository: Repository, *, since: Oid, until: Oid) -> tuple[Person, ...]:
    """Returns who wrote the commits in a range, oldest first, each once: authors, and those that trailers name."""
    trailers = "%(trailers:key=Co-authored-by,valueonly,unfold,separator=%x01)"
    output = repository.run(
        "log", "--reverse", "-z", "--no-merges", f"--format=%an%n%ae%n%ad%n{trailers}", "--date=raw",
        f"{since}..{until}",
    ).stdout  # fmt: skip
    found: dict[str, Person] = {}
    for record in output.decode("utf-8", "replace").split("\0"):
        if record:
            name, email, date, others = record.split("\n", 3)
            found.setdefault(email.lower(), Person(name=name, email=email, date=date))
            for match in map(_PERSON.fullmatch, others.split("\x01")):
                if match is not None:
                    found.setdefault(
                        match["email"].lower(), Person(name=match["name"], email=match["email"], date=date)
                    )
    return tuple(found.values())


def changed_paths(repository: Repository, *, before: str, after: str) -> tuple[str, ...]:
    """Lists the paths that differ between two commits or trees, gitlinks among them whatever `ignore` says."""
    output = repository.run(
        "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none", before, after
    ).stdout
    return tuple(path for path in output.decode("utf-8", "surrogateescape").split("\0") if path)


def changes_along(repository: Repository, *revisions: str) -> tuple[tuple[Oid, frozenset[str], bool], ...]:
    """Lists first-parent commits, newest first, each with what it changed against its first parent.

    Two processes answer for any number of commits. Commits without a parent are left out.

    Returns:
        For each commit: its id, the paths that it changed, and whether a gitlink is among them.
    """
    listed = repository.run("rev-list", "--first-parent", "--parents", *revisions, "--").text.splitlines()
    pairs = [line.split()[:2] for line in listed]
    feed = "".join(f"{' '.join(pair)}\n" for pair in pairs if len(pair) == 2)
    output = repository.run(
        "diff-tree", "--stdin", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none",
        stdin=feed.encode(),
    ).stdout  # fmt: skip
    found: dict[Oid, tuple[set[str], set[str]]] = {Oid(pair[0]): (set(), set()) for pair in pairs if len(pair) == 2}
    tokens = iter(output.decode("utf-8", "surrogateescape").split("\0"))
    paths: set[str] = set()
    modes: set[str] = set()
    for token in tokens:
        if token.startswith(":"):
            paths.add(next(tokens))
            modes.update(token[1:].split(" ", 2)[:2])
        elif token:
            paths, modes = found[Oid(token)]
    return tuple((commit, frozenset(paths), GITLINK_MODE in modes) for commit, (paths, modes) in found.items())


def difference(repository: Repository, *, before: str, after: str) -> str:
    """Returns the difference between two commits or trees as a patch, gitlinks among it whatever `ignore` says."""
    return repository.run(
        "diff-tree", "-r", "-p", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none",
        before, after,
    ).stdout.decode("utf-8", "replace")  # fmt: skip


def paths_by_commit(repository: Repository, revisions: str) -> dict[Oid, frozenset[str]]:
    """Lists what each first-parent commit of a range changed against its first parent, in one process."""
    output = repository.run(
        "log", "--first-parent", "-m", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none",
        "--format=%x01%H", revisions, "--",
    ).stdout  # fmt: skip
    found: dict[Oid, frozenset[str]] = {}
    for record in output.decode("utf-8", "surrogateescape").split("\x01")[1:]:
        commit, *rest = (word.strip("\n") for word in record.split("\0"))
        # The raw records alternate: the modes, ids and status; then the path.
        found[Oid(commit)] = frozenset(rest[1::2])
    return found


def combined_patch_id(repository: Repository, *, before: str, after: str) -> str | None:
    """Returns what names the whole difference between two commits, wherever in their files it is; None for none.

    It is what `git patch-id --verbatim` hashes, which git 2.38 does not have yet: white space counts, for in Python it
    is the code. The ids of contents count where git does not show them, so that two changes of a binary file differ.
    """
    patch = repository.run(
        "diff-tree", "-r", "-p", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color", before, after
    ).stdout
    if not patch:
        return None
    kept: list[bytes] = []
    for line in patch.split(b"\n"):
        if line.startswith(b"--- ") and kept[-1].startswith(b"index "):
            # What changes is shown below; the ids are of the rest of the file as well.
            kept.pop()
        # Where in the file it is does not count.
        kept.append(b"@@" if line.startswith(b"@@ ") else line)
    return hashlib.sha256(b"\n".join(kept)).hexdigest()


def releases_in(
    repository: Repository, commit: str | None, *, pattern: str, exclude: str | None
) -> tuple[Release, ...]:
    """Lists the releases that a commit contains, or all of them.

    Args:
        repository: the component's.
        commit: the commit; None for all releases there are.
        pattern: the glob of tags that name releases.
        exclude: the glob of tags that do not.
    """
    merged = () if commit is None else (f"--merged={commit}",)
    output = repository.run("for-each-ref", *merged, "--format=%(refname:strip=2)", "refs/tags").text
    found = []
    for tag in output.split("\n"):
        version = version_of_tag(tag, pattern=pattern, exclude=exclude)
        # Peeled all the way: a tag may name a tag. One that names a tree or a file is no release.
        commit = repository.resolve(f"refs/tags/{tag}") if version is not None else None
        if version is not None and commit is not None:
            found.append(Release(tag=tag, version=version, commit=commit))
    return tuple(found)
