"""Asks histories: who wrote what, what changed, what brought a commit, which releases a commit contains."""

from pathlib import Path

import pytest
from packaging.version import Version

from pinctl.model.oid import Oid
from pinctl.model.releases import Release
from pinctl.tools.git.history import (
    LogEntry,
    Person,
    ahead_behind,
    brought_by,
    changed_paths,
    combined_patch_id,
    commit_naming_pull,
    commit_with_trailer,
    contains,
    difference,
    log,
    merge_base,
    paths_by_commit,
    people,
    releases_in,
)
from pinctl.tools.git.repository import Repository
from support.rig import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """main: one, two, merge of side (side 1, side 2), three."""
    made = Repo.make(tmp_path / "repo", bare=True)
    one = made.commit(message="One", files={"file": "1\n"})
    made.commit(message="Two\n\nWith a body,\nof two lines.\n", files={"file": "2\n"})
    made.commit("side", "Side 1", files={"side": "1\n"}, parents=[one])
    made.commit("side", "Side 2", files={"side": "2\n"})
    made.commit(message="Merge side", files={"side": "2\n"}, parents=[made.oid(), made.oid("side")])
    made.commit(message="Three", files={"mit ü/eine 🦀": "3\n"})
    return made


def opened(repo: Repo) -> Repository:
    return Repository.open(repo.directory)


def oid(repo: Repo, revision: str) -> Oid:
    return Oid(repo.oid(revision))


def entry(repo: Repo, revision: str, subject: str, body: str = "") -> LogEntry:
    return LogEntry(commit=oid(repo, revision), tree=oid(repo, f"{revision}^{{tree}}"), subject=subject, body=body)


def test_a_log_follows_first_parents_or_everything(repo: Repo) -> None:
    assert log(opened(repo), "main") == (
        entry(repo, "main", "Three"),
        entry(repo, "main~1", "Merge side"),
        entry(repo, "main~2", "Two", "With a body,\nof two lines.\n"),
        entry(repo, "main~3", "One"),
    )
    assert {one.subject for one in log(opened(repo), "main", first_parent=False)} == {
        *("Three", "Merge side", "Two", "Side 2", "Side 1", "One")
    }
    assert log(opened(repo), "main..main") == ()


def test_a_log_takes_any_message(repo: Repo) -> None:
    repo.commit(message="")
    repo.commit(message="Ünï 🦀\nsecond line of the subject\n\n\n\nbody\x01with\x1fodd\x85things\n")
    newest, empty = log(opened(repo), "-2", "main")
    assert (newest.subject, newest.body) == (
        "Ünï 🦀 second line of the subject",
        "body\x01with\x1fodd\x85things\n",
    )
    assert (empty.subject, empty.body) == ("", "")


def test_ancestry_is_asked_of_the_graph(repo: Repo) -> None:
    main, side, two = oid(repo, "main"), oid(repo, "side"), oid(repo, "main~2")
    assert contains(opened(repo), commit=main, ancestor=side)
    assert contains(opened(repo), commit=main, ancestor=main)
    assert not contains(opened(repo), commit=side, ancestor=main)
    assert ahead_behind(opened(repo), commit=side, tip=two) == (2, 1)
    assert ahead_behind(opened(repo), commit=main, tip=main) == (0, 0)
    assert merge_base(opened(repo), side, two) == oid(repo, "main~3")
    other = Oid(repo.commit("other", "Other", parents=[]))
    assert merge_base(opened(repo), side, other) is None


def test_a_commit_was_brought_by_itself_or_by_its_merge(repo: Repo) -> None:
    tip = oid(repo, "main")
    merge = oid(repo, "main~1")
    for revision, expected in (("side", merge), ("side~1", merge), ("main~2", oid(repo, "main~2")), ("main", tip)):
        assert brought_by(opened(repo), commit=oid(repo, revision), tip=tip) == expected


