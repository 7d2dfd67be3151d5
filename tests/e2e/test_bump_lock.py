"""The lock that goes with a bump: made by uv for exactly that tree, moving nothing of other people without leave."""

from pathlib import Path

import pytest

from support import Git, Pinctl
from support.rig import Repo, checked
from support.snapshot import difference, snapshot, unchanged
from support.uv_rig import UvRig, answered, changed, project, refusals, text_of

LANDING = "landing/bump-lib"


def superproject(
    rig: UvRig, *, options: str = "", more: str = "", requires: tuple[str, ...] = ("lib", "third")
) -> Repo:
    """Makes a superproject with a lock; the next version of lib needs another version of somebody else's package."""
    rig.third_party("third", "1.0", "2.0")
    rig.third_party("fourth", "1.0")
    lib = rig.library("lib", "0.1.0", requires=["third<2"])
    rig.release(lib, "lib", "0.2.0", requires=["third<3"])
    rig.release(lib, "lib", "0.3.0", requires=["third>=2", "fourth"])
    manifest = rig.root("lib", requires=requires, uv_options=options)
    return rig.locked({"lib": lib.oid("v0.1.0")}, manifest=manifest, pins_toml=rig.declared("lib", head=more))


def test_a_bump_that_moves_other_peoples_packages_is_refused_and_they_are_named(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = superproject(UvRig(top=tmp_path))

    with unchanged(repo.directory):
        (found,) = refusals(pinctl, repo, "bump", "lib@v0.3.0")

    assert found == {
        "kind": "third-party",
        "message": "the new lock moves packages that are not ours",
        "hint": 'Where that is meant: [lock] third_party = "move" in the plan, or --third-party for a bump.',
        "details": ["fourth none -> 1.0", "third 1.0 -> 2.0"],
    }


def test_with_leave_they_move_and_are_listed(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = superproject(UvRig(top=tmp_path))

    rehearsal = answered(pinctl, repo, "bump", "lib@v0.3.0", "--third-party", "--plan")
    shown = pinctl("bump", "lib@v0.3.0", "--third-party", "--plan", cwd=repo.directory).stdout
    answered(pinctl, repo, "bump", "lib@v0.3.0", "--third-party")

    assert rehearsal["lock"] == {
        "first_party": ["lib 0.1.0 -> 0.3.0"],
        "third_party": ["fourth none -> 1.0", "third 1.0 -> 2.0"],
        "format_only": False,
    }
    assert [line for line in shown.splitlines() if line.startswith("  lock ")] == [
        "  lock      ours: lib 0.1.0 -> 0.3.0",
        "  lock      third-party: fourth none -> 1.0",
        "  lock      third-party: third 1.0 -> 2.0",
    ]
    assert checked(pinctl, repo, "--base", "main", "--head", LANDING).answer() == (0, [])


def test_what_may_stay_stays_where_it_was(tmp_path: Path, pinctl: Pinctl) -> None:
    """Version 0.2.0 would take the newer one, but the lock has one that it takes too."""
    rig = UvRig(top=tmp_path)
    repo = superproject(rig)

    lock = answered(pinctl, repo, "bump", "lib@v0.2.0", "--plan")["lock"]

    assert (lock["first_party"], lock["third_party"]) == (["lib 0.1.0 -> 0.2.0"], [])


@pytest.mark.parametrize("leave", [None, '[lock]\nthird_party = "move"\n'])
def test_a_plan_gives_leave_in_its_own_file(tmp_path: Path, pinctl: Pinctl, leave: str | None) -> None:
    rig = UvRig(top=tmp_path)
    repo = superproject(rig)
    lib = rig.components["lib"]
    changes = (
        'version = 1\ntitle = "Use it"\n\n[[changes]]\nid = "lib"\ncomponent = "lib"\n'
        f'commit = "{lib.oid("v0.3.0")}"\n\n[[changes]]\nid = "use"\ncomponent = "super"\nbranch = "use"\n'
        'after = ["lib"]\npins = ["lib"]\n\n'
    )
    repo.commit(message="Plan", files={"landing_plans/use.toml": changes + (leave or "")})
    repo.commit("use", "Use it", files={"code.py": "x\n"}, parents=[repo.oid("main")])

    if leave is None:
        with unchanged(repo.directory):
            (found,) = refusals(pinctl, repo, "land", "use")
        assert found["details"] == ["fourth none -> 1.0", "third 1.0 -> 2.0"]
    else:
        answered(pinctl, repo, "land", "use")
        assert changed(repo, "main", "landing/use") == ["code.py", "deps/lib", "pins.toml", "uv.lock"]


def test_only_the_superprojects_own_lock_is_written_and_components_stay_clean(
    tmp_path: Path, pinctl: Pinctl, git: Git
) -> None:
    rig = UvRig(top=tmp_path)
    repo = superproject(rig)
    lib = rig.components["lib"]
    tip = lib.commit(message="A lock of its own", files={"uv.lock": "version = 1\n# not that of this manifest\n"})
    git(repo.directory, "submodule", "--quiet", "update", "--init")
    before = snapshot(lib.directory)

    answered(pinctl, repo, "bump", "lib", "--third-party")

    assert changed(repo, "main", LANDING) == ["deps/lib", "pins.toml", "uv.lock"]
    assert repo.oid(f"{LANDING}:deps/lib") == tip
    assert difference(before, snapshot(lib.directory)) == set()
    assert git(repo.directory, "status", "--porcelain", "--ignore-submodules=none") == ""
    assert list((repo.directory / "deps/lib").glob("*.lock")) == []


@pytest.mark.parametrize("declared", [True, False])
def test_no_lock_at_all_is_fine(tmp_path: Path, pinctl: Pinctl, declared: bool) -> None:  # noqa: FBT001
    rig = UvRig(top=tmp_path)
    lib = rig.library("lib", "0.1.0", "0.2.0")
    pins_toml = rig.declared("lib") if declared else rig.pins_toml("lib")
    files: dict[str, str | bytes | None] = {"pins.toml": pins_toml, "pyproject.toml": project("super", "0")}
    repo = rig.superproject({"lib": lib.oid("v0.1.0")}, files=files)

    answered(pinctl, repo, "bump", "lib")

    assert changed(repo, "main", LANDING) == ["deps/lib", "pins.toml"]
    assert checked(pinctl, repo, "--base", "main", "--head", LANDING).answer() == (0, [])


def test_a_lock_below_the_top_is_that_of_the_manifest_beside_it(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    lib = rig.library("lib", "0.1.0", "0.2.0")
    manifest = (
        rig.root("lib", requires=["lib"]).replace('"deps/lib"', '"../deps/lib"').replace('["wheels"]', '["../wheels"]')
    )
    head = 'lock = "python/uv.lock"\nmanifests = ["python/pyproject.toml"]'
    pins_toml = rig.pins_toml("lib", more={"lib": 'distribution = "lib"'}, head=head)
    below = rig.lock_of(
        {"lib": lib.oid("v0.1.0")}, {"wheels/.keep": "", "pyproject.toml": rig.root("lib", requires=["lib"])}
    )
    lock = below.replace(b'"deps/lib"', b'"../deps/lib"')
    files: dict[str, str | bytes | None] = {"pins.toml": pins_toml, "wheels/.keep": ""}
    files |= {"python/pyproject.toml": manifest, "python/uv.lock": lock}
    repo = rig.superproject({"lib": lib.oid("v0.1.0")}, files=files)
    assert checked(pinctl, repo, "--all").answer() == (0, [])

    answered(pinctl, repo, "bump", "lib")

    assert text_of(repo, LANDING, "python/uv.lock") == lock.decode().replace("0.1.0", "0.2.0")
    assert changed(repo, "main", LANDING) == ["deps/lib", "pins.toml", "python/uv.lock"]
