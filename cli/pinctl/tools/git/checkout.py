"""Lays out a commit's files in a directory of their own, with enough of a repository for tools that ask for tags."""

from pathlib import Path

from pinctl.model.oid import Oid
from pinctl.tools.git.command import run_git
from pinctl.tools.git.repository import Repository


def lay_out(repository: Repository, commit: Oid, directory: Path) -> None:
    """Writes the files of a commit, and makes the directory a repository with that commit checked out.

    The repository borrows the objects and has the tags, so that versions derived from tags come out as in a real
    checkout; nothing done in it reaches the lender. Contents that a partial clone lacks are fetched in one go.

    Args:
        repository: where the commit is.
        commit: what to lay out.
        directory: made if it is not there; must be empty.
    """
    directory.mkdir(parents=True, exist_ok=True)
    git_dir = directory / ".git"
    run_git(directory, "init", "--quiet")
    (git_dir / "objects" / "info" / "alternates").write_text(f"{repository.common_dir / 'objects'}\n")
    tags = repository.run("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags").text
    (git_dir / "packed-refs").write_text(f"{tags}\n" if tags else "")
    (git_dir / "HEAD").write_text(f"{commit}\n")
    # Through the lender, which knows how to fetch what it lacks.
    env = {"GIT_INDEX_FILE": str(git_dir / "index"), "GIT_WORK_TREE": str(directory)}
    repository.run("-c", "core.autocrlf=false", "-c", "core.bare=false", "read-tree", "-m", "-u", commit, env=env)
