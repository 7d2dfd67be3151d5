"""Reads refs here and on remotes, and moves them one at a time, only from where they were expected to be."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import Oid
from pinctl.tools.git.network import SECONDS, TIMED_OUT, patience
from pinctl.tools.git.repository import Repository


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteRefs:
    """What a remote has.

    Attributes:
        head: the branch that its HEAD names, if it says so.
        refs: ids by full ref name.
    """

    head: str | None
    refs: dict[str, Oid]


class RefMovedError(Exception):
    """A ref was not where it was expected to be: somebody else moved it."""


def ask_remote(repository: Repository, remote: str, *patterns: str) -> RemoteRefs:
    """Lists refs of a remote, a name or a URL, in one connection.

    Raises:
        CouldNotFindOutError: the remote does not answer.
    """
    completed = repository.run(
        "ls-remote", "--symref", "--", remote, "HEAD", *patterns,
        accept=(0, 128, TIMED_OUT), env=patience(repository), seconds=SECONDS,
    )  # fmt: skip
    if completed.status != 0:
        raise CouldNotFindOutError(
            f"the remote {shown_url(remote)} does not answer: {_first_line(completed.stderr)}",
            hint="Look at the network and your access to it, then run this again.",
        )
    head, refs = None, {}
    for line in completed.text.split("\n"):
        value, _, name = line.partition("\t")
        if name != "HEAD" and (value.startswith("ref: ") or not _is_asked_for(name, patterns)):
            # "HEAD" matches refs/remotes/origin/HEAD of a clone as well.
            continue
        if value.startswith("ref: "):
            head = value.removeprefix("ref: ").removeprefix("refs/heads/")
        elif not name.endswith("^{}"):
            refs[name] = Oid(value)
    return RemoteRefs(head=head, refs=refs)


def _is_asked_for(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def fetch_objects(repository: Repository, remote: str, wanted: Iterable[str]) -> None:
    """Fetches what some refs or ids of a remote name, and moves no ref here.

    Raises:
        CouldNotFindOutError: the remote does not give them.
    """
    names = tuple(wanted)
    if not names:
        return
    completed = repository.run(
        "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap=", "--",
        remote, *names, accept=(0, 1, 128, TIMED_OUT), env=patience(repository), seconds=SECONDS,
    )  # fmt: skip
    if completed.status != 0:
        raise CouldNotFindOutError(
            f"{shown_url(remote)} does not give {', '.join(names)}: {_first_line(completed.stderr)}"
        )


def deepened(repository: Repository, remote: str) -> Repository:
    """Fetches what a shallow clone lacks of its history, moves no ref, and returns the repository as it is then.

    Raises:
        CouldNotFindOutError: the remote does not give it.
    """
    repository.run(
        "fetch", "--quiet", "--unshallow", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
        "--refmap=", "--", remote, "HEAD", env=patience(repository), seconds=SECONDS,
    )  # fmt: skip
    return Repository.open(repository.work_tree or repository.git_dir)


def local_ref(repository: Repository, name: str) -> Oid | None:
    """Returns the id a ref has here; None where there is no such ref."""
    return repository.id_of(name)


def checked_out_branches(repository: Repository) -> frozenset[str]:
    """Returns the full names of the branches that some worktree has checked out."""
    listing = repository.run("worktree", "list", "--porcelain").text
    return frozenset(
        line.removeprefix("branch ") for line in listing.splitlines() if line.startswith("branch refs/heads/")
    )


def move_ref(repository: Repository, name: str, *, to: Oid, expected: Oid | None, reason: str) -> None:
    """Moves one ref from where it is expected to be.

    Args:
        repository: whose ref it is.
        name: the full name.
        to: the new id.
        expected: the id it must have now; None where it must not exist.
        reason: for the reflog.

    Raises:
        RefMovedError: it is somewhere else by now; nothing was changed.
    """
    old = expected or "0" * len(to)
    completed = repository.run("update-ref", "-m", reason, name, to, old, accept=(0, 1, 128))
    if completed.status != 0:
        raise _cannot_move(name, completed.stderr)


def delete_ref(repository: Repository, name: str, *, expected: Oid) -> None:
    """Deletes one ref, only where it is what it is expected to be.

    Raises:
        RefMovedError: it is not.
    """
    completed = repository.run("update-ref", "-d", name, expected, accept=(0, 1, 128))
    if completed.status != 0:
        raise _cannot_move(name, completed.stderr)


def push(repository: Repository, remote: str, *, name: str, commit: Oid, expected: Oid | None) -> None:
    """Pushes one ref atomically, under the lease that the remote still has what was expected.

    Raises:
        RefMovedError: the remote's ref is somewhere else by now, or the remote refused; nothing was changed there.
    """
    completed = repository.run(
        "push", "--quiet", "--atomic", "--no-follow-tags", "--no-recurse-submodules",
        f"--force-with-lease={name}:{expected or ''}", "--", remote, f"{commit}:{name}",
        accept=(0, 1, 128, TIMED_OUT), env=patience(repository), seconds=SECONDS,
    )  # fmt: skip
    if completed.status != 0:
        raise RefMovedError(completed.stderr.strip())


def shown_url(url: str) -> str:
    """Returns a remote's name or URL as it may be printed: without a user's name or password."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def _cannot_move(name: str, words: str) -> Exception:
    """Tells a ref that is somewhere else from one that git cannot move, for instance since it is locked."""
    reason = _first_line(words)
    if "but expected" in reason or "reference already exists" in reason or "unable to resolve reference" in reason:
        return RefMovedError(reason)
    return CouldNotFindOutError(f"git cannot move {name}: {reason}; nothing was changed")


def _first_line(text: str) -> str:
    """Returns the line in which git says what is wrong."""
    lines = text.strip().splitlines()
    said = [line for line in lines if line.startswith(("fatal: ", "error: "))]
    return (said or lines or ["no reason given"])[0].removeprefix("fatal: ").removeprefix("error: ")
