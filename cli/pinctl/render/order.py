"""Shows the proof of a plan's order."""

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from pinctl.model.matrix import Cell, Verdict
from pinctl.model.order import Apart, OrderProof
from pinctl.render.grid import STYLES
from pinctl.render.matrix import cell_json


def order_text(proof: OrderProof) -> RenderableType:
    """Returns what the cells say of the declared order, and the shortest order that is unsafe."""
    declared = ", then ".join(proof.changes)
    lines = [_declared(proof, declared)]
    lines.append(
        Text(
            f"{proof.safe_orders} of {proof.orders} orders are safe; "
            f"{proof.states - proof.unsafe_states} of {proof.states} states are"
        )
    )
    if proof.counter_example is not None:
        example = proof.counter_example
        steps = " then ".join(example.steps) if example.steps else "where things stand"
        lines += [Text(), Text.assemble(("shortest unsafe order: ", "bold"), f"{steps} first")]
        lines += _cell_lines(example.cell)
    for apart in proof.apart:
        lines += [Text(), *_apart_lines(apart)]
    return Group(*lines)


def order_json(proof: OrderProof) -> dict[str, Any]:
    """Returns the proof with the same values."""
    example = proof.counter_example
    return {
        "order": list(proof.changes),
        "orders": proof.orders,
        "safe_orders": proof.safe_orders,
        "declared_safe": proof.declared_safe,
        "states": proof.states,
        "unsafe_states": proof.unsafe_states,
        "counter_example": None
        if example is None
        else {"order": list(example.steps), "role": example.need.role, "cell": cell_json(example.cell)},
        "apart": [
            {
                "change": apart.change,
                "atomic_only": apart.atomic_only,
                "without_pins": cell_json(apart.without_pins) if apart.without_pins else None,
                "pins_first": cell_json(apart.pins_first) if apart.pins_first else None,
            }
            for apart in proof.apart
        ],
    }


def _declared(proof: OrderProof, declared: str) -> Text:
    match proof.verdict:
        case Verdict.OK:
            return Text.assemble(("safe", "green"), f": {declared} with its pins")
        case Verdict.UNKNOWN:
            return Text.assemble(("unknown", "magenta"), f": {declared} rests on cells that could not be run")
        case _:
            return Text.assemble(("unsafe", "red"), f": {declared} with its pins")


def _apart_lines(apart: Apart) -> list[Text]:
    lines = []
    for title, cell in (
        (f"{apart.change} without its pins", apart.without_pins),
        (f"the pins before {apart.change}", apart.pins_first),
    ):
        if cell is None:
            lines.append(Text.assemble((f"{title}: ", "bold"), ("safe", "green")))
        else:
            word = "unknown" if cell.verdict is Verdict.UNKNOWN else "unsafe"
            lines += [Text.assemble((f"{title}: ", "bold"), (word, STYLES[cell.verdict])), *_cell_lines(cell)]
    if apart.atomic_only:
        lines.append(Text(f"only an atomic step is safe: {apart.change} and its pins in one commit"))
    return lines


def _cell_lines(cell: Cell) -> list[Text]:
    return [
        Text.assemble("    ", (cell.verdict, STYLES[cell.verdict]), f"  {cell.server} x {cell.client}"),
        Text(f"    {cell.reason}"),
    ]
