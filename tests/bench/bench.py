"""Measures what pinctl costs beside what a user would pick instead: `make bench`.

Every figure is a ratio within one run, of medians, so that it holds on another machine.
"""

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
from itertools import permutations
from pathlib import Path

import numpy as np
import orjson

from pinctl.demo.build import build_demo
from pinctl.flows.matrix.form_figures import reference_figures
from pinctl.model.matrix import CaseResult, Cell, FieldResult, Verdict
from pinctl.model.need import Need, needs_of
from pinctl.model.order import prove_order
from pinctl.model.plan import Change, Contract, LandingPlan, Probe
from pinctl.wire.cases import CASES
from pinctl.wire.sampling_mask import SamplingMask, encode_dense, encode_vllm

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


def show(what: str, value: float, other: str, other_value: float, *, authors: float | None = None) -> None:
    """Prints one comparison, beside what the authors of the change report of their own code and machines."""
    ratio = value / other_value if other_value else float("inf")
    beside = "" if authors is None else f"   authors {authors:7.3f}"
    print(f"  {what:<44} {value:10.4g}   {other:<36} {other_value:10.4g}   ratio {ratio:7.3f}{beside}")


def bench_wire() -> None:
    """Compares the wire forms at the size of prime-rl #3900: 12,500 tokens in one response."""
    print("wire forms, 12,500 tokens: bytes, strict decoding (s), objects that the garbage collector tracks")
    print("  (pinctl's decoders are strict, and hand out lists; the authors' client keeps arrays)")
    plain = replace(CASES["long"], sampling_mask=None, routed_experts=None)
    masked = replace(CASES["long"], routed_experts=None)
    for title, case, size, parsing in (
        ("without masks", plain, 0.12 / 1.71, 1.0 / 28.5),
        ("with masks", masked, 0.31 / 1.83, 1.4 / 31.4),
    ):
        (packed, packed_read), (lists, lists_read) = (
            reference_figures(form, case, repeat=RUNS) for form in ("packed", "vllm")
        )
        for name, value, other, authors in (
            ("bytes", packed.size, lists.size, size),
            ("decoding", packed_read.median, lists_read.median, parsing),
            ("encoding", packed.median, lists.median, None),
            ("tracked objects", packed.objects, lists.objects, None),
        ):
            assert value is not None, packed.reason
            assert other is not None, lists.reason
            show(f"{title}: packed {name}", value, f"vllm {name}", other, authors=authors)


def bench_dense_masks() -> None:
    """Compares the masks of SkyRL #1915 with lists, at its size: 4,096 tokens; the bytes' ratio depends on the ids."""
    print("SkyRL's dense masks, 4,096 tokens: encoding to JSON (s), bytes")
    for top_k, encoding in ((8, 1 / 10.8), (64, 1 / 20.6)):
        ids = np.arange(4_096 * top_k, dtype=np.uint64) * 2_654_435_761 % 2**32 % 151_000
        mask = SamplingMask(ids=ids.astype(np.int32), counts=np.full(4_096, top_k, dtype=np.int32))
        dense, lists = (partial(write_mask, encode, mask) for encode in (encode_dense, encode_vllm))
        show(
            f"top-k {top_k}: dense encoding",
            median_seconds(dense),
            "list encoding",
            median_seconds(lists),
            authors=encoding,
        )
        show(f"top-k {top_k}: dense bytes (authors: 0.82 to 1.14)", len(dense()), "list bytes", len(lists()))


def write_mask(encode: Callable[[SamplingMask], object], mask: SamplingMask) -> bytes:
    """Writes a mask as the JSON of a response holds it."""
    return orjson.dumps(encode(mask))


def bench_bump(directory: Path, pinctl: Path) -> None:
    """Compares a bump with the lock alone, and with what a release engineer runs by hand, without checks."""
    build_demo(directory)
    superproject = directory / "prime-rl"
    by_hand = directory / "by-hand"
    uv = Path(sys.executable).with_name("uv")
    packages = ("--refresh-package", "verifiers", "--refresh-package", "renderers")
    # git refuses submodules from directories of this machine without leave.
    git = ("git", "-c", "protocol.file.allow=always", "-c", "user.name=Bench", "-c", "user.email=bench@example.org")
    command(
        *git, "clone", "--quiet", "--recurse-submodules", directory / "remotes" / "prime-rl.git", by_hand, cwd=directory
    )()
    print("a bump of two components in the embedded stack (s)")

    def forget() -> None:
        subprocess.run(
            ["git", "update-ref", "-d", "refs/heads/landing/bump-renderers-verifiers"], cwd=superproject, check=False
        )
        shutil.rmtree(Path(os.environ["XDG_CACHE_HOME"]) / "pinctl" / "answers", ignore_errors=True)

    def go_back() -> None:
        command("git", "reset", "--quiet", "--hard", "origin/main", cwd=by_hand)()
        command("git", "submodule", "--quiet", "update", cwd=by_hand)()

    def move_by_hand() -> None:
        command(*git, "submodule", "--quiet", "update", "--remote", "deps/renderers", "deps/verifiers", cwd=by_hand)()
        command(uv, "lock", *packages, cwd=by_hand)()
        command(*git, "commit", "--quiet", "--all", "--message", "Bump", cwd=by_hand)()

    bump = median_seconds(command(pinctl, "bump", "renderers", "verifiers", cwd=superproject), before=forget)
    hand = median_seconds(move_by_hand, before=go_back)
    lock = median_seconds(command(uv, "lock", *packages, cwd=superproject))
    start_up = median_seconds(command(pinctl, "--version", cwd=superproject))
    show("pinctl bump", bump, "submodule update, lock, commit", hand)
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
    superproject, component = directory / "many", directory / "component"
    make_repositories(superproject, component)
    git_in(component, "commit", "--quiet", "--allow-empty", "-m", "first")
    commit = git_in(component, "rev-parse", "HEAD")
    git = partial(git_in, superproject)
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


