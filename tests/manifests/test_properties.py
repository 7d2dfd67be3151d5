"""Whatever a manifest looks like: raised floors and moved entries differ where they must, and nowhere else."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from pinctl.model.entry import Target
from pinctl.model.oid import Oid
from pinctl.tools.python.manifest import raise_floors
from pinctl.tools.python.sources import exact_entries, move_entries, source_entries
from pinctl.tools.toml.source import KeyPath, TomlSource, read_toml

MANIFESTS = sorted((Path(__file__).parent / "manifests").glob("*.toml"))
SETTINGS = settings(
    deadline=None, derandomize=True, database=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
COMMIT = Oid("97f480f1ad29f9b371a68aa297cef25c44489f9c")
TO = "0.2.0"
TARGET = Target(commit=COMMIT, tag="v0.2.0", version=Version(TO))


@dataclass(frozen=True, kw_only=True)
class Part:
    """A piece of a generated manifest: what is written, and what is to be written once lib is at 0.2.0."""

    before: str
    after: str

    @classmethod
    def of(cls, text: str) -> "Part":
        return cls(before=text, after=text)


NAMES = ["lib", "Lib", "LIB"]
OTHERS = ["other>=0.1", "lib-tools>=0.1", "xlib~=0.1", "lib @ https://h/lib-0.1.0.tar.gz", "lib", "lib<9", "lib>=0.3"]


@st.composite
def requirements(draw: st.DrawFn) -> Part:
    """Draws a requirement that rises, or one that stays."""
    if draw(st.booleans()):
        return Part.of(draw(st.sampled_from(OTHERS)))
    name, extras = draw(st.sampled_from(NAMES)), draw(st.sampled_from(["", "[a]", "[a, b]", " [a]"]))
    operator, space = draw(st.sampled_from([">=", "~=", "=="])), draw(st.sampled_from(["", " ", "  "]))
    version = draw(st.sampled_from(["0.1.0", "0.1.5", "0.1.0rc1"]))
    rest = draw(st.sampled_from(["", ",<9", " , !=0.1.7"])) if operator == ">=" else ""
    marker = draw(st.sampled_from(["", " ; os_name == 'nt'", ";extra == 'lib>=0.1'"]))
    head, tail = f"{name}{extras}{space}{operator}{space}", f"{rest}{marker}"
    return Part(before=f"{head}{version}{tail}", after=f"{head}{TO}{tail}")


@st.composite
def strings(draw: st.DrawFn) -> Part:
    """Draws a requirement in quotes of either kind that can hold it."""
    part = draw(requirements())
    quote = '"' if "'" in part.before else draw(st.sampled_from(['"', "'"]))
    return Part(before=f"{quote}{part.before}{quote}", after=f"{quote}{part.after}{quote}")


@st.composite
def arrays(draw: st.DrawFn) -> list[Part]:
    """Draws an array of requirements, on one line or on several, with comments and commas wherever they can stand."""
    items = draw(st.lists(strings(), max_size=4))
    comment = st.sampled_from(["", "  # lib>=0.1", " # ]", ' #, "lib>=0.1",'])
    layout = draw(st.sampled_from(["one line", "lines", "commas first"]))
    if layout == "one line" or not items:
        joined: list[Part] = [Part.of("[")]
        for number, item in enumerate(items):
            joined += [Part.of(draw(st.sampled_from([", ", ",", " ,\t"])) if number else ""), item]
        return [*joined, Part.of(draw(st.sampled_from(["", ","])) if items else ""), Part.of("]")]
    parts = [Part.of(f"[{draw(comment)}\n")]
    for number, item in enumerate(items):
        last = number == len(items) - 1
        if layout == "lines":
            comma = draw(st.sampled_from(["", ","])) if last else ","
            parts += [Part.of("    "), item, Part.of(f"{comma}{draw(comment)}\n")]
        else:
            parts += [Part.of("  , " if number else "    "), item, Part.of(f"{draw(comment)}\n")]
    return [*parts, Part.of(draw(st.sampled_from(["    # lib>=0.1\n", "", "\n"]))), Part.of("]")]


@st.composite
def sources(draw: st.DrawFn) -> list[Part]:
    """Draws an entry of tool.uv.sources for lib, in one of the ways in which it can be written."""
    old = "d6d4367e56585a7fc7fc7ab29464329bbd0b6e9d"
    length = draw(st.sampled_from([7, 9, 40]))
    quote = draw(st.sampled_from(['"', "'"]))
    url = "https://h/v{0}/lib-{0}-py3-none-any.whl"
    key, before, after = draw(
        st.sampled_from(
            [("rev", old[:length], COMMIT[:length]), ("tag", "v0.1.0", "v0.2.0"), ("branch", "v0.1.0", "v0.1.0")]
        )
    )
    value = Part(before=f"{quote}{before}{quote}", after=f"{quote}{after}{quote}")
    link = Part(before=f"{quote}{url.format('0.1.0')}{quote}", after=f"{quote}{url.format(TO)}{quote}")
    match draw(st.sampled_from(["inline", "dotted", "table", "list", "url"])):
        case "inline":
            return [
                Part.of(f'[tool.uv.sources]\nLib = {{ git = "x", {key} = '),
                value,
                Part.of(" } # rev = 'd6d4367'\n"),
            ]
        case "dotted":
            return [Part.of(f"[tool.uv]\nsources.lib.{key} = "), value, Part.of('\nsources.lib.git = "d6d4367"\n')]
        case "table":
            return [Part.of(f'[tool.uv.sources."lib"]\ngit = "x"\n{key} = '), value, Part.of("\nmarker = 'd6d4367'\n")]
        case "list":
            head = '[tool.uv.sources]\nlib = [\n  { git = "x", marker = "a", '
            return [Part.of(f"{head}{key} = "), value, Part.of(" },\n  { url = "), link, Part.of(" },\n]\n")]
        case _:
            return [
                Part.of("[tool.uv.sources]\nlib.url = "),
                link,
                Part.of("\nother.url = 'https://h/lib-0.1.0.zip'\n"),
            ]


@st.composite
def manifests(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Draws a manifest and what it is to become."""
    tables: list[list[Part]] = []
    for table, keys in (
        ("project", ["dependencies"]),
        ("project.optional-dependencies", ["one", '"two three"']),
        ("dependency-groups", ["dev"]),
        ("build-system", ["requires"]),
        ("tool.other", ["dependencies", "lib"]),
    ):
        written = [Part.of(f"[{table}]  # {draw(st.sampled_from(['', 'lib>=0.1', 'ü 🦀']))}\n")]
        for key in keys:
            parts = draw(arrays())
            if table == "tool.other":
                parts = [Part.of(part.before) for part in parts]
            written += [Part.of(f"{key}{draw(st.sampled_from([' = ', '=']))}"), *parts, Part.of("\n")]
        tables.append(written)
    tables.append(draw(sources()))
    parts = [part for table in draw(st.permutations(tables)) for part in table]
    ends = draw(st.sampled_from(["\n", "\r\n"]))
    tail = draw(st.sampled_from(["", "# lib>=0.1", "\n\n"]))
    before = "".join(part.before for part in parts) + tail
    after = "".join(part.after for part in parts) + tail
    return before.replace("\n", ends).encode(), after.replace("\n", ends).encode()


