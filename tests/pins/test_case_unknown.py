"""What could not be found out is never a yes, and never a no."""

from pathlib import Path

import pytest

from support import Git, Pinctl
from support.rig import Repo, Rig, apart, as_checked, checked
from support.snapshot import snapshot

RANGE = ("--base", "main", "--head", "pr")
OLD_PROTOCOL = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.version", "GIT_CONFIG_VALUE_0": "0"}
NOWHERE = "5" * 40


def _bump(rig: Rig, before: str, after: str, *, modules: str | None = None) -> Repo:
    repo = rig.superproject({"lib": before}, modules=modules)
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": after}, parents=[repo.oid()])
    return repo


def _shallow(rig: Rig, before: str, after: str) -> Repo:
    """Clones a superproject, whose branch is cut below main's tip, with a depth of one; fetches main's tip likewise."""
    lib = rig.component("lib", commits=4)
    there = rig.superproject({"lib": lib.oid(before)})
    there.commit("pr", "Bump lib", gitlinks={"deps/lib": lib.oid(after)}, parents=[there.oid()])
    there.commit("main", "Change something else", files={"code.py": "x\n"})
    here = Repo(directory=rig.top / "clone")
    there.git("clone", "--quiet", "--depth=1", "--branch=pr", f"file://{there.directory}", here.directory)
    here.git("fetch", "--quiet", "--depth=1", "origin", "main:refs/remotes/origin/main")
    return here


@pytest.mark.parametrize("after", ["main", "main~3"])
def test_a2_a_shallow_superproject_is_unknown_whatever_its_pins_are(tmp_path: Path, pinctl: Pinctl, after: str) -> None:
    here = _shallow(Rig(top=tmp_path), "main~2", after)

    result = pinctl("check", "--base", "origin/main", cwd=here.directory)

    assert (result.status, result.stdout) == (3, "")
    assert "is a shallow clone" in result.stderr
    assert "git fetch --unshallow" in result.stderr


@pytest.mark.parametrize(("after", "answer"), [("main", (0, [])), ("main~3", (1, [("PIN002", "deps/lib")]))])
def test_a2_deepened_it_is_judged(
    tmp_path: Path, pinctl: Pinctl, after: str, answer: tuple[int, list[tuple[str, str]]]
) -> None:
    here = _shallow(Rig(top=tmp_path), "main~2", after)

    assert checked(pinctl, here, "--base", "origin/main", "--deepen").answer() == answer


def test_a2_a_merge_commit_with_its_parents_needs_no_more_history(tmp_path: Path, pinctl: Pinctl) -> None:
    """What actions/checkout leaves with fetch-depth: 2 on a pull request."""
    rig = Rig(top=tmp_path)
    lib = rig.component("lib", commits=4)
    there = rig.superproject({"lib": lib.oid("main~2")})
    pull = there.commit("pr", "Bump lib", gitlinks={"deps/lib": lib.oid("main~3")}, parents=[there.oid()])
    main = there.commit("main", "Change something else", files={"code.py": "x\n"})
    there.commit("test", "Merge", parents=[main, pull], gitlinks={"deps/lib": lib.oid("main~3")})
    here = Repo(directory=tmp_path / "clone")
    there.git("clone", "--quiet", "--depth=2", "--branch=test", f"file://{there.directory}", here.directory)

    assert checked(pinctl, here, "--base", "HEAD^1").answer() == (1, [("PIN002", "deps/lib")])


@pytest.mark.parametrize("pinned", ["main", "main~1"])
def test_a2_a_shallow_submodule_makes_no_difference(tmp_path: Path, pinctl: Pinctl, git: Git, pinned: str) -> None:
    """Histories come from mirrors, and a submodule's own is not asked."""
    rig = Rig(top=tmp_path)
    lib = rig.component("lib", commits=4)
    modules = rig.module("lib", url=f"file://{lib.directory}", shallow="true")
    repo = _bump(rig, lib.oid("main~2"), lib.oid(pinned), modules=modules)
    repo.switch("pr")
    git(repo.directory, "submodule", "--quiet", "update", "--init", "--depth=1")
    assert git(repo.directory / "deps/lib", "rev-parse", "--is-shallow-repository") == "true"

    assert checked(pinctl, repo, "--base", "main").answer() == (0, [])


def test_a2_a_shallow_remote_is_unknown_and_named(tmp_path: Path) -> None:
    """A fetch of a part of a shallow remote starts another one in git 2.39, and that one another, for ever."""
    rig = Rig(top=tmp_path)
    lib = rig.component("lib", commits=4)
    pins = [lib.oid("main~2"), lib.oid("main~1")]
    lib.git("clone", "--quiet", "--bare", "--depth=1", f"file://{lib.directory}", tmp_path / "shallow.git")
    lib.git("-C", tmp_path / "shallow.git", "fetch", "--quiet", "--depth=1", "origin", *pins)
    repo = _bump(rig, *pins, modules=rig.module("lib", url=f"file://{tmp_path}/shallow.git"))

    found = as_checked(apart(repo.directory, "check", "--format", "json", *RANGE, seconds=10))

    assert found.answer() == (3, [("?PIN001", "deps/lib")])
    assert f"file://{tmp_path}/shallow.git is a shallow clone" in found.messages[0]


