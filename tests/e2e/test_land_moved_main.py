"""Lands a change whose target has moved since its branch was cut, in the very places that the plan owns."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support import Demo, Git, Pinctl
from support.snapshot import unchanged
from support.stack import (
    CONFIGS_MANIFEST,
    LANDING,
    RENDERERS_SQUASH,
    ROOT_MANIFEST,
    SERVER_BRANCH,
    SERVING,
    VERIFIERS_SQUASH,
    by_subject,
    commit,
    conflicts,
    replaced,
    text_at,
)

# The floors as main, the branch and the plan have them, each on the same line.
VERIFIERS, RENDERERS = '    "verifiers[harbor]>=0.3.0",\n', "    'renderers[multimodal] >= 0.1.11',  # 0.1.11"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A main that can be moved, on the remote or here alone.

    Attributes:
        where: the repository whose main moves.
    """

    where: Path
    demo: Demo
    pinctl: Pinctl
    git: Git

    def commit(self, message: str, *, conflicting: set[str], **changes: Any) -> str:
        """Commits on main, and makes sure that git alone could not merge the branch in just these paths."""
        tip = commit(self.where, "main", message, **changes)
        remote = self.demo.remote("prime-rl")
        self.git(remote, "fetch", "--quiet", self.where, f"{tip}:refs/tests/tip")
        assert conflicts(remote, "refs/tests/tip", SERVER_BRANCH) == conflicting
        self.git(remote, "update-ref", "-d", "refs/tests/tip")
        return tip

    def land(self) -> dict[str, Any]:
        """Lands, and returns the answer."""
        result = self.pinctl("land", "packed-generate", "--format", "json", cwd=self.demo.superproject)
        assert result.status == 0, result.stdout + result.stderr
        landing: dict[str, Any] = json.loads(result.stdout)
        return landing


@pytest.fixture(params=["remote", "local"])
def moved(request: pytest.FixtureRequest, demo: Demo, pinctl: Pinctl, git: Git) -> Moved:
    """A stack whose main is to move on the remote only, or here only."""
    where = demo.remote("prime-rl") if request.param == "remote" else demo.superproject
    return Moved(where=where, demo=demo, pinctl=pinctl, git=git)


def test_floors_that_everybody_edited_are_settled_by_the_plan(moved: Moved, demo: Demo, git: Git) -> None:
    root, configs = (text_at(demo.superproject, "main", path) for path in (ROOT_MANIFEST, CONFIGS_MANIFEST))
    theirs = replaced(root, (VERIFIERS, '    "verifiers[harbor]>=0.3.1",\n'), (RENDERERS, f"{RENDERERS} or so"))
    commit(demo.remote("prime-rl"), SERVER_BRANCH, "Raise a floor", files={ROOT_MANIFEST: theirs})
    files = {
        ROOT_MANIFEST: replaced(root, (VERIFIERS, '    "verifiers[harbor]>=0.3.2",\n')),
        CONFIGS_MANIFEST: replaced(configs, ('["verifiers>=0.3.0"', '["verifiers >= 0.3.2, <1"')),
    }

    tip = moved.commit("Raise floors", files=files, conflicting={ROOT_MANIFEST, "deps/verifiers", "pins.toml"})
    landing = moved.land()

    assert landing["parent"] == tip == git(demo.superproject, "rev-parse", f"{LANDING}^@")
    assert text_at(demo.superproject, LANDING, ROOT_MANIFEST) == replaced(
        files[ROOT_MANIFEST],
        (">=0.3.2", ">=0.4.0"),
        (RENDERERS, RENDERERS.replace("0.1.11'", "0.1.12'") + " or so"),
    )
    assert text_at(demo.superproject, LANDING, CONFIGS_MANIFEST) == replaced(
        files[CONFIGS_MANIFEST], ("verifiers >= 0.3.2, <1", "verifiers >= 0.4.0, <1"), (">=0.1.11", ">=0.1.12")
    )


def test_pins_that_main_has_moved_further_do_not_go_back(moved: Moved, demo: Demo, git: Git) -> None:
    tips = {name: git(demo.remote(name), "rev-parse", "main") for name in ("renderers", "verifiers")}
    squashes = {
        "renderers": by_subject(demo.remote("renderers"), "main", RENDERERS_SQUASH),
        "verifiers": by_subject(demo.remote("verifiers"), "main", VERIFIERS_SQUASH),
    }
    assert all(tips[name] != squashes[name] for name in tips)
    before = {name: git(demo.superproject, "rev-parse", f"main:deps/{name}") for name in tips}
    pins = replaced(
        text_at(demo.superproject, "main", "pins.toml"), *((before[name], tips[name]) for name in sorted(tips))
    )
    gitlinks = {f"deps/{name}": oid for name, oid in tips.items()}

    tip = moved.commit("Bump both", files={"pins.toml": pins}, gitlinks=gitlinks, conflicting={*gitlinks, "pins.toml"})
    landing = moved.land()

    assert (landing["parent"], landing["pins"]) == (tip, [])
    assert {name: git(demo.superproject, "rev-parse", f"{LANDING}:deps/{name}") for name in tips} == tips
    assert text_at(demo.superproject, LANDING, "pins.toml") == pins
    assert text_at(demo.superproject, LANDING, SERVING) == text_at(
        demo.superproject, f"origin/{SERVER_BRANCH}", SERVING
    )
    assert "verifiers[harbor]>=0.4.0" in text_at(demo.superproject, LANDING, ROOT_MANIFEST)
    message = git(demo.superproject, "log", "-1", "--format=%(trailers:only,key=Pin)", LANDING)
    assert message == ""


