"""What moves pins moves all of them, as gitlinks, and nothing else, or nothing at all."""

import json
from pathlib import Path

import pytest

from support import Demo, Git, Pinctl
from support.rig import Repo, Rig
from support.snapshot import difference, snapshot
from support.stack import LANDING, PUBLISHED, RENDERERS_SQUASH, VERIFIERS_SQUASH, by_subject

BRANCH = "landing/bump-lib-other"


def _world(rig: Rig, *, lib: str = "main~2", other: str = "main~1", **files: str) -> Repo:
    """Makes a superproject that records two components in its pins.toml, each behind its tip."""
    repos = {"lib": rig.component("lib"), "other": rig.component("other")}
    pins = {"lib": repos["lib"].oid(lib), "other": repos["other"].oid(other)}
    more = {name: f'branch = "main"\ncommit = "{oid}"' for name, oid in pins.items()}
    pins_toml = rig.pins_toml(*pins, more=more)
    repo = rig.superproject(pins, files={"pins.toml": pins_toml, "code.py": "x = 1\n", **files})
    repo.git("submodule", "--quiet", "update", "--init")
    return repo


def _entries(repo: Repo, revision: str) -> dict[str, tuple[str, str]]:
    lines = repo.git("ls-tree", revision, "deps/").splitlines()
    return {path: (" ".join(head.split()[:2]), head.split()[2]) for head, path in (line.split("\t") for line in lines)}


def _branch(repo: Repo) -> str:
    return repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads/landing")


def test_a18_a24_several_components_move_in_one_commit_as_gitlinks(tmp_path: Path, pinctl: Pinctl) -> None:
    """Commits are made in git's object database, never through a forge's API."""
    rig = Rig(top=tmp_path)
    repo = _world(rig)
    lib, other = (rig.components[name].oid() for name in ("lib", "other"))

    result = pinctl("bump", "lib", "other", cwd=repo.directory)

    assert result.status == 0, result
    branch = _branch(repo)
    assert repo.git("rev-list", "--count", f"main..{branch}") == "1"
    assert repo.git("rev-parse", f"{branch}^@") == repo.oid()
    expected = {"deps/lib": ("160000 commit", lib), "deps/other": ("160000 commit", other)}
    assert _entries(repo, branch) == expected
    changed = repo.git("diff", "--name-only", "--ignore-submodules=none", "main", branch).splitlines()
    assert changed == ["deps/lib", "deps/other", "pins.toml"]
    records = repo.git("cat-file", "blob", f"{branch}:pins.toml")
    assert records.count(lib) == records.count(other) == 1


