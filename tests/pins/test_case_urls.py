"""URLs are git's to resolve: relative, over ssh, rewritten, with credentials; never printed with those."""

import base64
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pinctl.tools.git.repository import Repository
from pinctl.tools.git.submodules import read_submodules, resolve_urls
from support import Git, Pinctl
from support.rig import Repo, Rig, checked

RANGE = ("--base", "main", "--head", "pr")
URLS = ("git@h.example:o/lib.git", "ssh://git@h.example:1234/p/lib.git", "https://h.example/o/lib.git")
HIDDEN = "s3cret"
TOKEN = base64.b64encode(f"x-access-token:{HIDDEN}".encode()).decode()


def _bump(rig: Rig, url: str) -> Repo:
    """Makes a pull request that takes lib back, which is at a URL of its own."""
    lib = rig.components.get("lib") or rig.component("lib")
    repo = rig.superproject({"lib": lib.oid()}, modules=rig.module("lib", url=url))
    repo.commit("pr", "Move lib back", gitlinks={"deps/lib": lib.oid("main~1")}, parents=[repo.oid()])
    return repo


@pytest.mark.parametrize("where", ["global", "system", "local", "included", "environment", "worktree"])
@pytest.mark.parametrize("url", URLS)
def test_a16_a_url_that_git_is_told_to_rewrite_is_rewritten_by_git(
    tmp_path: Path, pinctl: Pinctl, git: Git, monkeypatch: pytest.MonkeyPatch, url: str, where: str
) -> None:
    rig = Rig(top=tmp_path)
    repo = _bump(rig, url)
    key, value = f"url.{rig.components['lib'].directory}.insteadOf", url
    match where:
        case "global":
            monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
            git(repo.directory, "config", "--file", tmp_path / "config", key, value)
        case "system":
            monkeypatch.delenv("GIT_CONFIG_NOSYSTEM")
            monkeypatch.setenv("GIT_CONFIG_SYSTEM", str(tmp_path / "config"))
            git(repo.directory, "config", "--file", tmp_path / "config", key, value)
        case "local":
            git(repo.directory, "config", key, value)
        case "included":
            git(repo.directory, "config", "--file", tmp_path / "config", key, value)
            git(repo.directory, "config", "include.path", tmp_path / "config")
        case "environment":
            monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
            monkeypatch.setenv("GIT_CONFIG_KEY_0", key)
            monkeypatch.setenv("GIT_CONFIG_VALUE_0", value)
        case _:
            git(repo.directory, "config", "extensions.worktreeConfig", "true")
            git(repo.directory, "config", "--worktree", key, value)

    assert checked(pinctl, repo, *RANGE).answer() == (1, [("PIN002", "deps/lib")])
    status = pinctl("status", cwd=repo.directory)
    assert (status.status, status.stderr) == (0, "")


def test_a16_local_and_environment_settings_add_up(
    tmp_path: Path, pinctl: Pinctl, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(top=tmp_path)
    repo = _bump(rig, "gh:lib.git")
    git(repo.directory, "config", "url.https://h.example/o/.insteadOf", "unused:")
    git(repo.directory, "config", "http.extraHeader", "X: y")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{tmp_path}/remotes/.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "gh:")

    assert checked(pinctl, repo, *RANGE).answer() == (1, [("PIN002", "deps/lib")])


SSH = """#!/bin/sh
[ "$1" = -G ] && exit 0
printf '%s\\n' "$@" >> "{log}"
for last; do :; done
eval "set -- $last"
exec "$1" "{remotes}/${{2##*/}}"
"""


