"""New pins for which there is no lock, in uv's words and in ours, and with what was left out."""

from pathlib import Path

import pytest

from support import Pinctl
from support.rig import Repo, checked
from support.snapshot import unchanged
from support.uv_rig import UvRig, answered, changed, project, refusals, text_of

LANDING = "landing/bump-envs"
ENVS = "deps/envs/environments"
FIX = "Run it with --exclude-conflicting to leave that member out in the same commit."
PLAN = """\
version = 1
title = "Take the new environments"

[[changes]]
id = "envs"
component = "envs"
commit = "{commit}"

[[changes]]
id = "use"
component = "super"
branch = "use"
after = ["envs"]
pins = ["envs"]
"""


def capped(rig: UvRig) -> tuple[Repo, Repo]:
    """Makes a superproject that needs numpy 2, and a component whose new version does not take it."""
    rig.third_party("numpy", "1.26", "2.0")
    rig.third_party("numpy-quaternion", "1.0")
    lib = rig.library("lib", "0.1.0", requires=["numpy>=1"])
    rig.release(lib, "lib", "0.2.0", requires=["numpy<2", "numpy-quaternion", "numpy>=1"])
    lib.commit(message="More", files={"tests/pyproject.toml": project("tests", requires=["numpy==1.26"])})
    repo = rig.locked(
        {"lib": lib.oid("v0.1.0")},
        manifest=rig.root("lib", requires=["lib", "numpy>=2"]),
        pins_toml=rig.declared("lib"),
    )
    return repo, lib


