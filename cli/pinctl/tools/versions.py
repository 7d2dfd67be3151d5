"""Asks a component which version it has at a commit."""

import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import Oid
from pinctl.tools.answers import digest_of, recall, remember
from pinctl.tools.git.checkout import lay_out
from pinctl.tools.git.repository import Repository
from pinctl.tools.places import scratch
from pinctl.tools.process import Ended, run
from pinctl.tools.uv import inherited_environment

MANIFEST = "pyproject.toml"
_SECONDS = 300.0


def version_at(repository: Repository, commit: Oid) -> Version | None:
    """Returns the version that a component has at a commit.

    A version that stands in the manifest is read there. One that hatch-vcs or setuptools-scm derives from tags is
    computed by their own code, from the history and the manifest alone. Any other is asked of the component's own build
    backend (PEP 517), in a checkout.

    Returns:
        The version; None where the commit holds no Python project.

    Raises:
        CouldNotFindOutError: the manifest cannot be read, or no version comes of it.
    """
    manifest = _manifest(repository, commit)
    project = manifest.get("project")
    if not isinstance(project, dict):
        return None
    static = project.get("version")
    if isinstance(static, str):
        return _parsed(static, commit)
    if not repository.run("for-each-ref", "--count=1", f"--merged={commit}", "refs/tags").text:
        # What comes out now is a fallback such as 0.0.0, and a floor must never be written from that.
        raise CouldNotFindOutError(f"the version at {commit.short} is derived from tags, and its history has none")
    # A tag can change the version of the same commit, so the tags are part of the question.
    tags = repository.run("for-each-ref", "--format=%(objectname) %(refname)", f"--merged={commit}", "refs/tags").text
    digest = digest_of("version", commit, tags)
    kept = recall(digest)
    if isinstance(kept, str):
        return Version(kept)
    tool = _own_code(manifest)
    version = _derived(repository, commit, tool) if tool is not None else _of_backend(repository, commit, manifest)
    remember(digest, str(version))
    return version


def _manifest(repository: Repository, commit: Oid) -> Mapping[str, Any]:
    data = repository.read(commit, MANIFEST)
    if data is None:
        return {}
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CouldNotFindOutError(f"{MANIFEST} of {commit.short} cannot be read: {error}") from error


def _own_code(manifest: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Returns the module that derives the version, with its arguments; None where it is neither of the two."""
    tools = manifest.get("tool", {})
    requires = " ".join(str(item) for item in manifest.get("build-system", {}).get("requires", ()))
    if tools.get("hatch", {}).get("version", {}).get("source") == "vcs":
        return ("hatchling", "version")
    if "setuptools_scm" in tools or "setuptools-scm" in requires or "setuptools_scm" in requires:
        return ("setuptools_scm",)
    return None


def _derived(repository: Repository, commit: Oid, tool: tuple[str, ...]) -> Version:
    with scratch() as directory:
        lay_out(repository, commit, directory / "source", only=(MANIFEST, "hatch.toml"))
        ended = _run([sys.executable, "-m", *tool], directory / "source")
    if ended.status != 0:
        words = ended.stderr.strip().splitlines() or [f"exit status {ended.status}"]
        raise CouldNotFindOutError(f"{tool[0]} derives no version at {commit.short}: {words[-1]}")
    return _parsed(ended.stdout.decode("utf-8", "replace").strip(), commit)


def _of_backend(repository: Repository, commit: Oid, manifest: Mapping[str, Any]) -> Version:
    # Imported here: most runs meet no such version, and this brings a good part of packaging tools with it.
    from build import BuildException  # noqa: PLC0415
    from build.util import project_wheel_metadata  # noqa: PLC0415

    with scratch() as directory:
        lay_out(repository, commit, directory / "source")
        isolated = bool(manifest.get("build-system", {}).get("requires", True))
        try:
            metadata = project_wheel_metadata(directory / "source", isolated=isolated, runner=_run_hook)
        except BuildException as error:
            raise CouldNotFindOutError(f"the build backend gives no version at {commit.short}: {error}") from error
    return _parsed(str(metadata["Version"]), commit)


def _run_hook(cmd: Sequence[str], cwd: str | None = None, extra_environ: Mapping[str, str] | None = None) -> None:
    ended = _run(cmd, Path(cwd or "."), extra_environ)
    if ended.status != 0:
        words = ended.stderr.strip().splitlines() or [f"exit status {ended.status}"]
        raise CouldNotFindOutError(f"a build backend failed: {words[-1]}")


def _run(command: Sequence[str], cwd: Path, more: Mapping[str, str] | None = None) -> Ended:
    env = {name: value for name, value in inherited_environment().items() if not name.startswith("SETUPTOOLS_SCM_")}
    return run(command, cwd=cwd, env={**env, **(more or {})}, seconds=_SECONDS)


def _parsed(text: str, commit: Oid) -> Version:
    try:
        return Version(text)
    except InvalidVersion as error:
        raise CouldNotFindOutError(f"{text!r} at {commit.short} is no version (PEP 440)") from error
