"""Pins that are on no branch, on one that has not landed, and in the middle of a merge."""

from pathlib import Path

import pytest

from support import Pinctl
from support.rig import Repo, Rig, checked


def _orphan(rig: Rig, *, moved: bool = False, number: bool = True, edited: bool = False, commits: int = 1) -> Repo:
    """Makes a component whose pull request 1 was squashed, its branch deleted.

    Args:
        rig: gets the component.
        moved: whether main had moved since the branch was cut.
        number: whether the squash has the number of the pull request.
        edited: whether the squash is not quite what the branch was.
        commits: of the branch.
    """
    lib = rig.component("lib")
    base = lib.oid()
    for count in range(commits):
        base = lib.commit("refs/pull/1/head", f"Work {count}", files={f"new{count}": "new\n"}, parents=[base])
    if moved:
        lib.commit(message="Meanwhile", files={"meanwhile": "something\n"})
    new = {f"new{count}": "edited\n" if edited else "new\n" for count in range(commits)}
    lib.commit(message="Work (#1)" if number else "Work", files=new)
    lib.commit(message="Later", files={"later": "something\n"})
    return lib


@pytest.mark.parametrize(
    ("moved", "number", "edited", "commits", "evidence"),
    [
        (False, False, False, 1, "same tree"),
        (False, False, False, 3, "same tree"),
        (True, False, False, 1, "same patch-id"),
        (True, False, False, 3, "same combined patch-id"),
        (True, True, True, 3, "pull request number in the subject"),
    ],
)
def test_a1_a_pin_that_a_squash_orphaned_is_broken_and_names_the_squash(
    tmp_path: Path, pinctl: Pinctl, *, moved: bool, number: bool, edited: bool, commits: int, evidence: str
) -> None:
    rig = Rig(top=tmp_path)
    lib = _orphan(rig, moved=moved, number=number, edited=edited, commits=commits)
    repo = rig.superproject({"lib": lib.oid("main~4" if moved else "main~3")})
    orphan, squash = lib.oid("refs/pull/1/head"), lib.oid("main~1")
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": orphan}, parents=[repo.oid()])
    base, head = repo.oid(), repo.oid("pr")

    result = pinctl("check", "--base", "main", "--head", "pr", cwd=repo.directory)

    assert (result.status, result.stderr) == (1, "")
    assert result.stdout == (
        f"PIN001 deps/lib: {orphan[:7]} is not on main; its content is there as {squash[:7]} ({evidence}): "
        "pin that instead\n"
        f"    fix: git update-index --cacheinfo 160000,{squash},deps/lib\n"
        f"broken: {base[:7]}..{head[:7]} (the command line), judged 1 of 1 pins that moved\n"
    )


