"""Runs the compatibility matrix: every server variant's payloads through every client variant's own code."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.matrix.asking import Sent, bodies_of, decoded_by
from pinctl.flows.matrix.cases import Fields, judged, needed_fields, questions
from pinctl.flows.matrix.controls import controls_for, told
from pinctl.flows.matrix.recipes import obtain_code, recipe_of
from pinctl.flows.matrix.steps import Clock, Steps
from pinctl.flows.superproject.stack import Stack
from pinctl.model.judgement import Decoded
from pinctl.model.matrix import Cell, Matrix
from pinctl.model.plan import Contract, LandingPlan
from pinctl.model.progress import Listener
from pinctl.model.variant import Client, Code, Live, Recorded, Server, Wire
from pinctl.tools.machine import probes_at_once
from pinctl.tools.probes.probe import Body
from pinctl.tools.python.environment import Failed
from pinctl.tools.upkeep import tidy

if TYPE_CHECKING:
    from pinctl.wire.case import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What the parts of one run share."""

    stack: Stack | None
    contract: Contract
    cases: "tuple[Case, ...]"
    steps: Steps
    clock: Clock
    failed: Failed = field(default_factory=dict)


def run_matrix(
    stack: Stack | None,
    plan: LandingPlan,
    contract: Contract,
    *,
    servers: tuple[Server, ...],
    clients: tuple[Client, ...],
    required: frozenset[tuple[str, str]] | None,
    tell: Listener,
    clock: Clock | None = None,
) -> Matrix:
    """Runs every server variant against every client variant.

    One environment is made for each variant of code, and kept, as are the answers; all cases of a cell go through one
    process.

    Args:
        stack: the opened stack; None where no variant is code.
        plan: the landing plan.
        contract: its contract.
        servers: the variants on one axis.
        clients: the variants on the other.
        required: the labels of the cells that must be ok; None for all.
        tell: hears the progress.
        clock: adds up what each client took, by its label.

    Returns:
        The matrix. What could not be run is unknown, with the reason.
    """
    # Imported here: the wire forms bring numpy, and a landing without a contract needs neither.
    from pinctl.wire.cases import CASES  # noqa: PLC0415

    coded = sum(isinstance(server, Code) for server in servers)
    run = _Run(
        stack=stack,
        contract=contract,
        cases=tuple(CASES[name] for name in contract.cases),
        steps=Steps(tell, total=coded + len(servers) * len(clients)),
        clock=clock or Clock(),
    )
    obtain_code(stack, clients)
    probes = (
        contract.server,
        *(contract.clients[client.component] for client in clients if not isinstance(client, Wire)),
    )
    with ThreadPoolExecutor(max_workers=probes_at_once(max(probe.memory for probe in probes))) as pool:
        bodies = dict(zip(servers, pool.map(lambda server: _bodies(run, server), servers), strict=True))
        pairs = [(server, client) for server in servers for client in clients]
        cells = tuple(pool.map(lambda pair: _cell(run, pair[0], pair[1], bodies[pair[0]]), pairs))
    tidy()
    return Matrix(
        plan=plan.name,
        servers=tuple(server.label for server in servers),
        clients=tuple(client.label for client in clients),
        cells=cells,
        required=required,
    )


def responses_of_code(
    stack: Stack | None, contract: Contract, server: Code, cases: "tuple[Case, ...]"
) -> Mapping[str, Body] | str:
    """Returns what the server's code at a commit sends for each case, or why it cannot be asked."""
    probe = contract.server
    try:
        return bodies_of(recipe_of(stack, server, probe), probe, [case.truth() for case in cases])
    except CouldNotFindOutError as error:
        return error.message


def _bodies(run: _Run, server: Server) -> Mapping[str, Body] | str:
    """Returns what a server sends for each case, or why it cannot be asked."""
    match server:
        case Wire() | Recorded() | Live():
            from pinctl.flows.matrix.serving import bodies_served  # noqa: PLC0415

            return bodies_served(server, run.cases, seconds=run.contract.server.seconds)
        case Code():
            with run.steps.part(f"server {server.label}"):
                return responses_of_code(run.stack, run.contract, server, run.cases)


def _cell(run: _Run, server: Server, client: Client, bodies: Mapping[str, Body] | str) -> Cell:
    with run.steps.part(f"{server.label} x {client.label}"):
        return _judged_cell(run, server, client, bodies)


def _judged_cell(run: _Run, server: Server, client: Client, bodies: Mapping[str, Body] | str) -> Cell:
    probe = run.contract.clients[client.component] if not isinstance(client, Wire) else None
    cell = Cell(
        server=server.label,
        client=client.label,
        component=client.component,
        # A client that reads nothing has nothing to be strict about.
        strict=probe is not None and probe.strict and bool(probe.reads),
    )
    if isinstance(bodies, str):
        return replace(cell, setup=bodies)
    fields = _fields_of(run, client)
    cases = tuple(case for case in run.cases if needed_fields(case, fields))
    sent: dict[str, tuple[str, Mapping[str, Any]]] = {
        key: (text, request)
        for case in cases
        if (text := bodies[case.name].text) is not None
        for key, request in questions(case).items()
    }
    # A strict decoder of pinctl's own is strict by its tests.
    controls = controls_for(run.contract.controls, probe, cases, bodies) if probe is not None else ()
    # After the cases, so that a client that dies of a control has answered them.
    sent |= {control.key: (control.body, control.request) for control in controls}
    only = {control.key: control.field for control in controls}
    try:
        decoded = _decoded(run, client, sent, only)
    except CouldNotFindOutError as error:
        return replace(cell, setup=error.message)
    results = tuple(judged(case, fields, bodies[case.name], decoded) for case in cases)
    return replace(cell, cases=results, controls=told(controls, decoded, results))


def _fields_of(run: _Run, client: Client) -> Fields:
    if isinstance(client, Wire):
        from pinctl.flows.matrix.reference import fields_read  # noqa: PLC0415

        return Fields(reads=fields_read(client.form, run.contract))
    probe = run.contract.clients[client.component]
    return Fields(reads=probe.reads, relays=probe.relays, optional=probe.optional)


def _decoded(run: _Run, client: Client, sent: Sent, only: Mapping[str, str]) -> Mapping[str, Mapping[str, Decoded]]:
    if isinstance(client, Wire):
        from pinctl.flows.matrix.reference import read_by_form  # noqa: PLC0415

        return read_by_form(client.form, run.contract, sent)
    probe = run.contract.clients[client.component]
    took = partial(run.clock.add, client.label)
    # Where no server gave a body there is nothing to ask, and no environment is needed for it.
    if not sent:
        return {}
    recipe = recipe_of(run.stack, client, probe)
    return decoded_by(recipe, probe, sent, only=only, took=took, failed=run.failed)
