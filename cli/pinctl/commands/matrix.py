"""`pinctl matrix`."""

from typing import Annotated, TypedDict

import typer

from pinctl.commands.invocation import FormatOption, Invocation, OntoOption, PlanName, invocation, leave
from pinctl.errors import ExitStatus
from pinctl.render.output import Format


class _Variants(TypedDict):
    servers: tuple[str, ...]
    clients: tuple[str, ...]
    onto: str | None


def matrix(
    context: typer.Context,
    name: PlanName,
    servers: Annotated[
        list[str] | None,
        typer.Option("--server", help="A server variant: wire:FORM, or SUPERPROJECT@REVISION. May be given again."),
    ] = None,
    clients: Annotated[
        list[str] | None,
        typer.Option(
            "--client", help="A client variant: COMPONENT==VERSION, or COMPONENT@REVISION. May be given again."
        ),
    ] = None,
    with_figures: Annotated[
        bool, typer.Option("--measure", help="Measure what the payloads cost, instead, and judge the plan's budgets.")
    ] = False,
    onto: OntoOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Run the compatibility matrix of a plan on real code: each server's payloads through each client.

    Without --server and --client, over the variants of the landing. Exits with 1 where a required cell is not ok,
    with 3 where one could not be found out. With --measure: 1 where a budget is broken, 3 where one could not be
    measured.
    """
    from pinctl.flows.land import compare
    from pinctl.model.landing import Objections
    from pinctl.model.matrix import Verdict
    from pinctl.render.landing import print_objections
    from pinctl.render.matrix import matrix_json, matrix_text

    run = invocation(context)
    variants: _Variants = {"servers": tuple(servers or ()), "clients": tuple(clients or ()), "onto": onto}
    if with_figures:
        _measure(run, name, variants, output_format)
        return
    found = compare(run.where, name, **variants, tell=run.output.progress)
    if isinstance(found, Objections):
        leave(print_objections(run.output, found, output_format))
        return
    run.output.answer(matrix_text(found), matrix_json(found), output_format)
    match found.verdict:
        case Verdict.OK:
            return
        case Verdict.UNKNOWN:
            leave(ExitStatus.UNKNOWN)
        case _:
            leave(ExitStatus.NO)


def _measure(run: Invocation, name: str, variants: _Variants, output_format: Format) -> None:
    from pinctl.flows.measure import measure
    from pinctl.model.landing import Objections
    from pinctl.render.landing import print_objections
    from pinctl.render.measure import measure_json, measure_text

    found = measure(run.where, name, **variants, tell=run.output.progress)
    if isinstance(found, Objections):
        leave(print_objections(run.output, found, output_format))
        return
    run.output.answer(measure_text(found), measure_json(found), output_format)
    if found.status is not ExitStatus.YES:
        leave(found.status)
