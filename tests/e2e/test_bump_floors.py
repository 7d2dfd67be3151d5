"""Floors that follow a bump: in every place, by every policy, and never to where they cannot be met."""

from pathlib import Path

import pytest

from support import Pinctl
from support.rig import Repo, checked, plan_toml, shell
from support.snapshot import unchanged
from support.uv_rig import BACKEND, HATCH, IN_TREE, UvRig, answered, project, refusals, text_of

LANDING = "landing/bump-lib"
CONFIGS = "packages/configs/pyproject.toml"

EVERYWHERE = """\
[build-system]
requires = ["hatchling", "lib >= 0.1"]  # to build with

[project]
name = "super"
version = "0"
dependencies = [
    "lib[a, b]>=0.1",
    'Lib>=0.1.5 ; sys_platform == "linux"', # twice, for
    "LIB (>=0.0.9) ; sys_platform != 'linux'", # two markers
    "lib",
    "lib-tools>=0.1",
    "lib~=0.1.0",
    "lib>=0.2",
    "lib<1,>=0.1,!=0.1.7",
    "lib @ https://h/lib-0.1-py3-none-any.whl",
    "lib==0.1.0",
    "lib===0.1.0",
]

[project.optional-dependencies]
one = ["lib>=0.1"]

[dependency-groups]
dev = [{ include-group = "one" }, "lib>=0.1"]

[tool.uv]
override-dependencies = ["lib>=0.1"]
constraint-dependencies = ["lib>=0.1", "lib<2"]
build-constraint-dependencies = ["lib>=0.1.2"]
"""


def superproject(
    rig: UvRig, *requires: str, at: str = "v0.1.0", floor: str = "release", manifest: str | None = None, lib: str = ""
) -> Repo:
    """Makes a superproject without a lock whose root manifest requires what it is given."""
    pins_toml = rig.pins_toml("lib", more={"lib": f'distribution = "lib"\nfloor = "{floor}"\n{lib}'})
    text = rig.root("lib", requires=requires) if manifest is None else manifest
    files: dict[str, str | bytes | None] = {"pins.toml": pins_toml, "pyproject.toml": text}
    return rig.superproject({"lib": rig.components["lib"].oid(at)}, files=files)


def raised(pinctl: Pinctl, repo: Repo, *words: str) -> list[tuple[str, str]]:
    """Bumps lib, and returns what each raised requirement said and says."""
    floors = answered(pinctl, repo, "bump", *(words or ("lib",)), "--plan")["floors"]
    return [(floor["from"], floor["to"]) for floor in floors]


def test_every_floor_that_is_too_low_rises_wherever_it_stands_and_nothing_else_changes(
    tmp_path: Path, pinctl: Pinctl
) -> None:
    rig = UvRig(top=tmp_path)
    rig.library("lib", "0.1.0", "0.2.0")
    # The exact ones exclude the new version: that is the user's affair, who has a reason here.
    repo = superproject(rig, manifest=EVERYWHERE, lib='[components.lib.waive]\nFLR005 = "only for tests"\n')
    expected = EVERYWHERE
    for old, new in (
        ('"lib >= 0.1"', '"lib >= 0.2.0"'),
        ('"lib[a, b]>=0.1"', '"lib[a, b]>=0.2.0"'),
        ("'Lib>=0.1.5 ;", "'Lib>=0.2.0 ;"),
        ("(>=0.0.9)", "(>=0.2.0)"),
        ('"lib~=0.1.0"', '"lib~=0.2.0"'),
        ('"lib<1,>=0.1,!=0.1.7"', '"lib<1,>=0.2.0,!=0.1.7"'),
        ('one = ["lib>=0.1"]', 'one = ["lib>=0.2.0"]'),
        ('"one" }, "lib>=0.1"]', '"one" }, "lib>=0.2.0"]'),
        ('override-dependencies = ["lib>=0.1"]', 'override-dependencies = ["lib>=0.2.0"]'),
        ('\nconstraint-dependencies = ["lib>=0.1"', '\nconstraint-dependencies = ["lib>=0.2.0"'),
        ('["lib>=0.1.2"]', '["lib>=0.2.0"]'),
    ):
        assert expected.count(old) == 1
        expected = expected.replace(old, new)

    found = answered(pinctl, repo, "bump", "lib", "--plan")["floors"]
    answered(pinctl, repo, "bump", "lib")

    assert text_of(repo, LANDING) == expected
    assert len(found) == 11
    assert {floor["manifest"] for floor in found} == {"pyproject.toml"}
    lines = EVERYWHERE.splitlines()
    assert all(floor["from"] in lines[floor["line"] - 1] for floor in found)


