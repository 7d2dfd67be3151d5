"""Pins in manifests: what each way of writing one says when it moves, and when it cannot say it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.version import Version

from pinctl.model.entry import Entry, EntryKind, Target, moved_text
from pinctl.model.oid import Oid

COMMIT = Oid("97f480f1ad29f9b371a68aa297cef25c44489f9c")
ROUTER = "https://github.com/PrimeIntellect-ai/router/releases/download/"
SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=200)


def entry(kind: EntryKind, text: str, version: str | None = None) -> Entry:
    at = ("tool", "uv", "sources", "lib", kind.value)
    parsed = None if version is None else Version(version)
    return Entry(manifest="pyproject.toml", key_path=at, line=1, kind=kind, text=text, version=parsed)


def target(tag: str | None = None, version: str | None = None, *, digits: int = 0) -> Target:
    return Target(commit=COMMIT, tag=tag, version=None if version is None else Version(version), digits=digits)


@pytest.mark.parametrize("length", [7, 8, 12, 40])
def test_a_rev_keeps_the_length_that_the_file_uses(length: int) -> None:
    old = "d6d4367e56585a7fc7fc7ab29464329bbd0b6e9d"
    assert moved_text(entry(EntryKind.REV, old[:length]), target()) == COMMIT[:length]


@pytest.mark.parametrize("text", ["97f480f", "97F480F", "97f480f1", COMMIT])
def test_a_rev_that_names_the_commit_already_stays_as_it_is_written(text: str) -> None:
    assert moved_text(entry(EntryKind.REV, text), target("v0.2.0", "0.2.0")) == text


def test_a_rev_gets_longer_where_as_many_digits_name_something_else_too() -> None:
    assert moved_text(entry(EntryKind.REV, "d6d4367"), target(digits=9)) == COMMIT[:9]
    assert moved_text(entry(EntryKind.REV, "d6d4367e5658"), target(digits=9)) == COMMIT[:12]


@pytest.mark.parametrize("text", ["v0.1.0", "main", "release/1"])
def test_a_rev_that_names_a_tag_or_branch_never_becomes_a_cut_off_id(text: str) -> None:
    """A rev may be any revision to uv."""
    assert moved_text(entry(EntryKind.REV, text), target("v0.2.0", "0.2.0")) == "v0.2.0"
    assert moved_text(entry(EntryKind.REV, text), target()) == COMMIT


def test_a_tag_becomes_the_releases_tag_whatever_it_looks_like() -> None:
    assert moved_text(entry(EntryKind.TAG, "v0.1.0"), target("renderers-v0.2.0", "0.2.0")) == "renderers-v0.2.0"
    assert moved_text(entry(EntryKind.TAG, "v0.1.0"), target()) is None


def test_a_branch_is_left() -> None:
    assert moved_text(entry(EntryKind.BRANCH, "main"), target("v0.2.0", "0.2.0")) == "main"
    assert moved_text(entry(EntryKind.BRANCH, "main"), target()) == "main"


@pytest.mark.parametrize(
    ("text", "version", "expected"),
    [
        ("renderers==0.1.6", "0.1.6", "renderers==0.2.0"),
        ("renderers===0.1.6", "0.1.6", "renderers===0.2.0"),
        ("Renderers[multimodal]  ==  0.1.6 ; python_version == '3.12'", "0.1.6",
         "Renderers[multimodal]  ==  0.2.0 ; python_version == '3.12'"),
        ("renderers (==0.1.6)", "0.1.6", "renderers (==0.2.0)"),
        ("renderers!=0.1.5,==0.1.6", "0.1.6", "renderers!=0.1.5,==0.2.0"),
        ("renderers==0.1.*,==0.1.6", "0.1.6", "renderers==0.1.*,==0.2.0"),
        ("renderers==1!0.1.6", "1!0.1.6", "renderers==0.2.0"),
        ("renderers==0.1.6rc1", "0.1.6rc1", "renderers==0.2.0"),
        ("flash-attn==0.1.6+cu12", "0.1.6+cu12", "flash-attn==0.2.0+cu12"),
    ],
)  # fmt: skip
def test_an_exact_requirement_names_the_new_version_and_keeps_the_rest(text: str, version: str, expected: str) -> None:
    assert moved_text(entry(EntryKind.VERSION, text, version), target("v0.2.0", "0.2.0")) == expected
    assert moved_text(entry(EntryKind.VERSION, text, version), target()) is None


@SETTINGS
@given(
    name=st.sampled_from(["renderers", "Flash_Attn.3", "a1"]),
    extras=st.sampled_from(["", "[x]", " [ x , y ] "]),
    operator=st.sampled_from(["==", "==="]),
    space=st.sampled_from(["", " ", "\t"]),
    old=st.sampled_from(["0.1.6", "1!2", "0.1.dev3", "3.0rc1", "1.0.post2"]),
    marker=st.sampled_from(["", "; python_version == '3.12'", " ;extra=='0.1.6'"]),
    new=st.sampled_from(["0.1.6", "0.2.0", "1!3.0", "4.0.dev1", "10"]),
)
def test_a_moved_requirement_pins_exactly_the_version_and_differs_nowhere_else(
    name: str, extras: str, operator: str, space: str, old: str, marker: str, new: str
) -> None:
    head, tail = f"{name}{extras}{operator}{space}", marker
    moved = moved_text(entry(EntryKind.VERSION, f"{head}{old}{tail}", old), target("t", new))
    assert moved == f"{head}{new}{tail}"
    assert [specifier.version for specifier in Requirement(moved).specifier] == [new]


@pytest.mark.parametrize(
    ("text", "version", "tag", "new", "expected"),
    [
        (
            f"{ROUTER}v0.2.2/vllm_router-0.2.2-cp38-abi3-manylinux_2_28_x86_64.whl", "0.2.2", "v0.2.3", "0.2.3",
            f"{ROUTER}v0.2.3/vllm_router-0.2.3-cp38-abi3-manylinux_2_28_x86_64.whl",
        ),
        (
            f"{ROUTER}v0.2.2/vllm_router-0.2.2-1-cp38-abi3-macosx_11_0_arm64.whl", "0.2.2", "v0.2.10", "0.2.10",
            f"{ROUTER}v0.2.10/vllm_router-0.2.10-1-cp38-abi3-macosx_11_0_arm64.whl",
        ),
        (
            f"{ROUTER}router-v0.2.2/vllm-router-0.2.2.tar.gz", "0.2.2", "v0.2.3", "0.2.3",
            f"{ROUTER}router-v0.2.3/vllm-router-0.2.3.tar.gz",
        ),
        # A tag says 1.0 where the file says 1.0.0: the directory is named after the tag.
        ("https://h/dl/v1.0/a-1.0.0-py3-none-any.whl", "1.0.0", "v1.1", "1.1", "https://h/dl/v1.1/a-1.1-py3-none-any.whl"),
        ("https://h/0.1.0/0.1.0/a-0.1.0.zip", "0.1.0", "v0.2.0", "0.2.0", "https://h/0.2.0/0.2.0/a-0.2.0.zip"),
        # Numbers that only look like it.
        ("https://h/10.1.0/1.0.1.0/x0.1/a-0.1.0.zip", "0.1.0", "v0.2.0", "0.2.0", "https://h/10.1.0/1.0.1.0/x0.1/a-0.2.0.zip"),
        ("https://h-0.1.0/a-0.1.0.zip", "0.1.0", "v0.2.0", "0.2.0", "https://h-0.1.0/a-0.2.0.zip"),
        ("file:///srv/v0.1.0/a-0.1.0.zip", "0.1.0", "v0.2.0", "0.2.0", "file:///srv/v0.2.0/a-0.2.0.zip"),
        # The label of a build is not in the tag, and stays, escaped as it was.
        (
            "https://h/v2.8.3/flash_attn-2.8.3%2Bcu12-cp312-cp312-linux_x86_64.whl", "2.8.3+cu12", "v2.8.4", "2.8.4",
            "https://h/v2.8.4/flash_attn-2.8.4%2Bcu12-cp312-cp312-linux_x86_64.whl",
        ),
        (
            "https://h/v2.8.3/flash_attn-2.8.3+cu12-cp312-cp312-linux_x86_64.whl", "2.8.3+cu12", "v2.8.4", "2.8.4",
            "https://h/v2.8.4/flash_attn-2.8.4+cu12-cp312-cp312-linux_x86_64.whl",
        ),
    ],
)  # fmt: skip
def test_in_a_url_the_file_and_the_directory_of_its_tag_move_together(
    text: str, version: str, tag: str, new: str, expected: str
) -> None:
    assert moved_text(entry(EntryKind.URL, text, version), target(tag, new)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "https://h/v0.1.0/a-0.1.0-py3-none-any.whl#sha256=" + "0" * 64,
        "https://h/v0.1.0/a-0.1.0-py3-none-any.whl?token=1",
        "https://h/v0.1.0/download",
        "https://h/v0.1.0/a-0.1.5-py3-none-any.whl",
    ],
)
def test_a_url_that_says_more_than_a_release_is_not_moved_by_guessing(text: str) -> None:
    assert moved_text(entry(EntryKind.URL, text, "0.1.0"), target("v0.2.0", "0.2.0")) is None


def test_a_url_cannot_name_what_is_no_release() -> None:
    text = "https://h/v0.1.0/a-0.1.0-py3-none-any.whl"
    assert moved_text(entry(EntryKind.URL, text, "0.1.0"), target()) is None
    assert moved_text(entry(EntryKind.URL, text), target("v0.2.0", "0.2.0")) is None
