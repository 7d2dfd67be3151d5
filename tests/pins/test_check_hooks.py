"""Run from git's hooks, with GIT_DIR and GIT_INDEX_FILE exported, `pinctl check` gives the same answer."""

import sys
from pathlib import Path

import pytest

from support import Pinctl
from support.rig import Repo, Rig, apart, as_checked, checked
from support.snapshot import difference, snapshot

HOOK = '#!/bin/sh\nexec "{python}" -m pinctl check {arguments}\n'
NOTE = """#!/bin/sh
env | grep ^GIT_ | sort > "{log}"
"{python}" -m pinctl check {arguments} > "{answer}" 2>&1
echo $? >> "{answer}"
"""


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rig:
    """A rig whose git commits take their dates from the clock, as users' do."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return Rig(top=tmp_path)


def _superproject(rig: Rig, pinned: str = "main") -> Repo:
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid(pinned)}, files={"code.py": "x = 1\n"})
    repo.git("submodule", "--quiet", "update", "--init")
    return repo


def _install(repo: Repo, name: str, text: str) -> None:
    path = Path(repo.git("rev-parse", "--path-format=absolute", "--git-path", f"hooks/{name}"))
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def _refused(repo: Repo, *arguments: str) -> str:
    """Runs a git command that a hook must stop, and returns what the hook said."""
    import subprocess

    ended = subprocess.run(["git", "-C", repo.directory, *arguments], check=False, capture_output=True, text=True)
    assert ended.returncode != 0, ended
    return ended.stdout + ended.stderr


@pytest.mark.parametrize("arguments", [(), ("--all",), ("--all", "deps/lib"), ("--only", "deps/lib"), ("--amend",)])
def test_a_pre_commit_hook_stops_a_pin_that_went_back_however_it_is_committed(
    rig: Rig, arguments: tuple[str, ...]
) -> None:
    if arguments[:2] == ("--all", "deps/lib"):
        arguments = ("--include", "deps/lib")
    repo = _superproject(rig)
    _install(repo, "pre-commit", HOOK.format(python=sys.executable, arguments="--staged"))
    lib = rig.components["lib"]
    repo.git("-C", repo.directory / "deps/lib", "checkout", "--quiet", lib.oid("main~2"))
    if not arguments or arguments == ("--amend",):
        repo.git("add", "deps/lib")
    (repo.directory / "code.py").write_text("x = 2\n")
    head = repo.oid("HEAD")

    said = _refused(repo, "commit", "--quiet", "--message", "Change code", *arguments)

    assert said.startswith(
        f"PIN002 deps/lib: the pin moved back by 2, from {lib.oid()[:7]} to {lib.oid('main~2')[:7]}\n"
    )
    assert "(the index), judged 1 of 1 pins that moved" in said
    assert repo.oid("HEAD") == head
    repo.git("-C", repo.directory / "deps/lib", "checkout", "--quiet", lib.oid())
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--message", "Change code")
    assert repo.oid("HEAD^") == head


def test_a_part_of_what_is_staged_is_judged_by_what_is_committed(rig: Rig) -> None:
    """`git commit -- code.py` makes an index of its own, in which the staged pin is not."""
    repo = _superproject(rig)
    _install(repo, "pre-commit", HOOK.format(python=sys.executable, arguments="--staged"))
    repo.git("update-index", "--cacheinfo", f"160000,{rig.components['lib'].oid('main~1')},deps/lib")
    (repo.directory / "code.py").write_text("x = 2\n")

    repo.git("commit", "--quiet", "--message", "Change code", "--", "code.py")

    assert repo.git("diff", "--cached", "--name-only", "--ignore-submodules=none") == "deps/lib"


@pytest.mark.parametrize("where", ["plain", "worktree", "subdirectory"])
def test_in_a_hook_and_outside_the_answer_is_the_same(rig: Rig, tmp_path: Path, pinctl: Pinctl, where: str) -> None:
    repo = _superproject(rig)
    lib = rig.components["lib"]
    repo.commit("pr", "Move lib back", gitlinks={"deps/lib": lib.oid("main~1")}, parents=[repo.oid()])
    text = NOTE.format(
        python=sys.executable,
        arguments="--base main --head pr --format json",
        log=tmp_path / "log",
        answer=tmp_path / "answer",
    )
    _install(repo, "pre-commit", text)
    directory = repo.directory
    if where == "worktree":
        repo.git("worktree", "add", "--quiet", "-b", "mine", tmp_path / "linked")
        directory = tmp_path / "linked"
    outside = pinctl("check", "--base", "main", "--head", "pr", "--format", "json", cwd=repo.directory)
    assert outside.status == 1

    (directory / "some").mkdir()
    here = directory / "some" if where == "subdirectory" else directory
    repo.git("-C", here, "commit", "--quiet", "--allow-empty", "--all", "--message", "Nothing")

    exported = (tmp_path / "log").read_text()
    assert "GIT_INDEX_FILE=" in exported
    assert ("GIT_DIR=" in exported) is (where == "worktree")
    assert (tmp_path / "answer").read_text() == f"{outside.stdout}1\n"


@pytest.mark.parametrize(
    "exported",
    [
        {"GIT_DIR": "{top}/super/.git"},
        {"GIT_DIR": ".git"},
        {"GIT_DIR": ".git", "GIT_WORK_TREE": "."},
        {"GIT_DIR": ".git", "GIT_INDEX_FILE": ".git/index", "GIT_PREFIX": ""},
        {"GIT_INDEX_FILE": "{top}/super/.git/index"},
        {"GIT_OBJECT_DIRECTORY": "{top}/super/.git/objects", "GIT_QUARANTINE_PATH": "{top}/super/.git/objects"},
        {"GIT_NAMESPACE": "some", "GIT_LITERAL_PATHSPECS": "1", "GIT_CEILING_DIRECTORIES": "{top}"},
        {"GIT_SHALLOW_FILE": "{top}/none", "GIT_GRAFT_FILE": "{top}/none", "GIT_CONFIG": "{top}/none"},
        {"GIT_COMMON_DIR": "{top}/super/.git", "GIT_DIR": "{top}/super/.git"},
        {"GIT_REFLOG_ACTION": "rebase", "GIT_EDITOR": ":", "GIT_EXEC_PATH": "", "GIT_INTERNAL_GETTEXT_SH_SCHEME": "x"},
        {"GIT_EXTERNAL_DIFF": "false", "GIT_DIFF_OPTS": "-u9", "GIT_PAGER": "false", "GIT_TRACE": "0"},
    ],
)
def test_variables_that_a_git_command_exports_make_no_difference(
    rig: Rig, tmp_path: Path, pinctl: Pinctl, exported: dict[str, str]
) -> None:
    repo = _superproject(rig)
    repo.commit("pr", "Move lib back", gitlinks={"deps/lib": rig.components["lib"].oid("main~1")}, parents=[repo.oid()])
    expected = checked(pinctl, repo, "--base", "main", "--head", "pr")
    env = {name: value.format(top=tmp_path) for name, value in exported.items()}
    if env.get("GIT_EXEC_PATH") == "":
        env["GIT_EXEC_PATH"] = repo.git("--exec-path")

    result = apart(repo.directory, "check", "--base", "main", "--head", "pr", "--format", "json", env=env)

    assert as_checked(result) == expected


def test_a_pre_push_hook_judges_what_is_pushed(rig: Rig, tmp_path: Path) -> None:
    repo = _superproject(rig)
    Repo.make(tmp_path / "remotes/super.git", bare=True)
    repo.git("remote", "add", "origin", str(tmp_path / "remotes/super.git"))
    repo.git("push", "--quiet", "origin", "main")
    _install(repo, "pre-push", HOOK.format(python=sys.executable, arguments="--base origin/main"))
    repo.git("checkout", "--quiet", "-b", "pr")
    repo.commit("pr", "Move lib back", gitlinks={"deps/lib": rig.components["lib"].oid("main~1")})

    assert _refused(repo, "push", "--quiet", "origin", "pr").startswith("PIN002 deps/lib: ")
    repo.commit("pr", "And on", gitlinks={"deps/lib": rig.components["lib"].oid()})
    repo.git("push", "--quiet", "origin", "pr")


def test_a_hook_on_the_server_cannot_judge_a_bare_repository_and_says_so(rig: Rig, tmp_path: Path) -> None:
    repo = _superproject(rig)
    repo.git("clone", "--quiet", "--bare", repo.directory, tmp_path / "bare.git")

    result = apart(tmp_path / "bare.git", "check", env={"GIT_DIR": "."})

    assert (result.status, result.stdout) == (3, "")
    assert "is a bare repository" in result.stderr


def test_conflicts_in_the_index_are_unknown_and_named(rig: Rig, pinctl: Pinctl) -> None:
    repo = _superproject(rig, "main~2")
    lib = rig.components["lib"]
    side = lib.commit("side", "Side", files={"side": "x\n"}, parents=[lib.oid("main~2")])
    repo.commit("pr", "Take the side", gitlinks={"deps/lib": side}, parents=[repo.oid()])
    repo.commit("main", "Bump lib", gitlinks={"deps/lib": lib.oid()})
    _refused(repo, "merge", "pr")
    assert "160000" in repo.git("ls-files", "--unmerged")

    result = pinctl("check", "--staged", cwd=repo.directory)

    assert (result.status, result.stdout) == (3, "")
    assert result.stderr == ("error: the index has conflicts in deps/lib\nhint: Settle them, and git add the result.\n")


def test_staged_goes_with_neither_base_nor_head(rig: Rig, pinctl: Pinctl) -> None:
    repo = _superproject(rig)

    for option in ("--base", "--head"):
        assert pinctl("check", "--staged", option, "main", cwd=repo.directory).status == 2


def test_what_is_staged_stays_as_it_is(rig: Rig, pinctl: Pinctl) -> None:
    repo = _superproject(rig)
    (repo.directory / "code.py").write_text("x = 2\n")
    repo.git("add", "code.py")
    repo.git("update-index", "--cacheinfo", f"160000,{rig.components['lib'].oid('main~1')},deps/lib")

    before = snapshot(repo.directory)

    assert checked(pinctl, repo, "--staged").answer() == (1, [("PIN002", "deps/lib")])

    assert difference(before, snapshot(repo.directory)) == set()
