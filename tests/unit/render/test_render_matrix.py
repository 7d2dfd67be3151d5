"""The matrix on a page: readable from 60 to 200 columns, each reason once, and nothing of it taken for markup."""

import io
from dataclasses import replace
from itertools import product

import pytest
from rich.console import Console, RenderableType

from pinctl.model.control import ControlResult, Outcome
from pinctl.model.matrix import CaseResult, Cell, FieldResult, Matrix, Verdict
from pinctl.render.markdown import code
from pinctl.render.matrix import matrix_text
from pinctl.render.matrix_markdown import matrix_markdown

SERVERS = ("prime-rl@main", "prime-rl@staged", "wire:vllm", "wire:packed", "wire:kept-tokens")
CLIENTS = ("renderers@5a0c1d2", "renderers@77aa001", "verifiers==0.4.0")
REFUSAL = "MalformedGenerateResponseError: Engine response choice.logprobs must be an object."


def cell(
    server: str,
    client: str,
    verdict: Verdict = Verdict.OK,
    reason: str = "",
    evidence: str = "",
    *,
    setup: str | None = None,
) -> Cell:
    field = FieldResult(field="logprobs", verdict=verdict, reason=reason, evidence=evidence)
    cases = () if setup is not None else (CaseResult(case="greedy", fields=(field,)),)
    return Cell(server=server, client=client, component=client[:9], cases=cases, setup=setup)


def matrix(*bad: Cell, servers: tuple[str, ...] = SERVERS, clients: tuple[str, ...] = CLIENTS) -> Matrix:
    by_place = {(cell.server, cell.client): cell for cell in bad}
    return Matrix(
        plan="packed",
        servers=servers,
        clients=clients,
        cells=tuple(by_place.get(pair) or cell(*pair) for pair in product(servers, clients)),
        required=frozenset(product(servers[:3], clients)),
    )


MIXED = matrix(
    cell(SERVERS[1], CLIENTS[0], Verdict.REJECTS, REFUSAL),
    cell(SERVERS[2], CLIENTS[2], Verdict.CORRUPTS, "no error, and a wrong value", f"expected {[*range(40)]}, got []"),
    cell(SERVERS[3], CLIENTS[0], Verdict.REJECTS, REFUSAL),
    cell(SERVERS[3], CLIENTS[1], Verdict.REJECTS, REFUSAL),
    cell(SERVERS[4], CLIENTS[1], Verdict.MISSING, "the client dropped it"),
    cell(SERVERS[4], CLIENTS[2], setup="the environment cannot be made:\nno solution\x1b[2J"),
)


