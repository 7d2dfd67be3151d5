"""Runs the matrix of packed-generate on the code of the embedded stack, and on code that does harm."""

import json
import time
from typing import Any

import pytest

from support import Demo, Git, Pinctl
from support.snapshot import unchanged
from support.stack import VERIFIERS_SQUASH, by_subject, commit, replaced, text_at

PROBES = "landing_plans/probes"
REJECTED = "MalformedGenerateResponseError: Engine response choice.logprobs must be an object."
NOT_REQUIRED = "not required: no state of the declared order has it"
CLIENT_KINDS = "a client is COMPONENT==VERSION, COMPONENT>=VERSION, COMPONENT@REVISION, or wire:FORM"
LISTS_ONLY = "ValueError: invalid literal for int() with base 10: 'i'"
BIG_ENDIAN = "big-endian bytes under a plain name"


@pytest.mark.usefixtures("own_cache")
def test_every_old_client_rejects_the_new_server_and_every_other_cell_is_ok(
    demo: Demo, pinctl: Pinctl, git: Git
) -> None:
    old, new = _pins(demo, git)
    with unchanged(demo.superproject, demo.remote("prime-rl")):
        result = pinctl("matrix", "packed-generate", "--format", "json", cwd=demo.superproject)

    assert (result.status, result.stderr) == (0, "")
    matrix = json.loads(result.stdout)
    assert (matrix["plan"], matrix["verdict"]) == ("packed-generate", "ok")
    cells = {(cell["server"], cell["client"]): (cell["verdict"], cell["required"]) for cell in matrix["cells"]}
    assert cells == {
        ("prime-rl@main", f"renderers@{old['renderers']}"): ("ok", True),
        ("prime-rl@main", f"renderers@{new['renderers']}"): ("ok", True),
        ("prime-rl@main", f"verifiers@{old['verifiers']}"): ("ok", True),
        ("prime-rl@main", f"verifiers@{new['verifiers']}"): ("ok", True),
        ("prime-rl@staged", f"renderers@{old['renderers']}"): ("rejects", False),
        ("prime-rl@staged", f"renderers@{new['renderers']}"): ("ok", True),
        ("prime-rl@staged", f"verifiers@{old['verifiers']}"): ("rejects", False),
        ("prime-rl@staged", f"verifiers@{new['verifiers']}"): ("ok", True),
    }
    reasons = {cell["client"]: cell["reason"] for cell in matrix["cells"] if cell["reason"]}
    assert reasons == {
        f"renderers@{old['renderers']}": f"greedy: logprobs: {REJECTED}",
        f"verifiers@{old['verifiers']}": f"top-p: sampling_mask: {LISTS_ONLY}",
    }


