"""Asks each remote once in a run, whichever stack of the run wants to know."""

from collections.abc import Iterable
from concurrent.futures import Future
from functools import partial

from packaging.version import Version

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import Oid
from pinctl.tools.at_once import begin
from pinctl.tools.git.mirror import Mirror
from pinctl.tools.git.network import patience
from pinctl.tools.git.refs import RemoteRefs, ask_remote
from pinctl.tools.git.repository import Repository
from pinctl.tools.git.settings import access_environment
from pinctl.tools.python.versions import version_at

REMOTE = "origin"


class Remotes:
    """What the remotes of a superproject and of its components have said.

    Args:
        repository: the superproject's.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._mirrors: dict[tuple[str, tuple[int, ...]], Mirror] = {}
        self._unreachable: dict[str, CouldNotFindOutError] = {}
        self._versions: dict[Oid, Future[Version | None]] = {}
        self._own: dict[tuple[int, ...], RemoteRefs] = {}
        self._access: dict[str, str] | None = None

    def access(self) -> dict[str, str]:
        """Returns the variables that git needs to reach remotes as it does from the superproject."""
        if self._access is None:
            self._access = {**access_environment(self._repository), **patience(self._repository)}
        return self._access

    def mirror(self, url: str, pulls: Iterable[int]) -> Mirror:
        """Returns the history behind a URL, with the pull requests that are wanted.

        Raises:
            CouldNotFindOutError: the remote does not answer. Whoever asks next need not wait for it once more.
        """
        key = (url, tuple(pulls))
        if url in self._unreachable:
            raise self._unreachable[url]
        if key not in self._mirrors:
            try:
                self._mirrors[key] = Mirror.of(url, pulls=key[1], access=self.access())
            except CouldNotFindOutError as error:
                self._unreachable[url] = error
                raise
        return self._mirrors[key]

    def version(self, repository: Repository, commit: Oid) -> "Future[Version | None]":
        """Begins to find out the version of a component at a commit that is there, if nobody has before."""
        if commit not in self._versions:
            self._versions[commit] = begin(partial(version_at, repository, commit))
        return self._versions[commit]

    def own(self, pulls: Iterable[int]) -> RemoteRefs:
        """Returns the refs of the superproject's own remote, with the pull requests that are wanted.

        Raises:
            CouldNotFindOutError: it does not answer.
        """
        numbers = tuple(pulls)
        if numbers not in self._own:
            patterns = ("refs/heads/*", *(f"refs/pull/{number}/head" for number in numbers))
            self._own[numbers] = ask_remote(self._repository, REMOTE, *patterns)
        return self._own[numbers]
