"""Lands while the user is busy with something else: their checkout, index, configuration and HEAD stay as they are."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from support import Demo, Git, Pinctl
from support.snapshot import difference, snapshot
from support.stack import CONFIGS_MANIFEST, LANDING, PUBLISHED, SERVER_BRANCH, commit, text_at

Prepare = Callable[[Path, Git], None]


def _detached(checkout: Path, git: Git) -> None:
    git(checkout, "checkout", "--quiet", "--detach", "HEAD~1")


def _on_the_server_branch(checkout: Path, git: Git) -> None:
    git(checkout, "checkout", "--quiet", SERVER_BRANCH)


def _in_the_middle_of_work(checkout: Path, git: Git) -> None:
    git(checkout, "checkout", "--quiet", "-b", "mine")
    (checkout / "README.md").write_text("staged\n")
    git(checkout, "add", "README.md")
    (checkout / "README.md").write_text("and more\n")
    (checkout / "untracked.py").write_text("untracked\n")
    git(checkout, "rm", "--quiet", "src/prime_rl/orchestrator/rollout.py")
    # A submodule that is somewhere else, and dirty.
    git(checkout / "deps/verifiers", "checkout", "--quiet", "HEAD~1")
    (checkout / "deps/verifiers/README.md").write_text("mine\n")


def _in_the_middle_of_a_merge(checkout: Path, git: Git) -> None:
    (checkout / "mine").write_text("mine\n")
    git(checkout, "add", "mine")
    (checkout / ".git/MERGE_HEAD").write_text(git(checkout, "rev-parse", "HEAD~1") + "\n")


def _with_settings_that_change_what_git_says(checkout: Path, git: Git) -> None:
    for key, value in (
        ("diff.noprefix", "true"),
        ("diff.external", "false"),
        ("diff.ignoreSubmodules", "all"),
        ("color.ui", "always"),
        ("core.quotePath", "true"),
        ("status.short", "true"),
        ("log.decorate", "full"),
        ("log.date", "relative"),
        ("fetch.prune", "true"),
        ("fetch.recurseSubmodules", "true"),
        ("submodule.recurse", "true"),
        ("commit.gpgSign", "true"),
        ("user.signingKey", "nobody"),
    ):
        git(checkout, "config", key, value)


@pytest.mark.parametrize(
    "prepare",
    [
        _detached,
        _on_the_server_branch,
        _in_the_middle_of_work,
        _in_the_middle_of_a_merge,
        _with_settings_that_change_what_git_says,
    ],
)
def test_nothing_but_the_landing_branch_is_new(demo: Demo, pinctl: Pinctl, git: Git, prepare: Prepare) -> None:
    prepare(demo.superproject, git)
    before = snapshot(demo.superproject)
    remotes = [snapshot(demo.remote(name)) for name in ("prime-rl", "renderers", "verifiers")]
    main = git(demo.superproject, "rev-parse", "main")

    result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert result.status == 0, result.stderr + result.stdout
    assert difference(before, snapshot(demo.superproject)) == PUBLISHED
    assert [snapshot(demo.remote(name)) for name in ("prime-rl", "renderers", "verifiers")] == remotes
    assert git(demo.superproject, "rev-parse", f"{LANDING}^@") == main


@pytest.mark.usefixtures("own_cache")
def test_a_first_run_leaves_no_traces_of_what_it_ran_either(demo: Demo, pinctl: Pinctl) -> None:
    """Nothing is answered from what other runs have found out: uv, build backends and probes all run."""
    before = snapshot(demo.superproject)
    remotes = [snapshot(demo.remote(name)) for name in ("prime-rl", "renderers", "verifiers")]

    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0

    assert difference(before, snapshot(demo.superproject)) == PUBLISHED
    assert [snapshot(demo.remote(name)) for name in ("prime-rl", "renderers", "verifiers")] == remotes


def test_a_staged_file_that_is_none_of_the_landings_stays_staged_and_out_of_it(
    demo: Demo, pinctl: Pinctl, git: Git
) -> None:
    (demo.superproject / "README.md").write_text("staged\n")
    (demo.superproject / "new.py").write_text("staged\n")
    git(demo.superproject, "add", "README.md", "new.py")

    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0

    assert git(demo.superproject, "diff", "--cached", "--name-status").splitlines() == ["M\tREADME.md", "A\tnew.py"]
    assert git(demo.superproject, "diff", "--name-only", "main", LANDING, "--", "README.md", "new.py") == ""


def test_it_lands_from_any_directory_of_the_checkout_and_of_a_submodule(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    first = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject / "src/prime_rl/inference")
    again = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject / "deps/verifiers/verifiers")

    assert first.status == again.status == 0
    assert json.loads(again.stdout) == json.loads(first.stdout) | {"already_landed": True}
    assert git(demo.superproject, "rev-parse", LANDING) == json.loads(first.stdout)["commit"]
    assert git(demo.superproject / "deps/verifiers", "for-each-ref", "refs/heads/landing") == ""


def test_it_lands_from_a_linked_worktree(demo: Demo, pinctl: Pinctl, git: Git, tmp_path: Path) -> None:
    git(demo.superproject, "worktree", "add", "--quiet", "-b", "mine", tmp_path / "linked", "main~1")
    before = snapshot(tmp_path / "linked")
    around = snapshot(demo.superproject)

    assert pinctl("land", "packed-generate", cwd=tmp_path / "linked").status == 0

    assert difference(around, snapshot(demo.superproject)) == PUBLISHED
    assert difference(before, snapshot(tmp_path / "linked")) == {f"ref refs/heads/{LANDING}"}
    assert git(demo.superproject, "rev-parse", f"{LANDING}^@") == git(demo.superproject, "rev-parse", "main")


def test_it_lands_where_only_a_part_is_checked_out(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    git(demo.superproject, "sparse-checkout", "set", "src", "landing_plans")
    assert not (demo.superproject / CONFIGS_MANIFEST).exists()
    before = snapshot(demo.superproject)

    result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert result.status == 0, result.stderr + result.stdout
    assert difference(before, snapshot(demo.superproject)) == PUBLISHED
    assert "verifiers>=0.4.0" in text_at(demo.superproject, LANDING, CONFIGS_MANIFEST)


def test_it_lands_on_the_branch_that_the_user_names(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    git(demo.remote("prime-rl"), "branch", "release", "main~1")

    result = pinctl("land", "packed-generate", "--onto", "release", "--format", "json", cwd=demo.superproject)

    assert result.status == 0, result.stderr + result.stdout
    assert json.loads(result.stdout)["parent"] == git(demo.superproject, "rev-parse", "main~1")
    assert git(demo.superproject, "diff", "--name-only", "main~1", LANDING, "--", "src/prime_rl/trainer") == ""


def test_it_lands_with_a_pins_toml_kept_in_a_repository_of_its_own(
    demo: Demo, pinctl: Pinctl, git: Git, tmp_path: Path
) -> None:
    orchestrator = tmp_path / "orchestrator"
    orchestrator.mkdir()
    for name in ("pins.toml", "landing_plans"):
        (demo.superproject / name).rename(orchestrator / name)
    git(demo.superproject, "commit", "--quiet", "--all", "--message", "Keep the pins elsewhere")
    git(demo.superproject, "push", "--quiet", "origin", "main")
    commit(demo.remote("prime-rl"), SERVER_BRANCH, "Likewise", files={"pins.toml": None})
    before = snapshot(demo.superproject)
    beside = snapshot_of_files(orchestrator)

    result = pinctl("--superproject", demo.superproject, "land", "packed-generate", cwd=orchestrator)

    assert result.status == 0, result.stderr + result.stdout
    assert difference(before, snapshot(demo.superproject)) == PUBLISHED
    assert snapshot_of_files(orchestrator) == beside
    assert git(demo.superproject, "ls-tree", "-r", "--name-only", LANDING, "pins.toml", "landing_plans") == ""


def snapshot_of_files(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_the_answer_goes_to_stdout_and_the_talk_to_stderr(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    quiet = pinctl("--quiet", "land", "packed-generate", cwd=demo.superproject)
    git(demo.superproject, "branch", "-D", LANDING)
    loud = pinctl("--verbose", "land", "packed-generate", cwd=demo.superproject)
    git(demo.superproject, "branch", "-D", LANDING)
    plain = pinctl("land", "packed-generate", cwd=demo.superproject)

    main, landing, renderers, verifiers = (
        git(demo.superproject, "rev-parse", "--short=7", name)
        for name in ("main", LANDING, f"{LANDING}:deps/renderers", f"{LANDING}:deps/verifiers")
    )
    old_renderers, old_verifiers = (
        git(demo.superproject, "rev-parse", "--short=7", f"main:deps/{name}") for name in ("renderers", "verifiers")
    )
    answer = (
        f"landed: {LANDING} is {landing}, on {main}\n"
        f"  deps/renderers {old_renderers} -> {renderers}  0.1.12\n"
        f"  deps/verifiers {old_verifiers} -> {verifiers}  0.4.1.dev4+g{verifiers}\n"
    )
    assert (quiet.status, quiet.stdout, quiet.stderr) == (0, answer, "")
    assert (plain.status, plain.stdout, plain.stderr) == (0, answer, f"see it: git show --stat {LANDING}\n")
    assert (loud.status, loud.stdout) == (0, answer)
    assert loud.stderr.splitlines()[:3] == [
        "resolving packed-generate",
        "composing the commit and its lock",
        "running the matrix",
    ]
