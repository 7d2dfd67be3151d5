"""The ways to run `pinctl matrix`: as a whole, in part, recorded, measured, or joined from parts."""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pinctl.commands.invocation import Invocation, leave
from pinctl.commands.job_summary import append_to_job_summary
from pinctl.errors import BadInputError
from pinctl.render.output import Format

if TYPE_CHECKING:
    from pinctl.flows.matrix.selection import Selection
    from pinctl.model.landing import Objections
    from pinctl.model.matrix import Matrix
    from pinctl.model.mode import Mode
    from pinctl.model.progress import Listener
    from pinctl.model.shard import ShardNumber


class MatrixFormat(StrEnum):
    """How a matrix is printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    GITHUB_MATRIX = "github-matrix"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixOptions:
    """What the command line says beside the plan's name."""

    files: tuple[Path, ...]
    servers: tuple[str, ...]
    clients: tuple[str, ...]
    onto: str | None
    mode: "Mode | None"
    record: Path | None
    with_figures: bool
    shard: str | None
    shards: int | None
    merge: bool
    durations: Path | None
    output_format: MatrixFormat


def shard_number(text: str) -> "ShardNumber":
    """Reads which part of how many."""
    from pinctl.model.shard import parse_shard_number

    number = parse_shard_number(text)
    if number is None:
        raise BadInputError(
            f"--shard {text}: must be I/N, the I-th of N, counted from 1", hint="The first of four: --shard 1/4"
        )
    return number


def record_server(run: Invocation, name: str, options: MatrixOptions, directory: Path) -> MatrixOptions:
    """Records a server, and returns what is left to do: to compare clients with the recording, where some are named."""
    from pinctl.flows.matrix.recording import record
    from pinctl.render.recording import recording_json, recording_text

    recording = record(run.where, name, directory=directory, servers=options.servers)
    if options.clients:
        run.output.say(f"recorded {recording.server} in {directory}")
    else:
        as_json = options.output_format is MatrixFormat.JSON
        answered = Format.JSON if as_json else Format.TEXT
        run.output.answer(recording_text(recording), recording_json(recording), answered)
    return replace(options, servers=(f"recorded:{directory}",))


def run_whole(run: Invocation, name: str, options: MatrixOptions) -> None:
    """Runs a matrix and prints it."""
    from pinctl.flows.matrix.shards import run_timed
    from pinctl.model.landing import Objections
    from pinctl.render.live import live

    with live(run.output) as tell:
        selection = _select(run, name, options, tell)
        found = (
            selection
            if isinstance(selection, Objections)
            else run_timed(selection, durations=options.durations, tell=tell)
        )
    if isinstance(found, Objections):
        _object(run, found, options)
    _print(run, found, options)
    leave(found.verdict.exit_status)


def run_part(run: Invocation, name: str, options: MatrixOptions, number: "ShardNumber") -> None:
    """Runs the part of a matrix that falls to one machine, and prints it."""
    from pinctl.flows.matrix.shards import run_shard
    from pinctl.model.landing import Objections
    from pinctl.render.live import live
    from pinctl.render.matrix_markdown import matrix_markdown
    from pinctl.render.shards import shard_json, shard_text

    with live(run.output) as tell:
        selection = _select(run, name, options, tell)
        found = (
            selection
            if isinstance(selection, Objections)
            else run_shard(selection, number, durations=options.durations, tell=tell)
        )
    if isinstance(found, Objections):
        _object(run, found, options)
    if options.output_format is MatrixFormat.MARKDOWN:
        run.output.plain(matrix_markdown(found.matrix))
    else:
        run.output.answer(shard_text(found), shard_json(found), Format(options.output_format.value))
    leave(found.verdict.exit_status)


def list_jobs(run: Invocation, name: str, options: MatrixOptions) -> None:
    """Prints the jobs that would run a matrix on several machines; runs nothing."""
    from pinctl.flows.matrix.shards import lay_out_shards
    from pinctl.model.landing import Objections
    from pinctl.render.shards import github_matrix

    selection = _select(run, name, options, run.output.progress)
    if isinstance(selection, Objections):
        _object(run, selection, options)
    run.output.plain(github_matrix(lay_out_shards(selection, options.shards, durations=options.durations)))


def merge_parts(run: Invocation, name: str, options: MatrixOptions) -> None:
    """Joins what several machines printed, and prints it as one run would have."""
    from pinctl.flows.matrix.shards import merge_shards

    merged = merge_shards(name, options.files, durations=options.durations)
    for number in merged.missing:
        run.output.say(f"shard {number} is not there: its cells are unknown")
    _print(run, merged.matrix, options)
    leave(merged.verdict.exit_status)


def _select(run: Invocation, name: str, options: MatrixOptions, tell: "Listener") -> "Selection | Objections":
    from pinctl.flows.matrix.selection import select

    return select(
        run.where,
        name,
        servers=options.servers,
        clients=options.clients,
        onto=options.onto,
        tell=tell,
        say=run.output.say,
        mode=options.mode,
    )


def _object(run: Invocation, objections: "Objections", options: MatrixOptions) -> NoReturn:
    """Prints what is in the way of a matrix; where the answer would have gone, unless that is a program's list."""
    from pinctl.render.landing import print_objections

    as_json = options.output_format is MatrixFormat.JSON
    leave(print_objections(run.output, objections, Format.JSON if as_json else Format.TEXT))


def _print(run: Invocation, found: "Matrix", options: MatrixOptions) -> None:
    from pinctl.render.matrix import matrix_json, matrix_text
    from pinctl.render.matrix_markdown import matrix_markdown

    if options.output_format is MatrixFormat.MARKDOWN:
        run.output.plain(matrix_markdown(found))
    else:
        run.output.answer(matrix_text(found), matrix_json(found), Format(options.output_format.value))
    append_to_job_summary(run.output, matrix_markdown(found))


def measure_payloads(run: Invocation, name: str, options: MatrixOptions) -> None:
    """Measures what the payloads cost, and prints that with the plan's budgets."""
    from pinctl.flows.matrix.measure import measure
    from pinctl.model.landing import Objections
    from pinctl.render.live import live
    from pinctl.render.measure import measure_json, measure_text

    if options.output_format is MatrixFormat.MARKDOWN:
        raise BadInputError("--measure prints text or json", hint="--format json")
    with live(run.output) as tell:
        selection = _select(run, name, options, tell)
        found = selection if isinstance(selection, Objections) else measure(selection, tell=tell)
    if isinstance(found, Objections):
        _object(run, found, options)
    run.output.answer(measure_text(found), measure_json(found), Format(options.output_format.value))
    leave(found.exit_status)