@pytest.mark.parametrize(
    ("floor", "at", "expected"),
    [
        ("keep", "main", []),
        ("release", "main", [("lib>=0.1", "lib>=0.2.0")]),
        ("release", "v0.2.0", [("lib>=0.1", "lib>=0.2.0")]),
        ("release", "v0.1.5", [("lib>=0.1", "lib>=0.1.5")]),
        ("at-pin", "main", [("lib>=0.1", "lib>=0.3.0rc1")]),
        ("at-pin", "v0.2.0", [("lib>=0.1", "lib>=0.2.0")]),
        # Without a plan no change is required.
        ("required-change", "main", []),
    ],
)
def test_each_policy_has_its_floor(
    tmp_path: Path, pinctl: Pinctl, floor: str, at: str, expected: list[tuple[str, str]]
) -> None:
    rig = UvRig(top=tmp_path)
    lib = rig.library("lib", "0.1.0", "0.1.5", "0.2.0", "0.3.0rc1")
    lib.commit(message="Past the release", files={"notes": "x\n"})
    repo = superproject(rig, "lib>=0.1", floor=floor)

    assert raised(pinctl, repo, f"lib@{at}") == expected


@pytest.mark.parametrize(
    ("versions", "text", "expected"),
    [
        # Only the pre-releases there are.
        (["0.1.0.dev1", "0.2.0a1"], "lib>=0.1.0.dev1", "lib>=0.2.0a1"),
        (["0.1.0", "1!0.0.1"], "lib>=0.1.0", "lib>=1!0.0.1"),
        (["0.1.0", "0.1.0.post1"], "lib>=0.1.0", "lib>=0.1.0.post1"),
        # Higher already: never lowered, whatever the policy.
        (["0.1.0", "0.2.0"], "lib>=0.2.0", None),
        (["0.1.0", "0.2.0"], "lib>=0.2", None),
        (["0.1.0", "0.2.0"], "lib>=0.1.0,>=0.2", None),
        (["0.1.0", "0.2.0"], "lib~=0.1", "lib~=0.2"),
    ],
)
def test_versions_are_compared_as_packaging_does(
    tmp_path: Path, pinctl: Pinctl, versions: list[str], text: str, expected: str | None
) -> None:
    rig = UvRig(top=tmp_path)
    rig.library("lib", *versions)
    repo = superproject(rig, text, at=f"v{versions[0]}")

    assert raised(pinctl, repo) == ([(text, expected)] if expected else [])


def test_a_floor_at_the_pin_has_no_label_of_its_commit(tmp_path: Path, pinctl: Pinctl) -> None:
    """A version derived from tags ends in `+g1a2b3c`, which no floor can have."""
    rig = UvRig(top=tmp_path)
    lib = rig.component("lib", commits=0)
    lib.commit(files={"pyproject.toml": project("lib", None, more=HATCH)})
    lib.git("tag", "v0.1.0", lib.oid())
    lib.commit(message="More", files={"notes": "x\n"})
    repo = superproject(rig, "lib>=0.1", floor="at-pin")

    landing = answered(pinctl, repo, "bump", "lib")

    assert landing["pins"][0]["version"].startswith("0.1.1.dev1+g")
    assert '"lib>=0.1.1.dev1"' in text_of(repo, LANDING)
    assert checked(pinctl, repo, "--base", "main", "--head", LANDING).answer() == (0, [])


@pytest.mark.parametrize("text", ["lib>=0.1,<0.2", "lib>=0.1,<=0.1.9", "lib>=0.1,!=0.2.0", "lib>=0.1,==0.1.*"])
def test_a_floor_that_other_bounds_rule_out_is_refused(tmp_path: Path, pinctl: Pinctl, text: str) -> None:
    """Written, it would be a requirement that nothing meets; uv does not look at that of a path source."""
    rig = UvRig(top=tmp_path)
    rig.library("lib", "0.1.0", "0.2.0")
    repo = superproject(rig, "lib>=0.1", text)

    with unchanged(repo.directory):
        (found,) = refusals(pinctl, repo, "bump", "lib")

    assert found == {
        "kind": "floor",
        "message": "lib's floor would be 0.2.0, which other bounds rule out",
        "hint": "Let the bounds go, or give it another floor policy in pins.toml.",
        "details": [f"pyproject.toml:6 {text}"],
    }


