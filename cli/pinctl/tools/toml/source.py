"""Reads a TOML file together with the place of every key and value in it.

The values are tomllib's, which knows the whole language; the places are those of tree-sitter's grammar, so that a
mistake can be shown on its line and a value can be replaced without touching a byte beside it.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import tree_sitter
import tree_sitter_toml

from pinctl.errors import BadFileError, Mistake

KeyPath = tuple[str | int, ...]
"""Keys and array indices from the top of the file."""

_BOM = b"\xef\xbb\xbf"
_KEYS = frozenset({"bare_key", "quoted_key", "dotted_key"})
_KEPT = 64
"""Files that are kept as they were read: those of a superproject are read for one question after another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a value stands in its file.

    Attributes:
        start: offset of its first byte.
        end: offset behind its last byte.
        line: counted from 1.
    """

    start: int
    end: int
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlSource:
    """A TOML file: bytes, values and places.

    Attributes:
        path: the file, for messages.
        places: by key path; of tables, where their header or their first key stands.
        ends: by the key path of a table with a header, the offset behind its last key.
    """

    path: Path
    data: bytes
    values: Mapping[str, Any]
    places: Mapping[KeyPath, Place]
    ends: Mapping[KeyPath, int] = field(default_factory=dict)

    def line(self, key_path: KeyPath) -> int | None:
        """Returns the line of a key path, or of the nearest part of it that is in the file."""
        for length in range(len(key_path), 0, -1):
            place = self.places.get(key_path[:length])
            if place is not None:
                return place.line
        return None

    def at(self, key_path: KeyPath) -> Any:
        """Returns the value at a key path; None where there is none."""
        value: Any = self.values
        for part in key_path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return None
        return value


def read_toml(path: Path, data: bytes | None = None) -> TomlSource:
    """Reads a TOML file.

    Args:
        path: the file, or its name for messages where `data` is given.
        data: its bytes, where they come from elsewhere.

    Raises:
        BadFileError: it is not there, or is no TOML.
    """
    if data is None:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise BadFileError(path, (Mistake(key="", line=None, message=error.strerror or str(error)),)) from error
    if data.startswith(_BOM):
        mistake = Mistake(key="", line=1, message="begins with a byte order mark, which TOML does not allow")
        raise BadFileError(path, (mistake,), hint="Save it as UTF-8 without a byte order mark.")
    try:
        values = _values(data)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadFileError(path, (Mistake(key="", line=line, message="is not UTF-8"),)) from error
    except tomllib.TOMLDecodeError as error:
        raise BadFileError(path, (_syntax_mistake(str(error), data),)) from error
    except (RecursionError, ValueError) as error:
        mistake = Mistake(key="", line=None, message=f"holds more than Python can: {error}")
        raise BadFileError(path, (mistake,)) from error
    places, ends = _all_places(data)
    return TomlSource(path=path, data=data, values=values, places=places, ends=ends)


@lru_cache(maxsize=_KEPT)
def _values(data: bytes) -> Mapping[str, Any]:
    return tomllib.loads(data.decode("utf-8"))


@lru_cache(maxsize=_KEPT)
def _all_places(data: bytes) -> tuple[Mapping[KeyPath, Place], Mapping[KeyPath, int]]:
    places: dict[KeyPath, Place] = {}
    ends: dict[KeyPath, int] = {}
    for key_path, place in _places(data, ends):
        # The first one counts: a table that is mentioned again further down stands where it began.
        places.setdefault(key_path, place)
    return places, ends


def dotted(key_path: KeyPath) -> str:
    """Writes a key path as people do: `changes[1].pins`."""
    text = ""
    for part in key_path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _syntax_mistake(message: str, data: bytes) -> Mistake:
    """Takes tomllib's message apart: `Expected '=' (at line 3, column 5)`, or `(at end of document)`."""
    text, _, place = message.rpartition(" (at ")
    number = place.removeprefix("line ").partition(",")[0]
    line = int(number) if number.isdigit() else data.rstrip().count(b"\n") + 1
    return Mistake(key="", line=line, message=f"is no TOML: {text or message}")


def _places(data: bytes, ends: dict[KeyPath, int]) -> Iterator[tuple[KeyPath, Place]]:
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language()))
    elements: dict[KeyPath, int] = {}
    for node in parser.parse(data).root_node.named_children:
        match node.type:
            case "pair":
                yield from _pair(node, ())
            case "table" | "table_array_element":
                header, *rest = [child for child in node.named_children if child.type != "comment"]
                path = _resolved(_keys(header), elements)
                if node.type == "table_array_element":
                    elements[path] = elements.get(path, -1) + 1
                    path = (*path, elements[path])
                for length in range(1, len(path) + 1):
                    yield path[:length], _place(header)
                ends[path] = rest[-1].end_byte if rest else data.index(b"]", header.end_byte) + 1
                for child in rest:
                    yield from _pair(child, path)
            case _:
                pass


def _resolved(keys: tuple[str, ...], elements: Mapping[KeyPath, int]) -> KeyPath:
    """Puts the index of the newest element behind each array of tables that the keys pass through."""
    path: KeyPath = ()
    for number, key in enumerate(keys):
        path = (*path, key)
        if path in elements and number < len(keys) - 1:
            path = (*path, elements[path])
    return path


def _pair(node: tree_sitter.Node, table: KeyPath) -> Iterator[tuple[KeyPath, Place]]:
    parts = [child for child in node.named_children if child.type != "comment"]
    if len(parts) < 2 or parts[0].type not in _KEYS:
        return
    keys = _keys(parts[0])
    for length in range(1, len(keys)):
        yield (*table, *keys[:length]), _place(parts[0])
    yield from _value(parts[1], (*table, *keys))


def _value(node: tree_sitter.Node, path: KeyPath) -> Iterator[tuple[KeyPath, Place]]:
    yield path, _place(node)
    children = [child for child in node.named_children if child.type != "comment"]
    if node.type == "array":
        for index, child in enumerate(children):
            yield from _value(child, (*path, index))
    elif node.type == "inline_table":
        for child in children:
            yield from _pair(child, path)


def _keys(node: tree_sitter.Node) -> tuple[str, ...]:
    if node.type == "dotted_key":
        return tuple(key for child in node.named_children for key in _keys(child))
    text = (node.text or b"").decode("utf-8", "replace")
    if node.type == "quoted_key":
        (key,) = tomllib.loads(f"{text} = 0")
        return (key,)
    return (text,)


def _place(node: tree_sitter.Node) -> Place:
    return Place(start=node.start_byte, end=node.end_byte, line=node.start_point[0] + 1)