def shown(page: RenderableType, width: int, *, terminal: bool = True, color: bool = False) -> str:
    file = io.StringIO()
    console = Console(
        file=file,
        width=width,
        force_terminal=terminal,
        no_color=not color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    console.print(page)
    return file.getvalue()


def test_at_200_columns_everything_is_in_words() -> None:
    assert shown(matrix_text(MIXED), 200).splitlines() == [
        "client \\ server    prime-rl@main  prime-rl@staged  wire:vllm  wire:packed  wire:kept-tokens",
        "renderers@5a0c1d2  ok             rejects          ok         (rejects)    (ok)",
        "renderers@77aa001  ok             ok               ok         (rejects)    (missing)",
        "verifiers==0.4.0   ok             ok               corrupts   (ok)         (unknown)",
        "",
        "rejects  prime-rl@staged x renderers@5a0c1d2 (1 of 1 cases)",
        f"    greedy: logprobs: {REFUSAL}",
        "corrupts  wire:vllm x verifiers==0.4.0 (1 of 1 cases)",
        "    greedy: logprobs: no error, and a wrong value",
        f"    expected {[*range(40)]}, got []",
        "rejects  wire:packed x renderers@5a0c1d2 (1 of 1 cases)  not required: no state of the declared order has it",
        "rejects  wire:packed x renderers@77aa001 (1 of 1 cases)  not required: no state of the declared order has it",
        f"    greedy: logprobs: {REFUSAL}",
        (
            "missing  wire:kept-tokens x renderers@77aa001 (1 of 1 cases)"
            "  not required: no state of the declared order has it"
        ),
        "    greedy: logprobs: the client dropped it",
        "unknown  wire:kept-tokens x verifiers==0.4.0  not required: no state of the declared order has it",
        "    the environment cannot be made:",
        "    no solution\\x1b[2J",
        "",
        "corrupts: 7 of 9 required cells are ok, 15 were run",
    ]


def test_at_60_columns_servers_are_numbered_and_verdicts_are_letters() -> None:
    lines = shown(matrix_text(MIXED), 60).splitlines()
    assert lines[:20] == [
        "client \\ server    S1  S2  S3  S4   S5",
        "renderers@5a0c1d2  o   R   o   (R)  (o)",
        "renderers@77aa001  o   o   o   (R)  (M)",
        "verifiers==0.4.0   o   o   C   (o)  (U)",
        "",
        "S1  prime-rl@main",
        "S2  prime-rl@staged",
        "S3  wire:vllm",
        "S4  wire:packed",
        "S5  wire:kept-tokens",
        "o ok  U unknown  M missing  R rejects  C corrupts  ( ) not",
        "    required",
        "",
        "rejects  prime-rl@staged x renderers@5a0c1d2 (1 of 1 cases)",
        "    greedy: logprobs: MalformedGenerateResponseError: Engine",
        "    response choice.logprobs must be an object.",
        "corrupts  wire:vllm x verifiers==0.4.0 (1 of 1 cases)",
        "    greedy: logprobs: no error, and a wrong value",
        "    expected [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,",
        "    14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,",
    ]


@pytest.mark.parametrize("width", [20, 40, 60, 61, 80, 100, 120, 200])
@pytest.mark.parametrize("count", [1, 5, 40])
@pytest.mark.parametrize("long", [False, True])
def test_no_line_is_wider_than_the_terminal_and_nothing_is_lost(width: int, count: int, *, long: bool) -> None:
    servers = tuple(f"prime-rl@{'feature/' * 9 * long}{number}" for number in range(count))
    clients = tuple(f"renderers@{'重い' * 30 * long}{number}" for number in range(4))
    found = matrix(
        cell(servers[0], clients[1], Verdict.CORRUPTS, "x" * 300, "y " * 300), servers=servers, clients=clients
    )
    page = shown(matrix_text(found), width)
    assert max(Console().measure(line).maximum for line in page.splitlines()) <= width
    together = "".join(page.split())
    assert all(label in together for label in (*servers, *clients))
    assert "x" * 300 in together
    assert "y" * 300 in together
    assert "…" not in page
    # Every cell is there once: as a word or as a letter.
    rows = [line.split() for line in page.splitlines() if line.startswith(("renderers@", "C1", "C2", "C3", "C4"))]
    marks = [word.strip("()") for row in rows for word in row[1:]]
    assert sum(mark in {"o", "ok"} for mark in marks) == 4 * count - 1
    assert sum(mark in {"C", "corrupts"} for mark in marks) == 1


def test_a_pipe_gets_each_reason_in_one_line() -> None:
    page = shown(matrix_text(MIXED), 60, terminal=False)
    assert f"    greedy: logprobs: {REFUSAL}" in page.splitlines()
    assert page.splitlines()[0] == "client \\ server    S1  S2  S3  S4   S5"


def test_colours_are_beside_the_words_and_can_be_left_out() -> None:
    colored, plain = shown(matrix_text(MIXED), 100, color=True), shown(matrix_text(MIXED), 100)
    assert "\x1b[31mrejects\x1b[0m" in colored
    assert "\x1b[32mok\x1b[0m" in colored
    assert "\x1b[1;37;41mcorrupts\x1b[0m" in colored
    assert "\x1b" not in plain


def test_no_cells_at_all() -> None:
    empty = Matrix(plan="packed", servers=SERVERS, clients=(), cells=())
    assert shown(matrix_text(empty), 60).splitlines()[-1] == "unknown: 0 of 0 required cells are ok, 0 were run"
    assert (
        matrix_markdown(empty) == "### pinctl matrix: unknown\n\n`packed`: 0 of 0 required cells are ok, 0 were run\n"
    )


def test_markdown_is_a_table_and_each_reason_once() -> None:
    assert matrix_markdown(MIXED).splitlines() == [
        "### pinctl matrix: corrupts",
        "",
        "`packed`: 7 of 9 required cells are ok, 15 were run",
        "",
        "| client \\ server | `prime-rl@main` | `prime-rl@staged` | `wire:vllm` | `wire:packed` | `wire:kept-tokens` |",
        "|---|---|---|---|---|---|",
        "| `renderers@5a0c1d2` | ok | **rejects** | ok | (**rejects**) | (ok) |",
        "| `renderers@77aa001` | ok | ok | ok | (**rejects**) | (**missing**) |",
        "| `verifiers==0.4.0` | ok | ok | **corrupts** | (ok) | (**unknown**) |",
        "",
        "- **rejects**: `prime-rl@staged` x `renderers@5a0c1d2` (1 of 1 cases)",
        f"  - `greedy: logprobs: {REFUSAL}`",
        "- **corrupts**: `wire:vllm` x `verifiers==0.4.0` (1 of 1 cases)",
        "  - `greedy: logprobs: no error, and a wrong value`",
        f"  - `expected {[*range(40)]}, got []`",
        (
            "- **rejects**: `wire:packed` x `renderers@5a0c1d2` (1 of 1 cases); `wire:packed` x `renderers@77aa001`"
            " (1 of 1 cases); not required: no state of the declared order has it"
        ),
        f"  - `greedy: logprobs: {REFUSAL}`",
        (
            "- **missing**: `wire:kept-tokens` x `renderers@77aa001` (1 of 1 cases);"
            " not required: no state of the declared order has it"
        ),
        "  - `greedy: logprobs: the client dropped it`",
        "- **unknown**: `wire:kept-tokens` x `verifiers==0.4.0`; not required: no state of the declared order has it",
        "  - `the environment cannot be made:`<br>`no solution\\x1b[2J`",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@octocat <b>#12</b> **x** [a](b)", "`@octocat <b>#12</b> **x** [a](b)`"),
        ("a `b` c", "``a `b` c``"),
        ("``` `", "```` ``` ` ````"),
        (" padded ", "`  padded  `"),
        ("a|b\\|c @d", "<code>a&#124;b&#92;&#124;c &#64;d</code>"),
        ("one\r\ntwo\n\n| x", "`one`<br>`two`<br><code>&#124; x</code>"),
        ("<!-- ", "` <!--  `"),
        ("\x1b[31m\x00", "`\\x1b[31m\\x00`"),
        ("\n", ""),
    ],
)
def test_what_others_wrote_stays_text(text: str, expected: str) -> None:
    assert code(text) == expected


