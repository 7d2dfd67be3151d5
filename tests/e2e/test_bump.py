"""Bumps pins without a plan, as a user would: where they go, what the commit is, and what it leaves alone."""

from pathlib import Path

import pytest

from support import Git, Pinctl
from support.rig import Repo, Rig, checked
from support.snapshot import difference, snapshot, unchanged
from support.uv_rig import UvRig, answered, changed, refusals, text_of

CONFIGS = "packages/configs/pyproject.toml"
LANDING = "landing/bump-lib"


def published(branch: str) -> set[str]:
    """What a bump changes in a snapshot of the user's checkout."""
    return {f"ref refs/heads/{branch}", f"file .git/refs/heads/{branch}", f"file .git/logs/refs/heads/{branch}"}


def plain(rig: UvRig, at: str = "v0.1.0") -> tuple[Repo, Repo]:
    """Makes a superproject without a lock; lib has three releases, one of them a pre-release, and a tip past them."""
    lib = rig.library("lib", "0.1.0", "0.2.0", "0.3.0rc1")
    lib.commit(message="Past every release", files={"notes": "x\n"})
    files: dict[str, str | bytes | None] = {"pins.toml": rig.pins_toml("lib"), "code.py": "x = 1\n"}
    return rig.superproject({"lib": lib.oid(at)}, files=files), lib


def pin_of(repo: Repo, branch: str = LANDING) -> str:
    return repo.oid(f"{branch}:deps/lib")


def test_a_bump_is_one_commit_with_everything_that_moves_in_it(tmp_path: Path, pinctl: Pinctl, git: Git) -> None:
    rig = UvRig(top=tmp_path)
    rig.third_party("third", "1.0", "2.0")
    lib = rig.library("lib", "0.1.0", "0.2.0", requires=["third<2"])
    tip = lib.commit(message="Past the release", files={"notes": "x\n"})
    manifest = rig.root("lib", requires=["configs", "lib[extra]>=0.1"], more="# for lib\n").replace(
        "[tool.uv.sources]\n", '[tool.uv.sources]\nconfigs = { path = "packages/configs" }\n'
    )
    configs = '[project]\nname = "configs"\nversion = "0"\nrequires-python = ">=3.11"\ndependencies = ["lib >= 0.1"]\n'
    head = f'manifests = ["pyproject.toml", "{CONFIGS}"]'
    pins_toml = rig.declared("lib", more={"lib": f'floor = "release"\ncommit = "{lib.oid("v0.1.0")}"'}, head=head)
    repo = rig.locked({"lib": lib.oid("v0.1.0")}, manifest=manifest, pins_toml=pins_toml, files={CONFIGS: configs})
    before = snapshot(repo.directory)

    landing = answered(pinctl, repo, "bump", "lib")

    old = lib.oid("v0.1.0")
    assert landing == {
        "branch": LANDING,
        "commit": repo.oid(LANDING),
        "parent": repo.oid("main"),
        "pins": [
            {"component": "lib", "path": "deps/lib", "from": old, "to": tip, "version": "0.2.0", "pulls": []},
        ],
        "already_landed": False,
        "pushed": None,
    }
    assert difference(before, snapshot(repo.directory)) == published(LANDING)
    assert repo.git("rev-parse", f"{LANDING}^@") == repo.oid("main")
    assert changed(repo, "main", LANDING) == ["deps/lib", CONFIGS, "pins.toml", "pyproject.toml", "uv.lock"]
    assert text_of(repo, LANDING) == manifest.replace("lib[extra]>=0.1", "lib[extra]>=0.2.0")
    assert text_of(repo, LANDING, CONFIGS) == configs.replace("lib >= 0.1", "lib >= 0.2.0")
    assert text_of(repo, LANDING, "pins.toml") == pins_toml.replace(old, tip)
    lock = rig.lock_of(
        {"lib": tip},
        {**rig.wheels, "pyproject.toml": text_of(repo, LANDING), CONFIGS: text_of(repo, LANDING, CONFIGS)},
        before=text_of(repo, "main", "uv.lock"),
    )
    assert text_of(repo, LANDING, "uv.lock") == lock.decode()
    assert git(repo.directory, "log", "-1", "--format=%B", LANDING) == (
        f"""\
Bump lib

deps/lib {old[:7]} -> {tip[:7]}, version 0.2.0
- Past the release
- lib 0.2.0

Floors:
- lib 0.1 -> 0.2.0 in packages/configs/pyproject.toml
- lib 0.1 -> 0.2.0 in pyproject.toml

Bump: lib
Pin: lib {old[:7]}..{tip[:7]}
"""
    )
    assert checked(pinctl, repo, "--base", "main", "--head", LANDING).answer() == (0, [])
    with unchanged(repo.directory):
        again = answered(pinctl, repo, "bump", "lib")
    assert again == landing | {"already_landed": True}


