"""Opens the superproject that the user stands in, with the pins.toml that applies."""

from collections.abc import Mapping
from dataclasses import replace

from pinctl.errors import BadInputError, CouldNotFindOutError
from pinctl.flows.superproject.stack import Stack
from pinctl.model.pins import Component, GitlinkSite, Pins, SuperprojectDeclaration
from pinctl.model.where import Where
from pinctl.tools.files.pins_file import find_pins, read_pins
from pinctl.tools.git.repository import Repository
from pinctl.tools.git.submodules import FILE, Submodule, read_submodules


def declared_pins(where: Where) -> Pins | None:
    """Reads the pins.toml that applies; None where there is none.

    Raises:
        BadInputError: one was named that is not there, or it holds mistakes.
    """
    path = where.pins or find_pins(where.superproject or where.directory) or find_pins(where.directory)
    return None if path is None else read_pins(path.absolute())


def open_stack(where: Where) -> Stack:
    """Opens the superproject that the user stands in, or has named.

    Raises:
        CouldNotFindOutError: it is not there, or what is there is not the superproject of the pins.toml.
    """
    pins = declared_pins(where)
    directory = where.superproject or (
        pins.directory if pins and pins.directory and not where.pins else where.directory
    )
    repository = Repository.open(directory)
    if repository.work_tree is None:
        raise CouldNotFindOutError(
            f"{directory} is a bare repository: pinctl needs a checkout of the superproject",
            hint="Name one with --superproject DIR.",
        )
    if repository.resolve("HEAD") is None:
        raise CouldNotFindOutError(f"{repository.work_tree} has no commit yet", hint="Commit the superproject first.")
    if pins is not None and not _is_described(repository, pins):
        raise CouldNotFindOutError(
            f"{pins.path} describes the superproject {pins.superproject.name}, and {repository.work_tree} is not it",
            hint=f"Name a checkout of {pins.superproject.name} with --superproject DIR.",
        )
    return Stack(pins=_completed(repository, pins, "HEAD"), repository=repository)


def stack_at(stack: Stack, revision: str) -> Stack:
    """Returns a stack with the pins.toml of a revision, where the superproject keeps it itself.

    Raises:
        BadFileError: the file holds mistakes there.
    """
    path = pins_path_in(stack)
    data = stack.repository.read(revision, path) if path is not None else None
    pins = read_pins(stack.pins.path, data) if stack.pins.path is not None and data is not None else stack.pins
    completed = _completed(stack.repository, pins if pins.path is not None else None, revision)
    return Stack(
        pins=completed, repository=stack.repository, pulls=stack.pulls, revision=revision, remotes=stack.remotes
    )


def pins_path_in(stack: Stack) -> str | None:
    """Returns the path of pins.toml from the superproject's top; None where it is kept elsewhere."""
    path, top = stack.pins.path, stack.repository.work_tree
    if path is None or top is None:
        return None
    resolved, resolved_top = path.resolve(), top.resolve()
    return resolved.relative_to(resolved_top).as_posix() if resolved.is_relative_to(resolved_top) else None


def declaring_paths(stack: Stack) -> tuple[str, ...]:
    """Returns the files of the superproject that say what is pinned, which floors there are, and what is locked."""
    declared = stack.pins.superproject
    return tuple(path for path in (*declared.manifests, declared.lock, pins_path_in(stack), FILE) if path)


def require_pins(where: Where) -> Pins:
    """Reads the pins.toml that applies.

    Raises:
        CouldNotFindOutError: the user does not stand in a repository at all.
        BadInputError: there is none.
    """
    pins = declared_pins(where)
    if pins is None:
        Repository.open(where.superproject or where.directory)
        raise BadInputError(
            f"there is no pins.toml in {where.directory} or above it", hint="Name one with --pins FILE."
        )
    return pins


def _completed(repository: Repository, pins: Pins | None, revision: str) -> Pins:
    """Fills in from a revision's .gitmodules what pins.toml leaves to it: everything, where there is no pins.toml."""
    if pins is None:
        return _pins_of_gitlinks(repository, revision)
    submodules = {submodule.path: submodule for submodule in read_submodules(repository, revision)}
    components = {
        name: replace(component, branch=component.branch or _branch_of(component, submodules))
        for name, component in pins.components.items()
    }
    return replace(pins, components=components)


def _branch_of(component: Component, submodules: Mapping[str, Submodule]) -> str | None:
    submodule = submodules.get(component.gitlink) if component.gitlink is not None else None
    return submodule.branch if submodule else None


def _is_described(repository: Repository, pins: Pins) -> bool:
    """Tells whether a checkout has anything of what a pins.toml says of its superproject."""
    declared = {component.gitlink for component in pins.components.values() if component.gitlink is not None}
    if declared:
        return any(repository.gitlink_at("HEAD", path) is not None for path in declared)
    return any(repository.blob_at("HEAD", manifest) for manifest in pins.superproject.manifests)


def _pins_of_gitlinks(repository: Repository, revision: str) -> Pins:
    """Takes the gitlinks and .gitmodules for the declaration, where there is no pins.toml."""
    submodules = {submodule.path: submodule for submodule in read_submodules(repository, revision)}
    components = {}
    for path in repository.gitlinks(revision):
        submodule = submodules.get(path)
        name = submodule.name if submodule else path
        branch = submodule.branch if submodule else None
        components[name] = Component(name=name, site=GitlinkSite(path=path), branch=branch)
    manifests = tuple(path for path in ("pyproject.toml",) if repository.blob_at(revision, path))
    lock = "uv.lock" if repository.blob_at(revision, "uv.lock") else None
    name = repository.work_tree.name if repository.work_tree else "superproject"
    return Pins(
        path=None,
        superproject=SuperprojectDeclaration(name=name, url=None, branch=None, manifests=manifests, lock=lock),
        components=components,
    )
