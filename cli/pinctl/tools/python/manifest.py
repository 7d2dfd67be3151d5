"""Reads and raises the floors that pyproject.toml files set on components."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from packaging.utils import canonicalize_name
from packaging.version import Version

from pinctl.model.requirement import FloorMove, FloorSite, distribution_of, floor_of
from pinctl.tools.toml.edit import replace_strings
from pinctl.tools.toml.source import KeyPath, TomlSource, dotted

# Tables of arrays, and plain arrays, that hold requirements (PEP 621, PEP 735, PEP 518, uv's own).
_GROUPS: tuple[KeyPath, ...] = (("project", "optional-dependencies"), ("dependency-groups",))
_ARRAYS: tuple[KeyPath, ...] = (
    ("project", "dependencies"),
    ("build-system", "requires"),
    ("tool", "uv", "override-dependencies"),
    ("tool", "uv", "constraint-dependencies"),
    ("tool", "uv", "build-constraint-dependencies"),
    ("tool", "uv", "dev-dependencies"),
)


def floor_sites(manifest: TomlSource, distribution: str) -> tuple[FloorSite, ...]:
    """Lists the requirements on a distribution, bare ones too, in the order of the file."""
    return tuple(sorted((site for _, site in _sites(manifest, distribution)), key=lambda site: site.line))


def raise_floors(
    manifest: TomlSource, floors: Mapping[str, tuple[str, Version]]
) -> tuple[bytes, tuple[FloorMove, ...]]:
    """Returns a manifest in which every floor that is too low is raised.

    Args:
        manifest: the file.
        floors: by component, its distribution and the lowest version to accept.

    Returns:
        The file's new bytes, and what was raised.
    """
    moves: list[FloorMove] = []
    replacements: dict[KeyPath, str] = {}
    for component, (distribution, lowest) in floors.items():
        for key_path, site in _sites(manifest, distribution):
            if site.floor is not None and site.floor < lowest:
                move = FloorMove(component=component, site=site, before=site.floor, after=lowest)
                moves.append(move)
                replacements[key_path] = move.text
    return replace_strings(manifest, replacements) if replacements else manifest.data, tuple(moves)


def all_requirements(manifest: TomlSource) -> tuple[str, ...]:
    """Lists every requirement of a manifest, in the order of its arrays."""
    found: list[str] = []
    for array in requirement_arrays(manifest):
        requirements = manifest.at(array)
        found += [text for text in requirements if isinstance(text, str)] if isinstance(requirements, list) else []
    return tuple(found)


def _sites(manifest: TomlSource, distribution: str) -> Iterator[tuple[KeyPath, FloorSite]]:
    wanted = canonicalize_name(distribution)
    for array in requirement_arrays(manifest):
        requirements = manifest.at(array)
        for index, text in enumerate(requirements if isinstance(requirements, list) else ()):
            if isinstance(text, str) and distribution_of(text) == wanted:
                key_path = (*array, index)
                yield (
                    key_path,
                    FloorSite(
                        manifest=str(PurePosixPath(manifest.path)),
                        key=dotted(array),
                        line=manifest.line(key_path) or 1,
                        text=text,
                        floor=floor_of(text),
                    ),
                )


def requirement_arrays(manifest: TomlSource) -> Iterator[KeyPath]:
    """Lists the key paths of the arrays that may hold requirements."""
    yield from _ARRAYS
    for table in _GROUPS:
        groups = manifest.at(table)
        for name in groups if isinstance(groups, dict) else ():
            yield (*table, name)
