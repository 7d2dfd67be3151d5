"""FLR001, FLR002, FLR004 and LCK001: floors and the lock, with what fixes them."""

from pathlib import Path

import pytest

from support import Pinctl
from support.rig import Checked, Repo, Rig, checked, shell

CONFIGS = "packages/configs/pyproject.toml"
BASE = ("--base", "main")


def _manifest(name: str, *requirements: str, more: str = "") -> str:
    lines = [f'name = "{name}"', 'version = "1.0"', 'requires-python = ">=3.11"', "dependencies = ["]
    return "\n".join(["[project]", *lines, *(f"    {text}," for text in requirements), "]", more]) + "\n"


def _lib(rig: Rig) -> Repo:
    """Makes a component whose four commits have the versions 0.1, 0.2, 0.3 and 0.4."""
    lib = rig.component("lib", commits=0)
    for number in range(1, 5):
        lib.commit(message=f"Version 0.{number}", files={"pyproject.toml": _project("lib", f"0.{number}")})
    return lib


def _project(name: str, version: str) -> str:
    return f'[project]\nname = "{name}"\nversion = "{version}"\nrequires-python = ">=3.11"\n'


def _floors(
    rig: Rig,
    root: str,
    configs: str | None = None,
    *,
    at: str = "main~1",
    root_before: str | None = None,
    more: str = "",
) -> Repo:
    """Makes a pull request, checked out, that writes two manifests; lib is pinned at 0.3 if nothing else is said."""
    lib = rig.components.get("lib") or _lib(rig)
    manifests = 'manifests = ["pyproject.toml", "packages/configs/pyproject.toml"]'
    pins_toml = rig.pins_toml("lib", more={"lib": 'distribution = "lib"'}, head=manifests)
    repo = rig.superproject(
        {"lib": lib.oid(at)},
        files={
            "pins.toml": pins_toml,
            "pyproject.toml": _manifest("super", root_before or '"lib>=0.1"', more=more),
            CONFIGS: _manifest("configs", '"lib>=0.1"'),
        },
    )
    files: dict[str, str | bytes | None] = {"pyproject.toml": _manifest("super", root, more=more)}
    if configs is not None:
        files[CONFIGS] = _manifest("configs", configs)
    repo.commit("pr", "Change floors", files=files, parents=[repo.oid()])
    repo.switch("pr")
    return repo


def _fixed(pinctl: Pinctl, repo: Repo, found: Checked) -> Checked:
    for finding in found.findings:
        shell(repo.directory, finding["fix"])
    repo.git("commit", "--quiet", "--all", "--message", "Fix it")
    return checked(pinctl, repo, *BASE)