def test_b17_a_cap_that_a_new_pin_brings_is_named_and_nothing_is_changed(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = capped(UvRig(top=tmp_path))

    with unchanged(repo.directory):
        (found,) = refusals(pinctl, repo, "bump", "lib")

    move = f"lib {lib.oid('v0.1.0')[:7]} -> {lib.oid()[:7]} brings"
    assert (found["kind"], found["message"]) == ("lock", "uv finds no lock for super with the new pins")
    assert (
        found["hint"] == "Mend the requirements on the branch that is to land, or in the component that brought them."
    )
    assert found["details"][0] == "error: No solution found when resolving dependencies"
    assert "lib==0.2.0 depends on numpy<2" in "\n".join(found["details"])
    # What it had before is not news, and a name that only begins like one that uv speaks of is another name.
    assert [line for line in found["details"] if line.startswith("lib ")] == [
        f"{move} numpy<2 (pyproject.toml)",
        f"{move} numpy==1.26 (tests/pyproject.toml)",
    ]


def test_b17_leaving_members_out_is_no_way_where_none_is_new(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, _ = capped(UvRig(top=tmp_path))

    with unchanged(repo.directory):
        with_it = refusals(pinctl, repo, "bump", "lib", "--exclude-conflicting")
        without = refusals(pinctl, repo, "bump", "lib")

    assert with_it == without


def test_b17_the_text_says_both(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = capped(UvRig(top=tmp_path))

    result = pinctl("bump", "lib@v0.2.0", cwd=repo.directory)

    assert (result.status, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    assert lines[:2] == [
        "refused: uv finds no lock for super with the new pins",
        "    error: No solution found when resolving dependencies",
    ]
    assert lines[-3:] == [
        f"    lib {lib.oid('v0.1.0')[:7]} -> {lib.oid('v0.2.0')[:7]} brings numpy<2 (pyproject.toml)",
        "hint: Mend the requirements on the branch that is to land, or in the component that brought them.",
        "Nothing was changed.",
    ]


def workspace(
    rig: UvRig, new: dict[str, str | bytes | None], *, exclude: str = "", more: str = ""
) -> tuple[Repo, Repo]:
    """Makes a superproject whose workspace takes every environment of a component, and a commit with new ones."""
    rig.third_party("numpy", "1.26", "2.0")
    envs = rig.component("envs", commits=0)
    envs.commit(message="First", files={"environments/alpha/pyproject.toml": project("alpha"), "README": "x\n"})
    envs.commit(message="Second", files=new)
    table = f'[tool.uv.workspace]\nmembers = ["{ENVS}/*"]  # all\n{exclude}{more}'
    manifest = rig.root("envs", requires=["numpy>=2"], more=table, sources="")
    pins_toml = rig.declared("envs", distribution=False)
    return rig.locked({"envs": envs.oid("main~1")}, manifest=manifest, pins_toml=pins_toml), envs


ALE = {"environments/ale_cli/pyproject.toml": project("ale-cli", requires=["numpy<2"])}
FINE = {"environments/fine/pyproject.toml": project("fine", requires=["numpy"])}


def test_b18_a_new_member_with_a_conflict_is_named_with_the_line_that_leaves_it_out(
    tmp_path: Path, pinctl: Pinctl
) -> None:
    """prime-rl#4056: environments/office/ale_cli of prime-envs."""
    repo, envs = workspace(UvRig(top=tmp_path), {**ALE, **FINE})

    with unchanged(repo.directory):
        (found,) = refusals(pinctl, repo, "bump", "envs")

    move = f"envs {envs.oid('main~1')[:7]} -> {envs.oid()[:7]}"
    assert found["hint"] == FIX
    assert found["details"][0] == "error: No solution found when resolving dependencies"
    assert [line for line in found["details"] if line.startswith(("envs ", ENVS, "there "))] == [
        f"{move} brings numpy<2 (environments/ale_cli/pyproject.toml)",
        f"{move} brings numpy (environments/fine/pyproject.toml)",
        f"{ENVS}/ale_cli is new in the workspace at the new pin of envs",
        f"{ENVS}/ale_cli requires numpy<2",
        f"{ENVS}/fine is new in the workspace at the new pin of envs",
        f"{ENVS}/fine requires numpy",
        f'there is a lock without it: [tool.uv.workspace] exclude = [..., "{ENVS}/ale_cli"]',
    ]


@pytest.mark.parametrize(
    ("exclude", "expected"),
    [
        ("", f'members = ["{ENVS}/*"]  # all\nexclude = ["{ENVS}/ale_cli"]\n'),
        (
            'exclude = ["deps/envs/gone"]  # long since\n',
            f'members = ["{ENVS}/*"]  # all\nexclude = ["deps/envs/gone", "{ENVS}/ale_cli"]  # long since\n',
        ),
    ],
)
def test_b18_on_request_it_is_left_out_in_the_same_commit(
    tmp_path: Path, pinctl: Pinctl, exclude: str, expected: str
) -> None:
    repo, envs = workspace(UvRig(top=tmp_path), {**ALE, **FINE}, exclude=exclude)

    rehearsal = answered(pinctl, repo, "bump", "envs", "--exclude-conflicting", "--plan")
    answered(pinctl, repo, "bump", "envs", "--exclude-conflicting")

    assert rehearsal["excluded"] == [f"{ENVS}/ale_cli"]
    assert changed(repo, "main", LANDING) == ["deps/envs", "pins.toml", "pyproject.toml", "uv.lock"]
    before = text_of(repo, "main")
    assert text_of(repo, LANDING) == before.replace(f'members = ["{ENVS}/*"]  # all\n{exclude}', expected)
    assert repo.oid(f"{LANDING}:deps/envs") == envs.oid()
    assert '"fine",' in text_of(repo, LANDING, "uv.lock")
    message = repo.git("log", "-1", "--format=%B", LANDING)
    assert f"Left out of the workspace, for uv finds no solution with it:\n- {ENVS}/ale_cli\n" in message
    assert checked(pinctl, repo, "--base", "main", "--head", LANDING).answer() == (0, [])


def test_b18_a_landing_does_the_same(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, envs = workspace(UvRig(top=tmp_path), {**ALE, **FINE})
    repo.commit(message="Plan", files={"landing_plans/envs.toml": PLAN.format(commit=envs.oid())})
    repo.commit("use", "Use them", files={"code.py": "x\n"}, parents=[repo.oid()])

    with unchanged(repo.directory):
        (found,) = refusals(pinctl, repo, "land", "envs")
    answered(pinctl, repo, "land", "envs", "--exclude-conflicting")

    assert found["hint"] == FIX
    assert changed(repo, "main", "landing/envs") == ["code.py", "deps/envs", "pins.toml", "pyproject.toml", "uv.lock"]
    assert f'exclude = ["{ENVS}/ale_cli"]' in text_of(repo, "landing/envs")
    assert checked(pinctl, repo, "--base", "main", "--head", "landing/envs").answer() == (0, [])


def test_b18_of_several_new_members_only_those_that_must_be_are_left_out(tmp_path: Path, pinctl: Pinctl) -> None:
    bad = {"environments/bad/pyproject.toml": project("bad", requires=["numpy<1.20"])}
    repo, _ = workspace(UvRig(top=tmp_path), {**ALE, **FINE, **bad})

    rehearsal = answered(pinctl, repo, "bump", "envs", "--exclude-conflicting", "--plan")

    assert rehearsal["excluded"] == [f"{ENVS}/ale_cli", f"{ENVS}/bad"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("again", project("alpha"), "Two workspace members are both named `alpha`"),
        ("broken", "x =\n", "Failed to parse: deps/envs/environments/broken/pyproject.toml"),
        ("notes", None, "Workspace member `./deps/envs/environments/notes` is missing a `pyproject.toml`"),
    ],
)
def test_b18_a_directory_that_breaks_the_workspace_by_joining_it_is_a_no_as_well(
    tmp_path: Path, pinctl: Pinctl, name: str, text: str | None, words: str
) -> None:
    path = f"environments/{name}/" + ("README" if text is None else "pyproject.toml")
    repo, _ = workspace(UvRig(top=tmp_path), {path: text or "x\n", **FINE})

    with unchanged(repo.directory):
        (found,) = refusals(pinctl, repo, "bump", "envs")
    rehearsal = answered(pinctl, repo, "bump", "envs", "--exclude-conflicting", "--plan")

    assert found["details"][0].startswith(f"error: {words}")
    assert f"{ENVS}/{name} is new in the workspace at the new pin of envs" in found["details"]
    assert rehearsal["excluded"] == [f"{ENVS}/{name}"]


def test_b18_one_package_in_two_submodules_is_the_newcomers_fault(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    other = rig.component("other", commits=0)
    other.commit(files={"extra/pyproject.toml": project("extra")})
    envs = rig.component("envs", commits=0)
    envs.commit(files={"environments/alpha/pyproject.toml": project("alpha")})
    envs.commit(files={"environments/extra/pyproject.toml": project("Extra")})
    table = f'[tool.uv.workspace]\nmembers = ["deps/other/*", "{ENVS}/*"]\n'
    repo = rig.locked(
        {"envs": envs.oid("main~1"), "other": other.oid()},
        manifest=rig.root(more=table, sources=""),
        pins_toml=rig.declared("envs", "other", distribution=False),
    )

    (found,) = refusals(pinctl, repo, "bump", "envs")

    assert f"{ENVS}/extra is new in the workspace at the new pin of envs" in found["details"]
    assert found["details"][-1] == f'there is a lock without it: [tool.uv.workspace] exclude = [..., "{ENVS}/extra"]'


def test_b18_a_new_directory_that_is_left_out_already_is_no_member(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, _ = workspace(UvRig(top=tmp_path), {**ALE}, exclude=f'exclude = ["{ENVS}/ale*"]\n')

    landing = answered(pinctl, repo, "bump", "envs")

    assert landing["already_landed"] is False
    assert changed(repo, "main", LANDING) == ["deps/envs", "pins.toml"]


def test_b18_a_conflict_that_the_new_members_have_no_part_in_is_not_blamed_on_them(
    tmp_path: Path, pinctl: Pinctl
) -> None:
    changed_too = {"environments/alpha/pyproject.toml": project("alpha", requires=["numpy<2"])}
    repo, _ = workspace(UvRig(top=tmp_path), {**FINE, **changed_too})

    (found,) = refusals(pinctl, repo, "bump", "envs", "--exclude-conflicting")

    assert f"{ENVS}/fine is new in the workspace at the new pin of envs" in found["details"]
    assert not any("there is a lock without it" in line for line in found["details"])
    assert found["hint"].startswith("Mend the requirements")
