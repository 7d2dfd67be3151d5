"""Builds the embedded stack: bare repositories as a forge keeps them, and a clone to try pinctl on."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pinctl.demo.commits import Repository
from pinctl.demo.history import COMPONENTS, SUPERPROJECT
from pinctl.demo.stream import write_stream
from pinctl.errors import BadInputError
from pinctl.tools.git.command import run_git

# Nobody's own settings, hooks or templates take part, so that everybody gets the same repositories.
_NO_SETTINGS = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_COUNT": "0",
    "GIT_CONFIG_PARAMETERS": "",
    "GIT_TEMPLATE_DIR": "",
}
_IDENTITY = ("user.name=pinctl demo", "user.email=demo@pinctl.example")


def build_demo(directory: Path) -> None:
    """Builds the stack, with the same commit ids every time.

    Args:
        directory: where to; it may exist if it is empty. It gets `remotes/` with one bare repository each for the
            superproject and its components, and `prime-rl/`, a clone with its submodules.

    Raises:
        BadInputError: the directory is not empty, is no directory, or cannot be made. Nothing was changed.
        CouldNotFindOutError: git failed. What had been made is removed.
    """
    with _new_contents(directory):
        remotes = directory / "remotes"
        remotes.mkdir()
        ids: dict[tuple[str, str], str] = {}
        for repository in (*COMPONENTS, SUPERPROJECT):
            ids |= _import(repository, remotes / f"{repository.name}.git", ids)
        _clone(directory, source=f"remotes/{SUPERPROJECT.name}.git", name=SUPERPROJECT.name)


def _import(repository: Repository, path: Path, ids: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    run_git(
        path.parent,
        *("init", "--quiet", "--bare", "--object-format=sha1", "--initial-branch=main", path.name),
        env=_NO_SETTINGS,
    )
    imported = run_git(path, "fast-import", "--quiet", stdin=write_stream(repository, ids), env=_NO_SETTINGS)
    names = [(repository.name, commit.name) for commit in repository.commits]
    return dict(zip(names, imported.text.split(), strict=True))


def _clone(directory: Path, *, source: str, name: str) -> None:
    identity = [word for setting in _IDENTITY for word in ("--config", setting)]
    run_git(directory, "clone", "--quiet", *identity, source, name, env=_NO_SETTINGS)
    # git does not let a submodule's URL name a directory, because a stranger may have written it; these are ours.
    trust = ("-c", "protocol.file.allow=always")
    run_git(directory / name, *trust, "submodule", "update", "--quiet", "--init", env=_NO_SETTINGS)


@contextmanager
def _new_contents(directory: Path) -> Iterator[None]:
    """Makes a directory, and takes away all that was made if filling it fails."""
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    try:
        directory.mkdir(parents=True, exist_ok=True)
        taken = any(directory.iterdir())
    except OSError as error:
        raise BadInputError(
            f"{directory} cannot hold the demo: {error.strerror}", hint="Name another directory."
        ) from error
    if taken:
        raise BadInputError(f"{directory} is not empty", hint="Name another directory, or remove this one.")
    try:
        yield
    except BaseException:
        for path in directory.iterdir():
            shutil.rmtree(path)
        for path in missing:
            path.rmdir()
        raise
