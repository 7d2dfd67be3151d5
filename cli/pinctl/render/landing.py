"""Shows a landing, what it would do, or what is in its way."""

from collections.abc import Callable
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from pinctl.errors import ExitStatus
from pinctl.model.landing import BumpPlan, Landed, Landing, Objections, PinMove, Staged, ToLand
from pinctl.model.lock import LockDiff
from pinctl.model.plan import LandingPlan
from pinctl.render.constraint import constraint_json, constraint_words
from pinctl.render.output import Format, Output


def landing_text(landing: Landing) -> RenderableType:
    """Returns what stands now, and where."""
    if landing.already_landed:
        first = f"already there: {landing.branch} has it as {landing.commit.short}; nothing was changed"
    else:
        first = f"landed: {landing.branch} is {landing.commit.short}, on {landing.parent.short}"
    lines = [Text(first)]
    lines += [Text(f"  {_move_words(move)}") for move in landing.moves]
    if landing.pushed is not None:
        lines.append(Text(f"pushed to {landing.pushed}"))
    return Group(*lines)


def landing_json(landing: Landing) -> dict[str, Any]:
    """Returns the landing with the same values."""
    return {
        "branch": landing.branch,
        "commit": landing.commit,
        "parent": landing.parent,
        "pins": [move_json(move) for move in landing.moves],
        "already_landed": landing.already_landed,
        "pushed": landing.pushed,
    }


def move_json(move: PinMove) -> dict[str, Any]:
    """Returns a pin's move."""
    return {
        "component": move.component.name,
        "path": move.path,
        "from": move.before,
        "to": move.after,
        "version": str(move.version) if move.version else None,
        "pulls": [item.change.pull for item in move.landed if item.change.pull is not None],
    }


def lock_changes(diff: LockDiff, written: Callable[[str], str]) -> list[str]:
    """Returns the packages that moved in a lock, each as `written` puts it."""
    lines = [f"ours: {written(change.words)}" for change in diff.first_party]
    return lines + [f"third-party: {written(change.words)}" for change in diff.third_party]


def lock_json(diff: LockDiff) -> dict[str, Any]:
    """Returns what differs in a lock."""
    return {
        "first_party": [change.words for change in diff.first_party],
        "third_party": [change.words for change in diff.third_party],
        "format_only": diff.format_only,
    }


def objections_text(objections: Objections) -> RenderableType:
    """Returns everything that is in the way, each with its next step."""
    lines: list[Text] = []
    for objection in objections.objections:
        first, *more = objection.message.split("\n")
        lines.append(Text.assemble(("refused: ", "bold red"), first))
        lines += [Text(f"    {line}".rstrip()) for line in more]
        lines += [Text(f"    {detail}") for detail in objection.details]
        if objection.hint:
            lines.append(Text.assemble(("hint: ", "bold"), objection.hint))
    lines.append(Text("Nothing was changed."))
    return Group(*lines)


def objections_json(objections: Objections) -> dict[str, Any]:
    """Returns the objections with the same values."""
    return {
        "objections": [
            {
                "kind": objection.kind,
                "message": objection.message,
                "hint": objection.hint,
                "details": list(objection.details),
            }
            for objection in objections.objections
        ]
    }


def print_objections(output: Output, objections: Objections, output_format: Format) -> ExitStatus:
    """Prints what is in the way, and returns the exit status that says the same."""
    output.answer(objections_text(objections), objections_json(objections), output_format)
    return objections.exit_status


def print_rehearsal(output: Output, staged: Staged, diff: str, output_format: Format) -> None:
    """Prints what a staged commit would do, in words and as a diff."""
    output.answer(rehearsal_text(staged), rehearsal_json(staged, diff), output_format)
    if output_format is Format.TEXT:
        output.plain(f"\n{diff}" if diff else "")


