"""Asks one variant's probe, in its environment, unless the very same question was answered before."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pinctl.model.judgement import Decoded
from pinctl.model.plan import Probe
from pinctl.tools.answers import digest_of, digest_of_file, recall, remember
from pinctl.tools.probes import probe_harness
from pinctl.tools.probes.probe import Body, ask_client, ask_server
from pinctl.tools.python.environment import Failed, Recipe, python_for

Sent = Mapping[str, tuple[str, Mapping[str, Any]]]
"""By case, the body and what the client had asked for."""

Took = Callable[[float, float], None]
"""Hears from when to when a probe was run, its environment made if need be."""


def bodies_of(recipe: Recipe, probe: Probe, truths: list[Mapping[str, Any]]) -> Mapping[str, Body]:
    """Returns what a server's own code makes of cases.

    Raises:
        CouldNotFindOutError: its environment cannot be made.
    """
    digest = digest_of("server", *_constants(recipe, probe), truths)
    kept = recall(digest)
    if kept is not None:
        return {name: Body(text=text) for name, text in kept.items()}
    bodies = ask_server(probe, python_for(recipe), truths)
    if all(body.text is not None for body in bodies.values()):
        remember(digest, {name: body.text for name, body in bodies.items()})
    return bodies


def decoded_by(
    recipe: Recipe,
    probe: Probe,
    sent: Sent,
    *,
    only: Mapping[str, str],
    took: Took = lambda *_: None,
    failed: Failed | None = None,
) -> Mapping[str, Mapping[str, Decoded]]:
    """Returns what a client's own code makes of bodies.

    Args:
        recipe: of its environment.
        probe: says what it reads and relays.
        sent: the bodies.
        only: by case, the one field that it is asked for, where that is not all of them.
        took: hears how long that took.
        failed: the environments that this run has failed to make.

    Raises:
        CouldNotFindOutError: its environment cannot be made.
    """
    asked = list(probe.reads), list(probe.relays), dict(only)
    digest = digest_of("client", *_constants(recipe, probe), *asked, dict(sent))
    kept: Mapping[str, Mapping[str, Any]] = recall(digest) or {}
    known = {case: {field: Decoded(**answer) for field, answer in fields.items()} for case, fields in kept.items()}
    if probe.strict:
        known = {case: fields for case, fields in known.items() if not _has_failure(fields)}
    open_questions = {case: question for case, question in sent.items() if case not in known}
    if not open_questions:
        return known
    begin = time.monotonic()
    asked_now = ask_client(probe, python_for(recipe, failed=failed), open_questions, only=only)
    took(begin, time.monotonic())
    decoded = {**known, **asked_now}
    # What could not be found out may be found out next time; the rest is not asked again.
    found = {case: fields for case, fields in decoded.items() if not _has_failure(fields)}
    if not probe.strict and found.keys() >= sent.keys() - only.keys():
        # Only negative controls are left, which decide nothing here: a client that hangs at one does so once.
        found = decoded
    if found.keys() > known.keys():
        remember(
            digest, {case: {field: _kept(item) for field, item in fields.items()} for case, fields in found.items()}
        )
    return decoded


def _constants(recipe: Recipe, probe: Probe) -> tuple[str, ...]:
    return recipe.key, digest_of_file(probe.path), digest_of_file(Path(probe_harness.__file__))


def _has_failure(fields: Mapping[str, Decoded]) -> bool:
    return any(decoded.failure is not None for decoded in fields.values())


def _kept(decoded: Decoded) -> dict[str, Any]:
    if decoded.failure is not None:
        return {"failure": decoded.failure}
    if decoded.refusal is not None:
        return {"refusal": decoded.refusal}
    return {"value": decoded.value} | ({"unusable": decoded.unusable} if decoded.unusable is not None else {})
