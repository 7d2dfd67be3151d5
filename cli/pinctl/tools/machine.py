"""Asks the machine how many probes it can bear at the same time."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path("/")


def probes_at_once(memory: int, *, root: Path = _ROOT) -> int:
    """Returns how many probes may run at the same time: one a processor, and no more than there is memory for.

    Args:
        memory: what one of them may use, in bytes.
        root: where the system's own files are.

    Returns:
        At least one: a probe that needs more than there is ends with an error of its own.
    """
    free = free_memory(root=root)
    bearable = _processors() if free is None else min(_processors(), free // memory)
    return max(1, bearable)


def free_memory(*, root: Path = _ROOT) -> int | None:
    """Returns how many bytes of memory are free, also within a container; None where the system does not say."""
    known = [free for free in (_of_machine(root), *_of_groups(root)) if free is not None]
    return min(known, default=None)


def _processors() -> int:
    """Returns on how many processors this process may run."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _of_machine(root: Path) -> int | None:
    """Reads /proc/meminfo (proc(5)): what can be had without swapping."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB$", _text(root / "proc/meminfo"), re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def _of_groups(root: Path) -> Iterator[int | None]:
    """Reads what the control group and those above it leave (cgroup v2); a container sees its own as the top one."""
    found = re.search(r"^0::/(.*)$", _text(root / "proc/self/cgroup"), re.MULTILINE)
    top = root / "sys/fs/cgroup"
    group = top / (found[1] if found else "")
    while group.is_relative_to(top):
        limit = _text(group / "memory.max").strip()
        used = _text(group / "memory.current").strip()
        if limit.isdigit() and used.isdigit():
            # The page cache is given back when somebody needs it.
            cache = re.search(r"^inactive_file (\d+)$", _text(group / "memory.stat"), re.MULTILINE)
            yield max(0, int(limit) - int(used) + (int(cache[1]) if cache else 0))
        group = group.parent


def _text(path: Path) -> str:
    """Returns the text of a file of the system; empty where there is none."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