def rehearsal_text(staged: Staged) -> RenderableType:
    """Returns what landing would do: what has landed, what is to land, what moves."""
    bump = staged.bump
    lines = [
        Text.assemble((bump.plan.title if bump.plan else "Bump", "bold"), f", onto {bump.target} {bump.tip.short}")
    ]
    lines += [Text(f"  landed    {_landed_words(item)}") for item in bump.landed]
    lines += [Text(f"  to land   {_to_land_words(item)}") for item in bump.to_land]
    lines += [Text(f"  needs     {constraint_words(item)}") for item in (bump.plan.constraints if bump.plan else ())]
    lines += [Text(f"  pin       {_move_words(move)}") for move in bump.moves]
    lines += [
        Text(f"  entry     {move.entry.manifest}:{move.entry.line} {move.entry.text} -> {move.after}")
        for move in staged.entries
    ]
    lines += [
        Text(f"  floor     {move.site.manifest}:{move.site.line} {move.site.text} -> {move.text}")
        for move in staged.floors
    ]
    lines += [Text(f"  exclude   {member}: no solution with it in the workspace") for member in staged.excluded]
    lines += [Text(f"  lock      {words}") for words in _lock_words(staged.lock)]
    if bump.plan is not None and bump.plan.contract is not None and (bump.to_land or bump.moves):
        lines.append(Text("  proof     a certificate beside the plan, once the matrix and the order are proven"))
    return Group(*lines)


def rehearsal_json(staged: Staged, diff: str) -> dict[str, Any]:
    """Returns what landing would do, with the same values."""
    bump = staged.bump
    return {
        "plan": bump.plan.name if bump.plan else None,
        "target": bump.target,
        "parent": bump.tip,
        "changes": _changes_json(bump),
        "constraints": [constraint_json(item) for item in (bump.plan.constraints if bump.plan else ())],
        "pins": [move_json(move) for move in bump.moves],
        "floors": [
            {
                "component": move.component,
                "manifest": move.site.manifest,
                "line": move.site.line,
                "from": move.site.text,
                "to": move.text,
            }
            for move in staged.floors
        ],
        "entries": [
            {
                "component": move.component,
                "manifest": move.entry.manifest,
                "line": move.entry.line,
                "from": move.entry.text,
                "to": move.after,
            }
            for move in staged.entries
        ],
        "excluded": list(staged.excluded),
        "lock": lock_json(staged.lock),
        "diff": diff,
    }


def _lock_words(diff: LockDiff) -> list[str]:
    if diff.format_only:
        return ["written differently by this uv; no package moves"]
    return lock_changes(diff, str) or ["no package moves"]


def plans_text(plans: tuple[LandingPlan, ...]) -> RenderableType:
    """Returns the plans with their changes in order."""
    lines = []
    for plan in plans:
        lines.append(Text.assemble((plan.name, "bold"), f"  {plan.title}"))
        lines.append(Text("  " + ", then ".join(change.title for change in plan.in_order()), style="dim"))
        lines += [Text(f"  {constraint_words(item)}, in any order", style="dim") for item in plan.constraints]
    return Group(*lines) if lines else Text("there are no landing plans")


def plans_json(plans: tuple[LandingPlan, ...]) -> dict[str, Any]:
    """Returns the plans with the same values."""
    return {
        "plans": [
            {
                "name": plan.name,
                "title": plan.title,
                "changes": [change.id for change in plan.in_order()],
                "constraints": [constraint_json(item) for item in plan.constraints],
            }
            for plan in plans
        ]
    }


def _changes_json(bump: BumpPlan) -> list[dict[str, Any]]:
    landed = [
        {"id": item.change.id, "component": item.change.component, "landed": True, "commit": item.commit}
        for item in bump.landed
    ]
    to_land = [
        {"id": item.change.id, "component": item.change.component, "landed": False, "commit": item.head}
        for item in bump.to_land
    ]
    return [*landed, *to_land]


def _landed_words(item: Landed) -> str:
    evidence = f" ({item.evidence})" if item.evidence else ""
    return f"{item.change.title} as {item.commit.short}{evidence}"


def _to_land_words(item: ToLand) -> str:
    return f"{item.change.title} at {item.head.short}: {item.subject}"


def _move_words(move: PinMove) -> str:
    before = move.before.short if move.before else "none"
    version = f"  {move.version}" if move.version else ""
    return f"{move.path} {before} -> {move.after.short}{version}"
