"""Builds trees and commits in the object database, and leaves the user's index and checkout as they are."""

from pathlib import Path

import pytest

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import Oid
from pinctl.tools.git.compose import (
    Conflicts,
    Edit,
    commit_tree,
    edit_tree,
    merge_commits,
    merge_trees,
    scratch_commit,
    staged_tree,
    write_blob,
)
from pinctl.tools.git.history import Person
from pinctl.tools.git.repository import Repository
from support import Git
from support.rig import Repo
from support.snapshot import unchanged

ONE, TWO = Oid("1" * 40), Oid("2" * 40)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.make(tmp_path / "repo")
    made.commit(
        message="Base",
        files={"file": "1\n", "dir/deep": "2\n", "mit ü/eine 🦀": "3\n", "gone": "4\n"},
        gitlinks={"deps/lib": ONE},
    )
    return made


def listing(repo: Repo, tree: str) -> dict[str, str]:
    lines = repo.git("ls-tree", "-r", "-z", "--full-tree", tree).split("\0")
    heads = {line.partition("\t")[2]: line.partition("\t")[0] for line in lines if line}
    return {path: f"{head.split()[0]} {head.split()[2]}" for path, head in heads.items()}


def test_entries_are_set_and_removed_and_the_rest_stays(repo: Repo) -> None:
    opened = Repository.open(repo.directory)
    blob = write_blob(opened, b"new\r\n\0contents")
    before = listing(repo, "HEAD")
    with unchanged(repo.directory):
        tree = edit_tree(
            opened,
            opened.tree_of("HEAD"),
            [
                Edit.gitlink("deps/lib", TWO),
                Edit.gitlink("deps/other lib", ONE),
                Edit(path="gone", mode="100644", oid=None),
                Edit(path="mit ü/eine 🦀", mode="100755", oid=blob),
                Edit(path="new/deep", mode="100644", oid=blob),
                Edit(path="never there", mode="100644", oid=None),
            ],
        )
    del before["gone"]
    assert listing(repo, tree) == before | {
        "deps/lib": f"160000 {TWO}",
        "deps/other lib": f"160000 {ONE}",
        "mit ü/eine 🦀": f"100755 {blob}",
        "new/deep": f"100644 {blob}",
    }
    assert opened.run("cat-file", "blob", blob).stdout == b"new\r\n\0contents"


def test_no_edits_are_the_same_tree(repo: Repo) -> None:
    opened = Repository.open(repo.directory)
    tree = opened.tree_of("HEAD")
    assert edit_tree(opened, tree, []) == tree
    assert edit_tree(opened, tree, [Edit.gitlink("deps/lib", ONE)]) == tree


def test_a_gitlink_may_take_the_place_of_a_file_or_of_a_directory(repo: Repo) -> None:
    opened = Repository.open(repo.directory)
    tree = edit_tree(opened, opened.tree_of("HEAD"), [Edit.gitlink("file", ONE), Edit.gitlink("dir", TWO)])
    found = listing(repo, tree)
    assert (found["file"], found["dir"], "dir/deep" in found) == (f"160000 {ONE}", f"160000 {TWO}", False)


def test_nothing_can_be_put_below_a_file(repo: Repo) -> None:
    opened = Repository.open(repo.directory)
    with pytest.raises(CouldNotFindOutError, match="file is no directory"):
        edit_tree(opened, opened.tree_of("HEAD"), [Edit.gitlink("file/lib", ONE)])
    kept = edit_tree(opened, opened.tree_of("HEAD"), [Edit(path="file/lib", mode="100644", oid=None)])
    assert kept == opened.tree_of("HEAD")


def test_a_directory_that_an_edit_empties_is_gone(repo: Repo) -> None:
    opened = Repository.open(repo.directory)
    tree = edit_tree(opened, opened.tree_of("HEAD"), [Edit(path="dir/deep", mode="100644", oid=None)])
    assert opened.entry_at(tree, "dir") is None
    everything = [Edit(path=path, mode="100644", oid=None) for path in listing(repo, "HEAD")]
    assert listing(repo, edit_tree(opened, opened.tree_of("HEAD"), everything)) == {}


