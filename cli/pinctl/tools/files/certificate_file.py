"""Writes and reads a landing's certificate: landing_plans/certificates/NAME.json, the same bytes for the same proof."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pinctl.errors import BadFileError, Mistake
from pinctl.model.certificate import Certificate

DIRECTORY = "certificates"
"""Below landing_plans/."""

_VERSION = 1


def certificate_bytes(certificate: Certificate) -> bytes:
    """Returns the file of a certificate."""
    return (json.dumps({"version": _VERSION, **asdict(certificate)}, indent=1, sort_keys=True) + "\n").encode()


def read_certificate(path: Path, data: bytes) -> Certificate:
    """Reads a certificate.

    Args:
        path: the file's name, for messages.
        data: its bytes.

    Raises:
        BadFileError: it is none, or of a version that this pinctl does not know.
    """
    # Imported here: only a range that lands a plan has a certificate to be read.
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415

    try:
        values: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadFileError(path, (Mistake(key="", line=None, message=f"is no JSON: {error}"),)) from error
    version = values.pop("version", None) if isinstance(values, dict) else None
    if version != _VERSION:
        mistake = Mistake(key="version", line=None, message=f"must be {_VERSION}, not {version!r}")
        raise BadFileError(path, (mistake,))
    try:
        return TypeAdapter(Certificate).validate_python(values, extra="forbid")
    except ValidationError as error:
        problems = error.errors(include_url=False)
        mistakes = (
            Mistake(key=".".join(map(str, problem["loc"])), line=None, message=problem["msg"]) for problem in problems
        )
        raise BadFileError(path, tuple(mistakes)) from error