def bench_audit(directory: Path, pinctl: Path) -> None:
    """Compares the audit of a history with a check of each of its commits."""
    print("an audit of 30 commits that move a pin (s)")
    superproject, component = directory / "history", directory / "moving"
    make_repositories(superproject, component)
    (superproject / ".gitmodules").write_text(f'[submodule "c"]\n\tpath = deps/c\n\turl = {component}\n')
    git_in(superproject, "add", ".gitmodules")
    for number in range(31):
        git_in(component, "commit", "--quiet", "--allow-empty", "-m", f"work {number}")
        pin = git_in(component, "rev-parse", "HEAD")
        git_in(superproject, "update-index", "--add", "--cacheinfo", f"160000,{pin},deps/c")
        git_in(superproject, "commit", "--quiet", "-m", f"pin {number}")

    def check_each() -> None:
        for number in range(30):
            head = f"HEAD~{number}"
            command(pinctl, "check", "--base", f"{head}~1", "--head", head, cwd=superproject)()

    audit = median_seconds(command(pinctl, "audit", "HEAD~30..HEAD", cwd=superproject))
    show("pinctl audit", audit, "pinctl check, 30 times", median_seconds(check_each))


def make_repositories(*directories: Path) -> None:
    """Makes empty repositories."""
    for directory in directories:
        directory.mkdir(parents=True)
        git_in(directory, "init", "--quiet", "--initial-branch=main")


def git_in(directory: Path, *arguments: str) -> str:
    """Runs git in a directory, and returns what it prints."""
    author = ("-c", "user.name=bench", "-c", "user.email=bench@pinctl.example")
    ended = subprocess.run(["git", *author, *arguments], cwd=directory, check=True, capture_output=True, text=True)
    return ended.stdout.strip()


def bench_order() -> None:
    """Compares the order proof with trying every order of a small plan, and shows it on one too large for that."""
    print("the proof of an order (s)")
    eight, sixteen = _plan_of(8), _plan_of(16)
    tried = median_seconds(partial(_try_every_order, eight))
    show("prove_order, 8 changes", median_seconds(partial(_prove, eight)), "every order of 8", tried)
    show("prove_order, 16 changes", median_seconds(partial(_prove, sixteen)), "every order of 8", tried)


def _plan_of(count: int) -> LandingPlan:
    """Returns a plan of that many changes: clients in two components, and a server that moves both pins."""
    names = ("renderers", "verifiers")
    companions = tuple(Change(id=f"c{index}", component=names[index % 2], pull=index + 1) for index in range(count - 1))
    server = Change(id="server", component="prime-rl", pull=count, pins=names)
    probe = Probe(path=Path("probe.py"))
    contract = Contract(server=probe, clients=dict.fromkeys(names, probe), cases=("greedy",))
    return LandingPlan(
        name="bench", path=Path("bench.toml"), title="Bench", changes=(*companions, server), contract=contract
    )


def _cell_of(need: Need) -> Cell:
    verdict = Verdict.REJECTS if need.landed and not need.new else Verdict.OK
    fields = (FieldResult(field="logprobs", verdict=verdict),)
    return Cell(server="s", client="c", component=need.component, cases=(CaseResult(case="greedy", fields=fields),))


def _prove(plan: LandingPlan) -> int:
    return prove_order(plan, superproject="prime-rl", cell_of=_cell_of).safe_orders


def _try_every_order(plan: LandingPlan) -> int:
    verdicts: dict[Need, Verdict] = {}
    safe = 0
    for order in permutations(plan.changes):
        landed: set[str] = set()
        pinned: set[str] = set()
        for change in order:
            landed.add(change.id)
            whole = {name for name in change.pins if all(c.id in landed for c in plan.changes if c.component == name)}
            pinned |= whole
            needs = needs_of(plan, frozenset(landed), superproject="prime-rl", pinned=frozenset(pinned))
            for need in needs:
                if need not in verdicts:
                    verdicts[need] = _cell_of(need).verdict
            if any(verdicts[need] is not Verdict.OK for need in needs):
                break
        else:
            safe += 1
    return safe


def main() -> None:
    """Measures everything, in a directory of its own and with a cache of its own."""
    pinctl = Path(sys.executable).with_name("pinctl")
    with tempfile.TemporaryDirectory(prefix="pinctl-bench-") as name:
        directory = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(directory / "cache")
        # A user runs compiled modules; the run that does not count compiles them.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        bench_wire()
        bench_dense_masks()
        bench_order()
        bench_bump(directory / "demo", pinctl)
        bench_matrix(directory / "demo", pinctl)
        bench_check(directory / "check", pinctl)
        bench_audit(directory / "audit", pinctl)


if __name__ == "__main__":
    main()
