"""Pins in manifests: read from wherever they stand, and moved in the way in which each is written."""

from pathlib import Path

import pytest
from packaging.version import Version

from pinctl.model.entry import EntryKind, Target
from pinctl.model.oid import Oid
from pinctl.tools.python.sources import exact_entries, exact_version, move_entries, source_entries, version_of_url
from pinctl.tools.toml.source import TomlSource, read_toml

COMMIT = Oid("97f480f1ad29f9b371a68aa297cef25c44489f9c")
TARGET = Target(commit=COMMIT, tag="v0.2.3", version=Version("0.2.3"))
ROUTER = "https://h/download/v0.2.2/vllm_router-0.2.2-cp38-abi3-manylinux_2_28"

MANIFEST = f"""\
[project]
name = "prime-rl"
dependencies = [
    "verifiers[harbor]>=0.4.0",
    'Renderers[multimodal] == 0.1.6',  # exact
    "vllm_router",
    "renderers>=0.1",
]
optional-dependencies.all = ["renderers===0.1.6 ; sys_platform == 'linux'"]

[tool.uv]
override-dependencies = ["renderers==0.1.*", "renderers==0.1.5"]

[tool.uv.sources]
Verifiers = {{ git = "https://h/verifiers.git", rev = 'd6d4367' }}  # seven digits
dion.git = "https://h/dion.git"
dion.tag = "v0.1.0"
branched = [
    {{ git = "https://h/b.git", branch = "main", marker = "sys_platform == 'linux'" }},
    {{ git = "https://h/b.git", rev = "d6d4367e56585a7fc7fc7ab29464329bbd0b6e9d", marker = "sys_platform != 'linux'" }},
]
"vllm.router" = [
    {{ url = "{ROUTER}_x86_64.whl", marker = "platform_machine == 'x86_64'" }},
    {{ url = '{ROUTER}_aarch64.whl', marker = "platform_machine == 'aarch64'" }},
]
local = {{ path = "deps/local", editable = true }}
member = {{ workspace = true }}
indexed = {{ index = "pytorch" }}
broken = 3

[tool.uv.sources.tabled]
git = "https://h/t.git"
subdirectory = "python"
rev = "d6d4367e"
"""


def manifest(text: str = MANIFEST) -> TomlSource:
    return read_toml(Path("packages/a/pyproject.toml"), text.encode())


def entries(name: str) -> list[tuple[int, str, str, str | None]]:
    return [
        (entry.line, entry.kind.value, entry.text, str(entry.version) if entry.version else None)
        for entry in source_entries(manifest(), name)
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("verifiers", [(15, "rev", "d6d4367", None)]),
        ("dion", [(17, "tag", "v0.1.0", None)]),
        ("tabled", [(34, "rev", "d6d4367e", None)]),
        (
            "branched",
            [(19, "branch", "main", None), (20, "rev", "d6d4367e56585a7fc7fc7ab29464329bbd0b6e9d", None)],
        ),
        (
            "vllm-router",
            [(23, "url", f"{ROUTER}_x86_64.whl", "0.2.2"), (24, "url", f"{ROUTER}_aarch64.whl", "0.2.2")],
        ),
        ("local", []),
        ("member", []),
        ("indexed", []),
        ("broken", []),
        ("absent", []),
    ],
)
def test_entries_of_every_kind_are_found_with_their_lines(
    name: str, expected: list[tuple[int, str, str, str | None]]
) -> None:
    assert entries(name) == expected


@pytest.mark.parametrize("name", ["vllm-router", "VLLM_Router", "vllm.router", "vllm--router"])
def test_names_are_compared_normalised(name: str) -> None:
    assert len(entries(name)) == 2


