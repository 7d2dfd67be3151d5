"""Edits TOML files so that only what must change does, and proves it by reading both versions back."""

import tomllib
from collections.abc import Mapping
from typing import Any

import tomlkit

from pinctl.errors import BadFileError, CouldNotFindOutError, Mistake
from pinctl.tools.toml.source import KeyPath, TomlSource, dotted


def replace_strings(source: TomlSource, replacements: Mapping[KeyPath, str]) -> bytes:
    """Returns a file with some of its strings replaced, byte for byte the same elsewhere.

    A string keeps its quotes where its new value can stand in them.

    Args:
        source: the file.
        replacements: new values by key path; each must be a string of the file now.

    Raises:
        CouldNotFindOutError: the result would differ elsewhere; nothing was written.
    """
    data = source.data
    for key_path in sorted(replacements, key=lambda path: source.places[path].start, reverse=True):
        place = source.places[key_path]
        literal = source.data[place.start : place.end]
        data = data[: place.start] + _rewritten(literal, replacements[key_path]) + data[place.end :]
    _verify(source, data, replacements)
    return data


def set_string(source: TomlSource, key_path: KeyPath, value: str) -> bytes:
    """Returns a file in which a key of an existing table has a string value, added at the table's end where it is new.

    Raises:
        BadFileError: there is no such table.
    """
    if source.at(key_path) is not None:
        return replace_strings(source, {key_path: value})
    data = _with_key(source, key_path, tomlkit.string(value).as_string())
    _verify(source, data, {key_path: value})
    return data


def append_string(source: TomlSource, key_path: KeyPath, value: str) -> bytes:
    """Returns a file in which an array of strings has one more at its end; the array is made where its table has none.

    Raises:
        BadFileError: there is no such table.
    """
    items = source.at(key_path)
    if not isinstance(items, list):
        data = _with_key(source, key_path, f"[{tomlkit.string(value).as_string()}]")
        _verify(source, data, {key_path: [value]})
        return data
    # tomlkit lays an array out as its author did. It gets nothing else of the file: some files are beyond it.
    place = source.places[key_path]
    document: Any = tomlkit.parse(b"array = " + source.data[place.start : place.end])
    document["array"].append(value)
    literal = tomlkit.dumps(document).removeprefix("array = ").encode()
    data = source.data[: place.start] + literal + source.data[place.end :]
    _verify(source, data, {key_path: [*items, value]})
    return data


def _with_key(source: TomlSource, key_path: KeyPath, literal: str) -> bytes:
    """Puts a new key at the end of its table, however the table is laid out.

    Raises:
        BadFileError: there is no such table.
    """
    table = key_path[:-1]
    inside = [
        place.end
        for path, place in source.places.items()
        if path[: len(table)] == table and path != table and path not in source.ends
    ]
    if table in source.ends:
        return _with_line(source.data, source.ends[table], f"{key_path[-1]} = {literal}")
    if table in source.places and source.data[source.places[table].start : source.places[table].start + 1] == b"{":
        at = max(inside, default=source.places[table].start + 1)
        pair = f", {key_path[-1]} = {literal}" if inside else f" {key_path[-1]} = {literal} "
        return source.data[:at] + pair.encode() + source.data[at:]
    if inside:
        # A table made by dotted keys: one more of them, below the header that they stand under.
        header = next((table[:length] for length in range(len(table), 0, -1) if table[:length] in source.ends), ())
        keys = ".".join(str(part) for part in key_path[len(header) :])
        return _with_line(source.data, max(inside), f"{keys} = {literal}")
    mistake = Mistake(key=dotted(key_path), line=source.line(table), message="cannot be added: there is no such table")
    raise BadFileError(source.path, (mistake,), hint=f"Do it by hand: add {key_path[-1]} = {literal}")


def _with_line(data: bytes, offset: int, text: str) -> bytes:
    """Puts a line behind the one that an offset is in, with that line's own ending.

    Comments right below that line stay with it, but for those that stand right above a table: these are the table's.
    """
    end = data.find(b"\n", offset)
    below = _behind_comments(data, end + 1) if end >= 0 else 0
    if below and not data[below:].lstrip(b" \t").startswith(b"["):
        end = below - 1
    if end < 0:
        ending = b"\r\n" if b"\r\n" in data else b"\n"
        return data + ending + text.encode()
    ending = b"\r\n" if data[end - 1 : end] == b"\r" else b"\n"
    return data[: end + 1] + text.encode() + ending + data[end + 1 :]


def _behind_comments(data: bytes, start: int) -> int:
    """Returns the offset behind the whole lines of comment that begin at an offset; 0 where there are none."""
    found = 0
    while data[start:].lstrip(b" \t").startswith(b"#") and (newline := data.find(b"\n", start)) >= 0:
        start = found = newline + 1
    return found


def _rewritten(literal: bytes, value: str) -> bytes:
    quote = literal[:1]
    is_simple = len(literal) < 3 or literal[:3] != quote * 3
    if is_simple and quote == b"'" and "'" not in value and value.isprintable():
        return b"'" + value.encode("utf-8") + b"'"
    return tomlkit.string(value).as_string().encode("utf-8")


def _verify(source: TomlSource, data: bytes, replacements: Mapping[KeyPath, Any]) -> None:
    expected = _copied(source.values)
    for key_path, value in replacements.items():
        container = expected
        for part in key_path[:-1]:
            container = container[part]
        container[key_path[-1]] = value
    _compare(source, data, expected, ", ".join(map(dotted, replacements)))


def _compare(source: TomlSource, data: bytes, expected: Any, what: str) -> None:
    try:
        edited = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CouldNotFindOutError(f"editing {source.path} would break it: {error}") from error
    if _comparable(edited) != _comparable(expected):
        raise CouldNotFindOutError(f"editing {source.path} would change more than {what}")


def _comparable(value: Any) -> Any:
    """Returns a value that can be compared: a float that is no number is not equal to itself."""
    if isinstance(value, Mapping):
        return {key: _comparable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    return repr(value)


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value
