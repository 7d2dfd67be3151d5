"""Says what a superproject pins, and where each pin is written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class FloorPolicy(StrEnum):
    """How a component's floors follow its pin."""

    KEEP = "keep"
    """Floors stay as they are."""
    RELEASE = "release"
    """The newest release that the pin contains."""
    AT_PIN = "at-pin"
    """The version at pin."""
    REQUIRED_CHANGE = "required-change"
    """The oldest release that contains the changes the plan requires."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitlinkSite:
    """A pin that is a gitlink of the superproject's tree.

    Attributes:
        path: from the top of the superproject, with forward slashes.
    """

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSite:
    """A pin that is an entry of `[tool.uv.sources]`."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementSite:
    """A pin that is an exact requirement, such as `renderers==0.1.6`."""

    name: str


PinSite = GitlinkSite | SourceSite | RequirementSite


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A repository that the superproject pins.

    Attributes:
        name: what people call it; for components found without a pins.toml, the submodule's name.
        site: where the pin is written.
        also: further places where it is written; they must agree.
        url: where it is fetched from; None leaves it to `.gitmodules`.
        branch: the branch that pins must be on; None leaves it to `.gitmodules`, else to the remote's HEAD.
        distribution: the Python distribution it provides, if any.
        tags: the glob of tags that name releases.
        exclude_tags: the glob of tags that do not, although `tags` matches them.
        floor: how floors follow the pin.
        commit: the record of the pin in pins.toml, maybe abbreviated.
        tag: the release that a source pin names.
        waive: reasons by the codes of the rules that do not count for it.
        skip: why its pins are not judged at all; None where they are.
    """

    name: str
    site: PinSite
    also: tuple[PinSite, ...] = ()
    url: str | None = None
    branch: str | None = None
    distribution: str | None = None
    tags: str = "v[0-9]*"
    exclude_tags: str | None = None
    floor: FloorPolicy = FloorPolicy.KEEP
    commit: str | None = None
    tag: str | None = None
    waive: Mapping[str, str] = field(default_factory=dict)
    skip: str | None = None

    @property
    def sites(self) -> tuple[PinSite, ...]:
        """All places where the pin is written."""
        return (self.site, *self.also)

    @property
    def gitlink(self) -> str | None:
        """The path of its gitlink; None where it has none."""
        return next((site.path for site in self.sites if isinstance(site, GitlinkSite)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuperprojectDeclaration:
    """What pins.toml says of the superproject.

    Attributes:
        branch: what changes land on.
        manifests: the pyproject.toml files whose floors count, paths from its top.
        lock: the path of its uv.lock; None where there is none.
        tags: the glob of tags that name its releases.
        exclude_tags: the glob of tags that do not, although `tags` matches them.
    """

    name: str
    url: str | None
    branch: str | None
    manifests: tuple[str, ...]
    lock: str | None
    tags: str = "v[0-9]*"
    exclude_tags: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """A pins.toml, or what stands for one where there is none.

    Attributes:
        path: the file; None where the gitlinks and `.gitmodules` stand for it.
    """

    path: Path | None
    superproject: SuperprojectDeclaration
    components: Mapping[str, Component]

    @property
    def directory(self) -> Path | None:
        """The directory that holds pins.toml and landing_plans/."""
        return None if self.path is None else self.path.parent

    def at_gitlink(self, path: str) -> Component | None:
        """Returns the component whose pin is the gitlink at `path`."""
        for component in self.components.values():
            if component.gitlink == path:
                return component
        return None
