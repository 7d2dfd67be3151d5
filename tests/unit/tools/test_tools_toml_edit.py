"""Edits of TOML files: the bytes that must change do, and every other byte is the one that was there."""

import tomllib
from pathlib import Path

import pytest

from pinctl.errors import BadFileError
from pinctl.tools.toml.edit import replace_strings, set_string
from pinctl.tools.toml.source import KeyPath, TomlSource, read_toml

FILE = Path("pyproject.toml")
FLOOR: KeyPath = ("project", "dependencies", 0)


def source_of(text: str) -> TomlSource:
    return read_toml(FILE, text.encode())


OUT_OF_ORDER = """\
[tool.ruff]
line-length = 120
[tool.ruff.lint.a]
x = 1
[tool.ruff.lint]
y = 1
[[tool.poetry.source]]
name = "pypi"
[tool.ruff.lint.b]
z = 1
[project]
dependencies = ["lib>=0.1"]
[tool.ruff.format]
quote-style = "double"
"""
LAYOUTS = {
    "plain": '[project]\ndependencies = ["lib>=0.1"]\n',
    "out of order": OUT_OF_ORDER,
    "crlf": '[project]\r\ndependencies = [\r\n    "lib>=0.1",\r\n]\r\n',
    "mixed line ends": '[project]\r\nname = "x"\ndependencies = [\n    "lib>=0.1",\r\n]\n\r\n',
    "no final newline": '[project]\ndependencies = ["lib>=0.1"]',
    "comma first": (
        '[project]\ndependencies = [ # , ]\n      "lib>=0.1"\n    , "other" # "lib>=0.1"\n    , "third"\n    ]\n'
    ),
    "comments": (
        '[project] # one\ndependencies = [ # two\n    # three, about lib\n    "lib>=0.1", # four\n'
        "    # five, about other\n    'other', # six\n    # seven\n] # eight\n# nine"
    ),
    "dotted": (
        '[tool.ruff]\nlint.extend-select = ["A"]\nexclude = []\nlint.ignore = []\n'
        '[project]\ndependencies = ["lib>=0.1"]\n'
    ),
    "inline table": 'project = { name = "x", dependencies = ["lib>=0.1"] } # end\n',
    "dotted keys": 'project . "dependencies" = ["lib>=0.1" , ]\nproject.name = "lib>=0.1"\n',
    "trailing blanks": '[project]   \ndependencies\t=\t[  "lib>=0.1"\t ,  ]   \n\n\n',
    "not ascii": '# é🦀\n[project]\nname = "ü"\ndependencies = ["lib>=0.1"] # 🦀\n',
}


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_a_string_is_replaced_and_nothing_beside_it(text: str) -> None:
    edited = replace_strings(source_of(text), {FLOOR: "lib>=0.2"})
    assert edited == text.replace('"lib>=0.1"', '"lib>=0.2"', 1).encode()


@pytest.mark.parametrize(
    ("literal", "value", "expected"),
    [
        ("'lib>=0.1'", "lib>=0.2", "'lib>=0.2'"),
        ("'lib>=0.1'", "lib>=0.2; os_name == 'posix'", "\"lib>=0.2; os_name == 'posix'\""),
        ("'lib>=0.1'", 'lib>=0.2; os_name == "posix"', "'lib>=0.2; os_name == \"posix\"'"),
        ("'lib>=0.1'", "lib\\x", "'lib\\x'"),
        ('"lib>=0.1"', "lib\\x", '"lib\\\\x"'),
        ('"lib>=0.1"', 'lib; os_name == "posix"', '"lib; os_name == \\"posix\\""'),
        ('"lib>=0.1"', "é🦀", '"é🦀"'),
        ("'lib>=0.1'", "é🦀", "'é🦀'"),
        ("'lib>=0.1'", "", "''"),
        ('""', "x", '"x"'),
        ("''", "x", "'x'"),
        ("'lib>=0.1'", "two\nlines", '"two\\nlines"'),
        ("'lib>=0.1'", "bell\x07", '"bell\\u0007"'),
        ('"lib>=0.1"', "two\nlines", '"two\\nlines"'),
        ('"""lib\n>=0.1"""', "lib>=0.2", '"lib>=0.2"'),
        ("'''lib>=0.1'''", "lib>=0.2", '"lib>=0.2"'),
    ],
)
def test_a_string_keeps_its_quotes_where_the_value_can_stand_in_them(literal: str, value: str, expected: str) -> None:
    edited = replace_strings(source_of(f"a = [{literal}, 1] # {literal[0]}"), {("a", 0): value})
    assert edited.decode() == f"a = [{expected}, 1] # {literal[0]}"


