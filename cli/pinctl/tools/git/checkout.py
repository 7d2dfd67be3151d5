"""Lays out a commit's files in a directory of their own, with enough of a repository for tools that ask for tags."""

import os
import shutil
from pathlib import Path

from pinctl.model.oid import Oid
from pinctl.tools.git.command import run_git
from pinctl.tools.git.repository import Repository

SHA1_LENGTH = 40
# What the lender has set for its own checkout.
_PLAIN = (
    "-c", "core.autocrlf=false",
    "-c", "core.bare=false",
    "-c", "core.sparseCheckout=false",
    "-c", "core.splitIndex=false",
    "-c", "core.untrackedCache=false",
    "-c", "core.fsmonitor=false",
    "-c", f"core.hooksPath={os.devnull}",
)  # fmt: skip


def lay_out(repository: Repository, commit: Oid, directory: Path, *, only: tuple[str, ...] = ()) -> None:
    """Writes the files of a commit, and makes the directory a repository with that commit checked out.

    The repository borrows the objects and has the tags, so that versions derived from tags come out as in a real
    checkout; nothing done in it reaches the lender. Contents that a partial clone lacks are fetched in one go.

    Args:
        repository: where the commit is.
        commit: what to lay out.
        directory: made if it is not there; must be empty.
        only: the files at the top to write, and no others; none means all. git takes the others for unchanged.
    """
    directory.mkdir(parents=True, exist_ok=True)
    git_dir = directory / ".git"
    object_format = "sha1" if len(commit) == SHA1_LENGTH else "sha256"
    # Without a template: neither git's sample hooks nor what the user puts into new repositories belongs here.
    run_git(directory, "init", "--quiet", "--template=", f"--object-format={object_format}")
    (git_dir / "objects" / "info" / "alternates").write_text(f"{_quoted(repository.common_dir / 'objects')}\n")
    shallow = repository.common_dir / "shallow"
    if shallow.exists():
        shutil.copyfile(shallow, git_dir / "shallow")
    tags = repository.run("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags").text
    (git_dir / "packed-refs").write_bytes(os.fsencode(f"{tags}\n") if tags else b"")
    (git_dir / "HEAD").write_text(f"{commit}\n")
    if only:
        _lay_out_some(repository, commit, directory, only)
        return
    # Through the lender, which knows how to fetch what it lacks.
    env = {"GIT_INDEX_FILE": str(git_dir / "index"), "GIT_WORK_TREE": str(directory)}
    repository.run(*_PLAIN, "read-tree", "-m", "-u", commit, env=env)


def _lay_out_some(repository: Repository, commit: Oid, directory: Path, names: tuple[str, ...]) -> None:
    for name in names:
        # Fetched by the lender now, for the borrower cannot fetch.
        repository.read(commit, name)
    patterns = directory / ".git" / "info" / "sparse-checkout"
    patterns.parent.mkdir(exist_ok=True)
    patterns.write_text("".join(f"/{name}\n" for name in names))
    run_git(directory, "config", "core.sparseCheckout", "true")
    run_git(directory, "-c", "core.autocrlf=false", "read-tree", "-m", "-u", commit)


def _quoted(path: Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
