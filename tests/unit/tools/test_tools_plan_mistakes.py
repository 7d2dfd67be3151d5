"""Plans with many mistakes, plans whose changes wait for each other, and the phrase that offers a right name."""

from pathlib import Path

import pytest

from pinctl.errors import BadFileError
from pinctl.model.pins import Component, GitlinkSite, Pins, SuperprojectDeclaration
from pinctl.tools.files.declaration import nearest
from pinctl.tools.files.plan_file import read_plan


def pins_in(directory: Path) -> Pins:
    (directory / "landing_plans").mkdir()
    names = ("renderers", "verifiers")
    return Pins(
        path=directory / "pins.toml",
        superproject=SuperprojectDeclaration(name="prime-rl", url=None, branch=None, manifests=(), lock=None),
        components={name: Component(name=name, site=GitlinkSite(path=f"deps/{name}")) for name in names},
    )


def mistakes_of(directory: Path, text: str) -> list[str]:
    pins = pins_in(directory)
    path = directory / "landing_plans" / "plan.toml"
    path.write_text(text)
    with pytest.raises(BadFileError) as caught:
        read_plan("plan", pins)
    return [line.removeprefix(f"{path}:").replace(f"{path.parent}/", "") for line in caught.value.message.splitlines()]


def changes(*edges: tuple[str, tuple[str, ...]]) -> str:
    blocks = [
        f"[[changes]]\nid = '{name}'\ncomponent = 'renderers'\nbranch = '{name}'\nafter = {list(after)}\n"
        for name, after in edges
    ]
    return "".join(["version = 1\ntitle = 'T'\n", *blocks])


def test_all_mistakes_of_a_plan_are_named_at_once_in_the_order_of_their_lines(tmp_path: Path) -> None:
    text = """\
version = 2
titel = "Pack"

[[changes]]
id = "one"
component = "renderer"
pull = -1
after = ["tow", 5]

[[changes]]
id = "two"
component = "prime-rl"
after = ["one"]
pins = ["verifiers"]
commit = "nothex!"

[[changes]]
id = "one"
component = "verifiers"
pulls = 3

[contract]
cases = ["gready", "empty"]
clients.envs = "probes/envs.py"

[contract.server]
probe = "probes/server.py"
requirements = "httpx"
relays = ["samplingmask"]
"""
    assert mistakes_of(tmp_path, text) == [
        " title: is missing",
        "1: version: must be 1",
        "2: titel: is no key of this table; did you mean 'title'?",
        "6: changes[0].component: 'renderer' is no component; did you mean 'renderers'?",
        "7: changes[0].pull: must be greater than 0",
        "8: changes[0].after[0]: 'tow' is no change of this plan; did you mean 'two'?",
        "8: changes[0].after[1]: must be a string",
        "15: changes[1].commit: 'nothex!' is no commit id of 7 or more hex digits",
        "17: changes[2]: must have a pull, a branch or a commit",
        "18: changes[2].id: 'one' is the id of another change already",
        "20: changes[2].pulls: is no key of this table; did you mean 'pull'?",
        "23: contract.cases[0]: 'gready' is no case; did you mean 'greedy'?",
        "24: contract.clients.envs: is no component of pins.toml; there are 'prime-rl', 'renderers', 'verifiers'",
        "24: contract.clients.envs: there is no file probes/envs.py",
        "27: contract.server.probe: there is no file probes/server.py",
        "28: contract.server.requirements: must be an array",
        "29: contract.server.relays[0]: 'samplingmask' is no field of the contract; did you mean 'sampling_mask'?",
    ]


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ((("a", ("b",)), ("b", ("a",))), ["7: changes[0].after: the changes wait for each other: a after b after a"]),
        (
            (("a", ("b",)), ("b", ("c",)), ("c", ("d",)), ("d", ("b",))),
            ["12: changes[1].after: the changes wait for each other: b after c after d after b"],
        ),
        (
            (("a", ()), ("b", ("a",)), ("c", ("b", "d")), ("d", ("a", "c"))),
            ["17: changes[2].after: the changes wait for each other: c after d after c"],
        ),
    ],
)
def test_changes_that_wait_for_each_other_are_named_in_their_circle(
    tmp_path: Path, edges: tuple[tuple[str, tuple[str, ...]], ...], expected: list[str]
) -> None:
    assert mistakes_of(tmp_path, changes(*edges)) == expected


def test_a_change_that_waits_for_itself_is_named(tmp_path: Path) -> None:
    found = mistakes_of(tmp_path, changes(("a", ("a",))))
    assert "7: changes[0].after: the changes wait for each other: a after a" in found


@pytest.mark.parametrize(
    ("name", "names", "phrase"),
    [
        ("rendrers", ("verifiers", "renderers"), "; did you mean 'renderers'?"),
        ("pull-request", ("pull", "branch"), "; did you mean 'pull'?"),
        ("zzz", ("verifiers", "renderers"), "; there are 'verifiers', 'renderers'"),
        ("", ("verifiers",), "; there are 'verifiers'"),
        ("zzz", (), ""),
        (
            "zzz",
            tuple(f"name-{index}" for index in range(12)),
            "; there are " + ", ".join(f"'name-{i}'" for i in range(12)),
        ),
        ("zzz", tuple(f"name-{index}" for index in range(13)), ""),
        ("name-77", tuple(f"name-{index}" for index in range(100)), "; did you mean 'name-77'?"),
    ],
)
def test_the_nearest_right_name_is_offered_or_the_few_there_are(name: str, names: tuple[str, ...], phrase: str) -> None:
    assert nearest(name, names) == phrase
