"""Opens repositories of every layout, and reads what is in them whatever surrounds them."""

import gc
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import Oid
from pinctl.tools.git import surroundings
from pinctl.tools.git.objects import TreeEntry
from pinctl.tools.git.repository import Repository
from pinctl.tools.git.surroundings import forget_inherited_repository
from support import Git
from support.rig import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.make(tmp_path / "repo")
    made.commit(
        message="Files", files={"file": "1\n", "dir/deep": "2\n", "mit ü/eine Datei": "3\n"}, links={"link": "file"}
    )
    return made


@pytest.fixture(autouse=True)
def _no_exported_index() -> Iterator[None]:
    yield
    surroundings._exported.clear()


def layout(directory: Path) -> tuple[Path, Path, Path | None, bool]:
    opened = Repository.open(directory)
    return opened.git_dir, opened.common_dir, opened.work_tree, opened.shallow


@pytest.mark.parametrize("inside", [".", "dir", "mit ü"])
def test_a_checkout_is_opened_from_anywhere_in_it(repo: Repo, inside: str) -> None:
    top = repo.directory
    assert layout(top / inside) == (top / ".git", top / ".git", top, False)


def test_a_bare_repository_has_no_work_tree(tmp_path: Path) -> None:
    bare = Repo.make(tmp_path / "bare.git", bare=True)
    oid = bare.commit(files={"file": "1\n"})
    assert layout(bare.directory) == (bare.directory, bare.directory, None, False)
    assert layout(bare.directory / "refs") == (bare.directory, bare.directory, None, False)
    assert Repository.open(bare.directory).resolve("main") == oid


def test_a_linked_worktree_has_its_own_head_and_the_objects_of_all(repo: Repo, git: Git, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(repo.directory, "worktree", "add", "--quiet", "-b", "work", linked)
    made = repo.commit("other", files={"file": "other\n"})
    git(linked, "commit", "--quiet", "--allow-empty", "-m", "In the worktree")
    assert layout(linked) == (repo.directory / ".git" / "worktrees" / "linked", repo.directory / ".git", linked, False)
    opened = Repository.open(linked)
    assert opened.resolve("HEAD") == repo.oid("work")
    assert opened.resolve("HEAD") != Repository.open(repo.directory).resolve("HEAD")
    assert opened.has_commit(made)
    assert opened.run("rev-parse", "--abbrev-ref", "HEAD").text == "work"


def test_a_submodule_is_a_repository_of_its_own(repo: Repo, git: Git, tmp_path: Path) -> None:
    top = Repo.make(tmp_path / "super")
    top.commit(message="Top", files={"top": "1\n"})
    git(
        top.directory,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(repo.directory),
        "deps/lib",
    )
    git_dir = top.directory / ".git" / "modules" / "deps" / "lib"
    assert layout(top.directory / "deps" / "lib") == (git_dir, git_dir, top.directory / "deps" / "lib", False)
    assert Repository.open(top.directory / "deps" / "lib").resolve("HEAD") == repo.oid()


def test_the_directory_of_a_submodule_that_is_not_there_lies_in_the_superproject(repo: Repo) -> None:
    repo.commit(message="Pin", gitlinks={"deps/lib": "1" * 40})
    (repo.directory / "deps" / "lib").mkdir(parents=True, exist_ok=True)
    assert Repository.open(repo.directory / "deps" / "lib").work_tree == repo.directory


def test_a_shallow_clone_says_so(repo: Repo, git: Git, tmp_path: Path) -> None:
    repo.commit(message="Second")
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{repo.directory}", "shallow")
    assert layout(tmp_path / "shallow")[2:] == (tmp_path / "shallow", True)


def test_a_repository_without_a_commit_can_be_opened(tmp_path: Path) -> None:
    Repo.make(tmp_path / "empty")
    opened = Repository.open(tmp_path / "empty")
    assert opened.resolve("HEAD") is None
    with pytest.raises(CouldNotFindOutError) as caught:
        opened.commit("HEAD")
    assert caught.value.message == f"HEAD names no commit in {tmp_path / 'empty'}"


def test_a_hook_s_own_repository_does_not_answer_for_another(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Repo.make(tmp_path / "other")
    other.commit(files={"other": "1\n"})
    monkeypatch.setenv("GIT_DIR", str(other.directory / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.directory))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.directory / ".git" / "index"))
    monkeypatch.setenv("GIT_PREFIX", "dir/")
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other.directory / ".git" / "objects"))
    assert Repository.open(repo.directory).work_tree == other.directory
    forget_inherited_repository()
    assert surroundings.exported_index() == str(other.directory / ".git" / "index")
    assert layout(repo.directory)[2] == repo.directory
    opened = Repository.open(repo.directory)
    assert opened.resolve("HEAD") == repo.oid()
    assert opened.run("ls-files").text.splitlines()[0] == "dir/deep"