def test_it_says_in_words_what_it_did(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = plain(UvRig(top=tmp_path))

    first = pinctl("bump", "lib", cwd=repo.directory)
    again = pinctl("bump", "lib", cwd=repo.directory)

    move = f"  deps/lib {lib.oid('v0.1.0')[:7]} -> {lib.oid()[:7]}  0.3.0rc1\n"
    commit = repo.oid(LANDING)[:7]
    assert (first.status, first.stderr) == (0, "")
    assert first.stdout == f"landed: {LANDING} is {commit}, on {repo.oid('main')[:7]}\n{move}"
    assert (again.status, again.stderr) == (0, "")
    assert again.stdout == f"already there: {LANDING} has it as {commit}; nothing was changed\n{move}"


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ("lib", "main"),
        ("deps/lib", "main"),
        ("lib@main", "main"),
        ("lib@HEAD", "main"),
        ("lib@v0.2.0", "v0.2.0"),
        ("deps/lib@v0.3.0rc1", "v0.3.0rc1"),
        ("lib@FULL", "v0.2.0"),
        ("lib@SHORT", "v0.2.0"),
        ("--release lib", "v0.2.0"),
        ("--release lib@main", "main"),
    ],
)
def test_a_pin_goes_to_the_tip_to_a_release_or_to_a_revision(
    tmp_path: Path, pinctl: Pinctl, spec: str, wanted: str
) -> None:
    rig = UvRig(top=tmp_path)
    repo, lib = plain(rig)
    # The remote's HEAD need not name the branch that a mirror would be made with.
    lib.git("symbolic-ref", "HEAD", "refs/heads/main")
    release = lib.oid("v0.2.0")
    words = spec.replace("FULL", release).replace("SHORT", release[:8]).split()

    landing = answered(pinctl, repo, "bump", *words)

    assert landing["pins"][0]["to"] == lib.oid(wanted) == pin_of(repo)


