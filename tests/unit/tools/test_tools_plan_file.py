"""Reads landing plans into values, or names every mistake in them at once."""

from pathlib import Path

import pytest

from pinctl.errors import BadFileError, BadInputError, ExitStatus
from pinctl.model.mode import Mode
from pinctl.model.pins import Component, GitlinkSite, Pins, SuperprojectDeclaration
from pinctl.model.plan import Change, Constraint, Contract, LandingPlan, Probe
from pinctl.tools.files.plan_file import plan_names, read_plan

FULL = """\
version = 1
title = "Pack the payloads"

[[changes]]
id = "renderers"
component = "renderers"
pull = 174

[[changes]]
id = "verifiers"
component = "verifiers"
branch = "packed"
commit = "0123456"
after = ["renderers"]

[[changes]]
id = "server"
component = "prime-rl"
pull = 3900
branch = "perf/packed"
after = ["verifiers", "renderers"]
pins = ["renderers", "verifiers"]

[contract]
server = "probes/server.py"
cases = ["greedy", "empty"]

[contract.clients.renderers]
probe = "probes/client.py"
requirements = ["httpx"]
dependencies = false
relays = ["sampling_mask", "routed_experts"]
seconds = 30
memory = "512MiB"

[contract.clients.verifiers]
probe = "probes/client.py"
reads = ["sampling_mask"]
seconds = 0.5
"""
RENDERERS = "contract.clients.renderers"
SIZE = 'must be a size with its unit, such as "2GiB", of at least 64MiB'
NOTHING_SAYS = "so nothing says where its pin should move"
CHANGE = 'version = 1\ntitle = "T"\n[[changes]]\nid = "a"\ncomponent = "renderers"\npull = 1\n'
OWN = f'{CHANGE}[[changes]]\nid = "server"\ncomponent = "prime-rl"\nbranch = "b"\n'
CONTRACT = f'{CHANGE}[contract]\ncases = ["greedy"]\nserver = "probes/server.py"\n'
CLIENT = f'{CONTRACT}[contract.clients.renderers]\nprobe = "probes/client.py"\n'


@pytest.fixture
def pins(tmp_path: Path) -> Pins:
    probes = tmp_path / "landing_plans" / "probes"
    probes.mkdir(parents=True)
    for name in ("server.py", "client.py"):
        (probes / name).write_text("")
    names = ("renderers", "verifiers")
    return Pins(
        path=tmp_path / "pins.toml",
        superproject=SuperprojectDeclaration(name="prime-rl", url=None, branch=None, manifests=(), lock=None),
        components={name: Component(name=name, site=GitlinkSite(path=f"deps/{name}")) for name in names},
    )


def write(pins: Pins, text: str, name: str = "plan") -> Path:
    assert pins.directory is not None
    path = pins.directory / "landing_plans" / f"{name}.toml"
    path.write_text(text)
    return path


def mistakes_of(pins: Pins, text: str) -> list[str]:
    path = write(pins, text)
    with pytest.raises(BadFileError) as caught:
        read_plan("plan", pins)
    assert caught.value.exit_status is ExitStatus.BAD_INPUT
    lines = caught.value.message.splitlines()
    assert all(line.startswith(f"{path}:") for line in lines)
    return [line.removeprefix(f"{path}:").replace(f"{path.parent}/", "") for line in lines]


def test_a_client_may_be_in_the_superproject_itself(pins: Pins) -> None:
    write(pins, f'{CONTRACT}[contract.clients.prime-rl]\nprobe = "probes/client.py"\n')
    contract = read_plan("plan", pins).contract
    assert contract is not None
    assert tuple(contract.clients) == ("prime-rl",)


def test_everything_that_a_plan_says_is_taken(pins: Pins) -> None:
    path = write(pins, FULL, "packed-generate")
    probes = path.parent / "probes"
    assert read_plan("packed-generate", pins) == LandingPlan(
        name="packed-generate",
        path=path,
        title="Pack the payloads",
        changes=(
            Change(id="renderers", component="renderers", pull=174),
            Change(id="verifiers", component="verifiers", branch="packed", commit="0123456", after=("renderers",)),
            Change(
                id="server",
                component="prime-rl",
                pull=3900,
                branch="perf/packed",
                after=("verifiers", "renderers"),
                pins=("renderers", "verifiers"),
            ),
        ),
        contract=Contract(
            server=Probe(path=probes / "server.py", reads=("logprobs", "sampling_mask", "routed_experts")),
            cases=("greedy", "empty"),
            clients={
                "renderers": Probe(
                    path=probes / "client.py",
                    requirements=("httpx",),
                    dependencies=False,
                    reads=("logprobs",),
                    relays=("sampling_mask", "routed_experts"),
                    seconds=30.0,
                    memory=512 * 2**20,
                ),
                "verifiers": Probe(path=probes / "client.py", reads=("sampling_mask",), seconds=0.5),
            },
        ),
    )


