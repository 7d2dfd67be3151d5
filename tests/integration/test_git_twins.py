"""Finds the commit of a branch that carries the content of one that is not on it, and no commit that does not."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from pinctl.flows.superproject.standing import find_standing, find_twin
from pinctl.model.oid import Oid
from pinctl.model.standing import Standing, StandingKind, Twin, TwinEvidence
from pinctl.tools.git.repository import Repository
from support import Git
from support.rig import Repo

Files = Mapping[str, str | bytes | None]
TEXT = "".join(f"line {number}\n" for number in range(30))


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with one commit, from which branches go."""
    made = Repo.make(tmp_path / "repo", bare=True)
    made.commit(message="Base", files={"text": TEXT, "code.py": "if a:\n    x()\ny()\n", "data.bin": b"\0\1\2"})
    return made


def branch_off(repo: Repo, *steps: Files) -> str:
    """Makes a branch of some commits from main as it is; returns its head."""
    base = repo.oid()
    for number, files in enumerate(steps):
        base = repo.commit("work", f"Work {number}", files=files, parents=[base])
    return base


def twin_of(repo: Repo, head: str, *, pull: int | None = None) -> Twin | None:
    return find_twin(Repository.open(repo.directory), Oid(head), tip=Oid(repo.oid()), pull=pull)


def twin(commit: str, evidence: TwinEvidence) -> Twin:
    return Twin(commit=Oid(commit), evidence=evidence)


def test_a_squash_onto_an_unmoved_branch_has_the_same_tree(repo: Repo) -> None:
    head = branch_off(repo, {"new": "1\n"}, {"new": "2\n"})
    squash = repo.commit(message="Anything", files={"new": "2\n"})
    repo.commit(message="Later", files={"later": "1\n"})
    assert twin_of(repo, head) == twin(squash, TwinEvidence.SAME_TREE)
    assert find_standing(Repository.open(repo.directory), Oid(head), branch="main", tip=Oid(repo.oid())) == Standing(
        kind=StandingKind.SQUASH_TWIN,
        branch="main",
        behind=2,
        ahead=2,
        twin=twin(squash, TwinEvidence.SAME_TREE),
    )


def test_a_single_commit_squashed_onto_a_moved_branch_has_the_same_patch(repo: Repo) -> None:
    head = branch_off(repo, {"text": TEXT.replace("line 3\n", "line three\n"), "new": "1\n"})
    repo.commit(message="Meanwhile", files={"text": TEXT.replace("line 25\n", "line x\n")})
    moved = TEXT.replace("line 25\n", "line x\n").replace("line 3\n", "line three\n")
    squash = repo.commit(message="Anything", files={"text": moved, "new": "1\n"})
    repo.commit(message="Later", files={"later": "1\n"})
    assert twin_of(repo, head) == twin(squash, TwinEvidence.SAME_PATCH)


def test_several_commits_squashed_onto_a_moved_branch_have_the_same_patch_together(repo: Repo) -> None:
    head = branch_off(repo, {"new": "1\n", "gone later": "x\n"}, {"new": "2\n"}, {"gone later": None, "text": None})
    repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    squash = repo.commit(message="Anything", files={"new": "2\n", "text": None})
    repo.commit(message="Later", files={"new": "3\n"})
    assert twin_of(repo, head) == twin(squash, TwinEvidence.SAME_COMBINED_PATCH)


def test_a_branch_that_merged_main_into_itself_before_its_squash_has_a_twin(repo: Repo) -> None:
    head = branch_off(repo, {"new": "1\n"})
    repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    head = repo.commit("work", "Merge main", files={"meanwhile": "1\n"}, parents=[head, repo.oid()])
    head = repo.commit("work", "More", files={"new": "2\n"})
    repo.commit(message="Meanwhile again", files={"again": "1\n"})
    squash = repo.commit(message="Anything", files={"new": "2\n"})
    assert twin_of(repo, head) == twin(squash, TwinEvidence.SAME_COMBINED_PATCH)


def test_a_branch_that_was_rebased_onto_main_has_its_last_commit_s_copy_for_a_twin(repo: Repo) -> None:
    head = branch_off(repo, {"one": "1\n"}, {"two": "2\n"}, {"three": "3\n"})
    repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    for name, text in (("one", "1\n"), ("two", "2\n"), ("three", "3\n")):
        copy = repo.commit(message=f"Copy of {name}", files={name: text})
    repo.commit(message="Later", files={"later": "1\n"})
    assert twin_of(repo, head) == twin(copy, TwinEvidence.SAME_PATCH)


