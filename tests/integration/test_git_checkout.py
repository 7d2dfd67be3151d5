"""Lays commits out as real checkouts: every file as it is, tags and all, and nothing of the lender's changed."""

import os
import stat
from pathlib import Path

import pytest

from pinctl.model.oid import Oid
from pinctl.tools.git.checkout import lay_out
from pinctl.tools.git.mirror import Mirror
from pinctl.tools.git.repository import Repository
from support import Git
from support.rig import Repo
from support.snapshot import unchanged


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with files of every kind, and tags."""
    made = Repo.make(tmp_path / "repo")
    made.commit(message="One", files={"file": "1\n", "gone": "1\n"})
    made.git("tag", "-a", "-m", "first", "v0.1.0")
    made.commit(
        message="Two",
        files={
            "file": "2\n",
            "dir/deep": "2\n",
            "mit ü/eine 🦀": "3\n",
            "gone": None,
            "crlf": "a\r\nb\r\n",
            "bin": b"\0\xff",
        },
        links={"link": "dir/deep", "dangling": "nowhere"},
        gitlinks={"deps/lib": "1" * 40},
    )
    (made.directory / "tool").write_text("#!/bin/sh\n")
    (made.directory / "tool").chmod(0o755)
    made.git("add", "tool")
    made.git("commit", "--quiet", "-m", "Three")
    made.git("tag", "light")
    return made


def contents(directory: Path) -> dict[str, str]:
    found = {}
    for path in directory.rglob("*"):
        name = path.relative_to(directory).as_posix()
        if name == ".git" or name.startswith(".git/"):
            continue
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            mode = "x" if path.stat().st_mode & stat.S_IXUSR else "-"
            found[name] = f"{mode} {path.read_bytes()!r}"
    return found


ALL = {
    "file": "- b'2\\n'",
    "dir/deep": "- b'2\\n'",
    "mit ü/eine 🦀": "- b'3\\n'",
    "crlf": "- b'a\\r\\nb\\r\\n'",
    "bin": "- b'\\x00\\xff'",
    "link": "-> dir/deep",
    "dangling": "-> nowhere",
    "tool": "x b'#!/bin/sh\\n'",
}


def laid_out(repository: Repository, revision: str, directory: Path) -> Path:
    lay_out(repository, repository.commit(revision), directory)
    return directory


def test_every_file_is_there_as_it_is_in_the_commit(repo: Repo, git: Git, tmp_path: Path) -> None:
    with unchanged(repo.directory):
        top = laid_out(Repository.open(repo.directory), "HEAD", tmp_path / "new" / "deep")
    assert contents(top) == ALL
    assert git(top, "rev-parse", "HEAD") == repo.oid()
    assert (top / "deps" / "lib").is_dir()


def test_the_checkout_is_clean_and_detached(repo: Repo, git: Git, tmp_path: Path) -> None:
    top = laid_out(Repository.open(repo.directory), "HEAD", tmp_path / "out")
    assert git(top, "status", "--porcelain", "--ignored", "--untracked-files=all") == ""
    assert git(top, "rev-parse", "--abbrev-ref", "HEAD") == "HEAD"
    assert git(top, "diff", "--stat", "HEAD") == ""
    assert git(top, "ls-files", "--stage") == repo.git("ls-files", "--stage")


def test_versions_can_be_derived_from_tags(repo: Repo, git: Git, tmp_path: Path) -> None:
    top = laid_out(Repository.open(repo.directory), "HEAD", tmp_path / "out")
    assert git(top, "describe", "--long") == f"v0.1.0-2-g{repo.oid()[:7]}"
    assert git(top, "describe", "--tags", "--exact-match") == "light"
    assert git(top, "tag", "--list").splitlines() == ["light", "v0.1.0"]
    assert git(top, "log", "--format=%s").splitlines() == ["Three", "Two", "One"]


def test_an_older_commit_is_laid_out_as_it_was(repo: Repo, git: Git, tmp_path: Path) -> None:
    top = laid_out(Repository.open(repo.directory), "v0.1.0", tmp_path / "out")
    assert contents(top) == {"file": "- b'1\\n'", "gone": "- b'1\\n'"}
    assert git(top, "describe", "--exact-match") == "v0.1.0"
    assert git(top, "status", "--porcelain") == ""


def test_without_tags_there_is_nothing_to_derive_from(tmp_path: Path, git: Git) -> None:
    made = Repo.make(tmp_path / "repo")
    made.commit(files={"file": "1\n"})
    top = laid_out(Repository.open(made.directory), "HEAD", tmp_path / "out")
    assert (git(top, "tag", "--list"), contents(top)) == ("", {"file": "- b'1\\n'"})


def test_nothing_done_in_the_checkout_reaches_the_lender(repo: Repo, git: Git, tmp_path: Path) -> None:
    top = laid_out(Repository.open(repo.directory), "HEAD", tmp_path / "out")
    with unchanged(repo.directory):
        (top / "file").write_text("changed")
        git(top, "commit", "--quiet", "--all", "-m", "Here")
        git(top, "tag", "v9")
        git(top, "tag", "--delete", "light")
        git(top, "gc", "--quiet", "--prune=now")


def test_what_the_user_has_changed_and_staged_is_no_part_of_it(repo: Repo, git: Git, tmp_path: Path) -> None:
    (repo.directory / "file").write_text("changed")
    (repo.directory / "staged").write_text("staged")
    git(repo.directory, "add", "staged")
    with unchanged(repo.directory):
        assert contents(laid_out(Repository.open(repo.directory), "HEAD", tmp_path / "out")) == ALL


@pytest.mark.parametrize(
    "settings",
    [
        {"core.autocrlf": "true"},
        {"core.autocrlf": "input", "core.safecrlf": "true"},
        {"submodule.recurse": "true"},
        {"core.hooksPath": "hooks"},
        {"core.splitIndex": "true"},
        {"core.untrackedCache": "true"},
        {"fetch.recurseSubmodules": "true", "checkout.defaultRemote": "x"},
    ],
)
def test_the_lender_s_settings_change_nothing(repo: Repo, git: Git, tmp_path: Path, settings: dict[str, str]) -> None:
    hooks = repo.directory / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "post-index-change", "post-merge"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\n")
        (hooks / name).chmod(0o755)
    for key, value in settings.items():
        git(repo.directory, "config", key, str(hooks) if value == "hooks" else value)
    with unchanged(repo.directory):
        top = laid_out(Repository.open(repo.directory), "HEAD", tmp_path / "out")
    assert contents(top) == ALL
    assert git(top, "status", "--porcelain") == ""
    assert not (tmp_path / "hook-ran").exists()


def test_a_sparse_checkout_lends_whole_commits(repo: Repo, git: Git, tmp_path: Path) -> None:
    git(repo.directory, "sparse-checkout", "set", "dir")
    assert not (repo.directory / "mit ü").exists()
    top = laid_out(Repository.open(repo.directory), "HEAD", tmp_path / "out")
    assert contents(top) == ALL
    assert git(top, "status", "--porcelain") == ""


def test_a_bare_repository_and_a_linked_worktree_lend_too(repo: Repo, git: Git, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", repo.directory, "bare.git")
    git(repo.directory, "worktree", "add", "--quiet", "--detach", tmp_path / "linked", "v0.1.0")
    for name in ("bare.git", "linked"):
        top = laid_out(Repository.open(tmp_path / name), repo.oid(), tmp_path / f"out-{name}")
        assert contents(top) == ALL
        assert git(top, "status", "--porcelain") == ""
        assert git(top, "describe", "--exact-match", "--tags") == "light"


def test_a_shallow_clone_lends_what_it_has(repo: Repo, git: Git, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{repo.directory}", "shallow")
    top = laid_out(Repository.open(tmp_path / "shallow"), "HEAD", tmp_path / "out")
    assert contents(top) == ALL
    assert git(top, "status", "--porcelain") == ""
    # git must know here too where the history is cut off, or it fails on the parents that are not there.
    assert git(top, "log", "--format=%s").splitlines() == ["Three"]


def test_a_partial_clone_fetches_the_contents_it_lacks(
    repo: Repo, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    git(repo.directory, "config", "uploadpack.allowFilter", "true")
    mirror = Mirror.of(f"file://{repo.directory}")
    blob = repo.oid("HEAD:bin")
    listing = mirror.repository.run("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").text
    assert blob not in listing
    top = laid_out(mirror.repository, repo.oid(), tmp_path / "out")
    assert contents(top) == ALL
    assert git(top, "status", "--porcelain") == ""
    assert git(top, "describe", "--long") == f"v0.1.0-2-g{repo.oid()[:7]}"
    # What was fetched stays with the lender: the next time needs no remote.
    repo.directory.rename(tmp_path / "away")
    assert contents(laid_out(mirror.repository, mirror.tip("main"), tmp_path / "again")) == ALL


def test_some_files_alone_may_be_laid_out_and_the_rest_counts_as_unchanged(
    repo: Repo, git: Git, tmp_path: Path
) -> None:
    opened = Repository.open(repo.directory)
    with unchanged(repo.directory):
        lay_out(opened, opened.commit("HEAD"), tmp_path / "out", only=("file", "not there"))
    assert contents(tmp_path / "out") == {"file": ALL["file"]}
    assert git(tmp_path / "out", "status", "--porcelain") == ""
    assert git(tmp_path / "out", "describe", "--long", "--dirty") == f"v0.1.0-2-g{repo.oid()[:7]}"


def test_a_sha256_repository_lends_too(tmp_path: Path, git: Git) -> None:
    made = Repo.make(tmp_path / "sha256", object_format="sha256")
    oid = made.commit(files={"file": "1\n"})
    made.git("tag", "v1")
    lay_out(Repository.open(made.directory), Oid(oid), tmp_path / "out")
    assert contents(tmp_path / "out") == {"file": "- b'1\\n'"}
    assert (git(tmp_path / "out", "status", "--porcelain"), git(tmp_path / "out", "describe", "--tags")) == ("", "v1")


def test_tags_may_be_called_anything_that_git_allows(repo: Repo, tmp_path: Path) -> None:
    packed = repo.directory / ".git" / "packed-refs"
    packed.write_bytes(f"{repo.oid()} refs/tags/caf".encode() + b"\xe9\n" + f"{repo.oid()} refs/tags/ü\n".encode())
    top = laid_out(Repository.open(repo.directory), "HEAD", tmp_path / "out")
    assert "caf\udce9" in os.fsdecode((top / ".git" / "packed-refs").read_bytes())
    assert contents(top) == ALL


def test_the_path_of_the_lender_may_be_odd(tmp_path: Path, git: Git) -> None:
    made = Repo.make(tmp_path / '# odd "path" ü')
    made.commit(files={"file": "1\n"})
    top = laid_out(Repository.open(made.directory), "HEAD", tmp_path / "out ü")
    assert (contents(top), git(top, "log", "--format=%H")) == ({"file": "- b'1\\n'"}, made.oid())
