"""Mirrors of component remotes: what a refresh brings and takes away, and which commits can be had."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import Oid
from pinctl.tools.git import mirror as mirror_module
from pinctl.tools.git.mirror import Mirror
from pinctl.tools.process import run
from support import Git
from support.rig import Repo


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A bare remote with two commits on main, and a cache of this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = Repo.make(tmp_path / "remotes" / "lib.git", bare=True)
    made.commit(message="One", files={"file": "1\n"})
    made.commit(message="Two", files={"file": "2\n"})
    return made


def url_of(remote: Repo) -> str:
    return f"file://{remote.directory}"


def refs_of(mirror: Mirror) -> dict[str, str]:
    listing = mirror.repository.run("for-each-ref", "--format=%(refname) %(objectname)").text
    return dict(line.split(" ", 1) for line in listing.split("\n") if line)


def test_a_mirror_has_the_remote_s_branches_and_tags(remote: Repo) -> None:
    remote.branch("work/deep", "main~1")
    remote.git("tag", "v1", "main~1")
    mirror = Mirror.of(url_of(remote))
    assert refs_of(mirror) == {
        "refs/heads/main": remote.oid("main"),
        "refs/heads/work/deep": remote.oid("main~1"),
        "refs/tags/v1": remote.oid("main~1"),
    }
    assert (mirror.head, mirror.url) == ("main", url_of(remote))
    assert mirror.tip("main") == mirror.branch_tip("main") == remote.oid()
    assert mirror.branch_tip("gone") is None
    assert mirror.repository.read("main", "file") == b"2\n"


def test_the_remote_s_default_branch_may_have_any_name(remote: Repo) -> None:
    remote.branch("main3")
    remote.git("symbolic-ref", "HEAD", "refs/heads/main3")
    assert Mirror.of(url_of(remote)).head == "main3"


def test_a_refresh_brings_what_is_new_and_takes_what_is_gone(remote: Repo) -> None:
    remote.branch("work", "main~1")
    remote.branch("dir/old", "main~1")
    Mirror.of(url_of(remote))
    three = remote.commit(message="Three")
    remote.git("branch", "-D", "work", "dir/old")
    # A branch where a directory of branches was, and the other way round.
    remote.branch("dir", "main~1")
    remote.branch("work/deep", "main")
    assert refs_of(Mirror.of(url_of(remote))) == {
        "refs/heads/main": three,
        "refs/heads/dir": remote.oid("main~1"),
        "refs/heads/work/deep": three,
    }


def test_a_refresh_follows_branches_and_tags_that_were_moved_by_force(remote: Repo) -> None:
    remote.git("tag", "v1", "main")
    remote.git("tag", "-a", "-m", "x", "v2", "main")
    Mirror.of(url_of(remote))
    amended = remote.commit(message="Two, amended", files={"file": "2a\n"}, parents=[remote.oid("main~1")])
    remote.git("tag", "-f", "v1", amended)
    remote.git("tag", "-f", "-a", "-m", "y", "v2", "main~1")
    mirror = Mirror.of(url_of(remote))
    assert mirror.tip("main") == amended
    assert mirror.repository.resolve("v1") == amended
    assert mirror.repository.resolve("v2") == remote.oid("main~1")


def test_annotated_and_light_tags_both_name_their_commit(remote: Repo) -> None:
    remote.git("tag", "-a", "-m", "annotated", "v1", "main~1")
    remote.git("tag", "-a", "-m", "of a tag", "nested", "v1")
    remote.git("tag", "light", "main~1")
    mirror = Mirror.of(url_of(remote))
    one = remote.oid("main~1")
    assert [mirror.obtain(name) for name in ("v1", "nested", "light")] == [one, one, one]
    assert [mirror.tip(name) for name in ("v1", "nested", "light")] == [one, one, one]


def test_a_branch_that_is_not_there_says_what_to_correct(remote: Repo) -> None:
    mirror = Mirror.of(url_of(remote))
    with pytest.raises(CouldNotFindOutError) as caught:
        mirror.tip("gone")
    assert caught.value.message == f"{url_of(remote)} has no branch gone"
    assert caught.value.hint == "Correct the component's branch in pins.toml."
    with pytest.raises(CouldNotFindOutError) as caught:
        mirror.tip(remote.oid())
    assert caught.value.message == f"{remote.oid()} is a commit's id, not a branch of {url_of(remote)}"


def test_pull_requests_come_only_where_they_are_asked_for(remote: Repo) -> None:
    head = remote.commit("refs/pull/7/head", "Work", files={"new": "1\n"}, parents=[remote.oid()])
    remote.commit("refs/pull/8/head", "Other work", parents=[remote.oid()])
    assert Mirror.of(url_of(remote)).pull_head(7) is None
    mirror = Mirror.of(url_of(remote), pulls=(7, 9))
    assert (mirror.pull_head(7), mirror.pull_head(8), mirror.pull_head(9)) == (head, None, None)
    assert mirror.repository.has_commit(head)
    assert mirror.pull_of(Oid(head)) == 7
    assert mirror.pull_of(Oid(remote.oid())) is None
    # A later refresh that does not ask for it leaves it.
    assert refs_of(Mirror.of(url_of(remote)))["refs/pull/7/head"] == head


def test_a_commit_that_no_branch_has_is_fetched_by_its_full_id(remote: Repo) -> None:
    orphan = remote.commit("work", "Work", files={"new": "1\n"}, parents=[remote.oid()])
    remote.git("update-ref", "refs/kept/orphan", orphan)
    remote.git("branch", "-D", "work")
    mirror = Mirror.of(url_of(remote))
    assert mirror.obtain(orphan[:12]) is None
    assert mirror.obtain(orphan) == orphan
    assert mirror.obtain(orphan[:12]) == orphan
    assert mirror.repository.read(orphan, "new") == b"1\n"
    assert "refs/kept/orphan" not in refs_of(mirror)


def test_what_is_here_is_found_by_any_name(remote: Repo) -> None:
    remote.branch("work", "main~1")
    mirror = Mirror.of(url_of(remote))
    two = remote.oid()
    assert [mirror.obtain(name) for name in (two, two[:7], "main", "refs/heads/main", "work~0")] == [
        two,
        two,
        two,
        two,
        remote.oid("main~1"),
    ]


@pytest.mark.parametrize(
    "revision", ["1" * 40, "1" * 7, "gone", "feature/" + "long" * 12, "main~7", "a b", "HEAD:file"]
)
def test_what_no_remote_has_is_none(remote: Repo, revision: str) -> None:
    mirror = Mirror.of(url_of(remote))
    assert mirror.obtain(revision) is None
    # And the mirror goes on answering.
    assert mirror.obtain(remote.oid()) == remote.oid()


def test_a_revision_is_never_an_option_of_git(remote: Repo, tmp_path: Path) -> None:
    mirror = Mirror.of(url_of(remote))
    planted = tmp_path / "planted-by-an-option"
    assert mirror.obtain(f"--upload-pack=touch {planted};git-upload-pack") is None
    assert not planted.exists()


def test_a_remote_that_does_not_answer_is_no_answer(remote: Repo, tmp_path: Path) -> None:
    url = f"file://{tmp_path}/gone.git"
    with pytest.raises(CouldNotFindOutError) as caught:
        Mirror.of(url)
    assert caught.value.message.startswith(f"the remote {url} does not answer: ")
    assert caught.value.hint == "Look at the network and your access to it, then run this again."
    Mirror.of(url_of(remote))
    remote.directory.rename(tmp_path / "moved.git")
    with pytest.raises(CouldNotFindOutError):
        Mirror.of(url_of(remote))


def test_a_remote_that_stops_answering_is_not_one_without_the_commit(remote: Repo, tmp_path: Path) -> None:
    mirror = Mirror.of(url_of(remote))
    remote.directory.rename(tmp_path / "moved.git")
    assert mirror.obtain(remote_oid := mirror.tip("main")) == remote_oid
    with pytest.raises(CouldNotFindOutError):
        mirror.obtain("1" * 40)


def test_a_password_in_a_url_is_not_shown(tmp_path: Path) -> None:
    with pytest.raises(CouldNotFindOutError) as caught:
        Mirror.of(f"file://someone:hunter2@localhost{tmp_path}/gone.git")
    assert "hunter2" not in f"{caught.value.message} {caught.value.hint} {caught.value.__cause__}"
    assert f"file://localhost{tmp_path}/gone.git" in caught.value.message


def test_a_path_is_a_remote_too(remote: Repo) -> None:
    assert Mirror.of(str(remote.directory)).tip("main") == remote.oid()


def test_a_clone_is_a_remote_too(remote: Repo, git: Git, tmp_path: Path) -> None:
    # Unlike a forge's repository, it has a symbolic ref beside HEAD: refs/remotes/origin/HEAD.
    git(tmp_path, "clone", "--quiet", remote.directory, "clone")
    mirror = Mirror.of(f"file://{tmp_path}/clone")
    assert (mirror.head, mirror.tip("main")) == ("main", remote.oid())
    assert refs_of(mirror) == {"refs/heads/main": remote.oid()}


@pytest.mark.parametrize("name", ["ünï/ключ", "nbsp\u00a0here", "line\u2028separator", "next\u0085line"])
def test_branches_may_be_called_anything_that_git_allows(remote: Repo, name: str) -> None:
    remote.branch(name)
    remote.git("tag", f"v{name}", "main~1")
    mirror = Mirror.of(url_of(remote))
    assert (mirror.branch_tip(name), mirror.obtain(f"v{name}")) == (remote.oid(), remote.oid("main~1"))


def test_branches_need_not_be_called_in_utf_8(remote: Repo) -> None:
    packed = remote.directory / "packed-refs"
    packed.write_bytes(f"{remote.oid()} refs/heads/caf".encode() + b"\xe9\n")
    mirror = Mirror.of(url_of(remote))
    assert mirror.branch_tip("caf\udce9") == remote.oid()


def test_file_contents_come_when_they_are_read(remote: Repo) -> None:
    remote.git("config", "uploadpack.allowFilter", "true")
    big = remote.commit(message="Big", files={"big": "x" * 10_000})
    mirror = Mirror.of(url_of(remote))
    blob = remote.oid("main:big")

    def is_here() -> bool:
        return blob in mirror.repository.run("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").text

    assert not is_here()
    assert mirror.repository.read(big, "big") == b"x" * 10_000
    assert is_here()


def test_two_urls_of_one_name_have_a_mirror_each(remote: Repo, tmp_path: Path) -> None:
    other = Repo.make(tmp_path / "elsewhere" / "lib.git", bare=True)
    oid = other.commit(message="Another lib")
    assert (Mirror.of(url_of(remote)).tip("main"), Mirror.of(url_of(other)).tip("main")) == (remote.oid(), oid)


def test_what_a_run_left_that_was_killed_while_making_a_mirror_is_made_whole(remote: Repo, git: Git) -> None:
    directory = mirror_module._directory_of(url_of(remote))
    directory.parent.mkdir(parents=True)
    git(directory.parent, "init", "--quiet", "--bare", directory)
    mirror = Mirror.of(url_of(remote))
    assert mirror.tip("main") == remote.oid()
    assert mirror.repository.has_commit(remote.oid())


ASK_TIP = """
import sys
from pinctl.tools.git.mirror import Mirror
mirror = Mirror.of(sys.argv[1])
print(mirror.tip("main"), len(mirror.repository.run("for-each-ref").text.splitlines()))
"""


def test_processes_that_want_the_same_mirror_take_turns(remote: Repo) -> None:
    for number in range(20):
        remote.branch(f"branch-{number}", "main~1")
    running = [
        subprocess.Popen(
            [sys.executable, "-c", ASK_TIP, url_of(remote)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ,
        )
        for _ in range(4)
    ]
    ended = [(*process.communicate(), process.returncode) for process in running]
    assert ended == [(f"{remote.oid()} 21\n", "", 0)] * 4


ASK_WHETHER_SHALLOW = """
import sys
from pinctl.errors import CouldNotFindOutError
from pinctl.tools.git.mirror import Mirror
from pinctl.tools.process import run
try:
    print("shallow" if Mirror.of(sys.argv[1]).repository.shallow else "whole")
except CouldNotFindOutError:
    print("could not find out")
"""


def test_a_mirror_of_a_shallow_remote_does_not_pretend_to_be_whole(remote: Repo, git: Git, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", "--depth", "1", url_of(remote), "shallow.git")
    url = f"file://{tmp_path}/shallow.git"
    # In a process group of its own: git 2.39 fetches what the remote lacks in a fetch of its own, which does the same.
    ended = run([sys.executable, "-c", ASK_WHETHER_SHALLOW, url], cwd=tmp_path, env=os.environ, seconds=8)
    assert not ended.timed_out
    assert (ended.stdout in {b"shallow\n", b"could not find out\n"}, ended.stderr) == (True, "")


def test_a_sha256_remote_has_a_mirror_of_its_kind(tmp_path: Path, remote: Repo) -> None:
    other = Repo.make(tmp_path / "sha256.git", bare=True, object_format="sha256")
    oid = other.commit(files={"file": "x\n"})
    for _ in range(2):
        mirror = Mirror.of(url_of(other))
        assert (mirror.tip("main"), mirror.repository.read(oid, "file")) == (oid, b"x\n")
    assert Mirror.of(url_of(remote)).tip("main") == remote.oid()
