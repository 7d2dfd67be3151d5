"""PIN005: pins that hold a change which its branch has undone since, and reverts of reverts."""

from pathlib import Path

import pytest

from support import Pinctl
from support.rig import Repo, Rig, checked


def _reverts(rig: Rig) -> tuple[Repo, dict[str, str]]:
    """Makes a component that gets a change, reverts it, and reverts the revert at last, with commits between."""
    lib = rig.component("lib")
    commits = {"before": lib.oid()}
    commits["change"] = lib.commit(message="Work", files={"new": "new\n"})
    commits["between"] = lib.commit(message="Between", files={"between": "x\n"})
    body = f"This reverts commit {commits['change']}."
    commits["revert"] = lib.commit(message=f'Revert "Work"\n\n{body}\n', files={"new": None})
    commits["after"] = lib.commit(message="After", files={"after": "x\n"})
    return lib, commits


@pytest.mark.parametrize(
    ("again", "pinned", "message"),
    [
        (False, "before", None),
        (False, "change", "{change} is on main, but reverted by {revert}"),
        (False, "between", "{between} holds {change}, which {revert} reverted on main"),
        (False, "revert", None),
        (False, "after", None),
        (True, "before", None),
        (True, "change", None),
        (True, "between", None),
        (True, "revert", "{revert} is on main, but reverted by {again}"),
        (True, "after", "{after} holds {revert}, which {again} reverted on main"),
        (True, "again", None),
    ],
)
def test_a_pin_between_a_change_and_its_revert_is_broken_until_the_revert_is_reverted(
    tmp_path: Path, pinctl: Pinctl, pinned: str, message: str | None, *, again: bool
) -> None:
    rig = Rig(top=tmp_path)
    lib, commits = _reverts(rig)
    if again:
        body = f"This reverts commit {commits['revert']}."
        text = f'Revert "Revert "Work""\n\n{body}\n'
        commits["again"] = lib.commit(message=text, files={"new": "new\n"})
    repo = rig.superproject({"lib": lib.oid(f"{commits['before']}~1")})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": commits[pinned]}, parents=[repo.oid()])

    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    short = {name: oid[:7] for name, oid in commits.items()}
    expected = [] if message is None else [message.format(**short)]
    assert (found.status, found.messages) == (1 if expected else 0, expected)
    assert [code for code, _ in found.rules] == ["PIN005"] * len(expected)


def test_a_revert_of_something_else_is_no_matter(tmp_path: Path, pinctl: Pinctl) -> None:
    """What a branch undid of itself before it was squashed was never on main."""
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    never = lib.commit("work", "Work", files={"new": "new\n"}, parents=[lib.oid()])
    body = f"* Work\n\n* Revert it\n\nThis reverts commit {never}.\n\nThis reverts commit {'5' * 40}.\n"
    lib.commit(message=f"Other work (#1)\n\n{body}", files={"other": "x\n"})
    repo = rig.superproject({"lib": lib.oid("main~2")})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": lib.oid("main~1")}, parents=[repo.oid()])

    assert checked(pinctl, repo, "--base", "main", "--head", "pr").answer() == (0, [])


def test_an_orphan_whose_squash_was_reverted_is_not_told_to_pin_that(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    orphan = lib.commit("refs/pull/1/head", "Work", files={"new": "new\n"}, parents=[lib.oid()])
    squash = lib.commit(message="Work (#1)", files={"new": "new\n"})
    revert = lib.commit(message=f'Revert "Work"\n\nThis reverts commit {squash}.\n', files={"new": None})
    repo = rig.superproject({"lib": lib.oid("main~2")})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": orphan}, parents=[repo.oid()])

    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    assert found.answer() == (1, [("PIN001", "deps/lib")])
    assert found.messages == [
        (
            f"{orphan[:7]} is not on main; its content was there as {squash[:7]} (same tree), "
            f"and was reverted by {revert[:7]}"
        )
    ]
    assert found.only["fix"] == f"git update-index --cacheinfo 160000,{revert},deps/lib"


def test_a_change_that_was_reverted_by_the_forges_button_is_found_too(tmp_path: Path, pinctl: Pinctl) -> None:
    """GitHub's revert, squashed: it names the pull request, and no commit."""
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    squash = lib.commit(message="Work (#1)", files={"new": "new\n"})
    revert = lib.commit(message='Revert "Work" (#2)\n\nReverts some-body/lib#1\n', files={"new": None})
    repo = rig.superproject({"lib": lib.oid("main~2")})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": squash}, parents=[repo.oid()])

    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    assert found.answer() == (1, [("PIN005", "deps/lib")])
    assert found.messages == [f"{squash[:7]} is on main, but reverted by {revert[:7]}"]
