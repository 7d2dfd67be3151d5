"""FLR003 by running: the releases that floors admit, as an index has them, against the server of a landed plan."""

import subprocess
from pathlib import Path

import pytest
import uv

from support import Demo, Git, Pinctl
from support.git import run
from support.rig import Checked, Repo, checked
from support.stack import CONFIGS_MANIFEST, LANDING, RENDERERS_SQUASH, ROOT_MANIFEST, by_subject

BASE = ("--base", "main", "--head", LANDING)


@pytest.fixture
def index(tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A flat index of wheels, with nothing in it yet, and a cache that knows no release of any other."""
    assert not own_cache.exists()
    (tmp_path / "index").mkdir()
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "index"))
    return tmp_path / "index"


@pytest.fixture
def landed(demo: Demo, pinctl: Pinctl, index: Path) -> Repo:
    """The embedded stack with its plan landed."""
    assert index.is_dir()
    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0
    return Repo(directory=demo.superproject)


def publish(demo: Demo, index: Path, name: str, revision: str, *, version: str | None = None) -> None:
    """Builds a wheel of a component at a revision, and puts it into the index; maybe under another version."""
    source = index.parent / f"{name}-{version or revision}"
    run(index, "clone", "--quiet", str(demo.remote(name)), str(source))
    run(source, "checkout", "--quiet", "--detach", revision)
    if version is not None:
        manifest = source / "pyproject.toml"
        lines = manifest.read_text().splitlines(keepends=True)
        manifest.write_text(
            "".join(f'version = "{version}"\n' if line.startswith("version = ") else line for line in lines)
        )
    build = [uv.find_uv_bin(), "build", "--quiet", "--wheel", "--out-dir", str(index), str(source)]
    subprocess.run(build, check=True, capture_output=True)


def judged(pinctl: Pinctl, repo: Repo) -> tuple[Checked, Checked]:
    """Checks the landing by its tags, and by running releases."""
    return checked(pinctl, repo, *BASE), checked(pinctl, repo, *BASE, "--run-releases")


def test_releases_that_the_server_breaks_are_shown_by_what_they_do(
    demo: Demo, pinctl: Pinctl, index: Path, landed: Repo
) -> None:
    publish(demo, index, "renderers", "renderers-v0.1.12")
    publish(demo, index, "verifiers", "v0.4.0")

    by_tags, by_run = judged(pinctl, landed)

    places = [ROOT_MANIFEST, CONFIGS_MANIFEST] * 2
    assert by_tags.answer() == by_run.answer() == (0, [("~FLR003", place) for place in places])
    assert "lacks renderers#174 of plan packed-generate" in by_tags.messages[0]
    assert by_run.messages[0] == (
        "renderers[multimodal] >= 0.1.12 admits 0.1.12, which rejects what the server sends (plan packed-generate): "
        "greedy: logprobs: MalformedGenerateResponseError: Engine response choice.logprobs must be an object.; "
        "no release has it yet: only the pin protects"
    )
    assert by_run.messages[2].startswith(
        "verifiers[harbor]>=0.4.0 admits 0.4.0, which rejects what the server sends (plan packed-generate): "
        "top-p: sampling_mask: ValueError: "
    )


def test_a_release_that_does_what_it_should_is_sound_whatever_its_tag_lacks(
    demo: Demo, pinctl: Pinctl, index: Path, landed: Repo
) -> None:
    """As where a release was built from a branch that has the change as another commit."""
    publish(demo, index, "renderers", "main", version="0.1.12")
    publish(demo, index, "verifiers", "v0.4.0")

    by_tags, by_run = judged(pinctl, landed)

    assert {item["component"] for item in by_tags.findings} == {"renderers", "verifiers"}
    assert {item["component"] for item in by_run.findings} == {"verifiers"}


def test_a_release_that_rejects_is_broken_whatever_its_tag_holds_and_the_fix_goes_past_it(
    demo: Demo, pinctl: Pinctl, git: Git, index: Path, landed: Repo
) -> None:
    """As where a release was built from another commit than its tag names."""
    squash = by_subject(demo.remote("renderers"), "main", RENDERERS_SQUASH)
    git(demo.remote("renderers"), "tag", "--force", "renderers-v0.1.12", squash)
    git(demo.remote("renderers"), "tag", "renderers-v0.1.13", "main")
    publish(demo, index, "renderers", f"{squash}~1", version="0.1.12")
    publish(demo, index, "verifiers", "v0.4.0")

    by_tags, by_run = judged(pinctl, landed)

    assert "renderers" not in {item["component"] for item in by_tags.findings}
    found = [item for item in by_run.findings if item["component"] == "renderers"]
    assert [(item["rule"], item["path"], item["level"]) for item in found] == [
        ("FLR003", ROOT_MANIFEST, "error"),
        ("FLR003", CONFIGS_MANIFEST, "error"),
    ]
    assert all("rejects what the server sends" in item["message"] for item in found)
    assert all("0.1.13" in item["fix"] for item in found)
    assert by_run.status == 1


def test_a_release_that_cannot_be_installed_is_unknown(demo: Demo, pinctl: Pinctl, index: Path, landed: Repo) -> None:
    publish(demo, index, "verifiers", "v0.4.0")

    by_run = checked(pinctl, landed, *BASE, "--run-releases")
    (landed.directory / "landing_plans/probes/verifiers_client.py").unlink()
    without_probe = checked(pinctl, landed, *BASE, "--run-releases")

    assert without_probe.rules == [("?FLR003", "packed-generate.toml")]
    assert without_probe.messages[0].endswith(
        ": its probe verifiers_client.py does not lie here: check out the commit to run it"
    )
    places = [ROOT_MANIFEST, CONFIGS_MANIFEST]
    expected = [("?FLR003", place) for place in places] + [("~FLR003", place) for place in places]
    assert by_run.answer() == (3, expected)
    assert by_run.messages[0].startswith(
        "could not find out whether renderers==0.1.12, which renderers[multimodal] >= 0.1.12 admits, keeps the "
        "contract of plan packed-generate: the environment of renderers-0.1.12 cannot be made: "
    )
