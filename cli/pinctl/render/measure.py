"""Shows what a plan's payloads cost, as a table with ratios, and whether its budgets hold."""

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pinctl.model.matrix import Verdict
from pinctl.model.measure import BudgetVerdict, Figures, JudgedBudget, Measure, Measured
from pinctl.render.grid import STYLES

_BUDGET_STYLES = {
    BudgetVerdict.KEPT: "green",
    BudgetVerdict.BROKEN: "red",
    BudgetVerdict.UNKNOWN: "magenta",
    BudgetVerdict.NOT_JUDGED: "dim",
}


def measure_text(measured: Measured) -> RenderableType:
    """Returns the servers' figures, the clients', and the budgets.

    In brackets: the ratio to the first row that has the figure; of the clients, to the first row of the same client.
    """
    without = f", without {', '.join(measured.without)}" if measured.without else ""
    heading = (
        f"case {measured.case}: {measured.tokens:,} tokens{without}; times are the best of {measured.repeat} or more"
    )
    parts: list[RenderableType] = [Text(heading, style="dim"), Text(), _servers(measured.servers)]
    if measured.clients:
        parts += [Text(), _clients(measured.clients)]
    reasons = [line for figures in (*measured.servers, *measured.clients) for line in _reason(figures)]
    if reasons:
        parts += [Text(), *reasons]
    if measured.budgets:
        parts += [Text(), *(line for judged in measured.judged for line in _budget(judged))]
    return Group(*parts)


def measure_json(measured: Measured) -> dict[str, Any]:
    """Returns the figures and budgets with the same values; times in seconds."""
    return {
        "plan": measured.plan,
        "case": measured.case,
        "tokens": measured.tokens,
        "without": list(measured.without),
        "repeat": measured.repeat,
        "status": measured.exit_status,
        "servers": [
            {
                "server": figures.server,
                "bytes": figures.size,
                "encode": _times(figures),
                "objects": figures.objects,
                "lacks": list(figures.lacks),
                "verdict": figures.verdict,
                "reason": figures.reason,
            }
            for figures in measured.servers
        ],
        "clients": [
            {
                "server": figures.server,
                "client": figures.client,
                "decode": _times(figures),
                "objects": figures.objects,
                "verdict": figures.verdict,
                "reason": figures.reason,
            }
            for figures in measured.clients
        ],
        "budgets": [
            {
                "measure": judged.budget.measure,
                "of": judged.of,
                "against": judged.against,
                "client": judged.client,
                "at_most": judged.budget.at_most,
                "ratio": judged.ratio,
                "verdict": judged.verdict,
                "reason": judged.reason,
                "place": judged.budget.place,
            }
            for judged in measured.judged
        ],
    }


def _times(figures: Figures) -> dict[str, float] | None:
    if figures.best is None or figures.median is None:
        return None
    return {"best": figures.best, "median": figures.median}


def _servers(rows: tuple[Figures, ...]) -> Table:
    table = _table("server", "bytes", "encode", "objects")
    for figures in rows:
        first = {measure: _first(rows, measure) for measure in Measure}
        note = f"  without {', '.join(figures.lacks)}" if figures.lacks else ""
        table.add_row(
            Text.assemble((figures.server, "bold"), (note, "dim")),
            *_cell(figures, Measure.BYTES, first),
            *_cell(figures, Measure.ENCODE, first),
            *_cell(figures, Measure.OBJECTS, first),
        )
    return table


def _clients(rows: tuple[Figures, ...]) -> Table:
    table = _table("client", "decode", "objects", second="server")
    for figures in rows:
        same = tuple(row for row in rows if row.client == figures.client)
        first = {measure: _first(same, measure) for measure in Measure}
        table.add_row(
            Text(figures.client or "", style="bold"),
            figures.server,
            *_cell(figures, Measure.DECODE, first),
            *_cell(figures, Measure.OBJECTS, first),
        )
    return table


def _table(title: str, *measures: str, second: str | None = None) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in (title, *((second,) if second else ())):
        table.add_column(name, no_wrap=True)
    for name in measures:
        table.add_column(name, justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
    return table


def _first(rows: tuple[Figures, ...], measure: Measure) -> float | None:
    return next((value for figures in rows if (value := figures.value(measure)) is not None), None)


def _cell(figures: Figures, measure: Measure, first: dict[Measure, float | None]) -> tuple[Text, Text]:
    value, other = figures.value(measure), first[measure]
    if value is None:
        return Text(
            figures.verdict if figures.verdict is not Verdict.OK else "-", style=STYLES[figures.verdict]
        ), Text()
    words = f"{value * 1000:,.2f} ms" if measure in {Measure.ENCODE, Measure.DECODE} else f"{value:,}"
    return Text(words), Text(f"({value / other:.3g})" if other else "", style="dim")


def _reason(figures: Figures) -> list[Text]:
    if figures.verdict is Verdict.OK:
        return []
    head = Text.assemble((figures.verdict, STYLES[figures.verdict]), f"  {figures.title}")
    return [head, Text(f"    {figures.reason}")]


def _budget(judged: JudgedBudget) -> list[Text]:
    budget = judged.budget
    client = f" by {judged.client or budget.client}" if budget.client else ""
    words = f"{budget.measure} of {judged.of}{client}: "
    if judged.ratio is not None:
        words += f"{judged.ratio:.3g} of {judged.against}, "
    words += f"at most {budget.at_most:g}" + ("" if judged.ratio is not None else f" of {judged.against}")
    lines = [Text.assemble((judged.verdict, _BUDGET_STYLES[judged.verdict]), f"  {words}")]
    if judged.verdict is not BudgetVerdict.KEPT:
        lines += [Text(f"    {judged.reason}")] if judged.reason else []
        lines.append(Text(f"    {budget.place}", style="dim"))
    return lines
