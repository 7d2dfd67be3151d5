"""Asks a component which version it has at a commit."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from packaging.version import InvalidVersion, Version

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import Oid
from pinctl.tools.git.checkout import lay_out
from pinctl.tools.git.repository import Repository
from pinctl.tools.places import scratch
from pinctl.tools.process import run
from pinctl.tools.uv import inherited_environment

MANIFEST = "pyproject.toml"


def version_at(repository: Repository, commit: Oid) -> Version | None:
    """Returns the version that a component has at a commit.

    A version that stands in the manifest is read there. One that does not is asked of the component's own build backend
    (PEP 517), in a checkout that has the tags.

    Returns:
        The version; None where the commit holds no Python project.

    Raises:
        CouldNotFindOutError: the manifest cannot be read, or the backend gives no version.
    """
    data = repository.read(commit, MANIFEST)
    if data is None:
        return None
    try:
        project = tomllib.loads(data.decode("utf-8")).get("project")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CouldNotFindOutError(f"{MANIFEST} of {commit.short} cannot be read: {error}") from error
    if not isinstance(project, dict):
        return None
    static = project.get("version")
    return _parsed(static, commit) if isinstance(static, str) else _of_backend(repository, commit)


def _of_backend(repository: Repository, commit: Oid) -> Version:
    # Imported here: most runs meet no dynamic version, and this brings a good part of packaging tools with it.
    from build import BuildException  # noqa: PLC0415
    from build.util import project_wheel_metadata  # noqa: PLC0415

    with scratch() as directory:
        lay_out(repository, commit, directory / "source")
        requires = tomllib.loads((directory / "source" / MANIFEST).read_text("utf-8")).get("build-system", {})
        try:
            metadata = project_wheel_metadata(
                directory / "source", isolated=bool(requires.get("requires", True)), runner=_run_hook
            )
        except BuildException as error:
            raise CouldNotFindOutError(f"the build backend gives no version at {commit.short}: {error}") from error
    return _parsed(str(metadata["Version"]), commit)


def _run_hook(cmd: Sequence[str], cwd: str | None = None, extra_environ: Mapping[str, str] | None = None) -> None:
    env = {**inherited_environment(), **(extra_environ or {})}
    ended = run(cmd, cwd=Path(cwd or "."), env=env, seconds=300)
    if ended.status != 0:
        words = ended.stderr.strip().splitlines() or [f"exit status {ended.status}"]
        raise CouldNotFindOutError(f"a build backend failed: {words[-1]}")


def _parsed(text: str, commit: Oid) -> Version:
    try:
        return Version(text)
    except InvalidVersion as error:
        raise CouldNotFindOutError(f"{text!r} at {commit.short} is no version (PEP 440)") from error
