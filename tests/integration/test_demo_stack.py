"""Holds the embedded stack to what it is for: the same history for everybody, and a landing that has an order."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import uv

from pinctl.demo.build import build_demo
from pinctl.demo.history import COMPONENTS, SUPERPROJECT
from pinctl.errors import BadInputError, CouldNotFindOutError
from pinctl.tools.git.command import run_git

REPOSITORIES = tuple(repository.name for repository in (*COMPONENTS, SUPERPROJECT))
BRANCH = "refs/heads/perf/packed-generate-gc"

Environment = Callable[[str, str], Path]

# Runs inside an environment: calls one function of a probe, and tells what it gave or how it refused.
CALL = """
import importlib.util, json, sys
path, name, arguments = json.load(sys.stdin)
spec = importlib.util.spec_from_file_location("probe", path)
probe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(probe)
if "body" in arguments:
    arguments["body"] = arguments["body"].encode()
try:
    value = getattr(probe, name)(*arguments.values())
except Exception as error:
    json.dump({"refused": f"{type(error).__name__}: {error}"}, sys.stdout)
else:
    json.dump({"value": value}, sys.stdout)
"""

PROMPT = [5, 6, 7]
CASE: dict[str, Any] = {
    "name": "all",
    "prompt_token_ids": PROMPT,
    "token_ids": [8, 9, 10],
    "finish_reason": "stop",
    "logprobs": [-0.5, -0.25, -2.0],
    "sampling_mask": [[8, 3], [9], []],
    "routed_experts": {"ids": [[[1, 2], [3, 300]], [[4, 5], [6, 7]], [[8, 9], [10, 11]], [[0, 1], [2, 3]]], "start": 1},
    "routed_experts_shape": [4, 2, 2],
}
NO_EVIDENCE = CASE | {"name": "no-evidence", "logprobs": [-0.5, None, -2.0]}
EMPTY = CASE | {
    "name": "empty",
    "token_ids": [],
    "finish_reason": "abort",
    "logprobs": [],
    "sampling_mask": [],
    "routed_experts": {"ids": [[[1, 2], [3, 4]]], "start": 1},
    "routed_experts_shape": [1, 2, 2],
}


@pytest.fixture(scope="module", autouse=True)
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("GIT_", "UV_", "XDG_", "VIRTUAL_ENV"))]:
            patch.delenv(name)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("UV_CACHE_DIR", str(tmp_path_factory.mktemp("uv-cache")))
        patch.setenv("UV_NO_CONFIG", "1")
        patch.setenv("UV_OFFLINE", "1")
        patch.setenv("UV_PYTHON", sys.executable)
        yield


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("stack") / "demo"
    build_demo(directory)
    return directory


@pytest.fixture(scope="module")
def environment(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Gives the Python of an environment that holds one repository's package at one commit."""

    @cache
    def make(repository: str, revision: str) -> Path:
        top = tmp_path_factory.mktemp("environment")
        run_git(top, "clone", "--quiet", "--no-checkout", str(demo / "remotes" / f"{repository}.git"), "source")
        run_git(top / "source", "fetch", "--quiet", "origin", "+refs/pull/*:refs/pull/*")
        run_git(top / "source", "checkout", "--quiet", revision)
        run_uv(top, "venv", "venv")
        python = top / "venv" / "bin" / "python"
        run_uv(top, "pip", "install", "--no-deps", "--python", str(python), str(top / "source"))
        return python

    return make


def run(*command: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, text=True, check=False)


