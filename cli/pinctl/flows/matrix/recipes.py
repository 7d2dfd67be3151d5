"""Says what the environment of a variant is made of: a release, or code at a commit."""

from collections.abc import Iterable
from pathlib import Path

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.superproject.layout import lay_out_stack
from pinctl.flows.superproject.stack import Stack
from pinctl.model.plan import Probe
from pinctl.model.variant import Client, Code, Release
from pinctl.tools.git.checkout import lay_out
from pinctl.tools.python.environment import Recipe


def obtain_code(stack: Stack | None, clients: Iterable[Client]) -> None:
    """Fetches the code of clients, before threads need it: so each remote is asked once.

    Raises:
        CouldNotFindOutError: no remote has it.
    """
    if stack is None:
        return
    for client in clients:
        if isinstance(client, Code) and client.component != stack.name:
            stack.obtain(stack.pins.components[client.component], client.commit)


def recipe_of(stack: Stack | None, variant: Code | Release, probe: Probe) -> Recipe:
    """Returns what the environment of a variant is made of.

    Args:
        stack: the opened stack; None where no variant is code.
        variant: what is to be asked.
        probe: what asks it.

    Raises:
        CouldNotFindOutError: there is no checkout of the superproject, which knows where code is.
    """
    match variant:
        case Release():
            return Recipe(
                name=variant.requirement.replace("==", "-"),
                identity=variant.requirement,
                requirement=variant.requirement,
                extra=probe.requirements,
                dependencies=probe.dependencies,
            )
        case Code():
            return _recipe_of_code(stack, variant, probe)


def _recipe_of_code(stack: Stack | None, code: Code, probe: Probe) -> Recipe:
    if stack is None:
        raise CouldNotFindOutError(
            f"{code.label} needs a checkout of the superproject", hint="Name one with --superproject DIR."
        )
    if code.component == stack.name:
        identity: str = stack.repository.tree_of(code.commit)

        def write(directory: Path) -> Path:
            return lay_out_stack(stack, code.commit, directory)
    else:
        component = stack.pins.components[code.component]
        repository = stack.mirror(component).repository
        # The version is part of what is installed, and a tag can change it without changing the tree.
        identity = f"{repository.tree_of(code.commit)} {stack.version(component, code.commit)}"

        def write(directory: Path) -> Path:
            lay_out(repository, code.commit, directory)
            return directory

    return Recipe(
        name=code.component,
        identity=f"{code.component} {identity}",
        lay_out=write,
        extra=probe.requirements,
        dependencies=probe.dependencies,
    )