def test_an_edit_in_a_sha256_repository_is_one_of_its_own_ids(tmp_path: Path) -> None:
    made = Repo.make(tmp_path / "sha256", object_format="sha256")
    made.commit(files={"file": "1\n", "gone": "2\n"}, gitlinks={"deps/lib": "1" * 64})
    opened = Repository.open(made.directory)
    edits = [Edit.gitlink("deps/lib", Oid("2" * 64)), Edit(path="gone", mode="100644", oid=None)]
    tree = edit_tree(opened, opened.tree_of("HEAD"), edits)
    assert listing(made, tree) == {"deps/lib": f"160000 {'2' * 64}", "file": f"100644 {made.oid('HEAD:file')}"}


def test_what_the_user_has_staged_and_changed_takes_no_part(repo: Repo, git: Git) -> None:
    (repo.directory / "file").write_text("changed\n")
    (repo.directory / "staged").write_text("staged\n")
    git(repo.directory, "add", "staged")
    opened = Repository.open(repo.directory)
    with unchanged(repo.directory):
        tree = edit_tree(opened, opened.tree_of("HEAD"), [Edit.gitlink("deps/lib", TWO)])
        commit = commit_tree(opened, tree, parent=opened.commit("HEAD"), message="Move\n")
    assert listing(repo, commit) == listing(repo, "HEAD") | {"deps/lib": f"160000 {TWO}"}


def trees(
    repo: Repo, base: dict[str, str | None], ours: dict[str, str | None], theirs: dict[str, str | None]
) -> tuple[Oid, ...]:
    start = repo.commit("merge-base", files=base, parents=[repo.oid()])
    commits = [
        start,
        *(repo.commit(name, files=files, parents=[start]) for name, files in (("o", ours), ("t", theirs))),
    ]
    return tuple(Oid(repo.oid(f"{commit}^{{tree}}")) for commit in commits)


def test_changes_in_different_places_merge(repo: Repo) -> None:
    text = "".join(f"{number}\n" for number in range(30))
    base, ours, theirs = trees(
        repo,
        {"text": text},
        {"text": text.replace("3\n", "three\n", 1), "ours": "1\n"},
        {"text": text.replace("27\n", "x\n"), "gone": None},
    )
    opened = Repository.open(repo.directory)
    with unchanged(repo.directory):
        merged = merge_trees(opened, base=base, ours=ours, theirs=theirs)
    assert isinstance(merged, Oid)
    assert opened.read(merged, "text") == text.replace("3\n", "three\n", 1).replace("27\n", "x\n").encode()
    assert "gone" not in listing(repo, merged)
    assert "ours" in listing(repo, merged)
    assert merge_trees(opened, base=base, ours=base, theirs=theirs) == theirs
    assert merge_trees(opened, base=base, ours=ours, theirs=base) == ours


def test_files_that_need_a_person_are_listed_once_each(repo: Repo) -> None:
    base, ours, theirs = trees(
        repo,
        {"mit ü 🦀": "base\n", "b": "base\n", "fine": "1\n"},
        {"mit ü 🦀": "ours\n", "b": None, "fine": "2\n", "added": "ours\n"},
        {"mit ü 🦀": "theirs\n", "b": "theirs\n", "added": "theirs\n"},
    )
    opened = Repository.open(repo.directory)
    with unchanged(repo.directory):
        merged = merge_trees(opened, base=base, ours=ours, theirs=theirs)
    assert isinstance(merged, Conflicts)
    assert sorted(merged.paths) == ["added", "b", "mit ü 🦀"]