def test_a_branch_or_tag_goes_before_an_id_that_it_looks_like(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = plain(UvRig(top=tmp_path))
    name = lib.oid("v0.2.0")[:7]
    lib.git("tag", name, lib.oid("v0.3.0rc1"))

    answered(pinctl, repo, "bump", f"lib@{name}")

    assert pin_of(repo) == lib.oid("v0.3.0rc1")


def test_head_is_the_remotes_own(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    lib = rig.library("lib", "0.1.0", "0.2.0")
    lib.branch("trunk", lib.oid("v0.2.0"))
    lib.branch("main", lib.oid("v0.1.0"))
    lib.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    repo = rig.superproject({"lib": lib.oid("v0.1.0")}, files={"pins.toml": rig.pins_toml("lib")})

    for spec in ("lib@HEAD", "lib"):
        answered(pinctl, repo, "bump", spec)
        assert pin_of(repo) == lib.oid("v0.2.0")


def test_a18_several_components_move_in_one_commit(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    libs = {name: rig.library(name, "0.1.0", "0.2.0") for name in ("a", "b", "c")}
    pins = {name: lib.oid("v0.1.0") for name, lib in libs.items()}
    repo = rig.superproject(pins, files={"pins.toml": rig.pins_toml(*libs)})

    landing = answered(pinctl, repo, "bump", "c@v0.2.0", "deps/a")

    assert landing["branch"] == "landing/bump-a-c"
    assert [pin["component"] for pin in landing["pins"]] == ["c", "a"]
    assert changed(repo, "main", "landing/bump-a-c") == ["deps/a", "deps/c", "pins.toml"]
    assert repo.git("log", "-1", "--format=%s", "landing/bump-a-c") == "Bump c and a"


def test_a44_a_component_that_is_there_already_is_no_failure_among_others(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    libs = {name: rig.library(name, "0.1.0", "0.2.0") for name in ("a", "b")}
    repo = rig.superproject(
        {"a": libs["a"].oid(), "b": libs["b"].oid("v0.1.0")}, files={"pins.toml": rig.pins_toml(*libs)}
    )

    landing = answered(pinctl, repo, "bump", "a", "b")

    assert [pin["component"] for pin in landing["pins"]] == ["b"]
    assert changed(repo, "main", landing["branch"]) == ["deps/b", "pins.toml"]


def test_a44_a_pin_that_is_there_already_is_success_and_changes_nothing(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, _ = plain(UvRig(top=tmp_path), at="v0.2.0")

    for words in (("lib@v0.2.0",), ("--release", "lib"), ("--release", "lib", "--plan")):
        with unchanged(repo.directory):
            result = pinctl("bump", *words, cwd=repo.directory)
        assert (result.status, result.stderr) == (0, "")
    result = pinctl("bump", "--release", "lib", cwd=repo.directory)
    assert result.stdout == f"already there: main has it as {repo.oid('main')[:7]}; nothing was changed\n"


def test_floors_that_are_behind_are_raised_though_the_pin_is_there_already(tmp_path: Path, pinctl: Pinctl) -> None:
    """prime-rl#4056: floors to released versions, with the pin of verifiers where it was."""
    rig = UvRig(top=tmp_path)
    lib = rig.library("lib", "0.1.0", "0.2.0")
    pins_toml = rig.declared("lib", more={"lib": f'floor = "release"\ncommit = "{lib.oid()}"'})
    repo = rig.locked({"lib": lib.oid()}, manifest=rig.root("lib", requires=["lib>=0.1"]), pins_toml=pins_toml)

    rehearsal = answered(pinctl, repo, "bump", "lib", "--plan")
    landing = answered(pinctl, repo, "bump", "lib")

    assert [(floor["from"], floor["to"]) for floor in rehearsal["floors"]] == [("lib>=0.1", "lib>=0.2.0")]
    assert landing["already_landed"] is False
    assert changed(repo, "main", LANDING) == ["pyproject.toml"]
    assert repo.git("log", "-1", "--format=%s", LANDING) == "Raise the floors of lib"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lbi"], "there is no component 'lbi'; did you mean 'lib'?"),
        (["deps/lbi@main"], "there is no component 'deps/lbi'; did you mean 'deps/lib'?"),
        (["@main"], "there is no component ''; there are 'lib'"),
        (["lib", "deps/lib"], "lib is named twice"),
        (["lib@main", "lib@v0.2.0"], "lib is named twice"),
        (["lib@"], "'lib@' names no revision"),
        (["lib", "--rollback", "  "], "--rollback wants a reason"),
        (["lib", "--plan", "--push"], "--plan does nothing, so there is nothing to --push"),
    ],
)
def test_a_command_line_that_cannot_be_understood_is_told_with_the_nearest_right_one(
    tmp_path: Path, pinctl: Pinctl, words: list[str], message: str
) -> None:
    repo, _ = plain(UvRig(top=tmp_path))
    with unchanged(repo.directory):
        result = pinctl("bump", *words, cwd=repo.directory)
    assert (result.status, result.stdout) == (2, "")
    assert result.stderr.splitlines()[0] == f"error: {message}"


@pytest.mark.parametrize("words", [[], ["--no-such-option", "lib"], ["lib", "--format", "yaml"]])
def test_a_command_line_that_is_wrong_is_no_bug_of_pinctl(tmp_path: Path, pinctl: Pinctl, words: list[str]) -> None:
    result = pinctl("bump", *words, cwd=tmp_path)
    assert (result.status, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lib@nowhere"], "lib: nowhere cannot be fetched: its remote has no such commit"),
        (["lib@1234567"], "lib: 1234567 cannot be fetched: its remote has no such commit"),
        (["lib@" + "5" * 40], f"lib: {'5' * 12} cannot be fetched: its remote has no such commit"),
        (["lib", "--onto", "nowhere"], "super has no branch nowhere"),
        (["--release", "none"], "none has no release: no tag matches v[0-9]*"),
    ],
)
def test_what_is_not_there_could_not_be_found_out(
    tmp_path: Path, pinctl: Pinctl, words: list[str], message: str
) -> None:
    rig = UvRig(top=tmp_path)
    lib, none = rig.library("lib"), rig.component("none")
    repo = rig.superproject(
        {"lib": lib.oid(), "none": none.oid("main~1")}, files={"pins.toml": rig.pins_toml("lib", "none")}
    )
    with unchanged(repo.directory):
        result = pinctl("bump", *words, cwd=repo.directory)
    assert (result.status, result.stdout) == (3, "")
    assert result.stderr.splitlines()[0] == f"error: {message}"


def test_with_plan_it_shows_everything_and_publishes_nothing(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    rig.third_party("third", "1.0")
    lib = rig.library("lib", "0.1.0", "0.2.0")
    manifest = rig.root("lib", requires=["lib>=0.1", "third"])
    pins_toml = rig.declared("lib", more={"lib": 'floor = "release"'})
    repo = rig.locked({"lib": lib.oid("v0.1.0")}, manifest=manifest, pins_toml=pins_toml)
    old, new = lib.oid("v0.1.0"), lib.oid()

    with unchanged(repo.directory):
        rehearsal = answered(pinctl, repo, "bump", "lib", "--plan")
        result = pinctl("bump", "lib", "--plan", cwd=repo.directory)

    diff = rehearsal.pop("diff")
    assert rehearsal == {
        "plan": None,
        "target": "main",
        "parent": repo.oid("main"),
        "changes": [],
        "constraints": [],
        "pins": [
            {"component": "lib", "path": "deps/lib", "from": old, "to": new, "version": "0.2.0", "pulls": []},
        ],
        "floors": [
            {"component": "lib", "manifest": "pyproject.toml", "line": 6, "from": "lib>=0.1", "to": "lib>=0.2.0"},
        ],
        "entries": [],
        "excluded": [],
        "lock": {"first_party": ["lib 0.1.0 -> 0.2.0"], "third_party": [], "format_only": False},
    }
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout == (
        f"Bump, onto main {repo.oid('main')[:7]}\n"
        f"  pin       deps/lib {old[:7]} -> {new[:7]}  0.2.0\n"
        "  floor     pyproject.toml:6 lib>=0.1 -> lib>=0.2.0\n"
        "  lock      ours: lib 0.1.0 -> 0.2.0\n"
        f"\n{diff}"
    )
    assert answered(pinctl, repo, "bump", "lib")["commit"] == repo.oid(LANDING)
    assert repo.git("diff-tree", "-r", "-p", "main", LANDING) == diff.removesuffix("\n")


def test_pushed_it_is_the_only_thing_that_is_new_on_the_remote(tmp_path: Path, pinctl: Pinctl, git: Git) -> None:
    here, _ = plain(UvRig(top=tmp_path))
    there = tmp_path / "super.git"
    git(tmp_path, "clone", "--quiet", "--bare", here.directory, there)
    git(here.directory, "remote", "add", "origin", there)
    before = snapshot(there)

    landing = answered(pinctl, here, "bump", "lib", "--push")

    assert landing["pushed"] == "origin"
    assert difference(before, snapshot(there)) == {f"ref refs/heads/{LANDING}", f"file refs/heads/{LANDING}"}
    assert git(there, "rev-parse", LANDING) == landing["commit"] == here.oid(LANDING)
    with unchanged(there, here.directory):
        again = answered(pinctl, here, "bump", "lib", "--push")
    assert again == landing | {"already_landed": True}


def test_a_foreign_branch_of_that_name_on_the_remote_is_left_alone(tmp_path: Path, pinctl: Pinctl, git: Git) -> None:
    here, _ = plain(UvRig(top=tmp_path))
    there = Repo(directory=tmp_path / "super.git")
    git(tmp_path, "clone", "--quiet", "--bare", here.directory, there.directory)
    git(here.directory, "remote", "add", "origin", there.directory)
    there.commit(LANDING, "Somebody's own", files={"mine": "x\n"}, parents=[there.oid("main")])

    with unchanged(there.directory):
        result = pinctl("bump", "lib", "--push", cwd=here.directory)

    assert (result.status, result.stdout) == (4, "")
    assert f"{LANDING} stands here at {here.oid(LANDING)[:7]}" in result.stderr


def test_it_lands_on_the_remotes_tip_where_that_is_ahead(tmp_path: Path, pinctl: Pinctl, git: Git) -> None:
    here, _ = plain(UvRig(top=tmp_path))
    there = Repo(directory=tmp_path / "super.git")
    git(tmp_path, "clone", "--quiet", "--bare", here.directory, there.directory)
    git(here.directory, "remote", "add", "origin", there.directory)
    tip = there.commit(message="Meanwhile", files={"code.py": "x = 2\n"})
    main = here.oid("main")

    landing = answered(pinctl, here, "bump", "lib")

    assert (landing["parent"], here.oid("main")) == (tip, main)


def test_onto_another_branch_it_starts_from_that(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = plain(UvRig(top=tmp_path))
    stable = repo.commit("stable", "Fork", gitlinks={"deps/lib": lib.oid("v0.2.0")}, parents=[repo.oid("main")])

    landing = answered(pinctl, repo, "bump", "lib", "--onto", "stable")

    assert (landing["parent"], landing["pins"][0]["from"]) == (stable, lib.oid("v0.2.0"))


def test_work_in_the_files_that_it_writes_is_in_the_way_and_other_work_is_not(
    tmp_path: Path, pinctl: Pinctl, git: Git
) -> None:
    """What is staged or changed elsewhere stays so, and out of the commit."""
    repo, _ = plain(UvRig(top=tmp_path))
    (repo.directory / "pins.toml").write_text("# mine\n" + (repo.directory / "pins.toml").read_text())
    with unchanged(repo.directory):
        (found,) = refusals(pinctl, repo, "bump", "lib")
    assert (found["kind"], found["details"]) == ("dirty", ["pins.toml"])

    git(repo.directory, "checkout", "--quiet", "pins.toml")
    (repo.directory / "code.py").write_text("x = 3\n")
    git(repo.directory, "add", "code.py")
    (repo.directory / "code.py").write_text("x = 4\n")
    (repo.directory / "new.py").write_text("new\n")
    before = snapshot(repo.directory)

    answered(pinctl, repo, "bump", "lib")

    assert difference(before, snapshot(repo.directory)) == published(LANDING)
    assert changed(repo, "main", LANDING) == ["deps/lib", "pins.toml"]


def test_a_branch_of_that_name_that_is_somebodys_own_is_left_alone(tmp_path: Path, pinctl: Pinctl, git: Git) -> None:
    repo, _ = plain(UvRig(top=tmp_path))
    repo.commit(LANDING, "Mine", files={"mine": "mine\n"}, parents=[repo.oid("main")])

    with unchanged(repo.directory):
        (found,) = refusals(pinctl, repo, "bump", "lib")
    assert found["kind"] == "branch-taken"
    assert found["hint"] == f"Rename it: git branch -m {LANDING} NEW-NAME"

    git(repo.directory, "branch", "--delete", "--force", LANDING)
    answered(pinctl, repo, "bump", "lib")
    git(repo.directory, "checkout", "--quiet", LANDING)
    repo.commit("main", "Move on", files={"code.py": "x = 5\n"})
    with unchanged(repo.directory):
        (found,) = refusals(pinctl, repo, "bump", "lib")
    assert found["message"] == f"{LANDING} is checked out, and a landing never moves a branch under a checkout"


def test_an_older_bump_of_the_same_component_is_replaced(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = plain(UvRig(top=tmp_path))
    answered(pinctl, repo, "bump", "lib@v0.2.0")
    landing = answered(pinctl, repo, "bump", "lib")
    assert (landing["already_landed"], pin_of(repo)) == (False, lib.oid())


def test_without_a_pins_toml_any_superproject_can_be_bumped(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    rig.third_party("third", "1.0")
    lib = rig.library("lib", "0.1.0", "0.2.0")
    manifest = rig.root("lib", requires=["lib>=0.1", "third"])
    repo = rig.locked({"lib": lib.oid("v0.1.0")}, manifest=manifest)

    answered(pinctl, repo, "bump", "lib")

    # Nothing says that lib is a distribution, so its floors stay; the lock is found by its name.
    assert changed(repo, "main", LANDING) == ["deps/lib", "uv.lock"]
    assert checked(pinctl, repo, "--base", "main", "--head", LANDING).answer() == (0, [])


@pytest.mark.parametrize(
    ("name", "branch"),
    [
        ("deps/lib ü", "landing/bump-deps/lib-ü"),
        ("a~^:?*[b", "landing/bump-a-b"),
        ("deps/.lib.lock", "landing/bump-deps/-lib-"),
        ("x@{y}.", "landing/bump-x-y}-"),
    ],
)
def test_a_submodule_whose_name_no_branch_can_have_is_bumped(
    tmp_path: Path, pinctl: Pinctl, name: str, branch: str
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    modules = rig.module("lib").replace('"lib"', f'"{name}"')
    repo = rig.superproject({"lib": lib.oid("main~1")}, modules=modules)

    landing = answered(pinctl, repo, "bump", "deps/lib")

    assert landing["branch"] == branch
    assert pin_of(repo, branch) == lib.oid()


def test_submodules_that_are_checked_out_elsewhere_or_not_at_all_make_no_difference(
    tmp_path: Path, pinctl: Pinctl, git: Git
) -> None:
    rig = UvRig(top=tmp_path)
    lib = rig.library("lib", "0.1.0", "0.2.0")
    manifest = rig.root("lib", requires=["lib"])
    repo = rig.locked({"lib": lib.oid("v0.1.0")}, manifest=manifest, pins_toml=rig.declared("lib"))
    without = answered(pinctl, repo, "bump", "lib")
    git(repo.directory, "branch", "--delete", "--force", LANDING)
    git(repo.directory, "submodule", "--quiet", "update", "--init")
    (repo.directory / "deps/lib/pyproject.toml").write_text("broken [")
    (repo.directory / "deps/lib/dirt").write_text("x")
    before = snapshot(repo.directory)

    assert answered(pinctl, repo, "bump", "lib") == without

    assert difference(before, snapshot(repo.directory)) == published(LANDING)
