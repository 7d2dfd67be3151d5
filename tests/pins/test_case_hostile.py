"""A .gitmodules that wants to reach outside the checkout or to run commands is refused before git sees it."""

from pathlib import Path

import pytest

from support import Pinctl
from support.rig import Repo, Rig, checked, shell

MARK = "pwned"

_OUTSIDE = "would reach outside the checkout"
_COMMAND = "would run a command"

HOSTILE = [
    pytest.param('[submodule "../../evil"]\n\tpath = deps/lib\n\turl = {lib}\n', _OUTSIDE, id="name upwards"),
    pytest.param('[submodule ".."]\n\tpath = deps/lib\n\turl = {lib}\n', _OUTSIDE, id="name is two dots"),
    pytest.param('[submodule "a/../../b"]\n\tpath = deps/lib\n\turl = {lib}\n', _OUTSIDE, id="name upwards inside"),
    pytest.param('[submodule "..\\\\evil"]\n\tpath = deps/lib\n\turl = {lib}\n', _OUTSIDE, id="name with backslash"),
    pytest.param('[submodule "/abs"]\n\tpath = deps/lib\n\turl = {lib}\n', _OUTSIDE, id="absolute name"),
    pytest.param('[submodule ".git"]\n\tpath = deps/lib\n\turl = {lib}\n', _OUTSIDE, id="name is .git"),
    pytest.param('[submodule "lib"]\n\tpath = ../lib\n\turl = {lib}\n', _OUTSIDE, id="path upwards"),
    pytest.param('[submodule "lib"]\n\tpath = deps/../../lib\n\turl = {lib}\n', _OUTSIDE, id="path upwards inside"),
    pytest.param('[submodule "lib"]\n\tpath = /deps/lib\n\turl = {lib}\n', _OUTSIDE, id="absolute path"),
    pytest.param('[submodule "lib"]\n\tpath = .git/hooks\n\turl = {lib}\n', _OUTSIDE, id="path into .git"),
    pytest.param('[submodule "lib"]\n\tpath = .GIT/hooks\n\turl = {lib}\n', _OUTSIDE, id="path into .GIT"),
    pytest.param('[submodule "lib"]\n\tpath = a/.Git\n\turl = {lib}\n', _OUTSIDE, id="path ends in .Git"),
    pytest.param('[submodule "lib"]\n\tpath = "deps/lib\r"\n\turl = {lib}\n', None, id="path ends in CR"),
    pytest.param('[submodule "lib\r"]\n\tpath = deps/lib\n\turl = {lib}\n', None, id="name ends in CR"),
    pytest.param('[submodule "lib"]\n\tpath = "deps/li\\nb"\n\turl = {lib}\n', None, id="path with newline"),
    pytest.param('[submodule "lib"]\n\tpath = -deps\n\turl = {lib}\n', None, id="path is an option"),
    pytest.param(
        '[submodule "lib"]\n\tpath = deps/lib\n\turl = -oProxyCommand=touch${{IFS}}{mark}\n', _COMMAND, id="option"
    ),
    pytest.param(
        '[submodule "lib"]\n\tpath = deps/lib\n\turl = --upload-pack=touch {mark}\n', _COMMAND, id="long option"
    ),
    pytest.param('[submodule "lib"]\n\tpath = deps/lib\n\turl = ext::sh -c touch% {mark}\n', _COMMAND, id="ext::"),
    pytest.param('[submodule "lib"]\n\tpath = deps/lib\n\turl = fd::17/foo\n', _COMMAND, id="fd::"),
    pytest.param('[submodule "lib"]\n\tpath = deps/lib\n\turl = "{lib}\\n[x]"\n', None, id="url with newline"),
    pytest.param('[submodule "lib"]\n\tpath = deps/lib\n\turl = "{lib}\r"\n', None, id="url ends in CR"),
    pytest.param(
        '[submodule "lib"]\n\tpath = deps/lib\n\turl = ssh://-oProxyCommand=touch%20{mark}/x\n', _COMMAND, id="ssh host"
    ),
    pytest.param(
        '[submodule "lib"]\n\tpath = deps/lib\n\turl = git@-oProxyCommand=touch%20{mark}:x\n', _COMMAND, id="scp host"
    ),
]


def _superproject(rig: Rig, modules: str) -> Repo:
    """Makes a superproject whose HEAD is harmless, and a pull request with a hostile .gitmodules that moves a pin."""
    lib, other = rig.component("lib"), rig.component("other")
    written = modules.format(lib=lib.directory, mark=rig.top / MARK) + rig.module("other")
    repo = rig.superproject({"lib": lib.oid("main~1"), "other": other.oid("main~1")})
    moved = {"deps/lib": lib.oid(), "deps/other": other.oid()}
    repo.commit("pr", "Bump both", files={".gitmodules": written}, gitlinks=moved, parents=[repo.oid()])
    return repo


