"""Shows the proof of a plan's order."""

from textwrap import indent
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from pinctl.model.matrix import Cell, Verdict
from pinctl.model.order import AnyOrder, Apart, OrderProof
from pinctl.model.walk import CounterExample
from pinctl.render.constraint import constraint_json, constraint_words
from pinctl.render.grid import STYLES
from pinctl.render.matrix import cell_json


def order_text(proof: OrderProof) -> RenderableType:
    """Returns what the cells say of the declared order, of the orders that are free, and the shortest unsafe one."""
    lines = [_declared(proof)]
    lines.append(
        Text(
            f"{proof.safe_orders} of {proof.orders} orders are safe; "
            f"{proof.states - proof.unsafe_states} of {proof.states} states are"
        )
    )
    if proof.counter_example is not None:
        lines += [Text(), *_example_lines("shortest unsafe order", proof.counter_example)]
    for item in proof.any_order:
        lines += [Text(), *_any_order_lines(item)]
    for apart in proof.apart:
        lines += [Text(), *_apart_lines(apart, is_safe=proof.declared_safe)]
    for step in proof.atomic_steps:
        lines += [Text(), Text(f"only an atomic step is safe: {' and '.join(step)} in one commit")]
        lines += _example_lines("one by one", proof.one_by_one)
    return Group(*lines)


def order_json(proof: OrderProof) -> dict[str, Any]:
    """Returns the proof with the same values."""
    return {
        "order": list(proof.changes),
        "steps": [list(step) for step in proof.steps],
        "verdict": proof.verdict,
        "orders": proof.orders,
        "safe_orders": proof.safe_orders,
        "declared_safe": proof.declared_safe,
        "states": proof.states,
        "unsafe_states": proof.unsafe_states,
        "unknown_states": proof.unknown_states,
        "counter_example": _example_json(proof.counter_example),
        "any_order": [
            {
                **constraint_json(item.constraint),
                "fixed": [list(pair) for pair in item.fixed],
                "verdict": item.verdict,
                "orders": item.orders,
                "safe_orders": item.safe_orders,
                "counter_example": _example_json(item.counter_example),
                "feature": item.feature,
                "broken": cell_json(item.broken) if item.broken else None,
            }
            for item in proof.any_order
        ],
        "atomic_steps": [list(step) for step in proof.atomic_steps],
        "apart": [
            {
                "change": apart.change,
                "atomic_only": apart.atomic_only and proof.declared_safe,
                "without_pins": cell_json(apart.without_pins) if apart.without_pins else None,
                "pins_first": cell_json(apart.pins_first) if apart.pins_first else None,
            }
            for apart in proof.apart
        ],
    }


def _example_json(example: CounterExample | None) -> dict[str, Any] | None:
    if example is None:
        return None
    return {"order": list(example.steps), "role": example.need.role, "cell": cell_json(example.cell)}


def _declared(proof: OrderProof) -> Text:
    declared = ", then ".join(" and ".join(step) for step in proof.steps) + " with its pins" * bool(proof.apart)
    if proof.declared_safe:
        return Text.assemble(("safe", "green"), f": {declared}")
    if proof.declared_unknown:
        return Text.assemble(("unknown", "magenta"), f": {declared} rests on cells that could not be run")
    return Text.assemble(("unsafe", "red"), f": {declared}")


def _any_order_lines(item: AnyOrder) -> list[Text]:
    names = ", ".join(item.constraint.together)
    *others, last = item.constraint.together
    example = item.counter_example
    fixed = "; " + ", ".join(f"{one} before {other}" for one, other in item.fixed) if item.fixed else ""
    lines = []
    if item.orders == 1:
        lines.append(Text.assemble(("one order", "bold"), f": the plan's after edges fix that of {names}"))
    else:
        word = "either order" if item.orders == 2 else "any order"
        said = ("safe", "green") if example is None else _word(example.verdict)
        lines.append(
            Text.assemble(
                (f"{word}: ", "bold"),
                said,
                f": {', '.join(others)} and {last}, {item.safe_orders} of {item.orders}{fixed}",
            )
        )
    if example is not None:
        lines += _example_lines("unsafe among them", example)
    said = {Verdict.OK: ("it works", "green"), Verdict.UNKNOWN: ("not known to work", "magenta")}.get(
        item.feature, ("it does not work", "red")
    )
    lines.append(Text.assemble(f"{constraint_words(item.constraint)}: with all of them, ", said))
    if item.broken is not None:
        lines += _cell_lines(item.broken)
    return lines


def _example_lines(title: str, example: CounterExample | None) -> list[Text]:
    if example is None:
        return []
    steps = " then ".join(example.steps) + " first" if example.steps else "where things stand"
    return [Text.assemble((f"{title}: ", "bold"), steps), *_cell_lines(example.cell, role=example.need.role)]


def _apart_lines(apart: Apart, *, is_safe: bool) -> list[Text]:
    lines = []
    for title, cell in (
        (f"{apart.change} without its pins", apart.without_pins),
        (f"the pins before {apart.change}", apart.pins_first),
    ):
        if cell is None:
            lines.append(Text.assemble((f"{title}: ", "bold"), ("safe", "green")))
        else:
            lines += [Text.assemble((f"{title}: ", "bold"), _word(cell.verdict)), *_cell_lines(cell, role="pinned")]
    if apart.atomic_only and is_safe:
        lines.append(Text(f"only an atomic step is safe: {apart.change} and its pins in one commit"))
    return lines


def _word(verdict: Verdict) -> tuple[str, str]:
    return ("unknown" if verdict is Verdict.UNKNOWN else "unsafe", STYLES[verdict])


def _cell_lines(cell: Cell, *, role: str = "") -> list[Text]:
    words = {
        "pinned": ", the pinned client",
        "head": ", the client at its branch's head",
        "own": ", its own client",
    }.get(role, "")
    lines = [
        Text.assemble("    ", (cell.verdict, STYLES[cell.verdict]), f"  {cell.server} x {cell.client}{words}"),
        Text(indent(cell.reason, "    ")),
    ]
    if cell.evidence:
        lines.append(Text(f"    {cell.evidence}", style="dim"))
    return lines
