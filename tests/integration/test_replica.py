"""Judges what really happened to prime-rl's pin of verifiers, on a replica of both histories.

What is expected is worked out here from the data alone, with its own graph walk and its own reading of requirements.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from pinctl.flows.check.audit import audit
from pinctl.flows.check.judge import check
from pinctl.flows.check.scope import Asked, Range, scope_of
from pinctl.flows.superproject.stack import Stack
from pinctl.flows.superproject.workspace import open_stack
from pinctl.model.finding import Finding, Findings, Level
from pinctl.model.oid import Oid
from pinctl.model.where import Where
from pinctl.render.output import Output
from support.replica import Entry, History, Replica, build_replica

VERIFIERS = "deps/verifiers"
DISTRIBUTIONS = {"verifiers": "verifiers", "renderers": "renderers", "pydantic-config": "prime-pydantic-config"}
MANIFESTS = ("pyproject.toml", "packages/prime-rl-configs/pyproject.toml")
ORPHANS = {
    "04651bec3e87b3a4e116adbc7317602307de8a31",
    "78c1b3c545a7df1f9cce99f72894883548c99212",
    "6bcedc7625a278c5b8d55e54161a5830e14fb53a",
}
SQUASH = "ece7ddc7"
PINS_TOML = """version = 1

[superproject]
name = "prime-rl"
branch = "main"
manifests = ["pyproject.toml", "packages/prime-rl-configs/pyproject.toml"]

[components.verifiers]
distribution = "verifiers"
branch = "main"
exclude_tags = "*dev*"
pin = { gitlink = "deps/verifiers" }

[components.renderers]
distribution = "renderers"
pin = { gitlink = "deps/renderers" }

[components.pydantic-config]
distribution = "prime-pydantic-config"
pin = { gitlink = "deps/pydantic-config" }

[components.research-environments]
pin = { gitlink = "deps/research-environments" }

[components.prime-envs]
pin = { gitlink = "deps/prime-envs" }

