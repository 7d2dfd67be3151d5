"""Manifests that other editors damage; a bump changes the requirement strings alone."""

from pathlib import Path

import pytest

from pinctl.errors import BadFileError
from pinctl.flows.staging.conflict import without_members
from pinctl.tools.toml.source import read_toml
from support import Pinctl
from support.rig import Repo, checked
from support.snapshot import unchanged
from support.uv_rig import UvRig, answered, blob

LANDING = "landing/bump-lib"
PROJECT = '[project]\nname = "super"\nversion = "0"\n'
OUT_OF_ORDER = (
    "[tool.ruff]\nline-length = 1\n[tool.ruff.lint.a]\nx = 1\n[tool.ruff.lint]\ny = 1\n[[tool.poetry.source]]\nz = 1\n"
)

CASES = {
    "c1 tables out of order": (
        f'{OUT_OF_ORDER}[tool.ruff.lint.b]\nx = 1\n{PROJECT}dependencies = ["lib>=0.1"]\n'
    ),
    "c1 the project between its own subtables": (
        '[project.optional-dependencies]\na = ["lib>=0.1"]\n[tool.x]\n[project.urls]\nh = "x"\n'
        f'[tool.y]\n{PROJECT}dependencies = ["lib>=0.1"]\n[tool.z]\n'
    ),
    "c2 crlf": f'# head\n{PROJECT}dependencies = [\n    "lib>=0.1",  # one\n]\n\n[x]\ny = 1\n'.replace("\n", "\r\n"),
    "c2 mixed line ends": (
        '[project]\r\nname = "super"\nversion = "0"\r\ndependencies = [\n    "lib>=0.1",\r\n    "other",\n]\r\n# end\n'
    ),
    "c2 crlf in a text of several lines": (
        f'{PROJECT}description = """\r\nlib>=0.1\r\n"""\r\ndependencies = ["lib>=0.1"]\r\n'.replace(
            'description = """\r\nlib>=0.1', 'description = """\r\nlib >= 0.1'
        )
    ),
    "c3 no final newline": f'{PROJECT}dependencies = ["lib>=0.1"]',
    "c3 no final newline after a comment": f'{PROJECT}dependencies = ["lib>=0.1"]\n# lib',
    "c3 several final newlines": f'{PROJECT}dependencies = ["lib>=0.1"]\n\n\n',
    "c5 commas first": f'{PROJECT}dependencies = [\n      "other"\n    , "lib>=0.1"\n    , "third"\n    ]\n',
    "c5 a comment before the first item": f'{PROJECT}dependencies = [ # all,\n    # of [them]\n    "lib>=0.1"\n]\n',
    "c5 a comment behind the last item": f'{PROJECT}dependencies = [\n    "other",\n    "lib>=0.1" # , ]\n]\n',
    "c5 a comment before a comma": f'{PROJECT}dependencies = [\n    "lib>=0.1" # one\n    , "other"\n]\n',
    "c6 comments on neighbours": (
        f'{PROJECT}# above\ndependencies = [\n    # of other\n    "other",  # other\n'
        '    # of lib\n    "lib>=0.1",  # lib\n'
        '    # of third\n    "third"  # no comma\n    # last\n]  # behind\n# below\n'
    ),
    "c6 requirements that are not sorted": f'{PROJECT}dependencies = ["z", "lib>=0.1", "a", "lib>=0.1", "b"]\n',
    "c8 keys in no order": (
        f'{PROJECT}dependencies = ["lib>=0.1"]\n[tool.ruff]\nlint.extend-select = ["I"]\nexclude = ["x"]\n'
        "lint.ignore = []\nlint.per-file-ignores.x = []\n"
    ),
    "c8 tabs and spaces": (
        f'{PROJECT}dependencies\t=\t[\t"lib>=0.1"\t,\n\t\t"other"   ]   \n   \n\t# x\n[ tool . x ]\n y=1\n'
    ),
    "dotted keys": 'project.name = "super"\nproject.version = "0"\nproject.dependencies = ["lib>=0.1"]\nother.x = 1\n',
    "inline tables": (
        'project = { name = "super", version = "0", dependencies = ["lib>=0.1"], optional-dependencies = '
        '{ a = ["lib>=0.1"], "b c" = ["lib>=0.1"] } }\n'
    ),
    "quoted keys": '["project"]\n"name" = \'super\'\n\'version\' = "0"\n"dependencies" = ["lib>=0.1"]\n',
    "single quotes": f"{PROJECT}dependencies = ['lib>=0.1', \"lib>=0.1\"]\n",
    "unicode": f'{PROJECT}description = "grüße 🦀"  # ü\ndependencies = ["lib>=0.1"]  # 🦀\nx = "\\u00fc \\n"\n',
    "odd values": (
        f'{PROJECT}dependencies = ["lib>=0.1"]\n[tool.x]\na = nan\nb = 1979-05-27T07:32:00Z\nc = 0x1F\nd = 1_000\n'
    ),
}  # fmt: skip


