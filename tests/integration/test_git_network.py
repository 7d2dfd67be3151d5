"""Gives up remotes that say nothing in bounded time, unless the user has said how long to wait."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinctl.errors import CouldNotFindOutError
from pinctl.tools.git import network, refs
from pinctl.tools.git.network import patience
from pinctl.tools.git.refs import ask_remote
from pinctl.tools.git.repository import Repository
from support import Pinctl
from support.rig import Repo, Rig, checked

HTTP = {"GIT_HTTP_LOW_SPEED_LIMIT": "1", "GIT_HTTP_LOW_SPEED_TIME": "60"}
SSH = {"GIT_SSH_COMMAND": "ssh -o ConnectTimeout=30 -o ServerAliveInterval=15 -o ServerAliveCountMax=4"}


class Silent:
    """A remote that takes connections and never says a word."""

    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self.url = f"http://127.0.0.1:{server.getsockname()[1]}/lib.git"

    def connections(self) -> int:
        """Counts those that were made since it was asked last."""
        self._server.settimeout(0)
        count = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                self._server.accept()[0].close()
                count += 1
        return count


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Silent]:
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "http:file:ssh")
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield Silent(server)


@pytest.mark.parametrize(
    ("setting", "variable", "expected"),
    [
        (None, None, {**HTTP, **SSH}),
        ("http.lowSpeedTime", None, SSH),
        ("http.https://h.example/.lowSpeedLimit", None, SSH),
        ("core.sshCommand", None, HTTP),
        ("ssh.variant", None, HTTP),
        (None, "GIT_HTTP_LOW_SPEED_TIME", SSH),
        (None, "GIT_SSH", HTTP),
        (None, "GIT_SSH_COMMAND", HTTP),
    ],
)
def test_what_the_user_has_set_stays(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    setting: str | None,
    variable: str | None,
    expected: dict[str, str],
) -> None:
    repo = Repo.make(tmp_path / "repo")
    if setting is not None:
        repo.git("config", setting, "1")
    if variable is not None:
        monkeypatch.setenv(variable, "1")

    assert patience(Repository.open(repo.directory)) == expected


def test_a_remote_that_says_nothing_is_asked_once_and_unknown(
    tmp_path: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch, silent: Silent
) -> None:
    monkeypatch.setattr(network, "_SILENT_SECONDS", 1)
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    pyproject = '[project]\nname = "super"\nversion = "0"\ndependencies = ["lib>=1"]\n'
    pins_toml = rig.pins_toml("lib", more={"lib": 'distribution = "lib"'}, head='manifests = ["pyproject.toml"]')
    files = {"pyproject.toml": pyproject, "pins.toml": pins_toml}
    repo = rig.superproject({"lib": lib.oid("main~1")}, modules=rig.module("lib", url=silent.url), files=files)
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": lib.oid()}, parents=[repo.oid()])

    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    assert found.answer() == (3, [("?PIN001", "deps/lib"), ("?FLR001", "deps/lib")])
    assert all(f"the remote {silent.url} does not answer: " in message for message in found.messages)
    assert silent.connections() == 1


def test_what_takes_too_long_in_any_other_way_is_said_in_our_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, silent: Silent
) -> None:
    monkeypatch.setattr(refs, "SECONDS", 0.5)
    repo = Repo.make(tmp_path / "repo")

    with pytest.raises(CouldNotFindOutError) as caught:
        ask_remote(Repository.open(repo.directory), silent.url)

    assert caught.value.message == f"the remote {silent.url} does not answer: no answer in 0.5 seconds"


@pytest.mark.parametrize("own", [False, True])
def test_ssh_is_told_how_long_to_wait_unless_the_user_has_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, own: bool
) -> None:
    log, program = tmp_path / "log", tmp_path / "bin/ssh"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexit 255\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "ssh")
    repo = Repo.make(tmp_path / "repo")
    if own:
        repo.git("config", "core.sshCommand", "ssh -F mine")

    with pytest.raises(CouldNotFindOutError, match="does not answer"):
        ask_remote(Repository.open(repo.directory), "ssh://git@127.0.0.1:1/lib.git")

    assert ("-o ConnectTimeout=30" in log.read_text()) is not own
    assert ("-F mine" in log.read_text()) is own
