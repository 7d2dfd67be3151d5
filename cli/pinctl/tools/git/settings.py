"""Hands the superproject's own access settings to git commands that run elsewhere.

A checkout in CI keeps its token (`http.extraheader`) and its rewriting of URLs (`url.*.insteadOf`) in the local
configuration, which a mirror in the cache does not see. They travel by environment: everybody can read command lines.
"""

import os
from collections.abc import Iterable

from pinctl.tools.git.repository import Repository

_ACCESS = (
    r"^(url\..*\.(insteadof|pushinsteadof)|http\..*|credential\..*"
    r"|core\.(sshcommand|askpass|gitproxy)|ssh\.variant|protocol\..*)$"
)
_OWN = frozenset({"local", "worktree"})


def access_environment(repository: Repository) -> dict[str, str]:
    """Returns variables that give a git command elsewhere the access that commands in a repository have."""
    output = repository.run("config", "--show-scope", "-z", "--get-regexp", _ACCESS, accept=(0, 1)).stdout
    words = output.decode("utf-8", "surrogateescape").split("\0")
    records = (record for scope, record in zip(words[::2], words[1::2], strict=False) if scope in _OWN)
    return _as_environment(record.partition("\n")[::2] for record in records)


def _as_environment(settings: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Appends settings to those that the user's environment has already (see git-config, GIT_CONFIG_COUNT)."""
    count = int(os.environ.get("GIT_CONFIG_COUNT", "0") or 0)
    variables = {}
    for key, value in settings:
        variables[f"GIT_CONFIG_KEY_{count}"] = key
        variables[f"GIT_CONFIG_VALUE_{count}"] = value
        count += 1
    return {**variables, "GIT_CONFIG_COUNT": str(count)} if variables else {}
