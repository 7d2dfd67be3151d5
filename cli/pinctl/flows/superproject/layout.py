"""Lays out a commit of the superproject with its submodules in place, for tools that want files."""

from functools import partial
from pathlib import Path

from pinctl.flows.superproject.stack import Stack
from pinctl.model.oid import Oid
from pinctl.model.pins import Component, GitlinkSite
from pinctl.tools.at_once import at_once
from pinctl.tools.git.checkout import lay_out
from pinctl.tools.git.submodules import read_submodules


def lay_out_stack(stack: Stack, commit: Oid, directory: Path) -> Path:
    """Writes the files of a commit of the superproject, its submodules in place at the commit's own pins.

    Returns:
        The directory.

    Raises:
        CouldNotFindOutError: a submodule's commit cannot be fetched.
    """
    gitlinks = stack.repository.gitlinks(commit)
    submodules = [
        (
            stack.pins.at_gitlink(submodule.path)
            or Component(name=submodule.name, site=GitlinkSite(path=submodule.path), url=submodule.url),
            submodule.path,
            gitlinks[submodule.path],
        )
        for submodule in read_submodules(stack.repository, commit)
        if submodule.path in gitlinks
    ]
    stack.ask(component for component, _, _ in submodules)
    lay_out(stack.repository, commit, directory)
    at_once(partial(_lay_out_component, stack, component, pin, directory / path) for component, path, pin in submodules)
    return directory


def _lay_out_component(stack: Stack, component: Component, pin: Oid, directory: Path) -> None:
    stack.obtain(component, pin)
    lay_out(stack.mirror(component).repository, pin, directory)
