"""Writes a matrix for a pull request or a job summary."""

from collections.abc import Callable, Iterable, Iterator

from pinctl.model.matrix import Cell, Matrix, Verdict
from pinctl.render.controls import complaints_of
from pinctl.render.markdown import code, table_row
from pinctl.render.matrix import summary_words
from pinctl.render.reasons import NOT_REQUIRED, Reason, reasons_of, share


def matrix_markdown(matrix: Matrix) -> str:
    """Returns the grid as a table, then each reason with the cells that share it."""
    lines = [f"### pinctl matrix: {matrix.verdict}", "", f"{code(matrix.plan)}: {summary_words(matrix)}", ""]
    if matrix.cells:
        lines += grid_lines(matrix.servers, matrix.clients, lambda *pair: _mark(matrix, matrix.cell(*pair)))
    reasons, complaints = reasons_of(matrix), complaints_of(matrix)
    if reasons or complaints:
        lines.append("")
    for reason in reasons:
        lines += _reason(reason)
    for complaint in complaints:
        servers = ", ".join(map(code, complaint.servers))
        lines.append(f"- {complaint.word}: {code(complaint.client)} {code(complaint.what)} of {servers}")
    return "\n".join(lines).rstrip() + "\n"


def grid_lines(servers: Iterable[str], clients: Iterable[str], mark: Callable[[str, str], str]) -> Iterator[str]:
    """Yields the lines of a table of cells; what stands in one is asked of `mark`, by its server and its client."""
    servers = tuple(servers)
    yield table_row("client \\ server", *map(code, servers))
    yield "|---" * (len(servers) + 1) + "|"
    for client in clients:
        yield table_row(code(client), *(mark(server, client) for server in servers))


def verdict_mark(verdict: Verdict, *, counts: bool) -> str:
    """Returns what stands in a cell; one that does not count is in parentheses."""
    word = str(verdict) if verdict is Verdict.OK else f"**{verdict}**"
    return word if counts else f"({word})"


def _mark(matrix: Matrix, cell: Cell | None) -> str:
    return verdict_mark(cell.verdict, counts=matrix.is_required(cell)) if cell is not None else "-"


def _reason(reason: Reason) -> list[str]:
    cells = "; ".join(f"{code(cell.server)} x {code(cell.client)}{share(cell)}" for cell in reason.cells)
    wanted = "" if reason.required else f"; {NOT_REQUIRED}"
    lines = [f"- **{reason.verdict}**: {cells}{wanted}"]
    return lines + [f"  - {code(words)}" for words in (reason.words, reason.evidence) if words.strip()]
