"""Small values that refuse to be anything else: ids of objects, variants, plans, pins and standings."""

import pickle
from pathlib import Path

import pytest

from pinctl.errors import ExitStatus
from pinctl.model.finding import Finding, Findings
from pinctl.model.oid import ABBREVIATED, Oid
from pinctl.model.pins import Component, GitlinkSite, Pins, RequirementSite, SourceSite, SuperprojectDeclaration
from pinctl.model.plan import Change, LandingPlan
from pinctl.model.standing import Standing, StandingKind, Twin, TwinEvidence
from pinctl.model.variant import Code, Release, Wire, WrittenVariant, parse_variant

OID = Oid("0123456789abcdef0123456789abcdef01234567")
OTHER = Oid("fedcba9876543210fedcba9876543210fedcba98")


@pytest.mark.parametrize("text", ["0" * 40, "a" * 64, OID])
def test_a_full_id_is_forty_or_sixty_four_digits(text: str) -> None:
    assert Oid(text) == text
    assert Oid(text).short == text[:7]


@pytest.mark.parametrize(
    "text", ["", "a" * 39, "a" * 41, "a" * 63, "a" * 65, "A" * 40, "g" * 40, f"{'a' * 40}\n", f" {'a' * 39}", "HEAD"]
)
def test_anything_else_is_no_id(text: str) -> None:
    with pytest.raises(ValueError, match="is not a full object id") as caught:
        Oid(text)
    assert str(caught.value) == f"{text!r} is not a full object id"


def test_an_id_stays_one_when_it_is_copied() -> None:
    copied = pickle.loads(pickle.dumps(OID))  # noqa: S301 - our own bytes
    assert (copied, type(copied)) == (OID, Oid)


@pytest.mark.parametrize(("text", "fits"), [("a" * 7, True), ("a" * 6, False), ("A" * 7, False), ("a" * 65, False)])
def test_a_file_may_abbreviate_a_commit_to_seven_digits(text: str, fits: bool) -> None:  # noqa: FBT001 - a table
    assert (ABBREVIATED.fullmatch(text) is not None) == fits


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("wire:packed", WrittenVariant(kind="wire", name="packed")),
        ("wire:packed@main", WrittenVariant(kind="wire", name="packed@main")),
        ("renderers@main", WrittenVariant(kind="code", name="renderers", rest="main")),
        ("renderers@v0.1.12", WrittenVariant(kind="code", name="renderers", rest="v0.1.12")),
        ("renderers@perf/packed@2", WrittenVariant(kind="code", name="renderers", rest="perf/packed@2")),
        (f"prime-rl@{OID}", WrittenVariant(kind="code", name="prime-rl", rest=OID)),
        ("renderers@HEAD~1", WrittenVariant(kind="code", name="renderers", rest="HEAD~1")),
        ("renderers==0.1.12", WrittenVariant(kind="release", name="renderers", rest="0.1.12")),
        ("Flash_Attn.3==1!2.0rc1+cu12", WrittenVariant(kind="release", name="Flash_Attn.3", rest="1!2.0rc1+cu12")),
        ("renderers", None),
        ("", None),
        ("@main", None),
        ("renderers@", None),
        ("renderers==", None),
        ("==0.1", None),
        ("renderers== 0.1", WrittenVariant(kind="release", name="renderers", rest="0.1")),
    ],
)
def test_a_variant_of_code_a_release_or_a_form(text: str, expected: WrittenVariant | None) -> None:
    assert parse_variant(text) == expected


def test_variants_have_labels_that_can_be_written_again() -> None:
    assert Wire(form="packed").label == "wire:packed"
    assert Release(component="renderers", requirement="renderers==0.1.12").label == "renderers==0.1.12"
    assert Code(component="renderers", commit=OID).label == "renderers@0123456"
    assert Code(component="prime-rl", commit=OID, name="main").label == "prime-rl@main"