def edited(source: TomlSource, distribution: str, target: Target) -> bytes:
    """Moves the entries of a distribution and raises its floors, as a landing does."""
    entries = (*source_entries(source, distribution), *exact_entries(source, distribution))
    data, _ = move_entries(source, {"lib": (entries, target)})
    assert target.version is not None
    return raise_floors(read_toml(source.path, data), {"lib": (distribution, target.version)})[0]


def read(data: bytes) -> TomlSource:
    return read_toml(Path("pyproject.toml"), data)


@SETTINGS
@given(manifests())
@example((b'[project]\ndependencies = ["lib>=0.1.0"]', b'[project]\ndependencies = ["lib>=0.2.0"]'))
def test_a_generated_manifest_becomes_exactly_what_it_is_to_be(manifest: tuple[bytes, bytes]) -> None:
    before, after = manifest
    assert edited(read(before), "lib", TARGET) == after
    assert edited(read(after), "lib", TARGET) == after


def leaves(value: Any, at: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Lists every value that is no table and no array, with its place."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(item, (*at, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from leaves(item, (*at, number))
    else:
        yield at, value


def without(source: TomlSource, places: list[KeyPath]) -> bytes:
    """Returns a file's bytes without some of its values."""
    data = source.data
    for place in sorted((source.places[at] for at in places), key=lambda place: place.start, reverse=True):
        data = data[: place.start] + data[place.end :]
    return data


def is_as_intended(at: KeyPath, old: str, new: str, distribution: str, version: Version) -> bool:
    """Tells, by packaging's own reading, whether a value changed as it is to."""
    if at[:3] == ("tool", "uv", "sources"):
        return canonicalize_name(str(at[3])) == distribution and at[-1] in {"rev", "tag", "url"}
    was, now = Requirement(old), Requirement(new)
    if (was.name, was.extras, str(was.marker), was.url) != (now.name, now.extras, str(now.marker), now.url):
        return False
    gone, come = set(was.specifier) - set(now.specifier), set(now.specifier) - set(was.specifier)
    (before,), (after,) = gone, come
    raised = before.operator == after.operator and Version(after.version) == version
    exact = before.operator in {"==", "==="}
    return canonicalize_name(was.name) == distribution and raised and (exact or Version(before.version) < version)


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
@SETTINGS
@given(
    distribution=st.sampled_from(["verifiers", "renderers", "vllm-router", "flash-attn-3", "dion", "orjson", "absent"]),
    version=st.sampled_from(["0.0.1", "0.1.10", "0.2.3", "0.3.0", "0.4.1.dev3", "1!0.1.0", "4.0.0"]),
)
def test_a_manifest_shaped_like_a_real_one_differs_in_the_intended_values_alone(
    path: Path, distribution: str, version: str
) -> None:
    source = read(path.read_bytes())
    target = Target(commit=COMMIT, tag=f"v{version}", version=Version(version))

    data = edited(source, distribution, target)

    result = read(data)
    before, after = dict(leaves(source.values)), dict(leaves(tomllib.loads(data.decode())))
    assert before.keys() == after.keys()
    differing = [at for at in before if before[at] != after[at]]
    for at in differing:
        assert is_as_intended(at, before[at], after[at], distribution, Version(version)), (at, before[at], after[at])
    assert without(source, differing) == without(result, differing)
    assert edited(result, distribution, target) == data


@pytest.mark.parametrize(
    ("name", "distribution", "expected"),
    [
        ("prime_rl", "verifiers", 4),
        ("prime_rl", "renderers", 3),
        ("prime_rl", "vllm-router", 2),
        ("prime_rl", "flash-attn-3", 1),
        ("prime_rl", "orjson", 2),
        ("verifiers", "renderers", 5),
        ("out_of_order", "verifiers", 6),
        ("out_of_order", "renderers", 4),
        ("windows", "verifiers", 4),
        ("windows", "renderers", 5),
        ("windows", "absent", 0),
    ],
)
def test_everything_that_is_to_move_in_them_moves(name: str, distribution: str, expected: int) -> None:
    source = read((Path(__file__).parent / f"manifests/{name}.toml").read_bytes())
    target = Target(commit=COMMIT, tag="v5.0.0", version=Version("5.0.0"))
    before = dict(leaves(source.values))
    after = dict(leaves(read(edited(source, distribution, target)).values))
    assert sum(before[at] != after[at] for at in before) == expected
