"""Floors of manifests shaped like real ones: every place they stand in, and what raising them changes."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.version import Version

from pinctl.model.requirement import FloorSite
from pinctl.tools.python.manifest import all_requirements, floor_sites, raise_floors
from pinctl.tools.toml.source import TomlSource, read_toml

MANIFESTS = Path(__file__).parent / "manifests"
WHEEL = "https://example.org/flash_attn-2.8.3-cp312-cp312-linux_aarch64.whl"
NAMES = ("root", "configs", "comma_first_crlf", "odd")


def manifest(name: str) -> TomlSource:
    return read_toml(Path("pyproject.toml"), (MANIFESTS / f"{name}.toml").read_bytes())


def site(key: str, line: int, text: str, floor: str | None) -> FloorSite:
    return FloorSite(
        manifest="pyproject.toml", key=key, line=line, text=text, floor=None if floor is None else Version(floor)
    )


def in_file_order(sites: Iterable[FloorSite]) -> list[FloorSite]:
    return sorted(sites, key=lambda found: found.line)


def test_floors_are_found_wherever_requirements_stand() -> None:
    assert in_file_order(floor_sites(manifest("root"), "verifiers")) == [
        site("project.dependencies", 13, "verifiers[harbor]>=0.3.1.dev59", "0.3.1.dev59"),
        site("project.optional-dependencies.flash-attn-3", 28, "verifiers", None),
        site("project.optional-dependencies.envs", 29, "Verifiers>=0.3,<1", "0.3"),
        site("project.optional-dependencies.envs", 29, "verifiers>=0.4", "0.4"),
        site("dependency-groups.dev", 32, "verifiers~=0.3.0", "0.3.0"),
        site("dependency-groups.envs", 33, "VERIFIERS[all] (>=0.2)", "0.2"),
        site("tool.uv.override-dependencies", 36, "verifiers>=0.3.0", "0.3.0"),
        site("tool.uv.constraint-dependencies", 37, "verifiers<1", None),
    ]


def test_floors_are_listed_in_the_order_of_the_file() -> None:
    for name in NAMES:
        for distribution in ("verifiers", "renderers"):
            lines = [found.line for found in floor_sites(manifest(name), distribution)]
            assert lines == sorted(lines)


@pytest.mark.parametrize(
    ("name", "distribution", "expected"),
    [
        (
            "root",
            "renderers",
            [
                ("build-system.requires", 3, "renderers >= 0.1.4", "0.1.4"),
                ("project.dependencies", 14, "renderers[multimodal] >= 0.1.11", "0.1.11"),
                ("tool.uv.dev-dependencies", 38, "renderers==0.1.11", None),
            ],
        ),
        (
            "root",
            "orjson",
            [
                ("project.dependencies", 16, "orjson>=3.11.0", "3.11.0"),
                ("project.dependencies", 19, "orjson>=3.10", "3.10"),
            ],
        ),
        ("root", "flash_attn_3", [("project.optional-dependencies.flash-attn-3", 28, "Flash_Attn.3>=1", "1")]),
        (
            "root",
            "flash-attn",
            [
                (
                    "project.optional-dependencies.flash-attn",
                    25,
                    "flash-attn>=2.8.3 ; platform_machine == 'x86_64'",
                    "2.8.3",
                ),
                (
                    "project.optional-dependencies.flash-attn",
                    26,
                    f"flash-attn @ {WHEEL} ; platform_machine == 'aarch64'",
                    None,
                ),
            ],
        ),
        ("root", "dion", [("project.dependencies", 18, "dion @ git+https://github.com/samsja/dion.git@d891eeb", None)]),
        ("root", "PRIME.pydantic_config", [("project.dependencies", 20, "prime-pydantic-config>=0.4.3", "0.4.3")]),
        ("root", "harbor", []),
        ("configs", "verifiers", [("project.dependencies", 4, "verifiers>=0.3.0", "0.3.0")]),
        ("comma_first_crlf", "verifiers", [("project.dependencies", 6, "verifiers>=0.3.0", "0.3.0")]),
        (
            "odd",
            "verifiers",
            [
                ("project.dependencies", 3, "verifiers>=0.3.0", "0.3.0"),
                ("project.optional-dependencies.one", 4, "verifiers>=0.3.0", "0.3.0"),
            ],
        ),
    ],
)
def test_a_distribution_is_found_by_its_normalised_name_alone(
    name: str, distribution: str, expected: list[tuple[str, int, str, str | None]]
) -> None:
    assert in_file_order(floor_sites(manifest(name), distribution)) == [site(*one) for one in expected]


def test_every_floor_that_is_too_low_rises_and_nothing_else_changes() -> None:
    source = manifest("root")
    data, moves = raise_floors(source, {"envs-client": ("verifiers", Version("0.4"))})
    replaced = (
        ('"verifiers[harbor]>=0.3.1.dev59"', '"verifiers[harbor]>=0.4"'),
        ('"Verifiers>=0.3,<1"', '"Verifiers>=0.4,<1"'),
        ('"VERIFIERS[all] (>=0.2)"', '"VERIFIERS[all] (>=0.4)"'),
        ('"nvidia-cudnn-cu12==9.10.2.21", "verifiers>=0.3.0"', '"nvidia-cudnn-cu12==9.10.2.21", "verifiers>=0.4"'),
        ('"verifiers~=0.3.0"', '"verifiers~=0.4.0"'),
    )
    text = source.data.decode()
    for old, new in replaced:
        assert text.count(old) == 1
        text = text.replace(old, new)
    assert data.decode() == text
    low = [found for found in floor_sites(source, "verifiers") if found.floor and found.floor < Version("0.4")]
    assert {(move.component, move.before, move.after) for move in moves} == {
        ("envs-client", found.floor, Version("0.4")) for found in low
    }
    assert in_file_order(move.site for move in moves) == in_file_order(low)
    assert len(moves) == len(replaced)


def test_quotes_and_comments_beside_a_raised_floor_stay() -> None:
    source = manifest("root")
    data, moves = raise_floors(source, {"renderers": ("renderers", Version("0.1.12"))})
    assert data.decode() == source.data.decode().replace(
        "'renderers[multimodal] >= 0.1.11'", "'renderers[multimodal] >= 0.1.12'"
    ).replace('"renderers >= 0.1.4"', '"renderers >= 0.1.12"')
    assert sorted(move.text for move in moves) == ["renderers >= 0.1.12", "renderers[multimodal] >= 0.1.12"]


def test_every_one_of_several_requirements_on_a_distribution_rises() -> None:
    source = manifest("root")
    data, moves = raise_floors(source, {"orjson": ("orjson", Version("3.11.1"))})
    assert data.decode() == source.data.decode().replace('"orjson>=3.11.0"', '"orjson>=3.11.1"').replace(
        '"orjson>=3.10"', '"orjson>=3.11.1"'
    )
    assert [move.site.text for move in moves] == ["orjson>=3.11.0", "orjson>=3.10"]


def test_a_requirement_with_a_url_is_never_touched() -> None:
    source = manifest("root")
    data, moves = raise_floors(source, {"fa": ("flash_attn", Version("3")), "dion": ("dion", Version("3"))})
    assert data.decode() == source.data.decode().replace("flash-attn>=2.8.3 ;", "flash-attn>=3 ;")
    assert [move.text for move in moves] == ["flash-attn>=3 ; platform_machine == 'x86_64'"]


def test_the_spelling_of_a_name_stays() -> None:
    source = manifest("root")
    data, moves = raise_floors(source, {"fa3": ("flash-attn-3", Version("1.1"))})
    assert data.decode() == source.data.decode().replace('"Flash_Attn.3>=1"', '"Flash_Attn.3>=1.1"')
    assert [move.text for move in moves] == ["Flash_Attn.3>=1.1"]


def test_several_components_rise_at_once_line_ends_and_all() -> None:
    source = manifest("comma_first_crlf")
    floors = {"renderers": ("renderers", Version("0.1.12")), "verifiers": ("verifiers", Version("0.4.1.dev3"))}
    data, moves = raise_floors(source, floors)
    expected = source.data.replace(b"renderers>=0.1.9", b"renderers>=0.1.12")
    assert data == expected.replace(b'"verifiers>=0.3.0"', b'"verifiers>=0.4.1.dev3"')
    assert [(move.component, move.before, move.after) for move in moves] == [
        ("renderers", Version("0.1.9"), Version("0.1.12")),
        ("verifiers", Version("0.3.0"), Version("0.4.1.dev3")),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_floors_that_are_high_enough_leave_the_file_as_it_is(name: str) -> None:
    source = manifest(name)
    floors = {
        "verifiers": ("verifiers", Version("0.1")),
        "renderers": ("renderers", Version("0.0.1")),
        "absent": ("absent", Version("9")),
    }
    assert raise_floors(source, floors) == (source.data, ())
    assert raise_floors(source, {}) == (source.data, ())


def test_raising_twice_is_raising_once() -> None:
    floors = {"verifiers": ("verifiers", Version("0.4"))}
    once, _ = raise_floors(manifest("odd"), floors)
    again = read_toml(Path("pyproject.toml"), once)
    assert raise_floors(again, floors) == (once, ())


def test_all_requirements_of_a_manifest_are_listed() -> None:
    assert all_requirements(manifest("configs")) == (
        "prime-pydantic-config>=0.4.3",
        "renderers>=0.1.9",
        "verifiers>=0.3.0",
    )
    # What is no text is no requirement; what is text may be a broken one.
    assert all_requirements(manifest("odd")) == (
        "verifiers>=0.3.0",
        "verifiers>=",
        "-e ./verifiers",
        "verifiers >= 0.3 junk",
        "",
        "verifiers>=0.3.0",
    )
