"""Writes a landing's description for a pull request."""

from collections.abc import Iterable
from typing import Any

from pinctl.model.certificate import Certificate, CertifiedCell
from pinctl.model.description import Description, Proof, RequirementChange
from pinctl.model.landing import Landed, PinMove
from pinctl.model.lock import LockDiff
from pinctl.model.matrix import Verdict
from pinctl.render.landing import lock_changes, lock_json, move_json
from pinctl.render.markdown import code, table_row
from pinctl.render.matrix_markdown import grid_lines, verdict_mark
from pinctl.render.reasons import NOT_REQUIRED

_INCOMING_SHOWN = 50
"""Subjects of one component: a pull request's text holds 65,536 characters."""


def description_markdown(description: Description) -> str:
    """Returns the body of the pull request; the commit's subject is its title."""
    blocks = [
        _heading(description),
        _pins(description.moves, description.rollbacks),
        *map(_incoming, description.moves),
        _section("Companions", [*map(_landed, description.landed), *map(_lacking, description.lacking)]),
        _section("Floors", map(_floor, description.floors)),
        _section("Lock", _lock(description.lock)),
    ]
    if description.proof is not None:
        blocks += [_order(description.proof.certificate), _matrix(description.proof)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def description_json(description: Description) -> dict[str, Any]:
    """Returns the description with the same values, and the text itself."""
    return {
        "name": description.name,
        "plan": description.plan,
        "title": description.title,
        "branch": description.where,
        "commit": description.commit,
        "parent": description.parent,
        "changes": [{"title": change.title, "head": change.head} for change in description.changes],
        "companions": [
            {
                "component": item.change.component,
                "title": item.change.title,
                "commit": item.commit,
                "evidence": item.evidence,
            }
            for item in description.landed
        ],
        "lacking": list(description.lacking),
        "pins": [{**move_json(move), "incoming": list(move.incoming), "back": move.back} for move in description.moves],
        "rollbacks": list(description.rollbacks),
        "floors": [
            {"component": item.component, "manifest": item.manifest, "from": item.before, "to": item.after}
            for item in description.floors
        ],
        "lock": lock_json(description.lock),
        "proof": _proof_json(description.proof) if description.proof is not None else None,
        "body": description_markdown(description),
    }


def _proof_json(proof: Proof) -> dict[str, Any]:
    certificate = proof.certificate
    return {
        "certificate": proof.digest,
        "holds": not proof.stale,
        "stale": list(proof.stale),
        "order": list(certificate.changes),
        "orders": certificate.orders,
        "safe_orders": certificate.safe_orders,
        "cells": [
            {
                "server": cell.server,
                "client": cell.client,
                "verdict": cell.verdict,
                "reason": cell.reason,
                "asked": cell.asked,
                "required": _is_required(proof, cell),
            }
            for cell in certificate.cells
        ],
    }


def _heading(description: Description) -> str:
    at = f"{code(description.commit.short)} on {code(description.parent.short)}"
    if description.plan is None:
        return f"Bumps pins in one commit: {at}."
    first = f"Lands {code(description.name)}, {code(description.plan)}, in one commit: {at}."
    brings = [f"- brings {code(change.title)} at {code(change.head[:7])}" for change in description.changes]
    return "\n".join((first, "", *brings)) if brings else first


def _section(title: str, items: Iterable[str]) -> str:
    lines = [f"- {item}" for item in items]
    return "\n".join((f"### {title}", "", *lines)) if lines else ""


def _pins(moves: tuple[PinMove, ...], rollbacks: tuple[str, ...]) -> str:
    if not moves:
        return ""
    lines = ["### Pins", "", table_row("pin", "from", "to", "version", "brings"), "|---|---|---|---|---|"]
    for move in moves:
        brings = ", ".join(code(item.change.title) for item in move.landed)
        lines.append(
            table_row(
                code(move.path),
                code(move.before.short) if move.before is not None else "none",
                code(move.after.short) + (", **back**" if move.back else ""),
                code(str(move.version)) if move.version is not None else "none",
                brings or _count(move),
            )
        )
    if rollbacks:
        lines += ["", *(f"- moves back: {code(words)}" for words in rollbacks)]
    return "\n".join(lines)


def _incoming(move: PinMove) -> str:
    if not move.incoming:
        return ""
    shown = [f"- {code(subject) or '(no subject)'}" for subject in move.incoming[:_INCOMING_SHOWN]]
    if len(move.incoming) > _INCOMING_SHOWN:
        shown.append(f"- and {len(move.incoming) - _INCOMING_SHOWN} more")
    return "\n".join((f"What comes in with {code(move.component.name)}, {_count(move)}, newest first:", "", *shown))


def _count(move: PinMove) -> str:
    return f"{len(move.incoming)} commit{'s' if len(move.incoming) != 1 else ''}"


def _landed(item: Landed) -> str:
    evidence = f" ({item.evidence})" if item.evidence else ""
    return f"{code(item.change.title)} is on its branch as {code(item.commit.short)}{evidence}"


def _lacking(words: str) -> str:
    return f"**not on its branch now**: {code(words)}"


def _floor(item: RequirementChange) -> str:
    before, after = (code(text) if text is not None else "none" for text in (item.before, item.after))
    return f"{code(item.manifest)}: {before} to {after}"


def _lock(diff: LockDiff) -> list[str]:
    if diff.format_only:
        return ["written differently; no package moves"]
    return lock_changes(diff, code)


def _order(certificate: Certificate) -> str:
    order = ", ".join(map(code, certificate.changes))
    return _section("Order", [f"{order}: {certificate.safe_orders} of {certificate.orders} orders are safe"])


def _matrix(proof: Proof) -> str:
    cells = {(cell.server, cell.client): cell for cell in proof.certificate.cells}
    servers, clients = (tuple(dict.fromkeys(pair[axis] for pair in cells)) for axis in (0, 1))
    lines = ["### Proof", ""]
    if cells:
        fine = sum(cell.verdict is Verdict.OK for pair, cell in cells.items() if pair in proof.required)
        lines += [f"On the code of both sides, {fine} of {len(proof.required)} required cells are ok.", ""]
        lines += grid_lines(servers, clients, lambda *pair: _mark(proof, cells.get(pair)))
        lines.append("")
    lines += [_reason(proof, cell) for cell in cells.values() if cell.verdict is not Verdict.OK]
    if proof.stale:
        lines += [f"- **the certificate does not hold for this commit**: {code(words)}" for words in proof.stale]
    else:
        lines.append(f"- the certificate holds for this commit: {code(proof.digest)}")
    return "\n".join(lines)


def _reason(proof: Proof, cell: CertifiedCell) -> str:
    said = f"- **{cell.verdict}**: {code(cell.server)} x {code(cell.client)}"
    said += f": {code(cell.reason)}" if cell.reason.strip() else ""
    if not cell.asked:
        return f"{said}; waits for what has not landed"
    return said if _is_required(proof, cell) else f"{said}; {NOT_REQUIRED}"


def _mark(proof: Proof, cell: CertifiedCell | None) -> str:
    return verdict_mark(cell.verdict, counts=cell.asked and _is_required(proof, cell)) if cell is not None else "-"


def _is_required(proof: Proof, cell: CertifiedCell) -> bool:
    return (cell.server, cell.client) in proof.required
