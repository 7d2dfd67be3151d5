"""Floors of requirements: which one there is, and how it rises without anything else of the text changing."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.version import Version

from pinctl.model.requirement import FloorMove, FloorSite, distribution_of, floor_of, raised

SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=150)

SPACES = st.sampled_from(["", " ", "  ", "\t"])
NAMES = st.sampled_from(["verifiers", "Flash_Attn.3", "a", "prime-rl-configs", "x2"])
EXTRAS = st.sampled_from(["", "[harbor]", "[ harbor , multimodal ]", "[a-b]"])
BEFORE = st.sampled_from(["", "!=0.0.7,", "<99, ", "<=99 ,", "!=0.1.*,"])
AFTER = st.sampled_from(["", ",<99", ", != 0.0.7", ",<= 99.0 "])
MARKERS = st.sampled_from(
    ["", "; sys_platform == 'linux'", ' ;python_version>="3.11"', "; extra == 'x' or os_name >= 'a'"]
)
NUMBERS = st.lists(st.integers(0, 30), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
SUFFIXES = st.sampled_from(["", "a1", "rc2", ".post1", ".dev3", "b2.dev4", ".post1.dev2"])
PUBLIC = st.builds(
    lambda epoch, numbers, suffix: f"{epoch}{numbers}{suffix}", st.sampled_from(["", "", "1!"]), NUMBERS, SUFFIXES
)
VERSIONS = st.builds(
    lambda public, local: Version(public + local), PUBLIC, st.sampled_from(["", "", "+g1a2b3c", "+cu12.1"])
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("verifiers", None),
        ("verifiers>=0.3.0", "0.3.0"),
        ("verifiers[harbor]>=0.3.1.dev59", "0.3.1.dev59"),
        ("verifiers [harbor, x] >= 0.3.1", "0.3.1"),
        ("verifiers (>=0.3)", "0.3"),
        ("verifiers ~= 0.3.1", "0.3.1"),
        ("verifiers<1,>=0.3,!=0.4", "0.3"),
        ("verifiers>=0.1,>=0.3,>=0.2", "0.3"),
        ("verifiers>=0.1,~=0.3.1", "0.3.1"),
        ("verifiers>=1!2.0", "1!2.0"),
        ("verifiers==0.3.0", None),
        ("verifiers==0.3.*", None),
        ("verifiers===0.3.0", None),
        ("verifiers<1,!=0.4", None),
        ("verifiers; python_version >= '3.12'", None),
        ("verifiers>=0.3; python_version >= '3.12'", "0.3"),
        ("verifiers @ https://example.org/verifiers-0.3-py3-none-any.whl?x>=1", None),
        ("verifiers[harbor] @ git+https://example.org/v.git@v0.3 ; python_version >= '3.12'", None),
        ("-e ./deps/verifiers", None),
        ("verifiers>=", None),
        ("verifiers>=0.3 >=", None),
        (">=0.3", None),
        ("", None),
    ],
)
def test_the_floor_is_the_lowest_version_that_is_accepted(text: str, expected: str | None) -> None:
    assert floor_of(text) == (None if expected is None else Version(expected))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Flash_Attn.3>=1", "flash-attn-3"),
        ("flash-attn-3", "flash-attn-3"),
        ("verifiers[harbor] @ https://example.org/v.whl", "verifiers"),
        ("verifiers (>=0.3) ; os_name == 'posix'", "verifiers"),
        ("no requirement at all", None),
        ("", None),
    ],
)
def test_a_requirement_is_about_a_distribution_however_it_is_spelt(text: str, expected: str | None) -> None:
    assert distribution_of(text) == expected


@pytest.mark.parametrize(
    ("text", "to", "expected"),
    [
        ("verifiers>=0.3.0", "0.4", "verifiers>=0.4"),
        ("verifiers[harbor]>=0.3.1.dev59", "0.4.0", "verifiers[harbor]>=0.4.0"),
        ("renderers[multimodal] >= 0.1.11", "0.1.12", "renderers[multimodal] >= 0.1.12"),
        ("verifiers[a, b]  >=\t0.3", "0.4", "verifiers[a, b]  >=\t0.4"),
        ("verifiers (>=0.3)", "0.4", "verifiers (>=0.4)"),
        ("verifiers!=0.3.5,>=0.3 , <1", "0.4", "verifiers!=0.3.5,>=0.4 , <1"),
        ("verifiers>=0.3; python_version >= '3.11'", "0.4", "verifiers>=0.4; python_version >= '3.11'"),
        ("v3>=0.3;extra>='0.3'", "0.4", "v3>=0.4;extra>='0.3'"),
        ("verifiers>=0.3", "0.4.1.dev7", "verifiers>=0.4.1.dev7"),
        ("verifiers>=0.3", "1!0.1", "verifiers>=1!0.1"),
        ("verifiers~=0.3", "0.5", "verifiers~=0.5"),
        ("verifiers~=0.3", "0.5.0", "verifiers~=0.5"),
        ("verifiers~=1!0.3", "1!1", "verifiers~=1!1.0"),
        ("verifiers >=0.1, >=0.3", "0.5", "verifiers >=0.5, >=0.3"),
    ],
)
def test_a_floor_rises_and_all_else_stays(text: str, to: str, expected: str) -> None:
    assert raised(text, to=Version(to)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "verifiers",
        "verifiers<1",
        "verifiers==0.3.0",
        "verifiers==0.3.*",
        "verifiers>=0.4",
        "verifiers>=0.4.0",
        "verifiers>=0.5.dev1",
        "verifiers>=0.1,>=0.4",
        "verifiers; python_version >= '0.1'",
        "verifiers @ https://example.org/verifiers>=0.1.whl",
        "verifiers>=",
        "no requirement >= 0.1 at all",
        "",
    ],
)
def test_what_has_no_floor_or_one_that_is_high_enough_stays(text: str) -> None:
    assert raised(text, to=Version("0.4")) == text


@pytest.mark.parametrize(
    ("text", "expected"), [("verifiers>=0.3.0", "verifiers>=0.4.1.dev3"), ("verifiers>=0.4.1.dev3", None)]
)
def test_a_floor_never_has_the_local_part_of_a_version(text: str, expected: str | None) -> None:
    # PEP 440 allows it in == and != alone, and versions derived from tags have one.
    assert raised(text, to=Version("0.4.1.dev3+g1a2b3c")) == (expected or text)


@pytest.mark.parametrize(
    ("text", "to", "expected"),
    [
        ("verifiers~=0.3", "1", "verifiers~=1.0"),
        ("verifiers~=0.3.1", "0.5", "verifiers~=0.5.0"),
        ("verifiers~=0.3.1", "0.5.2", "verifiers~=0.5.2"),
        ("verifiers~=0.4", "0.5.3", "verifiers>=0.5.3,==0.*"),
        ("verifiers~=0.4", "1.2.3", "verifiers>=1.2.3,==1.*"),
        ("verifiers[a] ~= 0.4 ; os_name == 'posix'", "0.5.3", "verifiers[a] >= 0.5.3, == 0.* ; os_name == 'posix'"),
        ("verifiers (~=0.4, !=0.4.7)", "0.5.3", "verifiers (>=0.5.3, ==0.*, !=0.4.7)"),
        ("verifiers~=1!0.4", "1!0.5.3.dev2", "verifiers>=1!0.5.3.dev2,==1!0.*"),
        ("verifiers~=0.4.1", "0.5.3.1", "verifiers>=0.5.3.1,==0.5.*"),
    ],
)
def test_a_compatible_release_stays_compatible_with_as_much_as_it_was(text: str, to: str, expected: str) -> None:
    # The number of parts is the upper bound: ~=0.3.1 stays below 0.4, and ~=1 is no specifier at all.
    assert raised(text, to=Version(to)) == expected


@SETTINGS
@given(
    name=NAMES, extras=EXTRAS, gap=SPACES, before=BEFORE, operator=st.sampled_from([">=", "~="]), space=SPACES,
    version=PUBLIC, after=AFTER, marker=MARKERS, to=VERSIONS,
)  # fmt: skip
def test_only_the_version_differs_and_it_never_gets_lower(
    name: str,
    extras: str,
    gap: str,
    before: str,
    operator: str,
    space: str,
    version: str,
    after: str,
    marker: str,
    to: Version,
) -> None:
    assume(operator == ">=" or len(Version(version).release) > 1)
    head, tail = f"{name}{extras}{gap}{before}{operator}{space}", f"{after}{marker}"
    text = f"{head}{version}{tail}"
    new = raised(text, to=to)
    assert new.startswith(head.removesuffix(f"{operator}{space}"))
    assert new.endswith(tail)
    was, now = Requirement(text), Requirement(new)
    assert (now.name, now.extras, now.marker, now.url) == (was.name, was.extras, was.marker, None)
    wanted = max(Version(version), Version(to.public))
    assert floor_of(new) == wanted
    assert operator == "~=" or new[len(head) : len(new) - len(tail)] == (
        version if Version(version) >= wanted else to.public
    )
    # As narrow as it was: the next release in the last part that `~=` leaves open is still admitted.
    prefix = (*wanted.release, *(0,) * 9)[: len(Version(version).release) - 1]
    following = ".".join(map(str, (*prefix, max(wanted.release) + 1)))
    if operator == "~=" and not before and not after:
        assert now.specifier.contains(f"{wanted.epoch}!{following}")
    assert raised(new, to=to) == new


@SETTINGS
@given(text=st.text(alphabet="ab1.>=~!,;[]() @'\t", max_size=25), to=VERSIONS)
def test_no_text_is_too_odd(text: str, to: Version) -> None:
    new = raised(text, to=to)
    if floor_of(text) is None:
        assert new == text
    else:
        assert floor_of(new) == max(floor_of(text) or to, Version(to.public))


def test_a_move_knows_the_text_it_makes() -> None:
    site = FloorSite(
        manifest="pyproject.toml",
        key="project.dependencies",
        line=12,
        text="verifiers[harbor] >= 0.3.0 ; os_name == 'posix'",
        floor=Version("0.3.0"),
    )
    move = FloorMove(component="verifiers", site=site, before=Version("0.3.0"), after=Version("0.4"))
    assert move.text == "verifiers[harbor] >= 0.4 ; os_name == 'posix'"
