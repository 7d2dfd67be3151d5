"""Writes a matrix for a pull request or a job summary."""

from pinctl.model.matrix import Cell, Matrix, Verdict
from pinctl.render.controls import complaints_of
from pinctl.render.markdown import code, table_row
from pinctl.render.matrix import summary_words
from pinctl.render.reasons import NOT_REQUIRED, Reason, reasons_of, share


def matrix_markdown(matrix: Matrix) -> str:
    """Returns the grid as a table, then each reason with the cells that share it."""
    lines = [f"### pinctl matrix: {matrix.verdict}", "", f"{code(matrix.plan)}: {summary_words(matrix)}", ""]
    if matrix.cells:
        lines += [table_row("client \\ server", *map(code, matrix.servers)), "|---" * (len(matrix.servers) + 1) + "|"]
    for client in matrix.clients if matrix.cells else ():
        marks = (_mark(matrix, matrix.cell(server, client)) for server in matrix.servers)
        lines.append(table_row(code(client), *marks))
    reasons, complaints = reasons_of(matrix), complaints_of(matrix)
    if reasons or complaints:
        lines.append("")
    for reason in reasons:
        lines += _reason(reason)
    for complaint in complaints:
        servers = ", ".join(map(code, complaint.servers))
        lines.append(f"- {complaint.word}: {code(complaint.client)} {code(complaint.what)} of {servers}")
    return "\n".join(lines).rstrip() + "\n"


def _mark(matrix: Matrix, cell: Cell | None) -> str:
    if cell is None:
        return "-"
    word = str(cell.verdict) if cell.verdict is Verdict.OK else f"**{cell.verdict}**"
    return word if matrix.is_required(cell) else f"({word})"


def _reason(reason: Reason) -> list[str]:
    cells = "; ".join(f"{code(cell.server)} x {code(cell.client)}{share(cell)}" for cell in reason.cells)
    wanted = "" if reason.required else f"; {NOT_REQUIRED}"
    lines = [f"- **{reason.verdict}**: {cells}{wanted}"]
    return lines + [f"  - {code(words)}" for words in (reason.words, reason.evidence) if words.strip()]
