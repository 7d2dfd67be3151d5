"""What .gitmodules says, does not say, and says in odd ways."""

from pathlib import Path

import pytest

from support import Pinctl
from support.rig import Rig, checked

RANGE = ("--base", "main", "--head", "pr")


@pytest.mark.parametrize("path", ["x/y", "vendor/tool/libs/y"])
@pytest.mark.parametrize("present", [True, False])
def test_a13_a_gitlink_without_a_section_is_named_and_the_others_are_judged(
    tmp_path: Path, pinctl: Pinctl, path: str, *, present: bool
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid()}, modules=None if present else "")
    moved = {path: "5" * 40, "deps/lib": lib.oid("main~1")}
    repo.commit("pr", "Add all", gitlinks=moved, parents=[repo.oid()])

    found = checked(pinctl, repo, *RANGE)

    lib_rules = [("PIN002", "deps/lib")] if present else [("PIN012", "deps/lib")]
    assert found.answer() == (1, sorted([("PIN012", path), *lib_rules], key=lambda rule: rule[1]))
    assert "this gitlink is in no section of .gitmodules: it has no url" in found.messages


def test_a13_status_shows_the_others_and_exits_with_3(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid()})
    repo.commit(gitlinks={"x/y": "5" * 40})

    result = pinctl("status", cwd=repo.directory)

    assert result.status == 3
    assert "on main, at its tip" in result.stdout
    assert "unknown: x/y: nothing says where x/y is fetched from: .gitmodules has no url for x/y\n" in result.stdout


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        ('skip = "vendored"', (0, [])),
        ('[components.stray.waive]\nPIN012 = "vendored"', (0, [("(PIN012)", "x/y")])),
    ],
)
def test_a13_it_can_be_ignored_with_a_reason(
    tmp_path: Path, pinctl: Pinctl, lines: str, answer: tuple[int, list[tuple[str, str]]]
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    stray = f'\n[components.stray]\npin = {{ gitlink = "x/y" }}\n{lines}\n'
    pins_toml = rig.pins_toml("lib") + stray
    repo = rig.superproject({"lib": lib.oid()}, files={"pins.toml": pins_toml})
    repo.commit("pr", "Add a stray", gitlinks={"x/y": "5" * 40}, parents=[repo.oid()])

    assert checked(pinctl, repo, *RANGE).answer() == answer


def test_a13_with_a_url_in_pins_toml_the_pin_is_judged_all_the_same(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    pins_toml = rig.pins_toml("lib", more={"lib": f'url = "{lib.directory}"'})
    repo = rig.superproject({"lib": lib.oid()}, modules="", files={"pins.toml": pins_toml})
    repo.commit("pr", "Move lib back", gitlinks={"deps/lib": lib.oid("main~1")}, parents=[repo.oid()])

    assert checked(pinctl, repo, *RANGE).answer() == (1, [("PIN012", "deps/lib"), ("PIN002", "deps/lib")])


@pytest.mark.parametrize(
    "stale",
    [
        '[submodule "gone"]\n\tpath = deps/gone\n\turl = ../gone.git\n',
        '[submodule "half"]\n\tpath = deps/half\n',
        '[submodule "other half"]\n\turl = ../half.git\n',
        '[submodule "lib"]\n\tactive = true\n',
        "[core]\n\tbare = true\n",
        "[submodule]\n\trecurse = true\n",
    ],
)
def test_a13_stale_and_incomplete_sections_do_not_stop_the_rest(tmp_path: Path, pinctl: Pinctl, stale: str) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid()}, modules=stale + rig.module("lib"))
    repo.commit("pr", "Move lib back", gitlinks={"deps/lib": lib.oid("main~1")}, parents=[repo.oid()])

    assert checked(pinctl, repo, *RANGE).answer() == (1, [("PIN002", "deps/lib")])


def test_a13_a_gitmodules_that_git_cannot_read_is_an_error_that_names_it(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid()}, modules='[submodule "lib"\n\tpath = deps/lib\n')

    result = pinctl("check", "--all", cwd=repo.directory)

    assert result.status in {2, 3}
    assert ".gitmodules" in result.stderr


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("verifiers", "verifiers2"),
        ("verifiers", "verifiers.extra"),
        ("deps/b", "deps/a"),
        ("url", "path"),
        ("with space", 'with "quotes"'),
        ("Lib", "lib"),
    ],
)
def test_a14_names_are_matched_exactly_and_the_path_is_what_is_shown(
    tmp_path: Path, pinctl: Pinctl, one: str, other: str
) -> None:
    rig = Rig(top=tmp_path)
    a, b = rig.component("a"), rig.component("b")
    quoted = [name.replace('"', '\\"') for name in (one, other)]
    modules = rig.module(quoted[0], path="deps/a", url=a.directory)
    modules += rig.module(quoted[1], path="deps/b", url=b.directory)
    repo = rig.superproject({"a": a.oid("main~1"), "b": b.oid("main~1")}, modules=modules)
    moved = {"deps/a": a.oid(), "deps/b": b.oid("main~2")}
    repo.commit("pr", "Move both", gitlinks=moved, parents=[repo.oid()])

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (1, [("PIN002", "deps/b")])
    assert found.only["component"] == other


