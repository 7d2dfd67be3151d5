"""Versions at a commit: static, derived by the code of hatch-vcs and setuptools-scm, or of a backend of its own."""

from pathlib import Path

import pytest

from pinctl.errors import CouldNotFindOutError
from pinctl.model.oid import Oid
from pinctl.tools.git.mirror import Mirror
from pinctl.tools.git.repository import Repository
from pinctl.tools.python import versions
from pinctl.tools.python.versions import version_at
from support.rig import Repo
from support.uv_rig import BACKEND, IN_TREE, project

DYNAMIC = '[project]\nname = "lib"\ndynamic = ["version"]\n'
HATCH = '[build-system]\nrequires = ["hatchling", "hatch-vcs"]\nbuild-backend = "hatchling.build"\n' + DYNAMIC
SCM = '[build-system]\nrequires = ["setuptools", "setuptools-scm[toml]>=8"]\nbuild-backend = "setuptools.build_meta"\n'
VCS = HATCH + '[tool.hatch.version]\nsource = "vcs"\n'
WORDS = '["git", "describe", "--dirty", "--tags", "--long", "--match", "v*", "--exclude", "*dev*"]'
"""What verifiers has: releases, without the development tags between them."""

OWN_PATTERN = {
    "hatch-vcs": VCS + f"raw-options = {{ git_describe_command = {WORDS} }}\n",
    "setuptools-scm": SCM + DYNAMIC + f"[tool.setuptools_scm]\ngit_describe_command = {WORDS}\n",
    "setuptools-scm, as one text": SCM
    + DYNAMIC
    + '[tool.setuptools_scm]\ngit_describe_command = "git describe --dirty --tags --long --match v* --exclude *dev*"\n',
    "setuptools-scm, its newer key": SCM + DYNAMIC + f"[tool.setuptools_scm]\nscm.git.describe_command = {WORDS}\n",
}
FALLBACKS = {
    "hatch-vcs": VCS + f'fallback-version = "0.0.0"\nraw-options = {{ git_describe_command = {WORDS} }}\n',
    "setuptools-scm": SCM
    + DYNAMIC
    + f'[tool.setuptools_scm]\nfallback_version = "3.0"\ngit_describe_command = {WORDS}\n',
    "setuptools-scm, without one of its own": OWN_PATTERN["setuptools-scm"],
}


def made(directory: Path, manifest: str, *tags: str, files: dict[str, str] | None = None) -> Repo:
    """Makes a repository with a commit for each of some tags, and one after them."""
    repo = Repo.make(directory / "lib.git", bare=True)
    repo.commit(files={"pyproject.toml": manifest, "big": "big\n", **(files or {})})
    for tag in tags:
        repo.git("tag", tag, repo.commit(message=tag, files={"file": tag}))
    repo.commit(message="After", files={"file": "after"})
    return repo


def version(repo: Repo, revision: str = "main") -> str | None:
    """Returns the version at a revision, in which the label that names the commit is `+g`."""
    oid = repo.oid(f"{revision}^{{commit}}")
    found = version_at(Repository.open(repo.directory), Oid(oid))
    if found is not None and found.local is not None and oid.startswith(found.local[1:]):
        return f"{found.public}+g"
    return None if found is None else str(found)


def refused(repo: Repo) -> str:
    """Returns why there is no version. Its traceback must not outlive it, for git runs as long as that."""
    try:
        found = version(repo)
    except CouldNotFindOutError as error:
        return error.message
    raise AssertionError(found)


def test_a_static_version_is_read_whatever_the_tags_say(tmp_path: Path) -> None:
    assert version(made(tmp_path, project("lib", "0.1.0"), "v9.0.0")) == "0.1.0"


def test_a_static_version_is_read_from_the_commit_itself(tmp_path: Path) -> None:
    repo = made(tmp_path, project("lib", "0.1.0"))
    before = repo.oid()
    repo.commit(files={"pyproject.toml": project("lib", "1!0.2.0rc1+cu12")})
    assert (version(repo, before), version(repo)) == ("0.1.0", "1!0.2.0rc1+cu12")


@pytest.mark.parametrize("manifest", ["", "[tool.x]\n", "project = 3\n"])
def test_what_is_no_project_has_no_version(tmp_path: Path, manifest: str) -> None:
    assert version(made(tmp_path, manifest, "v1.0")) is None


