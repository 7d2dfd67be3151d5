"""Finds the variants that stand on the axes of a plan's matrix: those of a landing, or those that the user names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pinctl.errors import BadFileError, BadInputError, CouldNotFindOutError
from pinctl.flows.matrix.partway import servers_between
from pinctl.flows.superproject.floors import manifests_at
from pinctl.flows.superproject.sites import locked_commit, pinned_sites
from pinctl.flows.superproject.stack import Stack
from pinctl.model.landing import BumpPlan, Staged
from pinctl.model.need import Need, State
from pinctl.model.oid import Oid
from pinctl.model.order import declared_needs
from pinctl.model.pins import Pins
from pinctl.model.plan import Constraint, Contract, LandingPlan
from pinctl.model.variant import (
    Client,
    Code,
    Recorded,
    Release,
    Server,
    Wire,
    WrittenVariant,
    parse_live,
    parse_variant,
    without_credentials,
)
from pinctl.tools.files.declaration import nearest
from pinctl.tools.files.recording import require_recording
from pinctl.tools.git.repository import Repository
from pinctl.tools.python.index import releases_in_range


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """The variants of a matrix, and which cells the plan's states ask for.

    Attributes:
        server_of: the server variant of each set of the superproject's own landed changes.
        client_of: by component, the variants before and after its changes; a client in the superproject itself is the
            code of each server.
        already: the superproject's own changes that the target has.
    """

    servers: tuple[Server, ...]
    clients: tuple[Client, ...]
    server_of: Mapping[State, Server]
    client_of: Mapping[tuple[str, bool], Client]
    already: State = frozenset()

    @property
    def newest_clients(self) -> tuple[Client, ...]:
        """The variants with all changes; of a client in the superproject itself, the code of the last server."""
        last = self.server_of[max(self.server_of, key=len)]
        own = (last,) if isinstance(last, Code) and last in self.clients else ()
        return (*(client for (_, new), client in self.client_of.items() if new), *own)

    def labels_of(self, need: Need) -> tuple[str, str] | None:
        """Returns the labels of the cell that answers a need; None where no variant does."""
        server = self.server_of.get(need.landed | self.already)
        # The superproject's own client is the code of the server that it is asked with.
        is_own = isinstance(server, Code) and server.component == need.component
        client = server if is_own else self.client_of.get((need.component, need.new))
        return None if server is None or client is None else (server.label, client.label)

    def required(self, plan: LandingPlan, *, superproject: str) -> Mapping[tuple[str, str], tuple[Constraint, ...]]:
        """Returns the cells that what the plan claims needs ok.

        Returns:
            By the labels of a cell, the constraints that wait wherever it is needed: what they cover is not asked.
        """
        waits: dict[tuple[str, str], tuple[Constraint, ...]] = {}
        for need in declared_needs(plan, superproject=superproject):
            labels = self.labels_of(need)
            if labels is not None:
                waits[labels] = tuple(item for item in waits.get(labels, need.waits) if item in need.waits)
        return waits


def axes_of(stack: Stack, plan: LandingPlan, contract: Contract, staged: Staged) -> Axes:
    """Returns the variants of a landing: the server at the target and staged, clients before and after changes."""
    bump = staged.bump
    own = frozenset(change.id for change in plan.of_superproject(stack.name))
    already = own - {item.change.id for item in bump.to_land}
    target = Code(component=stack.name, commit=bump.tip, name=bump.target)
    server_of: dict[State, Server] = {already: target}
    before_all = _before_changes(stack.repository, bump, stack.name)
    if already == own and before_all is not None:
        # Everything has landed: the server before it is in the history.
        already = frozenset()
        server_of = {already: Code(component=stack.name, commit=before_all), own: target}
    if bump.to_land or bump.moves:
        server_of[own] = Code(component=stack.name, commit=staged.commit, name="staged")
    server_of |= servers_between(stack, plan, bump, already=already, known=server_of)
    moved = {move.component.name: move for move in bump.moves}
    client_of: dict[tuple[str, bool], Client] = {}
    for name in contract.clients:
        if name == stack.name:
            continue
        move = moved.get(name)
        after = bump.pins.get(name)
        history = stack.mirror(stack.pins.components[name]).repository
        before = move.before if move is not None else _before_changes(history, bump, name)
        if before is None and move is not None:
            # What nothing pinned before may have been there all the same, brought by another package.
            before = locked_commit(stack, move.component, bump.tip)
        if after is None:
            after = before = before or _pinned(stack, bump.tip, name)
        if before is not None:
            client_of[name, False] = Code(component=name, commit=before)
        client_of[name, True] = Code(component=name, commit=after)
    own_clients = [code for code in server_of.values() if isinstance(code, Code) and code.component in contract.clients]
    return Axes(
        servers=tuple(dict.fromkeys(server_of.values())),
        clients=tuple(dict.fromkeys((*client_of.values(), *own_clients))),
        server_of=server_of,
        client_of=client_of,
        already=already,
    )


def named_servers(texts: tuple[str, ...], stack: Stack | None, name: str) -> tuple[Server, ...]:
    """Returns the server variants that the user names.

    Raises:
        BadInputError: one is no variant.
        CouldNotFindOutError: one names a commit that is not there.
    """
    return tuple(dict.fromkeys(_server(text, stack, name) for text in texts))


def named_clients(
    texts: tuple[str, ...], stack: Stack | None, pins: Pins, contract: Contract, *, say: Callable[[str], None]
) -> tuple[Client, ...]:
    """Returns the client variants that the user names; of a range of releases each one, the newest first.

    Args:
        texts: what the user wrote.
        stack: the opened stack; None where no variant is code.
        pins: the pins.toml that applies.
        contract: of the plan.
        say: hears how many releases are in a range, since each has an environment of its own.

    Raises:
        BadInputError: one is no variant, or of a component that has no probe, or a range without a release.
        CouldNotFindOutError: one names a commit that is not there, or the package index does not answer.
    """
    named = (client for text in texts for client in _clients(text, stack, pins, contract, say=say))
    return tuple(dict.fromkeys(named))


def _server(text: str, stack: Stack | None, name: str) -> Server:
    written = parse_variant(text)
    match written:
        case WrittenVariant(kind="wire"):
            return _wire(f"--server {text}", written.name)
        case WrittenVariant(kind="recorded") if written.name:
            directory = Path(written.name)
            try:
                require_recording(directory)
            except BadFileError:
                raise
            except BadInputError as error:
                raise BadInputError(f"--server {text}: {error.message}", hint=error.hint) from error
            return Recorded(directory=directory)
        case WrittenVariant(kind="live"):
            live = parse_live(text)
            if live is None:
                raise BadInputError(
                    f"--server {without_credentials(text)}: a live server is http://HOST[:PORT][/PATH], or https"
                )
            return live
        case WrittenVariant(kind="code", name=component) if component == name:
            return _own_code(f"--server {text}", written, stack)
        case _:
            raise BadInputError(
                f"--server {text}: a server is wire:FORM, {name}@REVISION, recorded:DIR, or a URL",
                hint=f"Forms: {', '.join(_forms())}",
            )


def _own_code(option: str, written: WrittenVariant, stack: Stack | None) -> Code:
    if stack is None:
        raise CouldNotFindOutError(
            f"{option} needs a checkout of {written.name}", hint="Name one with --superproject DIR."
        )
    return Code(component=written.name, commit=stack.repository.commit(written.rest), name=written.rest)


def _wire(option: str, form: str) -> Wire:
    forms = _forms()
    if form not in forms:
        raise BadInputError(f"{option}: there is no wire form {form!r}{nearest(form, forms)}")
    return Wire(form=form)


def _forms() -> tuple[str, ...]:
    # Imported here: the wire forms bring numpy, and only who names one needs them.
    from pinctl.wire.forms import FORMS  # noqa: PLC0415

    return tuple(str(form) for form in FORMS)


def _clients(
    text: str, stack: Stack | None, pins: Pins, contract: Contract, *, say: Callable[[str], None]
) -> tuple[Client, ...]:
    written = parse_variant(text)
    if written is None or written.kind in {"recorded", "live"}:
        raise BadInputError(
            f"--client {without_credentials(text)}: a client is COMPONENT==VERSION, COMPONENT>=VERSION, "
            "COMPONENT@REVISION, or wire:FORM"
        )
    if written.kind == "wire":
        return (_wire(f"--client {text}", written.name),)
    own = pins.superproject.name
    if written.kind == "code" and written.name == own and own in contract.clients:
        return (_own_code(f"--client {text}", written, stack),)
    by_distribution = {pins.components[name].distribution or name: name for name in contract.clients if name != own}
    component = written.name if written.name in by_distribution.values() else by_distribution.get(written.name)
    if component is None:
        raise BadInputError(
            f"--client {text}: the plan has no probe of {written.name!r}{nearest(written.name, contract.clients)}"
        )
    distribution = pins.components[component].distribution or component
    if written.kind == "release":
        return (Release(component=component, requirement=f"{distribution}=={written.rest}"),)
    if written.kind == "range":
        try:
            versions = releases_in_range(distribution, written.rest)
        except BadInputError as error:
            raise BadInputError(f"--client {text}: {error.message}", hint=error.hint) from error
        names = ", ".join(map(str, versions))
        say(f"--client {text}: {len(versions)} release{'s' if len(versions) > 1 else ''}: {names}")
        return tuple(Release(component=component, requirement=f"{distribution}=={version}") for version in versions)
    if stack is None:
        raise CouldNotFindOutError(
            f"--client {text} needs a checkout of {pins.superproject.name}", hint="Name one with --superproject DIR."
        )
    commit = stack.obtain(stack.pins.components[component], written.rest)
    return (Code(component=component, commit=commit),)


def _before_changes(repository: Repository, bump: BumpPlan, name: str) -> Oid | None:
    """Returns the commit before the first landed change of a repository; None where none has landed."""
    for item in bump.landed:
        if item.change.component == name:
            return repository.resolve(f"{item.commit}^1")
    return None


def _pinned(stack: Stack, tip: Oid, name: str) -> Oid:
    sites = pinned_sites(stack, stack.pins.components[name], stack.repository.gitlinks(tip), manifests_at(stack, tip))
    pin = next((site.commit for site in sites if site.commit is not None), None)
    if pin is None:
        raise CouldNotFindOutError(
            f"{name} has a probe in the plan, and no pin in {stack.name}",
            hint=f"Correct the pin of [components.{name}] in pins.toml.",
        )
    return pin
