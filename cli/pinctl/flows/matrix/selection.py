"""Selects what a matrix is about: a plan with its contract, and the variants of its landing or those that are named."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pinctl.errors import BadInputError
from pinctl.flows.matrix.modes import versions_of, wanted_for_landing
from pinctl.flows.matrix.variants import Axes, axes_of, named_clients, named_servers
from pinctl.flows.staging.resolve import pulls_of, resolve
from pinctl.flows.staging.stage import stage
from pinctl.flows.superproject.stack import Stack
from pinctl.flows.superproject.workspace import open_stack, require_pins
from pinctl.model.landing import Objections
from pinctl.model.mode import Mode
from pinctl.model.plan import Constraint, Contract, LandingPlan
from pinctl.model.progress import Listener
from pinctl.model.variant import Client, Server, parse_variant
from pinctl.model.where import Where
from pinctl.tools.files.plan_file import read_plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is compared.

    Attributes:
        stack: the opened stack; None where no variant is code.
        servers: the variants on one axis.
        clients: the variants on the other.
        axes: those of the plan's landing; None where both axes were named.
        named_servers: whether the user named the servers.
        named_clients: whether the user named the clients.
        waits: by the labels of a cell that must be ok, the constraints that wait: what they cover does not count in it.
    """

    stack: Stack | None
    plan: LandingPlan
    contract: Contract
    servers: tuple[Server, ...]
    clients: tuple[Client, ...]
    axes: Axes | None
    named_servers: bool
    named_clients: bool
    waits: Mapping[tuple[str, str], tuple[Constraint, ...]] = field(default_factory=dict)

    @property
    def required(self) -> frozenset[tuple[str, str]] | None:
        """The labels of the cells that must be ok; None for all, where variants were named."""
        if self.axes is None or self.stack is None or self.named_servers or self.named_clients:
            return None
        return frozenset(self.waits)


def select(
    where: Where,
    name: str,
    *,
    servers: tuple[str, ...],
    clients: tuple[str, ...],
    onto: str | None,
    tell: Listener,
    say: Callable[[str], None],
    mode: Mode | None = None,
) -> Selection | Objections:
    """Reads a plan, and stages it where an axis is not named.

    No checkout of the superproject is needed where none of the variants is code.

    Args:
        where: where the user stands.
        name: the plan's name.
        servers: what the user named as servers; where there is none, those of the landing.
        clients: likewise.
        onto: the branch to land on, where it is not the superproject's own.
        tell: hears the progress.
        say: hears what the user did not ask to be told, such as how many releases are in a range.
        mode: compares releases instead, where no variant is named.

    Raises:
        BadInputError: the plan has no contract, or a name is no variant.
        CouldNotFindOutError: a variant is not there.
    """
    pins = require_pins(where)
    plan = read_plan(name, pins)
    contract = contract_of(plan)
    named = [parse_variant(text) for text in (*servers, *clients)]
    needs_stack = not servers or not clients or any(written is not None and written.kind == "code" for written in named)
    stack = open_stack(where).with_pulls(pulls_of(plan)) if needs_stack else None
    selected_servers = named_servers(servers, stack, pins.superproject.name)
    selected_clients = named_clients(clients, stack, pins, contract, say=say)
    axes, waits = None, {}
    if stack is not None and (not servers or not clients):
        tell(f"resolving {name}")
        bump = resolve(stack, plan, onto=onto)
        staged = bump if isinstance(bump, Objections) else stage(stack, bump)
        if isinstance(staged, Objections):
            return staged
        axes = axes_of(stack, plan, contract, staged)
        wanted = (
            wanted_for_landing(stack, plan, contract, staged, axes)
            if mode is None
            else versions_of(stack, plan, contract, staged, axes, mode=mode)
        )
        waits = dict(wanted.waits)
        selected_servers, selected_clients = selected_servers or wanted.servers, selected_clients or wanted.clients
    return Selection(
        stack=stack,
        plan=plan,
        contract=contract,
        # Who names a variant twice asks for it once.
        servers=tuple(dict.fromkeys(selected_servers)),
        clients=tuple(dict.fromkeys(selected_clients)),
        axes=axes,
        named_servers=bool(servers),
        named_clients=bool(clients),
        waits={} if servers or clients else waits,
    )


def contract_of(plan: LandingPlan) -> Contract:
    """Returns a plan's contract.

    Raises:
        BadInputError: it has none.
    """
    if plan.contract is None:
        raise BadInputError(
            f"{plan.path} has no [contract], so there is nothing to compare",
            hint="Give it a server probe, client probes and cases.",
        )
    return plan.contract
