"""Reads releases out of tag names, each component with its own way of naming them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.version import Version

from pinctl.model.oid import Oid
from pinctl.model.releases import Release, newest, version_of_tag

SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=150)


def release(version: str) -> Release:
    return Release(tag=f"v{version}", version=Version(version), commit=Oid("a" * 40))


@pytest.mark.parametrize(
    ("tag", "pattern", "exclude", "expected"),
    [
        ("v0.3.0", "v[0-9]*", None, "0.3.0"),
        ("v0.3.0", "v*", None, "0.3.0"),
        ("0.3.0", "[0-9]*", None, "0.3.0"),
        ("0.3.0", "*", None, "0.3.0"),
        ("v0.3.0", "*", None, "0.3.0"),
        ("renderers-v0.1.12", "renderers-v*", None, "0.1.12"),
        ("renderers-v0.1.12", "renderers-v[0-9]*", None, "0.1.12"),
        ("renderers/0.1.12", "renderers/*", None, "0.1.12"),
        ("v0.3.1.dev5", "v[0-9]*", None, "0.3.1.dev5"),
        ("v0.3.1.dev5", "v[0-9]*", "*dev*", None),
        ("v0.4.0rc1", "v[0-9]*", "*dev*", "0.4.0rc1"),
        ("v1!2.0", "v[0-9]*", None, "1!2.0"),
        ("v2026.8.21", "v[0-9]*", None, "2026.8.21"),
        ("renderers-v0.1.12", "v[0-9]*", None, None),
        ("v0.3.0", "renderers-v*", None, None),
        ("V0.3.0", "v[0-9]*", None, None),
        ("vnext", "v[0-9]*", None, None),
        ("v0-old", "v[0-9]*", None, None),
        ("v0.3.0-final-build", "v[0-9]*", None, None),
        ("v0.3.0", "v?.?.?", None, "0.3.0"),
        ("v0.10.0", "v?.?.?", None, None),
        ("v", "v*", None, None),
        ("v0.3.0", "v0.3.0", None, "0.3.0"),
    ],
)
def test_a_tag_names_the_version_behind_the_prefix_of_its_pattern(
    tag: str, pattern: str, exclude: str | None, expected: str | None
) -> None:
    assert version_of_tag(tag, pattern=pattern, exclude=exclude) == (None if expected is None else Version(expected))


def test_three_series_on_one_history_do_not_mix() -> None:
    tags = ("v0.3.0", "v0.3.1.dev5", "renderers-v0.1.9")
    series = {
        "verifiers": [version_of_tag(tag, pattern="v[0-9]*", exclude="*dev*") for tag in tags],
        "renderers": [version_of_tag(tag, pattern="renderers-v*", exclude=None) for tag in tags],
    }
    assert series == {"verifiers": [Version("0.3.0"), None, None], "renderers": [None, None, Version("0.1.9")]}


def test_the_newest_release_is_the_highest_final_one() -> None:
    assert newest(()) is None
    assert newest((release("0.9"), release("0.10"), release("0.2"))) == release("0.10")
    assert newest((release("0.3.0"), release("0.4.0rc1"), release("0.4.0.dev3"))) == release("0.3.0")
    assert newest((release("0.3.0.post1"), release("0.3.0"))) == release("0.3.0.post1")


def test_before_the_first_final_release_the_newest_is_the_highest_there_is() -> None:
    assert newest((release("0.1.0.dev3"), release("0.1.0rc1"), release("0.1.0a2"))) == release("0.1.0rc1")


@SETTINGS
@given(numbers=st.lists(st.lists(st.integers(0, 12), min_size=2, max_size=3), min_size=1, max_size=8), data=st.data())
def test_the_newest_does_not_depend_on_the_order_of_tags(numbers: list[list[int]], data: st.DataObject) -> None:
    releases = [release(".".join(map(str, parts))) for parts in numbers]
    found = newest(tuple(data.draw(st.permutations(releases))))
    assert found is not None
    assert found.version == max(one.version for one in releases)
