"""Locks that are out of date, written by another uv, or changed by who makes them."""

import os
import sys
from pathlib import Path

import pytest
import uv

from support import Git, Pinctl
from support.rig import Repo, checked, shell
from support.snapshot import difference, snapshot
from support.uv_rig import BACKEND, IN_TREE, UvRig, answered, project, text_of

LANDING = "landing/bump-lib"


def superproject(rig: UvRig, *, options: str = "") -> Repo:
    """Makes a superproject with a lock; the third version of lib needs another version of somebody else's package."""
    rig.third_party("third", "1.0", "2.0")
    lib = rig.library("lib", "0.1.0", requires=["third<2"])
    rig.release(lib, "lib", "0.2.0", requires=["third<3"])
    rig.release(lib, "lib", "0.3.0", requires=["third>=2"])
    manifest = rig.root("lib", requires=["lib", "third"], uv_options=options)
    return rig.locked({"lib": lib.oid("v0.1.0")}, manifest=manifest, pins_toml=rig.declared("lib"))


@pytest.mark.parametrize("edit", ["a pin", "a floor of others", "a version", "a new requirement"])
def test_b4_a_manifest_or_pin_that_moved_without_the_lock_is_broken(tmp_path: Path, pinctl: Pinctl, edit: str) -> None:
    rig = UvRig(top=tmp_path)
    repo = superproject(rig)
    manifest = text_of(repo, "main")
    edits = {
        "a floor of others": manifest.replace('"third"', '"third>=1"'),
        "a version": manifest.replace('version = "0"', 'version = "1"'),
        "a new requirement": manifest.replace('"third"', '"third", "third>=0.9"'),
    }
    if edit == "a pin":
        repo.commit("pr", "Edit", gitlinks={"deps/lib": rig.components["lib"].oid("v0.2.0")}, parents=[repo.oid()])
    else:
        repo.commit("pr", "Edit", files={"pyproject.toml": edits[edit]}, parents=[repo.oid()])

    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    assert found.answer() == (1, [("LCK001", "uv.lock")])


