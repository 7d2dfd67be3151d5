"""Keeps what a server answered in a directory: a file for each body, and a recording.json with their hashes."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from pinctl.errors import BadFileError, BadInputError, Mistake
from pinctl.model.recording import BODY_LIMIT, Recording, Response
from pinctl.tools.answers import digest_of
from pinctl.tools.files.declaration import Shape, Version

INDEX = "recording.json"

_DIGEST = r"^[0-9a-f]{64}$"


class _Case(Shape):
    case: str = Field(pattern=_DIGEST)
    asked: dict[str, Any]
    replayed: bool
    sha256: str | None = Field(default=None, pattern=_DIGEST)
    refusal: str | None = None
    failure: str | None = None


class _File(Shape):
    version: Version
    plan: str
    server: str
    cases: dict[str, _Case]


def read_recording(directory: Path, truths: Mapping[str, Mapping[str, Any]]) -> Recording:
    """Reads what a server answered to cases.

    Args:
        directory: of the recording.
        truths: the true values of the cases that are wanted, by case.

    Returns:
        A response for each of the cases. A body that is not there, or is not the one that was recorded, is a failure.

    Raises:
        BadInputError: the directory is no recording.
        BadFileError: its recording.json holds mistakes.
    """
    file = _read_index(directory)
    responses = {name: _response(directory, name, truth, file.cases.get(name)) for name, truth in truths.items()}
    return Recording(directory=directory, plan=file.plan, server=file.server, responses=responses)


def require_recording(directory: Path) -> None:
    """Makes sure that a directory is a recording.

    Raises:
        BadInputError: it is none.
        BadFileError: its recording.json holds mistakes.
    """
    _read_index(directory)


def require_place(directory: Path) -> None:
    """Makes sure that a recording can be written to a directory without losing anything else.

    Raises:
        BadInputError: it is no directory, it holds what is no part of a recording, or nothing can be written there.
    """
    if directory.is_dir():
        names = {path.name for path in directory.iterdir()}
        if names and not names <= _names_of_recording(directory):
            raise BadInputError(
                f"{directory} holds something else than a recording", hint="Name a directory that is not there yet."
            )
    elif directory.exists() or directory.is_symlink():
        raise BadInputError(f"{directory} is no directory")
    elif not directory.absolute().parent.is_dir():
        raise BadInputError(f"{directory} cannot be made: there is no directory {directory.parent}")


def write_recording(recording: Recording, *, truths: Mapping[str, Mapping[str, Any]]) -> None:
    """Writes a recording, wholly or not at all, over the one that is there.

    It is written beside its place and renamed. Where one is there already, that one is renamed first: killed between
    the two, the old one is still beside its place.

    Args:
        recording: what to write.
        truths: the true values of its cases, by case.

    Raises:
        BadInputError: it cannot be written there.
    """
    require_place(recording.directory)
    place = recording.directory.resolve()
    try:
        made = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    except OSError as error:
        raise BadInputError(f"{recording.directory} cannot be written: {error.strerror}") from error
    old = made.with_name(f"{made.name}.old")
    try:
        _write(made, recording, truths)
        # mkdtemp keeps others out, which a recording that is checked in has no reason to.
        made.chmod(0o755)
        if place.is_dir() and any(place.iterdir()):
            place.rename(old)
        made.rename(place)
    except OSError as error:
        if old.is_dir() and not place.exists():
            old.rename(place)
        raise BadInputError(f"{recording.directory} cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


def _write(directory: Path, recording: Recording, truths: Mapping[str, Mapping[str, Any]]) -> None:
    cases: dict[str, dict[str, Any]] = {}
    for name, response in recording.responses.items():
        truth = truths[name]
        experts = truth["routed_experts"]
        entry: dict[str, Any] = {
            "case": digest_of(truth),
            "asked": {
                "prompt_token_ids": truth["prompt_token_ids"],
                "routed_experts_start": None if experts is None else experts["start"],
            },
            "replayed": response.replayed,
        }
        if response.data is not None:
            (directory / _body_name(name)).write_bytes(response.data)
            entry["sha256"] = hashlib.sha256(response.data).hexdigest()
        said = {"refusal": response.refusal, "failure": response.failure}
        cases[name] = entry | {key: words for key, words in said.items() if words is not None}
    file = {"version": 1, "plan": recording.plan, "server": recording.server, "cases": cases}
    (directory / INDEX).write_text(json.dumps(file, indent=1) + "\n", "utf-8")


def _response(directory: Path, name: str, truth: Mapping[str, Any], entry: _Case | None) -> Response:
    if entry is None:
        return Response(failure=f"{directory} holds no response to this case")
    if entry.case != digest_of(truth):
        return Response(failure=f"the case is another one than when {directory} was recorded: record it again")
    if entry.sha256 is None:
        lost = None if entry.refusal is not None else entry.failure or f"{directory / INDEX} names no body"
        return Response(refusal=entry.refusal, failure=lost)
    data = _body(directory / _body_name(name), sha256=entry.sha256)
    return Response(failure=data) if isinstance(data, str) else Response(data=data, replayed=entry.replayed)


def _body(path: Path, *, sha256: str) -> bytes | str:
    """Returns the body that was recorded, or why it is not there any more."""
    # Not opened before it is known to be a file: a pipe would be waited for.
    if not path.is_file():
        return f"{path} is not there"
    try:
        with path.open("rb") as file:
            data = file.read(BODY_LIMIT + 1)
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}"
    is_recorded = hashlib.sha256(data).hexdigest() == sha256
    return data if is_recorded else f"{path} is not what was recorded: its hash is another one"


def _read_index(directory: Path) -> _File:
    path = directory / INDEX
    if not path.is_file():
        what = "holds no recording.json" if directory.is_dir() else "is no directory"
        raise BadInputError(
            f"{directory} {what}, so it is no recording",
            hint="Make one: pinctl matrix NAME --record DIR --server SERVER",
        )
    try:
        return _File.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadInputError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        mistakes = (
            Mistake(
                key=".".join(map(str, problem["loc"])),
                line=None,
                message=problem["msg"][:1].lower() + problem["msg"][1:],
            )
            for problem in error.errors(include_url=False)
        )
        raise BadFileError(path, tuple(mistakes)) from error


def _names_of_recording(directory: Path) -> set[str]:
    try:
        return {INDEX, *map(_body_name, _read_index(directory).cases)}
    except BadInputError:
        return set()


def _body_name(case: str) -> str:
    return f"{case}.json"