def test_a_plan_may_say_what_needs_several_changes_and_how_far_back_it_looks(pins: Pins) -> None:
    text = FULL.replace("[contract]\n", '[contract]\nmode = "full-transitive"\n')
    more = """\
[[constraints]]
for = "replay"
together = ["server", "renderers"]
cases = ["empty"]

[[constraints]]
for = "masks"
together = ["renderers", "verifiers"]
fields = ["sampling_mask"]
"""
    write(pins, text + more)
    plan = read_plan("plan", pins)
    assert plan.constraints == (
        Constraint(feature="replay", together=("server", "renderers"), cases=("empty",)),
        Constraint(feature="masks", together=("renderers", "verifiers"), fields=("sampling_mask",)),
    )
    assert plan.contract is not None
    assert plan.contract.mode is Mode.FULL_TRANSITIVE


def test_a_plan_needs_no_contract(pins: Pins) -> None:
    path = write(pins, CHANGE)
    assert read_plan("plan", pins) == LandingPlan(
        name="plan",
        path=path,
        title="T",
        changes=(Change(id="a", component="renderers", pull=1),),
        contract=None,
    )


def test_the_plans_are_those_beside_pins_toml(pins: Pins) -> None:
    assert plan_names(pins) == ()
    for name in ("b", "a.b", "a"):
        write(pins, CHANGE, name)
    assert plan_names(pins) == ("a", "a.b", "b")


def test_a_plan_that_is_not_there_names_the_nearest(pins: Pins) -> None:
    assert pins.directory is not None
    with pytest.raises(BadInputError) as caught:
        read_plan("packed", pins)
    assert caught.value.message == (f"there is no landing plan 'packed'; {pins.directory / 'landing_plans'} holds none")
    write(pins, CHANGE, "packed-generate")
    write(pins, CHANGE, "other")
    with pytest.raises(BadInputError) as caught:
        read_plan("packed-generat", pins)
    assert caught.value.message == "there is no landing plan 'packed-generat'; did you mean 'packed-generate'?"
    with pytest.raises(BadInputError) as caught:
        read_plan("zzz", pins)
    assert caught.value.message == "there is no landing plan 'zzz'; there are 'other', 'packed-generate'"
    assert caught.value.hint == "List the plans: pinctl plan"


def test_a_plan_needs_a_pins_toml(pins: Pins) -> None:
    without = Pins(path=None, superproject=pins.superproject, components=pins.components)
    assert plan_names(without) == ()
    with pytest.raises(BadInputError) as caught:
        read_plan("plan", without)
    assert caught.value.message == "the plan 'plan' needs a pins.toml, and there is none here or above"