def test_a_plan_answers_for_its_changes() -> None:
    server = Change(id="server", component="prime-rl", pull=9, after=("reader",), pins=("verifiers", "renderers"))
    config = Change(id="config", component="prime-rl", branch="config", pins=("renderers",))
    reader = Change(id="reader", component="renderers", commit="0123456")
    plan = LandingPlan(
        name="plan", path=Path("plan.toml"), title="A plan", changes=(server, config, reader), contract=None
    )
    assert plan.change("config") is config
    with pytest.raises(KeyError, match="other"):
        plan.change("other")
    assert plan.of_superproject("prime-rl") == (server, config)
    assert plan.of_superproject("verifiers") == ()
    assert plan.in_order() == (config, reader, server)
    assert plan.moving() == ("verifiers", "renderers")
    assert [change.title for change in plan.changes] == ["prime-rl#9", "prime-rl config", "renderers 0123456"]
    assert Change(id="bare", component="renderers").title == "renderers bare"


def test_pins_find_the_component_of_a_gitlink() -> None:
    verifiers = Component(name="verifiers", site=GitlinkSite(path="deps/verifiers"))
    router = Component(name="router", site=SourceSite(name="deps/router"))
    exact = Component(name="exact", site=RequirementSite(name="deps/exact"))
    pins = Pins(
        path=Path("/somewhere/pins.toml"),
        superproject=SuperprojectDeclaration(name="prime-rl", url=None, branch=None, manifests=(), lock=None),
        components={"verifiers": verifiers, "router": router, "exact": exact},
    )
    assert pins.directory == Path("/somewhere")
    assert pins.at_gitlink("deps/verifiers") is verifiers
    assert pins.at_gitlink("deps/router") is None
    assert pins.at_gitlink("deps") is None


TWIN = Twin(commit=OTHER, evidence=TwinEvidence.SAME_TREE)


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        (Standing(kind=StandingKind.ON_BRANCH, branch="main", behind=0, ahead=0), "on main, at its tip"),
        (Standing(kind=StandingKind.ON_BRANCH, branch="main", behind=3, ahead=0), "on main, 3 behind"),
        (Standing(kind=StandingKind.AHEAD, branch="main", behind=0, ahead=2), "ahead of main by 2, unmerged"),
        (
            Standing(kind=StandingKind.DIVERGED, branch="main", behind=3, ahead=2),
            "diverged from main (2 ahead, 3 behind)",
        ),
        (
            Standing(kind=StandingKind.SQUASH_TWIN, branch="main", behind=3, ahead=2, twin=TWIN),
            "not on main; its content is there as fedcba9",
        ),
        (
            Standing(kind=StandingKind.REVERTED, branch="main", behind=3, ahead=0, reverted_by=OTHER),
            "on main, but reverted by fedcba9",
        ),
        (
            Standing(
                kind=StandingKind.REVERTED,
                branch="main",
                behind=3,
                ahead=1,
                twin=TWIN,
                reverted_by=Oid("abcdef0" * 5 + "abcde"),
            ),
            "not on main; its content was there as fedcba9, but reverted by abcdef0",
        ),
        (
            Standing(kind=StandingKind.UNKNOWN, branch="main", reason="the remote does not answer"),
            "unknown: the remote does not answer",
        ),
    ],
)
def test_a_standing_is_told_in_a_few_words(standing: Standing, words: str) -> None:
    assert standing.describe() == words


def finding(*, unknown: bool = False, waived: str | None = None) -> Finding:
    return Finding(
        rule="PIN001", component="lib", path="deps/lib", line=None, message="x", unknown=unknown, waived=waived
    )


BROKEN, UNKNOWN, WAIVED = finding(), finding(unknown=True), finding(waived="on purpose")


@pytest.mark.parametrize(
    ("items", "status", "exit_status"),
    [
        ((), "ok", ExitStatus.YES),
        ((WAIVED,), "ok", ExitStatus.YES),
        ((finding(unknown=True, waived="offline"),), "ok", ExitStatus.YES),
        ((UNKNOWN,), "unknown", ExitStatus.UNKNOWN),
        ((WAIVED, UNKNOWN), "unknown", ExitStatus.UNKNOWN),
        ((BROKEN,), "broken", ExitStatus.NO),
        ((UNKNOWN, BROKEN, WAIVED), "broken", ExitStatus.NO),
    ],
)
def test_a_broken_rule_outweighs_one_that_could_not_be_judged(
    items: tuple[Finding, ...], status: str, exit_status: ExitStatus
) -> None:
    found = Findings(base=None, head="a" * 40, source="the command line", items=items, judged=())
    assert (found.status, found.exit_status) == (status, exit_status)
    assert found.counting == tuple(item for item in items if item.waived is None)
