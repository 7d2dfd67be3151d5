"""The commit message of a landing: what it tells people, and what pinctl and git read back out of it."""

import hashlib
from dataclasses import replace
from pathlib import Path

from packaging.version import Version

from pinctl.flows.staging.message import (
    commit_message,
    digest_of_certificate,
    heading_of,
    heading_of_plan,
    is_landing,
    is_same_landing,
    trailers_of,
)
from pinctl.model.certificate import Certificate, Inputs
from pinctl.model.entry import Target
from pinctl.model.landing import BumpPlan, Landed, PinMove, Proven, Staged, ToLand
from pinctl.model.lock import LockDiff
from pinctl.model.matrix import CaseResult, Cell, FieldResult, Matrix, Verdict
from pinctl.model.need import Need
from pinctl.model.oid import Oid
from pinctl.model.order import OrderProof
from pinctl.model.pins import Component, GitlinkSite
from pinctl.model.plan import Change, LandingPlan
from pinctl.model.requirement import FloorMove, FloorSite
from pinctl.model.walk import CounterExample
from pinctl.tools.files.certificate_file import certificate_bytes
from pinctl.tools.git.history import Person
from support import Git


def oid(digit: str) -> Oid:
    return Oid(digit * 40)


def component(name: str) -> Component:
    return Component(name=name, site=GitlinkSite(path=f"deps/{name}"))


def move(name: str, *, before: Oid | None, landed: tuple[Landed, ...], incoming: tuple[str, ...]) -> PinMove:
    return PinMove(
        component=component(name),
        path=f"deps/{name}",
        before=before,
        after=oid("b"),
        version=Version("0.4.1"),
        incoming=incoming,
        landed=landed,
    )


RENDERERS = Change(id="renderers", component="renderers", pull=174)
HOTFIX = Change(id="hotfix", component="renderers", branch="hotfix")
SERVER = Change(id="server", component="prime-rl", pull=3900, branch="perf/packed", pins=("renderers", "verifiers"))
PLAN = LandingPlan(
    name="packed-generate",
    path=Path("packed-generate.toml"),
    title="Pack the payloads",
    changes=(RENDERERS, SERVER),
    contract=None,
)
LANDED = (Landed(change=RENDERERS, commit=oid("c")), Landed(change=HOTFIX, commit=oid("d")))
BUMP = BumpPlan(
    target="main",
    tip=oid("0"),
    plan=PLAN,
    to_land=(ToLand(change=SERVER, head=oid("e"), subject="Pack"),),
    landed=LANDED,
    moves=(
        move("renderers", before=oid("a"), landed=LANDED, incoming=("Export names", "Read packed (#174)")),
        move("verifiers", before=None, landed=(), incoming=tuple(f"Change {index}" for index in range(10))),
    ),
    targets={name: Target(commit=oid("b"), tag=None, version=None) for name in ("renderers", "verifiers")},
    floors={"renderers": Version("0.1.12")},
)
SITE = FloorSite(
    manifest="pyproject.toml", key="project.dependencies", line=3, text="renderers>=0.1.11", floor=Version("0.1.11")
)
FLOOR = FloorMove(component="renderers", site=SITE, before=Version("0.1.11"), after=Version("0.1.12"))
STAGED = Staged(
    bump=BUMP,
    tree=oid("1"),
    commit=oid("2"),
    floors=(FLOOR, FLOOR),
    entries=(),
    excluded=("deps/envs/new",),
    lock=LockDiff(),
)


def cell(verdict: Verdict, client: str) -> Cell:
    cases = (CaseResult(case="greedy", fields=(FieldResult(field="logprobs", verdict=verdict),)),)
    return Cell(server="staged", client=client, component="renderers", cases=cases)


MATRIX = Matrix(
    plan="packed-generate",
    servers=("staged",),
    clients=("new", "old"),
    cells=(cell(Verdict.OK, "new"), cell(Verdict.CORRUPTS, "old")),
    required=frozenset({("staged", "new")}),
)
ORDER = OrderProof(
    changes=("renderers", "server"),
    steps=(("renderers",), ("server",)),
    states=4,
    unsafe_states=1,
    unknown_states=0,
    orders=2,
    safe_orders=1,
    declared_safe=True,
    counter_example=CounterExample(
        steps=("server",),
        need=Need(landed=frozenset({"server"}), component="renderers", new=False, role="pinned"),
        cell=cell(Verdict.CORRUPTS, "old"),
    ),
    apart=(),
)
CERTIFICATE = Certificate(
    plan="packed-generate",
    parent=oid("c"),
    inputs=Inputs(plan="1" * 64, probes={}, cases={}, pins={}, tree=oid("1")),
    variants={},
    cells=(),
    needs=(),
    changes=("renderers", "server"),
    orders=2,
    safe_orders=1,
    made_with={},
)
PROVEN = Proven(staged=STAGED, matrix=MATRIX, order=ORDER, certificate=CERTIFICATE)
PEOPLE = (Person(name="Yuki Brandt", email="yuki@example.org", date="1767225600 +0900"),)