def test_b4_the_finding_says_what_is_wrong_and_not_uvs_hint(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = superproject(UvRig(top=tmp_path))
    manifest = text_of(repo, "main").replace('"third"', '"third>=1"')
    repo.commit("pr", "Edit", files={"pyproject.toml": manifest}, parents=[repo.oid()])

    (message,) = checked(pinctl, repo, "--base", "main", "--head", "pr").messages

    assert message.startswith("the lock is out of date: The lockfile at `uv.lock` needs to be updated")
    assert "hint" not in message


def test_b4_its_fix_makes_the_lock_that_check_wants(
    tmp_path: Path, pinctl: Pinctl, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = UvRig(top=tmp_path)
    repo = superproject(rig)
    repo.commit("pr", "Bump", gitlinks={"deps/lib": rig.components["lib"].oid("v0.2.0")}, parents=[repo.oid()])
    repo.switch("pr")
    (finding,) = checked(pinctl, repo, "--base", "main").findings
    monkeypatch.delenv("UV_OFFLINE")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)

    shell(repo.directory, finding["fix"])
    git(repo.directory, "commit", "--quiet", "--all", "--message", "Lock")

    assert checked(pinctl, repo, "--base", "main").answer() == (0, [])


def test_its_fix_is_for_the_lock_that_is_judged_wherever_it_is(
    tmp_path: Path, pinctl: Pinctl, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = UvRig(top=tmp_path)
    lib = rig.library("lib", "0.1.0")
    source = '[tool.uv]\nno-index = true\n\n[tool.uv.sources]\nlib = { path = "../deps/lib", editable = true }\n'
    files = {
        "pins.toml": rig.pins_toml("lib", head='manifests = ["my py/pyproject.toml"]\nlock = "my py/uv.lock"\n'),
        "my py/pyproject.toml": project("super", "0", requires=["lib"], more=source),
        "my py/uv.lock": 'version = 1\nrevision = 3\nrequires-python = ">=3.11"\n',
    }
    repo = rig.superproject({"lib": lib.oid()}, files=files)
    found = checked(pinctl, repo, "--all")
    assert found.answer() == (1, [("LCK001", "my py/uv.lock")])
    monkeypatch.delenv("UV_OFFLINE")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)

    shell(repo.directory, found.only["fix"])
    git(repo.directory, "commit", "--quiet", "--all", "--message", "Lock")

    assert checked(pinctl, repo, "--all").answer() == (0, [])


def dynamic(rig: UvRig) -> tuple[UvRig, Repo, dict[str, str | bytes | None]]:
    """Makes a component whose version is derived from tags, and the files of a superproject with it."""
    lib = rig.component("lib", commits=0)
    manifest = project("lib", None, more=IN_TREE)
    lib.commit(files={"pyproject.toml": manifest, "_backend/pure_backend.py": BACKEND})
    lib.git("tag", "v0.1.0", lib.oid())
    for number in (1, 2):
        lib.commit(message=f"More {number}", files={"notes": f"{number}\n"})
    files: dict[str, str | bytes | None] = {"pyproject.toml": rig.root("lib", requires=["lib"]), "wheels/.keep": ""}
    return rig, lib, {**files, "pins.toml": rig.declared("lib")}


def test_b9_a_version_derived_from_tags_is_no_part_of_the_lock_and_moves_nothing_in_it(
    tmp_path: Path, pinctl: Pinctl
) -> None:
    rig, lib, files = dynamic(UvRig(top=tmp_path))
    lock = rig.lock_of({"lib": lib.oid("main~1")}, files)
    repo = rig.superproject({"lib": lib.oid("main~1")}, files={**files, "uv.lock": lock})

    landing = answered(pinctl, repo, "bump", "lib")

    assert landing["pins"][0]["version"] == f"0.1.1.dev2+g{lib.oid()[:7]}"
    assert text_of(repo, LANDING, "uv.lock") == lock.decode()
    assert checked(pinctl, repo, "--base", "main", "--head", LANDING).answer() == (0, [])


def test_b9_one_that_an_older_uv_has_written_goes_and_is_ours(tmp_path: Path, pinctl: Pinctl) -> None:
    """Judged as uv does: it calls such a lock out of date, so check does; no package of others moves with it."""
    rig, lib, files = dynamic(UvRig(top=tmp_path))
    lock = rig.lock_of({"lib": lib.oid("main~1")}, files).decode()
    older = lock.replace('name = "lib"\nsource', 'name = "lib"\nversion = "0.1.1.dev1"\nsource')
    assert older != lock
    repo = rig.superproject({"lib": lib.oid("main~1")}, files={**files, "uv.lock": older})

    found = checked(pinctl, repo, "--all")
    rehearsal = answered(pinctl, repo, "bump", "lib", "--plan")
    answered(pinctl, repo, "bump", "lib")

    assert found.answer() == (1, [("LCK001", "uv.lock")])
    assert rehearsal["lock"] == {
        "first_party": ["lib 0.1.1.dev1 -> editable deps/lib"],
        "third_party": [],
        "format_only": False,
    }
    assert text_of(repo, LANDING, "uv.lock") == lock


def test_b23_the_environment_and_a_users_settings_make_no_other_commit(
    tmp_path: Path, pinctl: Pinctl, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = superproject(UvRig(top=tmp_path))
    expected = answered(pinctl, repo, "bump", "lib@v0.3.0", "--third-party")["commit"]
    git(repo.directory, "branch", "--delete", "--force", LANDING)
    for name, value in {
        "UV_FROZEN": "1",
        "UV_LOCKED": "1",
        "UV_EXCLUDE_NEWER": "2020-01-01",
        "UV_NO_SOURCES": "1",
        "UV_RESOLUTION": "lowest",
        "UV_PROJECT": "/nowhere",
        "SETUPTOOLS_SCM_PRETEND_VERSION": "9.9.9",
    }.items():
        monkeypatch.setenv(name, value)
    settings = Path.home() / ".config/uv/uv.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('resolution = "lowest"\nexclude-newer = "2020-01-01T00:00:00Z"\n')

    result = pinctl("bump", "lib@v0.3.0", "--third-party", cwd=repo.directory)

    assert (result.status, repo.oid(LANDING)) == (0, expected)
    assert checked(pinctl, repo, "--base", "main", "--head", LANDING).answer() == (0, [])


def test_b21_a_required_version_that_nobody_has_is_unknown_before_anything_is_edited(
    tmp_path: Path, pinctl: Pinctl
) -> None:
    rig = UvRig(top=tmp_path)
    repo = superproject(rig)
    manifest = text_of(repo, "main").replace("no-index = true", 'no-index = true\nrequired-version = ">=99"')
    repo.commit(message="Ask for a newer uv", files={"pyproject.toml": manifest})
    before = snapshot(repo.directory)

    result = pinctl("bump", "lib@v0.2.0", cwd=repo.directory)
    found = checked(pinctl, repo, "--all")

    assert (result.status, result.stdout) == (3, "")
    assert result.stderr.startswith("error: the superproject requires uv >=99, and there is ")
    assert "hint: Install it beside pinctl: pip install 'uv>=99'\n" in result.stderr
    assert difference(before, snapshot(repo.directory)) == set()
    assert found.answer() == (3, [("?LCK001", "uv.lock")])


def test_b20_the_uv_that_the_superproject_requires_is_taken_from_path(
    tmp_path: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = UvRig(top=tmp_path)
    repo = superproject(rig)
    manifest = text_of(repo, "main").replace("no-index = true", 'no-index = true\nrequired-version = "==77.1.2"')
    repo.commit(message="Ask for another uv", files={"pyproject.toml": manifest})
    programs = tmp_path / "bin"
    programs.mkdir()
    script = f'#!/bin/sh\n[ "$1" = --version ] && echo "uv 77.1.2" && exit\necho "$@" >>{tmp_path}/log\n'
    script += f'sed -i /required-version/d pyproject.toml\nexec {uv.find_uv_bin()} "$@"\n'
    (programs / "uv").write_text(script)
    (programs / "uv").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)

    answered(pinctl, repo, "bump", "lib@v0.2.0")

    assert (tmp_path / "log").read_text() == "lock --quiet\n"
    assert text_of(repo, LANDING) == manifest
    assert 'name = "lib"\nversion = "0.2.0"\n' in text_of(repo, LANDING, "uv.lock")


def test_b20_a_lock_that_is_only_written_differently_is_called_that(tmp_path: Path, pinctl: Pinctl) -> None:
    """What leaked into the lock of somebody who had UV_EXCLUDE_NEWER set goes, and no package moves."""
    rig = UvRig(top=tmp_path)
    rig.third_party("third", "1.0")
    data, lib = rig.component("data"), rig.library("lib")
    files: dict[str, str | bytes | None] = {**rig.wheels, "pyproject.toml": rig.root("lib", requires=["lib", "third"])}
    lock = rig.lock_of({"lib": lib.oid()}, files).decode()
    leaked = lock.replace("\n[[package]]", '\n[options]\nexclude-newer = "2026-01-01T00:00:00Z"\n\n[[package]]', 1)
    leaked = leaked.replace("revision = 5", "revision = 1")
    pins_toml = rig.declared("lib").replace(
        "\n[components", '\n[components.data]\npin = { gitlink = "deps/data" }\n\n[components'
    )
    repo = rig.superproject(
        {"lib": lib.oid(), "data": data.oid("main~1")},
        files={**files, "wheels/.keep": "", "pins.toml": pins_toml, "uv.lock": leaked},
    )

    rehearsal = answered(pinctl, repo, "bump", "data", "--plan")
    shown = pinctl("bump", "data", "--plan", cwd=repo.directory).stdout

    assert rehearsal["lock"] == {"first_party": [], "third_party": [], "format_only": True}
    assert "  lock      written differently by this uv; no package moves\n" in shown
    assert checked(pinctl, repo, "--all").rules == [("LCK001", "uv.lock")]


def test_b23_a_rolling_limit_of_the_manifest_is_not_drift(tmp_path: Path, pinctl: Pinctl) -> None:
    """In such a lock uv writes the year 1 and a span of days."""
    repo = superproject(UvRig(top=tmp_path), options='exclude-newer = "7 days"')
    assert 'exclude-newer = "0001-01-01T00:00:00Z"' in text_of(repo, "main", "uv.lock")

    found = checked(pinctl, repo, "--all")
    lock = answered(pinctl, repo, "bump", "lib@v0.2.0", "--plan")["lock"]

    assert found.answer() == (0, [])
    assert (lock["first_party"], lock["third_party"]) == (["lib 0.1.0 -> 0.2.0"], [])


def test_b25_another_package_at_the_same_version_is_not_touched(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    rig.third_party("other", "1.8.1", "1.8.2")
    lib = rig.library("lib", "1.8.1", "1.8.2")
    requires = ["lib>=1.8.1", "other==1.8.1"]
    pins_toml = rig.declared("lib", more={"lib": 'floor = "release"'})
    pins = {"lib": lib.oid("v1.8.1")}
    repo = rig.locked(pins, manifest=rig.root("lib", requires=requires), pins_toml=pins_toml)

    answered(pinctl, repo, "bump", "lib")

    before, after = text_of(repo, "main", "uv.lock"), text_of(repo, LANDING, "uv.lock")
    assert after == before.replace('name = "lib"\nversion = "1.8.1"', 'name = "lib"\nversion = "1.8.2"')
    assert '["lib>=1.8.2", "other==1.8.1"]' in text_of(repo, LANDING)
