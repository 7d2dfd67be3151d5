"""Edits TOML files so that only what must change does, and proves it by reading both versions back."""

import tomllib
from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from pinctl.errors import BadFileError, CouldNotFindOutError, Mistake
from pinctl.tools.toml_source import KeyPath, TomlSource, dotted


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
        BadFileError: the table is laid out in a way that the editor cannot read.
    """
    if source.at(key_path) is not None:
        return replace_strings(source, {key_path: value})
    table = key_path[:-1]
    literal = tomlkit.string(value).as_string()
    inside = [
        place.end
        for path, place in source.places.items()
        if path[: len(table)] == table and path != table and path not in source.ends
    ]
    if table in source.ends:
        data = _with_line(source.data, source.ends[table], f"{key_path[-1]} = {literal}")
    elif table in source.places and source.data[source.places[table].start : source.places[table].start + 1] == b"{":
        at = max(inside, default=source.places[table].start + 1)
        pair = f", {key_path[-1]} = {literal}" if inside else f" {key_path[-1]} = {literal} "
        data = source.data[:at] + pair.encode() + source.data[at:]
    elif inside:
        # A table made by dotted keys: one more of them, below the header that they stand under.
        header = next((table[:length] for length in range(len(table), 0, -1) if table[:length] in source.ends), ())
        keys = ".".join(str(part) for part in key_path[len(header) :])
        data = _with_line(source.data, max(inside), f"{keys} = {literal}")
    else:
        words = "cannot be added: there is no such table"
        mistake = Mistake(key=dotted(key_path), line=source.line(table), message=words)
        raise BadFileError(source.path, (mistake,), hint=f"Do it by hand: add {key_path[-1]} = {literal}")
    _verify(source, data, {key_path: value})
    return data


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


def append_string(source: TomlSource, key_path: KeyPath, value: str) -> bytes:
    """Returns a file in which an array of strings has one more at its end; the array is made where its table has none.

    Raises:
        BadFileError: the table is not there, or laid out in a way that the editor cannot read.
    """
    items = source.at(key_path)
    try:
        document = tomlkit.parse(source.data)
        table: Any = document
        for part in key_path[:-1]:
            table = table[part]
        if isinstance(items, list):
            table[key_path[-1]].append(value)
        else:
            table.add(key_path[-1], [value])
        data = tomlkit.dumps(document).encode("utf-8")
    except (TOMLKitError, KeyError) as error:
        raise _cannot_add(source, key_path, f'add "{value}" to {dotted(key_path)}', error) from error
    expected = _copied(source.values)
    container = expected
    for part in key_path[:-1]:
        container = container[part]
    container[key_path[-1]] = [*items, value] if isinstance(items, list) else [value]
    _compare(source, data, expected, dotted(key_path))
    return data


def _cannot_add(source: TomlSource, key_path: KeyPath, by_hand: str, error: Exception) -> BadFileError:
    mistake = Mistake(key=dotted(key_path), line=source.line(key_path), message=f"cannot be added: {error}")
    return BadFileError(source.path, (mistake,), hint=f"Do it by hand: {by_hand}")


def _rewritten(literal: bytes, value: str) -> bytes:
    quote = literal[:1]
    is_simple = len(literal) < 3 or literal[:3] != quote * 3
    if is_simple and quote == b"'" and "'" not in value and value.isprintable():
        return b"'" + value.encode("utf-8") + b"'"
    return tomlkit.string(value).as_string().encode("utf-8")


def _verify(source: TomlSource, data: bytes, replacements: Mapping[KeyPath, str]) -> None:
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
