"""Reads TOML with the place of everything in it, and names the line where it cannot."""

from pathlib import Path

import pytest

from pinctl.errors import BadFileError, ExitStatus, Mistake
from pinctl.tools.toml.source import KeyPath, Place, TomlSource, dotted, read_toml

FILE = Path("pins.toml")

TEXT = b"""\
# a file
version = 1
name . inner = "dotted"  # comment
name.other = 'second'

[components."a.b"]
pin = { gitlink = "deps/a", nested = { x = [1, "two"] } }

[[changes]]
id = "one"
after = [
    "x",  # first
    # between
    "y",
]

[[changes]]
id = "two"

[[changes.notes]]
text = \"\"\"
long\"\"\"

[changes.more]
deep.er = true
"""


def source_of(data: bytes) -> TomlSource:
    return read_toml(FILE, data)


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        (("version",), b"1", 2),
        (("name", "inner"), b'"dotted"', 3),
        (("name", "other"), b"'second'", 4),
        (("components", "a.b"), b'components."a.b"', 6),
        (("components", "a.b", "pin"), b'{ gitlink = "deps/a", nested = { x = [1, "two"] } }', 7),
        (("components", "a.b", "pin", "gitlink"), b'"deps/a"', 7),
        (("components", "a.b", "pin", "nested", "x", 0), b"1", 7),
        (("components", "a.b", "pin", "nested", "x", 1), b'"two"', 7),
        (("changes", 0), b"changes", 9),
        (("changes", 0, "id"), b'"one"', 10),
        (("changes", 0, "after", 0), b'"x"', 12),
        (("changes", 0, "after", 1), b'"y"', 14),
        (("changes", 1), b"changes", 17),
        (("changes", 1, "id"), b'"two"', 18),
        (("changes", 1, "notes", 0), b"changes.notes", 20),
        (("changes", 1, "notes", 0, "text"), b'"""\nlong"""', 21),
        (("changes", 1, "more"), b"changes.more", 24),
        (("changes", 1, "more", "deep"), b"deep.er", 25),
        (("changes", 1, "more", "deep", "er"), b"true", 25),
    ],
)
def test_a_place_is_where_the_value_stands(path: KeyPath, text: bytes, line: int) -> None:
    start = TEXT.index(text, TEXT.index(b"\n[components") if line > 5 else 0)
    place = source_of(TEXT).places[path]
    assert (TEXT[place.start : place.end], place.line) == (text, line)
    if TEXT.count(text) == 1:
        assert place == Place(start=start, end=start + len(text), line=line)


def test_a_table_made_by_dotted_keys_stands_where_its_first_key_does() -> None:
    source = source_of(b'name.inner = "first"\nother = 1\nname.outer = "second"\n')
    assert source.places[("name",)] == Place(start=0, end=10, line=1)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("components", "a.b", "pin", "gone"), 7),
        (("components", "a.b", "gone", "gone"), 6),
        (("changes", 1, "gone"), 17),
        (("changes", 0, "after", 7), 11),
        (("gone",), None),
        (("components", "gone"), 6),
        ((), None),
    ],
)
def test_the_line_of_what_is_not_there_is_that_of_what_should_hold_it(path: KeyPath, line: int | None) -> None:
    assert source_of(TEXT).line(path) == line


@pytest.mark.parametrize(
    "path", [("gone",), ("version", "x"), ("changes", 5), ("changes", "id"), ("changes", 0, "after", 9), ("version", 0)]
)
def test_there_is_nothing_at_a_path_that_leads_nowhere(path: KeyPath) -> None:
    assert source_of(TEXT).at(path) is None


def test_places_are_the_same_with_the_line_ends_of_windows() -> None:
    crlf = source_of(TEXT.replace(b"\n", b"\r\n"))
    unix = source_of(TEXT)
    assert {path: place.line for path, place in crlf.places.items()} == {
        path: place.line for path, place in unix.places.items()
    }
    assert crlf.values == unix.values
    for path, place in unix.places.items():
        text = crlf.data[crlf.places[path].start : crlf.places[path].end]
        assert text.replace(b"\r\n", b"\n") == TEXT[place.start : place.end]


