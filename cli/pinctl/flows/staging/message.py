"""Writes a landing's commit message, and reads its trailers back."""

import hashlib
from collections.abc import Iterable

from pinctl.model.landing import BumpPlan, Landed, PinMove, Proven, Staged
from pinctl.model.matrix import Verdict
from pinctl.model.plan import Change
from pinctl.model.rule import LOCK_TRAILER, ROLLBACK_TRAILER
from pinctl.tools.files.certificate_file import certificate_bytes
from pinctl.tools.git.history import Person

PLAN = "Landing-Plan"
BUMP = "Bump"
CHANGE = "Change"
PIN = "Pin"
CERTIFICATE = "Certificate"

_INCOMING_SHOWN = 8


def commit_message(proven: Proven, *, co_authors: tuple[Person, ...]) -> str:
    """Writes the message: the change's own subject, what moved and why, the proof, and the trailers."""
    staged = proven.staged
    bump = staged.bump
    blocks = [_subject(staged), _paragraph_of_pins(bump)]
    if staged.floors:
        raised = sorted(
            {f"{move.component} {move.before} -> {move.after} in {move.site.manifest}" for move in staged.floors}
        )
        blocks.append("Floors:\n" + _items(raised))
    if staged.excluded:
        blocks.append("Left out of the workspace, for uv finds no solution with it:\n" + _items(staged.excluded))
    blocks.append(_proof(proven))
    trailers = [*trailers_of(bump)]
    # Whoever judges the commit later learns from these that the moves were meant.
    trailers += [f"{LOCK_TRAILER}: {change.words}" for change in staged.lock.third_party]
    if proven.certificate is not None:
        trailers.append(f"{CERTIFICATE}: {digest_of_certificate(certificate_bytes(proven.certificate))}")
    trailers += [f"Co-authored-by: {person.name} <{person.email}>" for person in co_authors]
    blocks.append("\n".join(trailers))
    return "\n\n".join(block for block in blocks if block) + "\n"


def heading_of(bump: BumpPlan) -> str:
    """Returns the trailer that says whose landing a commit is: a plan's, or that of a bump of some components."""
    return heading_of_plan(bump.plan.name) if bump.plan else f"{BUMP}: {', '.join(sorted(bump.targets))}"


def heading_of_plan(plan: str) -> str:
    """Returns the trailer that says that a commit is the landing of a plan."""
    return f"{PLAN}: {plan}"


def trailers_of(bump: BumpPlan) -> tuple[str, ...]:
    """Returns the trailers that say what a landing is, which name the same landing whenever it is made."""
    lines = [heading_of(bump)]
    lines += [f"{change_trailer(item.change)}{item.head}" for item in bump.to_land]
    lines += [f"{PIN}: {_pin_words(move)}" for move in bump.moves]
    if bump.rollback is not None:
        lines += [f"{ROLLBACK_TRAILER}: {move.component.name} {bump.rollback}" for move in bump.moves if move.back]
    return tuple(lines)


def digest_of_certificate(data: bytes) -> str:
    """Returns what the trailer says of a certificate's file."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def certificate_trailer(message: str) -> str | None:
    """Returns the digest that a landing's message names; None where it names none."""
    found = trailers_in(message, CERTIFICATE)
    return found[-1] if found else None


def trailers_in(message: str, key: str) -> tuple[str, ...]:
    """Returns what the trailers of a key say in a message, in their order."""
    beginning = f"{key}: "
    return tuple(line.removeprefix(beginning) for line in message.splitlines() if line.startswith(beginning))


def change_trailer(change: Change) -> str:
    """Returns the beginning of the trailer that says that a landing brings a change."""
    return f"{CHANGE}: {change.title} "


def is_same_landing(message: str, bump: BumpPlan) -> bool:
    """Tells whether a commit message is that of this very landing."""
    kinds = tuple(f"{kind}: " for kind in (PLAN, BUMP, CHANGE, PIN, ROLLBACK_TRAILER))
    lines = [line for line in message.splitlines() if line.startswith(kinds)]
    return lines == list(trailers_of(bump))


def is_landing(message: str, heading: str) -> bool:
    """Tells whether a commit message is that of any landing under a heading."""
    return heading in message.splitlines()


def _items(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _subject(staged: Staged) -> str:
    bump = staged.bump
    if bump.to_land:
        last = bump.to_land[-1]
        subject = bump.plan.title if bump.plan else last.subject
        return f"{subject} (#{last.change.pull})" if last.change.pull is not None else subject
    if bump.plan is not None:
        return bump.plan.title
    if bump.moves:
        return f"Bump {' and '.join(move.component.name for move in bump.moves)}"
    return f"Raise the floors of {' and '.join(dict.fromkeys(move.component for move in staged.floors))}"


def _paragraph_of_pins(bump: BumpPlan) -> str:
    lines = []
    for move in bump.moves:
        before = move.before.short if move.before else "none"
        version = f", version {move.version}" if move.version else ""
        lines.append(f"{move.path} {before} -> {move.after.short}{version}")
        lines += [f"- {subject}" for subject in move.incoming[:_INCOMING_SHOWN]]
        if len(move.incoming) > _INCOMING_SHOWN:
            lines.append(f"- and {len(move.incoming) - _INCOMING_SHOWN} more")
    return "\n".join(lines)


def _proof(proven: Proven) -> str:
    if proven.matrix is None or proven.order is None:
        return ""
    required = [cell for cell in proven.matrix.cells if proven.matrix.is_required(cell)]
    fine = sum(cell.verdict is Verdict.OK for cell in required)
    lines = [f"Proven on the code of both sides: {fine} of {len(required)} required cells ok."]
    order = proven.order
    lines.append(f"Safe order: {', '.join(order.changes)} ({order.safe_orders} of {order.orders} orders are safe).")
    if order.counter_example is not None:
        example = order.counter_example
        lines.append(f"Unsafe: {', '.join(example.steps)} first; {example.cell.client} {example.verdict}.")
    return "\n".join(lines)


def _pin_words(move: PinMove) -> str:
    before = move.before.short if move.before else "none"
    return f"{move.component.name} {before}..{move.after.short}{_pulls(move.landed)}"


def _pulls(landed: tuple[Landed, ...]) -> str:
    numbers = [f"#{item.change.pull}" for item in landed if item.change.pull is not None]
    return f" ({', '.join(numbers)})" if numbers else ""
