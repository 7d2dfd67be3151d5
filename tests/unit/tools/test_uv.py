"""uv as a tool: which one runs, what it is kept from hearing, and what its answers mean."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import uv as installed

from pinctl.errors import BadFileError, CouldNotFindOutError
from pinctl.tools.python import uv, uv_settings
from support.uv_rig import project, wheel

OPTIONS = '[tool.uv]\nfind-links = ["wheels"]\nno-index = true\n'
PATHS = '[tool.uv.sources]\nlib = { path = "lib", editable = true }\n'
FAKE = """\
#!/bin/sh
[ "$1" = --version ] && echo "uv {version}" && exit
echo "$@" >>{log}
sed -i /required-version/d pyproject.toml
exec {program} "$@"
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A project with a path source and somebody else's package in two versions and a pre-release."""
    made = tmp_path / "project"
    for version in ("1.0", "2.0", "3.0rc1"):
        for name, data in wheel("third", version).items():
            path = made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    (made / "lib").mkdir()
    (made / "lib/pyproject.toml").write_text(project("lib", "0.1.0"))
    (made / "pyproject.toml").write_text(project("super", "0", requires=["third>=1", "lib"], more=OPTIONS + PATHS))
    return made


def write(directory: Path, *requires: str, options: str = "", lib: str | None = None) -> None:
    """Writes the project's manifests anew."""
    text = project("super", "0", requires=requires, more=OPTIONS + options + PATHS)
    (directory / "pyproject.toml").write_text(text)
    if lib is not None:
        (directory / "lib/pyproject.toml").write_text(lib)


def refusal(directory: Path, *, check: bool = False) -> str:
    refused = uv.lock(directory, check=check)
    assert refused is not None
    return refused.explanation


