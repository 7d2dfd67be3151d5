"""Says which versions must get along with which, in the words that schema registries use.

The server writes, the client reads. Of each side there are versions, oldest first; the last one is the new one, the one
before it the previous one.
"""

from enum import StrEnum
from typing import TypeVar

ServerT = TypeVar("ServerT")
ClientT = TypeVar("ClientT")


class Mode(StrEnum):
    """How far back a change must be compatible."""

    BACKWARD = "backward"
    """The new client reads what the previous server writes."""
    FORWARD = "forward"
    """The previous client reads what the new server writes."""
    FULL = "full"
    """Both."""
    BACKWARD_TRANSITIVE = "backward-transitive"
    """The new client reads what every earlier server writes."""
    FORWARD_TRANSITIVE = "forward-transitive"
    """Every earlier client reads what the new server writes."""
    FULL_TRANSITIVE = "full-transitive"
    """Both."""

    @property
    def is_backward(self) -> bool:
        """Whether the new client must read what earlier servers write."""
        return not self.startswith("forward")

    @property
    def is_forward(self) -> bool:
        """Whether earlier clients must read what the new server writes."""
        return not self.startswith("backward")

    @property
    def is_transitive(self) -> bool:
        """Whether every earlier version counts, and not the previous one alone."""
        return self.endswith("-transitive")


def required_pairs(
    mode: Mode, *, servers: tuple[ServerT, ...], clients: tuple[ClientT, ...]
) -> frozenset[tuple[ServerT, ClientT]]:
    """Returns the pairs of versions that a mode needs.

    The new client must read what the new server writes in every mode.

    Args:
        mode: the mode.
        servers: the server's versions, oldest first, the new one last.
        clients: the client's versions, likewise.

    Returns:
        The pairs; none where one side has no version.
    """
    if not servers or not clients:
        return frozenset()
    *earlier_servers, server = servers
    *earlier_clients, client = clients
    if not mode.is_transitive:
        earlier_servers, earlier_clients = earlier_servers[-1:], earlier_clients[-1:]
    pairs = {(server, client)}
    if mode.is_backward:
        pairs |= {(earlier, client) for earlier in earlier_servers}
    if mode.is_forward:
        pairs |= {(server, earlier) for earlier in earlier_clients}
    return frozenset(pairs)
