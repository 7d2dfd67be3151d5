"""Shows what was recorded of a server."""

import hashlib
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pinctl.model.recording import Recording, Response


def recording_text(recording: Recording) -> RenderableType:
    """Returns a line for each case, and how to use the recording."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for name, response in recording.responses.items():
        table.add_row(name, _size(response), Text(_note(response), style="dim"))
    return Group(
        Text(f"recorded {recording.server} in {recording.directory}"),
        table,
        Text(f"Compare it with clients: pinctl matrix {recording.plan} --server recorded:{recording.directory}"),
    )


def recording_json(recording: Recording) -> dict[str, Any]:
    """Returns the same values."""
    return {
        "recording": str(recording.directory),
        "plan": recording.plan,
        "server": recording.server,
        "cases": [_case_json(name, response) for name, response in recording.responses.items()],
    }


def _case_json(name: str, response: Response) -> dict[str, Any]:
    data = response.data
    return {
        "case": name,
        "bytes": None if data is None else len(data),
        "sha256": None if data is None else hashlib.sha256(data).hexdigest(),
        "replayed": response.replayed,
        "refusal": response.refusal,
        "failure": response.failure,
    }


def _size(response: Response) -> str:
    return "no body" if response.data is None else f"{len(response.data)} bytes"


def _note(response: Response) -> str:
    said = response.refusal or response.failure
    return said or ("the case's own values" if response.replayed else "an answer of the server's own")
