"""The releases in a range, as the user's index has them: here a directory of small wheels."""

from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from pinctl.errors import BadInputError, CouldNotFindOutError
from pinctl.tools.python import index
from pinctl.tools.python.index import releases_in_range
from support.uv_rig import WHEELS, wheel

VERSIONS = ("0.9", "1.0", "1.1", "1.2rc1", "2.0", "2.0.post1", "3.0rc1", "3.0.dev1")


@pytest.fixture(autouse=True)
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / WHEELS).mkdir()
    for name, version in (*(("third", version) for version in VERSIONS), ("early", "1.0a1"), ("early", "1.0b1")):
        for path, data in wheel(name, version).items():
            (tmp_path / path).write_bytes(data)
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / WHEELS))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    return tmp_path / WHEELS


def listed(distribution: str, specifiers: str) -> list[str]:
    return [str(version) for version in releases_in_range(distribution, specifiers)]


@pytest.mark.parametrize(
    "specifiers",
    [">=1.0", ">=1.0,<2.0", "==1.*", "~=1.0", ">0.9,!=1.1", ">=1.2rc1", ">=1.0,<3.0rc2", ">2.0.post1", "<2.0", "<=1"],
)
def test_a_range_means_what_packaging_says_newest_first(specifiers: str) -> None:
    expected = sorted(SpecifierSet(specifiers).filter(VERSIONS), key=Version, reverse=True)
    assert expected
    assert listed("third", specifiers) == expected


def test_pre_releases_count_where_there_is_nothing_else() -> None:
    assert listed("early", ">=0.1") == ["1.0b1", "1.0a1"]


def test_a_range_that_holds_nothing_is_a_mistake_of_who_names_it() -> None:
    with pytest.raises(BadInputError) as caught:
        releases_in_range("third", ">=9")
    assert caught.value.message == (
        "no release of third is in the range >=9: Because only third<=3.0rc1 is available and you require third>=9, "
        "we can conclude that your requirements are unsatisfiable."
    )


def test_a_range_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "LIMIT", 3)
    assert listed("third", ">=1.0,<2.0.post1") == ["2.0", "1.1", "1.0"]
    with pytest.raises(BadInputError, match="more than 3 releases of third are in the range"):
        releases_in_range("third", ">=0")


def test_an_index_that_does_not_answer_is_not_an_empty_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UV_FIND_LINKS", "UV_NO_INDEX", "UV_OFFLINE"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    with pytest.raises(CouldNotFindOutError, match=r"the releases of third>=1\.0 cannot be listed: error: .*Failed to"):
        releases_in_range("third", ">=1.0")


def test_an_index_that_is_cut_off_is_not_an_empty_one() -> None:
    with pytest.raises(CouldNotFindOutError, match="network was disabled"):
        releases_in_range("nothing-of-that-name", ">=1.0")


def test_settings_of_the_user_s_own_do_not_change_the_range(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "uv").mkdir()
    (tmp_path / "uv/uv.toml").write_text('resolution = "lowest"\nconstraint-dependencies = ["third<2"]\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("UV_PRERELEASE", "allow")
    assert listed("third", ">=1.1") == ["2.0.post1", "2.0", "1.1"]
