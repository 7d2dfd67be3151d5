"""Rehearses landings: what `plan` shows is what `land` makes, and nothing is published."""

import json
import subprocess
import sys
from pathlib import Path

from support import Demo, Git, Pinctl
from support.snapshot import unchanged
from support.stack import (
    LANDING,
    RENDERERS_SQUASH,
    SERVER_BRANCH,
    SERVING,
    VERIFIERS_SQUASH,
    by_subject,
    commit,
)

CERTIFICATE = "landing_plans/certificates/packed-generate.json"
"""What a landing adds to what its plan shows, once it is proven."""
SHOWN = ("diff-tree", "-r", "-p", "--no-color", "--ignore-submodules=none")


def test_the_plans_are_listed_with_their_changes_in_order(demo: Demo, pinctl: Pinctl) -> None:
    with unchanged(demo.superproject):
        result = pinctl("plan", cwd=demo.superproject)
        as_json = pinctl("plan", "--format", "json", cwd=demo.superproject)

    assert (result.status, result.stderr) == (0, "")
    assert result.stdout == (
        "packed-generate  Pack the per-token payloads of /generate\n"
        "  renderers#174, then verifiers#2778, then prime-rl#3900\n"
    )
    assert json.loads(as_json.stdout) == {
        "plans": [
            {
                "name": "packed-generate",
                "title": "Pack the per-token payloads of /generate",
                "changes": ["renderers", "verifiers", "server"],
                "constraints": [],
            }
        ]
    }


