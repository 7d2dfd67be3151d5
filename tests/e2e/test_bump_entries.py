"""Pins that stand in manifests: read by status, moved by bump, judged by check, like a gitlink."""

import hashlib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from support import Pinctl
from support.rig import Repo, checked, shell
from support.snapshot import unchanged
from support.uv_rig import UvRig, answered, changed, pins_of, refusals, text_of, wheel

ROUTER = "https://h/download/v{0}/vllm_router-{0}-cp38-abi3-manylinux_2_28"
KINDS = ("rev", "long", "tagged", "branched", "router", "exact")


def manifest(lib: Repo, version: str = "0.1.0", *, floor: str = "0.1") -> str:
    """Writes a manifest that pins the same commit in every way there is."""
    oid = lib.oid(f"v{version}")
    router = ROUTER.format(version)
    return f"""\
[project]
name = "super"
version = "0"
dependencies = [
    "rev>={floor}",
    "Exact[all] == {version} ; sys_platform == 'linux'",  # not the newest
    'exact=={version} ; sys_platform == "darwin"',
]

[tool.uv.sources]
Rev = {{ git = "{lib.directory}", rev = "{oid[:7]}" }}  # seven digits
long = {{ git = "{lib.directory}", rev = '{oid}' }}
tagged.git = "{lib.directory}"
tagged.tag = "v{version}"
branched = {{ git = "{lib.directory}", branch = "main" }}
"vllm.router" = [
    {{ url = "{router}_x86_64.whl", marker = "platform_machine == 'x86_64'" }},
    {{ url = '{router}_aarch64.whl', marker = "platform_machine == 'aarch64'" }},
]
"""


def pins_toml(lib: Repo, *, more: str = "") -> str:
    """Writes a pins.toml with a component for each way."""
    lines = ["version = 1", "", "[superproject]", 'name = "super"', 'branch = "main"']
    for name in KINDS:
        site = (
            'requirement = "Exact"' if name == "exact" else f'source = "{"vllm_router" if name == "router" else name}"'
        )
        lines += [
            "",
            f"[components.{name}]",
            f"pin = {{ {site} }}",
            f'url = "{lib.directory}"',
            f'distribution = "{name}"',
        ]
        lines += ['tag = "v0.1.0"'] if name in {"router", "tagged"} else []
    return "\n".join(lines) + f"\n{more}"


def superproject(rig: UvRig, version: str = "0.1.0", *, floor: str = "0.1") -> tuple[Repo, Repo]:
    lib = rig.library("lib", "0.1.0", "0.2.0", "0.2.1")
    lib.commit(message="Past every release", files={"notes": "x\n"})
    files: dict[str, str | bytes | None] = {
        "pyproject.toml": manifest(lib, version, floor=floor),
        "pins.toml": pins_toml(lib),
    }
    return rig.superproject({}, files=files), lib


def edited(repo: Repo, branch: str, *pairs: tuple[str, str]) -> None:
    """Commits the manifest with some replacements to a branch."""
    text = text_of(repo, "main")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    repo.commit(branch, "Change the manifest", files={"pyproject.toml": text}, parents=[repo.oid("main")])


