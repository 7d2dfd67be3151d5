"""Builds a stack of the shape of sampler-support: one repository, seven changes, each on top of the one before."""

from dataclasses import dataclass
from pathlib import Path

from support.rig import Repo
from support.uv_rig import BACKEND, IN_TREE, project

PINS = Path(__file__).parents[2] / "landing_plans/skyrl/pins.toml"
NUMBERS = tuple(range(1909, 1916))

_RESPOND = '''\
"""Writes what an engine sampled."""

import base64
import struct


def respond(*, token_ids, logprobs, support):
    """Returns a choice of a response."""
    content = [{{"logprob": {logprob}}} for value in logprobs]
    choice = {{"token_ids": token_ids, "logprobs": {{"content": content}}}}
    return choice if support is None else {{**choice, "sampling_mask": {support}}}


def _dense(support):
    width = max(map(len, support), default=1)
    ids = [token_id for row in support for token_id in (*row, *[-1] * (width - len(row)))]
    data = base64.b64encode(struct.pack(f"<{{len(ids)}}i", *ids)).decode()
    return {{"data": data, "shape": [len(support), width], "dtype": "int32"}}
'''

_READ = '''\
"""Reads what an engine sampled, for the trainer."""

import base64
import struct


def logprobs_of(choice):
    """Returns the logprob of each token."""
    values = [entry["logprob"] for entry in choice["logprobs"]["content"]]
    if any(value is None or value <= -9999.0 for value in values) or len(values) != len(choice["token_ids"]):
        raise ValueError("a token has no logprob")
    return values


def support_of(choice):
    """Returns the ids that each token was sampled from."""
    sent = choice["sampling_mask"]
    if not isinstance(sent, {form}):
        raise ValueError(f"sampling_mask must be a {form}, not a {{type(sent).__name__}}")
    rows = {support}
    if len(rows) != len(choice["token_ids"]):
        raise ValueError("a token has no support")
    return rows


def _rows(sent):
    rows, width = sent["shape"]
    ids = struct.unpack(f"<{{rows * width}}i", base64.b64decode(sent["data"], validate=True))
    return [[i for i in ids[row * width :][:width] if i != -1] for row in range(rows)]
'''

_RESPOND_LISTS = _RESPOND.format(logprob="value", support="support")
_RESPOND_FINITE = _RESPOND.format(logprob="-9999.0 if value is None else value", support="support")
_RESPOND_PACKED = _RESPOND.format(logprob="-9999.0 if value is None else value", support="_dense(support)")
_READ_LISTS = _READ.format(form="list", support="sent")
_READ_PACKED = _READ.format(form="dict", support="_rows(sent)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplerStack:
    """The stack: a checkout of SkyRL with its remote, which has the head of each pull request.

    Attributes:
        remote: whose last pull request has two commits: the server's half, then the reader's.
    """

    superproject: Repo
    remote: Repo


def sampler_stack(top: Path) -> SamplerStack:
    """Builds the stack in an empty directory."""
    remote = Repo.make(top / "remotes" / "skyrl.git", bare=True)
    files = {
        "pyproject.toml": project("skyrl", "0.1.0", more=IN_TREE),
        "_backend/pure_backend.py": BACKEND,
        "skyrl/__init__.py": "",
        "skyrl/respond.py": _RESPOND_LISTS,
        "skyrl/read.py": _READ_LISTS,
    }
    head = remote.commit("main", "Sample", files=files)
    for number in NUMBERS[:-1]:
        first = number == NUMBERS[0]
        changes = {"skyrl/respond.py": _RESPOND_FINITE} if first else {f"skyrl/step_{number}.py": f"STEP = {number}\n"}
        message = "Send a finite logprob for every token" if first else f"Prepare step {number}"
        head = remote.commit(f"refs/pull/{number}/head", message, files=changes, parents=[head])
    server = remote.commit(
        "halves", "Send the packed form", files={"skyrl/respond.py": _RESPOND_PACKED}, parents=[head]
    )
    remote.commit(
        f"refs/pull/{NUMBERS[-1]}/head",
        "Read the packed form alone",
        files={"skyrl/read.py": _READ_PACKED},
        parents=[server],
    )
    superproject = Repo.make(top / "super")
    superproject.git("remote", "add", "origin", remote.directory)
    superproject.git("pull", "--quiet", "origin", "main")
    return SamplerStack(superproject=superproject, remote=remote)
