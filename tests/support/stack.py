"""Changes the repositories of an embedded stack, as other people do while the user looks away."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from support.git import output, run

RENDERERS_SQUASH = "Read packed completion logprobs (#174)"
VERIFIERS_SQUASH = "Decode packed sampling masks (#2778)"
SERVER_BRANCH = "perf/packed-generate-gc"
LANDING = "landing/packed-generate"
PUBLISHED = {f"ref refs/heads/{LANDING}", f"file .git/refs/heads/{LANDING}", f"file .git/logs/refs/heads/{LANDING}"}
"""What a landing changes in a snapshot of the user's clone."""
SERVING = "src/prime_rl/inference/vllm/serving_tokens.py"
ROOT_MANIFEST = "pyproject.toml"
CONFIGS_MANIFEST = "packages/prime-rl-configs/pyproject.toml"

_AUTHOR = ("Mara Lindqvist", "mara@prime.example")


def text_at(repository: Path, revision: str, path: str) -> str:
    """Returns the text of a file at a revision."""
    return output(repository, "cat-file", "blob", f"{revision}:{path}")


def by_subject(repository: Path, branch: str, subject: str) -> str:
    """Returns the one commit of a branch that has a subject."""
    lines = (line.split(" ", 1) for line in run(repository, "log", "--format=%H %s", branch).splitlines())
    (found,) = (commit for commit, its_subject in lines if its_subject == subject)
    return found


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """Returns a text with some of its parts replaced, each of which stands in it exactly once."""
    for old, new in pairs:
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in:\n{text}"
        text = text.replace(old, new)
    return text


def commit(
    repository: Path,
    branch: str,
    message: str,
    *,
    files: Mapping[str, str | None] | None = None,
    gitlinks: Mapping[str, str] | None = None,
    tree: str | None = None,
    parents: tuple[str, ...] | None = None,
    author: tuple[str, str] = _AUTHOR,
) -> str:
    """Makes a commit on a branch, with no checkout needed; one that has the branch checked out follows.

    Args:
        repository: bare, or a checkout without changes.
        branch: made where it is not there.
        message: subject and body.
        files: new contents by path; None removes the file.
        gitlinks: commits by path.
        tree: what to start from, instead of the first parent's tree.
        parents: instead of the branch's tip.
        author: name and address.

    Returns:
        The commit's id.
    """
    ref = f"refs/heads/{branch}"
    parents = (run(repository, "rev-parse", ref),) if parents is None else parents
    with TemporaryDirectory() as directory:
        env = {"GIT_INDEX_FILE": str(Path(directory, "index"))}
        run(repository, "read-tree", tree or f"{parents[0]}^{{tree}}", env=env)
        lines = [f"160000 {oid}\t{path}\n" for path, oid in (gitlinks or {}).items()]
        for path, contents in (files or {}).items():
            blob = "0" * 40 if contents is None else run(repository, "hash-object", "-w", "--stdin", stdin=contents)
            lines.append(f"{'0' if contents is None else '100644'} {blob}\t{path}\n")
        run(repository, "update-index", "--index-info", stdin="".join(lines), env=env)
        written = run(repository, "write-tree", env=env)
    options = [word for parent in parents for word in ("-p", parent)]
    who = {"GIT_AUTHOR_NAME": author[0], "GIT_AUTHOR_EMAIL": author[1]}
    made = run(repository, "commit-tree", written, *options, stdin=message, env=who)
    run(repository, "update-ref", ref, made)
    checked_out = run(repository, "rev-parse", "--symbolic-full-name", "HEAD") == ref
    if checked_out and run(repository, "rev-parse", "--is-bare-repository") == "false":
        run(repository, "reset", "--quiet", "--hard")
    return made


def conflicts(repository: Path, one: str, other: str) -> set[str]:
    """Returns the paths in which git itself cannot merge two commits."""
    command = ["git", "-C", str(repository), "merge-tree", "--write-tree", "--name-only", "--no-messages", one, other]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode in {0, 1}, ended.stderr
    return set(ended.stdout.splitlines()[1:])
