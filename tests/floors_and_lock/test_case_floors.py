"""Floors that uv does not look at, that drift apart, and that are hard to recognise."""

import subprocess
from pathlib import Path

import pytest
import uv

from support import Git, Pinctl
from support.rig import Repo, checked
from support.snapshot import unchanged
from support.uv_rig import UvRig, answered, changed, pins_of, project, refusals, text_of

LANDING = "landing/bump-lib"
CONFIGS = "packages/configs/pyproject.toml"
CONFIGS_SOURCE = 'configs = { path = "packages/configs", editable = true }\n'


def superproject(rig: UvRig, manifest: str, *, at: str = "v0.1.0", lib: str = "", configs: str | None = None) -> Repo:
    """Makes a superproject with a lock, and maybe with a second package of its own that requires something too."""
    head = f'manifests = ["pyproject.toml", "{CONFIGS}"]' if configs else ""
    pins_toml = rig.declared("lib", more={"lib": lib}, head=head)
    files: dict[str, str | bytes | None] = {}
    if configs is not None:
        files[CONFIGS] = project("configs", "0", requires=[configs])
        manifest = manifest.replace("[tool.uv.sources]\n", f"[tool.uv.sources]\n{CONFIGS_SOURCE}")
    return rig.locked({"lib": rig.components["lib"].oid(at)}, manifest=manifest, pins_toml=pins_toml, files=files)


@pytest.mark.parametrize(
    ("requires", "options"), [(["lib[x]>=0.5"], ""), (["lib"], 'override-dependencies = ["lib>=0.5"]')]
)
def test_b1_a_floor_above_a_path_source_is_broken_though_uv_says_nothing(
    tmp_path: Path, pinctl: Pinctl, git: Git, requires: list[str], options: str
) -> None:
    rig = UvRig(top=tmp_path)
    lib = rig.library("lib", "0.1.0", more="[project.optional-dependencies]\nx = []\n")
    manifest = rig.root("lib", requires=["lib[x]>=0.1"])
    repo = superproject(rig, manifest)
    raised = rig.root("lib", requires=requires, uv_options=options)
    repo.commit("pr", "Raise it", files={"pyproject.toml": raised}, parents=[repo.oid()])
    repo.switch("pr")

    found = checked(pinctl, repo, "--base", "main")
    drift = pins_of(pinctl, repo)["lib"]["drift"]

    text = "lib[x]>=0.5" if options == "" else "lib>=0.5"
    assert ("FLR001", "pyproject.toml") in found.rules
    assert found.status == 1
    pin = lib.oid()[:7]
    assert f"{text} is above 0.1.0, the version at pin {pin}" in found.messages
    assert [line.partition(" wants ")[2] for line in drift] == [f"{text}, above 0.1.0 at pin"]
    # The reason why pinctl looks itself: with the submodule in place, uv finds nothing to say.
    git(repo.directory, "submodule", "--quiet", "update", "--init")
    (repo.directory / "uv.lock").unlink()
    for words in (["lock", "--quiet"], ["lock", "--check", "--quiet"]):
        assert subprocess.run([uv.find_uv_bin(), *words], cwd=repo.directory, check=False).returncode == 0