def test_settings_that_a_user_passes_on_purpose_are_kept(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "pinctl.test")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "kept")
    forget_inherited_repository()
    assert Repository.open(repo.directory).config("pinctl.test") == "kept"


def test_what_is_no_repository_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(CouldNotFindOutError) as caught:
        Repository.open(tmp_path)
    assert caught.value.message == f"{tmp_path} is not inside a git repository"
    assert caught.value.hint == "Run pinctl in the superproject, or name it with --superproject DIR."
    with pytest.raises(CouldNotFindOutError) as caught:
        Repository.open(tmp_path / "gone")
    assert caught.value.message == f"{tmp_path / 'gone'} is not a directory"
    (tmp_path / "file").write_text("")
    with pytest.raises(CouldNotFindOutError) as caught:
        Repository.open(tmp_path / "file")
    assert caught.value.message == f"{tmp_path / 'file'} is not a directory"


def test_a_repository_of_somebody_else_is_named_with_the_way_out(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(CouldNotFindOutError) as caught:
        Repository.open(repo.directory)
    assert caught.value.message == f"git refuses to read {repo.directory}: it belongs to another user"
    assert caught.value.hint == (f"If that is right: git config --global --add safe.directory {repo.directory}")


def test_a_broken_repository_is_told_in_git_s_words(repo: Repo) -> None:
    (repo.directory / ".git" / "config").write_text("[core\n")
    with pytest.raises(CouldNotFindOutError) as caught:
        Repository.open(repo.directory)
    assert caught.value.message.startswith(f"git cannot open {repo.directory}: fatal: bad config line 1 in file")


def test_revisions_are_resolved_to_commits(repo: Repo) -> None:
    oid = repo.oid()
    repo.git("tag", "-a", "-m", "annotated", "v1")
    repo.git("tag", "light")
    opened = Repository.open(repo.directory)
    for revision in ("HEAD", "main", "refs/heads/main", "v1", "light", oid, oid[:10], "HEAD~0", f"{oid}^{{commit}}"):
        assert opened.resolve(revision) == oid
        assert opened.commit(revision) == oid
    for revision in ("gone", "HEAD~1", "HEAD:file", "HEAD^{tree}", "1" * 40, "f" * 7, "two words", "a b c", "", "-x"):
        assert opened.resolve(revision) is None
    assert (opened.has_commit(oid), opened.has_commit("1" * 40)) == (True, False)
    assert (opened.kind_of("v1"), opened.kind_of(oid), opened.kind_of("HEAD:file"), opened.kind_of("gone")) == (
        "tag",
        "commit",
        "blob",
        None,
    )


def test_a_revision_of_two_lines_is_refused_before_git_sees_it(repo: Repo) -> None:
    opened = Repository.open(repo.directory)
    with pytest.raises(CouldNotFindOutError) as caught:
        opened.resolve("HEAD\ncontents HEAD")
    assert caught.value.message == "'HEAD\\ncontents HEAD^{commit}' cannot name an object"
    assert opened.resolve("HEAD") == repo.oid()


def test_files_are_read_as_they_are_at_a_revision(repo: Repo) -> None:
    binary = bytes(range(256)) * 300
    repo.commit(message="Binary", files={"binary": binary, "empty": ""})
    (repo.directory / "file").write_text("changed, and not committed")
    opened = Repository.open(repo.directory)
    assert opened.read("HEAD", "file") == b"1\n"
    assert opened.read("HEAD", "mit ü/eine Datei") == b"3\n"
    assert opened.read("HEAD", "binary") == binary
    assert opened.read("HEAD", "empty") == b""
    assert opened.read("HEAD~1", "binary") is None
    assert opened.read("HEAD", "dir") is None
    assert opened.blob_at("HEAD", "file") == repo.oid("HEAD:file")
    assert opened.blob_at("HEAD", "dir") is None


def test_entries_and_gitlinks_of_a_tree_are_listed_with_any_name(repo: Repo) -> None:
    links = {"deps/lib": "1" * 40, "deps/mit ü": "2" * 40}
    repo.commit(message="Pin", gitlinks=links)
    opened = Repository.open(repo.directory)
    assert opened.gitlinks("HEAD") == links
    assert opened.gitlinks("HEAD~1") == {}
    assert opened.gitlink_at("HEAD", "deps/mit ü") == "2" * 40
    assert (
        opened.gitlink_at("HEAD", "deps"),
        opened.gitlink_at("HEAD", "file"),
        opened.gitlink_at("HEAD~1", "deps/lib"),
    ) == (
        None,
        None,
        None,
    )
    assert opened.entries("HEAD") == (
        TreeEntry(mode="160000", oid=Oid("1" * 40), path="deps/lib"),
        TreeEntry(mode="160000", oid=Oid("2" * 40), path="deps/mit ü"),
        TreeEntry(mode="100644", oid=Oid(repo.oid("HEAD:dir/deep")), path="dir/deep"),
        TreeEntry(mode="100644", oid=Oid(repo.oid("HEAD:file")), path="file"),
        TreeEntry(mode="120000", oid=Oid(repo.oid("HEAD:link")), path="link"),
        TreeEntry(mode="100644", oid=Oid(repo.oid("HEAD:mit ü/eine Datei")), path="mit ü/eine Datei"),
    )


def test_settings_are_read_one_by_one(repo: Repo) -> None:
    repo.git("config", "pinctl.one", "a\nb")
    repo.git("config", "--add", "pinctl.many", "first")
    repo.git("config", "--add", "pinctl.many", "last")
    opened = Repository.open(repo.directory)
    assert [opened.config(key) for key in ("pinctl.one", "pinctl.many", "pinctl.none")] == ["a\nb", "last", None]


def test_a_sha256_repository_is_read_like_any_other(tmp_path: Path) -> None:
    made = Repo.make(tmp_path / "sha256", object_format="sha256")
    oid = made.commit(files={"file": "1\n"}, gitlinks={"deps/lib": "1" * 64})
    opened = Repository.open(made.directory)
    assert (opened.resolve("HEAD"), len(oid)) == (oid, 64)
    assert opened.gitlinks("HEAD") == {"deps/lib": "1" * 64}
    assert opened.gitlink_at("HEAD", "deps/lib") == "1" * 64
    assert opened.read("HEAD", "file") == b"1\n"


def test_threads_share_one_reader_and_get_their_own_answers(repo: Repo) -> None:
    names = [f"many/{number}" for number in range(40)]
    repo.commit(message="Many", files={name: f"{name}\n" * 50 for name in names})
    opened = Repository.open(repo.directory)
    wrong: list[str] = []

    def read(start: int) -> None:
        mine = names[start:] + names[:start]
        wrong.extend(name for name in mine if opened.read("HEAD", name) != f"{name}\n".encode() * 50)

    threads = [threading.Thread(target=read, args=(start,)) for start in range(0, 40, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_repository_that_is_forgotten_in_a_circle_leaves_no_process_behind(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As any error does whose traceback holds the frame that holds the repository.
    complaints: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)
    circle: list[Any] = [Repository.open(repo.directory)]
    circle.append(circle)
    assert circle[0].resolve("HEAD") == repo.oid()
    pid = circle[0]._objects._process.proc.pid
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del circle
        gc.collect()
    assert ([str(warning.message) for warning in caught], complaints) == ([], [])
    assert not Path(f"/proc/{pid}").exists()


def test_gitlinks_are_found_however_deep_and_a_tree_that_is_not_there_is_no_empty_one(repo: Repo, git: Git) -> None:
    pins = {"a": "1" * 40, "deep/er/lib": "2" * 40, "mit ü/lib": "3" * 40}
    repo.commit(message="Pin", gitlinks=pins)
    assert Repository.open(repo.directory).gitlinks("HEAD") == pins

    tree = git(repo.directory, "rev-parse", "HEAD:deep")
    (repo.directory / ".git/objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(CouldNotFindOutError, match=f"the tree {tree[:7]} is not in"):
        Repository.open(repo.directory).gitlinks("HEAD")


def test_what_rests_on_objects_alone_is_asked_once(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Repository.open(repo.directory)
    question = ("rev-list", "--count", repo.oid())
    first = opened.known(*question)
    monkeypatch.setattr(opened, "run", None)
    assert (first.text, opened.known(*question)) == ("1", first)
    assert opened.knows(*question)
    assert not opened.knows("rev-list", "--count", "HEAD")
