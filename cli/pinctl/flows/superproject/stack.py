"""Answers for the superproject and its components during one run, asking each remote once."""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from functools import partial

from packaging.version import Version

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.superproject.remotes import REMOTE, Remotes
from pinctl.flows.superproject.standing import find_standing
from pinctl.model.landing import Staged
from pinctl.model.oid import Oid
from pinctl.model.pins import Component, Pins
from pinctl.model.releases import Release
from pinctl.model.standing import Standing, StandingKind
from pinctl.tools.at_once import at_once
from pinctl.tools.git.history import contains, difference, releases_in
from pinctl.tools.git.mirror import Mirror
from pinctl.tools.git.refs import RemoteRefs, fetch_objects, local_ref
from pinctl.tools.git.repository import Repository
from pinctl.tools.git.submodules import read_submodules, resolve_url, resolve_urls


class Stack:
    """The superproject with its components, as opened for one run.

    Attributes:
        pins: what is pinned and where.
        repository: the superproject's.
        pulls: the pull requests whose heads matter, by component.
        revision: the commit of the superproject whose .gitmodules says where components are fetched from.
        remotes: what remotes have said in this run.
    """

    def __init__(
        self,
        *,
        pins: Pins,
        repository: Repository,
        pulls: Mapping[str, tuple[int, ...]] | None = None,
        revision: str = "HEAD",
        remotes: Remotes | None = None,
    ) -> None:
        self.pins = pins
        self.repository = repository
        self.pulls = dict(pulls or {})
        self.revision = revision
        self.remotes = remotes or Remotes(repository)
        self._mirrors: dict[str, Mirror] = {}
        self._urls: dict[str, str] = {}

    def with_pulls(self, pulls: Mapping[str, tuple[int, ...]]) -> "Stack":
        """Returns the same stack, with the pull requests of a plan."""
        return Stack(
            pins=self.pins, repository=self.repository, pulls=pulls, revision=self.revision, remotes=self.remotes
        )

    @property
    def name(self) -> str:
        """The superproject's name."""
        return self.pins.superproject.name

    @property
    def has_remote(self) -> bool:
        """Whether the superproject has an origin to ask."""
        return self.repository.config(f"remote.{REMOTE}.url") is not None

    def gitlink_components(self) -> tuple[tuple[Component, str], ...]:
        """Returns the components that are pinned by a gitlink, each with its path."""
        return tuple(
            (component, component.gitlink)
            for component in self.pins.components.values()
            if component.gitlink is not None
        )

    def mirror(self, component: Component) -> Mirror:
        """Returns a component's history, asking its remote once in a run.

        Raises:
            CouldNotFindOutError: nothing says where it is fetched from, or the remote does not answer.
        """
        if component.name not in self._mirrors:
            pulls = self.pulls.get(component.name, ())
            self._mirrors[component.name] = self.remotes.mirror(self._url(component), pulls)
        return self._mirrors[component.name]

    def ask(self, components: Iterable[Component], *, own: bool = False) -> None:
        """Asks remotes at the same time, so that what follows need not wait for one after the other.

        What one of them does not answer is said when it is needed.

        Args:
            components: those whose remotes are asked.
            own: whether the superproject's remote is asked as well.
        """
        questions: list[Callable[[], object]] = [self._remote_refs] if own and self.has_remote else []
        for component in components:
            with contextlib.suppress(CouldNotFindOutError):
                # Found out here: the threads share what is known of URLs.
                self._url(component)
                questions.append(partial(self.mirror, component))
        if len(questions) > 1:
            self.remotes.access()
            at_once(partial(_ignoring_no_answer, question) for question in questions)

    def branch(self, component: Component) -> str:
        """Returns the name of the branch that a component's pins must be on.

        Raises:
            CouldNotFindOutError: nothing declares one, and the remote's HEAD names none.
        """
        if component.branch is not None:
            return self.target if component.branch == "." else component.branch
        head = self.mirror(component).head
        if head is None:
            raise CouldNotFindOutError(
                f"the remote of {component.name} does not say which its default branch is",
                hint=f"Give [components.{component.name}] a branch in pins.toml.",
            )
        return head

    def tip(self, component: Component) -> Oid:
        """Returns the tip of a component's branch."""
        return self.mirror(component).tip(self.branch(component))

    def standing(self, component: Component, commit: Oid, *, pull: int | None = None) -> Standing:
        """Finds out how a commit of a component stands to its branch.

        Raises:
            CouldNotFindOutError: also where no remote has the commit.
        """
        mirror = self.mirror(component)
        self.obtain(component, commit)
        branch, tip = self.branch(component), self.tip(component)
        standing = find_standing(mirror.repository, commit, branch=branch, tip=tip, pull=pull)
        if standing.kind in {StandingKind.AHEAD, StandingKind.DIVERGED} and pull is None:
            # The forge may know the commit as the head of a pull request, and have put its number on the squash.
            number = mirror.pull_of(commit)
            if number is not None:
                return find_standing(mirror.repository, commit, branch=branch, tip=tip, pull=number)
        return standing

    def obtain(self, component: Component, revision: str) -> Oid:
        """Returns a commit of a component, fetched if need be.

        Raises:
            CouldNotFindOutError: no remote has it.
        """
        mirror = self.mirror(component)
        if len(revision) in {40, 64} and len(revision) != len(self.tip(component)):
            raise CouldNotFindOutError(
                f"{component.name}: {revision[:12]} and its remote's ids are of different lengths: "
                "one of the repositories is SHA-1, the other SHA-256"
            )
        commit = mirror.obtain(revision)
        if commit is None:
            raise CouldNotFindOutError(
                f"{component.name}: {revision[:12]} cannot be fetched: its remote has no such commit",
                hint="Push it, or pin a commit that is there.",
            )
        return commit

    def releases(self, component: Component, commit: Oid | None = None) -> tuple[Release, ...]:
        """Lists the releases that a commit of a component contains, or all of them."""
        return releases_in(
            self.mirror(component).repository, commit, pattern=component.tags, exclude=component.exclude_tags
        )

    def foresee_version(self, component: Component, commit: Oid) -> None:
        """Begins to find out a version that is asked for later: a build backend takes its time.

        What keeps it from being found out is said by `version`.
        """
        with contextlib.suppress(CouldNotFindOutError):
            self._version(component, commit)

    def version(self, component: Component, commit: Oid) -> Version | None:
        """Returns the version that a component has at a commit; None where it is no Python project.

        Raises:
            CouldNotFindOutError: the commit cannot be fetched, or no version comes of it.
        """
        return self._version(component, commit).result()

    @property
    def target(self) -> str:
        """The branch of the superproject that changes land on.

        Raises:
            CouldNotFindOutError: nothing declares one, and neither the remote's HEAD nor the checkout's names one.
        """
        declared = self.pins.superproject.branch
        if declared is not None:
            return declared
        head = self._remote_refs().head if self.has_remote else None
        if head is None:
            head = self.repository.run("symbolic-ref", "--short", "--quiet", "HEAD", accept=(0, 1)).text
        if not head:
            raise CouldNotFindOutError(
                "nothing says which branch of the superproject changes land on",
                hint="Give [superproject] a branch in pins.toml.",
            )
        return head

    def target_tip(self, target: str) -> Oid:
        """Returns the tip of the branch that something is to land on.

        Raises:
            CouldNotFindOutError: there is no such branch, or `branch_tip` could not find out.
        """
        tip = self.branch_tip(target)
        if tip is None:
            raise CouldNotFindOutError(
                f"{self.name} has no branch {target}",
                hint="Name one with --onto BRANCH, or correct that of [superproject] in pins.toml.",
            )
        return tip

    def branch_tip(self, branch: str) -> Oid | None:
        """Returns the tip of a branch of the superproject: the remote's or the local one, whichever contains the other.

        Raises:
            CouldNotFindOutError: the two have gone apart, or the remote does not answer.
        """
        name = f"refs/heads/{branch}"
        here = local_ref(self.repository, name)
        there = self._remote_refs().refs.get(name) if self.has_remote else None
        if there is None or here == there:
            return here
        self.fetch(name, there)
        if here is None or contains(self.repository, commit=there, ancestor=here):
            return there
        if contains(self.repository, commit=here, ancestor=there):
            return here
        raise CouldNotFindOutError(
            f"{branch} here ({here.short}) and on {REMOTE} ({there.short}) have gone apart",
            hint=f"Bring them together first: git pull --rebase {REMOTE} {branch}",
        )

    def pull_head(self, number: int) -> Oid | None:
        """Returns the head of one of the superproject's own pull requests; None where the remote does not keep it."""
        name = f"refs/pull/{number}/head"
        head = self._remote_refs().refs.get(name) if self.has_remote else None
        if head is not None:
            self.fetch(name, head)
        return head

    def remote_ref(self, name: str) -> Oid | None:
        """Returns the id that a ref of the superproject has on its remote; None where it has no such ref."""
        return self._remote_refs().refs.get(name) if self.has_remote else None

    def difference(self, staged: Staged) -> str:
        """Returns what a staged commit changes, as a patch."""
        return difference(self.repository, before=staged.bump.tip, after=staged.tree)

    def _version(self, component: Component, commit: Oid) -> "Future[Version | None]":
        return self.remotes.version(self.mirror(component).repository, self.obtain(component, commit))

    def _url(self, component: Component) -> str:
        path = component.gitlink
        if path is not None and path not in self._urls:
            submodules = read_submodules(self.repository, self.revision)
            try:
                self._urls.update(resolve_urls(self.repository, submodules))
            except CouldNotFindOutError:
                # One is relative to an origin that is not there, which must not stop the others.
                own = tuple(submodule for submodule in submodules if submodule.path == path)
                self._urls.update(resolve_urls(self.repository, own))
        if path is not None and path in self._urls:
            return self._urls[path]
        if component.url is not None:
            return resolve_url(self.repository, component.url)
        raise CouldNotFindOutError(
            f"nothing says where {component.name} is fetched from"
            + (f": .gitmodules has no url for {path}" if path else ""),
            hint=f"Give [components.{component.name}] a url in pins.toml, or its section in .gitmodules one.",
        )

    def _remote_refs(self) -> RemoteRefs:
        return self.remotes.own(self.pulls.get(self.name, ()))

    def fetch(self, name: str, commit: Oid) -> None:
        """Fetches the commit that a ref of the remote names, if it is not here; moves no ref."""
        if not self.repository.has_commit(commit):
            fetch_objects(self.repository, REMOTE, [name])


def _ignoring_no_answer(question: Callable[[], object]) -> None:
    with contextlib.suppress(CouldNotFindOutError):
        question()