def real(directory: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs uv as a user would who has these variables."""
    command = [installed.find_uv_bin(), "lock", "--quiet"]
    env = {**os.environ, **variables}
    return subprocess.run(command, cwd=directory, env=env, check=False, capture_output=True, text=True)


def fake(directory: Path, version: str) -> Path:
    """Puts a uv first on PATH that says it is another version, and returns the file in which it keeps its words."""
    programs, log = directory / "bin", directory / "log"
    programs.mkdir()
    program = programs / "uv"
    program.write_text(FAKE.format(version=version, log=log, program=installed.find_uv_bin()))
    program.chmod(0o755)
    return log


def test_it_writes_the_lock_that_uv_itself_would_write(directory: Path) -> None:
    assert real(directory).returncode == 0
    expected = (directory / "uv.lock").read_bytes()
    (directory / "uv.lock").unlink()

    assert uv.lock(directory) is None
    assert (directory / "uv.lock").read_bytes() == expected
    assert uv.lock(directory, check=True) is None


def test_drift_is_an_answer_and_checking_changes_nothing(directory: Path) -> None:
    assert uv.lock(directory) is None
    before = (directory / "uv.lock").read_bytes()
    write(directory, "third>=1,<2", "lib")

    assert "needs to be updated" in refusal(directory, check=True)
    assert (directory / "uv.lock").read_bytes() == before


def test_a_lock_that_is_not_there_is_out_of_date(directory: Path) -> None:
    assert "Unable to find lockfile" in refusal(directory, check=True)
    assert not (directory / "uv.lock").exists()


def test_no_solution_is_an_answer_in_uvs_words_without_the_places_of_this_machine(directory: Path) -> None:
    assert uv.lock(directory) is None
    write(directory, "third>=2", "lib", lib=project("lib", "0.1.0", requires=["third<2"]))
    for check in (False, True):
        explanation = refusal(directory, check=check)
        assert explanation.startswith("error: No solution found when resolving dependencies\n")
        assert "lib==0.1.0 depends on third<2" in explanation
        assert str(directory) not in explanation


@pytest.mark.parametrize(
    ("members", "words"),
    [
        (["a", "b"], "Two workspace members are both named `same`"),
        (["a", None], "Workspace member `./envs/1` is missing a `pyproject.toml`"),
        (["a", "x ="], "Failed to parse: envs/1/pyproject.toml"),
    ],
)
def test_b18_a_workspace_that_cannot_be_is_an_answer_too(
    directory: Path, members: list[str | None], words: str
) -> None:
    """Other versions of uv end with 1 or with 2 here."""
    for number, member in enumerate(members):
        path = directory / "envs" / str(number)
        path.mkdir(parents=True)
        text = project("same") if member in {"a", "b"} else member
        (path / ("README" if text is None else "pyproject.toml")).write_text(text or "")
    write(directory, "lib", options='[tool.uv.workspace]\nmembers = ["envs/*"]\n')
    assert words in refusal(directory)


def test_one_package_from_two_places_is_an_answer_too(directory: Path) -> None:
    (directory / "other").mkdir()
    (directory / "other/pyproject.toml").write_text(project("lib", "0.2.0"))
    (directory / "b").mkdir()
    sources = '[tool.uv.sources]\nlib = { path = "../other" }\n'
    (directory / "b/pyproject.toml").write_text(project("b", "0", requires=["lib"], more=sources))
    write(directory, "lib", "b")
    path = directory / "pyproject.toml"
    path.write_text(path.read_text() + 'b = { path = "b" }\n')
    explanation = refusal(directory)
    assert "conflicting URLs for package `lib`" in explanation
    assert str(directory) not in explanation


@pytest.mark.parametrize(
    ("requires", "options", "lock", "words"),
    [
        (["lib", "absent"], "no-index = false\n", None, "the network was disabled"),
        (["lib", "a @ https://example.invalid/a-1-py3-none-any.whl"], "", None, "Failed to download"),
        (["lib"], "", "version = [", "Failed to parse `uv.lock`"),
        (["lib"], "", "version = 99\n", "unsupported schema version"),
    ],
)
def test_what_keeps_uv_from_answering_is_never_a_no(
    directory: Path, requires: list[str], options: str, lock: str | None, words: str
) -> None:
    """It ends with 1 for a package that is not in its cache as it does for one that cannot be."""
    write(directory, *requires)
    if options:
        path = directory / "pyproject.toml"
        path.write_text(path.read_text().replace("no-index = true\n", options))
    if lock is not None:
        (directory / "uv.lock").write_text(lock)
    with pytest.raises(CouldNotFindOutError, match="uv cannot lock: ") as caught:
        uv.lock(directory)
    assert words in caught.value.message
    assert str(directory) not in caught.value.message


def test_a_build_that_fails_is_never_a_no(directory: Path) -> None:
    text = '[build-system]\nrequires = []\nbuild-backend = "gone"\nbackend-path = ["."]\n'
    write(directory, "lib", lib=project("lib", None, more=text))
    with pytest.raises(CouldNotFindOutError, match="Failed to build `lib"):
        uv.lock(directory)


VARIABLES = {
    "UV_CONFIG_FILE": "/nowhere/uv.toml",
    "UV_EXCLUDE_NEWER": "2020-01-01",
    "UV_FORK_STRATEGY": "fewest",
    "UV_FROZEN": "1",
    "UV_LOCKED": "1",
    "UV_NO_BINARY": "1",
    "UV_NO_CONFIG": "1",
    "UV_NO_SOURCES": "1",
    "UV_NO_SOURCES_PACKAGE": "lib",
    "UV_PRERELEASE": "allow",
    "UV_PREVIEW": "1",
    "UV_PROJECT": "/nowhere",
    "UV_PYTHON": "3.99",
    "UV_RESOLUTION": "lowest",
    "UV_WORKING_DIR": "/nowhere",
}


def test_b23_no_variable_of_the_environment_changes_the_lock(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert uv.lock(directory) is None
    expected = (directory / "uv.lock").read_bytes()
    (directory / "uv.lock").unlink()
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)

    assert uv.lock(directory) is None

    assert (directory / "uv.lock").read_bytes() == expected
    assert uv_settings.neutralised() == tuple(sorted(VARIABLES))


@pytest.mark.parametrize(
    "name", ["UV_EXCLUDE_NEWER", "UV_FROZEN", "UV_NO_CONFIG", "UV_NO_SOURCES", "UV_PREVIEW", "UV_RESOLUTION"]
)
def test_b23_some_of_them_would_change_it_without_a_word(directory: Path, name: str) -> None:
    assert real(directory).returncode == 0
    expected = (directory / "uv.lock").read_bytes()
    (directory / "uv.lock").unlink()

    ended = real(directory, **{name: VARIABLES[name]})

    assert ended.returncode != 0 or (directory / "uv.lock").read_bytes() != expected


def test_b23_the_settings_of_a_user_do_not_leak_into_the_lock(directory: Path) -> None:
    assert real(directory).returncode == 0
    expected = (directory / "uv.lock").read_bytes()
    settings = Path.home() / ".config/uv/uv.toml"
    settings.parent.mkdir(parents=True)
    lines = ["# mine", 'resolution = "lowest"', "offline = true", "constraint-dependencies = [", '  "third<2",', "]"]
    settings.write_text("\n".join(lines))
    (directory / "uv.lock").unlink()
    assert real(directory).returncode == 0
    assert (directory / "uv.lock").read_bytes() != expected
    (directory / "uv.lock").unlink()

    assert uv.lock(directory) is None

    assert (directory / "uv.lock").read_bytes() == expected
    assert settings.read_text() == "\n".join(lines)


def test_b23_settings_that_cannot_be_told_apart_are_named(directory: Path) -> None:
    settings = Path.home() / ".config/uv/uv.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('native-tls = true\n[exclude-newer-package]\nthird = "2020-01-01T00:00:00Z"\n')
    with pytest.raises(CouldNotFindOutError, match="it sets exclude-newer-package"):
        uv.lock(directory)
    settings.write_text("resolution = \n")
    with pytest.raises(BadFileError, match="is no TOML"):
        uv.lock(directory)


def test_what_versions_are_pretended_is_kept_from_every_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    names = (
        "SETUPTOOLS_SCM_PRETEND_VERSION",
        "SETUPTOOLS_SCM_PRETEND_VERSION_FOR_LIB",
        "VCS_VERSIONING_PRETEND_VERSION",
    )
    for name in names:
        monkeypatch.setenv(name, "9.9.9")
    monkeypatch.setenv("UV_INDEX_URL", "https://mirror.example/simple")
    environment = uv_settings.inherited_environment()
    assert not environment.keys() & {*names}
    assert environment["UV_INDEX_URL"] == "https://mirror.example/simple"
    assert uv_settings.neutralised() == tuple(sorted(names))


BACKEND = """
import json, os, pathlib
def build_wheel(directory, config_settings=None, metadata_directory=None):
    pathlib.Path(os.environ["HOME"], "seen").write_text(json.dumps(dict(os.environ)))
    raise SystemExit("seen enough")
"""


def test_a_build_backend_sees_what_it_needs_and_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {
        "GITHUB_TOKEN": "s1",
        "GH_TOKEN": "s2",
        "AWS_SECRET_ACCESS_KEY": "s3",
        "HF_TOKEN": "s4",
        "UV_PUBLISH_TOKEN": "s5",
        "UV_GITHUB_TOKEN": "s9",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "s6",
        "PYTHONPATH": "s7",
        "VIRTUAL_ENV": "s8",
    }
    needed = {"https_proxy": "http://proxy.example", "SSL_CERT_FILE": "/certificates", "SSH_AUTH_SOCK": "/socket"}
    for name, value in {**secrets, **needed}.items():
        monkeypatch.setenv(name, value)
    source = tmp_path / "source"
    source.mkdir()
    (source / "backend.py").write_text(BACKEND)
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "curious"\nversion = "1"\n'
    )
    uv.make_environment(tmp_path / "environment", python=Path(sys.executable))

    with pytest.raises(CouldNotFindOutError, match="seen enough"):
        uv.install(tmp_path / "environment", (str(source),), dependencies=False)

    seen = json.loads((Path.home() / "seen").read_text())
    assert not {*secrets.values()} & {*seen.values()}
    # uv sets VIRTUAL_ENV and PATH itself, to the environment that it builds in.
    assert {name: seen[name] for name in needed} == needed
    assert os.environ["PATH"] in seen["PATH"]


@pytest.mark.parametrize("required", ["{own}", "=={own}", ">=0.8", ">=0.8,<99"])
def test_pinctls_own_uv_goes_before_the_one_on_path(
    directory: Path, monkeypatch: pytest.MonkeyPatch, required: str
) -> None:
    log = fake(directory, "98.0.0")
    monkeypatch.setenv("PATH", str(directory / "bin"), prepend=os.pathsep)
    own = uv.uv_version().removeprefix("uv ")
    write(directory, "lib", options=f'required-version = "{required.format(own=own)}"\n')
    assert uv.lock(directory) is None
    assert not log.exists()


@pytest.mark.parametrize("place", ["pyproject.toml", "uv.toml"])
def test_b20_a_version_that_only_the_uv_on_path_has_is_honoured(
    directory: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    log = fake(directory, "77.1.2")
    monkeypatch.setenv("PATH", str(directory / "bin"), prepend=os.pathsep)
    if place == "uv.toml":
        options = 'required-version = "77.1.2"\nfind-links = ["wheels"]\nno-index = true\n'
        (directory / "uv.toml").write_text(options)
        # The fake one takes the line out of pyproject.toml only, and the real one would stop at it here.
        script = directory / "bin/uv"
        script.write_text(script.read_text().replace("pyproject.toml", "uv.toml"))
    else:
        write(directory, "lib", options='required-version = "77.1.2"\n')
    assert uv.lock(directory) is None
    assert log.read_text() == "lock --quiet\n"


def test_what_moved_is_asked_anew_unless_offline(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It keys what it knows of a path source on files, not on commits; it does not take the option when offline."""
    log = fake(directory, "77.1.2")
    monkeypatch.setenv("PATH", str(directory / "bin"), prepend=os.pathsep)
    for offline in ("1", None):
        write(directory, "lib", options='required-version = "==77.1.2"\n')
        if offline is None:
            monkeypatch.delenv("UV_OFFLINE")
        assert uv.lock(directory, refresh=["lib", "other"], check=offline is None) is None
    assert log.read_text().splitlines() == [
        "lock --quiet",
        "lock --quiet --check --refresh-package lib --refresh-package other",
    ]


@pytest.mark.parametrize("required", [">=99", "==77.1.2", "0.0.1"])
def test_b21_a_version_that_no_uv_here_has_is_unknown_before_anything_runs(
    directory: Path, monkeypatch: pytest.MonkeyPatch, required: str
) -> None:
    log = fake(directory, "98.0.0")
    monkeypatch.setenv("PATH", str(directory / "bin"), prepend=os.pathsep)
    write(directory, "lib", options=f'required-version = "{required}"\n')
    own = uv.uv_version().removeprefix("uv ")
    asked = f"=={required}" if required == "0.0.1" else required
    with pytest.raises(CouldNotFindOutError) as caught:
        uv.lock(directory)
    assert caught.value.message == f"the superproject requires uv {asked}, and there is {own}, 98.0.0 here"
    assert caught.value.hint == f"Install it beside pinctl: pip install 'uv{asked}'"
    assert not (directory / "uv.lock").exists()
    assert not log.exists()


def test_b21_without_another_uv_on_path_only_our_own_is_named(
    directory: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    assert shutil.which("uv") is None
    write(directory, "lib", options='required-version = ">=99"\n')
    with pytest.raises(CouldNotFindOutError, match=r"there is [0-9.]+ here"):
        uv.lock(directory)


def test_a_required_version_that_is_none_is_unknown(directory: Path) -> None:
    write(directory, "lib", options='required-version = "newest"\n')
    with pytest.raises(CouldNotFindOutError, match="requires uv 'newest', which is no version specifier"):
        uv.lock(directory)


def test_a_uv_that_says_no_version_is_unknown_where_it_is_asked(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(directory, "")
    monkeypatch.setenv("PATH", str(directory / "bin"), prepend=os.pathsep)
    write(directory, "lib")
    assert uv.lock(directory) is None
    write(directory, "lib", options='required-version = ">=99"\n')
    with pytest.raises(CouldNotFindOutError, match="does not say which version it is"):
        uv.lock(directory)
