"""How many probes a machine bears: bounded by processors and memory, also in a container."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from pinctl.tools import machine
from pinctl.tools.machine import free_memory, probes_at_once

GIB = 2**30


def system(top: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return top


def meminfo(available: int) -> str:
    return f"MemTotal:       999999999 kB\nMemFree:  1 kB\nMemAvailable:   {available // 1024} kB\n"


def test_the_memory_that_can_be_had_without_swapping_is_free(tmp_path: Path) -> None:
    assert free_memory(root=system(tmp_path, {"proc/meminfo": meminfo(8 * GIB)})) == 8 * GIB


def test_a_container_has_what_its_group_leaves(tmp_path: Path) -> None:
    files = {
        "proc/meminfo": meminfo(64 * GIB),
        "proc/self/cgroup": "0::/\n",
        "sys/fs/cgroup/memory.max": f"{4 * GIB}\n",
        "sys/fs/cgroup/memory.current": f"{3 * GIB}\n",
        "sys/fs/cgroup/memory.stat": f"anon 5\ninactive_file {GIB}\n",
    }
    assert free_memory(root=system(tmp_path, files)) == 2 * GIB


def test_a_group_above_can_be_the_narrow_one(tmp_path: Path) -> None:
    files = {
        "proc/meminfo": meminfo(64 * GIB),
        "proc/self/cgroup": "0::/jobs/one\n",
        "sys/fs/cgroup/jobs/memory.max": f"{2 * GIB}\n",
        "sys/fs/cgroup/jobs/memory.current": f"{5 * GIB}\n",
        "sys/fs/cgroup/jobs/one/memory.max": "max\n",
        "sys/fs/cgroup/jobs/one/memory.current": f"{GIB}\n",
    }
    assert free_memory(root=system(tmp_path, files)) == 0


def test_a_system_that_does_not_say(tmp_path: Path) -> None:
    assert free_memory(root=tmp_path) is None


@pytest.mark.parametrize(
    ("processors", "available", "expected"),
    [(4, 64 * GIB, 4), (4, 5 * GIB, 2), (4, GIB, 1), (1, 64 * GIB, 1), (4, None, 4)],
)
def test_probes_are_bounded_by_processors_and_by_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processors: int, available: int | None, expected: int
) -> None:
    monkeypatch.setattr(machine, "_processors", lambda: processors)
    root = system(tmp_path, {"proc/meminfo": meminfo(available)}) if available is not None else tmp_path
    assert probes_at_once(2 * GIB, root=root) == expected