def test_the_diff_is_that_of_the_landing_and_nothing_is_published(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    with unchanged(demo.superproject, demo.remote("prime-rl")):
        as_json = pinctl("plan", "packed-generate", "--format", "json", cwd=demo.superproject)
        result = pinctl("plan", "packed-generate", cwd=demo.superproject)
    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0

    diff = git(demo.superproject, *SHOWN, "main", LANDING, "--", ".", f":!{CERTIFICATE}") + "\n"
    assert "Subproject commit" in diff
    assert SERVING in diff
    assert (as_json.status, as_json.stderr, json.loads(as_json.stdout)["diff"]) == (0, "", diff)
    summary, _, shown = result.stdout.partition("\n\n")
    assert (result.status, result.stderr, shown) == (0, "", diff)
    renderers, verifiers = _squashes(demo)
    old = [git(demo.superproject, "rev-parse", "--short=7", f"main:deps/{name}") for name in ("renderers", "verifiers")]
    main, head = (
        git(demo.superproject, "rev-parse", "--short=7", name) for name in ("main", f"origin/{SERVER_BRANCH}")
    )
    assert summary.splitlines() == [
        f"Pack the per-token payloads of /generate, onto main {main}",
        f"  landed    renderers#174 as {renderers} (same tree)",
        f"  landed    verifiers#2778 as {verifiers} (same combined patch-id)",
        f"  to land   prime-rl#3900 at {head}: Pack the per-token payloads of /generate",
        f"  pin       deps/renderers {old[0]} -> {renderers}  0.1.12",
        f"  pin       deps/verifiers {old[1]} -> {verifiers}  0.4.1.dev4+g{verifiers}",
        "  floor     pyproject.toml:17 renderers[multimodal] >= 0.1.11 -> renderers[multimodal] >= 0.1.12",
        "  floor     pyproject.toml:16 verifiers[harbor]>=0.3.0 -> verifiers[harbor]>=0.4.0",
        "  floor     packages/prime-rl-configs/pyproject.toml:11 renderers>=0.1.11 -> renderers>=0.1.12",
        "  floor     packages/prime-rl-configs/pyproject.toml:11 verifiers>=0.3.0 -> verifiers>=0.4.0",
        "  lock      no package moves",
        "  proof     a certificate beside the plan, once the matrix and the order are proven",
    ]


def test_the_values_say_the_same(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    result = pinctl("plan", "packed-generate", "--format", "json", cwd=demo.superproject)
    landing = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    plan = json.loads(result.stdout)
    landed = json.loads(landing.stdout)
    assert {key: plan[key] for key in ("plan", "target", "parent", "pins", "lock")} == {
        "plan": "packed-generate",
        "target": "main",
        "parent": landed["parent"],
        "pins": landed["pins"],
        "lock": {"first_party": [], "third_party": [], "format_only": False},
    }
    head = git(demo.superproject, "rev-parse", f"origin/{SERVER_BRANCH}")
    assert plan["changes"] == [
        {"id": "renderers", "component": "renderers", "landed": True, "commit": landed["pins"][0]["to"]},
        {"id": "verifiers", "component": "verifiers", "landed": True, "commit": landed["pins"][1]["to"]},
        {"id": "server", "component": "prime-rl", "landed": False, "commit": head},
    ]
    assert plan["floors"][1] == {
        "component": "verifiers",
        "manifest": "pyproject.toml",
        "line": 16,
        "from": "verifiers[harbor]>=0.3.0",
        "to": "verifiers[harbor]>=0.4.0",
    }


def test_git_applies_the_diff_to_a_checkout_of_main(demo: Demo, pinctl: Pinctl, git: Git, tmp_path: Path) -> None:
    result = pinctl("plan", "packed-generate", "--format", "json", cwd=demo.superproject)
    patch = tmp_path / "landing.patch"
    patch.write_text(json.loads(result.stdout)["diff"])
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", demo.remote("prime-rl"), clone)

    git(clone, "apply", "--check", "--exclude=deps/*", patch)
    git(clone, "apply", "--index", "--exclude=deps/*", patch)

    assert pinctl("land", "packed-generate", "--push", cwd=demo.superproject).status == 0
    git(clone, "fetch", "--quiet")
    assert git(clone, "diff", "--cached", "--name-only", f"origin/{LANDING}").splitlines() == [
        "deps/renderers",
        "deps/verifiers",
        CERTIFICATE,
    ]


def test_it_reads_as_git_writes_it_whatever_the_user_has_set(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    plain = pinctl("plan", "packed-generate", cwd=demo.superproject)
    for key, value in (("diff.noprefix", "true"), ("diff.ignoreSubmodules", "all"), ("color.ui", "always")):
        git(demo.superproject, "config", key, value)

    assert pinctl("plan", "packed-generate", cwd=demo.superproject) == plain


def test_a_reader_that_has_gone_is_neither_a_no_nor_an_error(demo: Demo) -> None:
    script = "$0 -m pinctl plan packed-generate | true; echo ${PIPESTATUS[0]}"
    ended = subprocess.run(
        ["bash", "-c", script, sys.executable],
        cwd=demo.superproject,
        check=True,
        capture_output=True,
        text=True,
    )

    assert (ended.stdout, ended.stderr) == ("0\n", "")


def test_what_land_would_refuse_is_refused(demo: Demo, pinctl: Pinctl) -> None:
    commit(demo.remote("prime-rl"), "main", "Remove it", files={SERVING: None})

    with unchanged(demo.superproject):
        plan = pinctl("plan", "packed-generate", cwd=demo.superproject)
        land = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert plan == land
    assert plan.status == 1


def test_a_plan_that_has_landed_has_nothing_left_to_do(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    assert pinctl("land", "packed-generate", "--push", cwd=demo.superproject).status == 0
    landing = git(demo.superproject, "rev-parse", "--short=7", LANDING)
    git(demo.remote("prime-rl"), "update-ref", "refs/heads/main", f"refs/heads/{LANDING}")

    result = pinctl("plan", "packed-generate", cwd=demo.superproject)

    renderers, verifiers = _squashes(demo)
    assert (result.status, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == f"Pack the per-token payloads of /generate, onto main {landing}"
    assert lines[1] == f"  landed    renderers#174 as {renderers} (same tree)"
    assert lines[2] == f"  landed    verifiers#2778 as {verifiers} (same combined patch-id)"
    assert lines[3].startswith(f"  landed    prime-rl#3900 as {landing}")
    assert lines[4:] == ["  lock      no package moves"]


def _squashes(demo: Demo) -> tuple[str, str]:
    return (
        by_subject(demo.remote("renderers"), "main", RENDERERS_SQUASH)[:7],
        by_subject(demo.remote("verifiers"), "main", VERIFIERS_SQUASH)[:7],
    )
