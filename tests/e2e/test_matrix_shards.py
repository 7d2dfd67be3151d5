"""A matrix run in parts on machines that share nothing, and merged: the same as one run."""

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import Demo, Git, Pinctl
from support.git import run

PLAN = "packed-generate"
RELEASES = ("--server", "wire:vllm", "--server", "wire:packed")


def machine(demo: Demo, directory: Path) -> tuple[Path, dict[str, str]]:
    """Returns a clone of its own, and an environment with a cache of its own."""
    directory.mkdir()
    run(directory, "clone", "--quiet", str(demo.remote("prime-rl")), "prime-rl")
    return directory / "prime-rl", {**os.environ, "XDG_CACHE_HOME": str(directory / "cache")}


def start(cwd: Path, env: dict[str, str], *arguments: str | Path) -> "subprocess.Popen[str]":
    command = [str(Path(sys.executable).parent / "pinctl"), "matrix", PLAN, *map(str, arguments)]
    return subprocess.Popen(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_four_shards_on_four_machines_merge_to_what_one_run_says(demo: Demo, pinctl: Pinctl, tmp_path: Path) -> None:
    whole = pinctl("matrix", PLAN, "--format", "json", cwd=demo.superproject)
    shards = tmp_path / "shards"
    shards.mkdir()
    running = []
    for index in range(1, 5):
        cwd, env = machine(demo, tmp_path / f"machine-{index}")
        running.append(start(cwd, env, "--shard", f"{index}/4", "--format", "json"))
    for index, process in enumerate(running, 1):
        stdout, stderr = process.communicate()
        assert (process.returncode, stderr) == (0, "")
        (shards / f"{index}.json").write_text(stdout)
    # The files are all that it needs: neither the superproject nor a cache.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    durations = elsewhere / "durations.json"
    merged = pinctl("matrix", PLAN, shards, "--merge", "--durations", durations, "--format", "json", cwd=elsewhere)

    assert merged == whole
    assert (whole.status, json.loads(whole.stdout)["verdict"]) == (0, "ok")
    sizes = [len(json.loads((shards / f"{index}.json").read_text())["cells"]) for index in range(1, 5)]
    assert sizes == [2, 2, 2, 2]
    took = json.loads(durations.read_text())["seconds"]
    assert sorted(map(len, took.values())) == [2, 2]
    assert all(seconds > 0 for known in took.values() for seconds in known.values())

    (shards / "3.json").unlink()
    merged = pinctl("matrix", PLAN, shards, "--merge", "--format", "json", cwd=elsewhere)
    assert (merged.status, merged.stderr) == (3, "shard 3/4 is not there: its cells are unknown\n")
    lost = [cell for cell in json.loads(merged.stdout)["cells"] if cell["verdict"] == "unknown"]
    assert len(lost) == 2
    assert {cell["reason"] for cell in lost} == {"shard 3/4 is not there"}


@pytest.fixture
def clients(demo: Demo, git: Git) -> tuple[str, ...]:
    """Options for two clients whose environments other tests have made as well."""
    pins = [f"{name}@{git(demo.superproject, 'rev-parse', f'main:deps/{name}')}" for name in ("renderers", "verifiers")]
    return ("--client", pins[0], "--client", pins[1])


def write_shard(pinctl: Pinctl, demo: Demo, path: Path, number: str, *options: str | Path) -> Path:
    result = pinctl("matrix", PLAN, *options, "--shard", number, "--format", "json", cwd=demo.superproject)
    assert result.stderr == ""
    path.write_text(result.stdout)
    return path


def test_shards_of_other_inputs_are_refused_by_name_and_twins_are_not(
    demo: Demo, pinctl: Pinctl, tmp_path: Path, clients: tuple[str, ...]
) -> None:
    asked = (*RELEASES, *clients)
    one = write_shard(pinctl, demo, tmp_path / "one.json", "1/2", *asked)
    two = write_shard(pinctl, demo, tmp_path / "two.json", "2/2", *asked)
    whole = pinctl("matrix", PLAN, *asked, "--format", "json", cwd=demo.superproject)
    twin = tmp_path / "twin.json"
    shutil.copyfile(one, twin)
    assert pinctl("matrix", PLAN, two, one, twin, "--merge", "--format", "json", cwd=tmp_path) == whole
    assert whole.status == 1

    data = json.loads(one.read_text())
    data["cells"][0]["cases"] = []
    twin.write_text(json.dumps(data))
    refused = pinctl("matrix", PLAN, one, two, twin, "--merge", cwd=tmp_path)
    client = data["cells"][0]["client"]
    assert (refused.status, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"error: {one} and {twin} are both shard 1/2, and say different things of wire:vllm x {client}\n"
        "hint: Remove one of them.\n"
    )

    probe = demo.superproject / "landing_plans/probes/verifiers_client.py"
    probe.write_text(probe.read_text() + "# another one\n")
    other = write_shard(pinctl, demo, tmp_path / "other.json", "2/3", *asked)
    refused = pinctl("matrix", PLAN, one, other, "--merge", cwd=tmp_path)
    assert (refused.status, refused.stdout) == (2, "")
    first, *rest = refused.stderr.splitlines()
    assert first == f"error: {other} is no shard of the run that {one} is of:"
    assert [line.split(":")[0].strip() for line in rest] == ["probe of verifiers", "split", "hint"]

    refused = pinctl("matrix", "another", one, "--merge", cwd=tmp_path)
    assert refused.status == 2
    assert refused.stderr == (
        f"error: {one} is a shard of the plan {PLAN}, not of another\n"
        f"hint: Name its plan: pinctl matrix {PLAN} ... --merge\n"
    )
    two.write_text(two.read_text()[:-20])
    refused = pinctl("matrix", PLAN, one, two, "--merge", cwd=tmp_path)
    assert refused.status == 2
    assert refused.stderr.startswith(f"{two}:")


def test_more_shards_than_clients_are_empty_and_say_so(
    demo: Demo, pinctl: Pinctl, tmp_path: Path, clients: tuple[str, ...]
) -> None:
    asked = ("--server", "wire:vllm", *clients)
    empty = pinctl("matrix", PLAN, *asked, "--shard", "3/3", cwd=demo.superproject)
    assert (empty.status, empty.stdout) == (0, "shard 3/3 has no cells: there are more shards than clients (2)\n")
    files = [write_shard(pinctl, demo, tmp_path / f"{index}.json", f"{index}/3", *asked) for index in (1, 2, 3)]
    whole = pinctl("matrix", PLAN, *asked, "--format", "json", cwd=demo.superproject)
    assert pinctl("matrix", PLAN, *files, "--merge", "--format", "json", cwd=tmp_path) == whole
    assert pinctl("matrix", PLAN, *files[:2], "--merge", "--format", "json", cwd=tmp_path) == whole


def test_the_jobs_of_github_are_one_line_and_balanced_by_durations(
    demo: Demo, pinctl: Pinctl, tmp_path: Path, clients: tuple[str, ...]
) -> None:
    asked = ("--server", "wire:vllm", *clients, "--client", "verifiers@v0.4.0", "--client", "verifiers@main")
    names = [pin.partition("@")[0] + "@" + pin.partition("@")[2][:7] for pin in clients[1::2]]
    jobs = pinctl("matrix", PLAN, *asked, "--format", "github-matrix", cwd=demo.superproject)
    assert (jobs.status, jobs.stderr, jobs.stdout.count("\n")) == (0, "", 1)
    include = json.loads(jobs.stdout)["include"]
    assert [job["shard"] for job in include] == ["1/4", "2/4", "3/4", "4/4"]
    assert [job["name"] for job in include][:2] == names

    durations = tmp_path / "durations.json"
    durations.write_text(
        json.dumps({"version": 1, "seconds": {"verifiers": {names[1]: 1}, "renderers": {names[0]: 100}}})
    )
    options = ("--format", "github-matrix", "--shards", "2", "--durations", durations)
    jobs = pinctl("matrix", PLAN, *asked, *options, cwd=demo.superproject)
    include = json.loads(jobs.stdout)["include"]
    assert [job["name"].count("@") for job in include] == [1, 3]
    assert include[0] == {"shard": "1/2", "name": names[0]}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--shard", "5/4"), "--shard 5/4: must be I/N, the I-th of N, counted from 1"),
        (("--merge",), "--merge needs the files of the shards, or a directory of them"),
        (("shard.json",), "shard.json: files are for --merge"),
        (("none.json", "--merge"), "none.json is not there"),
        (("none.json", "--merge", "--shard", "1/2"), "--merge runs nothing: "),
        (("--shards", "2"), "--shards is for --format github-matrix"),
        (("--shard", "1/2", "--format", "github-matrix"), "--format github-matrix lists all shards: "),
    ],
)
def test_options_that_do_not_go_together(
    pinctl: Pinctl, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    result = pinctl("matrix", PLAN, *arguments, cwd=tmp_path)
    assert (result.status, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {words}")


def test_markdown_goes_to_the_job_summary_too(
    demo: Demo, pinctl: Pinctl, tmp_path: Path, clients: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    result = pinctl("matrix", PLAN, "--server", "wire:vllm", *clients, "--format", "markdown", cwd=demo.superproject)
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout.startswith("### pinctl matrix: ok\n\n`packed-generate`: 2 of 2 required cells are ok")
    assert summary.read_text() == result.stdout


@pytest.mark.parametrize("quiet", [False, True])
def test_a_terminal_shows_how_far_the_run_is_and_keeps_nothing_of_it(
    demo: Demo, clients: tuple[str, ...], *, quiet: bool
) -> None:
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "60", "NO_COLOR": "1"}
    command = [str(Path(sys.executable).parent / "pinctl"), *(["--quiet"] if quiet else []), "matrix", PLAN]
    process = subprocess.Popen(
        [*command, "--server", "wire:vllm", *clients],
        cwd=demo.superproject,
        env=env,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            data = os.read(ours, 4096)
        except OSError:
            break
        if not data:
            break
        shown += data
    stdout, _ = process.communicate()
    os.close(ours)
    assert process.returncode == 0
    assert stdout.splitlines()[-1] == "ok: 2 of 2 required cells are ok, 2 were run"
    if quiet:
        assert shown == b""
    else:
        assert b"2/2" in shown
        # The last thing that it does is to wipe its line, and no colour was used.
        assert b"\x1b[2K" in shown[-40:]
        assert b"\x1b[3" not in shown