def test_status_shows_every_pin_with_the_same_values_whatever_its_kind(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = superproject(UvRig(top=tmp_path))

    pins = pins_of(pinctl, repo)

    released = {"commit": lib.oid("v0.1.0"), "version": "0.1.0", "released": "0.1.0", "behind": 3}
    tip = {"commit": lib.oid(), "version": "0.2.1", "released": "0.2.1", "behind": 0}
    assert {name: (pin["kind"], pin["path"]) for name, pin in pins.items()} == {
        "rev": ("source", "rev"),
        "long": ("source", "long"),
        "tagged": ("source", "tagged"),
        "branched": ("source", "branched"),
        "router": ("source", "vllm_router"),
        "exact": ("requirement", "Exact"),
    }
    for name, pin in pins.items():
        values = {key: pin[key] for key in released}
        assert values == (tip if name == "branched" else released), name
        assert (pin["standing"], pin["drift"], pin["unknown"]) == ("on branch", [], []), name
    assert pins["rev"]["floors"] == [
        {"manifest": "pyproject.toml", "line": 5, "requirement": "rev>=0.1", "floor": "0.1"}
    ]
    assert [floor["requirement"] for floor in pins["exact"]["floors"]] == [
        "Exact[all] == 0.1.0 ; sys_platform == 'linux'",
        'exact==0.1.0 ; sys_platform == "darwin"',
    ]


def test_a_bump_moves_every_entry_in_its_own_way_and_changes_nothing_else(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = superproject(UvRig(top=tmp_path))
    names = [name for name in KINDS if name != "branched"]
    before = text_of(repo, "main")
    old, new = lib.oid("v0.1.0"), lib.oid("v0.2.1")

    landing = answered(pinctl, repo, "bump", "--release", *names)

    branch = landing["branch"]
    assert branch == "landing/bump-exact-long-rev-router-tagged"
    expected = before.replace(f"'{old}'", f"'{new}'").replace(f'"{old[:7]}"', f'"{new[:7]}"').replace("0.1.0", "0.2.1")
    assert text_of(repo, branch) == expected
    assert text_of(repo, branch, "pins.toml") == text_of(repo, "main", "pins.toml").replace('"v0.1.0"', '"v0.2.1"')
    assert changed(repo, "main", branch) == ["pins.toml", "pyproject.toml"]
    assert {pin["to"] for pin in landing["pins"]} == {new}
    assert checked(pinctl, repo, "--base", "main", "--head", branch).answer() == (0, [])
    with unchanged(repo.directory):
        assert answered(pinctl, repo, "bump", "--release", *names) == landing | {"already_landed": True}
    repo.switch(branch)
    assert {pin["version"] for pin in pins_of(pinctl, repo).values()} == {"0.2.1"}


def test_a_rehearsal_lists_the_entries_with_their_lines(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, _ = superproject(UvRig(top=tmp_path))

    entries = answered(pinctl, repo, "bump", "router@v0.2.0", "--plan")["entries"]

    old, new = ROUTER.format("0.1.0"), ROUTER.format("0.2.0")
    assert entries == [
        {
            "component": "router",
            "manifest": "pyproject.toml",
            "line": line,
            "from": f"{old}_{machine}.whl",
            "to": f"{new}_{machine}.whl",
        }
        for line, machine in ((17, "x86_64"), (18, "aarch64"))
    ]


def test_a_rev_can_name_any_commit_and_keeps_its_length(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = superproject(UvRig(top=tmp_path))

    answered(pinctl, repo, "bump", "rev", "long@main")

    text = text_of(repo, "landing/bump-long-rev")
    assert f'rev = "{lib.oid()[:7]}" }}  # seven digits\n' in text
    assert f"rev = '{lib.oid()}' }}\n" in text


def test_a_rev_is_as_long_as_it_must_be_to_name_one_commit(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    repo, lib = superproject(rig)
    edited(repo, "main", (f'"{lib.oid("v0.1.0")[:7]}"', f'"{lib.oid("v0.1.0")[:4]}"'))
    start = lib.oid()[:4]
    # Some file of the component that begins like the commit.
    number = next(
        number
        for number in range(10**7)
        if hashlib.sha1(f"blob {len(str(number))}\0{number}".encode()).hexdigest().startswith(start)  # noqa: S324
    )
    lib.commit(message="One more", files={"number": str(number)})
    wanted = lib.oid("main~1")

    answered(pinctl, repo, "bump", f"rev@{wanted}")

    text = text_of(repo, "landing/bump-rev")
    assert f'rev = "{wanted[:5]}"' in text


@pytest.mark.parametrize("name", ["tagged", "router", "exact"])
def test_what_is_pinned_by_release_cannot_go_to_a_commit_that_is_none(
    tmp_path: Path, pinctl: Pinctl, name: str
) -> None:
    repo, lib = superproject(UvRig(top=tmp_path))

    with unchanged(repo.directory):
        (found,) = refusals(pinctl, repo, "bump", name)

    assert found["kind"] == "not-a-release"
    assert found["message"] == f"{name} is pinned by release, and {lib.oid()[:7]} is none"
    assert found["hint"] == f"Name a release: pinctl bump {name}@TAG, or pinctl bump --release {name}."
    assert all(line.startswith("pyproject.toml:") for line in found["details"])


def test_a_branch_is_left_to_follow_by_itself(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = superproject(UvRig(top=tmp_path))

    with unchanged(repo.directory):
        there = answered(pinctl, repo, "bump", "branched")
        (found,) = refusals(pinctl, repo, "bump", "branched@v0.2.0")

    assert (there["already_landed"], there["pins"]) == (True, [])
    assert found["message"] == f"branched is pinned by branch, which cannot name {lib.oid('v0.2.0')[:7]}"
    assert found["details"] == ["pyproject.toml:15 main"]


@pytest.mark.parametrize("rev", ["v0.1.0", "0.1.0-tag"])
def test_a_rev_that_names_a_tag_becomes_another_tag_or_a_whole_id(tmp_path: Path, pinctl: Pinctl, rev: str) -> None:
    repo, lib = superproject(UvRig(top=tmp_path))
    lib.git("tag", "0.1.0-tag", lib.oid("v0.1.0"))
    edited(repo, "main", (f'"{lib.oid("v0.1.0")[:7]}"', f'"{rev}"'))
    assert pins_of(pinctl, repo)["rev"]["commit"] == lib.oid("v0.1.0")
    with unchanged(repo.directory):
        assert answered(pinctl, repo, "bump", "rev@v0.1.0")["already_landed"] is True

    answered(pinctl, repo, "bump", "rev@v0.2.0")
    assert 'rev = "v0.2.0"' in text_of(repo, "landing/bump-rev")
    answered(pinctl, repo, "bump", "rev")
    assert f'rev = "{lib.oid()}"' in text_of(repo, "landing/bump-rev")


def test_an_entry_with_a_hash_is_not_moved_by_guessing(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, _ = superproject(UvRig(top=tmp_path))
    edited(repo, "main", ("_x86_64.whl", "_x86_64.whl#sha256=" + "0" * 64))

    (found,) = refusals(pinctl, repo, "bump", "--release", "router")

    assert found["message"] == "router is pinned in a way that cannot be moved to 0.2.1"
    assert [line.partition(" ")[0] for line in found["details"]] == ["pyproject.toml:17"]


def test_the_label_of_a_build_is_kept_and_its_tag_found_without_it(tmp_path: Path, pinctl: Pinctl) -> None:
    """flash-attn 2.8.3+cu12: no tag has the label."""
    repo, lib = superproject(UvRig(top=tmp_path))
    edited(repo, "main", ("vllm_router-0.1.0-", "vllm_router-0.1.0%2Bcu12-"), ("0.1.0 ;", "0.1.0+cu12 ;"))
    pins = pins_of(pinctl, repo)
    assert (pins["router"]["commit"], pins["exact"]["commit"]) == (lib.oid("v0.1.0"), lib.oid("v0.1.0"))

    answered(pinctl, repo, "bump", "--release", "router", "exact")

    text = text_of(repo, "landing/bump-exact-router")
    assert text.count("/v0.2.1/vllm_router-0.2.1%2Bcu12-cp38") == 2
    assert text.count("0.2.1+cu12 ;") == 2


def test_check_judges_an_entry_by_the_rules_for_pins(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    repo, lib = superproject(rig, "0.2.0")
    side = lib.commit("side", "Side", files={"side": "x\n"}, parents=[lib.oid("v0.1.0")])
    old, new = lib.oid("v0.2.0")[:7], lib.oid("v0.1.0")[:7]
    edited(repo, "back", (f'"{old}"', f'"{new}"'), ("== 0.2.0 ;", "== 0.1.0 ;"))
    edited(repo, "side", (f'"{old}"', f'"{side[:7]}"'))

    back = checked(pinctl, repo, "--base", "main", "--head", "back")
    assert back.data["judged"] == ["2 of 8 pins that moved"]
    aside = checked(pinctl, repo, "--base", "main", "--head", "side")

    assert back.answer() == (1, [("PIN002", "pyproject.toml"), ("PIN002", "pyproject.toml")])
    assert sorted((item["component"], item["line"]) for item in back.findings) == [("exact", 6), ("rev", 11)]
    assert back.messages[0] == f"the pin moved back by 1, from {old} to {new}"
    assert aside.answer() == (1, [("PIN001", "pyproject.toml"), ("PIN003", "pyproject.toml")])
    for branch, found in (("back", back), ("side", aside)):
        repo.switch(branch)
        for command in {finding["fix"] for finding in found.findings}:
            shell(repo.directory, command)
        repo.git("commit", "--quiet", "--all", "--message", "Fix it")
        assert checked(pinctl, repo, "--base", "main").answer() == (0, [])


def test_check_asks_no_remote_about_entries_that_did_not_move(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = superproject(UvRig(top=tmp_path))
    edited(repo, "pr", ('version = "0"', 'version = "1"'), ("# seven digits", "# 7"))
    lib.directory.rename(tmp_path / "gone.git")

    assert checked(pinctl, repo, "--base", "main", "--head", "pr").answer() == (0, [])


def test_an_entry_that_no_remote_has_hides_no_other_finding(tmp_path: Path, pinctl: Pinctl) -> None:
    repo, lib = superproject(UvRig(top=tmp_path), "0.2.0")
    edited(repo, "pr", (f'"{lib.oid("v0.2.0")[:7]}"', '"1234567"'), ("== 0.2.0 ;", "== 0.1.0 ;"))

    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    assert found.status == 1
    assert sorted((item["rule"], item["component"], item["unknown"]) for item in found.findings) == [
        ("PIN002", "exact", False),
        ("PIN006", "rev", True),
    ]
    repo.switch("pr")
    pins = pins_of(pinctl, repo, status=3)
    assert pins["rev"]["unknown"] == ["rev: 1234567 cannot be fetched: its remote has no such commit"]
    assert pins["exact"]["version"] == "0.1.0"


@pytest.mark.parametrize(
    ("old", "new"), [("== 0.1.0 ;", "== 0.9.0 ;"), ("/v0.1.0/vllm_router-0.1.0", "/v0.9.0/vllm_router-0.9.0")]
)
def test_a_version_that_no_tag_names_is_unknown_and_never_fine(
    tmp_path: Path, pinctl: Pinctl, old: str, new: str
) -> None:
    repo, _ = superproject(UvRig(top=tmp_path))
    edited(repo, "pr", (old, new))

    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    assert found.status == 3
    assert {item["rule"] for item in found.findings} == {"PIN006"}
    repo.switch("pr")
    assert any(pin["unknown"] for pin in pins_of(pinctl, repo, status=3).values())


def test_a_floor_above_the_version_at_a_rev_is_broken_as_it_is_at_a_gitlink(tmp_path: Path, pinctl: Pinctl) -> None:
    """The floor of a git source is as little to uv as that of a path source."""
    repo, lib = superproject(UvRig(top=tmp_path))
    edited(repo, "pr", ('"rev>=0.1"', '"rev>=0.9"'))

    found = checked(pinctl, repo, "--base", "main", "--head", "pr")

    assert found.answer() == (1, [("FLR001", "pyproject.toml")])
    assert found.messages == [f"rev>=0.9 is above 0.1.0, the version at pin {lib.oid('v0.1.0')[:7]}"]


def two_sites(rig: UvRig, gitlink: str, rev: str, *, first: str = "gitlink") -> tuple[Repo, Repo]:
    """Makes a superproject in which one component is pinned by a gitlink, an entry and an exact requirement."""
    lib = rig.components.get("lib") or rig.library("lib", "0.1.0", "0.2.0", "0.2.1")
    sites = ['{ gitlink = "deps/lib" }', '{ source = "LIB" }', '{ requirement = "lib" }']
    ordered = sites if first == "gitlink" else sites[::-1]
    head = 'version = 1\n\n[superproject]\nname = "super"\nbranch = "main"\n\n'
    text = f"{head}[components.lib]\npin = [{', '.join(ordered)}]\n"
    written = (
        '[project]\nname = "super"\nversion = "0"\n'
        f'dependencies = ["Lib=={rev}"]\n\n[tool.uv.sources]\nlib = {{ git = "x", rev = "{lib.oid(f"v{rev}")[:9]}" }}\n'
    )
    return rig.superproject({"lib": lib.oid(f"v{gitlink}")}, files={"pins.toml": text, "pyproject.toml": written}), lib


@pytest.mark.parametrize("first", ["gitlink", "requirement"])
def test_a_component_that_is_pinned_in_several_places_moves_in_all_of_them(
    tmp_path: Path, pinctl: Pinctl, first: str
) -> None:
    rig = UvRig(top=tmp_path)
    repo, lib = two_sites(rig, "0.1.0", "0.1.0", first=first)
    before: dict[str, Any] = pins_of(pinctl, repo)["lib"]
    assert (before["kind"], before["drift"], before["version"]) == (first, [], "0.1.0")

    answered(pinctl, repo, "bump", "--release", "lib")

    assert repo.oid("landing/bump-lib:deps/lib") == lib.oid("v0.2.1")
    text = text_of(repo, "landing/bump-lib")
    assert '"Lib==0.2.1"' in text
    assert f'rev = "{lib.oid("v0.2.1")[:9]}"' in text
    assert checked(pinctl, repo, "--base", "main", "--head", "landing/bump-lib").answer() == (0, [])


def test_places_that_disagree_are_drift_and_a_finding_and_a_bump_brings_them_together(
    tmp_path: Path, pinctl: Pinctl
) -> None:
    rig = UvRig(top=tmp_path)
    repo, _ = two_sites(rig, "0.2.1", "0.1.0")

    drift = pins_of(pinctl, repo)["lib"]["drift"]
    found = checked(pinctl, repo, "--all")

    assert [line.split(" pins ")[0] for line in drift] == ["pyproject.toml", "pyproject.toml"]
    assert found.status == 1
    assert [item["line"] for item in found.findings if item["rule"] == "PIN009"] == [7, 4]
    landing = answered(pinctl, repo, "bump", "lib@v0.2.1")
    assert landing["already_landed"] is False
    assert changed(repo, "main", landing["branch"]) == ["pins.toml", "pyproject.toml"]
    assert checked(pinctl, repo, "--base", "main", "--head", landing["branch"]).answer() == (0, [])


def test_a_range_that_moves_one_of_several_places_is_broken(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = UvRig(top=tmp_path)
    repo, lib = two_sites(rig, "0.1.0", "0.1.0")
    repo.commit("pr", "Bump the gitlink", gitlinks={"deps/lib": lib.oid("v0.2.0")}, parents=[repo.oid("main")])
    edited(repo, "other", (lib.oid("v0.1.0")[:9], lib.oid("v0.2.0")[:9]))

    for branch, lines in (("pr", [7, 4]), ("other", [7])):
        found = checked(pinctl, repo, "--base", "main", "--head", branch)
        assert (found.status, {item["rule"] for item in found.findings}) == (1, {"PIN009"})
        assert [item["line"] for item in found.findings] == lines


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A directory of downloads, and its URL on this machine."""
    directory = tmp_path / "downloads"
    directory.mkdir()
    handler = partial(Quiet, directory=str(directory))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield directory, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is http.server's
        pass


def test_wheels_by_url_move_with_the_lock(
    tmp_path: Path, pinctl: Pinctl, forge: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another release of vllm-router at prime-rl, from a forge on this machine."""
    monkeypatch.delenv("UV_OFFLINE")
    directory, at = forge
    rig = UvRig(top=tmp_path)
    router = rig.library("router", "0.2.2", "0.2.3")
    for version in ("0.2.2", "0.2.3"):
        (data,) = wheel("vllm-router", version).values()
        (directory / f"v{version}").mkdir()
        (directory / f"v{version}/vllm_router-{version}-py3-none-any.whl").write_bytes(data)
    url = f"{at}/v0.2.2/vllm_router-0.2.2-py3-none-any.whl"
    entries = ", ".join(f'{{ url = "{url}", marker = "sys_platform {sign} \'linux\'" }}' for sign in ("==", "!="))
    text = (
        'version = 1\n\n[superproject]\nname = "super"\nbranch = "main"\nlock = "uv.lock"\n\n[components.vllm-router]\n'
        f'pin = {{ source = "vllm-router" }}\nurl = "{router.directory}"\ndistribution = "vllm-router"\n'
        'tag = "v0.2.2"\n'
    )
    manifest_text = rig.root(requires=["vllm-router"], sources=f"vllm-router = [{entries}]\n")
    repo = rig.locked({}, manifest=manifest_text, pins_toml=text)

    rehearsal = answered(pinctl, repo, "bump", "--release", "vllm-router", "--plan")
    landing = answered(pinctl, repo, "bump", "--release", "vllm-router")

    assert rehearsal["lock"]["first_party"] == ["vllm-router 0.2.2 -> 0.2.3"]
    assert rehearsal["lock"]["third_party"] == []
    assert changed(repo, "main", landing["branch"]) == ["pins.toml", "pyproject.toml", "uv.lock"]
    lock = text_of(repo, landing["branch"], "uv.lock")
    assert ("0.2.2" in lock, "v0.2.3/vllm_router-0.2.3" in lock) == (False, True)
    assert checked(pinctl, repo, "--base", "main", "--head", landing["branch"]).answer() == (0, [])


def test_an_exact_requirement_moves_with_the_lock(tmp_path: Path, pinctl: Pinctl) -> None:
    """renderers==0.1.6 at prime-rl: what is locked from the index is ours as well."""
    rig = UvRig(top=tmp_path)
    rig.third_party("renderers", "0.1.6", "0.1.12")
    rig.third_party("third", "1.0", "2.0")
    renderers = rig.library("renderers", "0.1.6", "0.1.12", tag="renderers-v{}")
    text = (
        'version = 1\n\n[superproject]\nname = "super"\nbranch = "main"\nlock = "uv.lock"\n\n[components.renderers]\n'
        f'pin = {{ requirement = "renderers" }}\nurl = "{renderers.directory}"\ndistribution = "renderers"\n'
        'tags = "renderers-v[0-9]*"\n'
    )
    repo = rig.locked({}, manifest=rig.root(requires=["renderers==0.1.6", "third<2"]), pins_toml=text)

    rehearsal = answered(pinctl, repo, "bump", "--release", "renderers", "--plan")
    landing = answered(pinctl, repo, "bump", "--release", "renderers")

    assert rehearsal["lock"] == {
        "first_party": ["renderers 0.1.6 -> 0.1.12"],
        "third_party": [],
        "format_only": False,
    }
    assert '"renderers==0.1.12"' in text_of(repo, landing["branch"])
    assert checked(pinctl, repo, "--base", "main", "--head", landing["branch"]).answer() == (0, [])
