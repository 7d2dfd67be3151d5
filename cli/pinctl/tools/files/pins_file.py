"""Reads pins.toml."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from pinctl.errors import BadInputError, Mistake
from pinctl.model.oid import ABBREVIATED
from pinctl.model.pins import (
    Component,
    FloorPolicy,
    GitlinkSite,
    Pins,
    PinSite,
    RequirementSite,
    SourceSite,
    SuperprojectDeclaration,
)
from pinctl.model.rules import RULES
from pinctl.tools.files.declaration import Shape, Text, Version, mistake_at, nearest, shaped
from pinctl.tools.toml.source import TomlSource, read_toml

NAME = "pins.toml"


class _Superproject(Shape):
    name: Text
    url: Text | None = None
    branch: Text | None = None
    manifests: tuple[Text, ...] = ("pyproject.toml",)
    lock: Text | None = None
    tags: Text = "v[0-9]*"
    exclude_tags: Text | None = None


class _Pin(Shape):
    gitlink: Text | None = None
    source: Text | None = None
    requirement: Text | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if sum(value is not None for value in (self.gitlink, self.source, self.requirement)) != 1:
            msg = "must have exactly one of gitlink, source and requirement"
            raise ValueError(msg)
        return self

    def site(self) -> PinSite:
        if self.gitlink is not None:
            return GitlinkSite(path=self.gitlink)
        if self.source is not None:
            return SourceSite(name=self.source)
        return RequirementSite(name=self.requirement or "")


def _pin_tables(value: Any) -> Any:
    """Lets a pin that is written in one place be a table instead of an array of them."""
    return (value,) if isinstance(value, dict) else value


class _Component(Shape):
    pin: Annotated[tuple[_Pin, ...], BeforeValidator(_pin_tables)] = Field(min_length=1)
    url: Text | None = None
    branch: Text | None = None
    distribution: Text | None = None
    tags: Text = "v[0-9]*"
    exclude_tags: Text | None = None
    # A value that is no policy is found in the raw file, where the nearest right one can be named.
    floor: Text = FloorPolicy.KEEP
    commit: Text | None = None
    tag: Text | None = None
    waive: dict[str, Text] = Field(default_factory=dict)
    skip: Text | None = None


class _File(Shape):
    version: Version
    superproject: _Superproject
    components: dict[str, _Component] = Field(default_factory=dict)


def find_pins(start: Path) -> Path | None:
    """Looks for pins.toml in a directory and in those above it."""
    for directory in (start, *start.parents):
        candidate = directory / NAME
        if candidate.is_file():
            return candidate
    return None


def read_pins(path: Path, data: bytes | None = None) -> Pins:
    """Reads a pins.toml.

    Args:
        path: the file.
        data: its bytes, where they come from a commit.

    Raises:
        BadInputError: there is no such file.
        BadFileError: it holds mistakes.
    """
    if data is None and not path.is_file():
        raise BadInputError(f"there is no file {path}", hint="Name a pins.toml with --pins FILE.")
    source = read_toml(path, data)
    file = shaped(source, _File, _mistakes(source))
    return Pins(
        path=path,
        superproject=SuperprojectDeclaration(
            name=file.superproject.name,
            url=file.superproject.url,
            branch=file.superproject.branch,
            manifests=file.superproject.manifests,
            lock=file.superproject.lock,
            tags=file.superproject.tags,
            exclude_tags=file.superproject.exclude_tags,
        ),
        components={name: _component(name, shape) for name, shape in file.components.items()},
    )


def _component(name: str, shape: _Component) -> Component:
    return Component(
        name=name,
        site=shape.pin[0].site(),
        also=tuple(pin.site() for pin in shape.pin[1:]),
        url=shape.url,
        branch=shape.branch,
        distribution=shape.distribution,
        tags=shape.tags,
        exclude_tags=shape.exclude_tags,
        floor=FloorPolicy(shape.floor),
        commit=shape.commit,
        tag=shape.tag,
        waive=shape.waive,
        skip=shape.skip,
    )


def _mistakes(source: TomlSource) -> Iterator[Mistake]:
    """Finds what the shape of the file cannot say."""
    components = source.at(("components",))
    if not isinstance(components, dict):
        return
    policies = tuple(policy.value for policy in FloorPolicy)
    sites: dict[tuple[str, str], str] = {}
    for name, table in components.items():
        if not isinstance(table, dict):
            continue
        floor = table.get("floor")
        if isinstance(floor, str) and floor.strip() not in policies:
            words = f"{floor!r} is no floor policy{nearest(floor, policies)}"
            yield mistake_at(source, ("components", name, "floor"), words)
        commit = table.get("commit")
        if isinstance(commit, str) and not ABBREVIATED.fullmatch(commit.strip()):
            words = f"{commit!r} is no commit id of 7 or more hex digits"
            yield mistake_at(source, ("components", name, "commit"), words)
        if name == source.at(("superproject", "name")):
            yield mistake_at(source, ("components", name), "has the superproject's own name")
        waive = table.get("waive")
        for code in waive if isinstance(waive, dict) else ():
            if code in RULES and not RULES[code].waivable:
                yield mistake_at(source, ("components", name, "waive", code), "cannot be waived")
            elif code not in RULES:
                yield mistake_at(source, ("components", name, "waive", code), f"is no rule{nearest(code, RULES)}")
        for pin in table["pin"] if isinstance(table.get("pin"), list) else [table.get("pin")]:
            for kind, value in pin.items() if isinstance(pin, dict) else ():
                if isinstance(value, str) and (other := sites.setdefault((kind, value), name)) != name:
                    words = f"{value!r} is the pin of {other!r} already"
                    yield mistake_at(source, ("components", name, "pin", kind), words)
