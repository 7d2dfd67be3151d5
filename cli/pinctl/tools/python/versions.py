"""Asks a component which version it has at a commit."""

import re
import shlex
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import Oid
from pinctl.tools.answers import digest_of, recall, remember
from pinctl.tools.git.checkout import lay_out
from pinctl.tools.git.command import run_git
from pinctl.tools.git.repository import Repository
from pinctl.tools.places import scratch
from pinctl.tools.process import Ended, ProcessFailedError, run
from pinctl.tools.python.uv_settings import inherited_environment

MANIFEST = "pyproject.toml"
_HATCH = "hatch.toml"
_SECONDS = 300.0
_TOOLS = ("hatchling", "hatch-vcs", "setuptools-scm")

# Backends whose dynamic version stands in a file, whatever tags there are.
_BACKENDS_WITH_A_FILE = frozenset({"flit_core.buildapi", "maturin"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Derivation:
    """How hatchling or setuptools-scm finds the version.

    Attributes:
        module: what to run, with its arguments.
        files: what it reads beside the manifest.
        describe: the git command that finds the tag; empty where the version stands in a file.
    """

    module: tuple[str, ...]
    files: tuple[str, ...] = ()
    describe: tuple[str, ...] = ()


def version_at(repository: Repository, commit: Oid) -> Version | None:
    """Returns the version that a component has at a commit.

    A version that stands in the manifest is read there. One that hatch-vcs or setuptools-scm derives from tags is
    computed by their own code, from the history and the manifest alone. Any other is asked of the component's own build
    backend (PEP 517), in a checkout.

    Returns:
        The version; None where the commit holds no Python project.

    Raises:
        CouldNotFindOutError: the manifest cannot be read, or no version comes of it: also where the code that derives
            one would fall back to a version that no tag names.
    """
    manifest = _toml(repository, commit, MANIFEST)
    project = manifest.get("project")
    if not isinstance(project, dict):
        return None
    static = project.get("version")
    if isinstance(static, str):
        return _parsed(static, commit)
    # A tag can change the version of the same commit, so the tags are part of the question.
    tags = repository.run("for-each-ref", "--format=%(objectname) %(refname)", f"--merged={commit}", "refs/tags").text
    derivation = _derivation(repository, commit, manifest)
    in_a_file = _is_in_a_file(manifest) if derivation is None else not derivation.describe
    if not tags and not in_a_file:
        # What comes out now is a fallback such as 0.0.0, and a floor must never be written from that.
        raise CouldNotFindOutError(f"the version at {commit.short} is derived from tags, and its history has none")
    digest = digest_of("version", commit, tags, [metadata.version(tool) for tool in _TOOLS])
    kept = recall(digest)
    if isinstance(kept, str):
        return Version(kept)
    if derivation is not None:
        version = _derived(repository, commit, derivation)
    else:
        version = _of_backend(repository, commit, manifest)
        if not in_a_file and _looks_made_up(version, tags):
            raise CouldNotFindOutError(f"no tag in the history of {commit.short} gives it the version {version}")
    remember(digest, str(version))
    return version


def _toml(repository: Repository, commit: Oid, path: str) -> Mapping[str, Any]:
    data = repository.read(commit, path)
    if data is None:
        return {}
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CouldNotFindOutError(f"{path} of {commit.short} cannot be read: {error}") from error


def _table(values: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """Returns a table within tables; an empty one where something else stands there."""
    for key in keys:
        value = values.get(key)
        values = value if isinstance(value, dict) else {}
    return values


def _derivation(repository: Repository, commit: Oid, manifest: Mapping[str, Any]) -> _Derivation | None:
    """Returns how the version is found; None where that is neither hatchling's nor setuptools-scm's affair."""
    build = _table(manifest, "build-system")
    hatch = _table(manifest, "tool", "hatch", "version")
    if not hatch and build.get("build-backend") == "hatchling.build":
        hatch = _table(_toml(repository, commit, _HATCH), "version")
    if hatch.get("source") == "vcs":
        return _Derivation(module=("hatchling", "version"), describe=_describe(_table(hatch, "raw-options")))
    path = hatch.get("path")
    if hatch.get("source", "regex") == "regex" and isinstance(path, str):
        return _Derivation(module=("hatchling", "version"), files=(path,))
    requires = str(build.get("requires", ""))
    scm = _table(manifest, "tool", "setuptools_scm")
    if scm or "setuptools_scm" in _table(manifest, "tool") or re.search(r"setuptools[-_]scm", requires):
        return _Derivation(module=("setuptools_scm",), describe=_describe(scm))
    return None


def _describe(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the command by which setuptools-scm finds the nearest tag: the project's own, or its default."""
    command = options.get("git_describe_command", _table(options, "scm", "git").get("describe_command"))
    if isinstance(command, str):
        return tuple(shlex.split(command))
    if isinstance(command, list):
        return tuple(map(str, command))
    prefix = _table(options, "tag").get("prefix", "")
    return ("git", "describe", "--tags", "--long", "--match", f"{prefix}*[0-9]*")


def _is_in_a_file(manifest: Mapping[str, Any]) -> bool:
    return (
        "version" in _table(manifest, "tool", "setuptools", "dynamic")
        or _table(manifest, "tool", "pdm", "version").get("source") == "file"
        or _table(manifest, "build-system").get("build-backend") in _BACKENDS_WITH_A_FILE
    )


def _looks_made_up(version: Version, tags: str) -> bool:
    """Tells whether a derived version is a fallback: one that is derived from a tag is never below it."""
    if any(version.release) and not version.is_devrelease:
        return False
    names = [line.partition(" refs/tags/")[2] for line in tags.splitlines()]
    return not any(tagged is not None and tagged <= version for tagged in map(_version_in, names))


def _version_in(tag: str) -> Version | None:
    number = re.search(r"\d+(!|\.|$).*", tag)
    try:
        return Version(number.group()) if number else None
    except InvalidVersion:
        return None


def _derived(repository: Repository, commit: Oid, derivation: _Derivation) -> Version:
    tool = derivation.module[0]
    with scratch() as directory:
        source = directory / "source"
        lay_out(repository, commit, source, only=(MANIFEST, _HATCH, *derivation.files))
        _require_tag(source, commit, derivation.describe)
        ended = _run([sys.executable, "-m", *derivation.module], source)
    if ended.status != 0:
        raise CouldNotFindOutError(f"{tool} derives no version at {commit.short}: {_reason(ended)}")
    return _parsed(ended.stdout.decode("utf-8", "replace").strip(), commit)


def _require_tag(source: Path, commit: Oid, describe: tuple[str, ...]) -> None:
    """Refuses a history without a tag of the project's own pattern: what its tool makes of that is a fallback."""
    if describe[:1] == ("git",) and run_git(source, *describe[1:], accept=(0, 128)).status != 0:
        raise CouldNotFindOutError(
            f"the version at {commit.short} is derived from tags, and its history has none that the project looks for",
            hint=f"What it looks for: {shlex.join(describe)}",
        )


def _of_backend(repository: Repository, commit: Oid, manifest: Mapping[str, Any]) -> Version:
    # Imported here: most runs meet no such version, and this brings a good part of packaging tools with it.
    from build import BuildBackendException, BuildException, FailedProcessError  # noqa: PLC0415
    from build.util import project_wheel_metadata  # noqa: PLC0415

    with scratch() as directory:
        lay_out(repository, commit, directory / "source")
        isolated = bool(_table(manifest, "build-system").get("requires", True))
        try:
            found = project_wheel_metadata(directory / "source", isolated=isolated, runner=_run_hook)
        except BuildBackendException as error:
            raise CouldNotFindOutError(
                f"the build backend gives no version at {commit.short}: {error.exception}"
            ) from error
        except (BuildException, FailedProcessError, ProcessFailedError) as error:
            raise CouldNotFindOutError(f"the build backend gives no version at {commit.short}: {error}") from error
    return _parsed(str(found["Version"]), commit)


def _run_hook(cmd: Sequence[str], cwd: str | None = None, extra_environ: Mapping[str, str] | None = None) -> None:
    ended = _run(cmd, Path(cwd or "."), extra_environ)
    if ended.status != 0:
        raise CouldNotFindOutError(f"a build backend failed: {_reason(ended)}")


def _run(command: Sequence[str], cwd: Path, more: Mapping[str, str] | None = None) -> Ended:
    return run(command, cwd=cwd, env={**inherited_environment(), **(more or {})}, seconds=_SECONDS)


def _reason(ended: Ended) -> str:
    """Returns the exception that ended a Python program, on one line."""
    lines = ended.stderr.strip().splitlines() or [f"exit status {ended.status}"]
    start = max((number for number, line in enumerate(lines) if re.match(r"[\w.]+: ", line)), default=-1)
    return " ".join(line.strip() for line in lines[start:])


def _parsed(text: str, commit: Oid) -> Version:
    try:
        return Version(text)
    except InvalidVersion as error:
        raise CouldNotFindOutError(f"{text!r} at {commit.short} is no version (PEP 440)") from error