def control(place: str, outcome: Outcome, *, fault: str = "with base85 text", refusable: bool = True) -> ControlResult:
    return ControlResult(
        control=f"{place}: base85",
        title=f"{place} {fault}",
        field="sampling_mask",
        case="top-p",
        refusable=refusable,
        outcome=outcome,
        reason="the probe ended with status 9" if outcome is Outcome.UNKNOWN else "",
    )


def test_what_lenient_clients_take_is_said_once_for_all_servers() -> None:
    controls = (
        control("sampling_mask.ids", Outcome.TAKEN),
        control("sampling_mask.ids", Outcome.TAKEN, fault="with truncated data"),
        control("sampling_mask.counts", Outcome.TAKEN),
        control("routed_experts", Outcome.DROPPED),
        control("logprobs", Outcome.REFUSED),
        control("completion_logprobs", Outcome.TAKEN, refusable=False),
    )
    died = (control("sampling_mask.ids", Outcome.UNKNOWN), control("sampling_mask.counts", Outcome.UNKNOWN))
    cells = [replace(cell(server, CLIENTS[0]), controls=controls) for server in SERVERS[:2]]
    page = matrix(*cells, replace(cell(SERVERS[0], CLIENTS[1]), controls=died))

    lines = shown(matrix_text(page), 400, terminal=False).splitlines()

    takes = "sampling_mask.ids with base85 text, with truncated data; sampling_mask.counts with base85 text"
    of = "prime-rl@main, prime-rl@staged"
    assert [line for line in lines if line.startswith("lenient")] == [
        f"lenient  {CLIENTS[0]}: takes {takes}  of {of}",
        f"lenient  {CLIENTS[0]}: drops routed_experts with base85 text  of {of}",
        f"lenient or strict is unknown  {CLIENTS[1]}: the probe ended with status 9 (2 controls)  of prime-rl@main",
    ]
    assert lines[-1].startswith("ok: ")
    servers = "`prime-rl@main`, `prime-rl@staged`"
    assert f"- lenient: `{CLIENTS[0]}` `takes {takes}` of {servers}\n" in matrix_markdown(page)
