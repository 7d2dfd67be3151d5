"""Keeps the settings of a user's own uv.toml from changing a lock that is for everybody."""

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from pinctl.errors import CouldNotFindOutError
from pinctl.tools.toml_source import TomlSource, read_toml

# What uv puts below the settings of the project, and writes into its lock or resolves by.
_ANSWER_CHANGING = frozenset(
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


@contextlib.contextmanager
def own_settings() -> Iterator[Mapping[str, str]]:
    """Hides those of the user's settings that change what uv answers; those that say how packages are reached stay.

    Yields:
        The variables that name another directory of settings; none where there is nothing to keep out.
    """
    directory = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    path = directory / "uv" / "uv.toml"
    source = read_toml(path) if path.is_file() else None
    dropped = [key for key in (source.values if source else ()) if key in _ANSWER_CHANGING]
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
