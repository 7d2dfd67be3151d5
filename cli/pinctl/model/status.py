"""What `pinctl status` says of each pin."""

from dataclasses import dataclass

from packaging.version import Version

from pinctl.model.oid import Oid
from pinctl.model.pins import Component
from pinctl.model.requirement import FloorSite
from pinctl.model.standing import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class PinStatus:
    """One pin of the superproject.

    Attributes:
        kind: `gitlink`, `source` or `requirement`.
        path: the gitlink's path, or the name of the source or requirement.
        commit: what is pinned; None for a pin that names none.
        version: the version at pin; None where it has none, or where it could not be found out.
        released: the newest release that the pin contains.
        standing: how the pin stands to its branch; None for a pin that names no commit.
        floors: the requirements on the component.
        drift: what is not as it should be, in words.
        unknown: what could not be found out, in words.
    """

    component: Component
    kind: str
    path: str
    commit: Oid | None
    version: Version | None
    released: Version | None
    standing: Standing | None
    floors: tuple[FloorSite, ...]
    drift: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The pins of a superproject.

    Attributes:
        defaults: what was taken for granted because no pins.toml says it.
    """

    superproject: str
    head: Oid
    branch: str | None
    pins: tuple[PinStatus, ...]
    defaults: tuple[str, ...]
