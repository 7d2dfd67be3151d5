"""Says what a commit is before it has an id: the values that the embedded history is told in."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who commits."""

    name: str
    email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A name for a commit.

    Attributes:
        message: what an annotated tag says; None makes a lightweight one.
    """

    name: str
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit.

    Attributes:
        name: unique in its repository, and the directory of its files, `stack/REPOSITORY/NAME`.
        date: when it was written and committed, in ISO 8601 with an offset.
        refs: the refs that point to it, until a later commit moves them.
        parent: the name of the commit before it, told earlier; None for a root.
        squashes: the commits whose files it has, instead of a directory of its own.
        shared: files that stand in one place for several, from the path in the tree to the path under `demo/`.
        gitlinks: from the path of a submodule to the component and the name of the commit that it pins.
    """

    name: str
    subject: str
    author: Person
    date: str
    refs: tuple[str, ...]
    body: str = ""
    parent: str | None = None
    squashes: tuple[str, ...] = ()
    tags: tuple[Tag, ...] = ()
    shared: Mapping[str, str] = field(default_factory=dict)
    gitlinks: Mapping[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """One repository: its commits, each after its parent."""

    name: str
    commits: tuple[Commit, ...]
