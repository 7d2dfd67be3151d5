"""LCK002: versions of other people's packages that a range moves, with leave and without, and what brought them."""

import os
import sys
from pathlib import Path

import pytest

from support import Git, Pinctl
from support.rig import Repo, checked, shell
from support.uv_rig import UvRig, answered, text_of

LANDING = "landing/bump-lib"
BASE = ("--base", "main", "--head", "pr")


def superproject(rig: UvRig, *requires: str, lib: str = "") -> Repo:
    """Makes a superproject whose component asks for more of other people's packages with each of its versions."""
    rig.third_party("third", "1.0", "2.0")
    rig.third_party("fourth", "1.0", requires=["fifth"])
    rig.third_party("fifth", "1.0", "1.1")
    rig.third_party("apart", "1.0", "1.1")
    library = rig.library("lib", "0.1.0", requires=["third<2"])
    rig.release(library, "lib", "0.2.0", requires=["third<3"])
    rig.release(library, "lib", "0.3.0", requires=["third>=2", "fourth"])
    manifest = rig.root("lib", requires=["lib", "third", "apart<1.1", *requires])
    pins_toml = rig.declared("lib", more={"lib": lib})
    return rig.locked({"lib": library.oid("v0.1.0")}, manifest=manifest, pins_toml=pins_toml)


def pull_request(
    rig: UvRig, repo: Repo, at: str, *, requires: tuple[str, ...] = (), upgrade: bool = False, message: str = "Bump"
) -> None:
    """Makes a branch that is locked: from the lock of main, or from scratch as somebody does who deletes it first."""
    pin = rig.components["lib"].oid(at)
    manifest = rig.root("lib", requires=["lib", "third", *(requires or ("apart<1.1",))])
    written: dict[str, str | bytes | None] = {"wheels/.keep": "", **rig.wheels, "pyproject.toml": manifest}
    lock = rig.lock_of({"lib": pin}, written, before=None if upgrade else text_of(repo, "main", "uv.lock"))
    files: dict[str, str | bytes | None] = {"pyproject.toml": manifest, "uv.lock": lock}
    repo.commit("pr", message, files=files, gitlinks={"deps/lib": pin}, parents=[repo.oid("main")])
    repo.switch("pr")


