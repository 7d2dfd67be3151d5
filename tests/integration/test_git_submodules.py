"""Reads .gitmodules as it is at a commit, refuses what no honest file has, and resolves URLs as git does."""

from pathlib import Path

import pytest

from pinctl.errors import BadInputError, CouldNotFindOutError, PinctlError
from pinctl.tools.git.repository import Repository
from pinctl.tools.git.submodules import Submodule, read_submodules, resolve_url, resolve_urls
from support import Git
from support.rig import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.make(tmp_path / "group" / "super")


def section(name: str, *, path: str = "dep", url: str = "../dep.git") -> str:
    return f'[submodule "{name}"]\n\tpath = {path}\n\turl = {url}\n'


def read(repo: Repo, text: str | None, revision: str = "HEAD") -> tuple[Submodule, ...]:
    repo.commit(message="Modules", files={".gitmodules": text})
    return read_submodules(Repository.open(repo.directory), revision)


def test_a_name_is_not_a_path(repo: Repo) -> None:
    text = (
        '[submodule "verifiers"]\n\tpath = deps/verifiers\n\turl = ../verifiers.git\n\tbranch = main\n'
        '[submodule "verifiers-tools"]\n\tpath = verifiers\n\turl = https://example.org/tools.git\n'
        '[submodule "a.b/c d"]\n\tbranch = v2.1.7\n\turl = git@example.org:o/r.git\n\tpath = mit ü/eine 🦀\n'
    )
    assert read(repo, text) == (
        Submodule(name="verifiers", path="deps/verifiers", url="../verifiers.git", branch="main", line=3),
        Submodule(name="verifiers-tools", path="verifiers", url="https://example.org/tools.git", branch=None, line=7),
        Submodule(name="a.b/c d", path="mit ü/eine 🦀", url="git@example.org:o/r.git", branch="v2.1.7", line=10),
    )


def test_each_section_has_the_line_of_its_own_url(repo: Repo) -> None:
    text = (
        '[submodule "one"]\n\tpath = one\n\turl = ../dep.git\n'
        "[core]\n\turl = ../dep.git\n"
        '[Submodule "a\\"b"] path = two\n\t; url = ../dep.git\n\tURL= "../dep.git" # again\n'
        '[submodule "three"]\n\turl = ../other.git\n\tpath = three\n\turl = dep.git\n'
        '[submodule "four"] url = x/../dep.git\n\tpath = four\n'
    )
    assert [(found.name, found.line) for found in read(repo, text)] == [
        ("one", 3),
        ('a"b', 8),
        ("three", 12),
        ("four", 13),
    ]


def test_the_file_is_that_of_the_revision_not_of_the_checkout(repo: Repo) -> None:
    first = section("one")
    read(repo, first)
    repo.commit(message="Other", files={".gitmodules": section("two")})
    (repo.directory / ".gitmodules").write_text(section("three"))
    opened = Repository.open(repo.directory)
    assert [found.name for found in read_submodules(opened, "HEAD~1")] == ["one"]
    assert [found.name for found in read_submodules(opened, "HEAD")] == ["two"]


def test_without_a_file_there_are_none(repo: Repo) -> None:
    assert read(repo, None) == ()
    assert read(repo, "") == ()
    assert read(repo, "[core]\n\tbare = true\n") == ()


def test_sections_without_a_path_or_a_url_are_left_out(repo: Repo) -> None:
    text = (
        '[submodule "a"]\n\tpath = a\n[submodule "b"]\n\turl = ../b\n[submodule "c"]\n\tpath\n\turl\n[submodule "d"]\n'
    )
    assert read(repo, text + section("e", path="e")) == (
        Submodule(name="e", path="e", url="../dep.git", branch=None, line=11),
    )


def test_line_ends_of_windows_are_no_part_of_a_value(repo: Repo) -> None:
    assert read(repo, section("dep").replace("\n", "\r\n")) == (
        Submodule(name="dep", path="dep", url="../dep.git", branch=None, line=3),
    )


