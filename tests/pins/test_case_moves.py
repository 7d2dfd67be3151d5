"""Pins that moved back, what counts as having moved, and where a pin is read from."""

from pathlib import Path

import pytest

from support import Git, Pinctl
from support.rig import Repo, Rig, checked

RANGE = ("--base", "main", "--head", "pr")


def _moved(rig: Rig, before: str, after: str, *, message: str = "Change something else") -> tuple[Repo, Repo]:
    """Makes a pull request that moves the pin of lib from one commit of it to another; returns both repositories."""
    lib = rig.components.get("lib") or rig.component("lib")
    repo = rig.superproject({"lib": lib.oid(before)})
    repo.commit("pr", message, files={"code.py": "x\n"}, gitlinks={"deps/lib": lib.oid(after)}, parents=[repo.oid()])
    return repo, lib


def test_a4_an_unrelated_change_that_takes_a_pin_back_is_broken(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = _moved(Rig(top=tmp_path), "main", "main~2")

    result = pinctl("check", *RANGE, cwd=repo.directory)

    assert (result.status, result.stderr) == (1, "")
    assert result.stdout == (
        f"PIN002 deps/lib: the pin moved back by 2, from {lib.oid()[:7]} to {lib.oid('main~2')[:7]}\n"
        f"    fix: git update-index --cacheinfo 160000,{lib.oid()},deps/lib\n"
        f"broken: {repo.oid()[:7]}..{repo.oid('pr')[:7]} (the command line), judged 1 of 1 pins that moved\n"
    )


def test_a4_a_pin_that_went_another_way_is_told_apart_from_one_that_went_back(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    side = lib.commit("side", "Side", files={"side": "side\n"}, parents=[lib.oid("main~1")])
    merge = lib.commit("main", "Merge", parents=[lib.oid(), side], files={"side": "side\n"})
    repo, _ = _moved(rig, "main~1", side)

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (1, [("PIN003", "deps/lib")])
    assert found.messages == [f"the pin moved from {lib.oid('main~1')[:7]} to {side[:7]}, which lacks 1 of its commits"]
    assert found.only["fix"] == f"git update-index --cacheinfo 160000,{merge},deps/lib"


def test_a4_a_deliberate_rollback_is_waived_by_its_trailer(tmp_path: Path, pinctl: Pinctl) -> None:
    message = "Roll lib back\n\nPin-Rollback: lib it loses tokens under load\n"
    repo, lib = _moved(Rig(top=tmp_path), "main", "main~1", message=message)

    result = pinctl("check", *RANGE, cwd=repo.directory)

    assert (result.status, result.stderr) == (0, "")
    assert result.stdout == (
        "PIN002 deps/lib: waived (it loses tokens under load): "
        f"the pin moved back by 1, from {lib.oid()[:7]} to {lib.oid('main~1')[:7]}\n"
        f"ok: {repo.oid()[:7]}..{repo.oid('pr')[:7]} (the command line), judged 1 of 1 pins that moved\n"
    )


@pytest.mark.parametrize(
    "trailer", ["Pin-Rollback: lib", "Pin-Rollback: other because", "Pin-Rollback lib because", "pin rollback: lib x"]
)
def test_a4_a_trailer_without_a_reason_or_for_another_component_waives_nothing(
    tmp_path: Path, pinctl: Pinctl, trailer: str
) -> None:
    repo, _ = _moved(Rig(top=tmp_path), "main", "main~1", message=f"Roll lib back\n\n{trailer}\n")

    assert checked(pinctl, repo, *RANGE).answer() == (1, [("PIN002", "deps/lib")])


def test_a4_a_pin_that_did_not_move_asks_no_remote(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid("main~2")})
    repo.commit("pr", "Change something else", files={"code.py": "x\n"}, parents=[repo.oid()])
    lib.directory.rename(tmp_path / "gone.git")

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])


def test_a4_what_the_target_moved_meanwhile_is_not_what_the_branch_moves(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid("main~2")})
    repo.commit("pr", "Change something else", files={"code.py": "x\n"}, parents=[repo.oid()])
    repo.commit("main", "Bump lib", gitlinks={"deps/lib": lib.oid()})
    lib.directory.rename(tmp_path / "gone.git")

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])


def test_a4_a_branch_that_moves_a_pin_less_far_than_the_target_did_moves_it_back(
    tmp_path: Path, pinctl: Pinctl
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid("main~2")})
    repo.commit("pr", "Bump lib a little", gitlinks={"deps/lib": lib.oid("main~1")}, parents=[repo.oid()])
    repo.commit("main", "Bump lib", gitlinks={"deps/lib": lib.oid()})

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (1, [("PIN002", "deps/lib")])
    assert found.messages == [f"the pin moved back by 1, from {lib.oid()[:7]} to {lib.oid('main~1')[:7]}"]


