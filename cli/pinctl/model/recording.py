"""What a server answered to the cases of a contract, as it came and as it is kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

BODY_LIMIT = 64 * 2**20
"""Bytes of a body beyond which it counts as broken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What a server answered to one case: exactly one of `data`, `refusal` and `failure`.

    Attributes:
        data: the body, of any contents.
        replayed: whether the server took the case's true values; else the body is an answer of its own.
        refusal: what the server said when it refused loudly, which no client can get past.
        failure: why there is no answer.
    """

    data: bytes | None = None
    replayed: bool = False
    refusal: str | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The answers that are kept in a directory.

    Attributes:
        plan: the name of the landing plan whose cases were asked.
        server: the label of the server that answered.
        responses: by case.
    """

    directory: Path
    plan: str
    server: str
    responses: Mapping[str, Response]