def test_a_branch_of_which_only_the_last_commit_was_taken_over_has_no_twin(repo: Repo) -> None:
    head = branch_off(repo, {"one": "1\n"}, {"two": "2\n"})
    repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    repo.commit(message="Cherry-picked", files={"two": "2\n"})
    assert twin_of(repo, head) is None


def test_a_rebase_that_changed_the_white_space_of_one_commit_is_no_copy_of_the_branch(repo: Repo) -> None:
    head = branch_off(repo, {"code.py": "if a:\n    x()\n    y()\n"}, {"two": "2\n"})
    repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    repo.commit(message="Work 0, indented otherwise", files={"code.py": "if a:\n    x()\n  y()\n"})
    repo.commit(message="Work 1", files={"two": "2\n"})
    assert twin_of(repo, head) is None


def test_an_empty_commit_of_a_rebased_branch_needs_no_copy(repo: Repo) -> None:
    head = branch_off(repo, {"one": "1\n"}, {}, {"two": "2\n"}, {})
    repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    repo.commit(message="One", files={"one": "1\n"})
    copy = repo.commit(message="Two", files={"two": "2\n"})
    assert twin_of(repo, head) == twin(copy, TwinEvidence.SAME_PATCH)


def test_a_squash_that_normalised_line_endings_is_a_twin_only_by_its_number(repo: Repo) -> None:
    head = branch_off(repo, {"new": "one\r\ntwo\r\n"})
    repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    squash = repo.commit(message="Work (#7)", files={"new": "one\ntwo\n"})
    assert twin_of(repo, head) is None
    assert twin_of(repo, head, pull=7) == twin(squash, TwinEvidence.FORGE_NUMBER)


def test_the_same_lines_at_another_place_of_a_changed_file_are_the_same_patch(repo: Repo) -> None:
    head = branch_off(repo, {"text": TEXT.replace("line 20\n", "line twenty\n")})
    repo.commit(message="Meanwhile", files={"text": "more\n" * 9 + TEXT})
    squash = repo.commit(message="Anything", files={"text": "more\n" * 9 + TEXT.replace("line 20\n", "line twenty\n")})
    assert twin_of(repo, head) == twin(squash, TwinEvidence.SAME_PATCH)


@pytest.mark.parametrize(
    ("subject", "evidence"),
    [
        ("Do the work (#7)", TwinEvidence.FORGE_NUMBER),
        ("Do the work (#7) ", TwinEvidence.FORGE_NUMBER),
        ("Do the work (#7) (#9)", TwinEvidence.FORGE_NUMBER),
        ("Merge pull request #7 from someone/work", TwinEvidence.MERGE_SUBJECT),
    ],
)
def test_the_forge_s_number_names_the_twin_of_a_pull_request_whose_content_was_edited(
    repo: Repo, subject: str, evidence: TwinEvidence
) -> None:
    head = branch_off(repo, {"new": "1\n"}, {"new": "2\n"})
    repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    squash = repo.commit(message=f"{subject}\n\nbody", files={"new": "edited while merging\n"})
    repo.commit(message="Later", files={"later": "1\n"})
    assert twin_of(repo, head, pull=7) == twin(squash, evidence)
    assert twin_of(repo, head) is None
    assert twin_of(repo, head, pull=8) is None


@pytest.mark.parametrize(
    "subject",
    [
        "Do the work (#77)",
        "Do the work #7",
        "See (#7) for more",
        'Revert "Do the work (#7)"',
        'Revert "Do the work (#7)" (#9)',
        "Merge pull request #77 from someone/work",
        "Merge pull request #7",
    ],
)
def test_a_subject_that_mentions_the_number_is_no_merge_of_it(repo: Repo, subject: str) -> None:
    head = branch_off(repo, {"new": "1\n"}, {"new": "2\n"})
    repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    repo.commit(message=subject, files={"new": "something else\n"})
    assert twin_of(repo, head, pull=7) is None


def test_a_number_from_before_the_branch_began_is_no_merge_of_it(repo: Repo) -> None:
    repo.commit(message="An older work (#7)", files={"old": "1\n"})
    head = branch_off(repo, {"new": "1\n"})
    repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    assert twin_of(repo, head, pull=7) is None


