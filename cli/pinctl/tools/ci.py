"""Reads from a CI system's environment which range it wants judged."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinctl.errors import BadInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced:
    """What a CI system says that it runs for.

    Attributes:
        bases: revisions for the tip to land on, best first; none where it names none.
        heads: revisions for what would land, best first.
        source: the system and its event.
    """

    bases: tuple[str, ...]
    heads: tuple[str, ...]
    source: str


def announced_range(env: Mapping[str, str] | None = None) -> Announced | None:
    """Returns what the environment says; None outside a CI system that pinctl knows.

    Sources: GitHub's "Events that trigger workflows" and "Variables", GitLab's "Predefined CI/CD variables".

    Raises:
        BadInputError: GitHub's event file cannot be read.
    """
    env = os.environ if env is None else env
    if env.get("GITHUB_ACTIONS") == "true":
        return _github(env)
    if env.get("GITLAB_CI") == "true":
        return _gitlab(env)
    return None


def _github(env: Mapping[str, str]) -> Announced | None:
    name = env.get("GITHUB_EVENT_NAME", "")
    event = _event(env)
    sha = env.get("GITHUB_SHA")
    match name:
        case "pull_request" | "pull_request_target":
            pull = event.get("pull_request") or {}
            base, head = pull.get("base") or {}, pull.get("head") or {}
            ref = base.get("ref") or env.get("GITHUB_BASE_REF")
            # GITHUB_SHA and HEAD are the test merge for one, and the target itself for the other.
            heads = _known(sha, head.get("sha"), "HEAD") if name == "pull_request" else _known(head.get("sha"))
            return Announced(
                bases=_known(f"refs/remotes/origin/{ref}" if ref else None, base.get("sha")),
                heads=heads,
                source=f"GitHub's {name}",
            )
        case "merge_group":
            group = event.get("merge_group") or {}
            return Announced(
                bases=_known(group.get("base_sha")),
                heads=_known(group.get("head_sha"), sha, "HEAD"),
                source="GitHub's merge_group",
            )
        case "push":
            return Announced(
                bases=_known(event.get("before")), heads=_known(event.get("after"), sha, "HEAD"), source="GitHub's push"
            )
        case _:
            return None


def _gitlab(env: Mapping[str, str]) -> Announced | None:
    head = _known(env.get("CI_COMMIT_SHA"), "HEAD")
    if env.get("CI_PIPELINE_SOURCE") == "merge_request_event":
        target = env.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
        return Announced(
            bases=_known(
                env.get("CI_MERGE_REQUEST_TARGET_BRANCH_SHA"),
                f"refs/remotes/origin/{target}" if target else None,
                env.get("CI_MERGE_REQUEST_DIFF_BASE_SHA"),
            ),
            heads=head,
            source="GitLab's merge request",
        )
    return Announced(bases=_known(env.get("CI_COMMIT_BEFORE_SHA")), heads=head, source="GitLab's push")


def _event(env: Mapping[str, str]) -> dict[str, Any]:
    path = env.get("GITHUB_EVENT_PATH")
    if not path:
        return {}
    try:
        event = json.loads(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise BadInputError(f"GITHUB_EVENT_PATH {path} cannot be read: {error}") from error
    return event if isinstance(event, dict) else {}


def _known(*revisions: str | None) -> tuple[str, ...]:
    """Leaves out what is not there; an id of zeros means that there is none."""
    return tuple(revision for revision in revisions if revision and set(revision) != {"0"})
