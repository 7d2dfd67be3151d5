"""Lands packed-generate in the embedded stack, as a user would: what the commit is, and what it says."""

import json
import re

from support import Demo, Git, Pinctl
from support.stack import (
    CONFIGS_MANIFEST,
    LANDING,
    RENDERERS_SQUASH,
    ROOT_MANIFEST,
    SERVER_BRANCH,
    SERVING,
    VERIFIERS_SQUASH,
    by_subject,
    commit,
    replaced,
    text_at,
)

TRAILER = re.compile(r"Certificate: sha256:[0-9a-f]{64}\n")
PINNED = ("renderers", "verifiers")
INES = ("Ines Calder", "ines@contributors.example")


def test_a_landing_is_one_commit_on_the_tip_of_main(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    main = git(demo.superproject, "rev-parse", "main")
    old_renderers, old_verifiers = (git(demo.superproject, "rev-parse", f"main:deps/{name}") for name in PINNED)
    renderers, verifiers = _squashes(demo)

    result = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    assert (result.status, result.stderr) == (0, "")
    landing = json.loads(result.stdout)
    assert landing == {
        "branch": LANDING,
        "commit": git(demo.superproject, "rev-parse", LANDING),
        "parent": main,
        "pins": [
            {
                "component": "renderers",
                "path": "deps/renderers",
                "from": old_renderers,
                "to": renderers,
                "version": "0.1.12",
                "pulls": [174],
            },
            {
                "component": "verifiers",
                "path": "deps/verifiers",
                "from": old_verifiers,
                "to": verifiers,
                "version": f"0.4.1.dev4+g{verifiers[:7]}",
                "pulls": [2778],
            },
        ],
        "already_landed": False,
        "pushed": None,
    }
    assert git(demo.superproject, "rev-parse", f"{LANDING}^@") == main


def test_its_tree_is_main_with_the_server_change_and_what_the_plan_moves(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0

    changed = git(demo.superproject, "diff", "--name-status", "--no-renames", "main", LANDING)
    assert changed.splitlines() == [
        "M\tdeps/renderers",
        "M\tdeps/verifiers",
        "A\tlanding_plans/certificates/packed-generate.json",
        f"M\t{CONFIGS_MANIFEST}",
        "M\tpins.toml",
        f"M\t{ROOT_MANIFEST}",
        "A\tsrc/prime_rl/inference/freeze.py",
        "M\tsrc/prime_rl/inference/server.py",
        f"M\t{SERVING}",
        "M\tuv.lock",
    ]
    for path in ("src/prime_rl/inference/freeze.py", "src/prime_rl/inference/server.py", SERVING):
        theirs = git(demo.superproject, "ls-tree", f"origin/{SERVER_BRANCH}", "--", path)
        assert git(demo.superproject, "ls-tree", LANDING, "--", path) == theirs != ""


def test_its_gitlinks_are_the_merged_commits_and_not_the_heads_of_the_pull_requests(
    demo: Demo, pinctl: Pinctl, git: Git
) -> None:
    heads = {"renderers": "refs/pull/174/head", "verifiers": "refs/pull/2778/head"}
    for name, head in heads.items():
        pinned = git(demo.superproject, "rev-parse", f"origin/{SERVER_BRANCH}:deps/{name}")
        assert git(demo.remote(name), "rev-parse", head) == pinned

    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0

    pins = git(demo.superproject, "ls-tree", LANDING, "deps/")
    assert pins.splitlines() == [
        f"160000 commit {oid}\tdeps/{name}" for name, oid in zip(PINNED, _squashes(demo), strict=True)
    ]


def test_the_floors_rise_in_both_manifests_and_nothing_else_in_them(demo: Demo, pinctl: Pinctl) -> None:
    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0

    before = {path: text_at(demo.superproject, "main", path) for path in (ROOT_MANIFEST, CONFIGS_MANIFEST)}
    assert text_at(demo.superproject, LANDING, ROOT_MANIFEST) == replaced(
        before[ROOT_MANIFEST],
        ('    "verifiers[harbor]>=0.3.0",\n', '    "verifiers[harbor]>=0.4.0",\n'),
        ("    'renderers[multimodal] >= 0.1.11',  # 0", "    'renderers[multimodal] >= 0.1.12',  # 0"),
    )
    assert text_at(demo.superproject, LANDING, CONFIGS_MANIFEST) == replaced(
        before[CONFIGS_MANIFEST], ("verifiers>=0.3.0", "verifiers>=0.4.0"), ("renderers>=0.1.11", "renderers>=0.1.12")
    )


def test_pins_toml_gets_the_new_records_and_keeps_its_comments(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    records = {name: git(demo.superproject, "rev-parse", f"main:deps/{name}") for name in PINNED}
    # One record is abbreviated and has a comment; the other one is not there yet, below a comment at the very end.
    before = replaced(
        text_at(demo.superproject, "main", "pins.toml"),
        ("version = 1\n", "# What this superproject pins.\nversion = 1  # of the format\n"),
        (f'commit = "{records["renderers"]}"\n', f"commit = '{records['renderers'][:9]}' # bumped by hand\n"),
        (f'commit = "{records["verifiers"]}"\n', "# Ask Tomas before you move it.\n"),
    )
    commit(demo.superproject, "main", "Say more in pins.toml", files={"pins.toml": before})
    renderers, verifiers = _squashes(demo)

    result = pinctl("land", "packed-generate", cwd=demo.superproject)

    assert result.status == 0, result.stderr + result.stdout
    assert text_at(demo.superproject, LANDING, "pins.toml") == replaced(
        before,
        (f"commit = '{records['renderers'][:9]}' #", f"commit = '{renderers}' #"),
        ("# Ask Tomas before you move it.\n", f'# Ask Tomas before you move it.\ncommit = "{verifiers}"\n'),
    )


def test_its_message_says_what_moved_and_why_with_trailers_that_git_reads(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    head = git(demo.superproject, "rev-parse", f"origin/{SERVER_BRANCH}")
    old_renderers, old_verifiers = (git(demo.superproject, "rev-parse", f"main:deps/{name}")[:7] for name in PINNED)
    renderers, verifiers = (oid[:7] for oid in _squashes(demo))

    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0

    message = git(demo.superproject, "log", "-1", "--format=%B", LANDING)
    assert (
        TRAILER.sub("Certificate: CERTIFICATE\n", message)
        == f"""\
Pack the per-token payloads of /generate (#3900)

deps/renderers {old_renderers} -> {renderers}, version 0.1.12
- Read packed completion logprobs (#174)
deps/verifiers {old_verifiers} -> {verifiers}, version 0.4.1.dev4+g{verifiers}
- Decode packed sampling masks (#2778)
- Turn a group's rewards into advantages

Floors:
- renderers 0.1.11 -> 0.1.12 in packages/prime-rl-configs/pyproject.toml
- renderers 0.1.11 -> 0.1.12 in pyproject.toml
- verifiers 0.3.0 -> 0.4.0 in packages/prime-rl-configs/pyproject.toml
- verifiers 0.3.0 -> 0.4.0 in pyproject.toml

Proven on the code of both sides: 6 of 6 required cells ok.
Safe order: renderers, verifiers, server (2 of 6 orders are safe).
Unsafe: server first; renderers@{old_renderers} rejects.

Landing-Plan: packed-generate
Change: prime-rl#3900 {head}
Pin: renderers {old_renderers}..{renderers} (#174)
Pin: verifiers {old_verifiers}..{verifiers} (#2778)
Certificate: CERTIFICATE
"""
    )
    trailers = git(demo.superproject, "log", "-1", "--format=%(trailers:only,unfold)", LANDING).rstrip("\n")
    (demo.directory / "message").write_text(message)
    parsed = git(demo.superproject, "interpret-trailers", "--parse", demo.directory / "message")
    assert parsed == trailers
    assert [line.partition(":")[0] for line in parsed.splitlines()] == [
        "Landing-Plan",
        "Change",
        "Pin",
        "Pin",
        "Certificate",
    ]


def test_its_author_is_who_wrote_the_change_and_its_committer_the_user(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    first = git(demo.superproject, "rev-list", "--reverse", f"main..origin/{SERVER_BRANCH}").splitlines()[0]
    person = "%an <%ae> %aI"

    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0

    written = git(demo.superproject, "log", "-1", f"--format={person}", LANDING)
    assert written == git(demo.superproject, "log", "-1", f"--format={person}", first)
    assert written.startswith("Yuki Brandt <yuki@contributors.example> ")
    assert git(demo.superproject, "log", "-1", "--format=%cn <%ce>", LANDING) == "Test <test@pinctl.example>"


def test_others_who_wrote_it_are_named_once_each_in_trailers(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    remote = demo.remote("prime-rl")
    for number in (1, 2):
        commit(remote, SERVER_BRANCH, f"Note {number}", files={f"notes/{number}": "a note\n"}, author=INES)
    commit(remote, SERVER_BRANCH, "Note 3", files={"notes/3": "a note\n"})

    assert pinctl("land", "packed-generate", cwd=demo.superproject).status == 0

    message = git(demo.superproject, "log", "-1", "--format=%B", LANDING)
    assert message.splitlines()[-2:] == [
        "Co-authored-by: Ines Calder <ines@contributors.example>",
        "Co-authored-by: Mara Lindqvist <mara@prime.example>",
    ]
    trailers = git(demo.superproject, "log", "-1", "--format=%(trailers:key=Co-authored-by,valueonly)", LANDING)
    assert trailers.splitlines()[:2] == [
        "Ines Calder <ines@contributors.example>",
        "Mara Lindqvist <mara@prime.example>",
    ]
    assert git(demo.superproject, "log", "-1", "--format=%an", LANDING) == "Yuki Brandt"


def _squashes(demo: Demo) -> tuple[str, str]:
    return (
        by_subject(demo.remote("renderers"), "main", RENDERERS_SQUASH),
        by_subject(demo.remote("verifiers"), "main", VERIFIERS_SQUASH),
    )