def test_a_pin_that_main_has_moved_not_far_enough_still_moves(moved: Moved, demo: Demo) -> None:
    between = by_subject(demo.remote("verifiers"), "main", "Turn a group's rewards into advantages")
    wanted = by_subject(demo.remote("verifiers"), "main", VERIFIERS_SQUASH)

    tip = moved.commit("Bump", gitlinks={"deps/verifiers": between}, conflicting={"deps/verifiers", "pins.toml"})
    landing = moved.land()

    assert landing["parent"] == tip
    (pin,) = (pin for pin in landing["pins"] if pin["component"] == "verifiers")
    assert (pin["from"], pin["to"]) == (between, wanted)
    assert f'commit = "{wanted}"\n' in text_at(demo.superproject, LANDING, "pins.toml")


def test_a_lock_and_a_pins_toml_that_everybody_edited_are_settled(moved: Moved, demo: Demo, git: Git) -> None:
    root, lock, pins = (text_at(demo.superproject, "main", path) for path in (ROOT_MANIFEST, "uv.lock", "pins.toml"))
    entry = '[[package]]\nname = "prime-rl"\nversion = "0.5.0"'
    assert lock.count(entry) == 1
    commit(
        demo.remote("prime-rl"),
        SERVER_BRANCH,
        "Lock something else",
        files={"uv.lock": lock.replace(entry, entry.replace("0.5.0", "0.5.0+theirs"))},
    )
    record = git(demo.superproject, "rev-parse", "main:deps/renderers")
    files = {
        ROOT_MANIFEST: replaced(root, ('version = "0.5.0"', 'version = "0.6.0"')),
        "uv.lock": lock.replace(entry, entry.replace("0.5.0", "0.6.0")),
        "pins.toml": replaced(pins, (f'commit = "{record}"\n', f'commit = "{record[:8]}" # by hand\n')) + "# End.\n",
    }

    tip = moved.commit("Release", files=files, conflicting={"deps/verifiers", "pins.toml", "uv.lock"})
    landing = moved.land()

    assert landing["parent"] == tip
    renderers, verifiers = (pin["to"] for pin in landing["pins"])
    old_verifiers = landing["pins"][1]["from"]
    assert text_at(demo.superproject, LANDING, "pins.toml") == replaced(
        files["pins.toml"], (f'"{record[:8]}" # by hand', f'"{renderers}" # by hand'), (old_verifiers, verifiers)
    )
    assert text_at(demo.superproject, LANDING, "uv.lock") == replaced(
        files["uv.lock"],
        ('{ name = "renderers", specifier = ">=0.1.11" }', '{ name = "renderers", specifier = ">=0.1.12" }'),
        ('{ name = "verifiers", specifier = ">=0.3.0" }', '{ name = "verifiers", specifier = ">=0.4.0" }'),
    )


def test_a_submodule_that_main_has_added_meanwhile_is_laid_out_and_kept(moved: Moved, demo: Demo, git: Git) -> None:
    url, commit_id = "../renderers.git", git(demo.remote("renderers"), "rev-parse", "main~1")
    section = f'[submodule "more"]\n\tpath = deps/more\n\turl = {url}\n\tbranch = main\n'
    modules = text_at(demo.superproject, "main", ".gitmodules") + section

    moved.commit(
        "Add a submodule",
        files={".gitmodules": modules},
        gitlinks={"deps/more": commit_id},
        conflicting={"deps/verifiers", "pins.toml"},
    )
    moved.land()

    assert git(demo.superproject, "rev-parse", f"{LANDING}:deps/more") == commit_id
    assert text_at(demo.superproject, LANDING, ".gitmodules") == modules


def test_a_main_that_has_gone_two_ways_is_not_decided_by_pinctl(demo: Demo, pinctl: Pinctl) -> None:
    there = commit(demo.remote("prime-rl"), "main", "There", files={"there": "there\n"})
    here = commit(demo.superproject, "main", "Here", files={"here": "here\n"})

    with unchanged(demo.superproject, demo.remote("prime-rl")):
        result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stdout) == (3, "")
    assert result.stderr == (
        f"error: main here ({here[:7]}) and on origin ({there[:7]}) have gone apart\n"
        "hint: Bring them together first: git pull --rebase origin main\n"
    )
