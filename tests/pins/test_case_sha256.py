"""Repositories with SHA-256 ids are judged like any other, and mixed ones are unknown."""

from pathlib import Path

import pytest

from support import Pinctl
from support.rig import Repo, Rig, checked

RANGE = ("--base", "main", "--head", "pr")


def _sha256(rig: Rig, before: str, after: str, *, pins_toml: str | None = None) -> tuple[Repo, Repo]:
    lib = rig.component("lib", object_format="sha256")
    files = {"pins.toml": pins_toml.format(commit=lib.oid(before))} if pins_toml else None
    repo = rig.superproject({"lib": lib.oid(before)}, object_format="sha256", files=files)
    repo.commit("pr", "Move lib", gitlinks={"deps/lib": lib.oid(after)}, parents=[repo.oid()])
    return repo, lib


def test_a40_a_bump_is_fine(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = _sha256(Rig(top=tmp_path), "main~1", "main")
    assert len(lib.oid()) == len(repo.oid()) == 64

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])
    assert "on main, 1 behind" in pinctl("status", cwd=repo.directory).stdout


def test_a40_a_pin_that_went_back_is_broken_and_named_whole(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = _sha256(Rig(top=tmp_path), "main", "main~1")

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (1, [("PIN002", "deps/lib")])
    assert found.only["fix"] == f"git update-index --cacheinfo 160000,{lib.oid()},deps/lib"


def test_a40_a_squash_is_found(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib", object_format="sha256")
    orphan = lib.commit("refs/pull/1/head", "Work", files={"new": "new\n"}, parents=[lib.oid("main~1")])
    squash = lib.commit(message="Work (#1)", files={"new": "new\n"})
    repo = rig.superproject({"lib": lib.oid("main~2")}, object_format="sha256")
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": orphan}, parents=[repo.oid()])

    found = checked(pinctl, repo, *RANGE)

    assert found.messages == [
        f"{orphan[:7]} is not on main; its content is there as {squash[:7]} (same patch-id): pin that instead"
    ]


def test_a40_a_record_of_64_digits_is_compared(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    pins_toml = rig.pins_toml("lib", more={"lib": 'commit = "{commit}"'}).replace("{ ", "{{ ").replace(" }", " }}")
    repo, _ = _sha256(rig, "main~1", "main", pins_toml=pins_toml)

    assert checked(pinctl, repo, *RANGE).answer() == (1, [("PIN009", "pins.toml")])


def test_a40_the_index_is_judged(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = _sha256(Rig(top=tmp_path), "main", "main~1")
    repo.git("update-index", "--cacheinfo", f"160000,{lib.oid('main~2')},deps/lib")

    assert checked(pinctl, repo, "--staged").answer() == (1, [("PIN002", "deps/lib")])


def test_a40_a_branch_that_is_behind_its_target_is_judged_as_it_would_come_out(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = _sha256(Rig(top=tmp_path), "main~2", "main~1")
    repo.commit("main", "Bump lib", gitlinks={"deps/lib": lib.oid()})

    assert checked(pinctl, repo, *RANGE).answer() == (1, [("PIN002", "deps/lib")])


@pytest.mark.parametrize(("superproject", "component"), [("sha1", "sha256"), ("sha256", "sha1")])
def test_a40_a_superproject_and_a_component_of_different_kinds_are_unknown(
    tmp_path: Path, pinctl: Pinctl, superproject: str, component: str
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib", object_format=component)
    digits = 40 if superproject == "sha1" else 64
    repo = rig.superproject({}, object_format=superproject, modules=rig.module("lib"))
    pinned = lib.oid()[:digits].ljust(digits, "0")
    repo.commit("pr", "Add lib", gitlinks={"deps/lib": pinned}, parents=[repo.oid()])

    found = checked(pinctl, repo, *RANGE)

    assert found.status == 3
    if component == "sha256":
        # The pin is an abbreviation of a commit there, and must not be taken for it.
        assert found.messages == [
            (
                f"could not find out: lib: {pinned[:12]} and its remote's ids are of different lengths: "
                "one of the repositories is SHA-1, the other SHA-256"
            )
        ]
