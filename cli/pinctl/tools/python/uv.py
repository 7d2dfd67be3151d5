"""Runs uv: locks, and makes environments to run code in."""

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from itertools import takewhile
from pathlib import Path

import uv
from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from pinctl.errors import CouldNotFindOutError
from pinctl.tools.places import scratch
from pinctl.tools.process import Ended, run
from pinctl.tools.python.uv_settings import inherited_environment, own_settings
from pinctl.tools.toml.source import read_toml


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """uv found out that there is no solution.

    Attributes:
        explanation: uv's own words.
    """

    explanation: str

    @property
    def reason(self) -> str:
        """The explanation as one line, without what uv warns of before and hints at after."""
        lines = [line.strip(_ORNAMENT) for line in self.explanation.splitlines()]
        lines = [line for line in lines if line and not line.startswith(("warning:", "Using ", "Resolved "))]
        told = takewhile(lambda line: not line.startswith("hint:"), lines)
        return " ".join(told).removeprefix("error: ") or "uv does not say why"


_ORNAMENT = " \t\N{MULTIPLICATION SIGN}╰─▶│"
"""What uv frames its explanations with."""

# What uv says where the manifests are to blame: there is an answer, and it is no. Its exit status does not tell that
# from a build that failed or a file that is not in its cache.
_NO = re.compile(
    r"No solution found when resolving dependencies"
    r"|conflicting URLs"
    r"|Two workspace members are both named"
    r"|Workspace member .* is missing a `pyproject\.toml`"
    r"|Failed to parse: `?\S*pyproject\.toml"
    r"|needs to be updated, but `--check` was provided"
    r"|Unable to find lockfile"
)
_CUT_OFF = "the network was disabled"


def lock(project: Path, *, refresh: Iterable[str] = (), check: bool = False) -> Refused | None:
    """Writes the lock of a project, or checks it.

    Args:
        project: the directory of its pyproject.toml, new for every run.
        refresh: distributions whose cached metadata must not be believed: uv keys it on files, not on commits, so
            after a pin has moved it may be that of the commit before.
        check: whether to look only, and leave the lock as it is.

    Returns:
        None where the lock is right; what uv said where the manifests have no solution, or where the lock is out of
        date.

    Raises:
        CouldNotFindOutError: uv cannot run, or not in this project: a build fails, an index does not answer.
    """
    # uv does not take the two together. Offline we can do without: uv keys its cache on the path, and ours is new.
    offline = os.environ.get("UV_OFFLINE", "").lower() in {"1", "true", "yes", "on"}
    options = [] if offline else [word for name in refresh for word in ("--refresh-package", name)]
    program = _program_for(project)
    with own_settings() as settings:
        words = ("lock", "--quiet", *(("--check",) if check else ()), *options)
        ended = _run(program, project, *words, settings=settings)
    if ended.status == 0:
        return None
    explanation = _clean(ended, project)
    if _NO.search(explanation) and _CUT_OFF not in explanation:
        return Refused(explanation=explanation)
    raise CouldNotFindOutError(f"uv cannot lock: {explanation}", hint="Mend what uv names, then run this again.")


def make_environment(directory: Path, *, python: Path) -> None:
    """Makes an empty environment.

    Raises:
        CouldNotFindOutError: uv cannot.
    """
    _must(_uv(directory.parent, "venv", "--quiet", "--no-project", "--python", str(python), str(directory)), directory)


def install(environment: Path, what: Iterable[str], *, dependencies: bool = True, editable: bool = True) -> None:
    """Installs requirements or directories into an environment.

    Args:
        environment: its directory.
        what: PEP 508 requirements, or paths of source trees.
        dependencies: whether to install what they depend on too.
        editable: whether path sources that say so are installed as links to their directories; else all are copied.

    Raises:
        CouldNotFindOutError: uv cannot; the message is uv's own.
    """
    options = () if dependencies else ("--no-deps",)
    # As a variable: earlier versions of uv have no such option here, and would refuse it.
    settings = {} if editable else {"UV_NO_EDITABLE": "1"}
    words = tuple(what)
    if words:
        python = str(environment / "bin" / "python")
        command = ("pip", "install", "--quiet", "--python", python, *options, *words)
        _must(_uv(environment.parent, *command, settings=settings), environment)


