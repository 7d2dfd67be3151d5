"""Lays the grid of a matrix out in a width: in words where there is room, else in letters and numbers with a legend."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from pinctl.model.matrix import Cell, Matrix, Verdict
from pinctl.render.reports import printable

STYLES = {
    Verdict.OK: "green",
    Verdict.UNKNOWN: "magenta",
    Verdict.MISSING: "yellow",
    Verdict.REJECTS: "red",
    Verdict.CORRUPTS: "bold white on red",
}

_LETTERS = {
    Verdict.OK: "o",
    Verdict.UNKNOWN: "U",
    Verdict.MISSING: "M",
    Verdict.REJECTS: "R",
    Verdict.CORRUPTS: "C",
}
_CORNER = "client \\ server"
_GAP = "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """What stands in the grid: by label, a name that is short enough; by verdict, a word or a letter."""

    corner: str
    servers: Mapping[str, str]
    clients: Mapping[str, str]
    marks: Mapping[Verdict, str]


def grid_lines(matrix: Matrix, width: int) -> list[Text]:
    """Returns the grid, clients down and servers across, and the legend that it needs.

    A cell that nothing requires to be ok stands in brackets. Where not all servers have room side by side, the grid
    goes on below; nothing is left out.

    Args:
        matrix: the matrix.
        width: how many columns there are.
    """
    servers = {label: printable(label) for label in matrix.servers}
    clients = {label: printable(label) for label in matrix.clients}
    numbered = {label: f"S{number}" for number, label in enumerate(matrix.servers, 1)}
    counted = {label: f"C{number}" for number, label in enumerate(matrix.clients, 1)}
    words = {verdict: str(verdict) for verdict in Verdict}
    candidates = (
        _Names(corner=_CORNER, servers=servers, clients=clients, marks=words),
        _Names(corner=_CORNER, servers=numbered, clients=clients, marks=words),
        _Names(corner=_CORNER, servers=numbered, clients=clients, marks=_LETTERS),
        _Names(corner="", servers=numbered, clients=counted, marks=_LETTERS),
    )
    names = next((names for names in candidates if _width(matrix, names) <= width), candidates[-1])
    lines: list[Text] = []
    for block in _blocks(matrix, names, width):
        lines += [Text(), *_table(matrix, names, block)] if lines else _table(matrix, names, block)
    if names.servers is numbered:
        lines += [Text(), *(_entry(numbered[label], servers[label]) for label in matrix.servers)]
    if names.clients is counted:
        lines += [_entry(counted[label], clients[label]) for label in matrix.clients]
    if names.marks is _LETTERS:
        lines.append(_key(matrix))
    return lines


def _table(matrix: Matrix, names: _Names, servers: Sequence[str]) -> Iterator[Text]:
    widths = [_first_width(names), *(_column_width(matrix, names, server) for server in servers)]
    yield _row([Text(names.corner, style="bold"), *(Text(names.servers[server]) for server in servers)], widths)
    for client in matrix.clients:
        marks = (_mark(matrix, names, matrix.cell(server, client)) for server in servers)
        yield _row([Text(names.clients[client], style="bold"), *marks], widths)


def _row(cells: Sequence[Text], widths: Sequence[int]) -> Text:
    row = Text()
    for index, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        row.append_text(cell)
        if index < len(cells) - 1:
            row.append(" " * (width - cell.cell_len) + _GAP)
    return row


def _mark(matrix: Matrix, names: _Names, cell: Cell | None) -> Text:
    if cell is None:
        return Text("-", style="dim")
    mark = names.marks[cell.verdict]
    return Text(mark if matrix.is_required(cell) else f"({mark})", style=STYLES[cell.verdict])


def _blocks(matrix: Matrix, names: _Names, width: int) -> Iterator[list[str]]:
    """Yields the servers that have room side by side: at least one."""
    block: list[str] = []
    used = _first_width(names)
    for server in matrix.servers:
        more = len(_GAP) + _column_width(matrix, names, server)
        if block and used + more > width:
            yield block
            block, used = [], _first_width(names)
        block.append(server)
        used += more
    yield block


def _width(matrix: Matrix, names: _Names) -> int:
    columns = (len(_GAP) + _column_width(matrix, names, server) for server in matrix.servers)
    return _first_width(names) + sum(columns)


def _first_width(names: _Names) -> int:
    return max(cell_len(name) for name in (names.corner, *names.clients.values()))


def _column_width(matrix: Matrix, names: _Names, server: str) -> int:
    marks = (_mark(matrix, names, matrix.cell(server, client)).cell_len for client in matrix.clients)
    return max(cell_len(names.servers[server]), *marks, 0)


def _entry(name: str, label: str) -> Text:
    return Text.assemble((f"{name:<4}", "bold"), label)


def _key(matrix: Matrix) -> Text:
    """Says what the letters mean."""
    there = {cell.verdict for cell in matrix.cells}
    parts = [(f"{_LETTERS[verdict]} {verdict}", STYLES[verdict]) for verdict in Verdict if verdict in there]
    if not all(matrix.is_required(cell) for cell in matrix.cells):
        parts.append(("( ) not required", ""))
    if len(matrix.cells) < len(matrix.servers) * len(matrix.clients):
        parts.append(("- not run", "dim"))
    return Text(_GAP).join(Text(words, style=style) for words, style in parts)
