"""Runs git: the one place where a git process starts and its failure becomes an error of ours."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pinctl.errors import CouldNotFindOutError
from pinctl.tools.process import Talker, ask, talk

# submodule.recurse makes checkouts descend into submodules; a background gc could race with what is being built.
_SETTINGS = (
    "-c", "submodule.recurse=false",
    "-c", "core.quotePath=false",
    "-c", "gc.auto=0",
    "-c", "maintenance.auto=false",
    "-c", "advice.detachedHead=false",
    "-c", "init.defaultBranch=main",
)  # fmt: skip


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
    command = ["git", *_SETTINGS, *arguments]
    try:
        ended = ask(command, cwd=cwd, env=_environment(env), stdin=stdin or b"", seconds=seconds)
    except CouldNotFindOutError as error:
        raise _explained(error) from error
    stderr = f"fatal: no answer in {seconds:g} seconds" if ended.timed_out else ended.stderr.removesuffix("\n")
    completed = Completed(status=ended.status, stdout=ended.stdout, stderr=stderr)
    if completed.status not in accept:
        shown = " ".join(shown_url(argument) for argument in arguments)
        raise CouldNotFindOutError(f"`git {shown}` failed in {cwd}: {_reason(completed)}")
    return completed


def talk_to_git(cwd: Path, *arguments: str, env: Mapping[str, str]) -> Talker:
    """Starts a git command that answers for as long as it is asked.

    Raises:
        CouldNotFindOutError: git is not there.
    """
    try:
        return talk(["git", *arguments], cwd=cwd, env=_environment(env))
    except CouldNotFindOutError as error:
        raise _explained(error) from error


def shown_url(url: str) -> str:
    """Returns a remote's name or URL as it may be printed: without a user's name or password."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def _environment(more: Mapping[str, str] | None) -> dict[str, str]:
    # git's words are read, so they must be the English ones.
    ours = {"LANGUAGE": "C", "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
    return {**os.environ, **ours, **(more or {})}


def _explained(error: CouldNotFindOutError) -> CouldNotFindOutError:
    if shutil.which("git") is not None:
        return error
    return CouldNotFindOutError("git cannot be run: it is not on PATH", hint="Install git 2.38 or newer.")


def _reason(completed: Completed) -> str:
    return completed.stderr.strip() or f"exit status {completed.status}"