def test_a_commit_without_a_manifest_has_no_version(tmp_path: Path) -> None:
    repo = made(tmp_path, "", "v1.0")
    repo.commit(files={"pyproject.toml": None})
    assert version(repo) is None


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ("[project\n", "pyproject.toml of {commit} cannot be read: "),
        ('[project]\nname = "lib"\nversion = "one"\n', "'one' at {commit} is no version (PEP 440)"),
    ],
)
def test_a_manifest_that_says_nothing_sensible_is_unknown(tmp_path: Path, manifest: str, message: str) -> None:
    repo = made(tmp_path, manifest, "v1.0")
    assert refused(repo).startswith(message.format(commit=repo.oid()[:7]))


@pytest.mark.parametrize("manifest", [VCS, SCM + DYNAMIC, SCM + DYNAMIC + "[tool.setuptools_scm]\n"])
def test_by_default_the_nearest_tag_with_a_number_counts(tmp_path: Path, manifest: str) -> None:
    repo = made(tmp_path, manifest, "v0.2.0", "v0.3.0")
    assert (version(repo, "v0.3.0"), version(repo)) == ("0.3.0", "0.3.1.dev1+g")


@pytest.mark.parametrize("manifest", OWN_PATTERN.values(), ids=OWN_PATTERN.keys())
def test_b8_the_projects_own_pattern_chooses_among_series_of_tags(tmp_path: Path, manifest: str) -> None:
    repo = made(tmp_path, manifest, "v0.3.0", "v0.3.1.dev5", "renderers-v0.1.9")
    assert (version(repo, "v0.3.0"), version(repo)) == ("0.3.0", "0.3.1.dev3+g")


def test_b8_without_a_pattern_of_its_own_a_project_gets_what_its_build_would_give_it(tmp_path: Path) -> None:
    repo = made(tmp_path, VCS, "v0.3.0", "renderers-v0.1.9")
    assert version(repo) == "0.1.10.dev1+g"


def test_a_pattern_of_tags_with_a_prefix_is_honoured(tmp_path: Path) -> None:
    words = WORDS.replace("v*", "renderers-v*")
    regex = r"tag-pattern = '^renderers-v(?P<version>.*)$'"
    manifest = VCS + f"raw-options = {{ git_describe_command = {words} }}\n{regex}\n"
    assert version(made(tmp_path, manifest, "renderers-v0.1.9", "v0.3.0")) == "0.1.10.dev2+g"


@pytest.mark.parametrize("name", ["hatch.toml", "pyproject.toml"])
def test_hatch_keeps_its_settings_in_either_file(tmp_path: Path, name: str) -> None:
    text = '[version]\nsource = "vcs"\n'
    files = {"hatch.toml": text} if name == "hatch.toml" else {}
    assert version(made(tmp_path, HATCH if files else VCS, "v0.3.0", files=files)) == "0.3.1.dev1+g"


def test_a_version_file_that_a_build_would_write_is_not_written(tmp_path: Path) -> None:
    manifest = SCM + DYNAMIC + '[tool.setuptools_scm]\nversion_file = "src/lib/_version.py"\n'
    assert version(made(tmp_path, manifest, "v0.3.0")) == "0.3.1.dev1+g"


def test_a_version_scheme_of_the_project_counts(tmp_path: Path) -> None:
    manifest = (
        SCM + DYNAMIC + '[tool.setuptools_scm]\nversion_scheme = "no-guess-dev"\nlocal_scheme = "no-local-version"\n'
    )
    assert version(made(tmp_path, manifest, "v0.3.0")) == "0.3.0.post1.dev1"


@pytest.mark.parametrize("manifest", [VCS, SCM + DYNAMIC, IN_TREE + DYNAMIC])
def test_b5_a_history_without_tags_is_unknown(tmp_path: Path, manifest: str) -> None:
    repo = made(tmp_path, manifest)
    repo.git("tag", "v1.0", repo.commit("elsewhere", message="Elsewhere", parents=[]))
    message = f"the version at {repo.oid()[:7]} is derived from tags, and its history has none"
    assert refused(repo) == message


@pytest.mark.parametrize("tags", [["renderers-v0.1.9"], ["v0.3.1.dev5"]])
@pytest.mark.parametrize("manifest", FALLBACKS.values(), ids=FALLBACKS.keys())
def test_b5_a_fallback_is_never_believed_though_there_are_other_tags(
    tmp_path: Path, manifest: str, tags: list[str]
) -> None:
    repo = made(tmp_path, manifest, *tags)
    assert refused(repo) == (
        f"the version at {repo.oid()[:7]} is derived from tags, and its history has none that the project looks for"
    )


def test_b5_nor_where_the_only_tag_has_no_number(tmp_path: Path) -> None:
    assert "none that the project looks for" in refused(made(tmp_path, VCS, "stable"))


