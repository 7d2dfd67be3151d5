"""The same answer in every layout of a checkout, and with any configuration."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support import Git, Pinctl
from support.rig import Checked, Repo, Rig, checked
from support.snapshot import difference, snapshot

RANGE = ("--base", "main", "--head", "pr")
Enter = Callable[[Repo], Path]


def _world(rig: Rig) -> Repo:
    """Makes a superproject of two components, and a pull request that takes one back and bumps the other."""
    lib, other = rig.component("lib"), rig.component("other")
    repo = rig.superproject({"lib": lib.oid("main~1"), "other": other.oid("main~1")})
    moved = {"deps/lib": lib.oid("main~2"), "deps/other": other.oid()}
    repo.commit("pr", "Move both", gitlinks=moved, parents=[repo.oid()])
    return repo


def _plain(repo: Repo) -> Path:
    return repo.directory


def _subdirectory(repo: Repo) -> Path:
    directory = repo.directory / "some" / "where"
    directory.mkdir(parents=True)
    return directory


def _uninitialised_submodule(repo: Repo) -> Path:
    return repo.directory / "deps/lib"


def _initialised(repo: Repo) -> Path:
    repo.git("submodule", "--quiet", "update", "--init")
    return repo.directory


def _deinitialised(repo: Repo) -> Path:
    repo.git("submodule", "--quiet", "update", "--init")
    repo.git("submodule", "--quiet", "deinit", "--all")
    return repo.directory


def _old_style_submodule(repo: Repo) -> Path:
    """Its .git is a directory, as from an old git."""
    repo.git("-C", repo.directory / "deps", "clone", "--quiet", repo.directory.parent / "remotes/lib.git", "lib")
    return repo.directory


def _linked_worktree(repo: Repo) -> Path:
    repo.git("worktree", "add", "--quiet", "-b", "mine", repo.directory.parent / "linked")
    return repo.directory.parent / "linked"


def _linked_worktree_with_submodules(repo: Repo) -> Path:
    linked = _linked_worktree(repo)
    repo.git("-C", linked, "submodule", "--quiet", "update", "--init")
    return linked


def _separate_git_directory(repo: Repo) -> Path:
    repo.git("init", "--quiet", f"--separate-git-dir={repo.directory.parent / 'elsewhere.git'}")
    return repo.directory


def _submodule_of_something_larger(repo: Repo) -> Path:
    """The superproject is itself a submodule, its git directory absorbed."""
    larger = Repo.make(repo.directory.parent / "larger")
    larger.git("submodule", "--quiet", "add", repo.directory, "parts/super")
    inner = larger.directory / "parts/super"
    larger.git("-C", inner, "fetch", "--quiet", "origin", "pr:pr")
    assert (inner / ".git").is_file()
    return inner


def _through_a_link(repo: Repo) -> Path:
    (repo.directory.parent / "link").symlink_to(repo.directory)
    return repo.directory.parent / "link"


@pytest.mark.parametrize(
    "enter",
    [
        _plain,
        _subdirectory,
        _uninitialised_submodule,
        _initialised,
        _deinitialised,
        _old_style_submodule,
        _linked_worktree,
        _linked_worktree_with_submodules,
        _separate_git_directory,
        _submodule_of_something_larger,
        _through_a_link,
    ],
)
def test_a34_every_layout_gives_the_same_answer_and_stays_as_it_is(
    tmp_path: Path, pinctl: Pinctl, enter: Enter
) -> None:
    repo = _world(Rig(top=tmp_path))
    directory = enter(repo)
    before = snapshot(repo.directory)

    found = checked(pinctl, Repo(directory=directory), *RANGE)

    assert found.answer() == (1, [("PIN002", "deps/lib")])
    assert found.data["judged"] == ["2 of 2 pins that moved"]
    assert pinctl("status", cwd=directory).status == 0
    assert difference(before, snapshot(repo.directory)) == set()


def test_a34_in_a_worktree_of_a_submodule_it_is_the_submodule_that_is_judged(
    tmp_path: Path, pinctl: Pinctl, git: Git
) -> None:
    repo = _world(Rig(top=tmp_path))
    _initialised(repo)
    git(repo.directory / "deps/lib", "worktree", "add", "--quiet", "--detach", tmp_path / "of-lib")

    found = checked(pinctl, Repo(directory=tmp_path / "of-lib"), "--base", "HEAD^")

    assert found.answer() == (0, [])
    assert found.data["head"] == git(tmp_path / "of-lib", "rev-parse", "HEAD")
    assert found.data["judged"] == ["0 of 0 pins that moved"]


def test_a34_with_a_pins_toml_a_submodules_checkout_answers_for_the_superproject(
    tmp_path: Path, pinctl: Pinctl
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid()}, files={"pins.toml": rig.pins_toml("lib")})
    repo.commit("pr", "Move lib", gitlinks={"deps/lib": lib.oid("main~1")}, parents=[repo.oid()])
    _initialised(repo)

    found = checked(pinctl, Repo(directory=repo.directory / "deps/lib"), *RANGE)

    assert found.answer() == (1, [("PIN002", "deps/lib")])


def test_a11_a_clone_without_its_submodules_is_judged_from_its_tree_and_the_remotes(
    tmp_path: Path, pinctl: Pinctl, git: Git
) -> None:
    repo = _world(Rig(top=tmp_path))
    git(tmp_path, "clone", "--quiet", repo.directory, "clone")
    clone = Repo(directory=tmp_path / "clone")
    assert not list((clone.directory / "deps/lib").iterdir())

    found = checked(pinctl, clone, "--base", "origin/main", "--head", "origin/pr")

    assert found.answer() == (1, [("PIN002", "deps/lib")])
    assert clone.oid("HEAD")[:7] not in "".join(found.messages)


_SETTINGS = {
    "submodule.recurse": "true",
    "fetch.recurseSubmodules": "true",
    "push.recurseSubmodules": "on-demand",
    "status.submoduleSummary": "true",
    "diff.submodule": "log",
    "diff.ignoreSubmodules": "all",
    "diff.noprefix": "true",
    "diff.renames": "copies",
    "diff.external": "false",
    "color.ui": "always",
    "core.quotePath": "true",
    "core.pager": "false",
    "log.showSignature": "true",
    "log.decorate": "full",
    "log.mailmap": "true",
    "log.follow": "true",
    "fetch.prune": "true",
    "fetch.pruneTags": "true",
    "transfer.hideRefs": "refs/heads/hidden",
    "merge.conflictStyle": "diff3",
    "core.hooksPath": "/nowhere",
    "core.fsmonitor": "true",
    "init.defaultObjectFormat": "sha256",
    "init.templateDir": "/nowhere",
    "grep.patternType": "perl",
    "extensions.worktreeConfig": "false",
}


def _with_settings(monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", str(len(settings)))
    for number, (key, value) in enumerate(settings.items()):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)


@pytest.mark.parametrize("recurse_only", [True, False])
def test_a30_settings_that_change_what_git_does_change_no_answer(
    tmp_path: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch, *, recurse_only: bool
) -> None:
    repo = _world(Rig(top=tmp_path))
    _initialised(repo)
    (repo.directory / "deps/lib/file1").write_text("dirty\n")
    repo.git("submodule", "--quiet", "deinit", "--force", "deps/other")
    expected = _everything(pinctl, repo)

    _with_settings(monkeypatch, {"submodule.recurse": "true"} if recurse_only else _SETTINGS)

    assert _everything(pinctl, repo) == expected
    assert (repo.directory / "deps/lib/file1").read_text() == "dirty\n"


def _everything(pinctl: Pinctl, repo: Repo) -> tuple[Checked, Checked, str]:
    status = pinctl("status", "--format", "json", cwd=repo.directory)
    assert status.stderr == ""
    return checked(pinctl, repo, *RANGE), checked(pinctl, repo, *RANGE, "--all"), status.stdout


def test_a33_a_user_who_forbids_the_file_transport_is_obeyed(
    tmp_path: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = _world(Rig(top=tmp_path))
    monkeypatch.delenv("GIT_ALLOW_PROTOCOL")
    _with_settings(monkeypatch, {"protocol.file.allow": "never"})
    before = snapshot(repo.directory)

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (3, [("?PIN001", "deps/lib"), ("?PIN001", "deps/other")])
    assert "transport 'file' not allowed" in found.messages[0]
    assert difference(before, snapshot(repo.directory)) == set()


def test_a33_a_remote_on_this_machine_needs_no_setting(
    tmp_path: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git refuses `file` to its own submodule commands since CVE-2022-39253, and to nobody else."""
    repo = _world(Rig(top=tmp_path))
    monkeypatch.delenv("GIT_ALLOW_PROTOCOL")

    assert checked(pinctl, repo, *RANGE).answer() == (1, [("PIN002", "deps/lib")])