def test_a_pin_that_needs_other_versions_is_named_with_what_it_requires(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    repo = superproject(rig)
    pull_request(rig, repo, "v0.3.0")

    found = checked(pinctl, repo, *BASE)

    before, after = (rig.components["lib"].oid(tag)[:7] for tag in ("v0.1.0", "v0.3.0"))
    assert found.answer() == (1, [("LCK002", "uv.lock")])
    assert found.only["message"] == (
        f"lib {before} -> {after} brings versions that are not ours: fifth none -> 1.1 (comes with fourth), "
        "fourth none -> 1.0 (requires fourth), third 1.0 -> 2.0 (requires third>=2)"
    )
    assert (found.only["component"], found.only["fix"]) == ("lib", None)
    lines = text_of(repo, "pr", "uv.lock").splitlines()
    assert lines[found.only["line"] - 1 :][:2] == ["[[package]]", 'name = "fifth"']


def test_what_nothing_new_asks_for_goes_back_with_its_fix(
    tmp_path: Path, pinctl: Pinctl, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Version 0.2.0 takes the newer one too, and whoever locks from scratch gets it."""
    rig = UvRig(top=tmp_path)
    repo = superproject(rig)
    pull_request(rig, repo, "v0.2.0", upgrade=True)
    found = checked(pinctl, repo, *BASE)
    assert found.answer() == (1, [("LCK002", "uv.lock")])
    assert found.messages == [
        "versions that are not ours moved, and no requirement that is new asks for it: third 1.0 -> 2.0"
    ]
    assert found.only["component"] == "lib"
    monkeypatch.delenv("UV_OFFLINE")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)

    shell(repo.directory, found.only["fix"])
    git(repo.directory, "commit", "--quiet", "--all", "--message", "Lock")

    assert 'name = "third"\nversion = "1.0"' in text_of(repo, "pr", "uv.lock")
    assert checked(pinctl, repo, *BASE).answer() == (0, [])


@pytest.mark.parametrize(
    ("message", "rules"),
    [
        ("Bump\n\nLock-Move: third lib wants it\n", [("LCK002", "uv.lock")]),
        ("Bump\n\nLock-Move: third a\nLock-Move: Fourth b\nLock-Move: fifth c\n", []),
        ("Bump\n\nLock-Move: third\nLock-Move: fourth\nLock-Move: fifth\n", [("LCK002", "uv.lock")]),
    ],
)
def test_a_trailer_gives_leave_to_one_package_with_a_reason(
    tmp_path: Path, pinctl: Pinctl, message: str, rules: list[tuple[str, str]]
) -> None:
    rig = UvRig(top=tmp_path)
    repo = superproject(rig)
    pull_request(rig, repo, "v0.3.0", message=message)

    assert checked(pinctl, repo, *BASE).answer() == (1 if rules else 0, rules)


def test_a_bump_with_leave_says_so_in_its_commit(tmp_path: Path, pinctl: Pinctl, git: Git) -> None:
    repo = superproject(UvRig(top=tmp_path))

    answered(pinctl, repo, "bump", "lib", "--third-party")

    trailers = git(repo.directory, "log", "-1", "--format=%(trailers:key=Lock-Move)", LANDING).split("\n")
    assert [line for line in trailers if line] == [
        "Lock-Move: fifth none -> 1.1",
        "Lock-Move: fourth none -> 1.0",
        "Lock-Move: third 1.0 -> 2.0",
    ]
    assert checked(pinctl, repo, "--base", "main", "--head", LANDING).answer() == (0, [])


def test_a_waiver_of_the_component_counts(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    repo = superproject(rig, lib='[components.lib.waive]\nLCK002 = "we follow lib closely"\n')
    pull_request(rig, repo, "v0.3.0")

    found = checked(pinctl, repo, *BASE)

    assert found.answer() == (0, [("(LCK002)", "uv.lock")])


def _plan(rig: UvRig, repo: Repo, more: str) -> None:
    lib = rig.components["lib"]
    changes = (
        'version = 1\ntitle = "Use it"\n\n[[changes]]\nid = "lib"\ncomponent = "lib"\n'
        f'commit = "{lib.oid("v0.3.0")}"\n\n[[changes]]\nid = "use"\ncomponent = "super"\nbranch = "use"\n'
        f'after = ["lib"]\npins = ["lib"]\n\n{more}'
    )
    repo.commit(message="Plan", files={"landing_plans/use.toml": changes})
    repo.commit("use", "Use it", files={"code.py": "x\n"}, parents=[repo.oid("main")])


def test_a_landing_plan_gives_leave_to_the_range_that_brings_its_change(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    repo = superproject(rig)
    _plan(rig, repo, '[lock]\nthird_party = "move"\n')
    pull_request(rig, repo, "v0.3.0")
    other = checked(pinctl, repo, *BASE)
    repo.commit("pr", "Use it", files={"code.py": "x\n"})

    assert other.answer() == (1, [("LCK002", "uv.lock")])
    assert checked(pinctl, repo, *BASE).answer() == (0, [])


def test_without_leave_in_the_plan_its_landing_has_none(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    repo = superproject(rig)
    _plan(rig, repo, "")
    pull_request(rig, repo, "v0.3.0")
    repo.commit("pr", "Use it", files={"code.py": "x\n"})

    assert checked(pinctl, repo, *BASE).answer() == (1, [("LCK002", "uv.lock")])


def test_what_the_ranges_own_requirements_ask_for_needs_no_leave(tmp_path: Path, pinctl: Pinctl) -> None:
    """Beside a pin that moved: a requirement that was raised explains its package, and not the others."""
    rig = UvRig(top=tmp_path)
    repo = superproject(rig)
    pull_request(rig, repo, "v0.2.0", requires=("apart>=1.1",))
    assert 'name = "apart"\nversion = "1.1"' in text_of(repo, "pr", "uv.lock")
    explained = checked(pinctl, repo, *BASE)
    repo.git("checkout", "--quiet", "main")
    pull_request(rig, repo, "v0.2.0", requires=("apart>=1.1",), upgrade=True)

    found = checked(pinctl, repo, *BASE)

    assert explained.answer() == (0, [])
    assert found.answer() == (1, [("LCK002", "uv.lock")])
    assert found.messages[0].endswith(": third 1.0 -> 2.0")


def test_an_upgrade_that_moves_no_pin_is_listed_and_stops_nothing(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    rig.third_party("third", "1.0")
    lib = rig.library("lib", "0.1.0")
    manifest = rig.root("lib", requires=["lib", "third"])
    repo = rig.locked({"lib": lib.oid()}, manifest=manifest, pins_toml=rig.declared("lib"))
    rig.third_party("third", "2.0")
    files: dict[str, str | bytes | None] = {**rig.wheels, "pyproject.toml": manifest}
    lock = rig.lock_of({"lib": lib.oid()}, files)
    repo.commit("pr", "Upgrade", files={**rig.wheels, "uv.lock": lock}, parents=[repo.oid()])

    found = checked(pinctl, repo, *BASE)

    assert found.answer() == (0, [("~LCK002", "uv.lock")])
    assert found.messages == [
        "versions that are not ours moved, and no requirement of this range asks for it: third 1.0 -> 2.0"
    ]
    assert found.only["component"] is None


def test_a_lock_that_nobody_can_read_is_unknown(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    repo = superproject(rig)
    repo.commit("pr", "Break it", files={"uv.lock": "<<<<<<< ours\n"}, parents=[repo.oid()])

    found = checked(pinctl, repo, *BASE)

    assert found.status == 3
    assert ("?LCK002", "uv.lock") in found.rules


def test_what_the_target_moved_meanwhile_is_not_the_ranges_though_the_two_conflict(
    tmp_path: Path, pinctl: Pinctl
) -> None:
    rig = UvRig(top=tmp_path)
    repo = superproject(rig)
    pull_request(rig, repo, "v0.2.0")
    ours = repo.oid("pr")
    pull_request(rig, repo, "v0.3.0")
    repo.switch("main")
    repo.git("reset", "--quiet", "--hard", "pr")
    repo.git("branch", "--force", "pr", ours)
    for branch, version in (("pr", "1.0"), ("main", "2.0")):
        assert f'name = "third"\nversion = "{version}"' in text_of(repo, branch, "uv.lock")

    found = checked(pinctl, repo, *BASE)

    assert "LCK002" not in {code for code, _ in found.rules}
