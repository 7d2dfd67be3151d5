"""Names what the fixtures hand to tests."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a run of pinctl ended."""

    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """An embedded stack of the test's own, which it may change."""

    directory: Path

    @property
    def superproject(self) -> Path:
        return self.directory / "prime-rl"

    def remote(self, name: str) -> Path:
        return self.directory / "remotes" / f"{name}.git"


class Pinctl(Protocol):
    """Runs pinctl in this process: `pinctl("status", cwd=directory)`."""

    def __call__(self, *arguments: str | Path, cwd: Path = ...) -> Result: ...


class Git(Protocol):
    """Runs git: `git(directory, "log", "-1")` returns what it prints, without the final newline."""

    def __call__(self, directory: Path, *arguments: str | Path) -> str: ...
