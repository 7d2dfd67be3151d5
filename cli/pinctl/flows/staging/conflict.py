"""Explains why uv finds no lock for new pins: what they brought, and which new workspace member to leave out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from pinctl.errors import BadFileError, CouldNotFindOutError
from pinctl.flows.superproject.sites import component_manifests
from pinctl.flows.superproject.stack import Stack
from pinctl.model.landing import BumpPlan
from pinctl.model.oid import Oid
from pinctl.model.requirement import distribution_of
from pinctl.tools.python import uv
from pinctl.tools.python.manifest import all_requirements
from pinctl.tools.toml.edit import append_string
from pinctl.tools.toml.source import TomlSource, read_toml

EXCLUDE = ("tool", "uv", "workspace", "exclude")


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What pinctl makes of a resolver's no.

    Attributes:
        lines: in our words.
        exclude: the new members of the workspace without which there is a lock; empty where that does not help.
    """

    lines: tuple[str, ...]
    exclude: tuple[str, ...]


def explain(stack: Stack, bump: BumpPlan, *, tree: Oid, project: Path, refused: uv.Refused) -> Explanation:
    """Finds out what the new pins brought that has no solution.

    Args:
        stack: the opened stack.
        bump: what is to be done.
        tree: the tree that has no lock.
        project: its scratch checkout, components in place; is changed to try things.
        refused: what uv said.
    """
    lines = [line for name in sorted(bump.targets) for line in _brought(stack, bump, name, refused)]
    root, lock = project / "pyproject.toml", project / "uv.lock"
    original, locked = root.read_bytes(), lock.read_bytes()
    members = _new_members(stack, bump, tree, read_toml(root, original))
    for member, component in members.items():
        lines.append(f"{member} is new in the workspace at the new pin of {component}")
        lines += [f"{member} requires {text}" for text in _requirements(project / member) if _is_named(text, refused)]
    exclude = _without(project, original, tuple(members))
    root.write_bytes(original)
    lock.write_bytes(locked)
    if exclude:
        quoted = ", ".join(f'"{member}"' for member in exclude)
        lines.append(f"there is a lock without it: [tool.uv.workspace] exclude = [..., {quoted}]")
    return Explanation(lines=tuple(lines), exclude=exclude)


def without_members(manifest: TomlSource, members: tuple[str, ...]) -> bytes:
    """Returns a manifest that leaves members out of its workspace."""
    data = manifest.data
    for member in members:
        data = append_string(read_toml(manifest.path, data), EXCLUDE, member)
    return data


def _without(project: Path, original: bytes, members: tuple[str, ...]) -> tuple[str, ...]:
    """Tries to leave out each new member, then as few of them together as it takes."""
    for member in members:
        if _locks_without(project, original, (member,)):
            return (member,)
    if len(members) < 2 or not _locks_without(project, original, members):
        return ()
    needed = members
    for member in members:
        fewer = tuple(other for other in needed if other != member)
        if _locks_without(project, original, fewer):
            needed = fewer
    return needed


def _locks_without(project: Path, original: bytes, members: tuple[str, ...]) -> bool:
    path = project / "pyproject.toml"
    try:
        path.write_bytes(without_members(read_toml(path, original), members))
        return uv.lock(project) is None
    except (BadFileError, CouldNotFindOutError):
        # It did not help: what uv said first stands.
        return False


def _requirements(member: Path) -> tuple[str, ...]:
    try:
        return all_requirements(read_toml(member / "pyproject.toml"))
    except BadFileError:
        return ()


def _brought(stack: Stack, bump: BumpPlan, name: str, refused: uv.Refused) -> Iterator[str]:
    """Names the requirements that a component's new pin has and its old one has not, and that uv speaks of."""
    component = stack.pins.components[name]
    move = next((move for move in bump.moves if move.component.name == name), None)
    if move is None or move.before is None:
        return
    old = {
        text for manifest in component_manifests(stack, component, move.before) for text in all_requirements(manifest)
    }
    for manifest in component_manifests(stack, component, move.after):
        for text in all_requirements(manifest):
            if text not in old and _is_named(text, refused):
                yield f"{name} {move.before.short} -> {move.after.short} brings {text} ({manifest.path})"


def _is_named(text: str, refused: uv.Refused) -> bool:
    name = distribution_of(text)
    pattern = rf"(?<![\w.-]){re.escape(name or '')}(?![\w-])"
    return name is not None and re.search(pattern, refused.explanation.lower()) is not None


def _new_members(stack: Stack, bump: BumpPlan, tree: Oid, root: TomlSource) -> dict[str, str]:
    """Returns the directories that join the workspace only with the new pins, with the component they are in.

    A directory without a pyproject.toml joins it too, and breaks it.
    """
    patterns = [str(item) for item in root.at(("tool", "uv", "workspace", "members")) or ()]
    leave_out = [str(item) for item in root.at(EXCLUDE) or ()]
    before = stack.repository.gitlinks(bump.tip)
    found: dict[str, str] = {}
    for name, target in bump.targets.items():
        component = stack.pins.components[name]
        path = component.gitlink
        if path is None or path not in stack.repository.gitlinks(tree):
            continue
        old = _directories(stack, name, before.get(path))
        for directory in sorted(_directories(stack, name, target.commit) - old):
            member = f"{path}/{directory}" if directory else path
            if _matches(member, patterns) and not _matches(member, leave_out):
                found[member] = name
    return found


def _directories(stack: Stack, name: str, commit: Oid | None) -> frozenset[str]:
    """Returns the directories of a component's commit; the top is empty."""
    if commit is None:
        return frozenset()
    component = stack.pins.components[name]
    repository = stack.mirror(component).repository
    paths = (PurePosixPath(entry.path) for entry in repository.entries(stack.obtain(component, commit)))
    return frozenset(str(parent) if parent.name else "" for path in paths for parent in path.parents)


def _matches(path: str, patterns: list[str]) -> bool:
    return any(_match(path.split("/"), pattern.removeprefix("./").rstrip("/").split("/")) for pattern in patterns)


def _match(parts: list[str], pattern: list[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_match(parts[skip:], pattern[1:]) for skip in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _match(parts[1:], pattern[1:])
