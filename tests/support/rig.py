"""Builds superprojects and components to judge: real git, one process a commit, and the same ids every run."""

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support import Pinctl, Result
from support.git import run

START = 1_780_000_000
"""The time of every repository's first commit; the others follow by the minute."""

_WHO = "Test <test@pinctl.example>"


@dataclass(kw_only=True)
class Repo:
    """A repository, bare or with a checkout, that tests write commits into without any checkout."""

    directory: Path
    _clock: Iterator[int] = field(default_factory=lambda: itertools.count(START, 60))

    @classmethod
    def make(cls, directory: Path, *, bare: bool = False, object_format: str = "sha1") -> "Repo":
        """Makes an empty one."""
        options = ["--bare"] if bare else []
        command = ["git", "init", "--quiet", "--initial-branch=main", f"--object-format={object_format}", *options]
        subprocess.run([*command, directory], check=True)
        return cls(directory=directory)

    def git(self, *arguments: str | Path, stdin: str = "", env: Mapping[str, str] | None = None) -> str:
        """Runs git here, and returns what it prints without the final newline."""
        return run(self.directory, *arguments, stdin=stdin, env=env)

    def oid(self, revision: str = "main") -> str:
        """Returns the id that a revision names."""
        return self.git("rev-parse", "--verify", revision)

    def commit(
        self,
        branch: str = "main",
        message: str = "Change something",
        *,
        files: Mapping[str, str | bytes | None] | None = None,
        links: Mapping[str, str] | None = None,
        gitlinks: Mapping[str, str | None] | None = None,
        parents: Sequence[str] | None = None,
        tree: str | None = None,
    ) -> str:
        """Makes a commit on a branch; a clean checkout of the branch follows.

        Args:
            branch: made where it is not there; a full ref name is taken as it is.
            message: subject and body.
            files: contents by path; None removes the file.
            links: targets of symbolic links by path.
            gitlinks: commits by path; None removes the gitlink.
            parents: instead of the branch's tip; the first one's tree is what is changed.
            tree: what to start from instead.

        Returns:
            The commit's id.
        """
        ref = branch if branch.startswith("refs/") else f"refs/heads/{branch}"
        if parents is None:
            tip = self.git("for-each-ref", "--format=%(objectname)", ref)
            parents = [tip] if tip else []
        when = f"{next(self._clock)} +0000"
        stream = [f"commit {ref}\nmark :1\nauthor {_WHO} {when}\ncommitter {_WHO} {when}\n".encode()]
        stream.append(_data(message))
        stream += [f"{'merge' if number else 'from'} {parent}\n".encode() for number, parent in enumerate(parents)]
        if tree is not None:
            stream.append(f"M 040000 {self.oid(f'{tree}^{{tree}}')} \n".encode())
        for path, contents in (files or {}).items():
            stream.append(f"D {path}\n".encode() if contents is None else _file("100644", path, contents))
        stream += [_file("120000", path, target) for path, target in (links or {}).items()]
        for path, oid in (gitlinks or {}).items():
            stream.append(f"D {path}\n".encode() if oid is None else f"M 160000 {oid} {path}\n".encode())
        stream.append(b"get-mark :1\ndone\n")
        ended = subprocess.run(
            ["git", "-C", self.directory, "fast-import", "--quiet", "--done", "--force", "--date-format=raw"],
            input=b"".join(stream),
            check=False,
            capture_output=True,
        )
        assert ended.returncode == 0, ended.stderr.decode()
        head = self.directory / ".git/HEAD"
        if head.is_file() and head.read_text() == f"ref: {ref}\n":
            self.git("reset", "--quiet", "--hard")
        return ended.stdout.decode().strip()

    def branch(self, name: str, at: str = "main") -> None:
        """Makes a branch, or moves it."""
        self.git("update-ref", name if name.startswith("refs/") else f"refs/heads/{name}", at)

    def switch(self, branch: str) -> None:
        """Checks a branch out."""
        self.git("checkout", "--quiet", "--force", branch)


