"""Finds out how a commit stands to its branch: by ancestry and by content, never by version numbers."""

import re
from collections.abc import Mapping

from pinctl.model.oid import Oid
from pinctl.model.standing import Standing, StandingKind, Twin, TwinEvidence
from pinctl.tools.git.history import (
    LogEntry,
    ahead_behind,
    brought_by,
    changed_paths,
    combined_patch_id,
    contains,
    log,
    merge_base,
    names_pull,
    paths_by_commit,
)
from pinctl.tools.git.repository import Repository

_FORGE_REVERT = re.compile(r"^Reverts \S+#(\d+)\s*$", re.MULTILINE)
_REVERTED = re.compile(r"This reverts commit ([0-9a-f]{40}(?:[0-9a-f]{24})?)\b")


def find_standing(repository: Repository, commit: Oid, *, branch: str, tip: Oid, pull: int | None = None) -> Standing:
    """Finds out how a commit stands to a branch.

    Args:
        repository: has both histories.
        commit: the commit.
        branch: the branch's name.
        tip: the branch's tip.
        pull: the pull request that the commit is known to belong to, if any.

    Raises:
        CouldNotFindOutError: the history is cut off.
    """
    if commit == tip:
        # The usual answer for a bump, and nothing can have come after it.
        return Standing(kind=StandingKind.ON_BRANCH, branch=branch, behind=0, ahead=0)
    ahead, behind = ahead_behind(repository, commit=commit, tip=tip)
    if contains(repository, commit=tip, ancestor=commit):
        reverted = find_revert(repository, commit, tip=tip)
        kind = StandingKind.REVERTED if reverted else StandingKind.ON_BRANCH
        return Standing(kind=kind, branch=branch, behind=behind, ahead=0, reverted_by=reverted)
    twin = find_twin(repository, commit, tip=tip, pull=pull)
    reverted = find_revert(repository, twin.commit, tip=tip) if twin else None
    if reverted is not None:
        return Standing(
            kind=StandingKind.REVERTED, branch=branch, behind=behind, ahead=ahead, twin=twin, reverted_by=reverted
        )
    kind = StandingKind.SQUASH_TWIN if twin else StandingKind.AHEAD if behind == 0 else StandingKind.DIVERGED
    return Standing(kind=kind, branch=branch, behind=behind, ahead=ahead, twin=twin)


def find_twin(repository: Repository, head: Oid, *, tip: Oid, pull: int | None) -> Twin | None:
    """Looks on a branch for the commit that carries the content of a head that is not on it.

    Args:
        repository: has both histories.
        head: the tip of the branch that was, or was not, merged.
        tip: the tip of the branch to look on.
        pull: the number that the forge puts on its commits for this head, if it is known.

    Returns:
        The twin with what shows it; None where there is none.
    """
    base = merge_base(repository, head, tip)
    if base is None or base == head:
        return None
    candidates = tuple(reversed(log(repository, f"{base}..{tip}")))
    return (
        _same_tree(repository, head, candidates)
        or _same_patch(repository, base, head, tip)
        or _forge_number(candidates, pull)
    )


def find_revert(repository: Repository, commit: Oid, *, tip: Oid) -> Oid | None:
    """Looks for the commit that undid `commit` on a branch, or the merge that brought it, and was not undone itself."""
    later = log(repository, f"{commit}..{tip}", first_parent=False) if commit != tip else ()
    if not later:
        return None
    names = (commit, brought_by(repository, commit=commit, tip=tip))
    for name in dict.fromkeys(names):
        revert = _revert_of(log(repository, "-1", name)[0], later)
        if revert is not None:
            return revert
    return None


def find_reverted(repository: Repository, commit: Oid, *, tip: Oid) -> tuple[Oid, Oid] | None:
    """Looks for a change that a commit of a branch holds, and that the branch undid later.

    Returns:
        The change, which may be the commit itself, with the commit that undid it; None where there is none.
    """
    later = log(repository, f"{commit}..{tip}", first_parent=False) if commit != tip else ()
    after = {entry.commit for entry in later}
    for entry in later:
        for text in _REVERTED.findall(entry.body):
            change = Oid(text)
            held = change not in after and repository.kind_of(change) == "commit"
            if held and _revert_of(entry, later) is None and contains(repository, commit=commit, ancestor=change):
                return change, entry.commit
    return None


def _revert_of(undone: LogEntry, later: tuple[LogEntry, ...]) -> Oid | None:
    for entry in later:
        if _reverts(entry, undone) and _revert_of(entry, later) is None:
            return entry.commit
    return None


def _reverts(entry: LogEntry, undone: LogEntry) -> bool:
    """Tells whether a commit undoes another: git names the commit, a forge the pull request that brought it."""
    if f"This reverts commit {undone.commit}" in entry.body:
        return True
    named = _FORGE_REVERT.search(entry.body)
    return named is not None and names_pull(undone, int(named[1]))


def _same_tree(repository: Repository, head: Oid, candidates: tuple[LogEntry, ...]) -> Twin | None:
    tree = repository.tree_of(head)
    for entry in candidates:
        if entry.tree == tree:
            return Twin(commit=entry.commit, evidence=TwinEvidence.SAME_TREE)
    return None


def _same_patch(repository: Repository, base: Oid, head: Oid, tip: Oid) -> Twin | None:
    """Compares patches, of the whole branch and of its single commits, with those commits that change the same paths.

    The paths cost no contents, which a partial clone would have to fetch.
    """
    changed = paths_by_commit(repository, f"{base}..{tip}")
    commits = repository.run("rev-list", "--reverse", "--no-merges", f"{tip}..{head}").text.split()
    alone = len(commits) == 1 and repository.resolve(f"{head}^") == base
    twin = _copy_of(repository, changed, before=base, after=head)
    if twin is not None:
        evidence = TwinEvidence.SAME_PATCH if alone else TwinEvidence.SAME_COMBINED_PATCH
        return Twin(commit=twin, evidence=evidence)
    if alone:
        return None
    # Rebased: every single commit is there as a copy, and the last one's copy has it all.
    for commit in commits:
        before = repository.resolve(f"{commit}^")
        if before is not None and repository.tree_of(before) == repository.tree_of(commit):
            continue
        twin = _copy_of(repository, changed, before=before, after=commit) if before is not None else None
        if twin is None:
            return None
    return Twin(commit=twin, evidence=TwinEvidence.SAME_PATCH) if twin is not None else None


def _copy_of(repository: Repository, changed: Mapping[Oid, frozenset[str]], *, before: str, after: str) -> Oid | None:
    """Returns the first of some commits that changes what lies between two others, and nothing else."""
    paths = frozenset(changed_paths(repository, before=before, after=after))
    if not paths:
        # Nothing is in everything.
        return None
    candidates = [commit for commit, its_paths in changed.items() if its_paths == paths]
    patch = combined_patch_id(repository, before=before, after=after) if candidates else None
    for commit in reversed(candidates):
        if combined_patch_id(repository, before=f"{commit}^1", after=commit) == patch:
            return commit
    return None


def _forge_number(candidates: tuple[LogEntry, ...], pull: int | None) -> Twin | None:
    if pull is None:
        return None
    for entry in candidates:
        if names_pull(entry, pull):
            merged = entry.subject.startswith("Merge pull request")
            evidence = TwinEvidence.MERGE_SUBJECT if merged else TwinEvidence.FORGE_NUMBER
            return Twin(commit=entry.commit, evidence=evidence)
    return None
