"""Refuses landings for what is in the user's files, all of it at once. Everything stays as it was."""

import shutil
from pathlib import Path

import pytest

from support import Demo, Git, Pinctl
from support.snapshot import unchanged
from support.stack import CONFIGS_MANIFEST, ROOT_MANIFEST, replaced

OWNED = ("pins.toml", ROOT_MANIFEST, CONFIGS_MANIFEST, "uv.lock", ".gitmodules")


@pytest.mark.parametrize("how", ["edited", "staged", "removed"])
@pytest.mark.parametrize("path", OWNED)
def test_uncommitted_work_in_a_file_that_the_landing_writes(
    demo: Demo, pinctl: Pinctl, git: Git, path: str, how: str
) -> None:
    file = demo.superproject / path
    if how == "removed" and path == "pins.toml":
        git(demo.superproject, "rm", "--cached", "--quiet", path)
    elif how == "removed":
        file.unlink()
    else:
        file.write_text(file.read_text() + "\n# mine\n")
    if how == "staged":
        git(demo.superproject, "add", path)

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stderr) == (1, "")
    assert result.stdout == (
        "refused: files that the landing writes have uncommitted changes, which it would leave out\n"
        f"    {path}\n"
        "hint: Commit them, or put them away with git stash.\n"
        "Nothing was changed.\n"
    )


def test_all_such_files_are_named_at_once(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    for path in OWNED:
        (demo.superproject / path).write_text((demo.superproject / path).read_text() + "\n# mine\n")
    git(demo.superproject, "add", *OWNED[::2])

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stderr) == (1, "")
    assert result.stdout.splitlines()[1:-2] == [f"    {path}" for path in sorted(OWNED)]


def test_a_plan_whose_name_is_mistyped(demo: Demo, pinctl: Pinctl) -> None:
    with unchanged(demo.superproject):
        result = pinctl("land", "paked-generate", cwd=demo.superproject)

    assert (result.status, result.stdout) == (2, "")
    assert result.stderr == (
        "error: there is no landing plan 'paked-generate'; did you mean 'packed-generate'?\n"
        "hint: List the plans: pinctl plan\n"
    )


def test_a_plan_with_many_mistakes(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    path = demo.superproject / "landing_plans/packed-generate.toml"
    text = replaced(
        path.read_text(),
        ("pull = 174\n", 'pull = "174"\n'),
        ('component = "verifiers"\n', 'component = "verifier"\n'),
        ('after = ["renderers"]\n', 'after = ["server"]\n'),
        ('branch = "perf/packed-generate-gc"\n', 'brunch = "perf/packed-generate-gc"\n'),
        ('"greedy", "top-p"', '"gredy", "top-p"'),
        ("probes/verifiers_client.py", "probes/verifier_client.py"),
    )
    path.write_text(text)
    git(demo.superproject, "commit", "--quiet", "--all", "--message", "Edit the plan")

    def line(part: str) -> int:
        return text[: text.index(part)].count("\n") + 1

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stdout) == (2, "")
    missing = path.parent / "probes/verifier_client.py"
    assert result.stderr.splitlines() == [
        f"{path}:{line(place)}: {key}: {message}"
        for place, key, message in (
            ('pull = "174"', "changes[0].pull", "must be a whole number"),
            ('"verifier"', "changes[1].component", "'verifier' is no component; did you mean 'verifiers'?"),
            (
                '["server"]',
                "changes[1].after",
                "the changes wait for each other: verifiers after server after verifiers",
            ),
            ("brunch", "changes[2].brunch", "is no key of this table; did you mean 'branch'?"),
            (
                '"verifiers"]\n\n[contract]',
                "changes[2].pins[1]",
                "no change of this plan is in 'verifiers', so nothing says where its pin should move",
            ),
            ('"gredy"', "contract.cases[0]", "'gredy' is no case; did you mean 'greedy'?"),
            ("probes/verifier_", "contract.clients.verifiers.probe", f"there is no file {missing}"),
        )
    ]


def test_a_plan_that_is_not_toml(demo: Demo, pinctl: Pinctl) -> None:
    path = demo.superproject / "landing_plans/packed-generate.toml"
    path.write_text(path.read_text().replace('title = "', "title = "))

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stdout) == (2, "")
    assert result.stderr.startswith(f"{path}:5: ")


def test_a_pins_toml_with_many_mistakes(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    path = demo.superproject / "pins.toml"
    text = replaced(
        path.read_text(),
        ("[superproject]\n", "[superprojekt]\n"),
        ('tags = "v[0-9]*"\n', "tag = 1\n"),
        ('url = "../renderers.git"\n', 'url = ""\n'),
    )
    path.write_text(text)
    git(demo.superproject, "commit", "--quiet", "--all", "--message", "Edit the pins")

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stdout) == (2, "")
    lines = result.stderr.splitlines()
    assert all(line.startswith(f"{path}") for line in lines)
    assert [line for line in lines if "did you mean 'superproject'?" in line]
    assert [line for line in lines if ": components.renderers.url: must not be empty" in line]
    assert [line for line in lines if ": components.verifiers.tag: must be a string" in line]


@pytest.mark.parametrize("holds", ["nothing", "pins and plans"])
def test_a_directory_that_is_in_no_repository(demo: Demo, pinctl: Pinctl, tmp_path: Path, holds: str) -> None:
    directory = tmp_path / "elsewhere"
    directory.mkdir()
    if holds == "pins and plans":
        shutil.copy(demo.superproject / "pins.toml", directory)
        shutil.copytree(demo.superproject / "landing_plans", directory / "landing_plans")

    result = pinctl("land", "packed-generate", cwd=directory)

    assert (result.status, result.stdout) == (3, "")
    assert result.stderr == (
        f"error: {directory} is not inside a git repository\n"
        "hint: Run pinctl in the superproject, or name it with --superproject DIR.\n"
    )


def test_a_repository_without_a_pins_toml(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    git(demo.superproject, "rm", "--quiet", "pins.toml")
    git(demo.superproject, "commit", "--quiet", "--message", "Remove it")

    with unchanged(demo.superproject):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stdout) == (2, "")
    assert result.stderr == (
        f"error: there is no pins.toml in {demo.superproject} or above it\nhint: Name one with --pins FILE.\n"
    )
