"""Keeps a bare copy of each component's history in the user's cache, shared between runs and superprojects."""

import hashlib
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from filelock import FileLock

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import ABBREVIATED, FULL, Oid
from pinctl.tools.git.command import run_git
from pinctl.tools.git.network import SECONDS, TIMED_OUT, patience
from pinctl.tools.git.refs import RemoteRefs, ask_remote, shown_url
from pinctl.tools.git.repository import Repository
from pinctl.tools.places import cache_directory, scratch

SHA256_LENGTH = 64


class Mirror:
    """A component's history: branches, tags and the pull requests that were asked for, without file contents.

    File contents come when they are first read (a partial clone). Its refs are those of the remote when it was last
    asked, which is once in a run.

    Attributes:
        url: where it is fetched from.
        repository: the bare repository in the cache.
        head: the branch that the remote's HEAD names.
    """

    def __init__(self, *, url: str, repository: Repository, remote: RemoteRefs) -> None:
        self.url = url
        self.repository = repository
        self.head = remote.head
        self._remote = remote
        self._pulls: dict[Oid, int] | None = None

    @classmethod
    def of(cls, url: str, *, pulls: tuple[int, ...] = (), access: Mapping[str, str] | None = None) -> "Mirror":
        """Makes or refreshes the mirror of a URL.

        Args:
            url: as git understands it.
            pulls: the pull requests whose heads are wanted too.
            access: variables that git needs to reach the remote.

        Raises:
            CouldNotFindOutError: the remote does not answer, or gives no history.
        """
        directory = _directory_of(url)
        directory.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(directory.parent / f"{directory.name}.lock"):
            _refuse_shallow(url)
            if not _is_whole(directory):
                _create(directory, url, object_format="sha1")
            repository = Repository.open(directory, access=access)
            patterns = ("refs/heads/*", "refs/tags/*", *(f"refs/pull/{number}/head" for number in pulls))
            remote = ask_remote(repository, url, *patterns)
            if any(len(oid) == SHA256_LENGTH for oid in remote.refs.values()) and not _is_sha256(repository):
                shutil.rmtree(directory)
                _create(directory, url, object_format="sha256")
                repository = Repository.open(directory, access=access)
            if _fetch(repository, remote):
                # Once more: a fetch from a shallow remote makes the mirror shallow.
                repository = Repository.open(directory, access=access)
        return cls(url=url, repository=repository, remote=remote)

    def tip(self, branch: str) -> Oid:
        """Returns the tip of a branch, or the commit of a tag, for components that follow one.

        Raises:
            CouldNotFindOutError: the remote has neither.
        """
        oid = self._remote.refs.get(f"refs/heads/{branch}")
        if oid is None and f"refs/tags/{branch}" in self._remote.refs:
            oid = self.repository.resolve(f"refs/tags/{branch}")
        if oid is None and ABBREVIATED.fullmatch(branch):
            raise CouldNotFindOutError(
                f"{branch} is a commit's id, not a branch of {shown_url(self.url)}",
                hint="A pin must be on something that moves: name a branch.",
            )
        if oid is None:
            raise CouldNotFindOutError(
                f"{shown_url(self.url)} has no branch {branch}", hint="Correct the component's branch in pins.toml."
            )
        return oid

    def branch_tip(self, branch: str) -> Oid | None:
        """Returns the tip of a branch; None where the remote has none of that name."""
        return self._remote.refs.get(f"refs/heads/{branch}")

    def pull_head(self, number: int) -> Oid | None:
        """Returns the head of a pull request; None where the remote does not keep it."""
        return self._remote.refs.get(f"refs/pull/{number}/head")

    def kind_of(self, oid: Oid) -> str | None:
        """Returns the type of an object, fetched if need be; None where neither the mirror nor the remote has it."""
        self.obtain(oid)
        return self.repository.kind_of(oid)

    def pull_of(self, commit: Oid) -> int | None:
        """Returns the number of the pull request whose head a commit is; None where the remote keeps none."""
        if self._pulls is None:
            refs = ask_remote(self.repository, self.url, "refs/pull/*/head").refs
            self._pulls = {oid: int(name.split("/")[2]) for name, oid in refs.items() if name.startswith("refs/pull/")}
        return self._pulls.get(commit)

    def obtain(self, revision: str) -> Oid | None:
        """Returns the commit of an id, maybe abbreviated, or of a tag or branch, fetching a full id that is not here.

        Returns:
            The commit; None where neither the mirror nor the remote has it.
        """
        found = self.repository.resolve(revision)
        if found is not None or not FULL.fullmatch(revision):
            return found
        fetched = self.repository.run(
            "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--filter=blob:none", "--", "origin", revision,
            accept=(0, 1, 128, TIMED_OUT), env=patience(self.repository), seconds=SECONDS,
        )  # fmt: skip
        if fetched.status != 0:
            # It refused the commit, or it does not answer any more: which of them, it says when it is asked once more.
            ask_remote(self.repository, self.url)
        return self.repository.resolve(revision)