@pytest.mark.parametrize("text", ["lib<0.2", "lib<=0.1.9", "lib==0.1.0", "lib==0.1.*", "lib===0.1.0", "lib!=0.2.0"])
def test_a_requirement_without_a_floor_gets_none(tmp_path: Path, pinctl: Pinctl, text: str) -> None:
    rig = UvRig(top=tmp_path)
    rig.library("lib", "0.1.0", "0.2.0")
    repo = superproject(rig, text)
    (found,) = refusals(pinctl, repo, "bump", "lib")
    waive = '[components.lib.waive]\nFLR005 = "only for tests"\n'
    repo.commit(message="Waive", files={"pins.toml": f"{text_of(repo, 'main', 'pins.toml')}\n{waive}"})

    assert found["message"].startswith(f"FLR005 pyproject.toml: {text} excludes 0.2.0, the version at pin ")
    assert raised(pinctl, repo) == []


def test_a_floor_that_would_be_above_its_pin_is_refused(tmp_path: Path, pinctl: Pinctl) -> None:
    """A tag says more than the project itself does."""
    rig = UvRig(top=tmp_path)
    lib = rig.library("lib", "0.1.0", "0.2.0")
    lib.git("tag", "v0.9.0", lib.oid())
    repo = superproject(rig, "lib>=0.1")

    with unchanged(repo.directory):
        (found,) = refusals(pinctl, repo, "bump", "lib")

    pin = lib.oid()[:7]
    assert found["message"] == f"lib's floor would be 0.9.0, above its version at pin {pin}, 0.2.0"


