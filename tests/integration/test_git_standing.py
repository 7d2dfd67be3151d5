"""How a commit stands to its branch, asked of real histories: by ancestry, and by what was undone later."""

from pathlib import Path

import pytest

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.superproject.standing import find_revert, find_standing
from pinctl.model.oid import Oid
from pinctl.model.standing import Standing, StandingKind
from pinctl.tools.git.repository import Repository
from support import Git
from support.rig import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with three commits on main."""
    made = Repo.make(tmp_path / "repo")
    for number in range(3):
        made.commit(message=f"Commit {number}", files={f"file{number}": f"{number}\n"})
    return made


def standing(repo: Repo, revision: str, *, branch: str = "main", pull: int | None = None) -> Standing:
    opened = Repository.open(repo.directory)
    return find_standing(
        opened, Oid(repo.oid(revision)), branch=branch, tip=Oid(repo.oid(f"refs/heads/{branch}")), pull=pull
    )


def on_main(behind: int) -> Standing:
    return Standing(kind=StandingKind.ON_BRANCH, branch="main", behind=behind, ahead=0)


def reverted(by: str, behind: int) -> Standing:
    return Standing(kind=StandingKind.REVERTED, branch="main", behind=behind, ahead=0, reverted_by=Oid(by))


def revert_message(repo: Repo, commit: str, subject: str) -> str:
    return f'Revert "{subject}"\n\nThis reverts commit {repo.oid(commit)}.\n'


@pytest.mark.parametrize("behind", [0, 1, 2])
def test_a_commit_of_the_branch_is_on_it_however_far_behind(repo: Repo, behind: int) -> None:
    assert standing(repo, f"main~{behind}") == on_main(behind)


def test_a_commit_that_a_merge_brought_is_on_the_branch(repo: Repo) -> None:
    base = repo.oid("main~1")
    repo.commit("side", "Side 1", files={"side": "1\n"}, parents=[base])
    repo.commit("side", "Side 2", files={"side": "2\n"})
    repo.commit(message="Merge branch 'side'", files={"side": "2\n"}, parents=[repo.oid(), repo.oid("side")])
    assert standing(repo, "side") == on_main(2)
    assert standing(repo, "side~1") == on_main(3)


@pytest.mark.parametrize("commits", [1, 3])
def test_a_descendant_of_the_tip_is_ahead(repo: Repo, commits: int) -> None:
    repo.branch("work")
    for number in range(commits):
        repo.commit("work", f"Work {number}", files={"work": f"{number}\n"})
    assert standing(repo, "work") == Standing(kind=StandingKind.AHEAD, branch="main", behind=0, ahead=commits)


def test_a_descendant_that_merged_the_branch_into_itself_is_ahead(repo: Repo) -> None:
    repo.commit("work", "Work", files={"work": "1\n"}, parents=[repo.oid("main~1")])
    repo.commit("work", "Merge main", files={"file2": "2\n"}, parents=[repo.oid("work"), repo.oid("main")])
    assert standing(repo, "work") == Standing(kind=StandingKind.AHEAD, branch="main", behind=0, ahead=2)


def test_a_commit_beside_the_branch_has_diverged(repo: Repo) -> None:
    repo.commit("work", "Work 1", files={"work": "1\n"}, parents=[repo.oid("main~2")])
    repo.commit("work", "Work 2", files={"work": "2\n"})
    assert standing(repo, "work") == Standing(kind=StandingKind.DIVERGED, branch="main", behind=2, ahead=2)


def test_a_commit_of_another_history_has_diverged(repo: Repo) -> None:
    repo.commit("other", "Another beginning", files={"x": "x\n"}, parents=[])
    assert standing(repo, "other") == Standing(kind=StandingKind.DIVERGED, branch="main", behind=3, ahead=1)


def test_a_commit_that_was_reverted_later_is_not_just_on_the_branch(repo: Repo) -> None:
    bad = repo.commit(message="Bad", files={"bad": "1\n"})
    revert = repo.commit(message=revert_message(repo, bad, "Bad"), files={"bad": None})
    repo.commit(message="Later", files={"later": "1\n"})
    assert standing(repo, bad) == reverted(revert, 2)
    # The commit before is on the branch, and so is the revert.
    assert standing(repo, f"{bad}~1") == on_main(3)
    assert standing(repo, revert) == on_main(1)


def test_a_revert_that_was_reverted_leaves_the_commit_on_the_branch(repo: Repo) -> None:
    bad = repo.commit(message="Bad", files={"bad": "1\n"})
    first = repo.commit(message=revert_message(repo, bad, "Bad"), files={"bad": None})
    second = repo.commit(message=revert_message(repo, first, 'Revert "Bad"'), files={"bad": "1\n"})
    assert standing(repo, bad) == on_main(2)
    assert standing(repo, first) == reverted(second, 1)
    third = repo.commit(message=revert_message(repo, second, "Reapply"), files={"bad": None})
    assert standing(repo, bad) == reverted(first, 3)
    assert standing(repo, second) == reverted(third, 1)


def test_git_s_own_revert_is_understood(repo: Repo, git: Git) -> None:
    bad = repo.commit(message="Bad", files={"bad": "1\n"})
    git(repo.directory, "reset", "--quiet", "--hard")
    git(repo.directory, "revert", "--no-edit", bad)
    assert standing(repo, bad) == reverted(repo.oid(), 1)
    git(repo.directory, "revert", "--no-edit", "HEAD")
    assert standing(repo, bad) == on_main(2)


def test_a_revert_on_another_branch_undoes_nothing_here(repo: Repo) -> None:
    bad = repo.commit(message="Bad", files={"bad": "1\n"})
    repo.branch("release")
    repo.commit("release", revert_message(repo, bad, "Bad"), files={"bad": None})
    assert standing(repo, bad) == on_main(0)


def test_what_a_reverted_merge_had_brought_is_reverted(repo: Repo, git: Git) -> None:
    side = repo.commit("side", "Side", files={"side": "1\n"}, parents=[repo.oid()])
    merge = repo.commit(message="Merge pull request #7 from x/side", files={"side": "1\n"}, parents=[repo.oid(), side])
    git(repo.directory, "revert", "--no-edit", "--mainline", "1", merge)
    assert standing(repo, merge) == reverted(repo.oid(), 1)
    assert standing(repo, side) == reverted(repo.oid(), 2)


def test_the_forge_s_own_revert_is_understood(repo: Repo) -> None:
    # GitHub's button names the pull request, not the commit.
    bad = repo.commit(message="Read packed arrays (#174)", files={"bad": "1\n"})
    revert = repo.commit(
        message='Revert "Read packed arrays" (#180)\n\nReverts acme/renderers#174\n', files={"bad": None}
    )
    assert standing(repo, bad, pull=174) == reverted(revert, 1)


def test_a_twin_that_was_reverted_says_so(repo: Repo) -> None:
    head = repo.commit("work", "Work", files={"work": "1\n"}, parents=[repo.oid("main~1")])
    squash = repo.commit(message="Work (#5)", files={"work": "1\n"})
    revert = repo.commit(message=revert_message(repo, squash, "Work (#5)"), files={"work": None})
    found = standing(repo, head)
    assert found.twin is not None
    assert (found.twin.commit, found.reverted_by) == (squash, revert)


def test_an_abbreviated_mention_is_no_revert(repo: Repo) -> None:
    good = repo.commit(message="Good", files={"good": "1\n"})
    repo.commit(message=f"Talk\n\nSee {good}; it reverts nothing.\n", files={"talk": "1\n"})
    repo.commit(message=f"Talk more\n\nThis reverts commit {'0' * 40}.\n", files={"talk": "2\n"})
    opened = Repository.open(repo.directory)
    assert find_revert(opened, Oid(good), tip=Oid(repo.oid())) is None


def test_a_branch_named_like_a_file_and_a_tag_is_still_that_branch(repo: Repo) -> None:
    repo.commit(message="Files", files={"work": "a file\n", "dir/deep": "x\n"})
    repo.commit("work", "Work", files={"x": "1\n"}, parents=[repo.oid()])
    repo.commit("dir", "Dir", files={"y": "1\n"}, parents=[repo.oid("main~1")])
    repo.git("tag", "main", repo.oid("refs/heads/main~2"))
    main = repo.oid("refs/heads/main")
    assert standing(repo, main) == on_main(0)
    assert standing(repo, "refs/heads/work").kind is StandingKind.AHEAD
    assert standing(repo, main, branch="dir") == Standing(kind=StandingKind.DIVERGED, branch="dir", behind=1, ahead=1)


def test_names_with_spaces_and_other_scripts_make_no_difference(tmp_path: Path) -> None:
    repo = Repo.make(tmp_path / "ein Verzeichnis mit ü 🦀")
    repo.commit(message="Erster\n\nmit ü", files={"eine Datei": "1\n", "ünï/ключ 🦀.txt": "1\n", '"quoted"': "1\n"})
    repo.commit("arbeit/ü", "Arbeit ü", files={"ünï/ключ 🦀.txt": "2\n"}, parents=[repo.oid()])
    repo.commit(message="Arbeit ü (#5)", files={"ünï/ключ 🦀.txt": "2\n"})
    repo.commit(message="Später", files={"eine Datei": "2\n"})
    found = standing(repo, "arbeit/ü")
    assert found.kind is StandingKind.SQUASH_TWIN
    assert found.twin is not None
    assert found.twin.commit == repo.oid("main~1")


def shallow_clone(repo: Repo, git: Git, *, depth: int) -> Path:
    clone = repo.directory.parent / f"depth-{depth}"
    git(repo.directory.parent, "clone", "--quiet", "--depth", str(depth), f"file://{repo.directory}", clone)
    return clone


def test_a_shallow_clone_does_not_say_no_to_a_true_ancestor(repo: Repo, git: Git) -> None:
    clone = shallow_clone(repo, git, depth=1)
    old, tip = Oid(repo.oid("main~2")), Oid(repo.oid())
    git(clone, "fetch", "--quiet", "--depth", "1", "origin", old)
    opened = Repository.open(clone)
    assert opened.has_commit(old)
    with pytest.raises(CouldNotFindOutError) as caught:
        find_standing(opened, old, branch="main", tip=tip)
    assert caught.value.message == (
        f"{clone} is a shallow clone: it cannot tell whether {old[:7]} is an ancestor of {tip[:7]}"
    )
    assert "git fetch --unshallow" in (caught.value.hint or "")


def test_a_shallow_clone_says_yes_where_what_it_has_is_enough(repo: Repo, git: Git) -> None:
    opened = Repository.open(shallow_clone(repo, git, depth=2))
    tip = Oid(repo.oid())
    assert find_standing(opened, tip, branch="main", tip=tip) == on_main(0)
    assert find_standing(opened, Oid(repo.oid("main~1")), branch="main", tip=tip) == on_main(1)


def test_a_shallow_clone_that_was_deepened_says_what_a_whole_one_does(repo: Repo, git: Git) -> None:
    clone = shallow_clone(repo, git, depth=1)
    git(clone, "fetch", "--quiet", "--unshallow")
    opened = Repository.open(clone)
    assert find_standing(opened, Oid(repo.oid("main~2")), branch="main", tip=Oid(repo.oid())) == on_main(2)


def test_a_commit_that_is_not_there_is_no_no(repo: Repo) -> None:
    opened = Repository.open(repo.directory)
    with pytest.raises(CouldNotFindOutError):
        find_standing(opened, Oid("1" * 40), branch="main", tip=Oid(repo.oid()))
