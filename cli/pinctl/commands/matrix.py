"""`pinctl matrix`."""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pinctl.commands.invocation import Invocation, OntoOption, PlanName, invocation, leave
from pinctl.commands.job_summary import append_to_job_summary
from pinctl.errors import BadInputError, ExitStatus
from pinctl.render.output import Format

if TYPE_CHECKING:
    from pinctl.flows.land import Asked
    from pinctl.model.landing import Objections
    from pinctl.model.matrix import Matrix, Verdict
    from pinctl.model.progress import Listener
    from pinctl.model.shard import ShardNumber


class MatrixFormat(StrEnum):
    """How a matrix is printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    GITHUB_MATRIX = "github-matrix"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """What the command line says beside the plan's name."""

    files: tuple[Path, ...]
    servers: tuple[str, ...]
    clients: tuple[str, ...]
    onto: str | None
    record: Path | None
    shard: str | None
    shards: int | None
    merge: bool
    durations: Path | None
    output_format: MatrixFormat


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
    with 3 where one could not be found out.
    """
    run = invocation(context)
    options = _Options(
        files=tuple(files or ()),
        servers=tuple(servers or ()),
        clients=tuple(clients or ()),
        onto=onto,
        record=record,
        shard=shard,
        shards=shards,
        merge=merge,
        durations=durations,
        output_format=output_format,
    )
    _refuse_what_does_not_go_together(options)
    if record is not None:
        options = _record(run, name, options, record)
        if not options.clients:
            return
    if merge:
        _merge(run, name, options)
    elif output_format is MatrixFormat.GITHUB_MATRIX:
        _list_jobs(run, name, options)
    elif shard is not None:
        _run_shard(run, name, options, _shard_number(shard))
    else:
        _run_whole(run, name, options)


def _refuse_what_does_not_go_together(options: _Options) -> None:
    jobs = options.output_format is MatrixFormat.GITHUB_MATRIX
    chosen = options.servers or options.clients or options.onto is not None
    if options.files and not options.merge:
        raise BadInputError(f"{options.files[0]}: files are for --merge")
    if options.merge and not options.files:
        raise BadInputError("--merge needs the files of the shards, or a directory of them")
    if options.merge and (chosen or options.shard is not None or jobs):
        raise BadInputError("--merge runs nothing: it goes with no --server, --client, --onto, --shard or job list")
    if jobs and options.shard is not None:
        raise BadInputError("--format github-matrix lists all shards: it goes with no --shard")
    if options.record is not None and (options.merge or options.shard is not None or jobs):
        raise BadInputError("--record asks one server: it goes with no --merge, --shard or job list")
    if options.shards is not None and not jobs:
        raise BadInputError("--shards is for --format github-matrix", hint="A part of a matrix: --shard I/N")


def _shard_number(text: str) -> "ShardNumber":
    from pinctl.model.shard import parse_shard_number

    number = parse_shard_number(text)
    if number is None:
        raise BadInputError(f"--shard {text}: must be I/N, the I-th of N, counted from 1")
    return number


def _record(run: Invocation, name: str, options: _Options, directory: Path) -> _Options:
    """Records a server, and returns what is left to do: to compare clients with the recording, where some are named."""
    from pinctl.flows.recording import record
    from pinctl.render.recording import recording_json, recording_text

    recording = record(run.where, name, directory=directory, servers=options.servers)
    if options.clients:
        run.output.say(f"recorded {recording.server} in {directory}")
    else:
        as_json = options.output_format is MatrixFormat.JSON
        answered = Format.JSON if as_json else Format.TEXT
        run.output.answer(recording_text(recording), recording_json(recording), answered)
    return replace(options, servers=(f"recorded:{directory}",))


def _run_whole(run: Invocation, name: str, options: _Options) -> None:
    from pinctl.flows.shards import run_timed
    from pinctl.model.landing import Objections
    from pinctl.render.live import live

    with live(run.output) as tell:
        asked = _ask(run, name, options, tell)
        found = asked if isinstance(asked, Objections) else run_timed(asked, durations=options.durations, tell=tell)
    if isinstance(found, Objections):
        _object(run, found, options)
        return
    _print(run, found, options)
    _leave_with(found.verdict)


def _run_shard(run: Invocation, name: str, options: _Options, number: "ShardNumber") -> None:
    from pinctl.flows.shards import run_shard
    from pinctl.model.landing import Objections
    from pinctl.render.live import live
    from pinctl.render.matrix_markdown import matrix_markdown
    from pinctl.render.shards import shard_json, shard_text

    with live(run.output) as tell:
        asked = _ask(run, name, options, tell)
        found = (
            asked if isinstance(asked, Objections) else run_shard(asked, number, durations=options.durations, tell=tell)
        )
    if isinstance(found, Objections):
        _object(run, found, options)
        return
    if options.output_format is MatrixFormat.MARKDOWN:
        run.output.plain(matrix_markdown(found.matrix))
    else:
        run.output.answer(shard_text(found), shard_json(found), Format(options.output_format.value))
    _leave_with(found.verdict)


def _list_jobs(run: Invocation, name: str, options: _Options) -> None:
    from pinctl.flows.shards import lay_out_shards
    from pinctl.model.landing import Objections
    from pinctl.render.shards import github_matrix

    asked = _ask(run, name, options, run.output.progress)
    if isinstance(asked, Objections):
        _object(run, asked, options)
        return
    run.output.plain(github_matrix(lay_out_shards(asked, options.shards, durations=options.durations)))


def _merge(run: Invocation, name: str, options: _Options) -> None:
    from pinctl.flows.shards import merge_shards

    merged = merge_shards(name, options.files, durations=options.durations)
    for number in merged.missing:
        run.output.say(f"shard {number} is not there: its cells are unknown")
    _print(run, merged.matrix, options)
    _leave_with(merged.verdict)


def _ask(run: Invocation, name: str, options: _Options, tell: "Listener") -> "Asked | Objections":
    from pinctl.flows.land import ask

    return ask(
        run.where,
        name,
        servers=options.servers,
        clients=options.clients,
        onto=options.onto,
        tell=tell,
        say=run.output.say,
    )


def _object(run: Invocation, objections: "Objections", options: _Options) -> None:
    """Prints what is in the way of a matrix; where the answer would have gone, unless that is a program's list."""
    from pinctl.render.landing import print_objections

    as_json = options.output_format is MatrixFormat.JSON
    leave(print_objections(run.output, objections, Format.JSON if as_json else Format.TEXT))


def _print(run: Invocation, found: "Matrix", options: _Options) -> None:
    from pinctl.render.matrix import matrix_json, matrix_text
    from pinctl.render.matrix_markdown import matrix_markdown

    if options.output_format is MatrixFormat.MARKDOWN:
        run.output.plain(matrix_markdown(found))
    else:
        run.output.answer(matrix_text(found), matrix_json(found), Format(options.output_format.value))
    append_to_job_summary(run.output, matrix_markdown(found))


def _leave_with(verdict: "Verdict") -> None:
    from pinctl.model.matrix import Verdict

    match verdict:
        case Verdict.OK:
            return
        case Verdict.UNKNOWN:
            leave(ExitStatus.UNKNOWN)
        case _:
            leave(ExitStatus.NO)