[components.prime-kernels]
pin = { gitlink = "deps/prime-kernels" }
"""


class Moves:
    """The moves of verifiers' pin on prime-rl's first-parent history, as the data has them.

    Attributes:
        before: the pin before each commit that moved it, by that commit; None for the one that brought it.
        after: the pin after it.
        requirements: what the manifests say at it.
        gitlinks: all pins at it, and those before it.
    """

    def __init__(self, prime_rl: History) -> None:
        self.entries: list[Entry] = []
        self.before: dict[str, str | None] = {}
        self.after: dict[str, str] = {}
        self.requirements: dict[str, dict[str, tuple[str, ...]]] = {}
        self.gitlinks: dict[str, tuple[dict[str, str], dict[str, str]]] = {}
        links: dict[str, str] = {}
        requirements: dict[str, tuple[str, ...]] = {}
        for entry in prime_rl.main:
            former = links
            links = dict(entry.gitlinks) if entry.gitlinks is not None else links
            requirements |= entry.requirements or {}
            if links.get(VERIFIERS) != former.get(VERIFIERS):
                self.entries.append(entry)
                self.before[entry.id], self.after[entry.id] = former.get(VERIFIERS), links[VERIFIERS]
                self.requirements[entry.id] = dict(requirements)
                self.gitlinks[entry.id] = (former, links)


@pytest.fixture(scope="session")
def histories() -> dict[str, History]:
    return {name: History(name) for name in ("prime-rl", "verifiers")}


@pytest.fixture(scope="session")
def moves(histories: dict[str, History]) -> Moves:
    return Moves(histories["prime-rl"])


@pytest.fixture(scope="session")
def replica(histories: dict[str, History], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replica]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("GIT_")]:
            patch.delenv(name)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        top = tmp_path_factory.mktemp("replica")
        yield build_replica(top, prime_rl=histories["prime-rl"], verifiers=histories["verifiers"])


@pytest.fixture
def stack(replica: Replica, tmp_path: Path) -> Stack:
    pins = tmp_path / "pins.toml"
    pins.write_text(PINS_TOML)
    directory = replica.prime_rl.directory
    return open_stack(Where(directory=directory, superproject=directory, pins=pins))


def _judge(stack: Stack, replica: Replica, entry: Entry) -> Findings:
    base = replica.ids[entry.parents[0]]
    return check(stack, base=base, head=replica.ids[entry.id], asked=Asked())


def test_the_replica_is_the_same_every_time(replica: Replica, histories: dict[str, History], tmp_path: Path) -> None:
    again = build_replica(tmp_path, prime_rl=histories["prime-rl"], verifiers=histories["verifiers"])

    assert again.ids == replica.ids
    for repo, history in ((replica.prime_rl, histories["prime-rl"]), (replica.verifiers, histories["verifiers"])):
        head = history.refs["refs/heads/main"]
        assert repo.git("rev-list", "--first-parent", "--count", "main") == str(len(history.main))
        assert repo.git("rev-list", "--count", "main") == str(len(history.ancestors(head)))
        assert repo.git("log", "-1", "--format=%ct %H", "main") == f"{history.entries[head].time} {replica.ids[head]}"
    reverts = [entry for entry in histories["verifiers"].main if entry.reverts in replica.ids]
    for entry in reverts:
        body = replica.verifiers.git("log", "-1", "--format=%b", replica.ids[entry.id])
        assert body.strip() == f"This reverts commit {replica.ids[str(entry.reverts)]}."


def test_the_datas_description_is_what_the_data_says(moves: Moves, histories: dict[str, History]) -> None:
    """What is expected of pinctl below is worked out from the data; this holds that to what people know of it."""
    assert len(moves.entries) == 59
    assert sum(_floors_disagree(moves, entry) for entry in moves.entries[1:]) == 23
    assert {moves.after[entry.id] for entry in moves.entries} & _off_main(histories) == ORPHANS
    pulls = [entry.pull for entry in moves.entries if moves.after[entry.id] in ORPHANS]
    assert pulls == [2609, 2784, 3307]
    assert [entry.pull for entry in _not_forward(moves, histories)] == [2635, 2742, 3307, 3297]


@pytest.mark.parametrize("part", range(4))
def test_exactly_what_happened_is_found(
    stack: Stack, replica: Replica, moves: Moves, histories: dict[str, History], part: int
) -> None:
    """Over all 59 commits that set the pin: three orphans, four moves that were not forward, floors that disagree."""
    expected: dict[str, set[tuple[str, str, str]]] = {}
    found: dict[str, set[tuple[str, str, str]]] = {}
    not_forward = {entry.id for entry in _not_forward(moves, histories)}
    for entry in moves.entries[part::4]:
        rules = {("PIN001", "verifiers", VERIFIERS)} if moves.after[entry.id] in ORPHANS else set()
        rules |= {("PIN003", "verifiers", VERIFIERS)} if entry.id in not_forward else set()
        expected[entry.id] = rules | _floors_of(moves, entry)

        findings = _judge(stack, replica, entry).items

        assert {item.component for item in findings if item.unknown} <= _outside(moves, entry), entry
        found[entry.id] = {(item.rule, item.component or "", item.path) for item in findings if not item.unknown}

    assert found == expected


def test_the_audit_of_the_whole_history_says_the_same(
    stack: Stack, replica: Replica, moves: Moves, histories: dict[str, History]
) -> None:
    not_forward = {entry.id for entry in _not_forward(moves, histories)}
    expected = {
        replica.ids[entry.id]: ({"PIN001"} if moves.after[entry.id] in ORPHANS else set())
        | ({"PIN003"} if entry.id in not_forward else set())
        for entry in moves.entries
    }

    found = audit(stack, "main", tell=Output(quiet=True).progress)

    said = {
        item.findings.head: {
            finding.rule
            for finding in item.findings.items
            if finding.component == "verifiers" and finding.rule.startswith("PIN") and not finding.unknown
        }
        for item in found.judged
    }
    assert found.commits == len(histories["prime-rl"].main) - 1
    assert {head: rules for head, rules in said.items() if rules} == {
        head: rules for head, rules in expected.items() if rules
    }
    assert expected.keys() <= said.keys()


def test_the_pull_request_that_moved_back_is_told_from_the_one_that_set_it_right(
    stack: Stack, replica: Replica, moves: Moves, histories: dict[str, History]
) -> None:
    (into,) = (entry for entry in moves.entries if entry.pull == 3307)
    (out,) = (entry for entry in moves.entries if entry.pull == 3297)
    squash = next(identity for identity in histories["verifiers"].entries if identity.startswith(SQUASH))
    assert moves.before[into.id] == squash
    orphan, after = moves.after[into.id], moves.after[out.id]
    assert moves.before[out.id] == orphan
    names = {identity: replica.ids[identity][:7] for identity in (squash, orphan, after)}

    broken = [item for item in _judge(stack, replica, into).items if item.component == "verifiers"]
    mended = [item for item in _judge(stack, replica, out).items if item.component == "verifiers"]

    assert _about_pins(broken) == {
        "PIN001": (
            Level.ERROR,
            (
                f"{names[orphan]} is not on main; its content is there as {names[squash]} "
                "(pull request number in the subject): pin that instead"
            ),
        ),
        "PIN003": (
            Level.ERROR,
            f"the pin moved from {names[squash]} to {names[orphan]}, which lacks 3 of its commits",
        ),
    }
    assert _about_pins(mended) == {
        "PIN003": (
            Level.WARNING,
            (
                f"the pin moved from {names[orphan]}, which is not on main, to {names[after]}, "
                f"which has its content as {names[squash]}"
            ),
        )
    }


def test_the_version_went_up_while_the_content_went_back(stack: Stack, replica: Replica, moves: Moves) -> None:
    (into,) = (entry for entry in moves.entries if entry.pull == 3307)
    component = stack.pins.components["verifiers"]
    before, after = (Oid(replica.ids[str(pin)]) for pin in (moves.before[into.id], moves.after[into.id]))

    versions = [stack.version(component, pin) for pin in (before, after)]

    assert [version.public if version else None for version in versions] == ["0.3.1.dev54", "0.3.1.dev57"]


def test_research_environments_became_prime_envs_and_was_not_removed_and_added(
    stack: Stack, replica: Replica, histories: dict[str, History]
) -> None:
    (entry,) = (entry for entry in histories["prime-rl"].main if entry.pull == 3241 and entry.gitlinks)
    base, head = Oid(replica.ids[entry.parents[0]]), Oid(replica.ids[entry.id])

    scope = scope_of(stack, Range(base=base, head=head, source="the test"), Asked(), plans=())

    renamed = [pin for pin in scope.moved if pin.renamed_from is not None]
    assert [(pin.renamed_from, pin.path) for pin in renamed] == [("deps/research-environments", "deps/prime-envs")]
    assert renamed[0].before == stack.repository.gitlinks(base)["deps/research-environments"]
    assert [pin.path for pin in scope.moved if pin.before is None] == []


def _off_main(histories: dict[str, History]) -> set[str]:
    verifiers = histories["verifiers"]
    return set(verifiers.entries) - verifiers.ancestors(verifiers.refs["refs/heads/main"])


def _not_forward(moves: Moves, histories: dict[str, History]) -> list[Entry]:
    verifiers = histories["verifiers"]
    return [
        entry
        for entry in moves.entries
        if moves.before[entry.id] is not None
        and moves.before[entry.id] not in verifiers.ancestors(moves.after[entry.id])
    ]


def _outside(moves: Moves, entry: Entry) -> set[str | None]:
    """Returns the components that the data does not have, which moved, or whose version somebody's floor asks for."""
    former, now = moves.gitlinks[entry.id]
    moved = {path.removeprefix("deps/") for path in now if former.get(path) != now[path]}
    asked = set(DISTRIBUTIONS) if entry.requirements is not None else moved & set(DISTRIBUTIONS)
    return {name for name in (*moved, *asked) if name != "verifiers"}