def test_gitlinks_that_went_two_ways_need_a_person(repo: Repo) -> None:
    opened = Repository.open(repo.directory)
    base = opened.tree_of("HEAD")
    ours, theirs = (edit_tree(opened, base, [Edit.gitlink("deps/lib", oid)]) for oid in (TWO, Oid("3" * 40)))
    assert merge_trees(opened, base=base, ours=ours, theirs=theirs) == Conflicts(paths=("deps/lib",))


def test_two_commits_of_one_history_merge_from_where_they_parted(repo: Repo) -> None:
    start = repo.oid()
    ours = repo.commit("ours", files={"ours": "1\n"}, parents=[start])
    theirs = repo.commit("theirs", files={"theirs": "1\n"}, parents=[start])
    other = repo.commit("other", files={"ours": "2\n"}, parents=[start])
    opened = Repository.open(repo.directory)
    merged = merge_commits(opened, Oid(ours), Oid(theirs))
    assert isinstance(merged, Oid)
    assert set(listing(repo, merged)) == {*listing(repo, start), "ours", "theirs"}
    assert merge_commits(opened, Oid(ours), Oid(other)) == Conflicts(paths=("ours",))


def test_a_commit_is_made_by_the_user_and_no_ref_names_it(repo: Repo) -> None:
    opened = Repository.open(repo.directory)
    parent = opened.commit("HEAD")
    author = Person(name="Yuki ü", email="yuki@example.org", date="1780000000 +0900")
    with unchanged(repo.directory):
        commit = commit_tree(
            opened, opened.tree_of("HEAD"), parent=parent, message="Betreff ü\n\nMore\n", author=author
        )
        mine = commit_tree(opened, opened.tree_of("HEAD"), parent=parent, message="Mine\n")
    fields = "%T%n%P%n%an%n%ae%n%ad%n%cn%n%ce%n%B"
    assert repo.git("show", "--no-patch", "--date=raw", f"--format={fields}", commit).splitlines() == [
        opened.tree_of("HEAD"),
        parent,
        "Yuki ü",
        "yuki@example.org",
        "1780000000 +0900",
        "Test",
        "test@pinctl.example",
        "Betreff ü",
        "",
        "More",
    ]
    assert repo.git("show", "--no-patch", "--format=%an <%ae>", mine) == "Test <test@pinctl.example>"


def test_a_commit_of_nobody_says_how_to_become_somebody(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.useConfigOnly")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    opened = Repository.open(repo.directory)
    with pytest.raises(CouldNotFindOutError) as caught:
        commit_tree(opened, opened.tree_of("HEAD"), parent=opened.commit("HEAD"), message="x")
    assert (
        caught.value.message == "git cannot make the commit: fatal: no email was given and auto-detection is disabled"
    )
    assert caught.value.hint == 'Tell git who you are: git config user.name "…" and git config user.email "…"'
    # What needs nobody can be made nevertheless, and always with the same id.
    scratch = [scratch_commit(opened, opened.tree_of("HEAD"), parent=opened.commit("HEAD")) for _ in range(2)]
    assert scratch[0] == scratch[1]


def test_what_is_staged_is_a_tree(repo: Repo, git: Git) -> None:
    opened = Repository.open(repo.directory)
    assert staged_tree(opened) == opened.tree_of("HEAD")
    (repo.directory / "staged").write_text("staged\n")
    git(repo.directory, "add", "staged")
    assert set(listing(repo, staged_tree(opened))) == {*listing(repo, "HEAD"), "staged"}


def test_an_index_with_conflicts_is_no_tree(repo: Repo, git: Git) -> None:
    base = repo.oid()
    repo.commit("theirs", files={"file": "theirs\n"}, parents=[base])
    repo.commit(files={"file": "ours\n"})
    with pytest.raises(AssertionError, match="merge"):
        git(repo.directory, "merge", "theirs")
    with pytest.raises(CouldNotFindOutError) as caught:
        staged_tree(Repository.open(repo.directory))
    assert caught.value.message == "the index has conflicts in file"