def test_quotes_and_comments_are_read_as_git_reads_them(repo: Repo) -> None:
    text = '# a comment\n[submodule "a\\"b"]\n\tpath = "dep" ; more\n\turl = "../dep #1.git" # this\n\tBranch = main\n'
    (found,) = read(repo, text)
    assert (found.name, found.path, found.url, found.branch) == ('a"b', "dep", "../dep #1.git", "main")


def test_a_file_that_git_cannot_read_is_no_empty_one(repo: Repo) -> None:
    with pytest.raises(PinctlError) as caught:
        read(repo, "[submodule\n\tpath = a\n")
    assert ".gitmodules" in caught.value.message


@pytest.mark.parametrize(
    "name",
    ["../../evil", "..", "a/../b", "/absolute", "a/.git/b", ".git", "..\\\\..\\\\evil", "a\\\\..\\\\b", ".GIT/x"],
)
def test_a_name_that_leads_out_is_refused(repo: Repo, name: str) -> None:
    with pytest.raises(BadInputError):
        read(repo, section(name))


@pytest.mark.parametrize(
    "path",
    ["../evil", "a/../../evil", "/absolute", ".git/hooks", "a/.git", ".Git/hooks", "a\\\\b", "-x", "--upload-pack=x"],
)
def test_a_path_that_leads_out_or_is_an_option_is_refused(repo: Repo, path: str) -> None:
    with pytest.raises(BadInputError) as caught:
        read(repo, section("dep", path=path))
    assert ".gitmodules" in caught.value.message


@pytest.mark.parametrize(
    "url",
    [
        "-oProxyCommand=touch x",
        "--upload-pack=touch x",
        "ext::sh -c touch% x",
        "ext::ssh /x/y",
        "fd::17/foo",
        "transport::https://example.org/x.git",
    ],
)
def test_a_url_that_runs_a_command_is_refused(repo: Repo, url: str) -> None:
    with pytest.raises(BadInputError) as caught:
        read(repo, section("dep", url=url))
    assert caught.value.message == f".gitmodules gives dep the URL {url!r}, which would run a command"


def test_a_refusal_does_not_show_a_password(repo: Repo) -> None:
    with pytest.raises(BadInputError) as caught:
        read(repo, section("dep", url="ext::https://someone:hunter2@example.org/x"))
    assert "hunter2" not in caught.value.message


def test_one_hostile_section_among_others_is_enough(repo: Repo) -> None:
    with pytest.raises(BadInputError):
        read(repo, section("good") + section("bad", path="../bad"))


@pytest.mark.parametrize(
    ("name", "path", "url"),
    [
        ("..a", "a..b/c", "../../../dep.git"),
        ("git", "deps/git", "https://[::1]:8080/x.git"),
        (".github", ".github/workflows", "ssh://git@example.org:22/x::y.git"),
        ("x.git", "vendor/x.git", "git@example.org:o/r.git"),
    ],
)
def test_what_merely_looks_odd_is_not_refused(repo: Repo, name: str, path: str, url: str) -> None:
    (found,) = read(repo, section(name, path=path, url=url))
    assert (found.name, found.path, found.url) == (name, path, url)


URLS = ("../dep.git", "./dep.git", "../../other/dep.git", "./../../o/b", "./../dep", "../dep.git/")
ORIGINS = (
    "{top}/group/super.git",
    "{top}/group/super.git/",
    "file://{top}/group/super.git",
    "https://example.org/group/super.git",
    "ssh://git@example.org:1234/group/sub/super.git",
    "git@example.org:group/super.git",
    "git@example.org:deep/group/super",
)


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_relative_url_is_resolved_as_git_resolves_it(repo: Repo, git: Git, tmp_path: Path, origin: str) -> None:
    text = "".join(section(f"s{number}", path=f"p{number}", url=url) for number, url in enumerate(URLS))
    submodules = read(repo, text)
    repo.commit(message="Pin", gitlinks={f"p{number}": "1" * 40 for number in range(len(URLS))})
    git(repo.directory, "remote", "add", "origin", origin.format(top=tmp_path))
    opened = Repository.open(repo.directory)
    found = resolve_urls(opened, submodules)
    alone = [resolve_url(opened, url) for url in URLS[:2]]
    git(repo.directory, "submodule", "--quiet", "init")
    expected = {f"p{number}": git(repo.directory, "config", f"submodule.s{number}.url") for number in range(len(URLS))}
    assert found == expected
    assert alone == list(expected.values())[:2]


