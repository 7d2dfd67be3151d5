"""Moves refs only from where they are expected to be, here and on remotes, and shows no password."""

from pathlib import Path

import pytest

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import Oid
from pinctl.tools.git.refs import (
    RefMovedError,
    RemoteRefs,
    ask_remote,
    checked_out_branches,
    deepened,
    delete_ref,
    fetch_objects,
    local_ref,
    move_ref,
    push,
    shown_url,
)
from pinctl.tools.git.repository import Repository
from support import Git
from support.rig import Repo
from support.snapshot import unchanged

NAME = "refs/heads/landing/plan"


@pytest.fixture
def remote(tmp_path: Path) -> Repo:
    made = Repo.make(tmp_path / "remote.git", bare=True)
    made.commit(message="One", files={"file": "1\n"})
    made.commit(message="Two", files={"file": "2\n"})
    return made


@pytest.fixture
def clone(remote: Repo, git: Git, tmp_path: Path) -> Repository:
    git(tmp_path, "clone", "--quiet", remote.directory, "clone")
    return Repository.open(tmp_path / "clone")


def one(repository: Repository) -> Oid:
    return repository.commit("main~1")


def two(repository: Repository) -> Oid:
    return repository.commit("main")


def test_a_new_ref_is_made_only_where_there_is_none(clone: Repository, git: Git) -> None:
    move_ref(clone, NAME, to=one(clone), expected=None, reason="pinctl: land plan")
    assert local_ref(clone, NAME) == one(clone)
    with pytest.raises(RefMovedError):
        move_ref(clone, NAME, to=two(clone), expected=None, reason="again")
    assert local_ref(clone, NAME) == one(clone)
    assert clone.work_tree is not None
    assert git(clone.work_tree, "reflog", "--format=%gs", NAME) == "pinctl: land plan"


def test_a_ref_moves_only_from_where_it_is_expected_to_be(clone: Repository) -> None:
    move_ref(clone, NAME, to=one(clone), expected=None, reason="x")
    with pytest.raises(RefMovedError):
        move_ref(clone, NAME, to=one(clone), expected=two(clone), reason="x")
    move_ref(clone, NAME, to=two(clone), expected=one(clone), reason="x")
    assert local_ref(clone, NAME) == two(clone)
    with pytest.raises(RefMovedError):
        move_ref(clone, NAME, to=one(clone), expected=one(clone), reason="x")
    assert local_ref(clone, NAME) == two(clone)


def test_a_ref_that_is_gone_is_not_where_it_is_expected_to_be(clone: Repository) -> None:
    with pytest.raises(RefMovedError):
        move_ref(clone, NAME, to=two(clone), expected=one(clone), reason="x")
    assert local_ref(clone, NAME) is None


def test_a_ref_is_deleted_only_where_it_is_expected_to_be(clone: Repository) -> None:
    move_ref(clone, NAME, to=one(clone), expected=None, reason="x")
    with pytest.raises(RefMovedError):
        delete_ref(clone, NAME, expected=two(clone))
    assert local_ref(clone, NAME) == one(clone)
    delete_ref(clone, NAME, expected=one(clone))
    assert local_ref(clone, NAME) is None


@pytest.mark.parametrize("taken", ["refs/heads/landing", f"{NAME}/deeper"])
def test_a_ref_that_stands_in_the_way_is_no_race_that_was_lost(clone: Repository, taken: str) -> None:
    # Running it again would not help, which is what a lost race tells people to do.
    move_ref(clone, taken, to=one(clone), expected=None, reason="x")
    with pytest.raises(CouldNotFindOutError) as caught:
        move_ref(clone, NAME, to=two(clone), expected=None, reason="x")
    assert taken in caught.value.message
    assert local_ref(clone, taken) == one(clone)


def test_a_ref_has_the_id_of_what_it_names_itself(clone: Repository) -> None:
    clone.run("tag", "-a", "-m", "x", "v1")
    assert local_ref(clone, "refs/heads/main") == two(clone)
    assert local_ref(clone, "refs/tags/v1") != two(clone)
    assert clone.resolve("refs/tags/v1") == two(clone)
    assert local_ref(clone, "refs/heads/gone") is None


def test_the_branches_of_all_worktrees_are_checked_out(clone: Repository, git: Git, tmp_path: Path) -> None:
    assert clone.work_tree is not None
    git(clone.work_tree, "worktree", "add", "--quiet", "-b", "arbeit/ü", tmp_path / "mit ü")
    git(clone.work_tree, "worktree", "add", "--quiet", "--detach", tmp_path / "detached")
    expected = frozenset({"refs/heads/main", "refs/heads/arbeit/ü"})
    assert checked_out_branches(clone) == expected
    assert checked_out_branches(Repository.open(tmp_path / "mit ü")) == expected


def test_a_remote_is_asked_for_what_it_has(clone: Repository, remote: Repo) -> None:
    remote.branch("work", "main~1")
    remote.git("tag", "-a", "-m", "x", "v1")
    remote.git("update-ref", "refs/pull/7/head", "main~1")
    assert ask_remote(clone, "origin", "refs/heads/*") == RemoteRefs(
        head="main", refs={"HEAD": two(clone), "refs/heads/main": two(clone), "refs/heads/work": one(clone)}
    )
    found = ask_remote(clone, str(remote.directory), "refs/tags/*", "refs/pull/7/head", "refs/pull/9/head")
    assert found.refs == {
        "HEAD": two(clone),
        "refs/tags/v1": remote.oid("refs/tags/v1"),
        "refs/pull/7/head": one(clone),
    }


