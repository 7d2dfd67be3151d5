"""PIN007: a submodule's URL is that of pins.toml, and does not change without a word."""

from pathlib import Path

import pytest

from support import Pinctl
from support.rig import Repo, Rig, checked

RANGE = ("--base", "main", "--head", "pr")


def _changed(rig: Rig, url: str, *, declared: str | None = None, declared_after: str | None = None) -> Repo:
    """Makes a pull request that changes the URL of lib, and maybe what pins.toml says of it."""
    lib = rig.component("lib")

    def files(one: str, other: str | None) -> dict[str, str | bytes | None]:
        more = {"lib": f'url = "{other}"'} if other is not None else {}
        return {".gitmodules": rig.module("lib", url=one), "pins.toml": rig.pins_toml("lib", more=more)}

    repo = rig.superproject({"lib": lib.oid()}, files=files("https://h.example/o/lib.git", declared))
    after = files(url, declared if declared_after is None else declared_after)
    repo.commit("pr", "Change the URL", files=after, parents=[repo.oid()])
    return repo


def test_a_url_that_changes_is_broken_and_both_are_named(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _changed(Rig(top=tmp_path), "https://h.example/fork/lib.git")

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (1, [("PIN007", ".gitmodules")])
    assert found.only["line"] == 3
    assert found.messages == [
        "the URL of deps/lib changed from https://h.example/o/lib.git to https://h.example/fork/lib.git"
    ]
    assert found.only["fix"] == "git config -f .gitmodules submodule.lib.url https://h.example/o/lib.git"


@pytest.mark.parametrize("url", ["https://h.example/o/lib", "https://h.example/o/lib/", "https://h.example/o/lib.git"])
def test_a_url_that_is_the_declared_one_in_other_words_is_fine(tmp_path: Path, pinctl: Pinctl, url: str) -> None:
    repo = _changed(Rig(top=tmp_path), url, declared="https://h.example/o/lib.git")

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])


def test_a_url_that_is_not_the_declared_one_is_broken(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _changed(Rig(top=tmp_path), "https://h.example/fork/lib.git", declared="https://h.example/o/lib.git")

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (1, [("PIN007", ".gitmodules")])
    assert found.messages == [
        "deps/lib is at https://h.example/fork/lib.git, pins.toml says https://h.example/o/lib.git"
    ]


def test_a_url_that_changes_together_with_its_declaration_is_fine(tmp_path: Path, pinctl: Pinctl) -> None:
    new = "https://h.example/fork/lib.git"
    repo = _changed(Rig(top=tmp_path), new, declared="https://h.example/o/lib.git", declared_after=new)

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])


def test_a_change_of_something_else_in_gitmodules_is_fine(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid()})
    repo.commit("pr", "Name a branch", files={".gitmodules": rig.module("lib", branch="main")}, parents=[repo.oid()])

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])
