"""FLR005: requirements that exclude the version at pin by something else than their floor."""

import json
from pathlib import Path

import pytest

from support import Pinctl
from support.rig import Repo, Rig, checked, shell

BASE = ("--base", "main")


def _project(name: str, version: str, *requirements: str, more: str = "") -> str:
    lines = [f'name = "{name}"', f'version = "{version}"', f"dependencies = {json.dumps(list(requirements))}"]
    return "\n".join(["[project]", *lines, more]) + "\n"


def _requiring(rig: Rig, text: str, *, version: str = "0.4.1.dev12+g1a2b3c4", more: str = "") -> Repo:
    """Makes a pull request, checked out, that writes a requirement on lib, whose pin has a version."""
    lib = rig.component("lib", commits=0)
    lib.commit(files={"pyproject.toml": _project("lib", version)})
    pins_toml = rig.pins_toml("lib", more={"lib": 'distribution = "lib"'})
    files: dict[str, str | bytes | None] = {"pins.toml": pins_toml, "pyproject.toml": _project("super", "1", "lib")}
    repo = rig.superproject({"lib": lib.oid()}, files=files)
    manifest = _project("super", "1", *([text] if text else []), more=more)
    repo.commit("pr", "Require it", files={"pyproject.toml": manifest}, parents=[repo.oid()])
    repo.switch("pr")
    return repo


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("lib>=0.3,<0.4", None),
        ("lib<=0.4", None),
        ("lib!=0.4.1.dev12", None),
        ("lib!=0.4.*", None),
        ("lib==0.3.*", None),
        ("lib>0.5", None),
        ("lib===0.4.1", None),
        ("lib==0.4.0", "lib==0.4.1.dev12"),
        ("lib[x] ~= 0.3.1 ; python_version > '3'", "lib[x] ~= 0.4.1.dev12 ; python_version > '3'"),
    ],
)
def test_a_requirement_that_excludes_the_version_at_pin_is_broken(
    tmp_path: Path, pinctl: Pinctl, text: str, fixed: str | None
) -> None:
    rig = Rig(top=tmp_path)
    repo = _requiring(rig, text)

    found = checked(pinctl, repo, *BASE)

    assert found.answer() == (1, [("FLR005", "pyproject.toml")])
    pin = rig.components["lib"].oid()[:7]
    assert found.messages == [f"{text} excludes 0.4.1.dev12+g1a2b3c4, the version at pin {pin}"]
    assert (found.only["component"], found.only["line"]) == ("lib", 4)
    if fixed is None:
        assert found.only["fix"] is None
        return
    shell(repo.directory, found.only["fix"])
    repo.git("commit", "--quiet", "--all", "--message", "Fix it")
    assert checked(pinctl, repo, *BASE).answer() == (0, [])
    assert fixed in (repo.directory / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("lib", "0.4.1.dev12+g1a2b3c4"),
        ("lib>=0.3,<0.5", "0.4.1.dev12+g1a2b3c4"),
        ("lib<0.4.1", "0.4.1.dev12"),
        ("lib~=0.4.0", "0.4.1.dev12+g1a2b3c4"),
        ("lib==0.4.*", "0.4.1.dev12"),
        ("lib==0.4.1", "0.4.1+g1a2b3c4"),
        ("lib!=0.4.1", "0.4.1.dev12"),
        ("lib @ https://lib.example/lib-0.1.tar.gz", "0.4.1"),
    ],
)
def test_pre_releases_and_local_versions_count_as_packaging_counts_them(
    tmp_path: Path, pinctl: Pinctl, text: str, version: str
) -> None:
    excluded = text == "lib<0.4.1"  # PEP 440: an upper bound excludes the pre-releases of its own version.

    found = checked(pinctl, _requiring(Rig(top=tmp_path), text, version=version), *BASE)

    assert found.answer() == ((1, [("FLR005", "pyproject.toml")]) if excluded else (0, []))


def test_what_is_below_its_floor_is_said_once(tmp_path: Path, pinctl: Pinctl) -> None:
    found = checked(pinctl, _requiring(Rig(top=tmp_path), "lib>=0.5,<0.6"), *BASE)

    assert found.rules == [("FLR001", "pyproject.toml")]


@pytest.mark.parametrize(
    "more",
    [
        '[project.optional-dependencies]\nx = ["lib<0.4"]\n',
        '[dependency-groups]\ntest = [{include-group = "more"}]\nmore = ["LIB<0.4"]\n',
        '[tool.uv]\noverride-dependencies = ["lib<0.4"]\n',
        '[tool.uv]\nconstraint-dependencies = ["lib<0.4"]\n',
        '[tool.uv]\nbuild-constraint-dependencies = ["lib<0.4"]\n',
        '[build-system]\nrequires = ["lib<0.4"]\n',
    ],
)
def test_requirements_are_looked_at_wherever_they_stand(tmp_path: Path, pinctl: Pinctl, more: str) -> None:
    assert checked(pinctl, _requiring(Rig(top=tmp_path), "", more=more), *BASE).rules == [("FLR005", "pyproject.toml")]


def test_status_says_so_too(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _requiring(Rig(top=tmp_path), "lib<0.4")

    (pin,) = json.loads(pinctl("status", "--format", "json", cwd=repo.directory).stdout)["pins"]

    assert pin["drift"] == ["pyproject.toml:4 wants lib<0.4, which excludes 0.4.1.dev12+g1a2b3c4 at pin"]


def test_a_bump_out_of_a_bound_is_refused(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib", commits=0)
    for version in ("0.3", "0.4"):
        lib.commit(message=version, files={"pyproject.toml": _project("lib", version)})
    pins_toml = rig.pins_toml("lib", more={"lib": 'distribution = "lib"'})
    manifest = _project("super", "1", "lib<0.4")
    repo = rig.superproject({"lib": lib.oid("main~1")}, files={"pins.toml": pins_toml, "pyproject.toml": manifest})

    result = pinctl("bump", "lib", cwd=repo.directory)

    assert result.status == 1
    assert f"FLR005 pyproject.toml: lib<0.4 excludes 0.4, the version at pin {lib.oid()[:7]}" in (
        result.stdout + result.stderr
    )