def _directory_of(url: str) -> Path:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", url.rstrip("/").rpartition("/")[2]) or "repository"
    return cache_directory() / "mirrors" / f"{name}-{hashlib.sha256(url.encode()).hexdigest()[:16]}"


def _is_whole(directory: Path) -> bool:
    return (directory / "HEAD").exists() and run_git(
        directory, "config", "remote.origin.url", accept=(0, 1)
    ).status == 0


def _create(directory: Path, url: str, *, object_format: str) -> None:
    # Out of sight until it is whole: a mirror without a remote could never be fetched.
    with scratch() as top:
        made = top / "mirror.git"
        run_git(top, "init", "--quiet", "--bare", f"--object-format={object_format}", str(made))
        for key, value in (
            ("remote.origin.url", url),
            ("remote.origin.promisor", "true"),
            ("remote.origin.partialclonefilter", "blob:none"),
        ):
            run_git(made, "config", key, value)
        shutil.rmtree(directory, ignore_errors=True)
        shutil.move(made, directory)


def _refuse_shallow(url: str) -> None:
    # git 2.39 asks a shallow remote for the commit behind its last one in a fetch of its own, which does the same.
    place = Path(url.removeprefix("file://"))
    if any((place / name).exists() for name in ("shallow", ".git/shallow")):
        raise CouldNotFindOutError(
            f"the remote {shown_url(url)} is a shallow clone: its history is cut off",
            hint="Fetch the whole history there: git fetch --unshallow",
        )


def _is_sha256(repository: Repository) -> bool:
    return repository.config("extensions.objectformat") == "sha256"


def _fetch(repository: Repository, remote: RemoteRefs) -> bool:
    """Brings the mirror's refs to what the remote said; costs nothing, and returns False, where they already are."""
    listing = repository.run("for-each-ref", "--format=%(refname) %(objectname)").text
    here = dict(line.rsplit(" ", 1) for line in listing.split("\n") if line)
    wanted = {name: oid for name, oid in remote.refs.items() if name != "HEAD"}
    stale = [name for name in here if name not in wanted and not name.startswith("refs/pull/")]
    if stale:
        feed = "".join(f"delete {name}\0\0" for name in stale).encode("utf-8", "surrogateescape")
        repository.run("update-ref", "-z", "--stdin", stdin=feed)
    changed = [name for name, oid in wanted.items() if here.get(name) != oid]
    if not changed:
        return False
    refspecs = "".join(f"+{name}:{name}\n" for name in changed).encode("utf-8", "surrogateescape")
    repository.run(
        "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--filter=blob:none", "--refmap=", "--stdin",
        "origin", stdin=refspecs, env=patience(repository), seconds=SECONDS,
    )  # fmt: skip
    # Every fetch leaves a pack behind; git puts them together when there are many.
    repository.run("-c", "gc.auto=6700", "-c", "gc.autoDetach=false", "gc", "--auto", "--quiet")
    return True