def test_the_newest_commit_that_a_forge_names_after_a_pull_request_is_found(repo: Repo) -> None:
    repo.commit(message="Do it (#7)")
    newest = repo.commit(message="Do it again (#7)")
    merge = repo.commit(message="Merge pull request #8 from x/y")
    repo.commit(message='Revert "Do it again (#7)" (#9)')
    landing = repo.commit(message="Land\n\nChange: prime-rl#10 abc\n")
    tip = oid(repo, "main")
    assert commit_naming_pull(opened(repo), tip=tip, pull=7) == newest
    assert commit_naming_pull(opened(repo), tip=tip, pull=8) == merge
    assert commit_naming_pull(opened(repo), tip=tip, pull=1) is None
    assert commit_naming_pull(opened(repo), tip=tip, pull=10) is None
    assert commit_naming_pull(opened(repo), tip=oid(repo, "main~5"), pull=7) is None
    assert commit_with_trailer(opened(repo), tip=tip, beginning="Change: prime-rl#10 ") == landing
    assert commit_with_trailer(opened(repo), tip=tip, beginning="Change: prime-rl#1 ") is None
    assert commit_with_trailer(opened(repo), tip=oid(repo, "main~1"), beginning="Change: prime-rl#10 ") is None


def test_whom_a_commit_names_as_its_co_authors_wrote_it_too(tmp_path: Path) -> None:
    repo = Repo.make(tmp_path / "repo")
    repo.commit(message="Base")
    body = "Co-authored-by: nobody in the middle <no@x.org>\n\nMore text.\n\n"
    trailers = "Co-Authored-By:  Yuki ü  <Y@x.org>\nco-authored-by: broken\nCo-authored-by: Mara <m@x.org>\n"
    repo.commit(message=f"One\n\n{body}{trailers}")
    repo.commit(message="Two\n\nCo-authored-by: Yuki <y@x.org>\nCo-authored-by: Ines <i@x.org>\n")
    wrote = people(opened(repo), since=oid(repo, "main~2"), until=oid(repo, "main"))
    assert [(person.name, person.email) for person in wrote] == [
        ("Test", "test@pinctl.example"),
        ("Yuki ü", "Y@x.org"),
        ("Mara", "m@x.org"),
        ("Ines", "i@x.org"),
    ]


def test_authors_come_once_each_in_the_order_of_their_first_commits(tmp_path: Path) -> None:
    repo = Repo.make(tmp_path / "repo")
    repo.commit(message="Base")
    for number, (name, email) in enumerate((("Yuki ü", "y@x.org"), ("Mara", "m@x.org"), ("Yuki B.", "y@x.org"))):
        env = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email, "GIT_AUTHOR_DATE": f"{1_780_000_000 + number} +0900"}
        repo.git("commit", "--quiet", "--allow-empty", "-m", name, env=env)
    assert people(opened(repo), since=oid(repo, "main~3"), until=oid(repo, "main")) == (
        Person(name="Yuki ü", email="y@x.org", date="1780000000 +0900"),
        Person(name="Mara", email="m@x.org", date="1780000001 +0900"),
    )
    assert people(opened(repo), since=oid(repo, "main"), until=oid(repo, "main")) == ()


def test_changed_paths_are_those_of_contents_modes_and_gitlinks(repo: Repo) -> None:
    modules = '[submodule "lib"]\n\tpath = lib\n\turl = ../lib\n\tignore = all\n'
    base = repo.commit(
        message="Base", files={"moved": "same\n" * 9, ".gitmodules": modules}, gitlinks={"lib": "1" * 40}
    )
    repo.commit(
        message="Change", files={"moved": None, "mit ü 🦀": "same\n" * 9, "file": "4\n"}, gitlinks={"lib": "2" * 40}
    )
    assert changed_paths(opened(repo), before=base, after="main") == ("file", "lib", "mit ü 🦀", "moved")
    assert changed_paths(opened(repo), before=base, after=base) == ()
    patch = difference(opened(repo), before=base, after="main")
    assert f"-Subproject commit {'1' * 40}\n+Subproject commit {'2' * 40}\n" in patch
    assert difference(opened(repo), before=base, after=base) == ""


