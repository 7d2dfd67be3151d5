"""Reads pins.toml into values, or names every mistake in it at once."""

from pathlib import Path

import pytest

from pinctl.errors import BadFileError, BadInputError, ExitStatus
from pinctl.model.pins import (
    Component,
    FloorPolicy,
    GitlinkSite,
    Pins,
    RequirementSite,
    SourceSite,
    SuperprojectDeclaration,
)
from pinctl.tools.files.pins_file import find_pins, read_pins

FILE = Path("/stack/pins.toml")
POLICIES = "'keep', 'release', 'at-pin', 'required-change'"
HEAD = 'version = 1\n[superproject]\nname = "prime-rl"\n'

FULL = """\
version = 1

[superproject]
name = "prime-rl"
url = "https://example.org/prime-rl.git"
branch = "main"
manifests = ["pyproject.toml", "packages/prime-rl-configs/pyproject.toml"]
lock = "uv.lock"

[components.verifiers]
url = "https://example.org/verifiers.git"
branch = "main"
distribution = "verifiers"
tags = "v[0-9]*"
exclude_tags = "*dev*"
pin = { gitlink = "deps/verifiers" }
floor = "release"
commit = "0123456789abcdef0123456789abcdef01234567"

[components."vllm router"]
pin.source = "vllm-router"
tag = "v0.2.3"
floor = "required-change"

[components.renderers]
pin = { requirement = "renderers" }
floor = "at-pin"
commit = "0123456"
"""


def mistakes_of(text: str) -> list[str]:
    with pytest.raises(BadFileError) as caught:
        read_pins(FILE, text.encode())
    assert caught.value.exit_status is ExitStatus.BAD_INPUT
    prefix = f"{FILE}:"
    lines = caught.value.message.splitlines()
    assert all(line.startswith(prefix) for line in lines)
    return [line.removeprefix(prefix) for line in lines]


def component(table: str, name: str = "verifiers") -> str:
    return f"{HEAD}[components.{name}]\n{table}\n"


def test_everything_that_a_file_says_is_taken() -> None:
    assert read_pins(FILE, FULL.encode()) == Pins(
        path=FILE,
        superproject=SuperprojectDeclaration(
            name="prime-rl",
            url="https://example.org/prime-rl.git",
            branch="main",
            manifests=("pyproject.toml", "packages/prime-rl-configs/pyproject.toml"),
            lock="uv.lock",
        ),
        components={
            "verifiers": Component(
                name="verifiers",
                site=GitlinkSite(path="deps/verifiers"),
                url="https://example.org/verifiers.git",
                branch="main",
                distribution="verifiers",
                tags="v[0-9]*",
                exclude_tags="*dev*",
                floor=FloorPolicy.RELEASE,
                commit="0123456789abcdef0123456789abcdef01234567",
            ),
            "vllm router": Component(
                name="vllm router",
                site=SourceSite(name="vllm-router"),
                tag="v0.2.3",
                floor=FloorPolicy.REQUIRED_CHANGE,
            ),
            "renderers": Component(
                name="renderers",
                site=RequirementSite(name="renderers"),
                floor=FloorPolicy.AT_PIN,
                commit="0123456",
            ),
        },
    )


def test_what_a_file_does_not_say_has_a_default() -> None:
    assert read_pins(FILE, component('pin = { gitlink = "deps/v" }').encode()) == Pins(
        path=FILE,
        superproject=SuperprojectDeclaration(
            name="prime-rl", url=None, branch=None, manifests=("pyproject.toml",), lock=None
        ),
        components={
            "verifiers": Component(
                name="verifiers", site=GitlinkSite(path="deps/v"), tags="v[0-9]*", floor=FloorPolicy.KEEP
            )
        },
    )
    assert read_pins(FILE, HEAD.encode()).components == {}


