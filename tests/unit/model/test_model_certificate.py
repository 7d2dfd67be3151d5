"""What a certificate says of a need, and what makes it stale."""

from dataclasses import replace

import pytest

from pinctl.model.certificate import Certificate, CertifiedCell, CertifiedNeed, Inputs
from pinctl.model.matrix import Verdict
from pinctl.model.mode import Mode
from pinctl.model.need import Need

PIN, OTHER, TREE = "a" * 40, "b" * 40, "c" * 40
INPUTS = Inputs(plan="1", probes={"p.py": "2"}, cases={"greedy": "3"}, pins={"lib": PIN}, tree=TREE)
NEED = Need(landed=frozenset({"server"}), component="lib", new=True, role="pinned")
CERTIFICATE = Certificate(
    plan="plan",
    parent=OTHER,
    inputs=INPUTS,
    variants={"top@staged": TREE, "lib@aaaaaaa": PIN, "lib@bbbbbbb": OTHER},
    cells=(
        CertifiedCell(server="top@staged", client="lib@aaaaaaa", verdict=Verdict.OK, reason="", cases={}),
        CertifiedCell(server="top@staged", client="lib@bbbbbbb", verdict=Verdict.REJECTS, reason="no", cases={}),
    ),
    needs=(
        CertifiedNeed(
            landed=("server",), component="lib", new=True, role="pinned", server="top@staged", client="lib@aaaaaaa"
        ),
    ),
    changes=("lib", "server"),
    orders=2,
    safe_orders=1,
    made_with={},
)


def with_client(label: str | None) -> Certificate:
    return replace(CERTIFICATE, needs=(replace(CERTIFICATE.needs[0], client=label),))


def test_nothing_that_changed_is_nothing_to_say() -> None:
    assert INPUTS.changes_to(INPUTS) == ()


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (replace(INPUTS, plan="x"), ("the plan has changed",)),
        (replace(INPUTS, probes={"p.py": "x"}), ("the probe p.py has changed",)),
        (replace(INPUTS, probes={"p.py": "2", "q.py": "2"}), ("the probe q.py has changed",)),
        (replace(INPUTS, cases={}), ("the case greedy has changed",)),
        (replace(INPUTS, pins={"lib": OTHER}), ("lib is pinned at bbbbbbb, not at aaaaaaa",)),
        (replace(INPUTS, pins={}), ("lib is pinned at nothing, not at aaaaaaa",)),
        (replace(INPUTS, tree="d" * 40), ("files of the superproject have changed",)),
        # Whatever else changed is in the tree as well, and says more.
        (replace(INPUTS, plan="x", tree="d" * 40), ("the plan has changed",)),
    ],
)
def test_each_input_that_changed_is_named(now: Inputs, words: tuple[str, ...]) -> None:
    assert INPUTS.changes_to(now) == words


def test_a_need_is_answered_by_its_cell() -> None:
    assert CERTIFICATE.verdict_of(NEED)[0] is Verdict.OK


@pytest.mark.parametrize(
    "need",
    [
        replace(NEED, new=False),
        replace(NEED, role="head"),
        replace(NEED, component="other"),
        replace(NEED, landed=frozenset()),
    ],
)
def test_a_need_that_nothing_answers_is_unknown(need: Need) -> None:
    assert CERTIFICATE.verdict_of(need)[0] is Verdict.UNKNOWN


@pytest.mark.parametrize("label", [None, "lib@fffffff"])
def test_a_need_without_its_cell_is_unknown(label: str | None) -> None:
    assert with_client(label).verdict_of(NEED)[0] is Verdict.UNKNOWN


def test_a_cell_with_another_client_than_the_pinned_one_answers_nothing() -> None:
    verdict, words = with_client("lib@bbbbbbb").verdict_of(NEED)
    assert (verdict, words) == (
        Verdict.UNKNOWN,
        "top@staged x lib@bbbbbbb: the client is not the one at aaaaaaa, which is pinned",
    )


OF_A_MODE = replace(
    CERTIFICATE,
    cells=(*CERTIFICATE.cells, replace(CERTIFICATE.cells[0], server="top@main")),
    versions={"top": ("top@main", "top@staged"), "lib": ("lib@bbbbbbb", "lib@aaaaaaa")},
)


def of_mode(certificate: Certificate, mode: Mode) -> list[tuple[Verdict, str]]:
    return list(certificate.verdicts_of_mode(mode, server="top", client="lib"))


def test_each_cell_of_a_mode_is_looked_up() -> None:
    ok = [
        (Verdict.OK, "top@main x lib@aaaaaaa: ok"),
        (Verdict.OK, "top@staged x lib@aaaaaaa: ok"),
    ]
    assert of_mode(OF_A_MODE, Mode.BACKWARD) == ok
    assert of_mode(OF_A_MODE, Mode.FULL) == [*ok, (Verdict.REJECTS, "top@staged x lib@bbbbbbb: no")]
    without = replace(OF_A_MODE, cells=CERTIFICATE.cells)
    assert of_mode(without, Mode.BACKWARD) == [
        (Verdict.UNKNOWN, "top@main x lib@aaaaaaa: no such cell was run"),
        ok[1],
    ]


@pytest.mark.parametrize(
    ("versions", "mode", "lacking"),
    [
        ({}, Mode.FULL, "top"),
        ({"top": ("top@staged",), "lib": ("lib@bbbbbbb", "lib@aaaaaaa")}, Mode.BACKWARD, "top"),
        ({"top": ("top@main", "top@staged"), "lib": ("lib@aaaaaaa",)}, Mode.FULL_TRANSITIVE, "lib"),
    ],
)
def test_a_mode_that_looks_back_on_nothing_is_unknown(
    versions: dict[str, tuple[str, ...]], mode: Mode, lacking: str
) -> None:
    assert of_mode(replace(OF_A_MODE, versions=versions), mode) == [
        (Verdict.UNKNOWN, f"the mode {mode} needs more versions of {lacking} than the certificate is of")
    ]


def test_the_new_client_of_a_mode_is_the_pinned_one() -> None:
    other = replace(OF_A_MODE, versions={"top": ("top@main", "top@staged"), "lib": ("lib@aaaaaaa", "lib@bbbbbbb")})
    assert of_mode(other, Mode.BACKWARD)[0] == (
        Verdict.UNKNOWN,
        "lib@bbbbbbb is not the client at aaaaaaa, which is pinned",
    )


def test_a_bad_cell_is_told_with_its_reason() -> None:
    (good, bad) = CERTIFICATE.cells
    forged = replace(CERTIFICATE, cells=(replace(good, verdict=Verdict.CORRUPTS, reason="wrong"), bad))
    assert forged.verdict_of(NEED) == (Verdict.CORRUPTS, "top@staged x lib@aaaaaaa: wrong")
