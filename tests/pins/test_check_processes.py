"""A pull request that moves no pin costs a handful of git processes, with any number of submodules, and no network."""

import os
import shutil
from pathlib import Path

import pytest

from pinctl.tools.git.repository import require_git
from support import Pinctl
from support.rig import Repo, Rig, checked

WRAPPER = '#!/bin/sh\nprintf "%s\\n" "$*" >> "{log}"\nexec "{git}" "$@"\n'
RANGE = ("--base", "main", "--head", "pr")
ASKING = ("ls-remote", "fetch", "clone", "upload-pack")
PLAN = """version = 1
title = "Send a new form"

[[changes]]
id = "lib"
component = "lib"
pull = 1

[[changes]]
id = "server"
component = "super"
branch = "{branch}"
after = ["lib"]
pins = ["lib"]
"""


class Log:
    """The git commands that were started since it was last read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[str]:
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.path.unlink(missing_ok=True)
        return lines


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Log:
    """Puts a git on PATH that writes down what it is asked."""
    # Its version is asked for once in a process.
    require_git()
    git = shutil.which("git")
    path = tmp_path / "bin/git"
    path.parent.mkdir()
    path.write_text(WRAPPER.format(log=tmp_path / "log", git=git))
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")
    return Log(tmp_path / "log")


def _superproject(rig: Rig, count: int, *, with_pins: bool, initialised: int = 0) -> Repo:
    """Makes a superproject of many submodules that are at remotes which are not there, and a pull request."""
    names = [f"lib{number}" for number in range(count)]
    modules = "".join(rig.module(name, url=rig.top / "remotes" / f"{name}.git") for name in names)
    more = {name: f'url = "{rig.top}/remotes/{name}.git"\ncommit = "{"5" * 40}"' for name in names}
    files = {"pins.toml": rig.pins_toml(*names, more=more)} if with_pins else {}
    repo = rig.superproject(dict.fromkeys(names, "5" * 40), modules=modules, files={**files, "code.py": "x = 1\n"})
    for number in range(initialised):
        repo.git("config", f"submodule.lib{number}.url", "/nowhere")
    repo.commit("pr", "Change code", files={"code.py": "x = 2\n"}, parents=[repo.oid()])
    repo.commit("pr", "Change more", files={"more.py": "y = 2\n"})
    repo.commit("main", "Change other code", files={"other.py": "z = 1\n"})
    return repo


@pytest.mark.parametrize("with_pins", [False, True])
def test_it_starts_as_many_processes_with_40_submodules_as_with_2(
    tmp_path: Path, pinctl: Pinctl, log: Log, *, with_pins: bool
) -> None:
    commands = []
    for count in (2, 40):
        rig = Rig(top=tmp_path / str(count))
        rig.top.mkdir()
        repo = _superproject(rig, count, with_pins=with_pins, initialised=2)
        log.read()

        found = checked(pinctl, repo, *RANGE)

        assert found.answer() == (0, [])
        assert found.data["judged"] == [f"0 of {count} pins that moved"]
        commands.append(log.read())
    few, many = commands
    assert len(many) == len(few), "\n".join(many)
    assert len(many) <= 9, "\n".join(many)
    assert not [line for line in many if any(word in line.split() for word in ASKING)]


def test_one_pin_that_moves_asks_its_own_remote_alone(tmp_path: Path, pinctl: Pinctl, log: Log) -> None:
    commands = []
    for count in (4, 40):
        rig = Rig(top=tmp_path / str(count))
        rig.top.mkdir()
        repo = _superproject(rig, count, with_pins=False)
        lib = rig.component("lib3")
        repo.commit("main", "Pin what is there", gitlinks={"deps/lib3": lib.oid("main~1")})
        repo.commit("pr", "Bump lib3", gitlinks={"deps/lib3": lib.oid()}, parents=[repo.oid()])
        log.read()

        assert checked(pinctl, repo, *RANGE).answer() == (0, [])

        commands.append(log.read())
        asked = [line for line in commands[-1] if any(word in line.split() for word in ASKING)]
        assert asked
        assert all("lib3.git" in line or " origin " in f"{line} " for line in asked), asked
        assert sum("ls-remote --symref" in line for line in asked) == 1
    few, many = commands
    assert len(many) == len(few), "\n".join(many)


def test_a_mirror_that_is_up_to_date_is_not_fetched_again(tmp_path: Path, pinctl: Pinctl, log: Log) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid("main~1")})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": lib.oid()}, parents=[repo.oid()])
    checked(pinctl, repo, *RANGE)
    log.read()

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])

    words = [word for line in log.read() for word in line.split()]
    assert words.count("--symref") == 1
    assert words.count("fetch") == words.count("init") == 0


def test_a_long_range_is_read_once_for_all_plans(tmp_path: Path, pinctl: Pinctl, log: Log) -> None:
    commands = []
    for count in (3, 30):
        rig = Rig(top=tmp_path / str(count))
        rig.top.mkdir()
        lib = rig.component("lib", commits=2)
        lib.commit(message="Read the new form (#1)", files={"new": "new\n"})
        plans = {f"landing_plans/{name}.toml": PLAN.format(branch=name) for name in ("one", "two")}
        repo = rig.superproject({"lib": lib.oid()}, files={"pins.toml": rig.pins_toml("lib"), **plans})
        for name in ("one", "two"):
            repo.commit(name, f"Send the {name} form", files={f"{name}.py": "x\n"}, parents=[repo.oid()])
        repo.commit("pr", "Take both", files={"one.py": "x\n"}, parents=[repo.oid(), repo.oid("one")])
        for number in range(count):
            repo.commit("pr", f"Change {number}", files={"code.py": f"x = {number}\n"})
        log.read()

        assert checked(pinctl, repo, *RANGE).answer() == (0, [])

        commands.append(log.read())
    few, many = commands
    assert len(many) == len(few), "\n".join(many)


def test_two_at_once_share_a_mirror(tmp_path: Path) -> None:
    """As two jobs on one machine do, the mirror not being there yet."""
    import subprocess
    import sys

    rig = Rig(top=tmp_path)
    lib = rig.component("lib", commits=20)
    repo = rig.superproject({"lib": lib.oid("main~9")})
    repo.commit("pr", "Move lib back", gitlinks={"deps/lib": lib.oid("main~10")}, parents=[repo.oid()])
    command = [sys.executable, "-m", "pinctl", "check", *RANGE]

    running = [
        subprocess.Popen(command, cwd=repo.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    ended = [process.communicate(timeout=60) for process in running]

    assert [process.returncode for process in running] == [1, 1, 1], ended
    assert len(set(ended)) == 1
