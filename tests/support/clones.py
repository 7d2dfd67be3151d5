"""Makes clones of the embedded superproject as other people have them."""

from pathlib import Path

from support import Demo
from support.git import run


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