def test_line_ends_of_windows_make_no_difference() -> None:
    assert read_pins(FILE, FULL.replace("\n", "\r\n").encode()) == read_pins(FILE, FULL.encode())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [" version: is missing", " superproject: is missing"]),
        ("version = 2\n[superproject]\nname = 'x'\n", ["1: version: must be 1"]),
        ("version = '1'\n[superproject]\nname = 'x'\n", ["1: version: must be 1"]),
        ("version = true\n[superproject]\nname = 'x'\n", ["1: version: must be 1"]),
        ("version = 1.0\n[superproject]\nname = 'x'\n", ["1: version: must be 1"]),
        ("version = 1\nsuperproject = 'x'\n", ["2: superproject: must be a table"]),
        ("version = 1\n[superproject]\n", ["2: superproject.name: is missing"]),
        (f"{HEAD}name2 = 'x'\n", ["4: superproject.name2: is no key of this table; did you mean 'name'?"]),
        (f"{HEAD}[component.x]\n", ["4: component: is no key of this table; did you mean 'components'?"]),
        (f"{HEAD}[qqq]\n", ["4: qqq: is no key of this table; there are 'version', 'superproject', 'components'"]),
        (f"{HEAD}manifests = 'x'\n", ["4: superproject.manifests: must be an array"]),
        (f"{HEAD}manifests = ['x',\n 3]\n", ["5: superproject.manifests[1]: must be a string"]),
        (f"{HEAD}lock = ''\n", ["4: superproject.lock: must not be empty"]),
        (f"{HEAD}lock = '  '\n", ["4: superproject.lock: must not be empty"]),
        (f"{HEAD}[components]\nverifiers = 3\n", ["5: components.verifiers: must be a table"]),
        (f"components = 3\n{HEAD}", ["1: components: must be a table"]),
        (component(""), ["4: components.verifiers.pin: is missing"]),
        (
            component("pin = {}"),
            ["5: components.verifiers.pin: must have exactly one of gitlink, source and requirement"],
        ),
        (
            component("[components.verifiers.pin]\ngitlink = 'a'\nsource = 'b'"),
            ["5: components.verifiers.pin: must have exactly one of gitlink, source and requirement"],
        ),
        (
            component("pin = { gitlnk = 'a' }"),
            ["5: components.verifiers.pin.gitlnk: is no key of this table; did you mean 'gitlink'?"],
        ),
        (component("pin = { gitlink = 3 }"), ["5: components.verifiers.pin.gitlink: must be a string"]),
        (
            component("pin.gitlink = 'a'\nfloor = 'relase'"),
            ["6: components.verifiers.floor: 'relase' is no floor policy; did you mean 'release'?"],
        ),
        (
            component("pin.gitlink = 'a'\nfloor = 'zzz'"),
            [f"6: components.verifiers.floor: 'zzz' is no floor policy; there are {POLICIES}"],
        ),
        (component("pin.gitlink = 'a'\nfloor = 3"), ["6: components.verifiers.floor: must be a string"]),
        (
            component("pin.gitlink = 'a'\ncommit = 'abc'"),
            ["6: components.verifiers.commit: 'abc' is no commit id of 7 or more hex digits"],
        ),
        (
            component("pin.gitlink = 'a'\ncommit = 'v0.3.0-final'"),
            ["6: components.verifiers.commit: 'v0.3.0-final' is no commit id of 7 or more hex digits"],
        ),
        (component("pin.gitlink = 'a'", "prime-rl"), ["4: components.prime-rl: has the superproject's own name"]),
        (
            component("pin.gitlink = 'a'") + "[components.other]\npin = { gitlink = 'a' }\n",
            ["7: components.other.pin.gitlink: 'a' is the pin of 'verifiers' already"],
        ),
        ("version = 1\nversion = 1\n", ["2: is no TOML: Cannot overwrite a value"]),
    ],
)
def test_a_mistake_is_named_with_its_line_and_key(text: str, expected: list[str]) -> None:
    assert mistakes_of(text) == expected


def test_the_same_name_in_two_places_of_different_kinds_is_no_mistake() -> None:
    text = component("pin.gitlink = 'a'") + "[components.other]\npin = { source = 'a' }\n"
    assert [one.site for one in read_pins(FILE, text.encode()).components.values()] == [
        GitlinkSite(path="a"),
        SourceSite(name="a"),
    ]


def test_all_mistakes_of_a_file_are_named_at_once_in_the_order_of_their_lines() -> None:
    text = """\
version = 3
superprojekt = 1

[superproject]
url = 5
manifests = ["pyproject.toml", 7]

[components.verifiers]
branche = "main"
tags = ""
floor = "at_pin"
commit = "HEAD"

[components.renderers]
pin = { gitlink = "deps/x", source = "y" }
floor = true

[components.router]
pin = { gitlink = "deps/x" }
[components.router.branches]
"""
    assert mistakes_of(text) == [
        "1: version: must be 1",
        "2: superprojekt: is no key of this table; did you mean 'superproject'?",
        "4: superproject.name: is missing",
        "5: superproject.url: must be a string",
        "6: superproject.manifests[1]: must be a string",
        "8: components.verifiers.pin: is missing",
        "9: components.verifiers.branche: is no key of this table; did you mean 'branch'?",
        "10: components.verifiers.tags: must not be empty",
        "11: components.verifiers.floor: 'at_pin' is no floor policy; did you mean 'at-pin'?",
        "12: components.verifiers.commit: 'HEAD' is no commit id of 7 or more hex digits",
        "15: components.renderers.pin: must have exactly one of gitlink, source and requirement",
        "16: components.renderers.floor: must be a string",
        "19: components.router.pin.gitlink: 'deps/x' is the pin of 'renderers' already",
        "20: components.router.branches: is no key of this table; did you mean 'branch'?",
    ]


def test_a_file_that_is_not_there_says_how_to_name_one(tmp_path: Path) -> None:
    with pytest.raises(BadInputError) as caught:
        read_pins(tmp_path / "pins.toml")
    assert caught.value.message == f"there is no file {tmp_path / 'pins.toml'}"
    assert caught.value.hint == "Name a pins.toml with --pins FILE."


def test_a_file_is_read_from_disk_where_no_bytes_are_given(tmp_path: Path) -> None:
    path = tmp_path / "pins.toml"
    path.write_text(HEAD)
    assert read_pins(path) == read_pins(path, HEAD.encode())


def test_the_file_is_looked_for_here_and_above(tmp_path: Path) -> None:
    deep = tmp_path / "stack" / "src" / "deep"
    deep.mkdir(parents=True)
    assert find_pins(deep) is None
    (tmp_path / "stack" / "pins.toml").write_text(HEAD)
    assert find_pins(deep) == tmp_path / "stack" / "pins.toml"
    # A directory of that name is no file.
    (deep / "pins.toml").mkdir()
    assert find_pins(deep) == tmp_path / "stack" / "pins.toml"
    (tmp_path / "stack" / "src" / "pins.toml").write_text(HEAD)
    assert find_pins(deep) == tmp_path / "stack" / "src" / "pins.toml"