def test_b2_a_floor_in_another_package_is_in_the_lock_and_rises_with_it(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    rig.third_party("third", "1.0")
    rig.library("lib", "0.9.0", "0.10.0")
    manifest = rig.root("lib", requires=["configs", "lib", "third"])
    repo = superproject(rig, manifest, at="v0.9.0", lib='floor = "release"', configs="lib>=0.9")
    assert 'specifier = ">=0.9"' in text_of(repo, "main", "uv.lock")

    answered(pinctl, repo, "bump", "lib")

    assert changed(repo, "main", LANDING) == ["deps/lib", CONFIGS, "pins.toml", "uv.lock"]
    assert 'specifier = ">=0.10.0"' in text_of(repo, LANDING, "uv.lock")
    assert checked(pinctl, repo, "--base", "main", "--head", LANDING).answer() == (0, [])


def test_b2_below_such_a_floor_there_is_no_bump_and_no_lock_is_tried(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    rig.third_party("third", "1.0")
    rig.library("lib", "0.1.0", "0.9.0")
    repo = superproject(rig, rig.root("lib", requires=["configs", "lib", "third"]), at="v0.9.0", configs="lib>=0.9")

    with unchanged(repo.directory):
        (found,) = refusals(pinctl, repo, "bump", "lib@v0.1.0", "--rollback", "it leaks")

    assert found["kind"] == "rule"
    assert found["message"].startswith("FLR001 packages/configs/pyproject.toml: lib>=0.9 is above 0.1.0")


def test_b3_floors_of_one_component_in_three_places_are_listed_and_rise_together(
    tmp_path: Path, pinctl: Pinctl
) -> None:
    """Of 16 moves of floors with a pin in prime-rl, 9 changed the root manifest only."""
    rig = UvRig(top=tmp_path)
    rig.library("lib", "0.1.0", "0.2.0")
    options = 'override-dependencies = ["lib>=0.0.5"]'
    manifest = rig.root("lib", requires=["configs", "lib[x]>=0.1"], uv_options=options)
    repo = superproject(rig, manifest, lib='floor = "release"', configs="lib>=0.0.9")

    spread = checked(pinctl, repo, "--all")
    floors = pins_of(pinctl, repo)["lib"]["floors"]
    rehearsal = answered(pinctl, repo, "bump", "lib", "--plan")
    answered(pinctl, repo, "bump", "lib")

    assert spread.answer() == (1, [("FLR002", "pyproject.toml"), ("FLR002", CONFIGS)])
    assert [(item["requirement"], item["floor"]) for item in floors] == [
        ("lib[x]>=0.1", "0.1"),
        ("lib>=0.0.5", "0.0.5"),
        ("lib>=0.0.9", "0.0.9"),
    ]
    assert [(item["manifest"], item["to"]) for item in rehearsal["floors"]] == [
        ("pyproject.toml", "lib[x]>=0.2.0"),
        ("pyproject.toml", "lib>=0.2.0"),
        (CONFIGS, "lib>=0.2.0"),
    ]
    assert checked(pinctl, repo, "--all", "--head", LANDING).answer() == (0, [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lib[harbor]>=0.3.1.dev59", "lib[harbor]>=0.4.0"),
        ("lib [a,b] >= 0.3", "lib [a,b] >= 0.4.0"),
        ("lib[a]>=0.3,!=0.3.5 ; python_version>='3.11'", "lib[a]>=0.4.0,!=0.3.5 ; python_version>='3.11'"),
    ],
)
def test_b10_extras_do_not_hide_a_requirement_and_stay_as_they_are(
    tmp_path: Path, pinctl: Pinctl, text: str, expected: str
) -> None:
    found = _raised(UvRig(top=tmp_path), pinctl, "lib", text)
    assert found == [expected]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["lib>=0.3.1", "other>=1", "lib>=0.1"], ["lib>=0.4.0", "other>=1", "lib>=0.4.0"]),
        (
            ["lib>=0.3 ; os_name == 'nt'", "lib>=0.2 ; os_name != 'nt'"],
            ["lib>=0.4.0 ; os_name == 'nt'", "lib>=0.4.0 ; os_name != 'nt'"],
        ),
        (["lib>=0.3", "lib>=0.4.0"], ["lib>=0.4.0", "lib>=0.4.0"]),
        (
            ["lib @ https://h/lib-0.1.tar.gz", "lib>=0.1", "lib"],
            ["lib @ https://h/lib-0.1.tar.gz", "lib>=0.4.0", "lib"],
        ),
    ],
)
def test_b11_of_several_requirements_every_one_that_is_too_low_rises_and_none_goes(
    tmp_path: Path, pinctl: Pinctl, texts: list[str], expected: list[str]
) -> None:
    assert _raised(UvRig(top=tmp_path), pinctl, "lib", *texts) == expected


@pytest.mark.parametrize("name", ["flash-attn-3", "Flash_Attn.3", "FLASH--ATTN_3"])
@pytest.mark.parametrize("written", ["Flash_Attn.3>=0.1", "flash-attn-3 >= 0.1"])
def test_b13_names_are_compared_normalised_and_keep_their_spelling(
    tmp_path: Path, pinctl: Pinctl, name: str, written: str
) -> None:
    found = _raised(UvRig(top=tmp_path), pinctl, name, written, "flash-attn>=0.1", "flash-attn-30>=0.1")
    assert found == [written.replace("0.1", "0.4.0"), "flash-attn>=0.1", "flash-attn-30>=0.1"]


def _raised(rig: UvRig, pinctl: Pinctl, distribution: str, *requires: str) -> list[str]:
    """Bumps a component to 0.4.0, and returns what the requirements of a manifest are then."""
    lib = rig.library("lib", "0.1.0", "0.4.0")
    more = {"lib": f'distribution = "{distribution}"\nfloor = "release"'}
    lines = "".join(f'    "{text}",\n' for text in requires)
    manifest = f'[project]\nname = "super"\nversion = "0"\ndependencies = [\n{lines}]\n'
    files: dict[str, str | bytes | None] = {"pyproject.toml": manifest, "pins.toml": rig.pins_toml("lib", more=more)}
    repo = rig.superproject({"lib": lib.oid("v0.1.0")}, files=files)
    answered(pinctl, repo, "bump", "lib")
    lines_after = text_of(repo, LANDING).splitlines()
    return [line.strip(' ",') for line in lines_after if line.startswith("    ")]


BUILD = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'


@pytest.mark.parametrize(
    ("fields", "more", "warned"),
    [
        ("", BUILD, True),
        ("", "", False),
        ("", f"{BUILD}\n[tool.uv]\npackage = false\n", False),
        ('classifiers = ["Private :: Do Not Upload"]\n', BUILD, False),
    ],
)
def test_b14_a_development_floor_is_warned_of_where_the_package_may_be_published(
    tmp_path: Path,
    pinctl: Pinctl,
    fields: str,
    more: str,
    warned: bool,  # noqa: FBT001
) -> None:
    rig = UvRig(top=tmp_path)
    lib = rig.library("lib", "0.1.0", "0.2.0.dev3")
    manifest = f'[project]\nname = "super"\nversion = "0"\ndependencies = ["lib>=0.1.0"]\n{fields}{more}'
    pins_toml = rig.pins_toml("lib", more={"lib": 'distribution = "lib"\nfloor = "at-pin"'})
    files: dict[str, str | bytes | None] = {"pyproject.toml": manifest, "pins.toml": pins_toml}
    repo = rig.superproject({"lib": lib.oid("v0.1.0")}, files=files)

    answered(pinctl, repo, "bump", "lib")

    assert "lib>=0.2.0.dev3" in text_of(repo, LANDING)
    found = checked(pinctl, repo, "--base", "main", "--head", LANDING)
    assert found.answer() == (0, [("~FLR004", "pyproject.toml")] if warned else [])
