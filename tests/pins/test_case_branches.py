"""Which branch a pin must be on, whatever .gitmodules and pins.toml say about it."""

from pathlib import Path

import pytest

from support import Pinctl
from support.rig import Repo, Rig, checked

RANGE = ("--base", "main", "--head", "pr")


def _bump(rig: Rig, lib: Repo, *, before: str = "main~2", after: str = "main~1", **module: str) -> Repo:
    """Makes a pull request that bumps lib, with some more keys in its section of .gitmodules."""
    repo = rig.superproject({"lib": lib.oid(before)}, modules=rig.module("lib", **module))
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": lib.oid(after)}, parents=[repo.oid()])
    return repo


@pytest.mark.parametrize("annotated", [False, True])
def test_a8_a_tag_can_stand_for_the_branch(tmp_path: Path, pinctl: Pinctl, *, annotated: bool) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    lib.git("tag", *(("-a", "-m", "v2.1.7") if annotated else ()), "v2.1.7", "main~1")
    repo = _bump(rig, lib, branch="v2.1.7")

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])
    repo.commit("pr", "Bump lib again", gitlinks={"deps/lib": lib.oid()})
    found = checked(pinctl, repo, *RANGE)
    assert found.answer() == (1, [("PIN001", "deps/lib")])
    assert found.messages == [f"{lib.oid()[:7]} is ahead of v2.1.7 by 1, unmerged"]


def test_a8_a_branch_goes_before_a_tag_of_the_same_name(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    lib.git("tag", "stable", "main~2")
    lib.branch("stable", lib.oid("main~1"))
    repo = _bump(rig, lib, branch="stable")

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])


@pytest.mark.parametrize("length", [40, 12])
def test_a8_an_id_is_no_branch_and_named_as_such(tmp_path: Path, pinctl: Pinctl, length: int) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    branch = lib.oid("main~1")[:length]
    repo = _bump(rig, lib, branch=branch)

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (3, [("?PIN001", "deps/lib")])
    assert found.messages == [f"could not find out: {branch} is a commit's id, not a branch of {lib.directory}"]


@pytest.mark.parametrize("name", ["main3", "develop", "release/2.x"])
def test_a8_without_a_branch_the_remotes_head_counts_and_is_named(tmp_path: Path, pinctl: Pinctl, name: str) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    lib.git("branch", "--move", "main", name)
    lib.git("symbolic-ref", "HEAD", f"refs/heads/{name}")
    repo = _bump(rig, lib, before=f"{name}~2", after=f"{name}~1")

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])
    assert f"on {name}, 2 behind" in pinctl("status", cwd=repo.directory).stdout
    side = lib.commit("side", "Side", files={"side": "side\n"}, parents=[lib.oid(name)])
    repo.commit("pr", "Bump lib again", gitlinks={"deps/lib": side})
    assert checked(pinctl, repo, *RANGE).messages == [f"{side[:7]} is ahead of {name} by 1, unmerged"]


def test_a8_a_remote_without_a_head_is_unknown(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = _bump(rig, lib)
    lib.git("update-ref", "--no-deref", "HEAD", lib.oid())

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (3, [("?PIN001", "deps/lib")])
    assert found.messages == ["could not find out: the remote of lib does not say which its default branch is"]


def test_a8_a_branch_that_is_declared_counts_whatever_the_remotes_head(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    lib.branch("next", lib.oid("main~1"))
    lib.git("symbolic-ref", "HEAD", "refs/heads/next")
    repo = _bump(rig, lib, after="main", branch="main")

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])


def test_a8_pins_toml_goes_before_gitmodules(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    pins_toml = rig.pins_toml("lib", more={"lib": 'branch = "main"'})
    repo = rig.superproject(
        {"lib": lib.oid("main~2")}, modules=rig.module("lib", branch="gone"), files={"pins.toml": pins_toml}
    )
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": lib.oid()}, parents=[repo.oid()])

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])


def test_a8_a_branch_that_is_gone_is_unknown(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = _bump(rig, lib, branch="gone")

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (3, [("?PIN001", "deps/lib")])
    assert found.messages == [f"could not find out: {lib.directory} has no branch gone"]


def test_a8_a_branch_that_went_away_since_the_last_run_is_unknown(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    lib.branch("stable", lib.oid())
    repo = _bump(rig, lib, branch="stable")
    assert checked(pinctl, repo, *RANGE).answer() == (0, [])

    lib.git("update-ref", "-d", "refs/heads/stable")

    assert checked(pinctl, repo, *RANGE).answer() == (3, [("?PIN001", "deps/lib")])


def test_a8_a_branch_that_was_rewritten_since_the_last_run_is_judged_as_it_is_now(
    tmp_path: Path, pinctl: Pinctl
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = _bump(rig, lib, after="main")
    assert checked(pinctl, repo, *RANGE).answer() == (0, [])

    lib.commit("main", "Rewritten", files={"other": "x\n"}, parents=[lib.oid("main~1")])

    assert checked(pinctl, repo, *RANGE).answer() == (1, [("PIN001", "deps/lib")])


def test_a8_a_dot_means_the_superprojects_own_branch(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    lib.branch("release", lib.oid("main~1"))
    repo = rig.superproject({"lib": lib.oid("main~2")}, modules=rig.module("lib", branch="."))
    repo.git("branch", "--move", "release")
    repo.commit("release", "Bump lib", gitlinks={"deps/lib": lib.oid("main~1")})
    assert checked(pinctl, repo, "--base", "HEAD~1").answer() == (0, [])

    repo.commit("release", "Bump lib too far", gitlinks={"deps/lib": lib.oid()})

    found = checked(pinctl, repo, "--base", "HEAD~1")
    assert found.answer() == (1, [("PIN001", "deps/lib")])
    assert found.messages == [f"{lib.oid()[:7]} is ahead of release by 1, unmerged"]


def test_a8_one_submodule_can_be_left_out(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib, other = rig.component("lib"), rig.component("other")
    pins_toml = rig.pins_toml("lib", more={"lib": 'skip = "pinned by hand"'})
    repo = rig.superproject({"lib": lib.oid(), "other": other.oid()}, files={"pins.toml": pins_toml})
    moved = {"deps/lib": lib.oid("main~1"), "deps/other": other.oid("main~1")}
    repo.commit("pr", "Move both back", gitlinks=moved, parents=[repo.oid()])

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (1, [("PIN002", "deps/other")])
    assert found.data["judged"] == ["2 of 2 pins that moved", "not lib (pinned by hand)"]
