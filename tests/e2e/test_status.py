"""Asks for the status of the embedded superproject, in good order and in bad."""

import json
from pathlib import Path
from typing import Any

from support import Demo, Git, Pinctl
from support.clones import bare_of_submodules
from support.snapshot import unchanged
from support.stack import ROOT_MANIFEST, SERVER_BRANCH, by_subject, commit, replaced, text_at


def test_each_pin_has_a_line(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    head, renderers, verifiers = (
        git(demo.superproject, "rev-parse", "--short=7", name)
        for name in ("main", "main:deps/renderers", "main:deps/verifiers")
    )
    with unchanged(demo.superproject):
        result = pinctl("status", cwd=demo.superproject)

    floors = ("renderers[multimodal] >= 0.1.11, renderers>=0.1.11", "verifiers[harbor]>=0.3.0, verifiers>=0.3.0")
    assert (result.status, result.stderr) == (0, "")
    assert [line.rstrip() for line in result.stdout.splitlines()] == [
        f"prime-rl {head} on main",
        "",
        "component  pin             commit   version              release  standing           floors",
        f"renderers  deps/renderers  {renderers}  0.1.12               0.1.12   on main, 2 behind  {floors[0]}",
        f"verifiers  deps/verifiers  {verifiers}  0.4.1.dev2+g{verifiers}  0.4.0    on main, 3 behind  {floors[1]}",
    ]


def test_the_values_say_the_same(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    pins = _pins(pinctl, demo.superproject)

    renderers, verifiers = (git(demo.superproject, "rev-parse", f"main:deps/{name}") for name in pins)
    assert {name: (pin["commit"], pin["version"], pin["released"], pin["behind"]) for name, pin in pins.items()} == {
        "renderers": (renderers, "0.1.12", "0.1.12", 2),
        "verifiers": (verifiers, f"0.4.1.dev2+g{verifiers[:7]}", "0.4.0", 3),
    }
    assert all(pin["standing"] == "on branch" and pin["drift"] == pin["unknown"] == [] for pin in pins.values())
    assert pins["verifiers"]["floors"] == [
        {"manifest": "pyproject.toml", "line": 16, "requirement": "verifiers[harbor]>=0.3.0", "floor": "0.3.0"},
        {
            "manifest": "packages/prime-rl-configs/pyproject.toml",
            "line": 11,
            "requirement": "verifiers>=0.3.0",
            "floor": "0.3.0",
        },
    ]


def test_a_clone_without_submodules_gives_the_same_answers(demo: Demo, pinctl: Pinctl, tmp_path: Path) -> None:
    clone = bare_of_submodules(demo, tmp_path / "clone")

    with unchanged(clone):
        there = [pinctl("status", *options, cwd=clone) for options in ((), ("--format", "json"))]

    here = [pinctl("status", *options, cwd=demo.superproject) for options in ((), ("--format", "json"))]
    assert there == here
    assert here[0].status == 0


def test_pins_that_a_squash_has_orphaned_are_seen_with_their_twins(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    git(demo.superproject, "checkout", "--quiet", SERVER_BRANCH)
    twin = by_subject(demo.remote("verifiers"), "main", "Decode packed sampling masks (#2778)")

    pins = _pins(pinctl, demo.superproject)
    words = pinctl("status", cwd=demo.superproject)

    assert {pin["standing"] for pin in pins.values()} == {"squash twin"}
    assert pins["verifiers"]["drift"] == [f"not on main; its content is there as {twin[:7]}"]
    assert f"drift: verifiers: not on main; its content is there as {twin[:7]}" in words.stdout.splitlines()
    assert words.status == 0


def test_a_pin_that_moved_without_its_record_and_below_its_floor_is_seen(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    first = git(demo.remote("verifiers"), "rev-parse", "v0.3.0^{commit}")
    recorded = git(demo.superproject, "rev-parse", "main:deps/verifiers")
    manifest = replaced(text_at(demo.superproject, "main", ROOT_MANIFEST), (">=0.3.0", ">=0.4.0"))
    commit(
        demo.superproject,
        "main",
        "Move it back",
        gitlinks={"deps/verifiers": first},
        files={ROOT_MANIFEST: manifest},
    )

    pin = _pins(pinctl, demo.superproject)["verifiers"]

    assert (pin["commit"], pin["version"], pin["released"], pin["behind"]) == (first, "0.3.0", "0.3.0", 6)
    assert pin["drift"] == [
        f"pins.toml records {recorded[:12]}, the pin is {first[:7]}",
        "pyproject.toml:16 wants verifiers[harbor]>=0.4.0, above 0.3.0 at pin",
    ]


def test_a_remote_that_does_not_answer_leaves_the_other_pins_known(demo: Demo, pinctl: Pinctl) -> None:
    demo.remote("renderers").rename(demo.directory / "gone")

    with unchanged(demo.superproject):
        result = pinctl("status", "--format", "json", cwd=demo.superproject)
        words = pinctl("status", cwd=demo.superproject)

    assert (result.status, words.status, result.stderr, words.stderr) == (3, 3, "", "")
    pins = {pin["component"]: pin for pin in json.loads(result.stdout)["pins"]}
    assert (pins["renderers"]["standing"], pins["renderers"]["version"]) == ("unknown", None)
    (reason,) = pins["renderers"]["unknown"]
    assert reason.startswith(f"the remote {demo.remote('renderers')} does not answer: ")
    assert f"unknown: renderers: {reason}" in words.stdout.splitlines()
    assert (pins["verifiers"]["standing"], pins["verifiers"]["unknown"]) == ("on branch", [])


def test_a_pin_that_no_remote_has_is_unknown(demo: Demo, pinctl: Pinctl) -> None:
    commit(demo.superproject, "main", "Pin what nobody has", gitlinks={"deps/verifiers": "1" * 40})

    result = pinctl("status", "--format", "json", cwd=demo.superproject)

    assert (result.status, result.stderr) == (3, "")
    pins = {pin["component"]: pin for pin in json.loads(result.stdout)["pins"]}
    assert pins["verifiers"]["standing"] == "unknown"
    assert pins["verifiers"]["unknown"] != []
    assert pins["renderers"]["standing"] == "on branch"


def test_a_superproject_without_a_pins_toml_is_described_by_its_gitlinks(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    git(demo.superproject, "rm", "--quiet", "pins.toml")
    git(demo.superproject, "commit", "--quiet", "--message", "Remove it")

    result = pinctl("status", "--format", "json", cwd=demo.superproject)

    assert (result.status, result.stderr) == (0, "")
    status = json.loads(result.stdout)
    assert status["notes"] == ["no pins.toml: the gitlinks and .gitmodules stand for it"]
    assert [(pin["component"], pin["standing"], pin["behind"]) for pin in status["pins"]] == [
        ("renderers", "on branch", 2),
        ("verifiers", "on branch", 3),
    ]


def _pins(pinctl: Pinctl, directory: Path) -> dict[str, dict[str, Any]]:
    result = pinctl("status", "--format", "json", cwd=directory)
    assert (result.status, result.stderr) == (0, "")
    status = json.loads(result.stdout)
    assert status["superproject"] == "prime-rl"
    return {pin["component"]: pin for pin in status["pins"]}
