"""`pinctl matrix`."""

from pathlib import Path
from typing import Annotated

import typer

from pinctl.commands.invocation import OntoOption, PlanName, invocation
from pinctl.commands.matrix_runs import (
    MatrixFormat,
    MatrixOptions,
    list_jobs,
    measure_payloads,
    merge_parts,
    record_server,
    run_part,
    run_whole,
    shard_number,
)
from pinctl.errors import BadInputError
from pinctl.model.mode import Mode


def matrix(
    context: typer.Context,
    name: PlanName,
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="For --merge: files of shards, or directories of them.", metavar="[FILE]..."),
    ] = None,
    servers: Annotated[
        list[str] | None,
        typer.Option(
            "--server",
            help="A server variant: SUPERPROJECT@REVISION, wire:FORM, recorded:DIR, or the URL of a live server. "
            "May be given again.",
        ),
    ] = None,
    clients: Annotated[
        list[str] | None,
        typer.Option(
            "--client",
            help="A client variant: COMPONENT@REVISION, COMPONENT==VERSION, a range such as COMPONENT>=VERSION for "
            "each release in it, or wire:FORM. May be given again.",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            "--record",
            metavar="DIR",
            help="Keep what the one --server answers in DIR, for --server recorded:DIR. Clients are run only if named.",
        ),
    ] = None,
    mode: Annotated[
        Mode | None,
        typer.Option("--mode", help="Over the releases of both sides instead: how far back they must be compatible."),
    ] = None,
    with_figures: Annotated[
        bool, typer.Option("--measure", help="Measure what the payloads cost, instead, and judge the plan's budgets.")
    ] = False,
    onto: OntoOption = None,
    shard: Annotated[
        str | None, typer.Option(help="Run one part of several, such as 2/4; --format json is for --merge.")
    ] = None,
    merge: Annotated[bool, typer.Option("--merge", help="Join the JSON of shards; run nothing.")] = False,
    shards: Annotated[
        int | None,
        typer.Option(help="For --format github-matrix: at most so many. Default: one a client, up to 20.", min=1),
    ] = None,
    durations: Annotated[
        Path | None,
        typer.Option(
            help="How long clients took. Shards are balanced by it: give all of them the same. "
            "A whole run and --merge write it.",
            metavar="FILE",
        ),
    ] = None,
    output_format: Annotated[
        MatrixFormat, typer.Option("--format", help="How to print; github-matrix: the jobs, running nothing.")
    ] = MatrixFormat.TEXT,
) -> None:
    """Run the compatibility matrix of a plan on real code: each server's payloads through each client.

    Without --server and --client, over the variants of the landing. Exits with 1 where a required cell is not ok,
    with 3 where one could not be found out. With --measure: 1 where a budget is broken, 3 where one could not be
    measured.
    """
    run = invocation(context)
    options = MatrixOptions(
        files=tuple(files or ()),
        servers=tuple(servers or ()),
        clients=tuple(clients or ()),
        onto=onto,
        mode=mode,
        record=record,
        with_figures=with_figures,
        shard=shard,
        shards=shards,
        merge=merge,
        durations=durations,
        output_format=output_format,
    )
    _refuse_what_does_not_go_together(options)
    if record is not None:
        options = record_server(run, name, options, record)
        if not options.clients:
            return
    if with_figures:
        measure_payloads(run, name, options)
    elif merge:
        merge_parts(run, name, options)
    elif output_format is MatrixFormat.GITHUB_MATRIX:
        list_jobs(run, name, options)
    elif shard is not None:
        run_part(run, name, options, shard_number(shard))
    else:
        run_whole(run, name, options)


def _refuse_what_does_not_go_together(options: MatrixOptions) -> None:
    jobs = options.output_format is MatrixFormat.GITHUB_MATRIX
    chosen = options.servers or options.clients or options.onto is not None or options.mode is not None
    if options.mode is not None and (options.servers or options.clients or options.with_figures):
        raise BadInputError("--mode finds its own variants", hint="Leave out --server, --client and --measure.")
    if options.files and not options.merge:
        raise BadInputError(f"{options.files[0]}: files are for --merge")
    if options.merge and not options.files:
        raise BadInputError("--merge needs the files of the shards, or a directory of them")
    if options.merge and (chosen or options.shard is not None or jobs):
        raise BadInputError("--merge runs nothing: it goes with no other choice of what is run")
    if jobs and options.shard is not None:
        raise BadInputError("--format github-matrix lists all shards: it goes with no --shard")
    if options.record is not None and (options.merge or options.shard is not None or jobs):
        raise BadInputError("--record asks one server: it goes with no --merge, --shard or job list")
    if options.with_figures and (options.merge or options.shard is not None or options.record is not None or jobs):
        raise BadInputError("--measure goes with no --merge, --shard, --record or job list: times differ by machine")
    if options.shards is not None and not jobs:
        raise BadInputError("--shards is for --format github-matrix", hint="A part of a matrix: --shard I/N")