def test_places_count_bytes_not_characters() -> None:
    data = '"ключ" = "🦀é" # ü\nplain = "x"\n'.encode()
    source = source_of(data)
    place = source.places[("ключ",)]
    assert data[place.start : place.end] == '"🦀é"'.encode()
    assert source.places[("plain",)].line == 2


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("components",), "components"),
        (("changes", 1, "pins"), "changes[1].pins"),
        (("a", 0, 1, "b"), "a[0][1].b"),
        (("contract", "clients", "renderers"), "contract.clients.renderers"),
    ],
)
def test_a_key_path_is_written_as_people_do(path: KeyPath, text: str) -> None:
    assert dotted(path) == text


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b'a = 1\nb = "x\nc = 2\n', 2, "is no TOML: Illegal character '\\n'"),
        (b"a = 1\n\nb == 2\n", 3, "is no TOML: Invalid value"),
        (b"a = 1\r\n[t]\r\n[t]\r\n", 3, "is no TOML: Cannot declare ('t',) twice"),
        (b"a = 1\na = 2\n", 2, "is no TOML: Cannot overwrite a value"),
        (b"a = 2026-13-45\n", 1, "is no TOML: Expected newline or end of document after a statement"),
        (b"\n\na = \xff\n", 3, "is not UTF-8"),
        (b"a = 1\nb = '\xc3'\n", 2, "is not UTF-8"),
        (b"\xef\xbb\xbfa = 1\n", 1, "begins with a byte order mark, which TOML does not allow"),
        (b"a = 1\nb = [1,\n\n", 2, "is no TOML: Invalid value"),
        (b"a = 1\nb = ", 2, "is no TOML: Invalid value"),
    ],
)
def test_what_is_no_toml_is_a_mistake_on_its_line(data: bytes, line: int, message: str) -> None:
    with pytest.raises(BadFileError) as caught:
        source_of(data)
    assert caught.value.mistakes == (Mistake(key="", line=line, message=message),)
    assert caught.value.message == f"pins.toml:{line}: {message}"
    assert caught.value.exit_status is ExitStatus.BAD_INPUT


@pytest.mark.parametrize(
    "data",
    [b"a = " + b"[" * 20_000 + b"]" * 20_000, b"a = " + b"9" * 5_000, b"a = " + b"{a=" * 5_000 + b"1" + b"}" * 5_000],
    ids=["deep arrays", "long number", "deep tables"],
)
def test_what_is_more_than_python_can_hold_is_a_mistake_and_no_crash(data: bytes) -> None:
    with pytest.raises(BadFileError) as caught:
        source_of(data)
    assert [mistake.key for mistake in caught.value.mistakes] == [""]


def test_a_byte_order_mark_comes_with_the_way_out() -> None:
    with pytest.raises(BadFileError) as caught:
        source_of(b"\xef\xbb\xbfa = 1\n")
    assert caught.value.hint == "Save it as UTF-8 without a byte order mark."


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadFileError) as caught:
        read_toml(tmp_path / "pins.toml")
    assert caught.value.message == f"{tmp_path / 'pins.toml'}: No such file or directory"


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadFileError) as caught:
        read_toml(tmp_path)
    assert caught.value.message == f"{tmp_path}: Is a directory"


def test_a_file_is_read_where_no_bytes_are_given(tmp_path: Path) -> None:
    (tmp_path / "pins.toml").write_bytes(b'a = "x"\r\n')
    source = read_toml(tmp_path / "pins.toml")
    assert (source.path, source.data, source.values) == (tmp_path / "pins.toml", b'a = "x"\r\n', {"a": "x"})
    assert source.places == {("a",): Place(start=4, end=7, line=1)}


def test_an_empty_file_has_nothing_in_it() -> None:
    source = source_of(b"")
    assert (source.path, source.data, source.values, source.places) == (FILE, b"", {}, {})
