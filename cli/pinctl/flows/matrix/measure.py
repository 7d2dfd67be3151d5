"""Measures what a plan's payloads cost: on the code of its landing, on named variants, and on reference wire forms."""

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pinctl.errors import BadInputError, CouldNotFindOutError
from pinctl.flows.matrix.cases import Fields, judged, needed_fields
from pinctl.flows.matrix.recipes import obtain_code, recipe_of
from pinctl.flows.matrix.selection import Selection
from pinctl.model.matrix import Verdict
from pinctl.model.measure import AFTER, BEFORE, Figures, Measured
from pinctl.model.plan import Probe
from pinctl.model.progress import Listener
from pinctl.model.variant import Client, Code, Release, Server, Wire
from pinctl.tools.probes.probe import Body, measure_client, measure_server
from pinctl.tools.python.environment import python_for

if TYPE_CHECKING:
    from pinctl.wire.case import Case

REPEAT = 7
"""How often each call is timed; the best time counts, because what else a machine does only ever adds to it."""

Pairs = tuple[tuple[Server, Client], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What the parts of one run share.

    Attributes:
        pythons: the interpreter of each variant's environment, or why there is none.
    """

    selection: Selection
    case: "Case"
    pythons: Mapping[Server | Client, Path | str]
    tell: Listener


def measure(selection: Selection, *, tell: Listener) -> Measured:
    """Measures a plan's case, and judges nothing yet.

    Code is measured in its own environment, one process at a time, so that none is slowed down by another. Nothing of
    it is kept: a time of another day is no answer.

    Args:
        selection: what to measure; where the user named no servers, every wire form too.
        tell: hears the progress.

    Raises:
        BadInputError: a variant is none that could be measured.
    """
    _refuse_what_cannot_be_measured(selection)
    # Imported here: the wire forms bring numpy, and other flows need neither.
    from pinctl.flows.matrix.form_figures import reference_figures  # noqa: PLC0415
    from pinctl.wire.cases import CASES  # noqa: PLC0415

    measuring = selection.contract.measuring
    case = _without(CASES[measuring.case], measuring.without)
    pairs = _pairs(selection, case)
    run = _Run(selection=selection, case=case, pythons=_pythons(selection, pairs, tell), tell=tell)
    reference = {form: reference_figures(form.form, case, repeat=REPEAT) for form in _forms(selection)}
    figures = {form: encoder for form, (encoder, _) in reference.items()}
    code: dict[Server, Figures] = {}
    sent: dict[Server, Body] = {
        server: _reference_body(server, figures[server], case) for server, _ in pairs if isinstance(server, Wire)
    }
    for server in selection.servers:
        if isinstance(server, Code):
            code[server], sent[server] = _server(run, server)
    return Measured(
        plan=selection.plan.name,
        case=case.name,
        tokens=len(case.token_ids),
        without=measuring.without,
        repeat=REPEAT,
        servers=(*code.values(), *figures.values()),
        clients=(
            *(_client(run, server, client, sent[server]) for server, client in pairs),
            *(decoder for _, decoder in reference.values()),
        ),
        names={**_names(selection), **{form.label: form.label for form in figures}},
        judging=_judging(selection),
        named_servers=selection.named_servers,
        named_clients=selection.named_clients,
        budgets=measuring.budgets,
    )


def _refuse_what_cannot_be_measured(selection: Selection) -> None:
    for server in selection.servers:
        if not isinstance(server, Code | Wire):
            raise BadInputError(
                f"--server {server.label} cannot be measured: its work is done elsewhere",
                hint="Measure code, or wire:FORM.",
            )
    for client in selection.clients:
        if isinstance(client, Wire):
            raise BadInputError(
                f"--client {client.label} cannot be measured beside other servers than its own form",
                hint=f"Its decoder is measured with --server {client.label}",
            )


def _without(case: "Case", fields: tuple[str, ...]) -> "Case":
    return replace(
        case,
        sampling_mask=None if "sampling_mask" in fields else case.sampling_mask,
        routed_experts=None if "routed_experts" in fields else case.routed_experts,
    )


def _forms(selection: Selection) -> tuple[Wire, ...]:
    """Returns the wire forms to measure: all of them, or those that are named, by the user and by budgets."""
    from pinctl.wire.forms import FORMS  # noqa: PLC0415

    if not selection.named_servers:
        return tuple(Wire(form=form) for form in FORMS)
    named = [server for server in selection.servers if isinstance(server, Wire)]
    return tuple(dict.fromkeys([*named, *_budgeted(selection)]))


def _budgeted(selection: Selection) -> dict[Wire, set[str]]:
    """Returns the wire forms that budgets name, each with the components that shall read it."""
    found: dict[Wire, set[str]] = {}
    for budget in selection.contract.measuring.budgets:
        for word in (budget.of, budget.against):
            if word not in {BEFORE, AFTER}:
                form = Wire(form=word.removeprefix("wire:"))
                found.setdefault(form, set()).update({budget.client} if budget.client else ())
    return found


def _pairs(selection: Selection, case: "Case") -> Pairs:
    """Returns who reads whom: every named pair; of a landing, the cells that its declared order needs."""
    pairs = [(server, client) for client in selection.clients for server in selection.servers]
    if selection.axes is not None and not (selection.named_servers or selection.named_clients):
        required = selection.axes.required(selection.plan, superproject=selection.stack.name if selection.stack else "")
        pairs = [(server, client) for server, client in pairs if (server.label, client.label) in required]
    judging = _judging(selection)
    pairs += [
        (form, client)
        for form, components in _budgeted(selection).items()
        for client in selection.clients
        if client.component in components and client.label in judging.get(client.component, ())
    ]
    probes = selection.contract.clients
    # A client that needs no field of the case does nothing that could be measured.
    return tuple(
        (server, client)
        for server, client in dict.fromkeys(pairs)
        if needed_fields(case, Fields(reads=probes[client.component].reads, relays=probes[client.component].relays))
    )


def _names(selection: Selection) -> dict[str, str]:
    """Returns the labels of the servers without and with the plan's own changes, where they are measured."""
    if selection.axes is None or selection.named_servers:
        return {}
    server_of = selection.axes.server_of
    last = max(server_of, key=len)
    first = min(server_of, key=len)
    return {AFTER: server_of[last].label, **({BEFORE: server_of[first].label} if first != last else {})}


def _judging(selection: Selection) -> dict[str, tuple[str, ...]]:
    """Returns the clients that budgets are judged by: those that are named; of a landing, those that it pins."""
    axes = None if selection.named_clients else selection.axes
    clients = selection.clients if axes is None else axes.newest_clients
    labels: dict[str, tuple[str, ...]] = {}
    for client in clients:
        labels[client.component] = (*labels.get(client.component, ()), client.label)
    return labels


def _pythons(selection: Selection, pairs: Pairs, tell: Listener) -> dict[Server | Client, Path | str]:
    """Makes all environments before anything is measured."""
    stack, contract = selection.stack, selection.contract
    clients = tuple(dict.fromkeys(client for _, client in pairs))
    obtain_code(stack, clients)
    probes: dict[Code | Release, Probe] = {
        server: contract.server for server in selection.servers if isinstance(server, Code)
    }
    probes |= {client: contract.clients[client.component] for client in clients if not isinstance(client, Wire)}

    def made(variant: Code | Release) -> Path | str:
        try:
            python = python_for(recipe_of(stack, variant, probes[variant]))
        except CouldNotFindOutError as error:
            return error.message
        tell(f"environment of {variant.label}: ready")
        return python

    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        return dict(zip(probes, pool.map(made, probes), strict=True))


def _reference_body(form: Wire, figures: Figures, case: "Case") -> Body:
    from pinctl.wire.forms import encode_response  # noqa: PLC0415

    if figures.verdict is not Verdict.OK:
        return Body(failure=figures.reason)
    return Body(text=encode_response(form.form, case).decode())


def _server(run: _Run, server: Code) -> tuple[Figures, Body]:
    from pinctl.flows.matrix.form_figures import parsed_objects  # noqa: PLC0415

    figures, python = Figures(server=server.label, verdict=Verdict.UNKNOWN), run.pythons[server]
    if isinstance(python, str):
        return replace(figures, reason=python), Body(failure=python)
    body, sample = measure_server(run.selection.contract.server, python, run.case.truth(), repeat=REPEAT)
    run.tell(f"server {server.label}: measured")
    if body.text is None or sample.failure is not None:
        return replace(figures, reason=body.failure or sample.failure or ""), body
    size = len(body.text.encode())
    measured = replace(figures, verdict=Verdict.OK, size=size, best=sample.best, median=sample.median)
    return replace(measured, objects=parsed_objects(body.text)), body


def _client(run: _Run, server: Server, client: Client, body: Body) -> Figures:
    figures = Figures(server=server.label, client=client.label, verdict=Verdict.UNKNOWN)
    python, probe = run.pythons[client], run.selection.contract.clients[client.component]
    if isinstance(python, str) or body.text is None:
        return replace(figures, reason=python if isinstance(python, str) else body.failure or "no body")
    # Only what it needs of this case: to find that a field is not there is no work.
    asked = replace(
        probe,
        reads=needed_fields(run.case, Fields(reads=probe.reads)),
        relays=needed_fields(run.case, Fields(reads=(), relays=probe.relays)),
    )
    decoded, sample = measure_client(asked, python, run.case.name, body.text, {**run.case.request()}, repeat=REPEAT)
    run.tell(f"{server.label} x {client.label}: measured")
    fields = Fields(reads=asked.reads, relays=asked.relays, optional=asked.optional)
    result = judged(run.case, fields, body, {run.case.name: decoded})
    if result.verdict is not Verdict.OK:
        return replace(figures, verdict=result.verdict, reason=result.reason)
    if sample.failure is not None:
        return replace(figures, reason=sample.failure)
    return replace(figures, verdict=Verdict.OK, best=sample.best, median=sample.median, objects=sample.objects)