def test_b5_nor_that_of_a_backend_of_the_projects_own(tmp_path: Path) -> None:
    manifest = project("lib", None, more=IN_TREE)
    repo = made(tmp_path, manifest, "renderers-v0.1.9", files={"_backend/pure_backend.py": BACKEND})
    assert refused(repo) == f"no tag in the history of {repo.oid()[:7]} gives it the version 0.0.0"
    repo.git("tag", "v0.3.0", repo.oid("main~1"))
    assert version(repo) == "0.3.1.dev1+g"


def test_b7_a_tag_that_arrives_changes_the_version_of_the_same_commit(tmp_path: Path) -> None:
    repo = made(tmp_path, OWN_PATTERN["hatch-vcs"], "v0.2.1")
    assert version(repo) == "0.2.2.dev1+g"
    repo.git("tag", "v0.3.0", repo.oid())
    assert version(repo) == "0.3.0"
    repo.git("tag", "--delete", "v0.3.0")
    assert version(repo) == "0.2.2.dev1+g"


def test_an_annotated_tag_counts_like_a_light_one(tmp_path: Path) -> None:
    repo = made(tmp_path, VCS)
    repo.git("tag", "--annotate", "--message=x", "v0.3.0", repo.oid())
    assert version(repo) == "0.3.0"


@pytest.mark.parametrize("manifest", [VCS, SCM + DYNAMIC, IN_TREE + project("lib", None)])
def test_what_the_environment_pretends_does_not_count(
    tmp_path: Path, manifest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SETUPTOOLS_SCM", "VCS_VERSIONING"):
        monkeypatch.setenv(f"{name}_PRETEND_VERSION", "9.9.9")
        monkeypatch.setenv(f"{name}_PRETEND_VERSION_FOR_LIB", "9.9.9")
    repo = made(tmp_path, manifest, "v0.3.0", files={"_backend/pure_backend.py": BACKEND})
    assert version(repo) == "0.3.1.dev1+g"


@pytest.mark.parametrize(
    ("manifest", "files"),
    [
        (
            HATCH + '[tool.hatch.version]\npath = "src/lib/__init__.py"\n',
            {"src/lib/__init__.py": '__version__ = "4.5"\n'},
        ),
        (HATCH, {"hatch.toml": '[version]\npath = "v.py"\n', "v.py": 'VERSION = "4.5"\n'}),
    ],
)
def test_a_version_that_stands_in_a_file_needs_no_tags(tmp_path: Path, manifest: str, files: dict[str, str]) -> None:
    assert version(made(tmp_path, manifest, files=files)) == "4.5"


def test_a_derived_version_costs_no_checkout(tmp_path: Path) -> None:
    """A mirror is a partial clone: what is laid out is fetched, and nothing else."""
    repo = made(tmp_path, VCS, "v0.3.0")
    repo.git("config", "uploadpack.allowFilter", "true")
    mirror = Mirror.of(f"file://{repo.directory}").repository
    assert str(version_at(mirror, Oid(repo.oid()))).startswith("0.3.1.dev1+g")

    missing = mirror.run("rev-list", "--objects", "--missing=print", "--all").text.splitlines()
    absent = {line[1:] for line in missing if line.startswith("?")}
    assert repo.oid("main:big") in absent
    assert repo.oid("main:pyproject.toml") not in absent


def test_the_same_question_is_answered_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = made(tmp_path, VCS, "v0.3.0")
    assert version(repo) == "0.3.1.dev1+g"
    monkeypatch.setattr(versions, "_derived", None)
    assert version(repo) == "0.3.1.dev1+g"


@pytest.mark.parametrize(
    ("backend", "reason"),
    [
        ("raise ValueError('no version today')\n", "no version today"),
        ("", "pure_backend"),
    ],
)
def test_a_backend_that_fails_is_unknown_and_no_bug(tmp_path: Path, backend: str, reason: str) -> None:
    repo = made(tmp_path, project("lib", None, more=IN_TREE), "v1.0", files={"_backend/pure_backend.py": backend})
    message = refused(repo)
    assert message.startswith(f"the build backend gives no version at {repo.oid()[:7]}: ")
    assert reason in message


def test_a_tool_that_cannot_read_its_own_settings_is_unknown(tmp_path: Path) -> None:
    repo = made(tmp_path, VCS + "tag-pattern = 3\n", "v1.0")
    assert refused(repo).startswith(f"hatchling derives no version at {repo.oid()[:7]}: ")
