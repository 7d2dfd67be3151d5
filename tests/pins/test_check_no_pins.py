"""Without a pins.toml, `status` and `check` work in any superproject from its gitlinks and .gitmodules."""

import json
from pathlib import Path

from support import Git, Pinctl
from support.rig import Repo, Rig, checked


def _superproject(rig: Rig) -> Repo:
    lib, other = rig.component("lib"), rig.component("other")
    lib.git("tag", "v1.0", "main~2")
    modules = rig.module("lib", branch="main") + rig.module("some name", path="third_party/other", url=other.directory)
    repo = rig.superproject({"lib": lib.oid("main~1")}, modules=modules)
    repo.commit("main", "Add other", gitlinks={"third_party/other": other.oid()})
    return repo


def test_status_says_what_it_took_for_granted(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    repo = _superproject(rig)
    lib, other = rig.components["lib"], rig.components["other"]

    result = pinctl("status", cwd=repo.directory)

    assert (result.status, result.stderr) == (0, "")
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert lines[0] == f"super {repo.oid()[:7]} on main"
    assert [line.split() for line in lines[2:5]] == [
        ["component", "pin", "commit", "version", "release", "standing", "floors"],
        ["lib", "deps/lib", lib.oid("main~1")[:7], "-", "1.0", "on", "main,", "1", "behind", "-"],
        ["some", "name", "third_party/other", other.oid()[:7], "-", "-", "on", "main,", "at", "its", "tip", "-"],
    ]
    assert lines[5:] == ["note: no pins.toml: the gitlinks and .gitmodules stand for it"]
    data = json.loads(pinctl("status", "--format", "json", cwd=repo.directory).stdout)
    assert [pin["commit"] for pin in data["pins"]] == [lib.oid("main~1"), other.oid()]


def test_check_takes_the_range_from_the_branch_that_is_checked_out(tmp_path: Path, pinctl: Pinctl, git: Git) -> None:
    rig = Rig(top=tmp_path)
    there = _superproject(rig)
    git(tmp_path, "clone", "--quiet", there.directory, "clone")
    here = Repo(directory=tmp_path / "clone")
    here.git("checkout", "--quiet", "-b", "pr")
    here.commit("pr", "Move lib back", gitlinks={"deps/lib": rig.components["lib"].oid("main~2")})
    here.commit("pr", "Change something", files={"code.py": "x\n"})

    result = pinctl("check", cwd=here.directory)

    assert (result.status, result.stderr) == (1, "")
    assert result.stdout.splitlines()[-1] == (
        f"broken: {there.oid()[:7]}..{here.oid('pr')[:7]} (the tip of remotes/origin/main), "
        "judged 1 of 2 pins that moved"
    )


def test_on_the_target_itself_the_last_commit_is_judged(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    repo = _superproject(rig)
    repo.commit("main", "Move lib back", gitlinks={"deps/lib": rig.components["lib"].oid("main~2")})

    found = checked(pinctl, repo)

    assert found.answer() == (1, [("PIN002", "deps/lib")])
    assert (found.data["base"], found.data["source"]) == (repo.oid("main~1"), "the head's parent")


def test_the_first_commit_is_judged_whole(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.commit("work", "Work", files={"new": "x\n"}, parents=[lib.oid()])})

    found = checked(pinctl, repo)

    assert found.answer() == (1, [("PIN001", "deps/lib")])
    assert (found.data["base"], found.data["judged"]) == (None, ["1 of 1 pins"])
    assert found.data["defaults"] == ["lib by main, that its remote's HEAD names"]
    assert "no pins.toml: lib by main" in pinctl("--verbose", "check", cwd=repo.directory).stderr


def test_all_judges_what_did_not_move_too(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib, other = rig.component("lib"), rig.component("other")
    orphan = lib.commit("work", "Work", files={"new": "x\n"}, parents=[lib.oid()])
    repo = rig.superproject({"lib": orphan, "other": other.oid()})
    repo.commit("main", "Change something", files={"code.py": "x\n"})

    assert checked(pinctl, repo).answer() == (0, [])
    found = checked(pinctl, repo, "--all")
    assert found.answer() == (1, [("PIN001", "deps/lib")])
    assert found.data["judged"] == ["2 of 2 pins"]


def test_a_component_that_is_new_is_judged_from_the_commit_that_brings_it(tmp_path: Path, pinctl: Pinctl) -> None:
    """Not from the .gitmodules of what is checked out, which may be the target."""
    rig = Rig(top=tmp_path)
    lib, new = rig.component("lib"), rig.component("new")
    repo = rig.superproject({"lib": lib.oid()})
    work = new.commit("work", "Work", files={"new": "x\n"}, parents=[new.oid()])
    modules = {".gitmodules": rig.modules("lib", "new")}
    repo.commit("pr", "Add new", files=modules, gitlinks={"deps/new": work}, parents=[repo.oid()])
    repo.commit("gone", "Remove lib", files={".gitmodules": None}, gitlinks={"deps/lib": None}, parents=[repo.oid()])

    for branch in ("main", "pr", "gone"):
        repo.switch(branch)
        found = checked(pinctl, repo, "--base", "main", "--head", "pr")

        assert found.answer() == (1, [("PIN001", "deps/new")]), branch


def test_a_component_that_is_removed_is_not_judged(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib, other = rig.component("lib"), rig.component("other")
    repo = rig.superproject({"lib": lib.oid(), "other": other.oid()})
    removed = {".gitmodules": rig.module("lib")}
    repo.commit("pr", "Remove other", files=removed, gitlinks={"deps/other": None}, parents=[repo.oid()])

    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    assert found.answer() == (0, [])
    assert found.data["judged"] == ["0 of 1 pins that moved"]


def test_a_repository_without_submodules_is_fine(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = Rig(top=tmp_path).superproject({}, files={"code.py": "x\n"})

    assert checked(pinctl, repo, "--all").answer() == (0, [])
    assert pinctl("status", cwd=repo.directory).status == 0


def test_a_manifest_and_a_lock_at_the_top_are_judged_without_a_pins_toml(tmp_path: Path, pinctl: Pinctl) -> None:
    """The lock is wrong: it is another project's. Which distribution a submodule is, only pins.toml says."""
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    manifest = '[project]\nname = "super"\nversion = "1"\nrequires-python = ">=3.11"\n'
    package = '[[package]]\nname = "other"\nversion = "1"\nsource = { virtual = "." }\n'
    lock = f'version = 1\nrequires-python = ">=3.11"\n\n{package}'
    repo = rig.superproject({"lib": lib.oid()}, files={"pyproject.toml": manifest})
    repo.commit("pr", "Lock", files={"uv.lock": lock}, parents=[repo.oid()])

    assert checked(pinctl, repo, "--base", "main", "--head", "pr").answer() == (1, [("LCK001", "uv.lock")])


def test_outside_a_repository_it_says_so(tmp_path: Path, pinctl: Pinctl) -> None:
    (tmp_path / "empty").mkdir()

    for command in ("check", "status"):
        result = pinctl(command, cwd=tmp_path / "empty")

        assert (result.status, result.stdout) == (3, "")
        assert result.stderr.startswith(f"error: {tmp_path}/empty is not inside a git repository\n")


def test_a_revision_that_is_not_there_is_unknown(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _superproject(Rig(top=tmp_path))

    for option in ("--base", "--head"):
        result = pinctl("check", option, "nowhere", cwd=repo.directory)

        assert (result.status, result.stdout) == (3, "")
        assert "nowhere names no commit" in result.stderr