def newest_release(requirement: str, *, prereleases: bool) -> Version | Refused:
    """Returns the newest release that a requirement admits and this Python can install, as the user's index has it.

    Args:
        requirement: PEP 508.
        prereleases: whether pre-releases count.

    Returns:
        The version; what uv said where there is none.

    Raises:
        CouldNotFindOutError: the index does not answer, or uv is kept from asking it.
    """
    options = ("--quiet", "--no-deps", "--no-header", "--no-annotate", "--python", sys.executable)
    allowed = "allow" if prereleases else "disallow"
    # In a directory of its own: neither a project's settings nor a lock beside it are those of the environments.
    with scratch() as directory, own_settings() as settings:
        words = ("pip", "compile", *options, "--prerelease", allowed, "-")
        ended = _run(_own_program(), directory, *words, settings=settings, stdin=requirement.encode())
        explanation = _clean(ended, directory)
    if ended.status == 0:
        found = Requirement(ended.stdout.decode("utf-8", "replace").strip())
        return Version(next(iter(found.specifier)).version)
    if _NO.search(explanation) and _CUT_OFF not in explanation:
        return Refused(explanation=explanation)
    raise CouldNotFindOutError(f"the releases of {requirement} cannot be listed: {explanation}")


@cache
def uv_version() -> str:
    """Returns the version of pinctl's own uv, such as `uv 0.8.0`."""
    return f"uv {_version_of(_own_program())}"


def _program_for(project: Path) -> Path:
    """Returns the uv that a project's `required-version` asks for: our own, else the one on PATH.

    Raises:
        CouldNotFindOutError: neither is what it asks for.
    """
    required = _required_version(project)
    candidates = [_own_program()]
    if required is None:
        return candidates[0]
    on_path = shutil.which("uv")
    if on_path is not None:
        candidates.append(Path(on_path))
    versions: list[Version] = []
    for candidate in candidates:
        versions.append(_version_of(candidate))
        if versions[-1] in required:
            return candidate
    raise CouldNotFindOutError(
        f"the superproject requires uv {required}, and there is {', '.join(map(str, dict.fromkeys(versions)))} here",
        hint=f"Install it beside pinctl: pip install 'uv{required}'",
    )


def _required_version(project: Path) -> SpecifierSet | None:
    for name, table in (("uv.toml", ()), ("pyproject.toml", ("tool", "uv"))):
        path = project / name
        if path.is_file():
            text = read_toml(path).at((*table, "required-version"))
            if isinstance(text, str):
                # uv takes a bare version for an exact one.
                specifier = text if text[:1] in "<>=!~" else f"=={text}"
                try:
                    return SpecifierSet(specifier, prereleases=True)
                except InvalidSpecifier as error:
                    raise CouldNotFindOutError(f"{name} requires uv {text!r}, which is no version specifier") from error
    return None


@cache
def _version_of(program: Path) -> Version:
    installed = _installed_version(program)
    if installed is not None:
        return installed
    ended = _run(program, Path.cwd(), "--version")
    words = ended.stdout.decode("utf-8", "replace").split()
    try:
        return Version(words[1])
    except (IndexError, InvalidVersion) as error:
        raise CouldNotFindOutError(f"{program} does not say which version it is") from error


def _installed_version(program: Path) -> Version | None:
    """Returns the version that was installed with a program, which costs no process; None where it came otherwise."""
    with contextlib.suppress(metadata.PackageNotFoundError, FileNotFoundError):
        found = metadata.distribution("uv")
        if any(file.name == program.name and Path(file.locate()).samefile(program) for file in found.files or ()):
            return Version(found.version)
    return None


def _own_program() -> Path:
    try:
        return Path(uv.find_uv_bin())
    except FileNotFoundError as error:
        raise CouldNotFindOutError("uv cannot be run: its program is not installed", hint="pip install uv") from error


def _uv(cwd: Path, *arguments: str, settings: Mapping[str, str] | None = None) -> Ended:
    return _run(_own_program(), cwd, *arguments, settings=settings)


def _run(
    program: Path, cwd: Path, *arguments: str, settings: Mapping[str, str] | None = None, stdin: bytes = b""
) -> Ended:
    env = {**inherited_environment(), "NO_COLOR": "1", "UV_NO_PROGRESS": "1", **(settings or {})}
    return run([program, *arguments], cwd=cwd, env=env, stdin=stdin)


def _must(ended: Ended, place: Path) -> None:
    if ended.status != 0:
        raise CouldNotFindOutError(_clean(ended, place))


def _clean(ended: Ended, place: Path) -> str:
    """Returns uv's words without the names of scratch directories."""
    text = ended.stderr.strip() or ended.stdout.decode("utf-8", "replace").strip() or f"exit status {ended.status}"
    return text.replace(f"file://{place}", ".").replace(str(place), ".")