def superproject(rig: UvRig, manifest: bytes) -> Repo:
    lib = rig.library("lib", "0.1.0", "0.2.0")
    pins_toml = rig.pins_toml("lib", more={"lib": 'distribution = "lib"\nfloor = "release"'})
    files: dict[str, str | bytes | None] = {"pyproject.toml": manifest, "pins.toml": pins_toml}
    return rig.superproject({"lib": lib.oid("v0.1.0")}, files=files)


@pytest.mark.parametrize("text", CASES.values(), ids=CASES.keys())
def test_a_bump_changes_the_requirement_strings_and_not_a_byte_beside_them(
    tmp_path: Path, pinctl: Pinctl, text: str
) -> None:
    manifest = text.encode()
    repo = superproject(UvRig(top=tmp_path), manifest)

    answered(pinctl, repo, "bump", "lib")

    assert blob(repo, LANDING) == manifest.replace(b"lib>=0.1", b"lib>=0.2.0")
    assert checked(pinctl, repo, "--base", "main", "--head", LANDING).answer() == (0, [])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"\xef\xbb\xbf" + PROJECT.encode(),
            "pyproject.toml:1: begins with a byte order mark, which TOML does not allow",
        ),
        (PROJECT.encode() + b'x = "\xff"\n', "pyproject.toml:4: is not UTF-8"),
        (PROJECT.encode("utf-16"), "pyproject.toml:1: is not UTF-8"),
        (PROJECT.encode() + b"x = \n", "pyproject.toml:4: is no TOML: Invalid value"),
    ],
)
def test_c3_a_manifest_that_cannot_be_read_is_named_with_its_line(
    tmp_path: Path, pinctl: Pinctl, data: bytes, message: str
) -> None:
    repo = superproject(UvRig(top=tmp_path), data)

    with unchanged(repo.directory):
        result = pinctl("bump", "lib", cwd=repo.directory)

    assert (result.status, result.stdout) == (2, "")
    assert result.stderr.splitlines()[0] == message
    if data.startswith(b"\xef"):
        assert result.stderr.splitlines()[1] == "hint: Save it as UTF-8 without a byte order mark."


TABLE = '[tool.uv.workspace]\nmembers = ["deps/*"]\n'
EXCLUDES = {
    "none yet": (TABLE, TABLE + 'exclude = ["new"]\n'),
    "none yet, more below": (f"{TABLE}\n[tool.x]\n", f'{TABLE}exclude = ["new"]\n\n[tool.x]\n'),
    "one line": (f'{TABLE}exclude = ["a"] # x\n', f'{TABLE}exclude = ["a", "new"] # x\n'),
    "empty": (f"{TABLE}exclude = []\n", f'{TABLE}exclude = ["new"]\n'),
    "several lines": (
        f'{TABLE}exclude = [\n    "a",  # a\n    "b",  # b\n]\n',
        f'{TABLE}exclude = [\n    "a",  # a\n    "b",  # b\n    "new",\n]\n',
    ),
    "c5 no comma and a comment behind the last": (
        f'{TABLE}exclude = [\n    "a",\n    "b"  # b\n]\n',
        f'{TABLE}exclude = [\n    "a",\n    "b",  # b\n    "new"\n]\n',
    ),
    "c5 commas first": (
        f'{TABLE}exclude = [\n      "a"\n    , "b"\n    ]\n',
        f'{TABLE}exclude = [\n      "a"\n    , "b", "new"\n    ]\n',
    ),
    "c2 crlf": (
        f'{TABLE}exclude = [\n    "a",\n]\n'.replace("\n", "\r\n"),
        f'{TABLE}exclude = [\n    "a",\n    "new",\n]\n'.replace("\n", "\r\n"),
    ),
    "c1 tables out of order": (
        f'{OUT_OF_ORDER}{TABLE}exclude = ["a"]\n[tool.ruff.lint.b]\nx = 1\n',
        f'{OUT_OF_ORDER}{TABLE}exclude = ["a", "new"]\n[tool.ruff.lint.b]\nx = 1\n',
    ),
    "an inline table": (
        '[tool.uv]\nworkspace = { members = ["deps/*"], exclude = ["a"] }\n',
        '[tool.uv]\nworkspace = { members = ["deps/*"], exclude = ["a", "new"] }\n',
    ),
    "dotted keys": (
        '[tool.uv]\nworkspace.members = ["deps/*"]\nworkspace.exclude = ["a"]\n',
        '[tool.uv]\nworkspace.members = ["deps/*"]\nworkspace.exclude = ["a", "new"]\n',
    ),
}


@pytest.mark.parametrize(("before", "after"), EXCLUDES.values(), ids=EXCLUDES.keys())
def test_a_member_that_is_left_out_is_one_more_string_and_nothing_else(before: str, after: str) -> None:
    source = read_toml(Path("pyproject.toml"), before.encode())
    edited = without_members(source, ("new",))
    assert edited.decode() == after
    values = read_toml(Path("pyproject.toml"), edited).at(("tool", "uv", "workspace"))
    assert values["exclude"][-1] == "new"


def test_where_there_is_no_workspace_no_member_can_be_left_out() -> None:
    with pytest.raises(BadFileError):
        without_members(read_toml(Path("pyproject.toml"), PROJECT.encode()), ("new",))
