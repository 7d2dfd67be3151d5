"""Recordings: written wholly or not at all, and every body that is not what was recorded is found out."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pinctl.errors import BadFileError, BadInputError
from pinctl.model.recording import BODY_LIMIT, Recording, Response
from pinctl.tools.files import recording
from pinctl.tools.files.recording import read_recording, require_place, require_recording, write_recording
from pinctl.wire.cases import CASES

TRUTHS: dict[str, Any] = {name: CASES[name].truth() for name in ("greedy", "top-p", "empty")}
RESPONSES = {
    "greedy": Response(data=b'{"a": "\xc3\xa9"}\n', replayed=True),
    "top-p": Response(data=b"\xff\x00", replayed=False),
    "empty": Response(refusal="HTTP 404"),
}


@pytest.fixture
def made(tmp_path: Path) -> Path:
    place = tmp_path / "made"
    write(place)
    return place


def write(place: Path, responses: dict[str, Response] | None = None, *, server: str = "http://host") -> None:
    kept = Recording(directory=place, plan="plan", server=server, responses=responses or RESPONSES)
    write_recording(kept, truths=TRUTHS)


def test_a_recording_is_read_back_byte_by_byte(made: Path) -> None:
    found = read_recording(made, TRUTHS)

    assert found == Recording(directory=made, plan="plan", server="http://host", responses=RESPONSES)
    assert sorted(path.name for path in made.iterdir()) == ["greedy.json", "recording.json", "top-p.json"]
    assert (made / "top-p.json").read_bytes() == b"\xff\x00"
    assert stat.S_IMODE(made.stat().st_mode) == 0o755
    file = json.loads((made / "recording.json").read_text())
    assert (file["version"], file["cases"]["greedy"]["asked"]) == (1, dict(CASES["greedy"].request()))


def test_the_same_recording_is_the_same_bytes(made: Path, tmp_path: Path) -> None:
    write(tmp_path / "again")
    assert (made / "recording.json").read_bytes() == (tmp_path / "again/recording.json").read_bytes()


def _change(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"a", b"b"))


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _too_long(path: Path) -> None:
    os.truncate(path, BODY_LIMIT + 1)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_change, "is not what was recorded: its hash is another one"),
        (Path.unlink, "is not there"),
        (_pipe, "is not there"),
        (_too_long, "is not what was recorded: its hash is another one"),
    ],
)
def test_a_damaged_body_is_a_failure_and_the_others_stay(
    made: Path, damage: Callable[[Path], None], words: str
) -> None:
    damage(made / "greedy.json")
    found = read_recording(made, TRUTHS).responses

    assert found == {**RESPONSES, "greedy": Response(failure=f"{made / 'greedy.json'} {words}")}


def test_a_case_that_changed_or_was_not_asked_is_a_failure(made: Path) -> None:
    other = {**TRUTHS["greedy"], "logprobs": [-1.0] * 4}
    found = read_recording(made, {"greedy": other, "one-token": CASES["one-token"].truth()}).responses

    assert found["greedy"].failure == f"the case is another one than when {made} was recorded: record it again"
    assert found["one-token"].failure == f"{made} holds no response to this case"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "invalid JSON"),
        ("[]", "input should be an object"),
        ('{"version": 2, "plan": "p", "server": "s", "cases": {}}', "version: value error, must be 1"),
        ('{"version": 1, "plan": "p", "cases": {}}', "server: field required"),
        ('{"version": 1, "plan": "p", "server": "s", "cases": {}, "x": 1}', "x: extra inputs are not permitted"),
        (
            '{"version": 1, "plan": "p", "server": "s", "cases": {"a": {"case": "0", "asked": {}, "replayed": 1}}}',
            "cases.a.replayed: input should be a valid boolean",
        ),
    ],
)
def test_a_recording_json_that_is_none_names_its_mistakes(made: Path, text: str, words: str) -> None:
    (made / "recording.json").write_text(text)
    with pytest.raises(BadFileError) as caught:
        require_recording(made)
    assert f"{made / 'recording.json'}: " in caught.value.message
    assert words in caught.value.message


@pytest.mark.parametrize(("name", "words"), [("nowhere", "is no directory"), ("bare", "holds no recording.json")])
def test_a_directory_that_is_no_recording(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "bare").mkdir()
    with pytest.raises(BadInputError, match=f"{name} {words}, so it is no recording"):
        require_recording(tmp_path / name)


def test_an_earlier_recording_is_replaced_wholly(made: Path) -> None:
    write(made, {"greedy": Response(data=b"new", replayed=True)}, server="wire:vllm")

    assert read_recording(made, {"greedy": TRUTHS["greedy"]}).responses["greedy"].data == b"new"
    assert sorted(path.name for path in made.iterdir()) == ["greedy.json", "recording.json"]
    assert [path.name for path in made.parent.iterdir()] == ["made"]


def test_nothing_else_is_overwritten(made: Path, tmp_path: Path) -> None:
    (made / "notes.txt").write_text("mine")
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare/x").touch()
    (tmp_path / "file").touch()
    for place, words in (
        (made, "holds something else than a recording"),
        (tmp_path / "bare", "holds something else than a recording"),
        (tmp_path / "file", "is no directory"),
        (tmp_path / "no/where", "cannot be made: there is no directory"),
    ):
        with pytest.raises(BadInputError, match=words):
            write(place)
    assert (made / "notes.txt").read_text() == "mine"


def test_an_empty_directory_and_a_link_to_one_are_filled(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    require_place(tmp_path / "link")
    write(tmp_path / "link")

    assert (tmp_path / "link").is_symlink()
    assert read_recording(tmp_path / "empty", TRUTHS).responses == RESPONSES


@pytest.mark.parametrize("is_there", [False, True])
def test_a_write_that_fails_leaves_what_was_there_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_there: bool
) -> None:
    place = tmp_path / "made"
    if is_there:
        write(place)
    before = sorted(tmp_path.rglob("*"))

    def full(directory: Path, *_arguments: object) -> None:
        (directory / "greedy.json").write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(recording, "_write", full)
    with pytest.raises(BadInputError, match="made cannot be written: No space left on device"):
        write(place, {"greedy": Response(data=b"new")})
    assert sorted(tmp_path.rglob("*")) == before
    if is_there:
        assert read_recording(place, TRUTHS).responses == RESPONSES


def test_the_old_recording_comes_back_where_the_new_one_cannot_take_its_place(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def refusing(path: Path, target: Path) -> Path:
        if target == made.resolve() and not path.name.endswith(".old"):
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refusing)
    with pytest.raises(BadInputError, match="cannot be written"):
        write(made, {"greedy": Response(data=b"new")})
    assert read_recording(made, TRUTHS).responses == RESPONSES
    assert [path.name for path in made.parent.iterdir()] == ["made"]
