"""Makes copies of the embedded stack, and clones of its superproject as other people have them."""

import os
import shutil
from pathlib import Path

from support import Demo
from support.git import run


def copy_stack(built: Path, directory: Path) -> None:
    """Copies an embedded stack to where it is as if it had been built there; building one takes ten times as long."""
    shutil.copytree(built, directory, symlinks=True, copy_function=_copy)
    for git_dir in (directory / "prime-rl/.git", *(directory / "prime-rl/.git/modules").iterdir()):
        for path in (git_dir / "config", *(path for path in (git_dir / "logs").rglob("*") if path.is_file())):
            path.write_bytes(path.read_bytes().replace(bytes(built), bytes(directory)))
    for repository in (directory / "prime-rl", *(directory / "prime-rl/deps").iterdir()):
        # The index knows files by their inodes, too.
        run(repository, "update-index", "--refresh")


def _copy(source: str, target: str) -> None:
    """Copies a file; objects, which git never writes to again, get a second name instead."""
    if "/objects/" in source:
        os.link(source, target)
    else:
        shutil.copy2(source, target)


def bare_of_submodules(demo: Demo, directory: Path) -> Path:
    """Returns a clone whose submodules nobody has initialised."""
    run(directory.parent, "clone", "--quiet", str(demo.remote("prime-rl")), str(directory))
    assert list((directory / "deps/renderers").iterdir()) == []
    assert not (directory / ".git/modules").exists()
    return directory


def recursive(demo: Demo, directory: Path, *, branch: str) -> Path:
    """Returns a clone of a branch of the remote, with its submodules at their pins."""
    run(
        directory.parent,
        *("clone", "--quiet", "--recurse-submodules", "--branch", branch),
        *(str(demo.remote("prime-rl")), str(directory)),
    )
    return directory
