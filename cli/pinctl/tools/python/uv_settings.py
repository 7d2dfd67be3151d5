"""Keeps what a user has set for uv, in variables or in a uv.toml, from changing a lock that is for everybody."""

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from pinctl.errors import CouldNotFindOutError
from pinctl.tools.surroundings import needed_environment
from pinctl.tools.toml.source import TomlSource, read_toml

# What a user's shell may hold that would change uv's answer, not just its speed or its access to the index.
_VARIABLES = frozenset(
    {
        "UV_BUILD_CONSTRAINT",
        "UV_CONFIG_FILE",
        "UV_CONSTRAINT",
        "UV_DRY_RUN",
        "UV_EXCLUDE",
        "UV_EXCLUDE_NEWER",
        "UV_EXCLUDE_NEWER_PACKAGE",
        "UV_FORK_STRATEGY",
        "UV_FROZEN",
        "UV_INDEX_STRATEGY",
        "UV_ISOLATED",
        "UV_LOCKED",
        "UV_NO_BINARY",
        "UV_NO_BINARY_PACKAGE",
        "UV_NO_BUILD",
        "UV_NO_BUILD_ISOLATION",
        "UV_NO_BUILD_PACKAGE",
        "UV_NO_CONFIG",
        "UV_NO_SOURCES",
        "UV_NO_SOURCES_PACKAGE",
        "UV_OVERRIDE",
        "UV_PRERELEASE",
        "UV_PRERELEASE_PACKAGE",
        "UV_PREVIEW",
        "UV_PREVIEW_FEATURES",
        "UV_PROJECT",
        "UV_PROJECT_ENVIRONMENT",
        "UV_PYTHON",
        "UV_REQUIRE_HASHES",
        "UV_RESOLUTION",
        "UV_SYSTEM_PYTHON",
        "UV_TORCH_BACKEND",
        "UV_UPGRADE",
        "UV_WORKING_DIR",
        "UV_WORKING_DIRECTORY",
        # Versions that a component shall pretend to have, whatever its tags say.
        "PBR_VERSION",
        "PDM_BUILD_SCM_VERSION",
        "UV_DYNAMIC_VERSIONING_BYPASS",
    }
)
_PRETENDING = ("SETUPTOOLS_SCM_", "VCS_VERSIONING_", "POETRY_DYNAMIC_VERSIONING_")

# What uv puts below the settings of the project, and writes into its lock or resolves by.
_SETTINGS = frozenset(
    {
        "build-constraint-dependencies",
        "constraint-dependencies",
        "exclude-dependencies",
        "exclude-newer",
        "exclude-newer-package",
        "fork-strategy",
        "index-strategy",
        "no-binary",
        "no-binary-package",
        "no-build",
        "no-build-isolation",
        "no-build-isolation-package",
        "no-build-package",
        "no-sources",
        "no-sources-package",
        "override-dependencies",
        "prerelease",
        "preview",
        "resolution",
        "torch-backend",
        "upgrade",
        "upgrade-package",
    }
)


def inherited_environment() -> dict[str, str]:
    """Returns what uv and build backends need of this process's environment, without what would change their answer."""
    return {name: value for name, value in needed_environment().items() if not _changes_answers(name)}


def neutralised() -> tuple[str, ...]:
    """Returns the names of the variables of the user's environment that are kept from uv, since they change answers."""
    return tuple(sorted(name for name in os.environ if _changes_answers(name)))


@contextlib.contextmanager
def own_settings() -> Iterator[Mapping[str, str]]:
    """Hides those of the user's settings that change what uv answers; those that say how packages are reached stay.

    Yields:
        The variables that name another directory of settings; none where there is nothing to keep out.
    """
    directory = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    path = directory / "uv" / "uv.toml"
    source = read_toml(path) if path.is_file() else None
    dropped = [key for key in (source.values if source else ()) if key in _SETTINGS]
    if source is None or not dropped:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="pinctl-settings-") as name:
        other = Path(name)
        for entry in directory.iterdir():
            if entry.name != "uv":
                (other / entry.name).symlink_to(entry)
        (other / "uv").mkdir()
        (other / "uv" / "uv.toml").write_bytes(_without(source, dropped))
        yield {"XDG_CONFIG_HOME": name}


def _without(settings: TomlSource, keys: list[str]) -> bytes:
    lines = settings.data.splitlines(keepends=True)
    for key in keys:
        place = settings.places[(key,)]
        last = settings.data.count(b"\n", 0, place.end)
        lines[place.line - 1 : last + 1] = [b"\n"] * (last + 2 - place.line)
    data = b"".join(lines)
    left = {key: value for key, value in settings.values.items() if key not in keys}
    if read_toml(settings.path, data).values != left:
        raise CouldNotFindOutError(
            f"{settings.path} would change the lock: it sets {', '.join(keys)}", hint="Take them out while this runs."
        )
    return data


def _changes_answers(name: str) -> bool:
    return name in _VARIABLES or name.startswith(_PRETENDING)