def test_several_strings_are_replaced_at_once() -> None:
    text = "a = ['1', \"22\", '3']\n[t]\nb = '4' # '4'\n"
    edited = replace_strings(source_of(text), {("t", "b"): "long", ("a", 2): "", ("a", 0): "first"})
    assert edited.decode() == "a = ['first', \"22\", '']\n[t]\nb = 'long' # '4'\n"


def test_replacing_by_the_same_value_changes_nothing() -> None:
    for text in LAYOUTS.values():
        source = source_of(text)
        assert replace_strings(source, {FLOOR: "lib>=0.1"}) == source.data
        assert replace_strings(source, {}) == source.data


def test_a_file_with_a_value_that_equals_nothing_can_be_edited() -> None:
    assert replace_strings(source_of("x = nan\na = '1'\n"), {("a",): "2"}) == b"x = nan\na = '2'\n"


RECORD: KeyPath = ("components", "verifiers", "commit")


@pytest.mark.parametrize("text", ["commit = 'aaa' # kept\n", 'commit  =  "aaa"\n', 'commit = """aaa"""\n'])
def test_a_key_that_is_there_gets_the_value_in_its_place(text: str) -> None:
    head = "[components.verifiers]\npin = 1\n"
    edited = set_string(source_of(f"{head}{text}tags = 'v*'\n"), RECORD, "bbb").decode()
    assert edited.startswith(head)
    assert edited.endswith("tags = 'v*'\n")
    assert tomllib.loads(edited)["components"]["verifiers"] == {"pin": 1, "commit": "bbb", "tags": "v*"}
    assert ("# kept" in edited) == ("# kept" in text)


NEW_KEYS = {
    "at the end of the file": (
        "[components.verifiers]\npin = 1\n",
        '[components.verifiers]\npin = 1\ncommit = "bbb"\n',
    ),
    "before another table": (
        "[components.verifiers]\npin = 1\n\n[components.w]\npin = 2\n",
        '[components.verifiers]\npin = 1\ncommit = "bbb"\n\n[components.w]\npin = 2\n',
    ),
    "before another table that has a comment": (
        "[components.verifiers]\npin = 1 # one\n\n# about w\n[components.w]\npin = 2\n",
        '[components.verifiers]\npin = 1 # one\ncommit = "bbb"\n\n# about w\n[components.w]\npin = 2\n',
    ),
    "into a table that has nothing": (
        "[components.verifiers]\n[components.w]\npin = 2\n",
        '[components.verifiers]\ncommit = "bbb"\n[components.w]\npin = 2\n',
    ),
    "before a table below it": (
        "[components.verifiers]\npin = 1\n[components.verifiers.waive]\nPIN001 = 'x'\n",
        "[components.verifiers]\npin = 1\ncommit = \"bbb\"\n[components.verifiers.waive]\nPIN001 = 'x'\n",
    ),
    "behind an array of several lines": (
        "[components.verifiers]\npin = [\n  1, # one\n]\n\n[z]\n",
        '[components.verifiers]\npin = [\n  1, # one\n]\ncommit = "bbb"\n\n[z]\n',
    ),
    "crlf": (
        "[components.verifiers]\r\npin = 1\r\n\r\n[z]\r\n",
        '[components.verifiers]\r\npin = 1\r\ncommit = "bbb"\r\n\r\n[z]\r\n',
    ),
    "no final newline": (
        "[components.verifiers]\npin = 1",
        '[components.verifiers]\npin = 1\ncommit = "bbb"',
    ),
    "out of order": (
        f"{OUT_OF_ORDER}[components.verifiers]\npin = 1\n",
        f'{OUT_OF_ORDER}[components.verifiers]\npin = 1\ncommit = "bbb"\n',
    ),
    "inline table": (
        "[components]\nverifiers = { pin = 1 } # end\n",
        '[components]\nverifiers = { pin = 1, commit = "bbb" } # end\n',
    ),
    "dotted keys": (
        "[components]\nverifiers.pin = 1 # end\nw.pin = 2\n",
        '[components]\nverifiers.pin = 1 # end\nverifiers.commit = "bbb"\nw.pin = 2\n',
    ),
}


@pytest.mark.parametrize(("text", "expected"), NEW_KEYS.values(), ids=NEW_KEYS.keys())
def test_a_new_key_is_added_at_its_table_s_end_and_nothing_else_moves(text: str, expected: str) -> None:
    assert set_string(source_of(text), RECORD, "bbb").decode() == expected


def test_a_key_whose_table_is_not_there_cannot_be_added() -> None:
    with pytest.raises(BadFileError) as caught:
        set_string(source_of("[components.renderers]\npin = 1\n"), RECORD, "bbb")
    assert [mistake.key for mistake in caught.value.mistakes] == ["components.verifiers.commit"]
    assert caught.value.hint == 'Do it by hand: add commit = "bbb"'