def _floors(moves: Moves, entry: Entry, component: str) -> list[tuple[str, Version]]:
    """Returns manifest and floor of each requirement on a component at a commit."""
    found = []
    for manifest in MANIFESTS:
        for text in moves.requirements[entry.id].get(manifest, ()):
            requirement = Requirement(text)
            floors = [Version(item.version) for item in requirement.specifier if item.operator in {">=", "~="}]
            if requirement.name == DISTRIBUTIONS[component] and floors:
                found.append((manifest, max(floors)))
    return found


def _floors_disagree(moves: Moves, entry: Entry) -> bool:
    return len({floor for _, floor in _floors(moves, entry, "verifiers")}) > 1


def _floors_of(moves: Moves, entry: Entry) -> set[tuple[str, str, str]]:
    """Returns the findings that there must be about floors, where the commit touched what they depend on."""
    former, now = moves.gitlinks[entry.id]
    expected = set()
    for component in DISTRIBUTIONS:
        path = f"deps/{component}"
        floors = _floors(moves, entry, component)
        if path in now and (entry.requirements is not None or former.get(path) != now[path]):
            highest = max((floor for _, floor in floors), default=None)
            expected |= {("FLR002", component, manifest) for manifest, floor in floors if floor != highest}
    return expected


def _about_pins(findings: list[Finding]) -> dict[str, tuple[Level, str]]:
    return {item.rule: (item.level, item.message) for item in findings if item.rule.startswith("PIN")}