def test_the_paths_of_each_commit_are_those_against_its_first_parent(repo: Repo) -> None:
    repo.commit(message="Empty")
    repo.commit(message="Rename", files={"file": None, "tab\there": "2\n", "a b": "2\n"}, gitlinks={"lib": "1" * 40})
    assert paths_by_commit(opened(repo), "main~5..main") == {
        oid(repo, "main"): frozenset({"file", "tab\there", "a b", "lib"}),
        oid(repo, "main~1"): frozenset(),
        oid(repo, "main~2"): frozenset({"mit ü/eine 🦀"}),
        oid(repo, "main~3"): frozenset({"side"}),
        oid(repo, "main~4"): frozenset({"file"}),
    }


def test_a_patch_id_is_that_of_the_change_wherever_it_was_made(repo: Repo) -> None:
    base = repo.oid()
    there = repo.commit("there", files={"new": "1\n2\n"}, parents=[base])
    moved = repo.commit(message="Meanwhile", files={"meanwhile": "1\n"})
    here = repo.commit(message="Here", files={"new": "1\n2\n"})
    other = repo.commit("other", files={"new": "1\n3\n"}, parents=[base])
    ids = [
        combined_patch_id(opened(repo), before=before, after=after)
        for before, after in ((base, there), (moved, here), (base, other), (base, base))
    ]
    assert (ids[0] == ids[1], ids[0] == ids[2], ids[3]) == (True, False, None)


def test_releases_are_the_tags_that_a_commit_contains(repo: Repo) -> None:
    for tag, revision in (
        ("v0.1.0", "main~3"),
        ("v0.2.0", "main"),
        ("renderers-v0.1.9", "main~2"),
        ("notes", "main~3"),
    ):
        repo.git("tag", "-a", "-m", tag, tag, revision)
    repo.git("tag", "v0.2.0.dev1", "main~1")

    def release(tag: str, version: str, revision: str) -> Release:
        return Release(tag=tag, version=Version(version), commit=oid(repo, revision))

    first, dev, second = (
        release("v0.1.0", "0.1.0", "main~3"),
        release("v0.2.0.dev1", "0.2.0.dev1", "main~1"),
        release("v0.2.0", "0.2.0", "main"),
    )
    assert releases_in(opened(repo), repo.oid("main~1"), pattern="v[0-9]*", exclude="*dev*") == (first,)
    assert set(releases_in(opened(repo), repo.oid("main~1"), pattern="v[0-9]*", exclude=None)) == {first, dev}
    assert set(releases_in(opened(repo), None, pattern="v[0-9]*", exclude="*dev*")) == {first, second}
    assert releases_in(opened(repo), None, pattern="renderers-v*", exclude=None) == (
        release("renderers-v0.1.9", "0.1.9", "main~2"),
    )
    assert releases_in(opened(repo), None, pattern="x*", exclude=None) == ()


def test_a_release_whose_tag_names_a_tag_is_still_its_commit(repo: Repo) -> None:
    repo.git("tag", "-a", "-m", "x", "inner", "main~1")
    repo.git("tag", "-a", "-m", "x", "v1.0", "inner")
    assert releases_in(opened(repo), None, pattern="v*", exclude=None) == (
        Release(tag="v1.0", version=Version("1.0"), commit=oid(repo, "main~1")),
    )


def test_a_tag_that_names_no_commit_is_no_release(repo: Repo) -> None:
    repo.git("tag", "v1.0", "main~1")
    repo.git("tag", "v2.0", "main^{tree}")
    assert [item.tag for item in releases_in(opened(repo), None, pattern="v*", exclude=None)] == ["v1.0"]
