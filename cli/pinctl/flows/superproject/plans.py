"""Reads the landing plans as a commit has them."""

import posixpath
from pathlib import Path, PurePosixPath

from pinctl.flows.superproject.stack import Stack
from pinctl.flows.superproject.workspace import pins_path_in
from pinctl.model.plan import LandingPlan
from pinctl.tools.files.plan_file import DIRECTORY, read_plan, read_plans


def plans_at(stack: Stack, revision: str) -> tuple[LandingPlan, ...]:
    """Returns the landing plans of a revision, where the superproject keeps them itself; else those that lie there.

    Raises:
        BadFileError: a plan holds mistakes.
    """
    path, top = pins_path_in(stack), stack.repository.work_tree
    if path is None or top is None:
        return read_plans(stack.pins)
    directory = PurePosixPath(path).parent / DIRECTORY
    files = {entry.path for entry in stack.repository.entries(revision)}

    def is_file(probe: Path) -> bool:
        # A directory of probes may be a link to another place: then what lies there counts.
        return posixpath.normpath(probe.relative_to(top).as_posix()) in files or probe.is_file()

    plans = sorted(file for file in map(PurePosixPath, files) if file.parent == directory and file.suffix == ".toml")
    return tuple(
        read_plan(plan.stem, stack.pins, data=stack.repository.read(revision, str(plan)) or b"", is_file=is_file)
        for plan in plans
    )