def test_a1_status_says_it_too(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = _orphan(rig)
    repo = rig.superproject({"lib": lib.oid("refs/pull/1/head")})

    result = pinctl("status", cwd=repo.directory)

    words = f"not on main; its content is there as {lib.oid('main~1')[:7]}"
    assert result.status == 0
    assert [line.rstrip() for line in result.stdout.splitlines()[3:5]] == [
        f"lib        deps/lib  {lib.oid('refs/pull/1/head')[:7]}  -        -        {words}  -",
        f"drift: lib: {words}",
    ]


def test_a1_the_squash_itself_is_fine(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = _orphan(rig)
    repo = rig.superproject({"lib": lib.oid("main~3")})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": lib.oid("main~1")}, parents=[repo.oid()])

    assert checked(pinctl, repo, "--base", "main", "--head", "pr").answer() == (0, [])


def test_a1_a_pull_requests_head_never_counts_as_merged(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    open_head = lib.commit("refs/pull/7/head", "Work", files={"new": "new\n"}, parents=[lib.oid()])
    repo = rig.superproject({"lib": lib.oid()})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": open_head}, parents=[repo.oid()])

    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    assert found.answer() == (1, [("PIN001", "deps/lib")])
    assert found.messages == [f"{open_head[:7]} is ahead of main by 1, unmerged"]


@pytest.mark.parametrize("with_merge", [False, True])
def test_a6_a_branch_that_has_not_landed_is_ahead_and_not_diverged(
    tmp_path: Path, pinctl: Pinctl, *, with_merge: bool
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    work = lib.commit("work", "Work", files={"new": "new\n"}, parents=[lib.oid("main~1")])
    parents = [work, lib.oid()] if with_merge else [lib.oid()]
    head = lib.commit("work", "More work", files={"newer": "newer\n"}, parents=parents)
    repo = rig.superproject({"lib": lib.oid()})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": head}, parents=[repo.oid()])

    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    assert found.answer() == (1, [("PIN001", "deps/lib")])
    assert found.messages == [f"{head[:7]} is ahead of main by {2 if with_merge else 1}, unmerged"]


def test_a6_a_branch_that_main_has_moved_away_from_is_diverged(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    head = lib.commit("work", "Work", files={"new": "new\n"}, parents=[lib.oid("main~1")])
    repo = rig.superproject({"lib": lib.oid("main~1")})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": head}, parents=[repo.oid()])

    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    assert found.answer() == (1, [("PIN001", "deps/lib")])
    assert found.messages == [f"{head[:7]} is diverged from main (1 ahead, 1 behind)"]
    assert found.only["fix"] == f"git update-index --cacheinfo 160000,{lib.oid()},deps/lib"


def _merged(rig: Rig) -> tuple[Repo, str, str]:
    """Makes a component with a merged branch of two commits; returns it, the first of them and the merge."""
    lib = rig.component("lib")
    first = lib.commit("work", "First", files={"first": "first\n"}, parents=[lib.oid()])
    second = lib.commit("work", "Second", files={"second": "second\n"})
    lib.commit(message="Meanwhile", files={"meanwhile": "x\n"})
    merge = lib.commit(message="Merge pull request #1 from work", parents=[lib.oid(), second], tree="work")
    return lib, first, merge


@pytest.mark.parametrize(("options", "answer"), [((), 0), (("--first-parent",), 1)])
def test_a7_a_commit_in_the_middle_of_a_merge_is_refused_only_with_first_parent(
    tmp_path: Path, pinctl: Pinctl, options: tuple[str, ...], answer: int
) -> None:
    rig = Rig(top=tmp_path)
    lib, first, merge = _merged(rig)
    repo = rig.superproject({"lib": lib.oid("main~2")})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": first}, parents=[repo.oid()])

    found = checked(pinctl, repo, "--base", "main", "--head", "pr", *options)

    assert found.status == answer
    expected = [f"{first[:7]} came to main by the merge {merge[:7]}: pin that instead"] if answer else []
    assert found.messages == expected


def test_a7_a_merge_and_the_commits_before_it_are_fine_with_first_parent(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib, _, merge = _merged(rig)
    repo = rig.superproject({"lib": lib.oid("main~2")})
    for commit in (merge, lib.oid("main~1")):
        repo.commit("pr", "Bump lib", gitlinks={"deps/lib": commit}, parents=[repo.oid()])

        assert checked(pinctl, repo, "--base", "main", "--head", "pr", "--first-parent").answer() == (0, [])


@pytest.mark.parametrize(("options", "answer"), [((), 0), (("--require-tip",), 1)])
def test_a26_a_pin_behind_the_tip_is_refused_only_with_require_tip(
    tmp_path: Path, pinctl: Pinctl, options: tuple[str, ...], answer: int
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid("main~2")})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": lib.oid("main~1")}, parents=[repo.oid()])

    found = checked(pinctl, repo, "--base", "main", "--head", "pr", *options)

    assert found.status == answer
    assert found.messages == ([f"{lib.oid('main~1')[:7]} is on main, 1 behind"] if answer else [])


def test_a26_status_says_how_far_behind_and_calls_it_no_drift(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid("main~1")})

    result = pinctl("status", cwd=repo.directory)

    assert result.status == 0
    assert "on main, 1 behind" in result.stdout
    assert "drift" not in result.stdout


def test_a27_a_rebase_merge_is_answered_with_its_last_commit(tmp_path: Path, pinctl: Pinctl) -> None:
    """No forge's API is asked for pull requests: git alone says what a head was merged as."""
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    head = lib.oid("main~1")
    for count in (1, 2):
        head = lib.commit("refs/pull/1/head", f"Work {count}", files={f"new{count}": "new\n"}, parents=[head])
    for count in (1, 2):
        lib.commit(message=f"Work {count}", files={f"new{count}": "new\n"})
    last = lib.oid()
    lib.commit(message="Later", files={"later": "x\n"})
    repo = rig.superproject({"lib": lib.oid("main~4")})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": head}, parents=[repo.oid()])

    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    assert found.answer() == (1, [("PIN001", "deps/lib")])
    assert found.messages == [
        f"{head[:7]} is not on main; its content is there as {last[:7]} (same patch-id): pin that instead"
    ]


def test_a27_of_two_pull_requests_with_one_head_the_merged_one_counts(tmp_path: Path, pinctl: Pinctl) -> None:
    """The API's wrong answers, in git: #5 was closed and #6 merged, both with the same head."""
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    head = lib.commit("refs/pull/5/head", "Work", files={"new": "new\n"}, parents=[lib.oid("main~1")])
    lib.branch("refs/pull/6/head", head)
    squash = lib.commit(message="Work, as edited on merging (#6)", files={"new": "edited\n"})
    repo = rig.superproject({"lib": lib.oid("main~2")})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": head}, parents=[repo.oid()])

    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    assert found.messages == [
        (
            f"{head[:7]} is not on main; its content is there as {squash[:7]} "
            "(pull request number in the subject): pin that instead"
        )
    ]


def test_a27_a_test_merge_of_the_forge_is_no_merge(tmp_path: Path, pinctl: Pinctl) -> None:
    """refs/pull/N/merge contains main and the head, and is on nothing."""
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    head = lib.commit("refs/pull/5/head", "Work", files={"new": "new\n"}, parents=[lib.oid("main~1")])
    merge = lib.commit("refs/pull/5/merge", "Merge", parents=[lib.oid(), head], files={"new": "new\n"})
    repo = rig.superproject({"lib": lib.oid()})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": merge}, parents=[repo.oid()])

    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    assert found.answer() == (1, [("PIN001", "deps/lib")])
    assert found.messages == [f"{merge[:7]} is ahead of main by 2, unmerged"]
