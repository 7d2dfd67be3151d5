"""Answers are kept by what was asked, wholly or not at all, and a damaged one is none."""

import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.tools import answers
from pinctl.tools.answers import digest_of, digest_of_file, recall, remember

SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=100)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pinctl" / "answers"


@pytest.mark.parametrize("answer", [{"a": [1, None, "é🦀"]}, [], "", 0, False, 10**300, float("inf")])
def test_an_answer_is_kept_under_its_question(kept: Path, answer: Any) -> None:
    digest = digest_of("question", 1)
    assert recall(digest) is None
    remember(digest, answer)
    assert recall(digest) == answer
    assert recall(digest_of("question", 2)) is None
    remember(digest, "another")
    assert recall(digest) == "another"
    assert [path.name for path in kept.rglob("*") if path.is_file()] == [digest[2:]]


@pytest.mark.parametrize("damage", [b"", b"\n", b"x" * 64 + b"\n{}", b"\xff\xfe", b"{}"])
def test_a_damaged_answer_is_none(kept: Path, damage: bytes) -> None:
    digest = digest_of("question")
    remember(digest, {"value": 1})
    path = answers._path(digest)
    path.write_bytes(damage)
    assert recall(digest) is None
    whole = path.read_bytes()
    remember(digest, {"value": 1})
    path.write_bytes(path.read_bytes()[:-1])
    assert (recall(digest), whole) == (None, damage)
    assert path.is_relative_to(kept)


@SETTINGS
@given(one=JSON, other=JSON)
def test_different_questions_have_different_digests(one: Any, other: Any) -> None:
    def is_same(left: Any, right: Any) -> bool:
        return repr(_sorted(left)) == repr(_sorted(right))

    assert (digest_of(one) == digest_of(other)) == is_same(one, other)
    assert digest_of(one, other) != digest_of([one, other])
    assert digest_of(one) != digest_of(one, None)


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted((key, _sorted(item)) for key, item in value.items()), "dict"
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def test_a_file_s_digest_is_that_of_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert digest_of_file(tmp_path / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_threads_that_keep_the_same_answer_never_leave_half_of_it(kept: Path) -> None:
    digest = digest_of("question")
    values = [["x" * 5000, number] for number in range(6)]
    wrong: list[Any] = []

    def work(value: Any) -> None:
        for _ in range(30):
            remember(digest, value)
            if recall(digest) not in values:
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(value,)) for value in values]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert [path.name for path in kept.rglob("*") if path.is_file()] == [digest[2:]]