def test_a_cell_says_what_came_of_each_case_and_field(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    old, _ = _pins(demo, git)
    result = pinctl("matrix", "packed-generate", "--format", "json", cwd=demo.superproject)

    cells = json.loads(result.stdout)["cells"]
    (cell,) = (cell for cell in cells if cell["verdict"] == "rejects" and cell["client"].startswith("verifiers@"))
    assert set(cell) == {"server", "client", "verdict", "reason", "required", "cases", "strict", "controls"}
    # Each client is asked for the fields that it needs and that the case has.
    assert {case["case"]: (case["verdict"], case["reason"]) for case in cell["cases"]} == {
        "top-p": ("rejects", f"sampling_mask: {LISTS_ONLY}"),
        "sampling-mask": ("rejects", f"sampling_mask: {LISTS_ONLY}"),
        "routed-experts": ("ok", ""),
        "empty": ("rejects", f"sampling_mask: {LISTS_ONLY}"),
    }
    assert cell["cases"][0]["fields"] == [
        {"field": "sampling_mask", "verdict": "rejects", "reason": LISTS_ONLY, "evidence": ""}
    ]
    assert cell["client"] == f"verifiers@{old['verifiers']}"


def test_the_grid_shows_the_same(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    old, new = _pins(demo, git)
    result = pinctl("matrix", "packed-generate", cwd=demo.superproject)

    assert (result.status, result.stderr) == (0, "")
    assert [line.rstrip() for line in result.stdout.splitlines()] == [
        "client \\ server    prime-rl@main  prime-rl@staged",
        f"renderers@{old['renderers']}  ok             (rejects)",
        f"renderers@{new['renderers']}  ok             ok",
        f"verifiers@{old['verifiers']}  ok             (rejects)",
        f"verifiers@{new['verifiers']}  ok             ok",
        "",
        f"rejects  prime-rl@staged x renderers@{old['renderers']} (5 of 6 cases)  {NOT_REQUIRED}",
        f"    greedy: logprobs: {REJECTED}",
        f"rejects  prime-rl@staged x verifiers@{old['verifiers']} (3 of 4 cases)  {NOT_REQUIRED}",
        f"    top-p: sampling_mask: {LISTS_ONLY}",
        # Beside the verdicts: what clients take that they should refuse.
        f"lenient  verifiers@{old['verifiers']}: takes sampling_mask with one row less  of prime-rl@main",
        f"lenient  verifiers@{new['verifiers']}: takes sampling_mask with one row less  of prime-rl@main",
        f"lenient  renderers@{new['renderers']}: takes completion_logprobs with {BIG_ENDIAN}  of prime-rl@staged",
        "",
        "ok: 6 of 6 required cells are ok, 8 were run",
    ]


def test_the_new_decoder_of_masks_refuses_every_control_and_ids_of_experts_have_one_that_no_rule_gives_away(
    demo: Demo, pinctl: Pinctl, git: Git
) -> None:
    _, new = _pins(demo, git)
    result = pinctl("matrix", "packed-generate", "--format", "json", cwd=demo.superproject)

    (cell,) = (
        cell
        for cell in json.loads(result.stdout)["cells"]
        if (cell["server"], cell["client"]) == ("prime-rl@staged", f"verifiers@{new['verifiers']}")
    )
    changes = ("one row more in the shape", "data cut short", "base85", "big-endian bytes")
    places = ("sampling_mask.ids", "sampling_mask.counts", "routed_experts")
    expected = {f"{place}: {change}": "refused" for place in places for change in changes}
    expected["routed_experts: big-endian bytes"] = "taken"
    assert {control["control"]: control["outcome"] for control in cell["controls"]} == expected
    assert [control["control"] for control in cell["controls"] if not control["refusable"]] == [
        "routed_experts: big-endian bytes"
    ]


def test_variants_that_the_user_names_are_run_against_each_other(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    old, _ = _pins(demo, git)
    result = pinctl(
        *("matrix", "packed-generate", "--server", "wire:vllm", "--server", "wire:packed"),
        *("--server", "prime-rl@main~1", "--client", f"renderers@{old['renderers']}", "--client", "verifiers@main"),
        *("--format", "json"),
        cwd=demo.superproject,
    )

    assert (result.status, result.stderr) == (1, "")
    cells = json.loads(result.stdout)["cells"]
    tip = git(demo.remote("verifiers"), "rev-parse", "--short=7", "main")
    assert {(cell["server"], cell["client"]): (cell["verdict"], cell["required"]) for cell in cells} == {
        ("wire:vllm", f"renderers@{old['renderers']}"): ("ok", True),
        ("wire:packed", f"renderers@{old['renderers']}"): ("rejects", True),
        ("prime-rl@main~1", f"renderers@{old['renderers']}"): ("ok", True),
        ("wire:vllm", f"verifiers@{tip}"): ("ok", True),
        ("wire:packed", f"verifiers@{tip}"): ("ok", True),
        ("prime-rl@main~1", f"verifiers@{tip}"): ("ok", True),
    }


@pytest.mark.parametrize(
    ("option", "spec", "words"),
    [
        ("--server", "wire:pakced", "there is no wire form 'pakced'; did you mean 'packed'?"),
        ("--server", "prime", "a server is wire:FORM, prime-rl@REVISION, recorded:DIR, or a URL"),
        ("--server", "verifiers@main", "a server is wire:FORM, prime-rl@REVISION, recorded:DIR, or a URL"),
        ("--server", "recorded:nowhere", "nowhere is no directory, so it is no recording"),
        ("--server", "http://host?x", "a live server is http://HOST[:PORT][/PATH], or https"),
        ("--client", "wire:vlm", "there is no wire form 'vlm'; did you mean 'vllm'?"),
        ("--client", "http://host", CLIENT_KINDS),
        ("--client", "recorded:there", CLIENT_KINDS),
        ("--client", "renderers>>1", CLIENT_KINDS),
        ("--client", "verifier@main", "the plan has no probe of 'verifier'; did you mean 'verifiers'?"),
    ],
)
def test_variants_that_are_none(demo: Demo, pinctl: Pinctl, option: str, spec: str, words: str) -> None:
    result = pinctl("matrix", "packed-generate", option, spec, cwd=demo.superproject)

    assert (result.status, result.stdout) == (2, "")
    assert result.stderr.splitlines()[0] == f"error: {option} {spec}: {words}"


def test_a_client_that_corrupts_is_told_from_one_that_rejects_and_is_not_landed(
    demo: Demo, pinctl: Pinctl, git: Git
) -> None:
    # It reads the right number of ids for each token, in the wrong order: nothing looks broken.
    merged = _merge_differently(
        demo, git, ("return cls(ids=ids, counts=counts)", "return cls(ids=ids[::-1], counts=counts)")
    )

    with unchanged(demo.superproject):
        landing = pinctl("land", "packed-generate", cwd=demo.superproject)
        matrix = pinctl("matrix", "packed-generate", "--format", "json", cwd=demo.superproject)

    cell = f"prime-rl@staged x verifiers@{merged[:7]}"
    assert (landing.status, landing.stderr) == (1, "")
    first, *rest = landing.stdout.splitlines()
    assert first.startswith(f"refused: {cell}: corrupts: top-p: sampling_mask: no error, and a wrong value: entry 0 ")
    assert rest[-1] == "Nothing was changed."
    assert (matrix.status, matrix.stderr) == (1, "")
    assert _bad(matrix.stdout) == {cell: "corrupts"}
    assert json.loads(matrix.stdout)["verdict"] == "corrupts"


def test_a_client_that_drops_a_field_without_a_word_is_not_landed(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    merged = _merge_differently(
        demo,
        git,
        ("return cls(ids=ids, counts=counts)", "return cls(ids=array('i'), counts=array('i'))"),
    )

    with unchanged(demo.superproject):
        landing = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    cell = f"prime-rl@staged x verifiers@{merged[:7]}"
    assert (landing.status, landing.stderr) == (1, "")
    (objection,) = json.loads(landing.stdout)["objections"]
    assert objection["kind"] == "cell"
    assert objection["message"].startswith(f"{cell}: missing: top-p: sampling_mask: ")


def test_a_client_whose_code_does_not_load_is_unknown(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    merged = _merge_differently(demo, git, ("from verifiers.v1.packed import", "from verifiers.v1.paked import"))

    with unchanged(demo.superproject):
        landing = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert (landing.status, landing.stderr) == (3, "")
    reason = "the probe cannot be loaded: ModuleNotFoundError: No module named 'verifiers.v1.paked'"
    assert (
        landing.stdout
        == "".join(
            f"refused: prime-rl@{server} x verifiers@{merged[:7]}: unknown: top-p: sampling_mask: {reason}\n"
            "hint: Mend what the reason names, then run this again.\n"
            for server in ("main", "staged")
        )
        + "Nothing was changed.\n"
    )


def test_a_probe_that_does_not_load_is_unknown(demo: Demo, pinctl: Pinctl) -> None:
    probe = demo.superproject / PROBES / "generate_server.py"
    probe.write_text("import nothing_of_that_name\n" + probe.read_text())

    with unchanged(demo.superproject):
        landing = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)
        matrix = pinctl("matrix", "packed-generate", "--format", "json", cwd=demo.superproject)

    assert (landing.status, landing.stderr) == (3, "")
    objections = json.loads(landing.stdout)["objections"]
    assert {objection["kind"] for objection in objections} == {"unknown-cell"}
    assert len(objections) == 6
    assert all("No module named 'nothing_of_that_name'" in objection["message"] for objection in objections)
    assert (matrix.status, json.loads(matrix.stdout)["verdict"]) == (3, "unknown")
    assert set(_bad(matrix.stdout).values()) == {"unknown"}


def test_a_probe_that_hangs_is_unknown_when_its_time_is_over(demo: Demo, pinctl: Pinctl) -> None:
    plan = demo.superproject / "landing_plans/packed-generate.toml"
    probe = "probes/verifiers_client.py"
    plan.write_text(replaced(plan.read_text(), (f'probe = "{probe}"\n', f'probe = "{probe}"\nseconds = 1\n')))
    file = demo.superproject / "landing_plans" / probe
    hang = "    import time\n\n    time.sleep(600)\n"
    body = '    sent = _choice(body).get("sampling_mask")\n'
    file.write_text(replaced(file.read_text(), (body, hang + body)))

    start = time.monotonic()
    with unchanged(demo.superproject):
        landing = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    assert time.monotonic() - start < 60
    assert (landing.status, landing.stderr) == (3, "")
    messages = [objection["message"] for objection in json.loads(landing.stdout)["objections"]]
    assert len(messages) == 3
    assert all(message.endswith("the probe took longer than 1 s and was ended") for message in messages)


def test_a_probe_that_dies_is_unknown(demo: Demo, pinctl: Pinctl) -> None:
    file = demo.superproject / PROBES / "renderers_client.py"
    body = '    return list(_generate(body, request)["completion_logprobs"])\n'
    file.write_text(replaced(file.read_text(), (body, "    import os\n\n    os._exit(7)\n")))

    landing = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    assert (landing.status, landing.stderr) == (3, "")
    messages = [objection["message"] for objection in json.loads(landing.stdout)["objections"]]
    assert len(messages) == 3
    assert all("the probe ended with status 7" in message for message in messages)


def test_what_is_known_to_be_wrong_outweighs_what_is_unknown(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    _merge_differently(demo, git, ("return cls(ids=ids, counts=counts)", "return cls(ids=ids[::-1], counts=counts)"))
    probe = demo.superproject / PROBES / "renderers_client.py"
    probe.write_text("import nothing_of_that_name\n" + probe.read_text())

    landing = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    assert (landing.status, landing.stderr) == (1, "")
    kinds = [objection["kind"] for objection in json.loads(landing.stdout)["objections"]]
    assert sorted(kinds) == ["cell", "unknown-cell", "unknown-cell", "unknown-cell"]


def _pins(demo: Demo, git: Git) -> tuple[dict[str, str], dict[str, str]]:
    """Returns the short ids of the clients at main's pins, and as they were merged."""
    subjects = {"renderers": "Read packed completion logprobs (#174)", "verifiers": VERIFIERS_SQUASH}
    old = {name: git(demo.superproject, "rev-parse", "--short=7", f"main:deps/{name}") for name in subjects}
    new = {name: by_subject(demo.remote(name), "main", subject)[:7] for name, subject in subjects.items()}
    return old, new


def _bad(stdout: str) -> dict[str, str]:
    cells: list[dict[str, Any]] = json.loads(stdout)["cells"]
    bad = {f"{cell['server']} x {cell['client']}": cell["verdict"] for cell in cells if cell["verdict"] != "ok"}
    required = {f"{cell['server']} x {cell['client']}" for cell in cells if cell["required"]}
    return {name: verdict for name, verdict in bad.items() if name in required}


def _merge_differently(demo: Demo, git: Git, edit: tuple[str, str]) -> str:
    """Merges verifiers#2778 as if its last review had made one more edit, and returns the commit."""
    remote = demo.remote("verifiers")
    merged = by_subject(remote, "main", VERIFIERS_SQUASH)
    path = "verifiers/v1/types.py"
    git(remote, "update-ref", "refs/heads/main", f"{merged}~1")
    files = {path: replaced(text_at(remote, merged, path), edit)}
    return commit(remote, "main", VERIFIERS_SQUASH, tree=f"{merged}^{{tree}}", files=files)
