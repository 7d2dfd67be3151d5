"""Judges the lock: is it what uv makes of the manifests with the components at their pins."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.check.fixes import lock_command
from pinctl.flows.check.scope import Scope
from pinctl.flows.superproject.layout import lay_out_stack
from pinctl.model.finding import Finding
from pinctl.tools.places import scratch
from pinctl.tools.python import uv


def lock_findings(scope: Scope) -> Iterator[Finding]:
    """Judges the lock, where the range touched it or what it is made of."""
    stack = scope.stack
    lock = stack.pins.superproject.lock
    if lock is None or stack.repository.blob_at(scope.result, lock) is None or not _is_touched(scope, lock):
        return
    names = tuple(component.distribution or component.name for component, _ in stack.gitlink_components())
    try:
        with scratch() as directory:
            top = lay_out_stack(stack, scope.result, directory / stack.name)
            project = top / Path(*PurePosixPath(lock).parts).parent
            refused = uv.lock(project, refresh=names, check=True)
    except CouldNotFindOutError as error:
        message = f"could not find out: {error.message}"
        yield Finding(rule="LCK001", component=None, path=lock, line=None, message=message, unknown=True)
        return
    if refused is not None:
        yield Finding(
            rule="LCK001",
            component=None,
            path=lock,
            line=1,
            message=f"the lock is out of date: {refused.reason}",
            fix=lock_command(lock, names),
        )


def _is_touched(scope: Scope, lock: str) -> bool:
    manifests = any(PurePosixPath(path).name == "pyproject.toml" for path in scope.touched)
    return scope.sole or bool(scope.moved) or manifests or lock in scope.touched
