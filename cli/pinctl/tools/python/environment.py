"""Makes the environments that code under test runs in, each once: they stay in the user's cache."""

import hashlib
import platform
import shutil
import sys
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from pinctl.errors import CouldNotFindOutError
from pinctl.tools.places import cache_directory, scratch
from pinctl.tools.python import uv

ENVIRONMENTS = "environments"
"""Below the cache directory."""

READY = ".ready"
"""In an environment that is wholly made; its time says when that was last used: `upkeep` goes by it."""

_MANNER = "copied"
"""How environments are made; another word where that changes, so that those made before are not taken for new ones."""

LayOut = Callable[[Path], Path]
"""Writes source into an empty directory, and returns the directory to install from."""


Failed = MutableMapping[str, str]
"""By its recipe's key, why an environment could not be made: within one run it is not tried for each cell again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What an environment is made of.

    Attributes:
        name: for people, and for the directory's name.
        identity: what names the code under test: a tree and its version, or a requirement.
        requirement: the release to install; None where the code comes from source.
        lay_out: writes the source; None where a release is installed.
        extra: requirements beside the code under test.
        dependencies: whether the code's own dependencies are installed.
    """

    name: str
    identity: str
    requirement: str | None = None
    lay_out: LayOut | None = None
    extra: tuple[str, ...] = ()
    dependencies: bool = True

    @property
    def key(self) -> str:
        """The hash of everything that decides what is in the environment."""
        parts = (
            _MANNER,
            self.identity,
            *sorted(self.extra),
            str(self.dependencies),
            platform.python_implementation(),
            platform.python_version(),
            platform.system(),
            platform.machine(),
            *platform.libc_ver(),
            uv.uv_version(),
        )
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def python_for(recipe: Recipe, *, failed: Failed | None = None) -> Path:
    """Returns the interpreter of a recipe's environment, made now or before.

    Args:
        recipe: what is in it.
        failed: what this run has failed to make; grows.

    Raises:
        CouldNotFindOutError: it cannot be made; the message says why, and nothing is left of it.
    """
    directory = cache_directory() / ENVIRONMENTS / f"{recipe.name}-{recipe.key}"
    directory.parent.mkdir(parents=True, exist_ok=True)
    ready = directory / READY
    with FileLock(directory.parent / f"{directory.name}.lock"):
        if not (ready.exists() and (directory / "bin" / "python").exists()):
            if failed is not None and recipe.key in failed:
                raise CouldNotFindOutError(failed[recipe.key])
            shutil.rmtree(directory, ignore_errors=True)
            try:
                _make(recipe, directory)
            except BaseException as error:
                shutil.rmtree(directory, ignore_errors=True)
                if failed is not None and isinstance(error, CouldNotFindOutError):
                    failed[recipe.key] = error.message
                raise
        ready.touch()
    return directory / "bin" / "python"


def _make(recipe: Recipe, directory: Path) -> None:
    uv.make_environment(directory, python=Path(sys.executable))
    try:
        if recipe.lay_out is None:
            if recipe.requirement is not None:
                # In one resolution, so that the extra requirements cannot pull the release's dependencies apart.
                uv.install(directory, (recipe.requirement, *recipe.extra), dependencies=recipe.dependencies)
        else:
            with scratch() as top:
                source = recipe.lay_out(top / "source")
                try:
                    # The source is gone afterwards, so nothing in the environment may be a link to it.
                    uv.install(directory, (str(source),), dependencies=recipe.dependencies, editable=False)
                except CouldNotFindOutError as error:
                    # It is no place to look at either, and has another name each time.
                    place = str(top / "source")
                    words = error.message.replace(f"file://{place}", ".").replace(place, ".")
                    raise CouldNotFindOutError(words) from error
            uv.install(directory, recipe.extra)
    except CouldNotFindOutError as error:
        raise CouldNotFindOutError(f"the environment of {recipe.name} cannot be made: {error.message}") from error
