"""Holds the helper that most other tests stand on to what it says: it sees whatever changes."""

from pathlib import Path

import pytest

from support import Demo, Git
from support.snapshot import difference, snapshot


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        (("branch", "new"), {"ref refs/heads/new", "file .git/refs/heads/new", "file .git/logs/refs/heads/new"}),
        (("tag", "new"), {"ref refs/tags/new", "file .git/refs/tags/new"}),
        (("symbolic-ref", "refs/new", "refs/heads/main"), {"ref refs/new", "file .git/refs/new"}),
        (("symbolic-ref", "HEAD", "refs/heads/new"), {"file .git/HEAD"}),
        (("config", "user.name", "Somebody"), {"file .git/config"}),
        (("rm", "--cached", "--quiet", "uv.lock"), {"file .git/index"}),
        (("fetch", "--quiet"), {"file .git/FETCH_HEAD"}),
        (("-C", "deps/renderers", "tag", "new"), {"file .git/modules/renderers/refs/tags/new"}),
        (
            ("-C", "deps/verifiers", "rm", "--cached", "--quiet", "README.md"),
            {"file .git/modules/verifiers/index"},
        ),
        (("hash-object", "-w", "uv.lock"), set()),
    ],
)
def test_a_snapshot_sees_what_git_changes(demo: Demo, git: Git, command: tuple[str, ...], changed: set[str]) -> None:
    before = snapshot(demo.superproject)

    git(demo.superproject, *command)

    assert difference(before, snapshot(demo.superproject)) == changed


def test_a_snapshot_sees_what_changes_in_the_work_tree(demo: Demo) -> None:
    before = snapshot(demo.superproject)

    (demo.superproject / "untracked").touch()
    (demo.superproject / "pins.toml").chmod(0o600)
    (demo.superproject / "deps/renderers/README.md").write_text("other\n")
    readme = demo.superproject / "README.md"
    readme.unlink()
    readme.symlink_to(Path("pins.toml"))

    changed = {"untracked", "pins.toml", "deps/renderers/README.md", "README.md"}
    assert difference(before, snapshot(demo.superproject)) == {f"file {path}" for path in changed}
