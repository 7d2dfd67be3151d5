"""Runs the command that each finding gives, as a user would, commits, and checks again: the finding is gone."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support import Pinctl
from support.rig import Checked, Repo, Rig, checked, shell

Build = Callable[[Rig], Repo]


def _bump(rig: Rig, before: str, after: str, **files: str) -> Repo:
    """Makes a pull request, checked out, that moves the pin of lib; files are of its commit."""
    lib = rig.components["lib"]
    repo = rig.superproject({"lib": lib.oid(before)}, files={name: text for name, text in files.items() if text})
    repo.commit("pr", "Move lib", gitlinks={"deps/lib": lib.oid(after)}, parents=[repo.oid()])
    repo.switch("pr")
    return repo


def _twin(rig: Rig) -> Repo:
    lib = rig.component("lib")
    orphan = lib.commit("refs/pull/1/head", "Work", files={"new": "new\n"}, parents=[lib.oid()])
    lib.commit(message="Work (#1)", files={"new": "new\n"})
    lib.commit(message="Later", files={"later": "x\n"})
    return _bump(rig, "main~2", orphan)


def _reverted_twin(rig: Rig) -> Repo:
    """Neither the orphan nor what it was squashed to is good to pin."""
    lib = rig.component("lib")
    orphan = lib.commit("refs/pull/1/head", "Work", files={"new": "new\n"}, parents=[lib.oid()])
    squash = lib.commit(message="Work (#1)", files={"new": "new\n"})
    lib.commit(message=f'Revert "Work"\n\nThis reverts commit {squash}.\n', files={"new": None})
    return _bump(rig, "main~2", orphan)


def _unmerged(rig: Rig) -> Repo:
    lib = rig.component("lib")
    return _bump(rig, "main~1", lib.commit("work", "Work", files={"new": "new\n"}, parents=[lib.oid("main~1")]))


def _back(rig: Rig) -> Repo:
    rig.component("lib")
    return _bump(rig, "main", "main~2")


def _sideways(rig: Rig) -> Repo:
    lib = rig.component("lib")
    side = lib.commit("side", "Side", files={"side": "x\n"}, parents=[lib.oid("main~1")])
    lib.commit(message="Merge", parents=[lib.oid(), side], files={"side": "x\n"})
    return _bump(rig, "main~1", side)


def _off_the_branch(rig: Rig) -> Repo:
    """From one commit that never landed to another; the former is no worse than it was."""
    lib = rig.component("lib")
    one = lib.commit("one", "One", files={"one": "x\n"}, parents=[lib.oid()])
    other = lib.commit("other", "Other", files={"other": "x\n"}, parents=[lib.oid()])
    return _bump(rig, one, other)


def _reverted(rig: Rig) -> Repo:
    lib = rig.component("lib")
    bad = lib.commit(message="Bad", files={"bad": "x\n"})
    lib.commit(message=f'Revert "Bad"\n\nThis reverts commit {bad}.\n', files={"bad": None})
    return _bump(rig, "main~2", bad)


def _tag_object(rig: Rig) -> Repo:
    lib = rig.component("lib")
    lib.git("tag", "-a", "-m", "v1", "v1", "main")
    return _bump(rig, "main~1", "v1^{tag}")


def _url(rig: Rig) -> Repo:
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid()})
    (rig.top / "remotes/fork.git").symlink_to(lib.directory)
    modules = rig.module("lib", url=rig.top / "remotes/fork.git")
    repo.commit("pr", "Take the fork", files={".gitmodules": modules}, parents=[repo.oid()])
    repo.switch("pr")
    return repo


def _declared_url(rig: Rig) -> Repo:
    lib = rig.component("lib")
    pins_toml = rig.pins_toml("lib", more={"lib": f'url = "{lib.directory}"'})
    repo = rig.superproject({"lib": lib.oid()}, files={"pins.toml": pins_toml})
    (rig.top / "remotes/fork.git").symlink_to(lib.directory)
    modules = rig.module("lib", url=rig.top / "remotes/fork.git")
    repo.commit("pr", "Take the fork", files={".gitmodules": modules}, parents=[repo.oid()])
    repo.switch("pr")
    return repo


def _record(rig: Rig) -> Repo:
    lib = rig.component("lib")
    pins_toml = rig.pins_toml("lib", more={"lib": f'commit = "{lib.oid("main~1")}"'})
    return _bump(rig, "main~1", "main", **{"pins.toml": pins_toml})


def _short_record(rig: Rig) -> Repo:
    lib = rig.component("lib")
    pins_toml = rig.pins_toml("lib", more={"lib": f'commit = "{lib.oid("main~1")[:9]}"'})
    return _bump(rig, "main~1", "main", **{"pins.toml": pins_toml})


def _inside_a_merge(rig: Rig) -> Repo:
    lib = rig.component("lib")
    work = lib.commit("work", "Work", files={"work": "x\n"}, parents=[lib.oid()])
    lib.commit(message="Meanwhile", files={"meanwhile": "x\n"})
    lib.commit(message="Merge", parents=[lib.oid(), work], files={"work": "x\n"})
    lib.commit(message="Later", files={"later": "x\n"})
    return _bump(rig, "main~3", work)


def _behind(rig: Rig) -> Repo:
    rig.component("lib")
    return _bump(rig, "main~2", "main~1")


def _stray(rig: Rig) -> Repo:
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid()})
    repo.commit("pr", "Add all", gitlinks={"some where/inside": "5" * 40}, parents=[repo.oid()])
    repo.switch("pr")
    return repo


@pytest.mark.parametrize(
    ("build", "rules", "options"),
    [
        (_twin, ["PIN001"], ()),
        (_reverted_twin, ["PIN001"], ()),
        (_unmerged, ["PIN001"], ()),
        (_back, ["PIN002"], ()),
        (_sideways, ["PIN003"], ()),
        (_reverted, ["PIN005"], ()),
        (_tag_object, ["PIN006"], ()),
        (_url, ["PIN007"], ()),
        (_declared_url, ["PIN007"], ()),
        (_record, ["PIN009"], ()),
        (_short_record, ["PIN009"], ()),
        (_inside_a_merge, ["PIN010"], ("--first-parent",)),
        (_behind, ["PIN011"], ("--require-tip",)),
        (_stray, ["PIN012"], ()),
    ],
)
def test_what_a_finding_says_to_run_fixes_it(
    tmp_path: Path, pinctl: Pinctl, build: Build, rules: list[str], options: tuple[str, ...]
) -> None:
    repo = build(Rig(top=tmp_path))
    found = checked(pinctl, repo, "--base", "main", *options)
    assert (found.status, [code for code, _ in found.rules]) == (1, rules)

    after = _fixed(pinctl, repo, found, *options)

    assert after.answer() == (0, [])


@pytest.mark.parametrize("build", [_twin, _back, _record])
def test_a_fix_of_what_is_staged_is_staged(tmp_path: Path, pinctl: Pinctl, build: Build) -> None:
    repo = build(Rig(top=tmp_path))
    repo.git("reset", "--quiet", "--soft", "main")
    found = checked(pinctl, repo, "--staged")
    assert found.status == 1

    shell(repo.directory, found.only["fix"])
    repo.git("add", "--", ":(exclude)deps")

    assert checked(pinctl, repo, "--staged").answer() == (0, [])


def test_a_pin_that_left_an_orphan_for_another_is_set_back(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _off_the_branch(Rig(top=tmp_path))
    found = checked(pinctl, repo, "--base", "main")
    assert found.rules == [("PIN001", "deps/lib"), ("PIN003", "deps/lib")]

    shell(repo.directory, found.findings[1]["fix"])
    repo.git("commit", "--quiet", "--message", "Fix it")

    assert checked(pinctl, repo, "--base", "main").answer() == (0, [])


@pytest.mark.parametrize(
    ("record", "expected"), [("orphan", ["PIN001"]), ("squash", ["PIN001", "PIN009"]), ("main~1", ["PIN001", "PIN009"])]
)
def test_all_fixes_at_once_leave_nothing(tmp_path: Path, pinctl: Pinctl, record: str, expected: list[str]) -> None:
    """Whatever is recorded: setting the pin alone right, or the record to the pin, leaves the record wrong."""
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    orphan = lib.commit("refs/pull/1/head", "Work", files={"new": "new\n"}, parents=[lib.oid()])
    lib.commit(message="Work (#1)", files={"new": "new\n"})
    recorded = orphan if record == "orphan" else lib.oid("main" if record == "squash" else record)
    repo = _bump(rig, "main~1", orphan, **{"pins.toml": rig.pins_toml("lib", more={"lib": f'commit = "{recorded}"'})})
    repo.git("submodule", "--quiet", "update", "--init")

    found = checked(pinctl, repo, "--base", "main")
    assert [code for code, _ in found.rules] == expected
    for finding in found.findings:
        shell(repo.directory, finding["fix"])
    # Nothing but what the commands have staged: the submodule's checkout is where it was.
    repo.git("commit", "--quiet", "--message", "Fix it")

    assert checked(pinctl, repo, "--base", "main").answer() == (0, [])


def _fixed(pinctl: Pinctl, repo: Repo, found: Checked, *options: str) -> Checked:
    """Runs every fix of some findings, commits, and checks again."""
    for finding in found.findings:
        shell(repo.directory, finding["fix"])
    repo.git("commit", "--quiet", "--all", "--message", "Fix it")
    return checked(pinctl, repo, "--base", "main", *options)