def test_floors_that_agree_and_are_reached_are_fine(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _floors(Rig(top=tmp_path), '"lib>=0.3"', '"lib>=0.3"')

    assert checked(pinctl, repo, *BASE).answer() == (0, [])


def test_a_floor_above_the_version_at_pin_is_broken(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    repo = _floors(rig, '"lib>=0.4"', '"lib>=0.4"')
    pin = rig.components["lib"].oid("main~1")

    result = pinctl("check", *BASE, cwd=repo.directory)

    assert (result.status, result.stderr) == (1, "")
    assert result.stdout == (
        f"FLR001 pyproject.toml:6: lib>=0.4 is above 0.3, the version at pin {pin[:7]}\n"
        "    fix: sed -i '6s|lib>=0\\.4|lib>=0.3|' pyproject.toml\n"
        f"FLR001 {CONFIGS}:6: lib>=0.4 is above 0.3, the version at pin {pin[:7]}\n"
        f"    fix: sed -i '6s|lib>=0\\.4|lib>=0.3|' {CONFIGS}\n"
        f"broken: {repo.oid()[:7]}..{repo.oid('pr')[:7]} (the command line), judged 0 of 1 pins that moved\n"
    )


def test_a_pin_that_moves_below_an_unchanged_floor_is_broken_by_it(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = _lib(rig)
    repo = _floors(rig, '"lib>=0.1"', '"lib>=0.1"', at="main~2")
    repo.commit("pr", "Move lib back", gitlinks={"deps/lib": lib.oid("main~3")})
    assert checked(pinctl, repo, *BASE).answer() == (1, [("PIN002", "deps/lib")])
    repo.commit("main", "Raise floors", files={"pyproject.toml": _manifest("super", '"lib>=0.2"')})

    found = checked(pinctl, repo, *BASE)

    assert ("FLR001", "pyproject.toml") in found.rules


def test_floors_are_not_judged_where_nothing_of_them_changed(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _floors(Rig(top=tmp_path), '"lib>=0.9"', root_before='"lib>=0.9"')

    assert checked(pinctl, repo, *BASE).answer() == (0, [])
    assert checked(pinctl, repo, *BASE, "--all").rules == [("FLR001", "pyproject.toml"), ("FLR002", CONFIGS)]


@pytest.mark.parametrize(
    ("root", "configs", "rules"),
    [
        ('"lib>=0.4"', '"lib>=0.4"', ["FLR001", "FLR001"]),
        ('"lib>=0.3"', '"lib>=0.1"', ["FLR002"]),
        ('"lib>=0.1"', '"lib~=0.3"', ["FLR002"]),
        ('"lib[extra]>=0.4"', '"lib>=0.3"', ["FLR001", "FLR002"]),
        ('"lib>=0.4"', '"lib>=0.1"', ["FLR001", "FLR002"]),
        ('"lib>=0.4,!=0.2.*"', '"lib>=0.4"', ["FLR001", "FLR001"]),
        ("'lib >= 0.4 ; python_version >= \"3.11\"'", '"lib>=0.4"', ["FLR001", "FLR001"]),
        ('"lib>=0.4; python_version >= \\"3.11\\""', '"lib>=0.4"', ["FLR001", "FLR001"]),
        ('"LIB>=0.3", "lib>=0.4"', '"lib>=0.3"', ["FLR001", "FLR002", "FLR002"]),
    ],
)
def test_all_fixes_of_floors_at_once_leave_nothing(
    tmp_path: Path, pinctl: Pinctl, root: str, configs: str, rules: list[str]
) -> None:
    repo = _floors(Rig(top=tmp_path), root, configs)
    found = checked(pinctl, repo, *BASE)
    assert found.status == 1
    assert sorted(code for code, _ in found.rules) == rules

    assert _fixed(pinctl, repo, found).answer() == (0, [])


def test_disagreeing_floors_are_named_with_each_other(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _floors(Rig(top=tmp_path), '"lib>=0.3"')

    found = checked(pinctl, repo, *BASE)

    assert found.answer() == (1, [("FLR002", CONFIGS)])
    assert found.messages == ["lib>=0.1 disagrees with lib>=0.3 in pyproject.toml:6"]
    assert found.only["line"] == 6


BUILDS = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
PRIVATE = "[build-system]\nrequires = []\n\n[tool.uv]\npackage = false\n"


@pytest.mark.parametrize(
    ("more", "floor", "rules"),
    [
        (BUILDS, "0.3.dev7", [("~FLR004", "pyproject.toml")]),
        (BUILDS, "0.3rc1", [("~FLR004", "pyproject.toml")]),
        (BUILDS, "0.3", []),
        ("", "0.3.dev7", []),
        (PRIVATE, "0.3.dev7", []),
    ],
)
def test_a_development_floor_of_a_published_package_is_warned_of(
    tmp_path: Path, pinctl: Pinctl, more: str, floor: str, rules: list[tuple[str, str]]
) -> None:
    repo = _floors(Rig(top=tmp_path), f'"lib>={floor}"', f'"lib>={floor}"', more=more)

    found = checked(pinctl, repo, *BASE)

    assert found.answer() == (0, rules)


def test_a_private_package_may_have_a_development_floor(tmp_path: Path, pinctl: Pinctl) -> None:
    private = 'classifiers = ["Private :: Do Not Upload"]\n' + BUILDS
    repo = _floors(Rig(top=tmp_path), '"lib>=0.3.dev7"', '"lib>=0.3.dev7"', more=private)

    assert checked(pinctl, repo, *BASE).answer() == (0, [])


SOURCES = '[tool.uv.sources]\nlib = { path = "deps/lib", editable = true }\n'


def _locked(rig: Rig, *, at: str = "main~1") -> Repo:
    """Makes a superproject with a uv.lock that is right, at main; a branch pr is checked out."""
    lib = rig.components.get("lib") or _lib(rig)
    pins_toml = rig.pins_toml("lib", more={"lib": 'distribution = "lib"'}, head='lock = "uv.lock"')
    root = _manifest("super", '"lib>=0.1"', more=SOURCES)
    repo = rig.superproject({"lib": lib.oid(at)}, files={"pins.toml": pins_toml, "pyproject.toml": root})
    repo.git("submodule", "--quiet", "update", "--init")
    shell(repo.directory, "uv lock --quiet")
    repo.commit("main", "Lock", files={"uv.lock": (repo.directory / "uv.lock").read_text()})
    repo.git("checkout", "--quiet", "-b", "pr")
    return repo


@pytest.fixture(autouse=True)
def _uv(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the uv of this environment on PATH, for fixes that run it. What it locks needs no index."""
    import os

    import uv

    monkeypatch.setenv("PATH", f"{Path(uv.find_uv_bin()).parent}{os.pathsep}{os.environ['PATH']}")


def test_a_lock_that_uv_would_write_is_fine(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _locked(Rig(top=tmp_path))
    repo.commit(
        "pr", "Change something", files={"pyproject.toml": _manifest("super", '"lib>=0.1"', more=SOURCES) + "\n"}
    )

    assert checked(pinctl, repo, *BASE).answer() == (0, [])
    assert checked(pinctl, repo, "--all").answer() == (0, [])


@pytest.mark.parametrize("initialised", [True, False])
def test_a_lock_that_a_new_pin_left_behind_is_broken_and_its_fix_fixes_it(
    tmp_path: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch, *, initialised: bool
) -> None:
    """Whether the submodules are initialised makes no difference to what is found."""
    rig = Rig(top=tmp_path)
    repo = _locked(rig)
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": rig.components["lib"].oid()})
    if not initialised:
        repo.git("submodule", "--quiet", "deinit", "--force", "--all")

    found = checked(pinctl, repo, *BASE)

    assert found.answer() == (1, [("LCK001", "uv.lock")])
    assert found.only["line"] == 1
    assert found.messages[0].startswith("the lock is out of date: ")
    # uv refuses to be offline and to refresh at once; nothing here needs the index.
    monkeypatch.delenv("UV_OFFLINE")
    assert _fixed(pinctl, repo, found).answer() == (0, [])


def test_a15_a_lock_and_a_manifest_that_name_the_old_path_of_a_renamed_component_are_broken(
    tmp_path: Path, pinctl: Pinctl
) -> None:
    rig = Rig(top=tmp_path)
    repo = _locked(rig)
    lib = rig.components["lib"]
    pins_toml = rig.pins_toml("lib", more={"lib": 'distribution = "lib"'}, head='lock = "uv.lock"')
    renamed = {
        ".gitmodules": rig.module("lib", path="libs/lib"),
        "pins.toml": pins_toml.replace("deps/lib", "libs/lib"),
    }
    moved = {"deps/lib": None, "libs/lib": lib.oid("main~1")}
    repo.commit("pr", "Rename lib", files=renamed, gitlinks=moved)

    found = checked(pinctl, repo, *BASE)

    assert found.status in {1, 3}
    assert [path for _, path in found.rules] == ["uv.lock"]
    assert "deps/lib" in found.messages[0]

    files = {
        "pyproject.toml": _manifest("super", '"lib>=0.1"', more=SOURCES.replace("deps/lib", "libs/lib")),
        "uv.lock": repo.git("cat-file", "blob", "main:uv.lock").replace("deps/lib", "libs/lib") + "\n",
    }
    repo.commit("pr", "Name the new path", files=files)
    assert checked(pinctl, repo, *BASE).answer() == (0, [])
