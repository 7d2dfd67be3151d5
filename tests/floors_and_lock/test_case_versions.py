"""Versions that are derived from tags: without the tags, before and after a tag, among series of tags."""

from pathlib import Path

import pytest

from support import Git, Pinctl
from support.rig import Repo, checked
from support.snapshot import unchanged
from support.uv_rig import HATCH, IN_TREE, UvRig, answered, pins_of, project, text_of

LANDING = "landing/bump-lib"
MEETING = """
import pathlib, time

def prepare_metadata_for_build_wheel(directory, config_settings=None):
    place = pathlib.Path({place!r})
    (place / {name!r}).touch()
    deadline = time.monotonic() + 20
    while not (place / {other!r}).exists():
        assert time.monotonic() < deadline, "the other one was not asked at the same time"
        time.sleep(0.01)
    info = pathlib.Path(directory, "{name}-1.dist-info")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.1\\n")
    return info.name
"""
"""A build backend that gives its version only while that of another component is asked as well."""
WORDS = '["git", "describe", "--dirty", "--tags", "--long", "--match", "{}", "--exclude", "*dev*"]'


def component(rig: UvRig, *tags: str, match: str = "v*", more: str = "") -> Repo:
    """Makes a component as verifiers is one: a commit for each of some tags, and one after them."""
    lib = rig.component("lib", commits=0)
    settings = f'raw-options = {{ git_describe_command = {WORDS.format(match)} }}\nfallback-version = "0.0.0"\n{more}'
    lib.commit(message="First", files={"pyproject.toml": project("lib", None, more=HATCH + settings)})
    for tag in tags:
        lib.git("tag", tag, lib.commit(message=f"For {tag}", files={"file": tag}))
    lib.commit(message="After", files={"file": "after"})
    return lib


def superproject(rig: UvRig, at: str, *, floor: str = "at-pin", requires: str = "lib>=0.0.1", more: str = "") -> Repo:
    pins_toml = rig.pins_toml("lib", more={"lib": f'distribution = "lib"\nfloor = "{floor}"\n{more}'})
    files: dict[str, str | bytes | None] = {
        "pyproject.toml": project("super", "0", requires=[requires]),
        "pins.toml": pins_toml,
    }
    return rig.superproject({"lib": rig.components["lib"].oid(at)}, files=files)


@pytest.mark.parametrize("tags", [[], ["renderers-v0.1.9"], ["v0.3.1.dev5"]])
def test_b5_a_version_that_would_be_a_fallback_is_unknown_and_no_floor(
    tmp_path: Path, pinctl: Pinctl, tags: list[str]
) -> None:
    rig = UvRig(top=tmp_path)
    lib = component(rig, *tags)
    repo = superproject(rig, "main~1")
    repo.commit("pr", "Bump", gitlinks={"deps/lib": lib.oid()}, parents=[repo.oid()])

    with unchanged(repo.directory):
        result = pinctl("bump", "lib", cwd=repo.directory)
    pins = pins_of(pinctl, repo, status=3)
    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    words = f"the version at {lib.oid()[:7]} is derived from tags, and its history has none"
    assert (result.status, result.stdout) == (3, "")
    assert result.stderr.startswith(f"error: {words}")
    assert pins["lib"]["version"] is None
    assert pins["lib"]["unknown"][0].startswith("the version at ")
    assert found.answer() == (3, [("?FLR001", "deps/lib")])
    assert found.messages[0].startswith(f"could not find out: {words}")


