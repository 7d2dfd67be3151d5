"""Judges the records of pins by pins.toml, and writes the commands that set a pin and its record together."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from pinctl.flows.check.fixes import replace_command
from pinctl.flows.check.scope import MovedPin, Scope
from pinctl.flows.superproject.sites import target_of
from pinctl.flows.superproject.workspace import pins_path_in
from pinctl.model.entry import moved_text
from pinctl.model.finding import Finding
from pinctl.model.oid import Oid
from pinctl.model.pins import Component
from pinctl.tools.toml.source import TomlSource, read_toml


def record_findings(scope: Scope, fixes: Mapping[str, str]) -> Iterator[Finding]:
    """Compares the records of pins.toml with the gitlinks of the same tree.

    Args:
        scope: what is judged.
        fixes: by component, what sets its pin right: where there is something, the record follows with it.
    """
    source = _records(scope)
    if source is None:
        return
    path = str(source.path)
    if not scope.sole and path not in scope.touched and not scope.moved:
        return
    for component, gitlink in scope.stack.gitlink_components():
        record, pin = source.at(_key(component)), scope.gitlinks.get(gitlink)
        if not isinstance(record, str) or pin is None or pin.startswith(record):
            continue
        line = source.line(_key(component))
        yield Finding(
            rule="PIN009",
            component=component.name,
            path=path,
            line=line,
            message=f"pins.toml records {record[:12]}, and the gitlink {gitlink} is {pin.short}",
            fix=fixes.get(component.name) or replace_command(path, line, record, pin),
        )


def pin_command(scope: Scope, pin: MovedPin, commit: Oid) -> str | None:
    """Returns the command that sets a pin to a commit, and its record with it; None where no command can.

    That is where the way in which the pin is written cannot name the commit.
    """
    if pin.entry is not None:
        text = moved_text(pin.entry, target_of(scope.stack, pin.component, commit))
        return replace_command(pin.path, pin.entry.line, pin.entry.text, text) if text is not None else None
    command = f"git update-index --cacheinfo {shlex.quote(f'160000,{commit},{pin.path}')}"
    source = _records(scope)
    record = source.at(_key(pin.component)) if source is not None else None
    if source is None or not isinstance(record, str) or commit.startswith(record):
        return command
    path = str(source.path)
    edit = replace_command(path, source.line(_key(pin.component)), record, commit)
    return f"{command} && {edit} && git add {shlex.quote(path)}"


def _records(scope: Scope) -> TomlSource | None:
    """Reads the superproject's pins.toml as it would come out; None where it keeps none."""
    path = pins_path_in(scope.stack)
    data = scope.stack.repository.read(scope.result, path) if path is not None else None
    return read_toml(Path(path), data) if path is not None and data is not None else None


def _key(component: Component) -> tuple[str, ...]:
    return "components", component.name, "commit"