def test_a3_a_commit_that_no_remote_has_is_unknown(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = _bump(rig, lib.oid(), NOWHERE)

    result = pinctl("check", *RANGE, cwd=repo.directory)

    assert (result.status, result.stderr) == (3, "")
    assert result.stdout == (
        f"PIN006 deps/lib: could not find out: 5555555 cannot be fetched from {lib.directory}: "
        "it has no such object\n"
        f"unknown: {repo.oid()[:7]}..{repo.oid('pr')[:7]} (the command line), judged 1 of 1 pins that moved\n"
    )


def test_a3_a_commit_that_was_not_pushed_is_unknown_though_the_submodule_has_it(
    tmp_path: Path, pinctl: Pinctl, git: Git
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid()})
    git(repo.directory, "submodule", "--quiet", "update", "--init")
    git(repo.directory / "deps/lib", "commit", "--quiet", "--allow-empty", "--message", "Mine")
    git(repo.directory, "checkout", "--quiet", "-b", "pr")
    git(repo.directory, "commit", "--quiet", "--message", "Bump lib", "--", "deps/lib")

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (3, [("?PIN006", "deps/lib")])


def test_a3_a_former_pin_that_is_gone_is_unknown_too(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = _bump(rig, NOWHERE, lib.oid())

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (3, [("?PIN003", "deps/lib")])
    assert found.messages == ["could not find out: the pin before, 5555555, cannot be fetched"]


def test_a3_status_exits_with_3_and_still_shows_the_other_pins(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib, other = rig.component("lib"), rig.component("other")
    repo = rig.superproject({"lib": NOWHERE, "other": other.oid()})

    result = pinctl("status", cwd=repo.directory)

    assert result.status == 3
    assert "unknown: lib: lib: 555555555555 cannot be fetched: its remote has no such commit" in result.stdout
    assert f"{other.oid()[:7]}" in result.stdout
    assert "on main, at its tip" in result.stdout
    assert lib.oid()[:7] not in result.stdout


def test_a3_a_broken_rule_outweighs_one_that_could_not_be_judged(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib, other = rig.component("lib"), rig.component("other")
    repo = rig.superproject({"lib": lib.oid(), "other": other.oid()})
    moved = {"deps/lib": NOWHERE, "deps/other": other.oid("main~1")}
    repo.commit("pr", "Move both", gitlinks=moved, parents=[repo.oid()])

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (1, [("?PIN006", "deps/lib"), ("PIN002", "deps/other")])
    assert found.data["status"] == "broken"


def test_a19_a_pin_that_is_no_tip_is_judged_and_the_shallow_file_left_alone(
    tmp_path: Path, pinctl: Pinctl, git: Git
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib", commits=4)
    modules = rig.module("lib", url=f"file://{lib.directory}", shallow="true")
    repo = _bump(rig, lib.oid("main~3"), lib.oid("main~2"), modules=modules)
    git(repo.directory, "submodule", "--quiet", "update", "--init", "--depth=1")
    assert (repo.directory / ".git/modules/lib/shallow").is_file()
    before = snapshot(repo.directory)

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])

    assert snapshot(repo.directory) == before


@pytest.mark.parametrize(
    ("named", "answer"),
    [
        pytest.param(True, (1, [("PIN001", "deps/lib")]), id="some ref names it"),
        pytest.param(False, (3, [("?PIN006", "deps/lib")]), id="no ref names it"),
    ],
)
def test_a19_a_server_that_gives_no_arbitrary_id(
    tmp_path: Path,
    pinctl: Pinctl,
    monkeypatch: pytest.MonkeyPatch,
    *,
    named: bool,
    answer: tuple[int, list[tuple[str, str]]],
) -> None:
    """With git's old protocol, a server gives what its refs name and nothing else."""
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    lost = lib.commit("refs/pull/1/head", "Work", files={"new": "new\n"}, parents=[lib.oid()])
    if not named:
        lib.git("update-ref", "-d", "refs/pull/1/head")
    repo = _bump(rig, lib.oid(), lost)
    for name, value in OLD_PROTOCOL.items():
        monkeypatch.setenv(name, value)

    assert checked(pinctl, repo, *RANGE).answer() == answer


def test_a19_such_a_server_gives_what_is_on_the_branch(
    tmp_path: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib", commits=4)
    repo = _bump(rig, lib.oid("main~3"), lib.oid("main~2"), modules=rig.module("lib", shallow="true"))
    for name, value in OLD_PROTOCOL.items():
        monkeypatch.setenv(name, value)

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])
