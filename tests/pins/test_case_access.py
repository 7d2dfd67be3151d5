"""Repositories of other owners, and remotes that cannot be read: unknown, or left out, never a pass."""

from pathlib import Path

import pytest

from support import Git, Pinctl
from support.rig import Repo, Rig, checked

RANGE = ("--base", "main", "--head", "pr")
NOWHERE = "5" * 40


def _bump(rig: Rig, before: str, after: str) -> Repo:
    repo = rig.superproject({"lib": before})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": after}, parents=[repo.oid()])
    return repo


def _assume_other_owner(monkeypatch: pytest.MonkeyPatch, file: Path, *safe: Path) -> None:
    """Makes git take every repository for somebody else's, but for some directories that a file lists."""
    file.write_text("[safe]\n" + "".join(f"\tdirectory = {directory}\n" for directory in safe))
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(file))


def test_a32_a_superproject_of_another_owner_is_unknown_and_named(
    tmp_path: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = _bump(rig, lib.oid("main~1"), lib.oid())
    _assume_other_owner(monkeypatch, tmp_path / "config")

    result = pinctl("check", *RANGE, cwd=repo.directory)

    assert (result.status, result.stdout) == (3, "")
    assert result.stderr == (
        f"error: git refuses to read {repo.directory}: it belongs to another user\n"
        f"hint: If that is right: git config --global --add safe.directory {repo.directory}\n"
    )


def test_a32_a_submodule_of_another_owner_makes_no_difference(
    tmp_path: Path, pinctl: Pinctl, git: Git, monkeypatch: pytest.MonkeyPatch, shared_cache: Path
) -> None:
    """Histories come from mirrors, and a submodule's own is not asked."""
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = _bump(rig, lib.oid(), lib.oid("main~1"))
    git(repo.directory, "submodule", "--quiet", "update", "--init")
    expected = checked(pinctl, repo, *RANGE)
    mirrors = (shared_cache / "pinctl/mirrors").glob("*/")
    _assume_other_owner(monkeypatch, tmp_path / "config", repo.directory, lib.directory, *mirrors)

    found = checked(pinctl, repo, *RANGE)

    assert (found.answer(), found.messages) == (expected.answer(), expected.messages)


def test_a32_a_remote_of_another_owner_is_unknown_and_named(
    tmp_path: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch, shared_cache: Path
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = _bump(rig, lib.oid("main~1"), lib.oid())
    checked(pinctl, repo, *RANGE)
    mirrors = (shared_cache / "pinctl/mirrors").glob("*/")
    _assume_other_owner(monkeypatch, tmp_path / "config", repo.directory, *mirrors)

    found = checked(pinctl, repo, *RANGE)

    assert found.status == 3
    assert found.only["unknown"]
    assert f"detected dubious ownership in repository at '{lib.directory}'" in found.messages[0]


def test_a41_a_remote_that_is_not_there_is_unknown(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = _bump(rig, lib.oid("main~1"), lib.oid())
    lib.directory.rename(tmp_path / "gone.git")

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (3, [("?PIN001", "deps/lib")])
    assert found.messages == [
        (
            f"could not find out: the remote {lib.directory} does not answer: "
            f"'{lib.directory}' does not appear to be a git repository"
        )
    ]
    assert pinctl("status", cwd=repo.directory).status == 3


def test_a41_a_component_that_is_skipped_is_named_with_the_reason_and_not_asked(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib, other = rig.component("lib"), rig.component("other")
    pins_toml = rig.pins_toml("lib", "other", more={"lib": 'skip = "private, and forks cannot read it"'})
    repo = rig.superproject({"lib": NOWHERE, "other": other.oid("main~1")}, files={"pins.toml": pins_toml})
    moved = {"deps/lib": lib.oid(), "deps/other": other.oid()}
    repo.commit("pr", "Bump both", gitlinks=moved, parents=[repo.oid()])
    repo.switch("pr")
    lib.directory.rename(tmp_path / "gone.git")

    result = pinctl("check", *RANGE, cwd=repo.directory)

    assert (result.status, result.stderr) == (0, "")
    assert result.stdout == (
        f"ok: {repo.oid()[:7]}..{repo.oid('pr')[:7]} (the command line), "
        "judged 2 of 2 pins that moved, not lib (private, and forks cannot read it)\n"
    )


def test_a41_status_does_not_ask_for_a_skipped_component_either(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    pins_toml = rig.pins_toml("lib", more={"lib": 'skip = "private"'})
    repo = rig.superproject({"lib": lib.oid()}, files={"pins.toml": pins_toml})
    lib.directory.rename(tmp_path / "gone.git")

    result = pinctl("status", cwd=repo.directory)

    assert result.status == 0
    assert "note: lib is not looked at: private" in result.stdout