def test_a_relative_origin_is_relative_to_the_superproject(repo: Repo, git: Git, tmp_path: Path) -> None:
    submodules = read(repo, section("dep", url="../dep.git"))
    git(repo.directory, "remote", "add", "origin", "../remotes/super.git")
    url = resolve_urls(Repository.open(repo.directory), submodules)["dep"]
    assert Path(url).resolve() == tmp_path / "group" / "remotes" / "dep.git"


def test_a_url_of_its_own_is_never_touched(repo: Repo) -> None:
    urls = (
        "https://example.org/a.git",
        "git@example.org:o/r.git",
        "ssh://git@example.org:1234/p/r.git",
        "/abs/x",
        "dep",
    )
    submodules = read(repo, "".join(section(f"s{n}", path=f"p{n}", url=url) for n, url in enumerate(urls)))
    opened = Repository.open(repo.directory)
    assert list(resolve_urls(opened, submodules).values()) == list(urls)
    assert [resolve_url(opened, url) for url in urls] == list(urls)


def test_a_url_that_the_user_has_set_goes_before_the_file_s(repo: Repo, git: Git) -> None:
    submodules = read(
        repo, section("a", path="deps/a", url="../a.git") + section("b.c", path="b", url="https://x.example/b")
    )
    git(repo.directory, "config", "submodule.a.url", "/mine/a.git")
    git(repo.directory, "config", "submodule.b.c.url", "/mine/b.git")
    assert resolve_urls(Repository.open(repo.directory), submodules) == {"deps/a": "/mine/a.git", "b": "/mine/b.git"}


def test_a_relative_url_without_an_origin_cannot_be_resolved(repo: Repo) -> None:
    submodules = read(repo, section("dep", url="../dep.git"))
    with pytest.raises(CouldNotFindOutError) as caught:
        resolve_urls(Repository.open(repo.directory), submodules)
    assert caught.value.message == (
        "../dep.git is relative to the superproject's origin, and the superproject has none"
    )
    assert caught.value.hint == "git remote add origin URL, or give the component a full url in pins.toml."


def test_a_relative_url_is_resolved_against_the_remote_that_the_branch_follows(
    repo: Repo, git: Git, tmp_path: Path
) -> None:
    # git clone -o upstream: there is no origin, and git resolves against upstream.
    read(repo, section("dep", url="../dep.git"))
    repo.commit(message="Pin", gitlinks={"dep": "1" * 40})
    git(tmp_path, "clone", "--quiet", "-o", "upstream", repo.directory, "clone")
    opened = Repository.open(tmp_path / "clone")
    found = resolve_urls(opened, read_submodules(opened, "HEAD"))
    git(tmp_path / "clone", "submodule", "--quiet", "init")
    assert found == {"dep": git(tmp_path / "clone", "config", "submodule.dep.url")}


def test_more_dots_than_the_origin_has_parts_cannot_be_resolved(repo: Repo, git: Git) -> None:
    submodules = read(repo, section("dep", url="../../../../../dep.git"))
    git(repo.directory, "remote", "add", "origin", "git@example.org:super.git")
    with pytest.raises(CouldNotFindOutError):
        resolve_urls(Repository.open(repo.directory), submodules)


def test_resolving_changes_nothing_in_the_superproject(repo: Repo, git: Git, tmp_path: Path) -> None:
    submodules = read(repo, section("dep", url="../dep.git"))
    git(repo.directory, "remote", "add", "origin", str(tmp_path / "group" / "super.git"))
    before = (repo.directory / ".git" / "config").read_bytes()
    resolve_urls(Repository.open(repo.directory), submodules)
    assert (repo.directory / ".git" / "config").read_bytes() == before
    assert git(repo.directory, "status", "--porcelain") == ""
