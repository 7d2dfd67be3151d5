"""Reads .gitmodules of a commit, and resolves submodule URLs exactly as git does."""

import re
from dataclasses import dataclass

from pinctl.errors import BadInputError, CouldNotFindOutError
from pinctl.tools.git.command import run_git
from pinctl.tools.git.refs import shown_url
from pinctl.tools.git.repository import GITLINK_MODE, Repository
from pinctl.tools.places import scratch

FILE = ".gitmodules"

_SYMLINK_MODE = "120000"

_HEADER = re.compile(r'\s*\[(?:\s*submodule\s+"(?P<name>(?:[^"\\]|\\.)*)"\s*\]|.*?\])', re.IGNORECASE)
_URL = re.compile(r"\s*url\s*=", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Submodule:
    """One section of .gitmodules.

    Attributes:
        name: the section's name, which need not be the path.
        path: from the top of the superproject.
        url: as it is written.
        branch: as it is written; None where the section has none.
        line: of its url, counted from 1.
    """

    name: str
    path: str
    url: str
    branch: str | None
    line: int | None = None


def read_submodules(repository: Repository, revision: str) -> tuple[Submodule, ...]:
    """Reads .gitmodules as it is at a revision; sections without a path or a URL are left out.

    Raises:
        BadInputError: a section's name, path or URL is one that no honest file has.
    """
    entry = repository.entry_at(revision, FILE)
    if entry is None:
        return ()
    if entry.mode == _SYMLINK_MODE:
        raise BadInputError(f"{FILE} is a symbolic link at {revision[:7]}, which could name any file of this machine")
    output = repository.run("config", "--blob", f"{revision}:{FILE}", "-z", "--list").stdout
    lines = _url_lines(repository.read(revision, FILE) or b"")
    sections: dict[str, dict[str, str]] = {}
    for record in output.decode("utf-8", "surrogateescape").split("\0"):
        key, _, value = record.partition("\n")
        if key.startswith("submodule."):
            name, _, variable = key.removeprefix("submodule.").rpartition(".")
            sections.setdefault(name, {})[variable] = value
    found = []
    for name, section in sections.items():
        path, url = section.get("path"), section.get("url")
        if path and url:
            _refuse_hostile(name, path, url)
            line = lines.get(name)
            found.append(Submodule(name=name, path=path, url=url, branch=section.get("branch"), line=line))
    return tuple(found)


def _url_lines(data: bytes) -> dict[str, int]:
    """Returns the line of each section's last url, by name: several sections may have the same one."""
    lines: dict[str, int] = {}
    name = None
    for number, line in enumerate(data.decode("utf-8", "surrogateescape").split("\n"), 1):
        header = _HEADER.match(line)
        if header is not None:
            name = re.sub(r"\\(.)", r"\1", header["name"]) if header["name"] is not None else None
        if name is not None and _URL.match(line, header.end() if header is not None else 0):
            lines[name] = number
    return lines


def resolve_urls(repository: Repository, submodules: tuple[Submodule, ...]) -> dict[str, str]:
    """Returns the URL from which each submodule is fetched, by path.

    A URL that the user has set for an initialised submodule goes before the one in the file. Relative URLs are
    resolved by git itself, in a repository made for the purpose that has the same origin.

    Raises:
        CouldNotFindOutError: a relative URL, and the superproject has no origin.
    """
    urls: dict[str, str] = {}
    relative: list[Submodule] = []
    set_here = _configured(repository)
    for submodule in submodules:
        configured = set_here.get(submodule.name)
        if configured is not None:
            urls[submodule.path] = _absolute(repository, configured)
        elif submodule.url.startswith(("./", "../")):
            relative.append(submodule)
        else:
            urls[submodule.path] = submodule.url
    return {**urls, **_resolve_relative(repository, relative)} if relative else urls


def resolve_url(repository: Repository, url: str) -> str:
    """Resolves one URL as if it stood in .gitmodules."""
    if not url.startswith(("./", "../")):
        return url
    return _resolve_relative(repository, [Submodule(name="one", path="one", url=url, branch=None)])["one"]


def origin_url(repository: Repository) -> str | None:
    """Returns the URL of the superproject's origin; None where it has none."""
    return repository.config(f"remote.{_default_remote(repository)}.url")


def _default_remote(repository: Repository) -> str:
    """Returns the remote that git resolves relative URLs against: that of the branch, else origin."""
    branch = repository.run("symbolic-ref", "--short", "--quiet", "HEAD", accept=(0, 1)).text
    return (repository.config(f"branch.{branch}.remote") if branch else None) or "origin"


def _resolve_relative(repository: Repository, submodules: list[Submodule]) -> dict[str, str]:
    origin = origin_url(repository)
    if origin is None:
        raise CouldNotFindOutError(
            f"{submodules[0].url} is relative to the superproject's origin, and the superproject has none",
            hint="git remote add origin URL, or give the component a full url in pins.toml.",
        )
    with scratch() as directory:
        run_git(directory, "init", "--quiet")
        # A relative origin is relative to where the superproject is.
        full_origin = str(repository.work_tree / origin) if _is_relative(origin) and repository.work_tree else origin
        run_git(directory, "config", "remote.origin.url", full_origin)
        for submodule in submodules:
            for variable, value in (("path", submodule.path), ("url", submodule.url)):
                run_git(directory, "config", "-f", FILE, f"submodule.{submodule.name}.{variable}", value)
        feed = "".join(f"{GITLINK_MODE} {'1' * 40}\t{submodule.path}\0" for submodule in submodules)
        run_git(directory, "update-index", "-z", "--index-info", stdin=feed.encode("utf-8", "surrogateescape"))
        run_git(directory, "submodule", "--quiet", "init")
        found = {}
        for submodule in submodules:
            url = run_git(directory, "config", "--get", f"submodule.{submodule.name}.url", accept=(0, 1)).text
            if not url:
                raise CouldNotFindOutError(f"git cannot resolve {shown_url(submodule.url)} against {shown_url(origin)}")
            found[submodule.path] = url
        return found


def _configured(repository: Repository) -> dict[str, str]:
    """Returns the URLs that the user's configuration has for submodules, by their names, in one process."""
    asked = ("-z", "--get-regexp", r"^submodule\..*\.url$")
    found = repository.run("config", *asked, accept=(0, 1)).stdout.decode("utf-8", "surrogateescape")
    pairs = (record.partition("\n")[::2] for record in found.split("\0") if record)
    return {key.removeprefix("submodule.").removesuffix(".url"): value for key, value in pairs}


def _absolute(repository: Repository, url: str) -> str:
    """Returns what `git submodule init` has written for a relative origin as it is from anywhere else."""
    is_path = ":" not in url.partition("/")[0] and not url.startswith("/")
    return f"{repository.work_tree}/{url}" if is_path and repository.work_tree else url


def _is_relative(url: str) -> bool:
    return url.startswith(("./", "../")) or url in {".", ".."}


def _refuse_hostile(name: str, path: str, url: str) -> None:
    parts = tuple(part.lower() for part in re.split(r"[/\\\\]", f"{name}/{path}"))
    if any(character in text for text in (name, path, url) for character in "\r\n"):
        raise BadInputError(f".gitmodules has a submodule {name!r} with a line break in its name, path or URL")
    if "\\" in path:
        raise BadInputError(f".gitmodules has a submodule at {path!r}: paths are written with forward slashes")
    if ".." in parts or ".git" in parts or name.startswith("/") or path.startswith(("/", "-")) or "\n" in url:
        raise BadInputError(f".gitmodules has a submodule {name!r} at {path!r}, which would reach outside the checkout")
    if url.startswith("-") or "::" in url.partition("/")[0] or _host(url).startswith("-"):
        raise BadInputError(f".gitmodules gives {path} the URL {shown_url(url)!r}, which would run a command")


def _host(url: str) -> str:
    """Returns the host of a URL, also of one such as git@host:path."""
    rest = url.partition("://")[2] or url
    return rest.partition("/")[0].rpartition("@")[2].partition(":")[0]
