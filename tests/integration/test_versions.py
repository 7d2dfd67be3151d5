"""Asks components which version they have at a commit: the one that is written, or the one that is derived."""

from pathlib import Path

import pytest
from packaging.version import Version

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import Oid
from pinctl.tools.git.mirror import Mirror
from pinctl.tools.git.repository import Repository
from pinctl.tools.python.versions import version_at
from support import Demo, Git
from support.rig import Repo

PROJECT = '[project]\nname = "lib"\n'
DYNAMIC = f'{PROJECT}dynamic = ["version"]\n'
HATCH_VCS = (
    '[build-system]\nrequires = ["hatchling", "hatch-vcs"]\nbuild-backend = "hatchling.build"\n'
    f'{DYNAMIC}[tool.hatch.version]\nsource = "vcs"\n'
)
IN_TREE = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["_backend"]\n'
BACKEND = """
import pathlib, subprocess
def prepare_metadata_for_build_wheel(directory, config_settings=None):
    info = pathlib.Path(directory, "lib-1.dist-info")
    info.mkdir()
    described = subprocess.run(["git", "describe", "--tags"], capture_output=True, text=True, check=True).stdout
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: lib\\nVersion: {VERSION}\\n")
    return info.name
"""


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """An empty component, and a cache of this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Repo.make(tmp_path / "lib.git", bare=True)


def version(repo: Repo, revision: str = "main") -> Version | None:
    return version_at(Repository.open(repo.directory), Oid(repo.oid(revision)))


def commit_manifest(repo: Repo, text: str | bytes | None, **more: str) -> str:
    return repo.commit(message="Manifest", files={"pyproject.toml": text, **more})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'{PROJECT}version = "0.3.0"\n', "0.3.0"),
        (f'{PROJECT}version = "1!2.0rc1.post2.dev3+local.1"\n', "1!2.0rc1.post2.dev3+local.1"),
        (f'{PROJECT}version = "v0.3"\n', "0.3"),
        (f'{PROJECT}version = "0.3.0"\ndynamic = []\n'.replace("\n", "\r\n"), "0.3.0"),
    ],
)
def test_a_version_that_is_written_is_read(repo: Repo, text: str, expected: str) -> None:
    commit_manifest(repo, text)
    assert version(repo) == Version(expected)


def test_a_version_is_that_of_the_commit(repo: Repo) -> None:
    commit_manifest(repo, f'{PROJECT}version = "0.3.0"\n')
    commit_manifest(repo, f'{PROJECT}version = "0.4.0"\n')
    assert (version(repo, "main~1"), version(repo)) == (Version("0.3.0"), Version("0.4.0"))


@pytest.mark.parametrize("text", [None, "", "[tool.ruff]\n", "[build-system]\nrequires = []\n", "project = 3\n"])
def test_what_is_no_python_project_has_no_version(repo: Repo, text: str | None) -> None:
    repo.commit(message="Readme", files={"README": "x\n"})
    commit_manifest(repo, text)
    assert version(repo) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[project\n", "cannot be read"),
        (b"[project]\nname = '\xff'\n", "cannot be read"),
        (f'{PROJECT}version = "not a version"\n', "is no version (PEP 440)"),
        (f'{PROJECT}version = ""\n', "is no version (PEP 440)"),
    ],
)
def test_a_manifest_that_cannot_be_understood_is_no_answer(repo: Repo, text: str | bytes, words: str) -> None:
    oid = commit_manifest(repo, text)
    with pytest.raises(CouldNotFindOutError) as caught:
        version(repo)
    assert words in caught.value.message
    assert oid[:7] in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        f"build-system = 1\n{DYNAMIC}",
        f'build-system = "hatchling"\n{DYNAMIC}',
        f"[build-system]\nrequires = 3\n{DYNAMIC}",
        f"[build-system]\nrequires = []\n{DYNAMIC}",
        f'[build-system]\nrequires = []\nbuild-backend = "gone"\n{DYNAMIC}',
        f'[build-system]\nrequires = ["pinctl-no-such-distribution"]\nbuild-backend = "gone"\n{DYNAMIC}',
        f"tool = 3\n[build-system]\nrequires = []\n{DYNAMIC}",
        f"[build-system]\nrequires = []\n{DYNAMIC}[tool]\nhatch = 3\n",
        f"[build-system]\nrequires = []\n{DYNAMIC}[tool.hatch]\nversion = 3\n",
        f"[build-system]\nrequires = []\n{PROJECT}version = 3\n",
    ],
)
def test_a_build_backend_that_cannot_be_asked_is_no_answer(
    repo: Repo, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    commit_manifest(repo, text)
    repo.git("tag", "v0.1.0")
    with pytest.raises(CouldNotFindOutError):
        version(repo)


def test_a_version_that_hatch_vcs_derives_is_that_of_the_tags(repo: Repo) -> None:
    commit_manifest(repo, HATCH_VCS)
    repo.git("tag", "-a", "-m", "x", "v0.3.0")
    assert version(repo) == Version("0.3.0")
    oid = repo.commit(message="More", files={"mit ü": "x\n"})
    found = version(repo)
    assert found is not None
    assert found.public == "0.3.1.dev1"
    assert found.local is not None
    assert oid.startswith(found.local.split(".")[0].removeprefix("g"))


def test_a_tag_that_lands_changes_the_version_of_the_same_commit(repo: Repo) -> None:
    commit_manifest(repo, HATCH_VCS)
    repo.git("tag", "v0.2.1")
    repo.commit(message="More")
    before = version(repo)
    repo.git("tag", "v0.3.0")
    assert (before.public if before else None, version(repo)) == ("0.2.2.dev1", Version("0.3.0"))


def test_the_project_s_own_tag_pattern_decides(repo: Repo) -> None:
    describe = 'git_describe_command = ["git", "describe", "--tags", "--long", "--match", "v*", "--exclude", "*dev*"]\n'
    commit_manifest(repo, f"{HATCH_VCS}[tool.hatch.version.raw-options]\n{describe}")
    repo.git("tag", "v0.3.0")
    repo.commit(message="More")
    repo.git("tag", "v0.9.0.dev5")
    repo.git("tag", "renderers-v8.0.0")
    found = version(repo)
    assert found is not None
    assert found.public == "0.3.1.dev1"


@pytest.mark.parametrize("tag", [None, "unrelated", "renderers-v1.0.0"])
def test_a_version_is_never_taken_from_a_fallback(repo: Repo, tag: str | None) -> None:
    raw = '[tool.hatch.version.raw-options]\nfallback_version = "0.0.0"\ntag_regex = "^v(?P<version>[0-9.]+)$"\n'
    raw += 'git_describe_command = ["git", "describe", "--tags", "--long", "--match", "v[0-9]*"]\n'
    commit_manifest(repo, f"{HATCH_VCS}{raw}")
    if tag is not None:
        repo.git("tag", tag)
    with pytest.raises(CouldNotFindOutError) as caught:
        version(repo)
    assert "derived from tags" in caught.value.message


def test_a_version_in_a_file_of_the_project_is_read_there(repo: Repo) -> None:
    text = HATCH_VCS.replace('source = "vcs"', 'path = "lib/__init__.py"')
    commit_manifest(repo, text, **{"lib/__init__.py": '__version__ = "0.7.1"\n'})
    assert version(repo) == Version("0.7.1")


def test_an_in_tree_backend_is_asked_in_a_checkout_that_has_the_tags(repo: Repo) -> None:
    backend = BACKEND.replace("{VERSION}", "{described.strip().removeprefix('v')}")
    commit_manifest(repo, f"{IN_TREE}{DYNAMIC}", **{"_backend/backend.py": backend})
    repo.git("tag", "v0.5.0")
    assert version(repo) == Version("0.5.0")


@pytest.mark.parametrize(
    ("backend", "words"),
    [
        ("raise RuntimeError('no\\nversion today')", "no version today"),
        ("def prepare_metadata_for_build_wheel(*a, **k):\n    raise ValueError('broken backend')", "broken backend"),
        ("import sys; sys.exit(3)", ""),
        ("x = 1", ""),
        (BACKEND.replace("{VERSION}", "no version"), "'no version'"),
    ],
)
def test_a_backend_that_fails_is_no_answer(repo: Repo, backend: str, words: str) -> None:
    commit_manifest(repo, f"{IN_TREE}{DYNAMIC}", **{"_backend/backend.py": backend})
    repo.git("tag", "v0.5.0")
    with pytest.raises(CouldNotFindOutError) as caught:
        version(repo)
    assert words in caught.value.message


def test_what_a_backend_writes_and_breaks_reaches_nothing_else(repo: Repo, tmp_path: Path) -> None:
    backend = BACKEND.replace("{VERSION}", "0.5.0") + "\nsubprocess.run(['git', 'tag', 'v9'])\n"
    commit_manifest(repo, f"{IN_TREE}{DYNAMIC}", **{"_backend/backend.py": backend})
    repo.git("tag", "v0.5.0")
    assert version(repo) == Version("0.5.0")
    assert repo.git("tag", "--list") == "v0.5.0"
    assert list((tmp_path / "cache" / "pinctl" / "scratch").iterdir()) == []


def test_the_embedded_stack_s_components_have_their_versions(demo: Demo, git: Git) -> None:
    renderers, verifiers = (Mirror.of(str(demo.remote(name))) for name in ("renderers", "verifiers"))
    assert version_at(renderers.repository, renderers.tip("main")) == Version("0.1.12")
    tip = verifiers.tip("main")
    # v0.5.0.dev1 stands later in the history, and names no release.
    distance = git(demo.remote("verifiers"), "rev-list", "--count", "v0.4.0..main")
    assert version_at(verifiers.repository, tip) == Version(f"0.4.1.dev{distance}+g{tip[:7]}")
    release = verifiers.repository.commit("v0.4.0")
    assert version_at(verifiers.repository, release) == Version("0.4.0")
