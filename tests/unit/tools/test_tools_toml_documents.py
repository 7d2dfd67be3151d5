"""Places and edits in TOML files of every layout: a value's bytes are the value's, and an edit touches no others."""

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pinctl.tools.toml.edit import replace_strings
from pinctl.tools.toml.source import KeyPath, TomlSource, read_toml

SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=60)

KEYS = (
    *("a", "b-1", "_x", "1", "3", "true", "inf", "nan", "1979-05-27", "-", "key"),
    *('"a b"', "'c.d'", '"é"', r'"\u0041x"', '""', "'#'", '"="', r'"q\"q"', "'[t]'"),
)
STRINGS = (
    *('""', "''", '"x"', "'x'", r'"a\"b\\"', "'a\"b\\'", '"# no comment"', "'[no.table]'", '"é €"', '"🦀"'),
    *('"""x"""', '"""\ntwo\nlines\n"""', "'''\nraw \\ '' two\n'''", '"""a ""quoted"" b"""', '"""joined \\\n   up"""'),
    *('"verifiers[harbor]>=0.3.0"', "'renderers >= 0.1 ; os_name == \"posix\"'"),
)
OTHERS = (
    *("0", "-17", "+1_000", "0xFF", "0o17", "0b1", "1.5", "-1e10", "6.02_2e+23", "inf", "-inf"),
    *("true", "false", "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "1979-05-27 07:32:00.5+02:00"),
)
COMMENTS = ("", "", "", " # comment", "\t# [no.table]", " # \"no\" = 'string'", " #é ]")


def meaning(key: str) -> str:
    (name,) = tomllib.loads(f"{key} = 0")
    return name


class Writer:
    """Writes a random document, whose layout is as odd as the language allows."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw

    def document(self) -> bytes:
        lines = [*self._pairs(2)]
        for index in range(self._one_of((0, 1, 2, 3))):
            name = self._one_of((f"t{index}", f"t{index}.{self._one_of(KEYS)}", f" t{index}\t. {self._one_of(KEYS)}"))
            if self._one_of((True, False)):
                lines += [f"[{name}]{self._comment()}", *self._pairs(2)]
            else:
                for _ in range(self._one_of((1, 2, 3))):
                    lines += [f"[[{name}]]{self._comment()}", *self._pairs(1)]
                    lines += [f"[{name}.sub]", *self._pairs(1)] if self._one_of((True, False)) else []
                    lines += [f"[[{name}.subs]]", *self._pairs(1)] * self._one_of((0, 1, 2))
            lines += ["", "  # between tables"] if self._one_of((True, False)) else []
        end: str = self._one_of(("", "\n", "\n\n"))
        text = "\n".join(lines) + end
        newline: str = self._one_of(("\n", "\r\n"))
        return text.replace("\n", newline).encode()

    def _one_of(self, options: tuple[Any, ...]) -> Any:
        return self._draw(st.sampled_from(options))

    def _comment(self) -> Any:
        return self._one_of(COMMENTS)

    def _pairs(self, depth: int) -> Iterator[str]:
        for key in self._keys():
            indent, space = self._one_of(("", "  ")), self._one_of(("", " ", "\t"))
            yield f"{indent}{key}{space}={space}{self._value(depth)}{self._comment()}"

    def _keys(self) -> Iterator[str]:
        seen: set[str] = set()
        for _ in range(self._one_of((0, 1, 2, 3))):
            key = self._one_of(KEYS)
            if meaning(key) not in seen and not meaning(key).startswith("t"):
                seen.add(meaning(key))
                yield key
                continue
            dotted = f"d{len(seen)}"
            seen.add(dotted)
            yield f"{dotted}.{key}"
            yield f"{dotted} . other . {key}"

    def _value(self, depth: int) -> str:
        kind = self._one_of(("string", "string", "other", "array", "table") if depth else ("string", "other"))
        match kind:
            case "array":
                return self._array(depth - 1)
            case "table":
                pairs = [f"{key} = {self._value(0)}" for key in self._keys()]
                return f"{{{self._one_of(('', ' '))}{', '.join(pairs)} }}"
            case "string":
                return str(self._one_of(STRINGS))
            case _:
                return str(self._one_of(OTHERS))

    def _array(self, depth: int) -> str:
        items = [self._value(depth) for _ in range(self._one_of((0, 1, 2, 3)))]
        match self._one_of(("line", "lines", "comma first")):
            case "line":
                return f"[{', '.join(items)}{',' if items else ''}]"
            case "lines":
                return (
                    "[ # first\n" + "".join(f"    {item},{self._comment()}\n  # next, with ]\n" for item in items) + "]"
                )
            case _:
                return "[\n    " + f"{self._comment()}\n  , ".join(items) + "\n]"


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    return Writer(draw).document()


def leaves(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value


def source_of(data: bytes) -> TomlSource:
    return read_toml(Path("document.toml"), data)


@SETTINGS
@given(documents())
def test_the_bytes_at_a_value_s_place_are_that_value(data: bytes) -> None:
    source = source_of(data)
    for path, value in leaves(source.values):
        place = source.places[path]
        literal = data[place.start : place.end]
        assert tomllib.loads(f"x = {literal.decode()}") == {"x": value}
        assert literal == literal.strip()
        assert place.line == data.count(b"\n", 0, place.start) + 1
        assert source.line(path) == place.line
        assert source.at(path) == value


@SETTINGS
@given(documents())
def test_every_place_leads_to_something_in_the_file(data: bytes) -> None:
    source = source_of(data)
    for path, place in source.places.items():
        assert source.at(path) is not None
        assert 0 <= place.start < place.end <= len(data)


@SETTINGS
@given(documents(), st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=20), st.data())
def test_replacing_a_string_changes_its_bytes_alone(data: bytes, text: str, choices: st.DataObject) -> None:
    source = source_of(data)
    strings = [path for path, value in leaves(source.values) if isinstance(value, str)]
    assume(strings)
    first, second = choices.draw(st.sampled_from(strings)), choices.draw(st.sampled_from(strings))
    place = source.places[first]
    edited = replace_strings(source, {first: text})
    before, after = data[: place.start], data[place.end :]
    assert edited.startswith(before)
    assert edited.endswith(after)
    literal = edited[len(before) : len(edited) - len(after)]
    assert tomllib.loads(f"x = {literal.decode()}") == {"x": text}
    assert dict(leaves(tomllib.loads(edited.decode()))) == {**dict(leaves(source.values)), first: text}
    # Several at once are the same as one after the other.
    both = {first: text, second: f"{text}!"}
    assert replace_strings(source, both) == replace_strings(source_of(edited), {second: f"{text}!"})
