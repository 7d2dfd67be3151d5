"""Locks as uv writes them: what differs between two, and which depend on nothing but the tree."""

import pytest

from pinctl.errors import CouldNotFindOutError
from pinctl.model.lock import LockDiff
from pinctl.tools.python.lockfile import compare_locks, is_closed

LOCK = """\
version = 1
revision = 2
requires-python = ">=3.12"

[options]
exclude-newer = "2026-07-01T00:00:00Z"

[[package]]
name = "numpy"
version = "2.0.1"
source = { registry = "https://index.example/simple" }
sdist = { url = "https://files.example/numpy-2.0.1.tar.gz", hash = "sha256:aa", size = 10 }
wheels = [
    { url = "https://files.example/numpy-2.0.1-cp312-linux.whl", hash = "sha256:bb", size = 11 },
]

[[package]]
name = "prime-rl"
version = "0.5.0"
source = { editable = "." }
dependencies = [{ name = "numpy" }, { name = "verifiers" }]

[[package]]
name = "Verifiers"
source = { editable = "deps/verifiers" }
dependencies = [{ name = "numpy", marker = "sys_platform == 'linux'" }]

[[package]]
name = "renderers"
version = "0.1.6"
source = { registry = "https://index.example/simple" }
"""


def diff(*pairs: tuple[str, str], before: str = LOCK) -> LockDiff:
    """Compares the lock with itself after some replacements, each of a text that stands in it."""
    after = before
    for old, new in pairs:
        assert old in after
        after = after.replace(old, new)
    return compare_locks(before.encode(), after.encode(), first_party=["Renderers", "verifiers"])


def words(found: LockDiff) -> tuple[list[str], list[str], bool]:
    ours = [change.words for change in found.first_party]
    return ours, [change.words for change in found.third_party], found.format_only


def test_the_same_bytes_are_no_difference_at_all() -> None:
    assert diff() == LockDiff()


@pytest.mark.parametrize(
    "pairs",
    [
        [("revision = 2", "revision = 3")],
        [("revision = 2\n", "")],
        [('"2026-07-01T00:00:00Z"', '"0001-01-01T00:00:00Z"\nexclude-newer-span = "P7D"')],
        [("\n\n[[package]]", "\n\n\n[[package]]")],
        [
            (
                '[{ name = "numpy" }, { name = "verifiers" }]',
                '[\n    { name = "numpy" },\n    { name = "verifiers" },\n]',
            )
        ],
        # What revision 3 adds to every file of every package.
        [("revision = 2", "revision = 3"), ("size = 11", 'size = 11, upload-time = "2026-06-01T00:00:00Z"')],
        [(", size = 10", "")],
    ],
)
def test_another_way_of_writing_the_same_is_format_only(pairs: list[tuple[str, str]]) -> None:
    assert words(diff(*pairs)) == ([], [], True)


@pytest.mark.parametrize(
    ("pairs", "ours", "theirs"),
    [
        ([('version = "2.0.1"', 'version = "2.1.0"')], [], ["numpy 2.0.1 -> 2.1.0"]),
        ([('version = "0.5.0"', 'version = "0.6.0"')], ["prime-rl 0.5.0 -> 0.6.0"], []),
        ([('version = "0.1.6"', 'version = "0.1.12"')], ["renderers 0.1.6 -> 0.1.12"], []),
        (
            [("deps/verifiers", "deps/other")],
            ["verifiers editable deps/verifiers -> editable deps/other"],
            [],
        ),
        (
            [("sha256:bb", "sha256:cc")],
            [],
            ["numpy 2.0.1 (registry https://index.example/simple) -> other contents of numpy-2.0.1-cp312-linux.whl"],
        ),
        (
            [('name = "numpy"\nversion = "2.0.1"\nsource = { registry = "https://index.example/simple" }',
              'name = "numpy"\nversion = "2.0.1"\nsource = { registry = "https://mirror.example" }')],
            [],
            ["numpy 2.0.1 (registry https://index.example/simple) -> 2.0.1 (registry https://mirror.example)"],
        ),
        ([("revision = 2", "revision = 3"), ('version = "2.0.1"', 'version = "2.1.0"')], [], ["numpy 2.0.1 -> 2.1.0"]),
    ],
)  # fmt: skip
def test_what_moved_is_split_into_ours_and_theirs(
    pairs: list[tuple[str, str]], ours: list[str], theirs: list[str]
) -> None:
    assert words(diff(*pairs)) == (ours, theirs, False)


@pytest.mark.parametrize(
    "pairs",
    [
        [("sys_platform == 'linux'", "sys_platform == 'darwin'")],
        [('[{ name = "numpy" }, { name = "verifiers" }]', '[{ name = "numpy" }]')],
        [('requires-python = ">=3.12"', 'requires-python = ">=3.11"')],
    ],
)
def test_what_a_package_requires_is_more_than_format_though_no_package_moves(pairs: list[tuple[str, str]]) -> None:
    assert words(diff(*pairs)) == ([], [], False)


def test_where_the_same_file_is_fetched_from_is_format() -> None:
    assert words(diff(("https://files.example/", "https://mirror.example/"))) == ([], [], True)


def test_what_is_no_lock_cannot_be_compared() -> None:
    with pytest.raises(CouldNotFindOutError, match="the lock cannot be read"):
        compare_locks(LOCK.encode(), b"<<<<<<< HEAD\n", first_party=[])
    with pytest.raises(CouldNotFindOutError, match="the lock cannot be read"):
        compare_locks(b"\xff", LOCK.encode(), first_party=[])


@pytest.mark.parametrize(
    ("source", "closed"),
    [
        ('{ editable = "deps/lib" }', True),
        ('{ directory = "deps/lib" }', True),
        ('{ virtual = "." }', True),
        ('{ registry = "https://index.example/simple" }', False),
        ('{ git = "https://h/lib.git?branch=main#0123456" }', False),
        ('{ url = "https://h/lib-1-py3-none-any.whl" }', False),
    ],
)
def test_a_lock_is_closed_where_everything_is_in_the_tree(source: str, closed: bool) -> None:  # noqa: FBT001
    """A branch of a component's repository moves by itself: such a lock cannot be known from the tree."""
    lock = f'version = 1\n\n[[package]]\nname = "lib"\nversion = "1"\nsource = {source}\n'
    assert is_closed(lock.encode()) is closed


def test_an_empty_lock_is_closed() -> None:
    assert is_closed(b"version = 1\n")