@pytest.mark.parametrize(("modules", "words"), HOSTILE)
def test_a36_it_is_refused_before_git_is_asked_about_it(
    tmp_path: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch, modules: str, words: str | None
) -> None:
    repo = _superproject(Rig(top=tmp_path), modules)
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "file:ext:ssh:fd")
    log = tmp_path / "trace"
    monkeypatch.setenv("GIT_TRACE", str(log))

    for switched in (False, True):
        if switched:
            repo.switch("pr")
        for command in (
            ("check", "--base", "main", "--head", "pr"),
            ("check", "--base", "main", "--head", "pr", "--all"),
        ):
            result = pinctl(*command, cwd=repo.directory)

            assert (result.status, result.stdout) == (2, ""), (modules, result)
            assert result.stderr.startswith("error: .gitmodules "), result.stderr
            assert words is None or words in result.stderr
            assert "\r" not in result.stderr
    assert pinctl("status", cwd=repo.directory).status == 2
    assert not (tmp_path / MARK).exists()
    asked = log.read_text()
    assert "ls-remote" not in asked
    assert "git fetch" not in asked
    assert "git init" not in asked


@pytest.mark.parametrize("target", ["../outside", "/etc/hostname", "elsewhere"])
def test_a36_a_symbolic_link_for_gitmodules_is_refused(tmp_path: Path, pinctl: Pinctl, target: str) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid("main~1")}, files={"elsewhere": rig.module("lib")})
    repo.commit(
        "pr",
        "Bump lib",
        files={".gitmodules": None},
        links={".gitmodules": target},
        gitlinks={"deps/lib": lib.oid()},
        parents=[repo.oid()],
    )

    result = pinctl("check", "--base", "main", "--head", "pr", cwd=repo.directory)

    assert (result.status, result.stdout) == (2, "")
    assert result.stderr.startswith("error: .gitmodules is a symbolic link at ")


@pytest.mark.parametrize(
    ("name", "path", "url"),
    [
        ("lib", "deps/lib", "../remotes/lib.git"),
        ("some lib", "deps/some lib", "{lib}"),
        ("lib..x", "deps/lib..x", "{lib}"),
        ("lib.git", "deps/.github", "{lib}"),
        ("bücher", "deps/bücher", "{lib}"),
        ("lib", "deps/lib", "file://{lib}"),
    ],
)
def test_a36_odd_but_honest_ones_are_not_refused(
    tmp_path: Path, pinctl: Pinctl, name: str, path: str, url: str
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    modules = rig.module(name, path=path, url=url.format(lib=lib.directory))
    repo = rig.superproject({}, modules=modules)
    repo.git("remote", "add", "origin", str(tmp_path / "origin/super.git"))
    (tmp_path / "origin").mkdir()
    if url.startswith(".."):
        (tmp_path / "origin/remotes").symlink_to(tmp_path / "remotes")
    repo.commit(gitlinks={path: lib.oid()})

    pins_toml_is_not_needed = pinctl("check", "--base", "HEAD~1", "--head", "HEAD", cwd=repo.directory)

    assert (pins_toml_is_not_needed.status, pins_toml_is_not_needed.stderr) == (0, "")


@pytest.mark.parametrize(
    ("name", "path"),
    [("a; touch pwned", "deps/lib"), ("$(touch pwned)", "deps/lib"), ("lib", "deps/a b; touch pwned"), ("a b", "a b")],
)
def test_a36_what_a_finding_says_to_run_runs_nothing_but_that(
    tmp_path: Path, pinctl: Pinctl, name: str, path: str
) -> None:
    """A name from somebody else's pull request ends up in a command that a reviewer copies."""
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    modules = rig.module(name, path=f'"{path}"', url=lib.directory)
    repo = rig.superproject({}, modules=modules)
    repo.commit(gitlinks={path: lib.oid(), "st ray; touch pwned": lib.oid()})
    moved = {path: lib.oid("main~1"), "st ray; touch pwned": lib.oid("main~1")}
    changed = {".gitmodules": modules.replace("lib.git", "other.git")}
    (tmp_path / "remotes/other.git").symlink_to(lib.directory)
    repo.commit("pr", "Change all", gitlinks=moved, files=changed, parents=[repo.oid()])
    repo.switch("pr")

    found = checked(pinctl, repo, "--base", "main")

    assert found.status == 1
    assert sorted(code for code, _ in found.rules) == ["PIN002", "PIN007", "PIN012"]
    for finding in found.findings:
        shell(repo.directory, finding["fix"])
    assert not list(repo.directory.rglob("pwned"))
    repo.git("commit", "--quiet", "--all", "--message", "Fix all")
    assert checked(pinctl, repo, "--base", "main").answer() == (0, [])
