"""Shows the pins of a superproject."""

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pinctl.model.standing import StandingKind
from pinctl.model.status import PinStatus, Status


def status_text(status: Status) -> RenderableType:
    """Returns a line a pin, then what drifts and what could not be found out."""
    where = f" on {status.branch}" if status.branch else ""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("component", "pin", "commit", "version", "release", "standing", "floors"):
        table.add_column(title, no_wrap=title != "floors")
    for pin in status.pins:
        table.add_row(
            Text(pin.component.name, style="bold"),
            pin.path,
            pin.commit.short if pin.commit else (pin.component.tag or "-"),
            str(pin.version or "-"),
            str(pin.released or "-"),
            _standing(pin),
            ", ".join(dict.fromkeys(site.text for site in pin.floors)) or "-",
        )
    notes = [
        Text(f"drift: {pin.component.name}: {words}", style="yellow") for pin in status.pins for words in pin.drift
    ]
    notes += [
        Text(f"unknown: {pin.component.name}: {words}", style="magenta") for pin in status.pins for words in pin.unknown
    ]
    notes += [Text(f"note: {words}", style="dim") for words in status.defaults]
    return Group(Text(f"{status.superproject} {status.head.short}{where}"), Text(), table, *notes)


def status_json(status: Status) -> dict[str, Any]:
    """Returns the pins with the same values."""
    return {
        "superproject": status.superproject,
        "head": status.head,
        "branch": status.branch,
        "pins": [_pin_json(pin) for pin in status.pins],
        "notes": list(status.defaults),
    }


def _pin_json(pin: PinStatus) -> dict[str, Any]:
    return {
        "component": pin.component.name,
        "kind": pin.kind,
        "path": pin.path,
        "commit": pin.commit,
        "version": str(pin.version) if pin.version else None,
        "released": str(pin.released) if pin.released else None,
        "behind": pin.standing.behind if pin.standing else None,
        "standing": pin.standing.kind if pin.standing else (StandingKind.UNKNOWN if pin.unknown else None),
        "floors": [
            {
                "manifest": site.manifest,
                "line": site.line,
                "requirement": site.text,
                "floor": str(site.floor) if site.floor else None,
            }
            for site in pin.floors
        ],
        "drift": list(pin.drift),
        "unknown": list(pin.unknown),
    }


def _standing(pin: PinStatus) -> Text:
    if pin.standing is None:
        return Text("unknown", style="magenta") if pin.unknown else Text("-")
    fine = pin.standing.kind is StandingKind.ON_BRANCH
    return Text(pin.standing.describe(), style="" if fine else "yellow")
