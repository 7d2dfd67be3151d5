"""The certificate of a landing: written with it, verified without running anything, refused where anything changed."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from support import Demo, Pinctl
from support.git import run
from support.rig import Checked, as_checked
from support.snapshot import unchanged
from support.stack import LANDING, commit, replaced, text_at

PATH = "landing_plans/certificates/packed-generate.json"
PLAN = "landing_plans/packed-generate.toml"
PROBE = "landing_plans/probes/renderers_client.py"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that keeps the landing of the first test for the others."""
    directory = tmp_path_factory.mktemp("kept")
    run(directory, "init", "--quiet", "--bare")
    return directory


@pytest.fixture
def landed(demo: Demo, pinctl: Pinctl, kept: Path) -> Demo:
    """A stack with a landing on its branch."""
    if (kept / "refs" / "heads" / LANDING).exists():
        run(demo.superproject, "fetch", "--quiet", str(kept), f"{LANDING}:{LANDING}")
        return demo
    result = pinctl("land", "packed-generate", cwd=demo.superproject)
    assert result.status == 0, result.stderr
    run(demo.superproject, "push", "--quiet", str(kept), LANDING)
    return demo


def _parent(demo: Demo) -> str:
    return run(demo.superproject, "rev-parse", f"{LANDING}^1")


def judged(demo: Demo, pinctl: Pinctl, head: str) -> Checked:
    return as_checked(pinctl("check", "--format", "json", "--base", "main", "--head", head, cwd=demo.superproject))


def of_matrix(found: Checked) -> list[dict[str, Any]]:
    """Returns what was found about certificates; the floors, which no release meets yet, are warned of as well."""
    return [item for item in found.findings if item["rule"].startswith("MTX")]


def certificate(demo: Demo) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(text_at(demo.superproject, LANDING, PATH))
    return values


def amended(demo: Demo, files: Mapping[str, str | None], **more: Any) -> str:
    """Makes the landing anew with other files, as `git commit --amend` does."""
    message = more.pop("message", None) or run(demo.superproject, "log", "-1", "--format=%B", LANDING)
    tree = run(demo.superproject, "rev-parse", f"{LANDING}^{{tree}}")
    commit(demo.superproject, "amended", message, files=files, tree=tree, parents=(_parent(demo),), **more)
    return "amended"


def test_it_says_what_was_proven_and_on_what(landed: Demo) -> None:
    found = certificate(landed)
    staged = [cell for cell in found["cells"] if cell["server"] == "prime-rl@staged"]

    assert found["inputs"]["pins"] == {
        name: run(landed.superproject, "rev-parse", f"{LANDING}:deps/{name}") for name in ("renderers", "verifiers")
    }
    assert found["inputs"]["plan"] == hashlib.sha256((landed.superproject / PLAN).read_bytes()).hexdigest()
    assert {cell["verdict"] for cell in staged} == {"ok", "rejects"}
    assert (found["changes"], found["orders"], found["safe_orders"]) == (["renderers", "verifiers", "server"], 6, 2)
    data = text_at(landed.superproject, LANDING, PATH).encode()
    trailers = run(landed.superproject, "log", "-1", "--format=%(trailers:key=Certificate,valueonly)", LANDING)
    assert trailers.strip() == f"sha256:{hashlib.sha256(data).hexdigest()}"


def test_a_landing_with_its_certificate_breaks_no_rule(landed: Demo, pinctl: Pinctl) -> None:
    found = judged(landed, pinctl, LANDING)
    assert (found.status, of_matrix(found)) == (0, [])


def test_the_same_landing_has_the_same_certificate(landed: Demo, pinctl: Pinctl) -> None:
    before = certificate(landed)
    run(landed.superproject, "branch", "-D", LANDING)
    assert pinctl("land", "packed-generate", cwd=landed.superproject).status == 0
    assert certificate(landed) == before


def _edit(path: str, old: str, new: str) -> Callable[[Demo], dict[str, str | None]]:
    return lambda demo: {path: replaced(text_at(demo.superproject, LANDING, path), (old, new))}


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda _: {"notes": "one more\n"}, "files of the superproject have changed"),
        (_edit(PLAN, 'title = "Pack the', 'title = "Do pack the'), "the plan has changed"),
        (lambda _: {PROBE: "# nothing\n"}, "the probe probes/renderers_client.py has changed"),
        (lambda _: {PATH: None}, "the change of plan packed-generate is there without a certificate"),
        (lambda _: {PATH: "{"}, "the certificate cannot be read: is no JSON"),
        (lambda _: {PATH: '{"version": 2}'}, "the certificate cannot be read: must be 1, not 2"),
        (lambda _: {PATH: '{"version": 1}'}, "the certificate cannot be read: Field required"),
    ],
)
def test_it_is_refused_where_anything_changed(
    landed: Demo, pinctl: Pinctl, edit: Callable[[Demo], dict[str, str | None]], words: str
) -> None:
    found = judged(landed, pinctl, amended(landed, edit(landed)))

    assert found.status == 1
    stale = [item for item in found.findings if item["rule"] == "MTX003"]
    assert any(words in item["message"] for item in stale), found.findings
    assert {(item["path"], item["fix"]) for item in stale} == {(PATH, "pinctl land packed-generate")}