def test_b3_all_manifests_rise_together_and_those_that_are_not_named_stay(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    lib = rig.library("lib", "0.1.0", "0.2.0")
    head = f'manifests = ["pyproject.toml", "{CONFIGS}", "gone/pyproject.toml"]'
    pins_toml = rig.pins_toml("lib", more={"lib": 'distribution = "lib"\nfloor = "release"'}, head=head)
    manifest = project("super", "0", requires=["lib>=0.1"])
    files: dict[str, str | bytes | None] = {"pins.toml": pins_toml, "pyproject.toml": manifest}
    files |= {CONFIGS: project("configs", "0", requires=["lib>=0.0.5"]), "other/pyproject.toml": manifest}
    repo = rig.superproject({"lib": lib.oid("v0.1.0")}, files=files)
    before = checked(pinctl, repo, "--all")

    answered(pinctl, repo, "bump", "lib")

    assert before.answer() == (1, [("FLR002", CONFIGS)])
    assert [text_of(repo, LANDING, path).count("lib>=0.2.0") for path in ("pyproject.toml", CONFIGS)] == [1, 1]
    assert text_of(repo, LANDING, "other/pyproject.toml") == manifest
    assert checked(pinctl, repo, "--all", "--head", LANDING).answer() == (0, [])


PLAN = plan_toml(pull=7, branch="server")


def planned(
    rig: UvRig, *requires: str, floor: str = "required-change", released: bool = True, at: str = "v0.4.0"
) -> Repo:
    """Makes a superproject with a plan whose companion is merged after v0.4.0 and, maybe, released in v0.5.0."""
    lib = rig.library("lib", "0.3.0", "0.4.0")
    lib.commit(message="Read the new form (#7)", files={"reader": "x\n"})
    if released:
        rig.release(lib, "lib", "0.5.0")
        rig.release(lib, "lib", "0.6.0")
    repo = superproject(rig, *requires, at=at, floor=floor)
    repo.commit(message="Plan", files={"landing_plans/forms.toml": PLAN})
    repo.commit("server", "Send the new form", files={"server": "x\n"}, parents=[repo.oid("main")])
    return repo


def test_the_floor_of_a_required_change_is_the_oldest_release_that_has_it(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    repo = planned(rig, "lib>=0.3", at="v0.6.0")

    answered(pinctl, repo, "land", "forms")

    assert '"lib>=0.5.0"' in text_of(repo, "landing/forms")
    assert checked(pinctl, repo, "--base", "main", "--head", "landing/forms").answer() == (0, [])


def test_flr003_is_a_warning_while_no_release_has_the_change(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    repo = planned(rig, "lib>=0.3", released=False)

    answered(pinctl, repo, "land", "forms")

    found = checked(pinctl, repo, "--base", "main", "--head", "landing/forms")
    assert found.answer() == (0, [("~FLR003", "pyproject.toml")])
    assert found.messages == [
        "lib>=0.3 admits 0.3.0, which lacks lib#7 of plan forms; no release has it yet: only the pin protects"
    ]
    assert found.only["fix"] is None


def test_flr003_is_an_error_with_a_fix_once_a_release_has_the_change(tmp_path: Path, pinctl: Pinctl) -> None:
    """What a tag makes of the same commit of the superproject: nothing else has changed."""
    rig = UvRig(top=tmp_path)
    repo = planned(rig, "lib[x] >= 0.4", "lib~=0.4", "lib", floor="keep", at="main")
    lib = rig.components["lib"]
    for tag in ("v0.5.0", "v0.6.0"):
        lib.git("tag", "--delete", tag)
    answered(pinctl, repo, "land", "forms")
    repo.switch("landing/forms")
    before = checked(pinctl, repo, "--all")
    assert before.answer() == (0, [("~FLR003", "pyproject.toml"), ("~FLR003", "pyproject.toml")])

    lib.git("tag", "v0.5.0", lib.oid("main~1"))
    found = checked(pinctl, repo, "--all")

    assert found.answer() == (1, [("FLR003", "pyproject.toml"), ("FLR003", "pyproject.toml")])
    assert found.messages == [
        "lib[x] >= 0.4 admits 0.4.0, which lacks lib#7 of plan forms",
        "lib~=0.4 admits 0.4.0, which lacks lib#7 of plan forms",
    ]
    for finding in found.findings:
        shell(repo.directory, finding["fix"])
    repo.git("commit", "--quiet", "--all", "--message", "Fix it")
    assert checked(pinctl, repo, "--all").answer() == (0, [])
    assert '["lib[x] >= 0.5.0", "lib~=0.5", "lib"]' in text_of(repo, "HEAD")


@pytest.mark.parametrize(
    "text", ["lib>=0.5", "lib>=0.3,!=0.3.0,!=0.4.0", "lib>0.4.0,>=0.3", "lib>=0.3,==0.5.*", "lib>=0.5.0.dev1"]
)
def test_flr003_a_requirement_that_admits_no_release_without_the_change_is_sound(
    tmp_path: Path, pinctl: Pinctl, text: str
) -> None:
    rig = UvRig(top=tmp_path)
    repo = planned(rig, text, floor="keep", at="v0.5.0")

    answered(pinctl, repo, "land", "forms")

    assert checked(pinctl, repo, "--all", "--head", "landing/forms").answer() == (0, [])


def test_flr003_a_fix_is_never_a_requirement_that_nothing_meets(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    repo = planned(rig, "lib>=0.3,<0.5", floor="keep")

    answered(pinctl, repo, "land", "forms")

    found = checked(pinctl, repo, "--base", "main", "--head", "landing/forms")
    assert found.answer() == (1, [("FLR003", "pyproject.toml")])
    assert found.only["fix"] is None


def test_flr003_an_exact_requirement_on_a_release_without_the_change_is_unsound(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    repo = planned(rig, "lib==0.4.0", floor="keep")

    answered(pinctl, repo, "land", "forms")

    found = checked(pinctl, repo, "--base", "main", "--head", "landing/forms")
    assert ("FLR003", "pyproject.toml") in found.rules


def test_a_bump_of_a_component_whose_history_has_no_tags_stops_before_it_writes_a_fallback(
    tmp_path: Path, pinctl: Pinctl
) -> None:
    rig = UvRig(top=tmp_path)
    lib = rig.component("lib", commits=0)
    manifest = project("lib", None, more=IN_TREE)
    lib.commit(files={"pyproject.toml": manifest, "_backend/pure_backend.py": BACKEND})
    lib.commit(message="More", files={"notes": "x\n"})
    repo = superproject(rig, "lib>=0.0.1", floor="at-pin", at="main~1")

    with unchanged(repo.directory):
        result = pinctl("bump", "lib", cwd=repo.directory)

    assert (result.status, result.stdout) == (3, "")
    assert result.stderr == (f"error: the version at {lib.oid()[:7]} is derived from tags, and its history has none\n")
