"""Captures what one server answers to a plan's cases, so that the matrix can be run without it later."""

from collections.abc import Mapping
from pathlib import Path

from pinctl.errors import BadInputError, CouldNotFindOutError
from pinctl.flows.matrix.run import responses_of_code
from pinctl.flows.matrix.selection import contract_of
from pinctl.flows.matrix.serving import ask_live, bodies_served, truths_of
from pinctl.flows.matrix.variants import named_servers
from pinctl.flows.staging.resolve import pulls_of
from pinctl.flows.superproject.stack import Stack
from pinctl.flows.superproject.workspace import open_stack, require_pins
from pinctl.model.plan import Contract
from pinctl.model.recording import Recording, Response
from pinctl.model.variant import Code, Live, Recorded, Server, Wire, parse_variant
from pinctl.model.where import Where
from pinctl.tools.files.plan_file import read_plan
from pinctl.tools.files.recording import read_recording, require_place, write_recording
from pinctl.tools.probes.probe import Body
from pinctl.wire.case import Case
from pinctl.wire.cases import CASES


def record(where: Where, name: str, *, directory: Path, servers: tuple[str, ...]) -> Recording:
    """Asks a server for its answers to a plan's cases, and writes them to a directory.

    Args:
        where: where the user stands.
        name: the plan's name.
        directory: where the recording goes; an earlier one there is replaced.
        servers: the one server, as the user names it.

    Returns:
        What was written.

    Raises:
        BadInputError: there is not one server, or something else than a recording is in the directory.
        CouldNotFindOutError: a live server has not answered every case; nothing was written.
    """
    if len(servers) != 1:
        raise BadInputError(
            f"--record needs one --server, and there {'are' if servers else 'is'} {len(servers) or 'none'}",
            hint="Record each server into a directory of its own.",
        )
    pins = require_pins(where)
    plan = read_plan(name, pins)
    contract = contract_of(plan)
    require_place(directory)
    written = parse_variant(servers[0])
    is_code = written is not None and written.kind == "code"
    stack = open_stack(where).with_pulls(pulls_of(plan)) if is_code else None
    (server,) = named_servers(servers, stack, pins.superproject.name)
    cases = tuple(CASES[case] for case in contract.cases)
    found = _responses(stack, contract, server, cases)
    if isinstance(found, str):
        raise CouldNotFindOutError(f"nothing was recorded: {found}")
    recording = Recording(directory=directory, plan=name, server=server.label, responses=found)
    write_recording(recording, truths=truths_of(cases))
    return recording


def _responses(
    stack: Stack | None, contract: Contract, server: Server, cases: tuple[Case, ...]
) -> Mapping[str, Response] | str:
    match server:
        case Live():
            found = ask_live(server, cases, seconds=contract.server.seconds)
            if isinstance(found, str):
                return found
            # What a server did not answer today it may answer tomorrow: that is not worth keeping.
            lost = next((f"{name}: {response.failure}" for name, response in found.items() if response.failure), None)
            return lost or found
        case Recorded():
            return read_recording(server.directory, truths_of(cases)).responses
        case Wire():
            bodies = bodies_served(server, cases, seconds=contract.server.seconds)
        case Code():
            bodies = responses_of_code(stack, contract, server, cases)
    return bodies if isinstance(bodies, str) else {name: _response(body) for name, body in bodies.items()}


def _response(body: Body) -> Response:
    data = None if body.text is None else body.text.encode()
    return Response(data=data, replayed=True, refusal=body.refusal, failure=body.failure)