def test_it_is_of_the_target_as_it_was(landed: Demo, pinctl: Pinctl) -> None:
    tip = commit(landed.superproject, "main", "Move on", files={"notes": "a note\n"})

    (finding,) = of_matrix(judged(landed, pinctl, LANDING))

    assert finding["rule"] == "MTX003"
    assert finding["message"].endswith(
        f"files of the superproject have changed; it is of a landing on {_parent(landed)[:7]}, "
        f"and the target is at {tip[:7]}"
    )


def _forged(demo: Demo, **changes: Any) -> str:
    found = certificate(demo)
    needed = {(need["server"], need["client"]) for need in found["needs"]}
    for cell in found["cells"]:
        if (cell["server"], cell["client"]) in needed:
            cell.update(changes)
    return json.dumps(found, indent=1, sort_keys=True) + "\n"


@pytest.mark.parametrize(("verdict", "rule", "status"), [("rejects", "MTX001", 1), ("unknown", "MTX002", 3)])
def test_what_is_needed_must_be_ok_in_it(landed: Demo, pinctl: Pinctl, verdict: str, rule: str, status: int) -> None:
    files = {PATH: _forged(landed, verdict=verdict, reason="so it was")}

    found = judged(landed, pinctl, amended(landed, files, message="Pack the per-token payloads of /generate (#3900)"))

    assert (found.status, {item["rule"] for item in of_matrix(found)}) == (status, {rule})
    assert all("so it was" in item["message"] for item in of_matrix(found))


def test_what_a_mode_needs_must_be_ok_in_it_too(demo: Demo, pinctl: Pinctl) -> None:
    top = demo.superproject
    plan = replaced(text_at(top, "main", PLAN), ("[contract]\n", '[contract]\nmode = "backward"\n'))
    commit(top, "main", "Ask for a mode", files={PLAN: plan})
    run(top, "push", "--quiet", "origin", "main")
    assert pinctl("land", "packed-generate", cwd=top).status == 0
    assert of_matrix(judged(demo, pinctl, LANDING)) == []

    found = certificate(demo)
    new = found["versions"]["renderers"][-1]
    assert found["versions"]["prime-rl"] == ["prime-rl@main", "prime-rl@staged"]
    found["cells"] = [cell for cell in found["cells"] if (cell["server"], cell["client"]) != ("prime-rl@main", new)]
    # The declared order has this cell as well; what is left of it is what the mode alone needs.
    found["needs"] = [need for need in found["needs"] if (need["server"], need["client"]) != ("prime-rl@main", new)]
    files: dict[str, str | None] = {PATH: json.dumps(found)}
    unknown = of_matrix(judged(demo, pinctl, amended(demo, files, message="Pack the payloads (#3900)")))
    assert f"plan packed-generate needs this cell ok: prime-rl@main x {new}: no such cell was run" in [
        item["message"] for item in unknown
    ]


def test_another_certificate_than_the_commit_names_is_refused(landed: Demo, pinctl: Pinctl) -> None:
    found = judged(landed, pinctl, amended(landed, {PATH: _forged(landed, reason="edited")}))

    assert [item["message"] for item in of_matrix(found)] == [
        "it is not the certificate that the landing's commit names"
    ]


def test_a_landing_that_somebody_changed_is_not_taken_for_it_nor_overwritten(landed: Demo, pinctl: Pinctl) -> None:
    changed = run(landed.superproject, "rev-parse", amended(landed, {"notes": "mine\n"}))
    run(landed.superproject, "update-ref", f"refs/heads/{LANDING}", changed)

    with unchanged(landed.superproject):
        result = pinctl("land", "packed-generate", cwd=landed.superproject)

    assert result.status == 1
    assert f"{LANDING} is at {changed[:7]}, a landing that was changed after its certificate was made" in result.stdout


def test_what_came_before_is_not_judged_again(landed: Demo, pinctl: Pinctl) -> None:
    """On the target, later changes make no certificate stale: it was of the landing."""
    merged = run(landed.superproject, "rev-parse", LANDING)
    run(landed.superproject, "update-ref", "refs/heads/main", merged)
    commit(landed.superproject, "later", "Go on", files={"notes": "a note\n"}, parents=(merged,))

    found = judged(landed, pinctl, "later")
    assert (found.status, of_matrix(found)) == (0, [])