def test_a_remote_whose_head_names_nothing_does_not_say_which_is_its_branch(clone: Repository, remote: Repo) -> None:
    remote.git("symbolic-ref", "HEAD", "refs/heads/gone")
    assert ask_remote(clone, "origin", "refs/heads/*") == RemoteRefs(head=None, refs={"refs/heads/main": two(clone)})
    remote.git("update-ref", "--no-deref", "HEAD", one(clone))
    assert ask_remote(clone, "origin").head is None


def test_a_remote_that_is_a_clone_itself_is_understood(clone: Repository, git: Git, tmp_path: Path) -> None:
    assert clone.work_tree is not None
    git(tmp_path, "init", "--quiet", "asking")
    found = ask_remote(Repository.open(tmp_path / "asking"), str(clone.work_tree), "refs/heads/*")
    assert (found.head, found.refs["refs/heads/main"]) == ("main", two(clone))


@pytest.mark.parametrize("name", ["origin", "file:///no/such/repository.git", "nothing"])
def test_a_remote_that_does_not_answer_is_no_answer(clone: Repository, remote: Repo, name: str) -> None:
    remote.directory.rename(remote.directory.parent / "away")
    with pytest.raises(CouldNotFindOutError) as caught:
        ask_remote(clone, name, "refs/heads/*")
    assert caught.value.message.startswith(f"the remote {name} does not answer: ")


def test_a_remote_is_never_an_option_of_git(clone: Repository, tmp_path: Path) -> None:
    with pytest.raises(CouldNotFindOutError):
        ask_remote(clone, f"--upload-pack=touch {tmp_path}/planted", "refs/heads/*")
    with pytest.raises(CouldNotFindOutError):
        fetch_objects(clone, "origin", [f"--upload-pack=touch {tmp_path}/planted;git-upload-pack"])
    assert not (tmp_path / "planted").exists()


def test_objects_are_fetched_and_no_ref_moves(clone: Repository, remote: Repo) -> None:
    made = remote.commit("refs/pull/7/head", "Work", files={"new": "1\n"}, parents=[remote.oid()])
    remote.commit(message="Three")
    assert clone.work_tree is not None
    with unchanged(clone.work_tree):
        fetch_objects(clone, "origin", ["refs/pull/7/head"])
        fetch_objects(clone, "origin", [])
    assert clone.read(made, "new") == b"1\n"
    with pytest.raises(CouldNotFindOutError) as caught:
        fetch_objects(clone, "origin", ["refs/pull/8/head"])
    assert caught.value.message.startswith("origin does not give refs/pull/8/head: ")


def test_a_shallow_clone_is_deepened_and_no_ref_moves(remote: Repo, git: Git, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{remote.directory}", "shallow")
    remote.commit(message="Three")
    before = Repository.open(tmp_path / "shallow")
    after = deepened(before, "origin")
    assert (before.shallow, after.shallow) == (True, False)
    assert after.resolve("main~1") == remote.oid("main~2")
    assert after.resolve("origin/main") == remote.oid("main~1")


def test_a_push_makes_a_branch_only_where_there_is_none(clone: Repository, remote: Repo) -> None:
    push(clone, "origin", name=NAME, commit=one(clone), expected=None)
    assert remote.oid(NAME) == one(clone)
    with pytest.raises(RefMovedError):
        push(clone, "origin", name=NAME, commit=two(clone), expected=None)
    assert remote.oid(NAME) == one(clone)


def test_a_push_moves_a_branch_only_from_where_it_is_expected_to_be(clone: Repository, remote: Repo) -> None:
    remote.branch(NAME, "main")
    with pytest.raises(RefMovedError) as caught:
        push(clone, "origin", name=NAME, commit=one(clone), expected=one(clone))
    assert "stale info" in str(caught.value)
    # The lease is that of the id that was given, whatever this clone remembers of the remote.
    push(clone, "origin", name=NAME, commit=one(clone), expected=two(clone))
    assert remote.oid(NAME) == one(clone)
    assert clone.work_tree is not None
    with unchanged(clone.work_tree), pytest.raises(RefMovedError):
        push(clone, "origin", name=NAME, commit=two(clone), expected=two(clone))
    assert remote.oid(NAME) == one(clone)


def test_a_remote_that_refuses_says_why(clone: Repository, remote: Repo) -> None:
    hook = remote.directory / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not on a Friday >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(RefMovedError) as caught:
        push(clone, "origin", name=NAME, commit=one(clone), expected=None)
    assert "not on a Friday" in str(caught.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.org/o/r.git", "https://example.org/o/r.git"),
        ("https://someone:hunter2@example.org/o/r.git", "https://example.org/o/r.git"),
        ("https://hunter2@example.org:8443/o/r.git", "https://example.org:8443/o/r.git"),
        ("https://a:b@c:hunter2@example.org/o@r.git", "https://example.org/o@r.git"),
        ("ssh://git@example.org:1234/o/r.git", "ssh://example.org:1234/o/r.git"),
        ("ext::https://someone:hunter2@example.org/x", "ext::https://example.org/x"),
        ("git@example.org:o/r.git", "git@example.org:o/r.git"),
        ("/abs/o@r.git", "/abs/o@r.git"),
        ("origin", "origin"),
        ("https://someone:hunter2@example.org", "https://example.org"),
        ("", ""),
    ],
)
def test_a_url_is_shown_without_who_and_how(url: str, shown: str) -> None:
    assert shown_url(url) == shown