TRAILERS = (
    "Landing-Plan: packed-generate",
    f"Change: prime-rl#3900 {oid('e')}",
    "Pin: renderers aaaaaaa..bbbbbbb (#174)",
    "Pin: verifiers none..bbbbbbb",
)


def test_the_message_tells_what_moved_why_and_on_which_proof() -> None:
    assert commit_message(PROVEN, co_authors=PEOPLE) == "\n".join(
        (
            "Pack the payloads (#3900)",
            "",
            "deps/renderers aaaaaaa -> bbbbbbb, version 0.4.1",
            "- Export names",
            "- Read packed (#174)",
            "deps/verifiers none -> bbbbbbb, version 0.4.1",
            *(f"- Change {index}" for index in range(8)),
            "- and 2 more",
            "",
            "Floors:",
            "- renderers 0.1.11 -> 0.1.12 in pyproject.toml",
            "",
            "Left out of the workspace, for uv finds no solution with it:",
            "- deps/envs/new",
            "",
            "Proven on the code of both sides: 1 of 1 required cells ok.",
            "Safe order: renderers, server (1 of 2 orders are safe).",
            "Unsafe: server first; old corrupts.",
            "",
            *TRAILERS,
            f"Certificate: sha256:{hashlib.sha256(certificate_bytes(CERTIFICATE)).hexdigest()}",
            "Co-authored-by: Yuki Brandt <yuki@example.org>",
            "",
        )
    )


def test_a_bump_without_a_plan_names_what_it_bumps() -> None:
    moves = (replace(BUMP.moves[0], back=True), BUMP.moves[1])
    bump = replace(BUMP, plan=None, to_land=(), moves=moves, floors={}, rollback="0.4.1 loses rewards")
    staged = replace(STAGED, bump=bump, floors=(), excluded=())
    proven = Proven(staged=staged, matrix=None, order=None, certificate=None)
    message = commit_message(proven, co_authors=())
    assert message.splitlines()[0] == "Bump renderers and verifiers"
    assert message.split("\n\n")[-1].splitlines() == [
        "Bump: renderers, verifiers",
        *TRAILERS[2:],
        "Pin-Rollback: renderers 0.4.1 loses rewards",
    ]
    assert is_same_landing(message, bump)
    assert not is_same_landing(message, replace(bump, rollback=None))
    assert heading_of(bump) == "Bump: renderers, verifiers"
    assert is_landing(message, heading_of(bump))


def test_a_message_is_that_of_the_landing_it_was_written_for() -> None:
    message = commit_message(PROVEN, co_authors=PEOPLE)
    assert trailers_of(BUMP) == TRAILERS
    assert is_same_landing(message, BUMP)
    # Where it lands and what is proven of it may change; what is landed may not.
    assert is_same_landing(message, replace(BUMP, tip=oid("9"), target="release"))
    assert heading_of(BUMP) == heading_of_plan("packed-generate") == TRAILERS[0]
    assert is_landing(message, TRAILERS[0])


def test_a_message_is_not_that_of_another_landing() -> None:
    message = commit_message(PROVEN, co_authors=PEOPLE)
    others = (
        replace(BUMP, plan=None),
        replace(BUMP, plan=replace(PLAN, name="packed")),
        replace(BUMP, to_land=()),
        replace(BUMP, to_land=(ToLand(change=SERVER, head=oid("f"), subject="Pack"),)),
        replace(BUMP, moves=BUMP.moves[:1]),
        replace(BUMP, moves=BUMP.moves[::-1]),
        replace(BUMP, moves=(replace(BUMP.moves[0], after=oid("c")), BUMP.moves[1])),
    )
    assert [is_same_landing(message, other) for other in others] == [False] * len(others)
    assert not is_landing(message, heading_of_plan("packed"))
    assert not is_landing("Pack the payloads", heading_of_plan("packed-generate"))


def test_git_reads_the_same_trailers(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "message").write_text(commit_message(PROVEN, co_authors=PEOPLE))
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--file", tmp_path / "message")
    written = git(tmp_path, "log", "-1", "--format=%(trailers:only,unfold)").splitlines()
    assert [line for line in written if line] == [
        *TRAILERS,
        f"Certificate: {digest_of_certificate(certificate_bytes(CERTIFICATE))}",
        "Co-authored-by: Yuki Brandt <yuki@example.org>",
    ]
    assert is_same_landing(git(tmp_path, "log", "-1", "--format=%B"), BUMP)