def test_b5_a_submodule_without_tags_or_history_makes_no_difference(tmp_path: Path, pinctl: Pinctl, git: Git) -> None:
    """Tags come from the remote, not from what somebody has checked out."""
    rig = UvRig(top=tmp_path)
    lib = component(rig, "v0.3.0")
    repo = superproject(rig, "main~1")
    git(repo.directory, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
    checkout = repo.directory / "deps/lib"
    git(checkout, "tag", "--delete", "v0.3.0")
    git(checkout, "fetch", "--quiet", "--depth=1", f"file://{lib.directory}", "main")
    (checkout / ".git").read_text()

    landing = answered(pinctl, repo, "bump", "lib")

    assert landing["pins"][0]["version"].startswith("0.3.1.dev1+g")
    assert "lib>=0.3.1.dev1" in text_of(repo, LANDING)


def test_b7_a_release_tag_changes_the_version_of_the_same_commit_and_its_floor_still_holds(
    tmp_path: Path, pinctl: Pinctl
) -> None:
    """prime-rl#3205: 0.2.2.dev112 became 0.3.0 without a commit."""
    rig = UvRig(top=tmp_path)
    lib = component(rig, "v0.2.1")
    repo = superproject(rig, "main", requires="lib>=0.2.2.dev1")
    before = pins_of(pinctl, repo)["lib"]
    lib.git("tag", "v0.3.0", lib.oid())

    after = pins_of(pinctl, repo)["lib"]

    assert (before["version"].partition("+")[0], before["released"]) == ("0.2.2.dev1", "0.2.1")
    assert (after["version"], after["released"]) == ("0.3.0", "0.3.0")
    assert (before["drift"], after["drift"]) == ([], [])
    assert checked(pinctl, repo, "--all").answer() == (0, [])


def test_b7_a_tag_that_goes_away_leaves_a_floor_above_its_pin(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    lib = component(rig, "v0.2.1")
    lib.git("tag", "v0.3.0", lib.oid())
    repo = superproject(rig, "main", requires="lib>=0.3.0")
    assert checked(pinctl, repo, "--all").answer() == (0, [])

    lib.git("tag", "--delete", "v0.3.0")

    assert checked(pinctl, repo, "--all").answer() == (1, [("FLR001", "pyproject.toml")])


@pytest.mark.parametrize(
    ("match", "pattern", "version", "floor"),
    [
        ("v*", 'tags = "v[0-9]*"\nexclude_tags = "*dev*"', "0.3.1.dev3", "0.3.0"),
        ("renderers-v*", 'tags = "renderers-v[0-9]*"', "0.1.10.dev1", "0.1.9"),
    ],
)
def test_b8_version_and_floor_come_from_the_components_own_series_of_tags(
    tmp_path: Path, pinctl: Pinctl, match: str, pattern: str, version: str, floor: str
) -> None:
    rig = UvRig(top=tmp_path)
    more = "tag-pattern = '^renderers-v(?P<version>.*)$'\n" if match.startswith("renderers") else ""
    component(rig, "v0.3.0", "v0.3.1.dev5", "renderers-v0.1.9", match=match, more=more)
    repo = superproject(rig, "main~1", floor="release", more=pattern)

    landing = answered(pinctl, repo, "bump", "lib")

    assert landing["pins"][0]["version"].partition("+")[0] == version
    assert f'"lib>={floor}"' in text_of(repo, LANDING)
    assert pins_of(pinctl, repo)["lib"]["released"] == floor


def test_b8_a_floor_of_a_series_that_is_above_the_version_is_refused(tmp_path: Path, pinctl: Pinctl) -> None:
    """The tags of pins.toml are those of another series than the project's own."""
    rig = UvRig(top=tmp_path)
    lib = component(rig, "v0.1.0", "other-v9.0.0")
    repo = superproject(rig, "main~1", floor="release", more='tags = "other-v[0-9]*"')

    with unchanged(repo.directory):
        result = pinctl("bump", "lib", cwd=repo.directory)

    assert result.status == 1
    assert result.stdout.startswith(
        f"refused: lib's floor would be 9.0.0, above its version at pin {lib.oid()[:7]}, 0.1.1.dev2+g"
    )
    assert "hint: Look at the tags of lib, or give it another floor policy in pins.toml.\n" in result.stdout


def test_what_the_environment_pretends_changes_neither_version_nor_floor(
    tmp_path: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = UvRig(top=tmp_path)
    component(rig, "v0.3.0")
    repo = superproject(rig, "main~1")
    monkeypatch.setenv("SETUPTOOLS_SCM_PRETEND_VERSION", "9.9.9")
    monkeypatch.setenv("SETUPTOOLS_SCM_PRETEND_VERSION_FOR_LIB", "9.9.9")

    result = pinctl("bump", "lib", cwd=repo.directory)

    assert result.status == 0
    assert '"lib>=0.3.1.dev1"' in text_of(repo, LANDING)


@pytest.mark.parametrize(
    "words", [["status"], ["check", "--all"], ["bump", "--plan", "lib", "mid"]], ids=lambda it: it[0]
)
def test_the_versions_of_two_components_are_asked_of_their_backends_at_the_same_time(
    tmp_path: Path, pinctl: Pinctl, words: list[str]
) -> None:
    rig = UvRig(top=tmp_path)
    place = tmp_path / "place"
    place.mkdir()
    for name, other in (("lib", "mid"), ("mid", "lib")):
        repo = rig.component(name, commits=0)
        backend = MEETING.format(place=str(place), name=name, other=other)
        files = {"pyproject.toml": project(name, None, more=IN_TREE), "_backend/pure_backend.py": backend}
        repo.git("tag", "v1.0", repo.commit(message="First", files=files))
        repo.commit(message="After", files={"file": "after"})
    pins = {name: rig.components[name].oid("main~1" if words[0] == "bump" else "main") for name in ("lib", "mid")}
    manifest = project("super", "0", requires=["lib>=1.0", "mid>=1.0"])
    pins_toml = rig.pins_toml("lib", "mid", more={name: f'distribution = "{name}"\n' for name in pins})
    superproject = rig.superproject(pins, files={"pyproject.toml": manifest, "pins.toml": pins_toml})

    result = pinctl(*words, cwd=superproject.directory)

    assert (result.status, result.stderr) == (0, "")