@pytest.mark.parametrize("variant", [False, True])
@pytest.mark.parametrize("url", URLS[:2])
def test_a16_the_superprojects_own_ssh_command_is_used_with_the_port(
    tmp_path: Path, pinctl: Pinctl, git: Git, monkeypatch: pytest.MonkeyPatch, url: str, *, variant: bool
) -> None:
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "ssh")
    repo = _bump(Rig(top=tmp_path), url)
    program = tmp_path / "my-ssh"
    text = SSH.format(log=tmp_path / "log", remotes=tmp_path / "remotes")
    program.write_text(text.replace("exit 0", "exit 1") if variant else text)
    program.chmod(0o755)
    git(repo.directory, "config", "core.sshCommand", str(program))
    if variant:
        git(repo.directory, "config", "ssh.variant", "ssh")

    assert checked(pinctl, repo, *RANGE).answer() == (1, [("PIN002", "deps/lib")])

    asked = (tmp_path / "log").read_text().split("\n")
    assert "git@h.example" in asked
    assert ("1234" in asked) is ("1234" in url)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """Serves tmp_path/remotes over HTTP to whoever sends the token; returns the address and what was sent."""
    sent: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sent.append(self.headers.get("Authorization", ""))
            if sent[-1] != f"basic {TOKEN}":
                self.send_error(404)
                return
            path, _, query = self.path.partition("?")
            env = {
                **os.environ,
                "GIT_PROJECT_ROOT": str(tmp_path / "remotes"),
                "GIT_HTTP_EXPORT_ALL": "1",
                "REQUEST_METHOD": self.command,
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            }
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = subprocess.run(["git", "http-backend"], input=body, env=env, check=True, capture_output=True)
            head, _, content = answer.stdout.partition(b"\r\n\r\n")
            self.send_response(200)
            for line in head.decode().splitlines():
                name, _, value = line.partition(": ")
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}", sent
        server.shutdown()


@pytest.mark.parametrize("where", ["local", "none"])
def test_a16_a41_the_token_of_the_checkout_opens_a_private_component(
    tmp_path: Path, pinctl: Pinctl, git: Git, monkeypatch: pytest.MonkeyPatch, served: tuple[str, list[str]], where: str
) -> None:
    """actions/checkout keeps its token in the superproject's own configuration."""
    address, sent = served
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "http")
    rig = Rig(top=tmp_path)
    repo = _bump(rig, f"http://{address}/lib.git")
    if where == "local":
        git(repo.directory, "config", f"http.http://{address}/.extraheader", f"AUTHORIZATION: basic {TOKEN}")

    result = pinctl("check", *RANGE, cwd=repo.directory)

    assert sent
    if where == "local":
        assert (result.status, result.stderr) == (1, "")
        assert result.stdout.startswith("PIN002 deps/lib: ")
    else:
        assert (result.status, result.stderr) == (3, "")
        assert f"the remote http://{address}/lib.git does not answer" in result.stdout
    assert TOKEN not in result.stdout


@pytest.mark.parametrize(
    "url",
    [
        f"https://user:{HIDDEN}@h.example/o/lib.git",
        f"https://{HIDDEN}@h.example/o/lib.git",
        f"https://x-access-token:{HIDDEN}@h.example:8443/o/lib.git",
        f"ssh://user:{HIDDEN}@h.example:22/o/lib.git",
        f"https://user:p%40{HIDDEN}@h.example/o/lib.git",
        f"https://user:p@{HIDDEN}@h.example/o/lib.git",
    ],
)
@pytest.mark.parametrize("reached", [True, False])
def test_a16_credentials_in_a_url_are_never_printed(
    tmp_path: Path, pinctl: Pinctl, git: Git, url: str, *, reached: bool
) -> None:
    rig = Rig(top=tmp_path)
    repo = _bump(rig, url)
    if reached:
        git(repo.directory, "config", f"url.{rig.components['lib'].directory}.insteadOf", url)
    repo.commit("pr", "Change the URL too", files={".gitmodules": rig.module("lib", url=url + "/")})
    missing = {"deps/lib": "5" * 40}
    repo.commit("gone", "Pin what is not there", gitlinks=missing, parents=[repo.oid()])

    for arguments in (
        ("check", *RANGE),
        ("check", *RANGE, "--format", "json"),
        ("check", *RANGE, "--format", "github"),
        ("check", "--base", "main", "--head", "gone", "--format", "sarif"),
        ("status",),
        ("--verbose", "status"),
    ):
        result = pinctl(*arguments, cwd=repo.directory)

        assert result.status in {0, 1, 3}
        assert HIDDEN not in result.stdout + result.stderr, arguments