def test_a4_a_branch_that_moves_a_pin_further_than_the_target_did_is_fine(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid("main~2")})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": lib.oid()}, parents=[repo.oid()])
    repo.commit("main", "Bump lib a little", gitlinks={"deps/lib": lib.oid("main~1")})

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])


def test_a4_the_way_back_from_an_orphan_to_its_twin_is_not_blocked(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    orphan = lib.commit("gone", "Work", files={"new": "new\n"}, parents=[lib.oid()])
    twin = lib.commit(message="Work (#1)", files={"new": "new\n"})
    lib.commit(message="Later", files={"later": "x\n"})
    repo, _ = _moved(rig, orphan, "main")

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (0, [("~PIN003", "deps/lib")])
    assert found.messages == [
        (
            f"the pin moved from {orphan[:7]}, which is not on main, to {lib.oid()[:7]}, "
            f"which has its content as {twin[:7]}"
        )
    ]


def test_a4_the_way_from_a_squash_back_to_the_branchs_head_is_broken(tmp_path: Path, pinctl: Pinctl) -> None:
    """prime-rl#3307: the version went up, the content went back."""
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    first = lib.commit("gone", "Work", files={"new": "new\n"}, parents=[lib.oid()])
    head = lib.commit("gone", "More work", files={"newer": "newer\n"}, parents=[first])
    lib.commit(message="Meanwhile", files={"meanwhile": "x\n"})
    squash = lib.commit(message="Work (#1)", files={"new": "new\n", "newer": "newer\n"})
    repo, _ = _moved(rig, squash, head)

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (1, [("PIN001", "deps/lib"), ("PIN003", "deps/lib")])
    assert found.messages == [
        f"{head[:7]} is not on main; its content is there as {squash[:7]} (same combined patch-id): pin that instead",
        f"the pin moved from {squash[:7]} to {head[:7]}, which lacks 2 of its commits",
    ]


def test_a4_every_pin_is_judged_whatever_is_wrong_with_the_one_before(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    libs = [rig.component(name) for name in ("a", "b", "c")]
    repo = rig.superproject({name: lib.oid("main~1") for name, lib in zip("abc", libs, strict=True)})
    moved = {"deps/a": libs[0].oid("main~2"), "deps/b": "5" * 40, "deps/c": libs[2].oid("main~2")}
    repo.commit("pr", "Move all", gitlinks=moved, parents=[repo.oid()])

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (1, [("PIN002", "deps/a"), ("?PIN006", "deps/b"), ("PIN002", "deps/c")])
    assert found.data["judged"] == ["3 of 3 pins that moved"]


def test_a10_the_pin_is_read_from_the_tree_and_not_from_the_submodules_checkout(
    tmp_path: Path, pinctl: Pinctl, git: Git
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid("main~1")})
    git(repo.directory, "submodule", "--quiet", "update", "--init")
    git(repo.directory / "deps/lib", "checkout", "--quiet", lib.oid("main~2"))
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": lib.oid()}, parents=[repo.oid()])

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])
    status = pinctl("status", "--format", "json", cwd=repo.directory)
    assert f'"commit": "{lib.oid("main~1")}"' in status.stdout


def test_a10_with_staged_the_pin_is_read_from_the_index(tmp_path: Path, pinctl: Pinctl, git: Git) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid("main~1")})
    git(repo.directory, "submodule", "--quiet", "update", "--init")
    git(repo.directory / "deps/lib", "checkout", "--quiet", lib.oid("main~2"))

    assert checked(pinctl, repo, "--staged").answer() == (0, [])
    git(repo.directory, "add", "deps/lib")
    git(repo.directory / "deps/lib", "checkout", "--quiet", lib.oid())
    found = checked(pinctl, repo, "--staged")

    assert found.answer() == (1, [("PIN002", "deps/lib")])
    assert (found.data["source"], found.data["base"]) == ("the index", repo.oid())


@pytest.mark.parametrize("where", ["diff.ignoreSubmodules", ".gitmodules", "submodule.lib.ignore"])
def test_a21_ignore_all_hides_no_move(tmp_path: Path, pinctl: Pinctl, git: Git, where: str) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    modules = rig.module("lib", ignore="all") if where == ".gitmodules" else None
    repo = rig.superproject({"lib": lib.oid()}, modules=modules)
    git(repo.directory, "submodule", "--quiet", "update", "--init")
    if where != ".gitmodules":
        git(repo.directory, "config", where, "all")
    git(repo.directory, "update-index", "--cacheinfo", f"160000,{lib.oid('main~2')},deps/lib")
    assert checked(pinctl, repo, "--staged").answer() == (1, [("PIN002", "deps/lib")])

    repo.commit("pr", "Change something", gitlinks={"deps/lib": lib.oid("main~2")}, parents=[repo.oid()])
    assert checked(pinctl, repo, *RANGE).answer() == (1, [("PIN002", "deps/lib")])