def test_exact_requirements_are_found_wherever_requirements_stand() -> None:
    found = exact_entries(manifest(), "RENDERERS")
    assert sorted((entry.line, entry.text, str(entry.version), entry.kind, entry.manifest) for entry in found) == [
        (5, "Renderers[multimodal] == 0.1.6", "0.1.6", EntryKind.VERSION, "packages/a/pyproject.toml"),
        (9, "renderers===0.1.6 ; sys_platform == 'linux'", "0.1.6", EntryKind.VERSION, "packages/a/pyproject.toml"),
        (12, "renderers==0.1.5", "0.1.5", EntryKind.VERSION, "packages/a/pyproject.toml"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("renderers==0.1.6", "0.1.6"),
        ("ren_derers==0.1.6", None),
        ("renderers==0.1.*", None),
        ("renderers>=0.1.6", None),
        ("renderers~=0.1.6", None),
        ("renderers", None),
        ("renderers @ https://h/renderers-0.1.6.tar.gz", None),
        ("renderers===foobar", None),
        ("renderers==", None),
        ("renderers==0.1.6+cu12", "0.1.6+cu12"),
        ("renderers==1!0.1.6", "1!0.1.6"),
    ],
)
def test_only_an_exact_requirement_on_the_distribution_pins_it(text: str, expected: str | None) -> None:
    assert exact_version(text, "renderers") == (None if expected is None else Version(expected))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (f"{ROUTER}_x86_64.whl", "0.2.2"),
        ("https://h/a-1.0.tar.gz?token=1", "1.0"),
        ("https://h/a-1.0-py3-none-any.whl#sha256=00", "1.0"),
        ("https://h/a-2.8.3%2Bcu12-py3-none-any.whl", "2.8.3+cu12"),
        ("https://h/v1.0/download", None),
        ("https://h/a.whl", None),
        ("", None),
    ],
)
def test_the_file_name_of_a_url_says_the_version(url: str, expected: str | None) -> None:
    assert version_of_url(url) == (None if expected is None else Version(expected))


def moved(*names: str, text: str = MANIFEST) -> str:
    source = manifest(text)
    wanted = {name: ((*source_entries(source, name), *exact_entries(source, name)), TARGET) for name in names}
    return move_entries(source, wanted)[0].decode()


def test_each_entry_moves_in_the_way_in_which_it_is_written_and_nothing_else_changes() -> None:
    expected = MANIFEST
    for old, new in (
        ("rev = 'd6d4367'", "rev = '97f480f'"),
        ('dion.tag = "v0.1.0"', 'dion.tag = "v0.2.3"'),
        ('rev = "d6d4367e"', 'rev = "97f480f1"'),
        ('rev = "d6d4367e56585a7fc7fc7ab29464329bbd0b6e9d"', f'rev = "{COMMIT}"'),
        ("'Renderers[multimodal] == 0.1.6'", "'Renderers[multimodal] == 0.2.3'"),
        ("renderers===0.1.6 ;", "renderers===0.2.3 ;"),
        ('"renderers==0.1.5"', '"renderers==0.2.3"'),
    ):
        assert expected.count(old) == 1
        expected = expected.replace(old, new)
    expected = expected.replace("v0.2.2/vllm_router-0.2.2", "v0.2.3/vllm_router-0.2.3")

    assert moved("verifiers", "dion", "tabled", "branched", "vllm-router", "renderers") == expected


def test_the_release_of_every_platform_moves_together() -> None:
    """vllm-router at prime-rl: the directory of the tag and the file, in every marker's entry."""
    source = manifest()
    found = source_entries(source, "vllm-router")
    data, moves = move_entries(source, {"vllm-router": (found, TARGET)})
    assert data.decode() == MANIFEST.replace("v0.2.2/vllm_router-0.2.2", "v0.2.3/vllm_router-0.2.3")
    assert [(move.component, move.entry, move.after) for move in moves] == [
        ("vllm-router", entry, entry.text.replace("0.2.2", "0.2.3")) for entry in found
    ]


def test_what_is_there_already_leaves_the_file_as_it_is() -> None:
    once = moved("verifiers", "vllm-router", "renderers")
    source = manifest(once)
    wanted = {name: (source_entries(source, name), TARGET) for name in ("verifiers", "vllm-router")}
    assert move_entries(source, wanted) == (source.data, ())


def test_an_entry_that_cannot_name_its_target_stays() -> None:
    target = Target(commit=COMMIT, tag=None, version=None)
    source = manifest()
    data, moves = move_entries(source, {"dion": (source_entries(source, "dion"), target)})
    assert (data, moves) == (source.data, ())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tool = 3\n",
        "[tool]\nuv = []\n",
        "[tool.uv]\nsources = 'x'\n",
        "[tool.uv.sources]\nverifiers = { git = 3, rev = 4 }\n",
        "[tool.uv.sources]\nverifiers = [1, { url = 5 }]\n",
    ],
)
def test_what_has_another_shape_pins_nothing(text: str) -> None:
    assert source_entries(manifest(text), "verifiers") == ()
    assert exact_entries(manifest(text), "verifiers") == ()
