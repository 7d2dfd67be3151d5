"""Bounds how long git waits for remotes, where the user has not said so already."""

import os
from weakref import WeakKeyDictionary

from pinctl.tools.git.repository import Repository

SECONDS = 300.0
"""How long one git command that speaks to a remote may take."""

TIMED_OUT = -9
"""The status of a git command that was ended for taking longer."""

_SILENT_SECONDS = 60
_SSH = "ssh -o ConnectTimeout=30 -o ServerAliveInterval=15 -o ServerAliveCountMax=4"
_HTTP_VARIABLES = ("GIT_HTTP_LOW_SPEED_LIMIT", "GIT_HTTP_LOW_SPEED_TIME")
_SSH_VARIABLES = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT")
_SETTINGS = r"^(http\.(.*\.)?lowspeed(limit|time)|core\.sshcommand|ssh\.variant)$"

_known: WeakKeyDictionary[Repository, dict[str, str]] = WeakKeyDictionary()


def patience(repository: Repository) -> dict[str, str]:
    """Returns variables by which git gives a remote up that says nothing, also in a fetch that it starts by itself.

    What the user has set, in the environment or in a configuration that the repository reads, stays.
    """
    if repository not in _known:
        keys = repository.run("config", "--name-only", "--get-regexp", _SETTINGS, accept=(0, 1)).text.lower()
        variables: dict[str, str] = {}
        if "lowspeed" not in keys and not any(name in os.environ for name in _HTTP_VARIABLES):
            variables |= dict(zip(_HTTP_VARIABLES, ("1", str(_SILENT_SECONDS)), strict=True))
        if "ssh" not in keys and not any(name in os.environ for name in _SSH_VARIABLES):
            variables["GIT_SSH_COMMAND"] = _SSH
        _known[repository] = variables
    return _known[repository]