@dataclass(kw_only=True)
class Rig:
    """A directory with a superproject and the remotes of its components beside it."""

    top: Path
    components: dict[str, Repo] = field(default_factory=dict)

    def component(self, name: str = "lib", *, commits: int = 3, object_format: str = "sha1") -> Repo:
        """Makes a component's remote, with some commits on main that change a file each."""
        repo = Repo.make(self.top / "remotes" / f"{name}.git", bare=True, object_format=object_format)
        for number in range(1, commits + 1):
            repo.commit(message=f"{name} {number}", files={f"file{number}": f"{name} {number}\n"})
        self.components[name] = repo
        return repo

    def superproject(
        self,
        pins: Mapping[str, str],
        *,
        files: Mapping[str, str | bytes | None] | None = None,
        modules: str | None = None,
        object_format: str = "sha1",
    ) -> Repo:
        """Makes the superproject: one commit on main, checked out, its submodules not initialised.

        Args:
            pins: commits by component; each is at deps/NAME.
            files: what else is in the commit.
            modules: the contents of .gitmodules, where they are not those that the pins need.
            object_format: its hash.
        """
        repo = Repo.make(self.top / "super", object_format=object_format)
        written = self.modules(*pins) if modules is None else modules
        repo.commit(
            message="Pin",
            files={**({".gitmodules": written} if written else {}), **(files or {})},
            gitlinks={f"deps/{name}": oid for name, oid in pins.items()},
        )
        return repo

    def modules(self, *names: str, **more: str) -> str:
        """Writes sections of .gitmodules for components, each with some more keys."""
        return "".join(self.module(name, **more) for name in names)

    def module(self, name: str, *, path: str | None = None, url: str | Path | None = None, **more: str) -> str:
        """Writes one section of .gitmodules."""
        url = self.components[name].directory if url is None and name in self.components else url
        lines = [f'[submodule "{name}"]', f"path = {path or f'deps/{name}'}", f"url = {url}"]
        return "\n\t".join([*lines, *(f"{key} = {value}" for key, value in more.items())]) + "\n"

    def pins_toml(self, *names: str, more: Mapping[str, str] | None = None, head: str = "") -> str:
        """Writes a pins.toml with some components, each with the lines that it is given, and some for the head."""
        lines = ["version = 1", "", "[superproject]", 'name = "super"', 'branch = "main"', head]
        for name in names:
            lines += ["", f"[components.{name}]", f'pin = {{ gitlink = "deps/{name}" }}', (more or {}).get(name, "")]
        return "\n".join(lines) + "\n"


def plan_toml(*, pull: int, branch: str | None = None) -> str:
    """Writes a landing plan: lib first, then the superproject's pull request 9, which moves the pin of lib.

    Args:
        pull: the pull request of lib.
        branch: that of the superproject's change, where the plan names it.
    """
    named = "" if branch is None else f'branch = "{branch}"\n'
    return f"""version = 1
title = "Read the new form"

[[changes]]
id = "lib"
component = "lib"
pull = {pull}

[[changes]]
id = "server"
component = "super"
pull = 9
{named}after = ["lib"]
pins = ["lib"]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What `pinctl check` found, from its JSON."""

    status: int
    data: dict[str, Any]

    @property
    def findings(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.data["findings"]
        return found

    @property
    def rules(self) -> list[tuple[str, str]]:
        """Rule and path of each finding.

        The rule is `?PIN001` where it could not be judged, `(PIN001)` where it is waived, `~PIN001` for a warning.
        """
        return [(_shown(item), item["path"]) for item in self.findings]

    @property
    def messages(self) -> list[str]:
        return [item["message"] for item in self.findings]

    @property
    def only(self) -> dict[str, Any]:
        """The one finding there is."""
        (found,) = self.findings
        return found

    def answer(self) -> tuple[int, list[tuple[str, str]]]:
        """The exit status with the rules."""
        return self.status, self.rules


def checked(pinctl: Pinctl, repo: Repo, *arguments: str) -> Checked:
    """Runs `pinctl check` on a superproject, and holds it to printing nothing but its answer."""
    result = pinctl("check", "--format", "json", *arguments, cwd=repo.directory)
    return as_checked(result)


def as_checked(result: Result) -> Checked:
    """Reads what a run of `pinctl check --format json` printed."""
    assert result.stderr == "", result
    return Checked(status=result.status, data=json.loads(result.stdout))


def apart(directory: Path, *arguments: str, seconds: float = 60, env: Mapping[str, str] | None = None) -> Result:
    """Runs pinctl in a process of its own, and ends everything that it started when its time is over."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pinctl", *arguments],
        cwd=directory,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        msg = f"pinctl {arguments} was not done after {seconds} seconds"
        raise AssertionError(msg) from error
    return Result(status=process.returncode, stdout=stdout, stderr=stderr)


def shell(directory: Path, command: str) -> None:
    """Runs a command as a user would who copied it from a finding."""
    ended = subprocess.run(["sh", "-ec", command], cwd=directory, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, f"{command}: {ended.stderr}"


def _shown(item: Mapping[str, Any]) -> str:
    rule = item["rule"]
    if item["waived"] is not None:
        return f"({rule})"
    if item["unknown"]:
        return f"?{rule}"
    return f"~{rule}" if item["level"] == "warning" else str(rule)


def _file(mode: str, path: str, contents: str | bytes) -> bytes:
    return f"M {mode} inline {path}\n".encode() + _data(contents)


def _data(contents: str | bytes) -> bytes:
    data = contents.encode() if isinstance(contents, str) else contents
    return f"data {len(data)}\n".encode() + data + b"\n"