def test_a18_a24_a_landing_moves_both_pins_as_gitlinks_of_one_commit(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    repo = Repo(directory=demo.superproject)
    squashes = {
        "deps/renderers": by_subject(demo.remote("renderers"), "main", RENDERERS_SQUASH),
        "deps/verifiers": by_subject(demo.remote("verifiers"), "main", VERIFIERS_SQUASH),
    }
    _forbid_commits(repo)
    (demo.superproject / "README.md").write_text("staged\n")
    git(demo.superproject, "add", "README.md")
    before = snapshot(demo.superproject)

    result = pinctl("land", "packed-generate", cwd=demo.superproject)

    # What was staged stays staged, and out of the commit; a hook has no say in what is made beside it.
    assert result.status == 0, result
    assert difference(before, snapshot(demo.superproject)) == PUBLISHED
    assert _entries(repo, LANDING) == {path: ("160000 commit", oid) for path, oid in squashes.items()}
    assert git(demo.superproject, "rev-parse", f"{LANDING}^@") == repo.oid()
    assert git(demo.superproject, "diff", "--name-only", "main", LANDING, "--", "README.md") == ""


def test_a10_a_bump_starts_from_the_tree_and_not_from_the_submodules_checkout(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    repo = _world(rig)
    lib = rig.components["lib"]
    repo.git("-C", repo.directory / "deps/lib", "checkout", "--quiet", lib.oid("main~1"))

    result = pinctl("bump", "lib", "--format", "json", cwd=repo.directory)

    (move,) = json.loads(result.stdout)["pins"]
    assert (move["from"], move["to"]) == (lib.oid("main~2"), lib.oid())


@pytest.mark.parametrize("name", ["lib", "deps/lib"])
def test_a14_a_component_is_named_by_its_name_or_its_path_and_never_by_a_part_of_it(
    tmp_path: Path, pinctl: Pinctl, name: str
) -> None:
    rig = Rig(top=tmp_path)
    repo = _world(rig)

    result = pinctl("bump", name, "--format", "json", cwd=repo.directory)

    assert [move["path"] for move in json.loads(result.stdout)["pins"]] == ["deps/lib"]
    for part in ("li", "deps", "deps/li", "deps/lib/x"):
        assert pinctl("bump", part, cwd=repo.directory).status == 2, part


@pytest.mark.parametrize("wanted", ["main~2", "main~1"])
def test_a10_an_older_commit_is_never_taken_for_an_update(tmp_path: Path, pinctl: Pinctl, wanted: str) -> None:
    rig = Rig(top=tmp_path)
    repo = _world(rig, lib="main")
    before = snapshot(repo.directory)

    result = pinctl("bump", f"lib@{rig.components['lib'].oid(wanted)}", cwd=repo.directory)

    assert result.status == 1, result
    assert difference(before, snapshot(repo.directory)) == set()


def test_a28_other_staged_work_stays_staged_and_out_of_the_commit(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    repo = _world(rig)
    (repo.directory / "foo.txt").write_text("mine\n")
    (repo.directory / "code.py").write_text("x = 2\n")
    repo.git("add", "foo.txt")
    before = snapshot(repo.directory)

    assert pinctl("bump", "lib", cwd=repo.directory).status == 0

    branch = _branch(repo)
    names = {f"ref refs/heads/{branch}", f"file .git/refs/heads/{branch}", f"file .git/logs/refs/heads/{branch}"}
    assert difference(before, snapshot(repo.directory)) == names
    assert repo.git("diff", "--cached", "--name-status", "--ignore-submodules=none") == "A\tfoo.txt"
    assert repo.git("ls-tree", "--name-only", branch, "foo.txt") == ""


@pytest.mark.parametrize("staged", [True, False])
@pytest.mark.parametrize("name", ["pins.toml", "pyproject.toml", ".gitmodules"])
def test_a28_uncommitted_work_in_a_file_that_would_be_written_is_refused(
    tmp_path: Path, pinctl: Pinctl, name: str, *, staged: bool
) -> None:
    repo = _world(Rig(top=tmp_path), **{"pyproject.toml": '[project]\nname = "super"\nversion = "1"\n'})
    with (repo.directory / name).open("a") as file:
        file.write("# mine\n")
    if staged:
        repo.git("add", name)
    before = snapshot(repo.directory)

    result = pinctl("bump", "lib", cwd=repo.directory)

    assert result.status == 1, result
    assert name in result.stdout
    assert difference(before, snapshot(repo.directory)) == set()


def _forbid_commits(repo: Repo) -> None:
    for name in ("pre-commit", "commit-msg", "prepare-commit-msg", "post-checkout"):
        hook = repo.directory / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text('#!/bin/sh\necho "no" >&2\nexit 1\n')
        hook.chmod(0o755)


def test_a29_a_hook_that_forbids_commits_leaves_nothing_half_done(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    repo = _world(rig)
    _forbid_commits(repo)
    before = snapshot(repo.directory)

    result = pinctl("bump", "lib", "other", cwd=repo.directory)

    assert result.status == 0, result
    branch = _branch(repo)
    names = {f"ref refs/heads/{branch}", f"file .git/refs/heads/{branch}", f"file .git/logs/refs/heads/{branch}"}
    assert difference(before, snapshot(repo.directory)) == names


def test_a29_a_ref_that_a_hook_forbids_to_move_is_named_and_nothing_changes(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _world(Rig(top=tmp_path))
    hook = repo.directory / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\n[ "$1" != prepared ]\n')
    hook.chmod(0o755)
    before = snapshot(repo.directory)

    result = pinctl("bump", "lib", cwd=repo.directory)

    assert result.status == 3, result
    assert "landing/bump-lib" in result.stderr
    assert difference(before, snapshot(repo.directory)) == set()


def test_a29_a_lock_that_cannot_be_made_leaves_everything_as_it_was_and_names_the_step(
    tmp_path: Path, pinctl: Pinctl
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib", commits=0)
    project = '[project]\nname = "lib"\nversion = "{}"\nrequires-python = ">=3.11"\ndependencies = [{}]\n'
    lib.commit(message="One", files={"pyproject.toml": project.format("0.1", "")})
    lib.commit(message="Two", files={"pyproject.toml": project.format("0.2", '"lib-that-cannot-be"')})
    root = (
        '[project]\nname = "super"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = ["lib"]\n\n'
        '[tool.uv.sources]\nlib = { path = "deps/lib" }\n'
    )
    pins_toml = rig.pins_toml("lib", more={"lib": 'branch = "main"\ndistribution = "lib"'}, head='lock = "uv.lock"')
    lock = 'version = 1\nrequires-python = ">=3.11"\n'
    files = {"pins.toml": pins_toml, "pyproject.toml": root, "uv.lock": lock}
    repo = rig.superproject({"lib": lib.oid("main~1")}, files=files)
    repo.git("submodule", "--quiet", "update", "--init")
    before = snapshot(repo.directory)

    result = pinctl("bump", "lib", cwd=repo.directory)

    assert result.status in {1, 3}, result
    assert "lock" in result.stdout + result.stderr
    assert "lib-that-cannot-be" in result.stdout + result.stderr
    assert difference(before, snapshot(repo.directory)) == set()


def test_a44_one_component_that_is_already_there_does_not_stop_the_others(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    repo = _world(rig, other="main")

    result = pinctl("bump", "lib", "other", "--format", "json", cwd=repo.directory)

    assert result.status == 0, result
    assert [move["component"] for move in json.loads(result.stdout)["pins"]] == ["lib"]
    assert _entries(repo, _branch(repo))["deps/other"][1] == rig.components["other"].oid()


def test_a44_when_all_are_already_there_nothing_is_done_and_that_is_fine(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    repo = _world(rig, lib="main", other="main")
    before = snapshot(repo.directory)

    result = pinctl("bump", "lib", "other", "--format", "json", cwd=repo.directory)

    assert result.status == 0, result
    assert json.loads(result.stdout)["already_landed"]
    assert difference(before, snapshot(repo.directory)) == set()


def test_a44_a_record_that_disagrees_with_the_gitlink_is_reported_by_status_too(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    repo = _world(rig)
    lib = rig.components["lib"]
    repo.commit("main", "Bump lib by hand", gitlinks={"deps/lib": lib.oid()})

    words = f"pins.toml records {lib.oid('main~2')[:12]}, the pin is {lib.oid()[:7]}"
    assert f"drift: lib: {words}" in pinctl("status", cwd=repo.directory).stdout
    result = pinctl("check", "--all", cwd=repo.directory)
    assert result.status == 1
    assert result.stdout.startswith("PIN009 pins.toml:")
