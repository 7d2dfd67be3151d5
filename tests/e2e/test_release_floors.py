"""Lands release-floors: floors at releases, a pin that is past its own, and an environment that has to stay out."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from support import Pinctl
from support.floors_stack import ALE_CLI, PLAN, FloorsStack, floors_stack
from support.rig import Repo, checked
from support.snapshot import unchanged
from support.stack import CONFIGS_MANIFEST, ROOT_MANIFEST, replaced
from support.uv_rig import answered, changed, refusals, text_of

NAME = "release-floors"
LANDING = f"landing/{NAME}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> FloorsStack:
    return floors_stack(tmp_path_factory.mktemp("floors"))


@pytest.fixture
def stack(built: FloorsStack, tmp_path: Path) -> FloorsStack:
    """The stack with a checkout of the test's own; nothing changes its remotes."""
    shutil.copytree(built.superproject.directory, tmp_path / "super")
    return replace(built, superproject=Repo(directory=tmp_path / "super"))


def test_the_new_environment_is_named_with_its_conflict_and_the_line_that_leaves_it_out(
    stack: FloorsStack, pinctl: Pinctl
) -> None:
    with unchanged(stack.superproject.directory):
        (found,) = refusals(pinctl, stack.superproject, "land", NAME)

    assert (found["kind"], found["message"]) == ("lock", "uv finds no lock for prime-rl with the new pins")
    assert found["hint"] == "Run it with --exclude-conflicting to leave that member out in the same commit."
    before, after = (oid[:7] for oid in stack.environments)
    assert found["details"][-4:] == [
        f"prime-envs {before} -> {after} brings numpy>=2.4.4 (environments/office/ale_cli/pyproject.toml)",
        f"{ALE_CLI} is new in the workspace at the new pin of prime-envs",
        f"{ALE_CLI} requires numpy>=2.4.4",
        f'there is a lock without it: [tool.uv.workspace] exclude = [..., "{ALE_CLI}"]',
    ]
    assert "vllm depend on numpy<2.4" in "\n".join(found["details"])


def test_it_lands_without_that_environment_and_no_third_party_version_moves(stack: FloorsStack, pinctl: Pinctl) -> None:
    repo = stack.superproject
    rehearsed = answered(pinctl, repo, "plan", NAME, "--exclude-conflicting")
    landing = answered(pinctl, repo, "land", NAME, "--exclude-conflicting")

    assert rehearsed["excluded"] == [ALE_CLI]
    assert rehearsed["lock"] == {
        "first_party": ["renderers 0.1.13.dev1 -> 0.1.13.dev2"],
        "third_party": [],
        "format_only": False,
    }

    assert [(pin["component"], pin["to"]) for pin in landing["pins"]] == [
        ("renderers", stack.renderers[1]),
        ("prime-envs", stack.environments[1]),
    ]
    assert repo.oid(f"{LANDING}:deps/verifiers") == stack.verifiers
    assert changed(repo, "main", LANDING) == [
        "deps/prime-envs",
        "deps/renderers",
        "docs/floors.md",
        CONFIGS_MANIFEST,
        "pins.toml",
        ROOT_MANIFEST,
        "uv.lock",
    ]
    # The floors of both manifests, of which the branch had only one; extras stay.
    assert text_of(repo, LANDING, ROOT_MANIFEST) == replaced(
        text_of(repo, "main", ROOT_MANIFEST),
        ("verifiers[harbor]>=0.3.1.dev59", "verifiers[harbor]>=0.4.0"),
        ("renderers[multimodal]>=0.1.12.dev4", "renderers[multimodal]>=0.1.12"),
        ('/environments/*/*"]\n', f'/environments/*/*"]\nexclude = ["{ALE_CLI}"]\n'),
    )
    assert '"verifiers>=0.4.0"' in text_of(repo, LANDING, CONFIGS_MANIFEST)
    # Only the pin protects from the releases that the floors admit: a warning, of the manifests' three floors.
    rules = checked(pinctl, repo, "--base", "main", "--head", LANDING).answer()
    assert rules == (0, [("~FLR003", ROOT_MANIFEST), ("~FLR003", ROOT_MANIFEST), ("~FLR003", CONFIGS_MANIFEST)])


def test_a_third_party_version_that_would_move_is_named_and_refused(stack: FloorsStack, pinctl: Pinctl) -> None:
    plan = stack.superproject.directory / PLAN
    plan.write_text(replaced(plan.read_text(), (stack.renderers[1][:7], stack.renderers[2][:7])))

    with unchanged(stack.superproject.directory):
        (found,) = refusals(pinctl, stack.superproject, "land", NAME, "--exclude-conflicting")

    assert (found["kind"], found["details"]) == ("third-party", ["pillow 12.0.0 -> 12.1.0"])


def test_the_newest_release_of_verifiers_is_refused_as_it_loses_a_required_change(
    stack: FloorsStack, pinctl: Pinctl
) -> None:
    verifiers = stack.rig.components["verifiers"]
    tag = verifiers.oid("v0.4.0")
    (change,) = verifiers.git("log", "--format=%H", "--grep=#2778", "main").splitlines()

    with unchanged(stack.superproject.directory):
        found = refusals(pinctl, stack.superproject, "bump", "--release", "verifiers")

    assert [item["message"] for item in found] == [
        f"PIN002 deps/verifiers: the pin moved back by 12, from {stack.verifiers[:7]} to {tag[:7]}",
        f"PIN004 deps/verifiers: {tag[:7]} lacks verifiers#2778 ({change[:7]}), which plan {NAME} requires",
    ]
