"""Measures what pinctl costs beside what a user would pick instead: `make bench`.

Every figure is a ratio within one run, of medians, so that it holds on another machine.
"""

import gc
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from pinctl.demo.build import build_demo
from pinctl.wire.body import parse_request, parse_response
from pinctl.wire.case import Case
from pinctl.wire.cases import CASES
from pinctl.wire.forms import FORMS, FieldName

RUNS = 5


def median_seconds(work: Callable[[], object], *, before: Callable[[], object] = lambda: None) -> float:
    """Returns the median time of a few runs, after one that does not count."""
    times = []
    for run in range(RUNS + 1):
        before()
        start = time.perf_counter()
        work()
        if run:
            times.append(time.perf_counter() - start)
    return statistics.median(times)


def command(*arguments: str | Path, cwd: Path) -> Callable[[], object]:
    """Returns work that runs a command."""
    return lambda: subprocess.run([str(word) for word in arguments], cwd=cwd, check=True, capture_output=True)


def show(what: str, value: float, other: str, other_value: float) -> None:
    """Prints one comparison."""
    ratio = value / other_value if other_value else float("inf")
    print(f"  {what:<44} {value:10.4g}   {other:<36} {other_value:10.4g}   ratio {ratio:7.3f}")


def bench_wire() -> None:
    """Compares the wire forms at the authors' size: 12,500 tokens in one response."""
    long = CASES["long"]
    print("wire forms, 12,500 tokens: bytes, strict decoding (s), objects that the garbage collector tracks")
    plain = replace(long, sampling_mask=None, routed_experts=None)
    masked = replace(long, routed_experts=None)
    for title, case in (("without masks", plain), ("with masks", masked)):
        packed, lists = (FORMS[name].encode(case) for name in ("packed", "vllm"))
        show(f"{title}: packed bytes", len(packed), "vllm bytes", len(lists))
        show(
            f"{title}: packed decoding",
            median_seconds(partial(decode, "packed", packed, case)),
            "vllm decoding",
            median_seconds(partial(decode, "vllm", lists, case)),
        )
        show(f"{title}: packed tracked objects", tracked(packed), "vllm tracked objects", tracked(lists))


def decode(form: str, body: bytes, case: Case) -> None:
    """Reads logprobs and mask as a client does, from one parse."""
    response, request = parse_response(body), parse_request(case.request())
    for name in (FieldName.LOGPROBS, FieldName.SAMPLING_MASK):
        FORMS[form].decode(name, response=response, request=request)


def tracked(body: bytes) -> int:
    """Counts the objects that a parsed response adds to the garbage collector's work."""
    gc.collect()
    before = len(gc.get_objects())
    kept = json.loads(body)
    count = len(gc.get_objects()) - before
    del kept
    return count


def bench_bump(directory: Path, pinctl: Path) -> None:
    """Compares a bump with what a release engineer would have to run for the lock alone."""
    build_demo(directory)
    superproject = directory / "prime-rl"
    uv = Path(sys.executable).with_name("uv")
    print("a bump of two components in the embedded stack (s)")

    def forget() -> None:
        subprocess.run(
            ["git", "update-ref", "-d", "refs/heads/landing/bump-renderers-verifiers"], cwd=superproject, check=False
        )
        shutil.rmtree(Path(os.environ["XDG_CACHE_HOME"]) / "pinctl" / "answers", ignore_errors=True)

    bump = median_seconds(command(pinctl, "bump", "renderers", "verifiers", cwd=superproject), before=forget)
    lock = median_seconds(
        command(uv, "lock", "--refresh-package", "verifiers", "--refresh-package", "renderers", cwd=superproject)
    )
    start_up = median_seconds(command(pinctl, "--version", cwd=superproject))
    show("pinctl bump", bump, "uv lock alone", lock)
    show("pinctl --version (start-up)", start_up, "uv lock alone", lock)


def bench_matrix(directory: Path, pinctl: Path) -> None:
    """Compares a matrix that answers from what it kept with one that makes every environment anew."""
    superproject = directory / "prime-rl"
    print("pinctl matrix packed-generate (s)")
    cache = Path(os.environ["XDG_CACHE_HOME"]) / "pinctl"
    work = command(pinctl, "matrix", "packed-generate", cwd=superproject)

    def forget() -> None:
        for name in ("answers", "environments"):
            shutil.rmtree(cache / name, ignore_errors=True)

    first = median_seconds(work, before=forget)
    again = median_seconds(work)
    show("again", again, "the first time", first)


def bench_check(directory: Path, pinctl: Path) -> None:
    """Compares a check of a pull request that moves no pin with looking at every submodule."""
    print("a check that moves no pin, 40 submodules (s)")
    superproject = directory / "many"
    superproject.mkdir(parents=True)
    environment = ["-c", "user.name=bench", "-c", "user.email=bench@pinctl.example"]

    def git(*arguments: str, cwd: Path = superproject) -> str:
        ended = subprocess.run(["git", *environment, *arguments], cwd=cwd, check=True, capture_output=True, text=True)
        return ended.stdout.strip()

    component = directory / "component"
    component.mkdir()
    git("init", "--quiet", "--initial-branch=main", cwd=component)
    git("commit", "--quiet", "--allow-empty", "-m", "first", cwd=component)
    commit = git("rev-parse", "HEAD", cwd=component)
    git("init", "--quiet", "--initial-branch=main")
    sections = []
    for number in range(40):
        sections.append(f'[submodule "c{number}"]\n\tpath = deps/c{number}\n\turl = {component}\n')
        git("update-index", "--add", "--cacheinfo", f"160000,{commit},deps/c{number}")
    (superproject / ".gitmodules").write_text("".join(sections))
    git("add", ".gitmodules")
    git("commit", "--quiet", "-m", "pins")
    git("commit", "--quiet", "--allow-empty", "-m", "something else")
    subprocess.run(
        ["git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"],
        cwd=superproject,
        check=True,
        capture_output=True,
    )
    check = median_seconds(command(pinctl, "check", cwd=superproject))
    loop = "git submodule --quiet foreach 'git merge-base --is-ancestor HEAD origin/main'"
    show("pinctl check", check, "git submodule foreach", median_seconds(command("sh", "-c", loop, cwd=superproject)))


def main() -> None:
    """Measures everything, in a directory of its own and with a cache of its own."""
    pinctl = Path(sys.executable).with_name("pinctl")
    with tempfile.TemporaryDirectory(prefix="pinctl-bench-") as name:
        directory = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(directory / "cache")
        bench_wire()
        bench_bump(directory / "demo", pinctl)
        bench_matrix(directory / "demo", pinctl)
        bench_check(directory / "check", pinctl)


if __name__ == "__main__":
    main()
