"""Names what stands on the two axes of the matrix."""

import ipaddress
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.specifiers import InvalidSpecifier, SpecifierSet

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
    """A wire form of pinctl's own: its reference encoder as a server, its strict decoder as a client."""

    form: str

    @property
    def label(self) -> str:
        """What the matrix calls it."""
        return f"wire:{self.form}"

    @property
    def component(self) -> str:
        """Its own label: as a client it is a variant of no component of the stack."""
        return self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The responses that a server gave earlier.

    Attributes:
        directory: of the recording.
    """

    directory: Path

    @property
    def label(self) -> str:
        """What the matrix calls it."""
        return f"recorded:{self.directory}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A server that runs somewhere.

    Attributes:
        url: as the user wrote it, without credentials.
        endpoint: the URL that is posted to.
        user: the name and password that the URL held, taken apart by a colon; never shown.
    """

    url: str
    endpoint: str
    user: str | None = field(default=None, repr=False)

    @property
    def label(self) -> str:
        """What the matrix calls it."""
        return self.url

    @property
    def is_loopback(self) -> bool:
        """Whether it runs on this machine, so that no proxy stands between."""
        host = urlsplit(self.url).hostname or ""
        try:
            return host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


Server = Code | Wire | Recorded | Live
Client = Code | Release | Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenVariant:
    """A variant as it is written on the command line, taken apart.

    Attributes:
        kind: `wire`, `recorded`, `live`, `code`, `release` or `range`.
        name: the form, the directory, the URL, or the component.
        rest: the revision, the version, or the version specifiers; else empty.
    """

    kind: str
    name: str
    rest: str = ""


ENDPOINT = "/inference/v1/generate"
"""The path that a live server is asked under where its URL has none."""

_RELEASE = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*==\s*(?P<version>[0-9A-Za-z.!+_-]+)")
_RANGE = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*?)\s*(?P<specifiers>(?:[<>=!~]=|[<>]).+)")
_LIVE = re.compile(r"https?://", re.IGNORECASE)


def parse_variant(text: str) -> WrittenVariant | None:
    """Takes a variant apart; None where it is none of the kinds."""
    if _LIVE.match(text):
        return WrittenVariant(kind="live", name=text)
    for kind in ("wire", "recorded"):
        if text.startswith(f"{kind}:"):
            return WrittenVariant(kind=kind, name=text.removeprefix(f"{kind}:"))
    release = _RELEASE.fullmatch(text)
    if release:
        return WrittenVariant(kind="release", name=release["name"], rest=release["version"])
    several = _RANGE.fullmatch(text)
    if several and _are_specifiers(several["specifiers"]):
        return WrittenVariant(kind="range", name=several["name"], rest=several["specifiers"])
    name, at, revision = text.partition("@")
    return WrittenVariant(kind="code", name=name, rest=revision) if at and name and revision else None


def parse_live(text: str) -> Live | None:
    """Reads `http://HOST[:PORT][/PATH]`, also with https and with credentials; None where it is none."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    is_plain = text.isascii() and text.isprintable() and set(" ?#").isdisjoint(text) and "@" not in parts.path
    if parts.scheme not in {"http", "https"} or not host or not is_plain:
        return None
    place = f"[{host}]" if ":" in host else host
    place += "" if port is None else f":{port}"
    user = None
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    path = parts.path.rstrip("/")
    return Live(
        url=f"{parts.scheme}://{place}{path}",
        endpoint=f"{parts.scheme}://{place}{parts.path if path else ENDPOINT}",
        user=user,
    )


def without_credentials(text: str) -> str:
    """Returns a variant, or another text that begins with a URL, without the credentials of that URL."""
    return re.sub(r"(?is)\A(https?://).*@", r"\1", text)


def _are_specifiers(text: str) -> bool:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return False
    return True
