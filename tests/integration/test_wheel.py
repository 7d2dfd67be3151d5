"""Builds pinctl as it is published, offline, and installs it where nothing else is."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path

import pytest
import uv

from pinctl import __version__

TOP = Path(__file__).parents[2]
PACKAGE = TOP / "cli" / "pinctl"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    directory = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(directory), str(TOP)]
    env = {**os.environ, "PIP_NO_INDEX": "1"}
    ended = subprocess.run(command, check=False, capture_output=True, text=True, cwd=directory, env=env)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (made,) = directory.iterdir()
    with zipfile.ZipFile(made) as opened:
        yield opened


@pytest.fixture(scope="module")
def installed(wheel: zipfile.ZipFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel and nothing else."""
    directory = tmp_path_factory.mktemp("installed") / "venv"
    path = str(wheel.filename)
    env = {**os.environ, "UV_OFFLINE": "1", "UV_CACHE_DIR": str(directory.parent / "cache")}
    for words in (
        ["venv", "--quiet", "--python", sys.executable, str(directory)],
        ["pip", "install", "--quiet", "--no-deps", "--python", str(directory / "bin" / "python"), path],
    ):
        ended = subprocess.run([uv.find_uv_bin(), *words], check=False, capture_output=True, text=True, env=env)
        assert ended.returncode == 0, ended.stderr
    return directory


def run(*command: str | Path) -> tuple[int, str, str]:
    # What pinctl depends on comes from here; pinctl itself does not, since it is here by a .pth file alone.
    env = {**os.environ, "PYTHONPATH": sysconfig.get_path("purelib")}
    ended = subprocess.run(command, check=False, capture_output=True, text=True, env=env, cwd="/")
    return ended.returncode, ended.stdout, ended.stderr


def is_left_by_a_tool(path: Path) -> bool:
    return path.suffix == ".pyc" or any(part in {"__pycache__", ".mypy_cache", ".ruff_cache"} for part in path.parts)


def test_the_wheel_has_every_file_of_the_package_and_no_other(wheel: zipfile.ZipFile) -> None:
    tracked = subprocess.run(
        ["git", "-C", TOP, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "cli/pinctl"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    expected = {name.removeprefix("cli/") for name in tracked if name and (TOP / name).is_file()}
    found = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert found == expected


def test_the_wheel_has_the_whole_embedded_stack_and_its_probes(wheel: zipfile.ZipFile) -> None:
    demo = PACKAGE / "demo"
    files = [path for path in demo.rglob("*") if path.is_file() and not is_left_by_a_tool(path)]
    stack = {path for path in files if path.is_relative_to(demo / "stack") or path.is_relative_to(demo / "probes")}
    assert {path.name for path in stack} >= {"pure_backend.py", "uv.lock", ".gitmodules", ".gitignore", "py.typed"}
    assert {path.name for path in stack if path.parent.name == "probes"} == {
        "generate_server.py",
        "prefill_decode_server.py",
        "renderers_client.py",
        "router_client.py",
        "verifiers_client.py",
    }
    for path in stack:
        assert wheel.read(path.relative_to(TOP / "cli").as_posix()) == path.read_bytes()


def test_the_wheel_says_what_it_is(wheel: zipfile.ZipFile) -> None:
    info = f"pinctl-{__version__}.dist-info"
    metadata = HeaderParser().parsestr(wheel.read(f"{info}/METADATA").decode())
    assert (metadata["Name"], metadata["Version"], metadata["Requires-Python"]) == ("pinctl", __version__, ">=3.11")
    assert wheel.read(f"{info}/entry_points.txt").decode() == "[console_scripts]\npinctl = pinctl.app:main\n"
    assert "Tag: py3-none-any" in wheel.read(f"{info}/WHEEL").decode()
    assert f"{info}/licenses/LICENSE" in wheel.namelist()


def test_the_installed_package_is_the_one_that_runs(installed: Path) -> None:
    python = installed / "bin" / "python"
    status, place, _ = run(python, "-c", "import pinctl; print(pinctl.__file__)")
    assert (status, Path(place.strip()).is_relative_to(installed)) == (0, True)
    assert run(python, "-m", "pinctl", "--version") == (0, f"pinctl {__version__}\n", "")
    assert run(installed / "bin" / "pinctl", "--version") == (0, f"pinctl {__version__}\n", "")


def test_the_installed_package_builds_the_embedded_stack(installed: Path, tmp_path: Path) -> None:
    status, _, stderr = run(installed / "bin" / "pinctl", "demo", tmp_path / "demo")
    assert status == 0, stderr
    assert {path.name for path in (tmp_path / "demo" / "remotes").iterdir()} == {
        "prime-rl.git",
        "renderers.git",
        "verifiers.git",
    }
    assert (tmp_path / "demo" / "prime-rl" / "deps" / "verifiers" / "pyproject.toml").is_file()
