"""Names what stands on the two axes of the matrix."""

import re
from dataclasses import dataclass

from pinctl.model.oid import Oid


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A repository's code at a commit.

    Attributes:
        component: the component's name, or the superproject's own.
        commit: which commit.
        name: what to call the commit, where it has a better name than its id.
    """

    component: str
    commit: Oid
    name: str | None = None

    @property
    def label(self) -> str:
        """What the matrix calls it."""
        return f"{self.component}@{self.name or self.commit.short}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release from the package index.

    Attributes:
        component: the component whose distribution it is.
        requirement: an exact requirement, such as `renderers==0.1.12`.
    """

    component: str
    requirement: str

    @property
    def label(self) -> str:
        """What the matrix calls it."""
        return self.requirement


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """A reference encoder of pinctl's own."""

    form: str

    @property
    def label(self) -> str:
        """What the matrix calls it."""
        return f"wire:{self.form}"


Server = Code | Wire
Client = Code | Release


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A variant as it is written on the command line, taken apart.

    Attributes:
        kind: `wire`, `code` or `release`.
        name: the form, or the component.
        rest: the revision, or the version; empty for a wire form.
    """

    kind: str
    name: str
    rest: str = ""


_RELEASE = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[0-9A-Za-z.!+_-]+)")


def parse_spec(text: str) -> Spec | None:
    """Takes `wire:FORM`, `COMPONENT@REVISION` or `COMPONENT==VERSION` apart; None where it is none of them."""
    if text.startswith("wire:"):
        return Spec(kind="wire", name=text.removeprefix("wire:"))
    release = _RELEASE.fullmatch(text)
    if release:
        return Spec(kind="release", name=release["name"], rest=release["version"])
    name, at, revision = text.partition("@")
    return Spec(kind="code", name=name, rest=revision) if at and name and revision else None
