"""Reads the [contract.measure] of a landing plan: what is measured, and the budgets."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from pinctl.errors import Mistake
from pinctl.model.contract import CASES, COMPLETION_FIELDS, FORMS
from pinctl.model.measure import AFTER, BEFORE, Budget, Measure, Measuring
from pinctl.tools.files.declaration import Shape, Text, listed, mistake_at, nearest, unknown_names
from pinctl.tools.toml.source import KeyPath, TomlSource, dotted

_AT: KeyPath = ("contract", "measure")
_SERVERS = (BEFORE, AFTER, *(f"wire:{form}" for form in FORMS))
_REMOVABLE = tuple(field for field in COMPLETION_FIELDS if field != "logprobs")
"""The fields that a server need not send: a completion always has logprobs."""


class _BudgetTable(Shape):
    measure: Literal["bytes", "encode", "decode", "objects"]
    of: Text
    against: Text
    client: Text | None = None
    at_most: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class MeasureTable(Shape):
    """The table as it is written."""

    case: Text = Measuring().case
    without: tuple[Text, ...] = ()
    budgets: tuple[_BudgetTable, ...] = ()


def measuring_of(source: TomlSource, table: MeasureTable) -> Measuring:
    """Returns the table as a value, each budget with its place.

    Args:
        source: the plan's file.
        table: what stands in it.
    """
    return Measuring(
        case=table.case,
        without=table.without,
        budgets=tuple(
            Budget(
                measure=Measure(budget.measure),
                of=budget.of,
                against=budget.against,
                client=budget.client,
                at_most=budget.at_most,
                place=_place(source, (*_AT, "budgets", index)),
            )
            for index, budget in enumerate(table.budgets)
        ),
    )


def measure_mistakes(source: TomlSource, contract: Mapping[str, Any]) -> Iterator[Mistake]:
    """Finds what the shape of the table cannot say; looks at the raw values, whose shape may be wrong as well.

    Args:
        source: the plan's file.
        contract: its [contract].
    """
    table = contract.get("measure")
    if not isinstance(table, dict):
        return
    case, without, budgets = (table.get(key) for key in ("case", "without", "budgets"))
    if isinstance(case, str) and case not in CASES:
        yield mistake_at(source, (*_AT, "case"), f"{case!r} is no case{nearest(case, CASES)}")
    yield from unknown_names(source, (*_AT, "without"), without, _REMOVABLE, what="field that can be left out")
    clients = contract.get("clients")
    for index, budget in enumerate(listed(budgets)):
        if isinstance(budget, dict):
            yield from _budget_mistakes(
                source, (*_AT, "budgets", index), budget, tuple(clients) if isinstance(clients, dict) else ()
            )


def _budget_mistakes(
    source: TomlSource, at: KeyPath, budget: Mapping[str, Any], clients: tuple[str, ...]
) -> Iterator[Mistake]:
    servers = [(key, budget[key]) for key in ("of", "against") if isinstance(budget.get(key), str)]
    for key, server in servers:
        if server not in _SERVERS:
            yield mistake_at(source, (*at, key), f"{server!r} is no server of a budget{nearest(server, _SERVERS)}")
    if len(servers) == 2 and servers[0][1] == servers[1][1]:
        yield mistake_at(source, (*at, "against"), "is the very server that is compared with it")
    measure, client = budget.get("measure"), budget.get("client")
    if isinstance(client, str):
        if measure in (Measure.BYTES, Measure.ENCODE):
            yield mistake_at(source, (*at, "client"), f"no client has a part in {measure}: leave it out")
        elif client not in clients:
            words = f"{client!r} is no client of this contract{nearest(client, clients)}"
            yield mistake_at(source, (*at, "client"), words)
    elif client is None and measure == Measure.DECODE and any(server in {BEFORE, AFTER} for _, server in servers):
        words = "needs a client that decodes; only wire forms are decoded by pinctl itself"
        yield mistake_at(source, at, words)


def _place(source: TomlSource, at: KeyPath) -> str:
    line = source.line(at)
    return f"{source.path}:{line}: {dotted(at)}" if line is not None else f"{source.path}: {dotted(at)}"