def test_a_number_in_the_middle_of_a_merged_branch_is_no_merge_of_it(repo: Repo) -> None:
    head = branch_off(repo, {"new": "1\n"}, {"new": "2\n"})
    side = repo.commit("side", "Try the work (#7)", files={"side": "1\n"}, parents=[repo.oid()])
    repo.commit(message="Merge something else", files={"side": "1\n"}, parents=[repo.oid(), side])
    assert twin_of(repo, head, pull=7) is None


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ({"new": "1\n"}, {"new": "2\n"}),
        ({"new": "1\n"}, {"other": "1\n"}),
        ({"new": "1\n"}, {"new": "1\n", "other": "1\n"}),
        ({"new": "1\n", "other": "1\n"}, {"new": "1\n"}),
        ({"data.bin": b"\0\1\3"}, {"data.bin": b"\0\1\4"}),
        ({"text": None}, {"text": ""}),
        # In Python, what stands under the `if` depends on white space alone.
        ({"code.py": "if a:\n    x()\n    y()\n"}, {"code.py": "if a:\n    x()\n  y()\n"}),
        ({"code.py": "if a:\n    x()\n    y()\n"}, {"code.py": "if a:\n    x()\ny( )\n"}),
    ],
)
def test_another_change_is_no_twin(repo: Repo, mine: Files, theirs: Files) -> None:
    head = branch_off(repo, mine)
    repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    repo.commit(message="Another change", files=theirs)
    assert twin_of(repo, head) is None


def test_an_empty_commit_has_no_twin_in_another_empty_commit(repo: Repo) -> None:
    head = branch_off(repo, {})
    repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    repo.commit(message="Run CI again")
    assert twin_of(repo, head) is None


@pytest.mark.parametrize("path", ["mit ü 🦀/eine Datei", "tab\there", "new\\line"])
def test_a_twin_is_found_whatever_its_paths_are_called(repo: Repo, path: str) -> None:
    head = branch_off(repo, {path: "1\n"})
    repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    squash = repo.commit(message="Anything", files={path: "1\n"})
    assert twin_of(repo, head) == twin(squash, TwinEvidence.SAME_PATCH)


def test_a_moved_gitlink_counts_as_content_whatever_ignore_says(repo: Repo) -> None:
    modules = '[submodule "dep"]\n\tpath = dep\n\turl = ../dep\n\tignore = all\n'
    repo.commit(message="Pin", files={".gitmodules": modules}, gitlinks={"dep": "1" * 40})
    head = repo.commit("work", "Move", gitlinks={"dep": "2" * 40}, parents=[repo.oid()])
    other = repo.commit("other", "Move elsewhere", gitlinks={"dep": "3" * 40}, parents=[repo.oid()])
    repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    squash = repo.commit(message="Anything", gitlinks={"dep": "2" * 40})
    assert twin_of(repo, head) == twin(squash, TwinEvidence.SAME_PATCH)
    assert twin_of(repo, other) is None


def test_a_merge_commit_can_be_the_twin_of_a_head_that_was_amended_after(repo: Repo) -> None:
    head = branch_off(repo, {"new": "1\n"})
    repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    other = repo.commit("copy", "The same work", files={"new": "1\n"}, parents=[repo.oid("main~1")])
    merge = repo.commit(message="Merge branch 'copy'", files={"new": "1\n"}, parents=[repo.oid(), other])
    assert twin_of(repo, head) == twin(merge, TwinEvidence.SAME_PATCH)


def test_the_user_s_own_diff_settings_do_not_change_the_answer(
    repo: Repo, git: Git, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    head = branch_off(repo, {"new": "1\n"})
    repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    squash = repo.commit(message="Anything", files={"new": "1\n"})
    settings = tmp_path / "gitconfig"
    for key, value in (
        ("diff.noprefix", "true"),
        ("diff.external", "false"),
        ("diff.renames", "copies"),
        ("diff.context", "0"),
        ("color.ui", "always"),
        ("log.showSignature", "true"),
        ("log.decorate", "full"),
        ("format.pretty", "oneline"),
        ("core.quotePath", "true"),
        ("submodule.recurse", "true"),
        ("diff.orderFile", "/dev/null"),
    ):
        git(tmp_path, "config", "--file", settings, key, value)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    assert twin_of(repo, head) == twin(squash, TwinEvidence.SAME_PATCH)