ORIGINS = (
    "https://h.example/o/super.git",
    "https://h.example/o/super",
    "https://h.example/o/super/",
    "ssh://git@h.example:1234/o/super.git",
    "git@h.example:o/super.git",
    "h.example:super.git",
    "{top}/remotes/super.git",
    "{top}/remotes/super.git/",
    "{top}/remotes/super/.git",
    "file://{top}/remotes/super.git",
    "../remotes/super.git",
    "./remotes/super.git",
)
RELATIVE = ("../lib.git", "./lib.git", "../../lib.git", "./../../o/lib", "../lib%2Fx.git", "../lib.git/")


@pytest.mark.parametrize("origin", ORIGINS)
def test_a17_relative_urls_are_resolved_as_git_submodule_init_does(tmp_path: Path, git: Git, origin: str) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    names = [f"lib{number}" for number in range(len(RELATIVE))]
    modules = "".join(rig.module(name, url=url) for name, url in zip(names, RELATIVE, strict=True))
    repo = rig.superproject(dict.fromkeys(names, lib.oid()), modules=modules)
    git(repo.directory, "remote", "add", "origin", origin.format(top=tmp_path))
    opened = Repository.open(repo.directory)

    urls = resolve_urls(opened, read_submodules(opened, "HEAD"))

    git(repo.directory, "submodule", "--quiet", "init")
    expected = {f"deps/{name}": git(repo.directory, "config", f"submodule.{name}.url") for name in names}
    if origin.startswith("."):
        # What git says then is relative to the checkout, and means nothing anywhere else.
        expected = {path: f"{repo.directory}/{url}" for path, url in expected.items()}
    assert urls == expected
    assert resolve_urls(opened, read_submodules(opened, "HEAD")) == expected


@pytest.mark.parametrize("remotes", [(), ("upstream",)])
def test_a17_a_relative_url_without_an_origin_is_unknown(
    tmp_path: Path, pinctl: Pinctl, git: Git, remotes: tuple[str, ...]
) -> None:
    repo = _bump(Rig(top=tmp_path), "../remotes/lib.git")
    for name in remotes:
        git(repo.directory, "remote", "add", name, "https://h.example/o/super.git")

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (3, [("?PIN001", "deps/lib")])
    assert found.messages == [
        "could not find out: ../remotes/lib.git is relative to the superproject's origin, and the superproject has none"
    ]


def test_a17_a_relative_url_without_an_origin_does_not_stop_the_others(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib, other = rig.component("lib"), rig.component("other")
    modules = rig.module("lib", url="../remotes/lib.git") + rig.module("other")
    repo = rig.superproject({"lib": lib.oid(), "other": other.oid()}, modules=modules)
    moved = {"deps/lib": lib.oid("main~1"), "deps/other": other.oid("main~1")}
    repo.commit("pr", "Move both back", gitlinks=moved, parents=[repo.oid()])

    assert checked(pinctl, repo, *RANGE).answer() == (1, [("?PIN001", "deps/lib"), ("PIN002", "deps/other")])


@pytest.mark.parametrize("nested", [False, True])
def test_a17_relative_urls_are_fetched_from(tmp_path: Path, pinctl: Pinctl, git: Git, *, nested: bool) -> None:
    repo = _bump(Rig(top=tmp_path), "../../remotes/lib.git" if nested else "../remotes/lib.git")
    git(repo.directory, "remote", "add", "origin", tmp_path / ("o/super.git" if nested else "super.git"))

    assert checked(pinctl, repo, *RANGE).answer() == (1, [("PIN002", "deps/lib")])


def test_a17_a_url_that_the_user_has_set_for_the_clone_goes_first(tmp_path: Path, pinctl: Pinctl, git: Git) -> None:
    rig = Rig(top=tmp_path)
    repo = _bump(rig, "https://h.example/o/lib.git")
    git(repo.directory, "config", "submodule.lib.url", rig.components["lib"].directory)

    assert checked(pinctl, repo, *RANGE).answer() == (1, [("PIN002", "deps/lib")])
