"""The cache keeps what is used, for as long as it is used, and nothing half done."""

import os
import time
from pathlib import Path

import pytest
from filelock import FileLock

from pinctl.tools import upkeep
from pinctl.tools.answers import recall, remember
from pinctl.tools.python.environment import READY
from pinctl.tools.upkeep import DAYS, tidy

DAY = 24 * 60 * 60
NOW = time.time()
LONG_AGO = NOW - (DAYS + 1) * DAY


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "pinctl"


def environment(cache: Path, name: str, *, used: float) -> Path:
    directory = cache / "environments" / name
    (directory / "bin").mkdir(parents=True)
    (directory / READY).touch()
    os.utime(directory / READY, (used, used))
    return directory


def answer(cache: Path, digest: str, *, used: float) -> Path:
    remember(digest, "yes")
    path = cache / "answers" / digest[:2] / digest[2:]
    os.utime(path, (used, used))
    return path


def test_what_was_not_used_for_long_goes(cache: Path) -> None:
    old, new = environment(cache, "old", used=LONG_AGO), environment(cache, "new", used=NOW - DAY)
    answers = [answer(cache, letter * 64, used=used) for letter, used in (("a", LONG_AGO), ("b", NOW - DAY))]
    tidy(now=NOW)
    assert [path.exists() for path in (old, new, *answers)] == [False, True, False, True]


def test_an_answer_that_is_asked_for_stays(cache: Path) -> None:
    path = answer(cache, "a" * 64, used=LONG_AGO)
    assert recall("a" * 64) == "yes"
    tidy(now=NOW)
    assert path.exists()


def test_what_killed_runs_left_half_done_goes_and_what_is_being_written_stays(cache: Path) -> None:
    left, fresh = (answer(cache, "a" * 64, used=NOW).with_name(name) for name in ("tmpleft", "tmpfresh"))
    for path, used in ((left, NOW - 2 * DAY), (fresh, NOW)):
        path.touch()
        os.utime(path, (used, used))
    half = cache / "environments" / "half"
    half.mkdir(parents=True)
    being_made = cache / "environments" / "being-made"
    being_made.mkdir()
    with FileLock(cache / "environments" / "being-made.lock"):
        tidy(now=NOW)
    assert [path.exists() for path in (left, fresh, half, being_made)] == [False, True, False, True]


def test_of_many_environments_the_last_used_stay_and_those_in_use(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "MOST_ENVIRONMENTS", 2)
    found = [environment(cache, f"e{days}", used=NOW - days * DAY) for days in (3, 1, 2)]
    tidy(now=NOW)
    assert [path.exists() for path in found] == [False, True, True]
    in_use = [environment(cache, f"used{number}", used=NOW - number) for number in range(4)]
    (cache / "tidied").unlink()
    tidy(now=NOW)
    assert all(path.exists() for path in in_use)


def test_it_looks_once_a_day(cache: Path) -> None:
    tidy()
    old = environment(cache, "old", used=LONG_AGO)
    tidy()
    assert old.exists()
    tidy(now=time.time() + 2 * DAY)
    assert not old.exists()


def test_an_empty_cache_is_tidy(cache: Path) -> None:
    tidy()
    assert [path.name for path in cache.iterdir()] == ["tidied"]