def run_uv(cwd: Path, *arguments: str) -> str:
    done = run(uv.find_uv_bin(), *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refs(demo: Path) -> dict[str, dict[str, str]]:
    return {
        name: dict(
            line.split()
            for line in run_git(
                demo / "remotes" / f"{name}.git", "for-each-ref", "--format=%(refname) %(objectname)"
            ).text.splitlines()
        )
        for name in REPOSITORIES
    }


def ask(repository: Path, *arguments: str) -> str:
    return run_git(repository, *arguments).text


def subjects(repository: Path, revision: str) -> dict[str, str]:
    return {line[41:]: line[:40] for line in ask(repository, "log", "--format=%H %s", revision).splitlines()}


def call(python: Path, probe: str, function: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    path = Path(__file__).parents[2] / "landing_plans" / "probes" / f"{probe}.py"
    done = run(str(python), "-c", CALL, cwd=python.parent, stdin=json.dumps([str(path), function, arguments]))
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def encode(python: Path, case: dict[str, Any]) -> str:
    return json.dumps(call(python, "generate_server", "encode", {"case": case})["value"])


def read(python: Path, probe: str, function: str, body: str, *, start: int | None = 1) -> dict[str, Any]:
    request = {"prompt_token_ids": PROMPT, "routed_experts_start": start}
    return call(python, probe, function, {"body": body, "request": request})


def test_everybody_gets_the_same_refs(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    template = tmp_path / "template"
    (template / "hooks").mkdir(parents=True)
    hook = template / "hooks" / "post-checkout"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    (tmp_path / ".gitconfig").write_text(
        "[user]\n\tname = Somebody Else\n\temail = else@elsewhere.example\n"
        "[core]\n\tautocrlf = true\n[commit]\n\tgpgSign = true\n"
        f"[init]\n\tdefaultBranch = trunk\n\ttemplateDir = {template}\n[i18n]\n\tcommitEncoding = latin1\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody Else")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2001-01-01T00:00:00")
    monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")
    monkeypatch.chdir(tmp_path)

    build_demo(Path("elsewhere/demo"))

    again = tmp_path / "elsewhere" / "demo"
    assert refs(again) == refs(demo)
    assert {
        name: ask(again / "remotes" / f"{name}.git", "symbolic-ref", "HEAD") for name in REPOSITORIES
    } == dict.fromkeys(REPOSITORIES, "refs/heads/main")
    assert ask(again / "prime-rl", "ls-files", "--eol", "uv.lock").split()[:2] == ["i/lf", "w/lf"]


def test_the_ids_are_these(demo: Path) -> None:
    assert refs(demo) == {
        "renderers": {
            "refs/heads/main": "782901296b6ffd058b8b7e65569991b91e320144",
            "refs/pull/174/head": "9b08986e8a0f4fa12b26794c5d86aa6f45473f46",
            "refs/tags/renderers-v0.1.11": "c675b0139e7d4c6a806e4f450519bad779cafca1",
            "refs/tags/renderers-v0.1.12": "88596d622c97f9a05a861d33979a8e0b897feedd",
        },
        "verifiers": {
            "refs/heads/main": "33d18f4256bf3bc955fd0068700c1c5445c44871",
            "refs/pull/2778/head": "b14ba7c0b232284947d470cf0ee887e09642e500",
            "refs/tags/v0.3.0": "4dcaf341227c62dd1693ffc858b2b5ce93c935d5",
            "refs/tags/v0.4.0": "f2b920890e568c13ac248e731cc95154bc698c5e",
            "refs/tags/v0.5.0.dev1": "653af4c9bd877fa3344707966d5e76ce5724a2e7",
        },
        "prime-rl": {
            "refs/heads/main": "4454c2d93cc385f0ec8372c06985a1ec8385152d",
            BRANCH: "985953811c9d39dff15c4756dc69aca1b1d4635a",
            "refs/pull/3900/head": "985953811c9d39dff15c4756dc69aca1b1d4635a",
        },
    }


def test_the_clone_is_clean_and_pins_what_it_records(demo: Path) -> None:
    clone = demo / "prime-rl"
    assert ask(clone, "status", "--porcelain", "--branch") == "## main...origin/main"
    assert ask(clone, "config", "--local", "user.name") == "pinctl demo"
    assert ask(clone, "config", "--local", "user.email") == "demo@pinctl.example"
    assert run_git(clone, "config", "--local", "protocol.file.allow", accept=(0, 1)).status == 1
    for revision in ("main", "main~1", "main~2", "origin/perf/packed-generate-gc"):
        components = tomllib.loads(ask(clone, "show", f"{revision}:pins.toml"))["components"]
        recorded = {entry["pin"]["gitlink"]: entry["commit"] for entry in components.values()}
        links = (line.split() for line in ask(clone, "ls-tree", revision, "deps/").splitlines())
        assert recorded == {path: commit for _mode, _kind, commit, path in links}
    for path in ("deps/renderers", "deps/verifiers"):
        assert ask(clone / path, "rev-parse", "HEAD") == ask(clone, "rev-parse", f"HEAD:{path}")


def test_no_placeholder_is_left_and_the_lock_names_no_index(demo: Path) -> None:
    for name in REPOSITORIES:
        remote = demo / "remotes" / f"{name}.git"
        revisions = ask(remote, "rev-list", "--all").split()
        assert run_git(remote, "grep", "-l", "@{", *revisions, accept=(0, 1)).text == ""
    lock = (demo / "prime-rl" / "uv.lock").read_text()
    assert {next(iter(package["source"])) for package in tomllib.loads(lock)["package"]} == {"editable"}
    assert "://" not in lock


@pytest.mark.parametrize(
    ("name", "pull", "squash", "same_tree"),
    [
        ("renderers", "refs/pull/174/head", "Read packed completion logprobs (#174)", True),
        ("verifiers", "refs/pull/2778/head", "Decode packed sampling masks (#2778)", False),
    ],
)
def test_a_squash_says_what_its_pull_request_says(
    demo: Path,
    name: str,
    pull: str,
    squash: str,
    same_tree: bool,  # noqa: FBT001
) -> None:
    remote = demo / "remotes" / f"{name}.git"
    twin = subjects(remote, "main")[squash]
    fork = ask(remote, "merge-base", "main", pull)

    def patch_id(old: str, new: str) -> str:
        diff = run_git(remote, "diff-tree", "-p", old, new).stdout
        return run_git(remote, "patch-id", "--stable", stdin=diff).text.split()[0]

    assert (ask(remote, "rev-parse", f"{twin}^{{tree}}") == ask(remote, "rev-parse", f"{pull}^{{tree}}")) is same_tree
    assert patch_id(f"{twin}^", twin) == patch_id(fork, pull)
    assert run_git(remote, "merge-base", "--is-ancestor", pull, "main", accept=(0, 1)).status == 1
    authors = set(ask(remote, "log", "--format=%an", "main").splitlines())
    assert authors.isdisjoint(ask(remote, "log", "--format=%an", f"{fork}..{pull}").splitlines())
    assert ask(remote, "for-each-ref", "--format=%(refname)", "refs/heads") == "refs/heads/main"


def test_the_server_branch_conflicts_with_main_in_the_pin_and_its_record_alone(demo: Path) -> None:
    remote = demo / "remotes" / "prime-rl.git"
    assert ask(remote, "rev-parse", BRANCH) == ask(remote, "rev-parse", "refs/pull/3900/head")
    clone = demo / "prime-rl"
    for number in (174, 2778):
        path = {174: "deps/renderers", 2778: "deps/verifiers"}[number]
        head = ask(demo / "remotes" / f"{Path(path).name}.git", "rev-parse", f"refs/pull/{number}/head")
        assert ask(remote, "rev-parse", f"{BRANCH}:{path}") == head
    merged = run_git(
        clone,
        *("merge-tree", "--write-tree", "--name-only", "--no-messages", "main", "origin/perf/packed-generate-gc"),
        accept=(1,),
    )
    assert merged.text.splitlines()[1:] == ["deps/verifiers", "pins.toml"]


def test_a_directory_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(BadInputError) as refusal:
        build_demo(tmp_path)
    assert refusal.value.message == f"{tmp_path} is not empty"
    assert refusal.value.hint == "Name another directory, or remove this one."
    with pytest.raises(BadInputError, match="cannot hold the demo"):
        build_demo(tmp_path / "mine.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("exists", [True, False])
def test_a_build_that_fails_leaves_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    exists: bool,  # noqa: FBT001
) -> None:
    directory = tmp_path / "new" / "demo"
    if exists:
        directory.mkdir(parents=True)
    # The clone comes last, and git may not read a local path when only another protocol is allowed.
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "https")
    with pytest.raises(CouldNotFindOutError, match="clone"):
        build_demo(directory)
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*"))
    assert left == (["new", "new/demo"] if exists else [])


def test_the_locks_are_up_to_date_and_the_rollout_runs(demo: Path, tmp_path: Path) -> None:
    rolled_out = (
        "0 after None: prompt, 21 tokens, 21 routed, 0 masked\n"
        "1 after 0: model, 24 tokens, 24 routed, 24 masked\n"
        "2 after 1: prompt, 27 tokens, 27 routed, 0 masked\n"
        "3 after 2: model, 24 tokens, 24 routed, 24 masked\n"
    )
    shutil.copytree(demo, tmp_path / "demo", symlinks=True)
    clone = tmp_path / "demo" / "prime-rl"
    for revision in ("main", "origin/perf/packed-generate-gc"):
        run_git(clone, "checkout", "--quiet", revision)
        run_git(clone, "-c", "protocol.file.allow=always", "submodule", "update", "--quiet")
        run_uv(clone, "lock", "--check", "--offline")
        run_uv(clone, "sync", "--locked", "--offline", "--quiet")
        python = clone / ".venv" / "bin" / "python"
        assert run(str(python), "-m", "prime_rl.orchestrator.rollout", cwd=clone).stdout == rolled_out
        assert ask(clone, "status", "--porcelain") == ""

    # The server change without its pins: what a landing is there to prevent.
    run_git(clone, "checkout", "--quiet", "main", "--", "deps")
    run_git(clone, "submodule", "update", "--quiet")
    broken = run(str(python), "-m", "prime_rl.orchestrator.rollout", cwd=clone)
    assert broken.stderr.splitlines()[-1] == (
        "renderers.client.MalformedGenerateResponseError: Engine response choice.logprobs must be an object."
    )


@pytest.mark.parametrize(
    ("repository", "revision", "version"),
    [
        ("renderers", "renderers-v0.1.11", "0.1.11"),
        ("renderers", "main", "0.1.12"),
        ("verifiers", "v0.4.0", "0.4.0"),
        ("verifiers", "main~1", "0.4.1.dev4+g{commit}"),
    ],
)
def test_a_package_has_the_version_of_its_commit(
    demo: Path, environment: Environment, repository: str, revision: str, version: str
) -> None:
    python = environment(repository, revision)
    commit = ask(demo / "remotes" / f"{repository}.git", "rev-parse", "--short=7", revision)
    asked = run(
        str(python), "-c", f"import importlib.metadata as m; print(m.version({repository!r}))", cwd=python.parent
    )
    assert asked.stdout == f"{version.format(commit=commit)}\n"


def test_without_a_repository_of_its_own_a_version_is_not_taken_from_the_one_around_it(
    demo: Path, tmp_path: Path
) -> None:
    run_git(tmp_path, "init", "--quiet")
    run_git(tmp_path, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "--allow-empty", "-m", "x")
    run_git(tmp_path, "tag", "v9.9.9")
    exported = run_git(demo / "remotes" / "verifiers.git", "archive", "--prefix=verifiers/", "main").stdout
    (tmp_path / "exported.tar").write_bytes(exported)
    shutil.unpack_archive(tmp_path / "exported.tar", tmp_path, filter="data")
    run_uv(tmp_path, "build", "--quiet", "--out-dir", str(tmp_path / "dist"), str(tmp_path / "verifiers"))
    built = sorted(path.name for path in (tmp_path / "dist").iterdir() if path.name != ".gitignore")
    assert built == ["verifiers-0.0.0-py3-none-any.whl", "verifiers-0.0.0.tar.gz"]


SERVERS = {"old": ("prime-rl", "main"), "new": ("prime-rl", "perf/packed-generate-gc")}


@pytest.mark.parametrize(
    ("server", "revision", "expected"),
    [
        ("old", "renderers-v0.1.11", {"value": CASE["logprobs"]}),
        ("old", "renderers-v0.1.12", {"value": CASE["logprobs"]}),
        ("old", "refs/pull/174/head", {"value": CASE["logprobs"]}),
        ("old", "main", {"value": CASE["logprobs"]}),
        (
            "new",
            "renderers-v0.1.12",
            {"refused": "MalformedGenerateResponseError: Engine response choice.logprobs must be an object."},
        ),
        ("new", "refs/pull/174/head", {"value": CASE["logprobs"]}),
        ("new", "main", {"value": CASE["logprobs"]}),
    ],
)
def test_logprobs_cross(environment: Environment, server: str, revision: str, expected: dict[str, Any]) -> None:
    body = encode(environment(*SERVERS[server]), CASE)
    assert read(environment("renderers", revision), "renderers_client", "decode_logprobs", body) == expected


@pytest.mark.parametrize(
    ("server", "where"),
    [("old", "choice.logprobs.content[1].logprob"), ("new", "choice.completion_logprobs[1]")],
)
def test_no_client_takes_missing_evidence_for_a_number(environment: Environment, server: str, where: str) -> None:
    body = encode(environment(*SERVERS[server]), NO_EVIDENCE)
    assert read(environment("renderers", "main"), "renderers_client", "decode_logprobs", body) == {
        "refused": f"MalformedGenerateResponseError: Engine response {where} does not contain sampling evidence."
    }


@pytest.mark.parametrize("server", ["old", "new"])
def test_renderers_hands_on_what_it_does_not_read(environment: Environment, server: str) -> None:
    body = encode(environment(*SERVERS[server]), CASE)
    choice = json.loads(body)["choices"][0]
    python = environment("renderers", "main")
    for field in ("sampling_mask", "routed_experts"):
        assert read(python, "renderers_client", f"relay_{field}", body) == {"value": choice[field]}


def test_the_first_release_drops_the_mask(environment: Environment) -> None:
    body = encode(environment(*SERVERS["old"]), CASE)
    python = environment("renderers", "renderers-v0.1.11")
    assert read(python, "renderers_client", "relay_sampling_mask", body) == {"value": None}


@pytest.mark.parametrize(
    ("server", "revision", "expected"),
    [
        ("old", "v0.4.0", {"value": CASE["sampling_mask"]}),
        ("old", "main", {"value": CASE["sampling_mask"]}),
        ("new", "v0.4.0", {"refused": "ValueError: invalid literal for int() with base 10: 'i'"}),
        ("new", "refs/pull/2778/head", {"value": CASE["sampling_mask"]}),
        ("new", "main", {"value": CASE["sampling_mask"]}),
    ],
)
def test_masks_cross(environment: Environment, server: str, revision: str, expected: dict[str, Any]) -> None:
    body = encode(environment(*SERVERS[server]), CASE)
    assert read(environment("verifiers", revision), "verifiers_client", "decode_sampling_mask", body) == expected


@pytest.mark.parametrize("server", ["old", "new"])
@pytest.mark.parametrize("revision", ["v0.4.0", "main"])
@pytest.mark.parametrize("case", [CASE, EMPTY], ids=["all", "empty"])
def test_experts_cross(environment: Environment, server: str, revision: str, case: dict[str, Any]) -> None:
    body = encode(environment(*SERVERS[server]), case)
    python = environment("verifiers", revision)
    assert read(python, "verifiers_client", "decode_routed_experts", body) == {"value": case["routed_experts"]}


@pytest.mark.parametrize("server", ["old", "new"])
def test_an_aborted_request_crosses_too(environment: Environment, server: str) -> None:
    body = encode(environment(*SERVERS[server]), EMPTY)
    assert read(environment("renderers", "main"), "renderers_client", "decode_logprobs", body) == {"value": []}
    assert read(environment("verifiers", "main"), "verifiers_client", "decode_sampling_mask", body) == {"value": []}


@pytest.mark.parametrize("server", ["old", "new"])
def test_experts_of_no_row_keep_their_dimensions(environment: Environment, server: str) -> None:
    case = EMPTY | {"routed_experts": {"ids": [], "start": 2}, "routed_experts_shape": [0, 3, 2]}
    (choice,) = json.loads(encode(environment(*SERVERS[server]), case))["choices"]
    assert choice["routed_experts"] == {"data": "", "shape": [0, 3, 2], "dtype": "uint8", "start": 2}


def test_a_field_that_was_not_asked_for_is_none(environment: Environment) -> None:
    bare = CASE | {"sampling_mask": None, "routed_experts": None}
    body = encode(environment(*SERVERS["new"]), bare)
    python = environment("verifiers", "main")
    for function in ("decode_sampling_mask", "decode_routed_experts"):
        assert read(python, "verifiers_client", function, body, start=None) == {"value": None}


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"dtype": "float64"}, " must have dtype 'float32', not 'float64'."),
        ({"shape": [2]}, " must have shape [3], not [2]."),
        ({"shape": [3, 1]}, " must have shape [3], not [3, 1]."),
        ({"data": None}, " must have data that is a string."),
        ({"data": "AAAAvwAAgL4AAADA\n"}, " must have data that is base64."),
        ({"data": "AAAAvwAAgL4="}, " must hold 12 bytes, not 8."),
        ({"data": "AAAAvwAAgL5="}, " must have data that is canonical base64."),
        ({"data": "AAAAvwAAgL4AAIB/"}, "[2] must be finite."),
        ({"data": "AAAAvwAAgL4APBzG"}, "[2] does not contain sampling evidence."),
    ],
)
def test_malformed_logprobs_are_refused(environment: Environment, change: dict[str, Any], refusal: str) -> None:
    response = json.loads(encode(environment(*SERVERS["new"]), CASE))
    response["choices"][0]["completion_logprobs"] |= change
    answer = read(environment("renderers", "main"), "renderers_client", "decode_logprobs", json.dumps(response))
    named = "MalformedGenerateResponseError: Engine response choice.completion_logprobs"
    assert answer == {"refused": f"{named}{refusal}"}


@pytest.mark.parametrize(
    ("part", "change", "refusal"),
    [
        ("ids", {"dtype": "int64"}, "sampling_mask.ids must have dtype 'int32', not 'int64'"),
        ("ids", {"shape": [3, 1]}, "sampling_mask.ids must have one dimension, not the shape [3, 1]"),
        ("counts", {"shape": [2]}, "sampling_mask.counts holds 12 bytes, its shape says 8"),
        ("counts", {"data": "AgAAAAIAAAAAAAAA"}, "sampling_mask.counts add up to 4, sampling_mask.ids holds 3"),
        ("counts", {"data": "AgAAAAIAAAD/////"}, "sampling_mask.counts holds a negative number"),
    ],
)
def test_malformed_masks_are_refused(environment: Environment, part: str, change: dict[str, Any], refusal: str) -> None:
    response = json.loads(encode(environment(*SERVERS["new"]), CASE))
    response["choices"][0]["sampling_mask"][part] |= change
    answer = read(environment("verifiers", "main"), "verifiers_client", "decode_sampling_mask", json.dumps(response))
    assert answer == {"refused": f"ValueError: {refusal}"}