@pytest.mark.parametrize("name", ["../plan", "probes/../plan", "/etc/passwd", "plan.toml", ""])
def test_a_plan_s_name_is_no_path(pins: Pins, name: str) -> None:
    write(pins, CHANGE)
    with pytest.raises(BadInputError) as caught:
        read_plan(name, pins)
    assert caught.value.message.startswith(f"there is no landing plan {name!r}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [" version: is missing", " title: is missing", " changes: is missing"]),
        ("version = 1\ntitle = 'T'\nchanges = []\n", ["3: changes: must not be empty"]),
        ("version = 1\ntitle = 'T'\n[changes]\nid = 'a'\n", ["3: changes: must be an array"]),
        ("version = 1\ntitle = 'T'\nchanges = 3\n", ["3: changes: must be an array"]),
        ("version = 1\ntitle = 'T'\nchanges = ['a']\n", ["3: changes[0]: must be a table"]),
        (f"{CHANGE}pull2 = 3\n", ["7: changes[0].pull2: is no key of this table; did you mean 'pull'?"]),
        (f"{CHANGE}[[changes]]\nid = 'b'\npull = 1\n", ["7: changes[1].component: is missing"]),
        (f"{CHANGE}[[changes]]\ncomponent = 'renderers'\npull = 1\n", ["7: changes[1].id: is missing"]),
        (f"{CHANGE}[[changes]]\nid = 3\ncomponent = 'renderers'\npull = 1\n", ["8: changes[1].id: must be a string"]),
        (CHANGE.replace("pull = 1", "pull = 0"), ["6: changes[0].pull: must be greater than 0"]),
        (CHANGE.replace("pull = 1", "pull = '1'"), ["6: changes[0].pull: must be a whole number"]),
        (CHANGE.replace("pull = 1", "pull = true"), ["6: changes[0].pull: must be a whole number"]),
        (CHANGE.replace("pull = 1", ""), ["3: changes[0]: must have a pull, a branch or a commit"]),
        (
            CHANGE.replace("pull = 1", "commit = 'HEAD'"),
            ["6: changes[0].commit: 'HEAD' is no commit id of 7 or more hex digits"],
        ),
        (
            CHANGE.replace('"renderers"', '"rendrers"'),
            ["5: changes[0].component: 'rendrers' is no component; did you mean 'renderers'?"],
        ),
        (f"{CHANGE}component2 = 1\n", ["7: changes[0].component2: is no key of this table; did you mean 'component'?"]),
        (
            f"{CHANGE}[[changes]]\nid = 'a'\ncomponent = 'verifiers'\npull = 1\n",
            ["8: changes[1].id: 'a' is the id of another change already"],
        ),
        (f"{OWN}after = ['b']\n", ["11: changes[1].after[0]: 'b' is no change of this plan; there are 'a'"]),
        (f"{OWN}after = 'a'\n", ["11: changes[1].after: must be an array"]),
        (f"{OWN}after = [\n['a']]\n", ["12: changes[1].after[0]: must be a string"]),
        (
            f"{OWN}pins = ['renderer']\n",
            ["11: changes[1].pins[0]: 'renderer' is no component of pins.toml; did you mean 'renderers'?"],
        ),
        (
            f"{OWN}pins = ['renderers', 'verifiers']\n",
            [f"11: changes[1].pins[1]: no change of this plan is in 'verifiers', {NOTHING_SAYS}"],
        ),
        (f"{OWN}pins = [['renderers']]\n", ["11: changes[1].pins[0]: must be a string"]),
        (f"{OWN}pins = [{{ renderers = 1 }}]\n", ["11: changes[1].pins[0]: must be a string"]),
        (OWN.replace('"renderers"', '["renderers"]'), ["5: changes[0].component: must be a string"]),
        (f"{CHANGE}pins = ['renderers']\n", ["7: changes[0].pins: only a change in prime-rl itself can move pins"]),
        (f"{CHANGE}[contract]\n", [f"7: contract.{key}: is missing" for key in ("server", "cases", "clients")]),
        (
            CLIENT.replace('["greedy"]', "[]"),
            ["8: contract.cases: must not be empty"],
        ),
        (
            CLIENT.replace('["greedy"]', "['greedy', 'topp']"),
            ["8: contract.cases[1]: 'topp' is no case; did you mean 'top-p'?"],
        ),
        (f"{CONTRACT}[contract.clients]\n", ["10: contract.clients: must not be empty"]),
        (
            CLIENT.replace("clients.renderers", "clients.render"),
            ["10: contract.clients.render: is no component of pins.toml; did you mean 'renderers'?"],
        ),
        (
            CLIENT.replace("probes/client.py", "probes/gone.py"),
            ["11: contract.clients.renderers.probe: there is no file probes/gone.py"],
        ),
        (
            CLIENT.replace("probes/server.py", "probes/gone.py"),
            ["9: contract.server: there is no file probes/gone.py"],
        ),
        (
            CLIENT.replace("[contract]\n", "[contract]\nmode = 'backwards'\n"),
            ["8: contract.mode: 'backwards' is no mode; did you mean 'backward'?"],
        ),
        (CLIENT.replace("[contract]\n", "[contract]\nmode = 1\n"), ["8: contract.mode: must be a string"]),
        (CLIENT.replace('"probes/server.py"', "3"), ["9: contract.server: must be a table"]),
        (CLIENT.replace("probes/server.py", "probes"), ["9: contract.server: there is no file probes"]),
        (f"{CONTRACT}[contract.clients.renderers]\n", ["10: contract.clients.renderers.probe: is missing"]),
        (
            f"{CLIENT}reads = ['logprob']\n",
            [f"12: {RENDERERS}.reads[0]: 'logprob' is no field of the contract; did you mean 'logprobs'?"],
        ),
        (f"{CLIENT}relays = 'logprobs'\n", ["12: contract.clients.renderers.relays: must be an array"]),
        (f"{CLIENT}seconds = 0\n", ["12: contract.clients.renderers.seconds: must be greater than 0"]),
        (f"{CLIENT}seconds = nan\n", ["12: contract.clients.renderers.seconds: must be greater than 0"]),
        (f"{CLIENT}seconds = '12'\n", ["12: contract.clients.renderers.seconds: must be a number"]),
        (f"{CLIENT}memory = 5\n", [f"12: contract.clients.renderers.memory: {SIZE}"]),
        (f"{CLIENT}memory = '2XB'\n", [f"12: contract.clients.renderers.memory: {SIZE}"]),
        (f"{CLIENT}memory = '1MiB'\n", [f"12: contract.clients.renderers.memory: {SIZE}"]),
        (f"{CLIENT}seconds = true\n", ["12: contract.clients.renderers.seconds: must be a number"]),
        (f"{CLIENT}dependencies = 'no'\n", ["12: contract.clients.renderers.dependencies: must be true or false"]),
        (
            f"{CLIENT}read = []\n",
            ["12: contract.clients.renderers.read: is no key of this table; did you mean 'reads'?"],
        ),
    ],
)
def test_a_mistake_is_named_with_its_line_and_key(pins: Pins, text: str, expected: list[str]) -> None:
    assert mistakes_of(pins, text) == expected
