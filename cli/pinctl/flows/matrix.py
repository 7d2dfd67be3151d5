"""Runs the compatibility matrix: every server variant's payloads through every client variant's own code."""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.asking import bodies_of, decoded_by
from pinctl.flows.cases import judged, needed_fields, questions
from pinctl.flows.stack import Stack
from pinctl.flows.strictness import controls_for, told
from pinctl.model.matrix import Cell, Matrix
from pinctl.model.plan import Contract, LandingPlan, Probe
from pinctl.model.variant import Client, Code, Release, Server, Wire
from pinctl.tools.environment import Recipe
from pinctl.tools.git.checkout import lay_out
from pinctl.tools.probe import Body

if TYPE_CHECKING:
    from pinctl.wire.case import Case

Tell = Callable[[str], None]
"""Hears what is going on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What the parts of one run share."""

    stack: Stack | None
    contract: Contract
    cases: "tuple[Case, ...]"
    tell: Tell


def run_matrix(
    stack: Stack | None,
    plan: LandingPlan,
    contract: Contract,
    *,
    servers: tuple[Server, ...],
    clients: tuple[Client, ...],
    required: frozenset[tuple[str, str]] | None,
    tell: Tell,
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

    Returns:
        The matrix. What could not be run is unknown, with the reason.
    """
    # Imported here: the wire forms bring numpy, and a landing without a contract needs neither.
    from pinctl.wire.cases import CASES  # noqa: PLC0415

    run = _Run(stack=stack, contract=contract, cases=tuple(CASES[name] for name in contract.cases), tell=tell)
    if stack is not None:
        # Before any thread starts: each remote is asked once.
        for client in clients:
            if isinstance(client, Code):
                stack.obtain(stack.pins.components[client.component], client.commit)
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        bodies = dict(zip(servers, pool.map(lambda server: _bodies(run, server), servers), strict=True))
        pairs = [(server, client) for server in servers for client in clients]
        cells = pool.map(lambda pair: _cell(run, pair[0], pair[1], bodies[pair[0]]), pairs)
        return Matrix(
            plan=plan.name,
            servers=tuple(server.label for server in servers),
            clients=tuple(client.label for client in clients),
            cells=tuple(cells),
            required=required,
        )


def _bodies(run: _Run, server: Server) -> Mapping[str, Body] | str:
    """Returns what a server sends for each case, or why it cannot be asked."""
    match server:
        case Wire():
            return {case.name: _reference_body(server.form, case) for case in run.cases}
        case Code():
            probe = run.contract.server
            try:
                found = bodies_of(_code_recipe(run, server, probe), probe, [case.truth() for case in run.cases])
            except CouldNotFindOutError as error:
                return error.message
            run.tell(f"server {server.label}: done")
            return found


def _reference_body(form: str, case: "Case") -> Body:
    from pinctl.wire.forms import encode_response  # noqa: PLC0415
    from pinctl.wire.refusal import UnencodableError  # noqa: PLC0415

    try:
        return Body(text=encode_response(form, case).decode())
    except UnencodableError as error:
        return Body(failure=f"wire:{form} cannot hold it: {error}")


def _client_recipe(run: _Run, client: Client, probe: Probe) -> Recipe:
    match client:
        case Release():
            return Recipe(
                name=client.requirement.replace("==", "-"),
                identity=client.requirement,
                requirement=client.requirement,
                extra=probe.requirements,
                dependencies=probe.dependencies,
            )
        case Code():
            return _code_recipe(run, client, probe)


def _code_recipe(run: _Run, code: Code, probe: Probe) -> Recipe:
    stack = run.stack
    if stack is None:
        raise CouldNotFindOutError(f"{code.label} needs a checkout of the superproject")
    if code.component == stack.name:
        identity: str = stack.repository.tree_of(code.commit)

        def write(directory: Path) -> Path:
            return stack.lay_out(code.commit, directory)
    else:
        component = stack.pins.components[code.component]
        repository = stack.mirror(component).repository
        # The version is part of what is installed, and a tag can change it without changing the tree.
        identity = f"{repository.tree_of(code.commit)} {stack.version(component, code.commit)}"

        def write(directory: Path) -> Path:
            lay_out(repository, code.commit, directory)
            return directory

    return Recipe(
        name=code.component,
        identity=f"{code.component} {identity}",
        lay_out=write,
        extra=probe.requirements,
        dependencies=probe.dependencies,
    )


def _cell(run: _Run, server: Server, client: Client, bodies: Mapping[str, Body] | str) -> Cell:
    probe = run.contract.clients[client.component]
    # A client that reads nothing has nothing to be strict about.
    cell = Cell(
        server=server.label, client=client.label, component=client.component, strict=probe.strict and bool(probe.reads)
    )
    if isinstance(bodies, str):
        return replace(cell, setup=bodies)
    cases = tuple(case for case in run.cases if needed_fields(case, (*probe.reads, *probe.relays)))
    sent: dict[str, tuple[str, Mapping[str, Any]]] = {
        key: (text, request)
        for case in cases
        if (text := bodies[case.name].text) is not None
        for key, request in questions(case).items()
    }
    controls = controls_for(run.contract.controls, probe, cases, bodies)
    # After the cases, so that a client that dies of a control has answered them.
    sent |= {control.key: (control.body, control.request) for control in controls}
    only = {control.key: control.field for control in controls}
    try:
        decoded = decoded_by(_client_recipe(run, client, probe), probe, sent, only=only)
    except CouldNotFindOutError as error:
        return replace(cell, setup=error.message)
    results = tuple(judged(case, probe, bodies[case.name], decoded) for case in cases)
    run.tell(f"{server.label} x {client.label}: done")
    return replace(cell, cases=results, controls=told(controls, decoded, results))
