"""Finds the versions that a mode compares: releases by their tags, and what a landing makes of both sides."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.matrix.variants import Axes
from pinctl.flows.superproject.stack import Stack
from pinctl.model.landing import Staged
from pinctl.model.mode import Mode, required_pairs
from pinctl.model.oid import Oid
from pinctl.model.plan import Constraint, Contract, LandingPlan
from pinctl.model.releases import Release
from pinctl.model.variant import Client, Code, Server
from pinctl.tools.git.history import releases_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """The variants of a matrix, and the cells of it that must be ok.

    Attributes:
        waits: by the labels of a cell, the constraints that wait: an earlier version is not asked for what needs
            changes of the plan.
        compared: by component, the labels of the versions that the mode compares, oldest first.
    """

    servers: tuple[Server, ...]
    clients: tuple[Client, ...]
    waits: Mapping[tuple[str, str], tuple[Constraint, ...]]
    compared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def wanted_for_landing(stack: Stack, plan: LandingPlan, contract: Contract, staged: Staged, axes: Axes) -> Versions:
    """Returns the variants of a landing and the cells that it needs: for its order, and for the contract's mode.

    Raises:
        CouldNotFindOutError: the mode looks back on a side that has no earlier version.
    """
    waits = axes.required(plan, superproject=stack.name)
    if contract.mode is None:
        return Versions(servers=axes.servers, clients=axes.clients, waits=waits)
    versions = versions_of(stack, plan, contract, staged, axes, mode=contract.mode)
    return Versions(
        servers=tuple(dict.fromkeys((*versions.servers, *axes.servers))),
        clients=tuple(dict.fromkeys((*versions.clients, *axes.clients))),
        waits={**versions.waits, **waits},
        compared=versions.compared,
    )


def versions_of(
    stack: Stack, plan: LandingPlan, contract: Contract, staged: Staged, axes: Axes, *, mode: Mode
) -> Versions:
    """Finds the versions of both sides, and which of them must get along.

    The server's versions are the releases that the target contains, or the target where there is none, then the staged
    commit. A client's are the releases that the commit to pin contains, then that commit.

    Args:
        stack: the opened stack.
        plan: the landing plan.
        contract: its contract.
        staged: the staged landing.
        axes: its variants.
        mode: how far back is looked.

    Raises:
        CouldNotFindOutError: a side that the mode looks back on has no earlier version.
    """
    servers = _servers(stack, staged)
    if mode.is_backward and len(servers) < 2:
        raise _nothing_earlier(mode, stack.name, pattern=stack.pins.superproject.tags)
    clients: dict[str, tuple[Client, ...]] = {}
    required: dict[tuple[str, str], tuple[Constraint, ...]] = {}
    for name in contract.clients:
        if name == stack.name:
            # Nobody has another version of it than of the server.
            continue
        component = stack.pins.components[name]
        new = axes.client_of[name, True]
        earlier = _code(name, stack.releases(component, _commit(new)), but=_commit(new))
        if mode.is_forward and not earlier:
            raise _nothing_earlier(mode, name, pattern=component.tags)
        clients[name] = (*earlier, new)
        for server, client in required_pairs(mode, servers=servers, clients=clients[name]):
            is_new = (server, client) == (servers[-1], new)
            required[server.label, client.label] = () if is_new else plan.constraints
    used = {label for pair in required for label in pair}
    used_servers = tuple(server for server in servers if server.label in used)
    used_clients = {name: tuple(client for client in found if client.label in used) for name, found in clients.items()}
    return Versions(
        servers=used_servers,
        clients=tuple(client for found in used_clients.values() for client in found),
        waits=required,
        compared={
            name: tuple(version.label for version in versions)
            for name, versions in ((stack.name, used_servers), *used_clients.items())
        },
    )


def _servers(stack: Stack, staged: Staged) -> tuple[Server, ...]:
    bump, declared = staged.bump, stack.pins.superproject
    target = Code(component=stack.name, commit=bump.tip, name=bump.target)
    changes_something = bool(bump.to_land or bump.moves)
    new = Code(component=stack.name, commit=staged.commit, name="staged") if changes_something else target
    releases = releases_in(stack.repository, bump.tip, pattern=declared.tags, exclude=declared.exclude_tags)
    earlier = _code(stack.name, releases, but=None if changes_something else bump.tip)
    if not earlier and changes_something:
        earlier = (target,)
    return (*earlier, new)


def _code(name: str, releases: tuple[Release, ...], *, but: Oid | None) -> tuple[Code, ...]:
    """Returns the code of releases, oldest version first."""
    ordered = sorted(releases, key=lambda release: release.version)
    return tuple(
        Code(component=name, commit=release.commit, name=release.tag) for release in ordered if release.commit != but
    )


def _commit(client: Client) -> Oid | None:
    return client.commit if isinstance(client, Code) else None


def _nothing_earlier(mode: Mode, name: str, *, pattern: str) -> CouldNotFindOutError:
    return CouldNotFindOutError(
        f"the mode {mode} needs an earlier version of {name}, and no tag like {pattern} names one",
        hint="Fetch its tags, correct the tags of pins.toml, or choose a mode that does not look back on it.",
    )