def test_a14_pins_toml_finds_its_component_by_path_whatever_the_sections_name(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    modules = rig.module("some/odd name", path="deps/lib", url=lib.directory)
    repo = rig.superproject({"lib": lib.oid()}, modules=modules, files={"pins.toml": rig.pins_toml("lib")})
    repo.commit("pr", "Move lib back", gitlinks={"deps/lib": lib.oid("main~1")}, parents=[repo.oid()])

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (1, [("PIN002", "deps/lib")])
    assert found.only["component"] == "lib"


@pytest.mark.parametrize("kept_name", [True, False])
@pytest.mark.parametrize(("after", "answer"), [("main", []), ("main~1", []), ("main~2", ["PIN002"])])
def test_a15_a_component_that_was_renamed_keeps_its_history(
    tmp_path: Path, pinctl: Pinctl, after: str, answer: list[str], *, kept_name: bool
) -> None:
    rig = Rig(top=tmp_path)
    lib, other = rig.component("lib"), rig.component("other")
    pins = {"lib": lib.oid("main~1"), "other": other.oid()}
    repo = rig.superproject(pins)
    lib.directory.rename(tmp_path / "remotes/renamed.git")
    lib.directory = tmp_path / "remotes/renamed.git"
    renamed = rig.module("lib" if kept_name else "renamed", path="deps/renamed", url=lib.directory)
    repo.commit(
        "pr",
        "Rename lib",
        files={".gitmodules": renamed + rig.module("other")},
        gitlinks={"deps/lib": None, "deps/renamed": lib.oid(after)},
        parents=[repo.oid()],
    )

    found = checked(pinctl, repo, *RANGE)

    assert found.answer() == (1 if answer else 0, [(code, "deps/renamed") for code in answer])
    if answer:
        assert found.messages == [
            f"the pin moved back by 1, from {lib.oid('main~1')[:7]} to {lib.oid('main~2')[:7]} (renamed from deps/lib)"
        ]


def test_a15_one_component_removed_and_another_added_is_no_rename(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib, new = rig.component("lib"), rig.component("new")
    repo = rig.superproject({"lib": lib.oid()})
    repo.commit(
        "pr",
        "Take new instead of lib",
        files={".gitmodules": rig.module("new")},
        gitlinks={"deps/lib": None, "deps/new": new.oid()},
        parents=[repo.oid()],
    )

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])


def test_a15_two_renames_at_once_are_told_apart(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    a, b = rig.component("a"), rig.component("b")
    repo = rig.superproject({"a": a.oid(), "b": b.oid("main~1")})
    modules = rig.module("x", path="libs/x", url=a.directory) + rig.module("y", path="libs/y", url=b.directory)
    repo.commit(
        "pr",
        "Rename both",
        files={".gitmodules": modules},
        gitlinks={"deps/a": None, "deps/b": None, "libs/x": a.oid("main~1"), "libs/y": b.oid()},
        parents=[repo.oid()],
    )

    assert checked(pinctl, repo, *RANGE).answer() == (1, [("PIN002", "libs/x")])


def test_a15_a_path_that_moved_alone_is_a_rename(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid()})
    repo.commit(
        "pr",
        "Move the directory",
        files={".gitmodules": rig.module("lib", path="libs/lib")},
        gitlinks={"deps/lib": None, "libs/lib": lib.oid()},
        parents=[repo.oid()],
    )

    assert checked(pinctl, repo, *RANGE).answer() == (0, [])


def test_a38_a_file_with_carriage_returns_reads_the_same(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    modules = rig.module("lib", branch="main").replace("\n", "\r\n")
    repo = rig.superproject({"lib": lib.oid()}, modules=modules)
    repo.commit("pr", "Move lib back", gitlinks={"deps/lib": lib.oid("main~1")}, parents=[repo.oid()])

    assert checked(pinctl, repo, *RANGE).answer() == (1, [("PIN002", "deps/lib")])
    assert "on main, at its tip" in pinctl("status", cwd=repo.directory).stdout


@pytest.mark.parametrize("path", [r"deps\lib", r"deps/a\\lib"])
def test_a38_a_backslash_in_a_path_is_an_error_that_names_it(tmp_path: Path, pinctl: Pinctl, path: str) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    written = path.replace("\\", "\\\\")
    repo = rig.superproject({"lib": lib.oid()}, modules=rig.module("lib", path=written))

    for command in ("check", "status"):
        result = pinctl(command, cwd=repo.directory)

        assert (result.status, result.stdout) == (2, "")
        assert result.stderr == (
            f"error: .gitmodules has a submodule at {path!r}: paths are written with forward slashes\n"
        )
