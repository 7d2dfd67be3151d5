"""Writes a repository's history as the stream that `git fast-import` reads."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from pinctl.demo.commits import Commit, Person, Repository

HERE = Path(__file__).parent

_COMMIT_ID = re.compile(rb"@\{([\w-]+)/([\w-]+)\}")


def write_stream(repository: Repository, ids: Mapping[tuple[str, str], str]) -> bytes:
    """Writes a history, to be imported into an empty repository.

    Args:
        repository: the commits, each after its parent.
        ids: the commit ids of the components, by component and commit name; they stand in gitlinks, and in files
            where `@{component/commit}` is written.

    Returns:
        The stream. Importing it prints the commit ids, one a line, in the order of the commits.
    """
    marks = {commit.name: mark for mark, commit in enumerate(repository.commits, start=1)}
    lines = [b"feature done"]
    for commit in repository.commits:
        lines += _commit(repository, commit, marks, ids)
    lines += [b"get-mark :%d" % mark for mark in marks.values()]
    return b"\n".join([*lines, b"done", b""])


def _commit(
    repository: Repository, commit: Commit, marks: Mapping[str, int], ids: Mapping[tuple[str, str], str]
) -> Iterator[bytes]:
    mark = marks[commit.name]
    signature = _signature(commit.author, commit.date)
    message = f"{commit.subject}\n\n{commit.body}" if commit.body else commit.subject
    yield f"commit {commit.refs[0]}".encode()
    yield b"mark :%d" % mark
    yield b"author " + signature
    yield b"committer " + signature
    yield _data(f"{message}\n".encode())
    if commit.parent is not None:
        yield b"from :%d" % marks[commit.parent]
    for path, content in sorted(_files(repository, commit).items()):
        yield f"M 100644 inline {path}".encode()
        yield _data(_fill_in(content, ids))
    for path, pinned in commit.gitlinks.items():
        yield f"M 160000 {ids[pinned]} {path}".encode()
    for ref in commit.refs[1:]:
        yield f"reset {ref}".encode()
        yield b"from :%d" % mark
    for tag in commit.tags:
        if tag.message is None:
            yield f"reset refs/tags/{tag.name}".encode()
            yield b"from :%d" % mark
        else:
            yield f"tag {tag.name}".encode()
            yield b"from :%d" % mark
            yield b"tagger " + signature
            yield _data(f"{tag.message}\n".encode())


def _files(repository: Repository, commit: Commit) -> dict[str, bytes]:
    sources = {path: HERE / source for path, source in commit.shared.items()}
    for name in commit.squashes or (commit.name,):
        top = HERE / "stack" / repository.name / name
        found = {path.relative_to(top): path for path in top.rglob("*") if path.is_file()}
        sources |= {inner.as_posix(): path for inner, path in found.items() if not _left_by_a_tool(inner)}
    return {path: source.read_bytes() for path, source in sources.items()}


def _left_by_a_tool(path: Path) -> bool:
    # Installers compile what they install and linters keep caches, both of them beside the files.
    return any(part == "__pycache__" or part.startswith(".") for part in path.parent.parts)


def _fill_in(content: bytes, ids: Mapping[tuple[str, str], str]) -> bytes:
    return _COMMIT_ID.sub(lambda found: ids[found[1].decode(), found[2].decode()].encode(), content)


def _signature(person: Person, date: str) -> bytes:
    moment = datetime.fromisoformat(date)
    return f"{person.name} <{person.email}> {int(moment.timestamp())} {moment:%z}".encode()


def _data(content: bytes) -> bytes:
    return b"data %d\n" % len(content) + content
