"""Runs git: the one place where a git process starts and its failure becomes an error of ours."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import git
from git.exc import GitCommandNotFound
from git.util import remove_password_if_present

from pinctl.errors import CouldNotFindOutError

# submodule.recurse makes checkouts descend into submodules; a background gc could race with what is being built.
_SETTINGS = (
    "-c", "submodule.recurse=false",
    "-c", "core.quotePath=false",
    "-c", "gc.auto=0",
    "-c", "maintenance.auto=false",
    "-c", "advice.detachedHead=false",
    "-c", "init.defaultBranch=main",
)  # fmt: skip

# In GitPython's words; they name the whole command.
_TIMED_OUT = "Timeout: the command "


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """How a git process ended."""

    status: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        """Stdout as text, without the final newline."""
        return self.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def run_git(
    cwd: Path,
    *arguments: str,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    accept: tuple[int, ...] = (0,),
    seconds: float | None = None,
) -> Completed:
    """Runs one git command.

    Args:
        cwd: the directory to run in.
        arguments: the command and its arguments, without `git`.
        stdin: what the command reads.
        env: variables set beside the inherited ones.
        accept: the exit statuses that are answers.
        seconds: the time limit; None is no limit.

    Returns:
        The status with what was printed.

    Raises:
        CouldNotFindOutError: git is not there, or failed with a status that is no answer.
    """
    variables = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", **(env or {})}
    with tempfile.TemporaryFile() as feed:
        if stdin is not None:
            feed.write(stdin)
            feed.seek(0)
        try:
            status, stdout, stderr = git.Git(cwd).execute(
                ["git", *_SETTINGS, *arguments],
                istream=feed if stdin is not None else None,
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                kill_after_timeout=seconds,
                env=variables,
            )
        except GitCommandNotFound as error:
            raise CouldNotFindOutError(
                "git cannot be run: it is not on PATH", hint="Install git 2.38 or newer."
            ) from error
    if seconds is not None and status != 0 and stderr.startswith(_TIMED_OUT):
        stderr = f"fatal: no answer in {seconds:g} seconds"
    completed = Completed(status=status, stdout=stdout or b"", stderr=stderr)
    if status not in accept:
        raise CouldNotFindOutError(f"`git {' '.join(_shown(arguments))}` failed in {cwd}: {_reason(completed)}")
    return completed


def _shown(arguments: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(remove_password_if_present(list(arguments)))


def _reason(completed: Completed) -> str:
    return completed.stderr.strip() or f"exit status {completed.status}"
