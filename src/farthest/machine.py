"""What this machine has for a process: processors, and memory that is free."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/")
"""Where the system tells of itself."""

ALLOWED = 4, 5
"""The part of the free memory that is used where nothing else is asked for."""


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_limit(asked: int | None) -> int:
    """Bytes that may be used: those that were asked for, else four fifths of what is free now."""
    part, whole = ALLOWED
    return available_memory() * part // whole if asked is None else asked


def available_memory() -> int:
    """Bytes of memory that are free for this process now, as far as the system and its control groups tell."""
    return max(0, min([_free_of_system(), *_free_in_groups()]))


def _free_of_system() -> int:
    try:
        for line in (ROOT / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _free_in_groups() -> Iterator[int]:
    """What each control group of this process that has a limit may still take. A container may see its own group as
    the root: what is not there sets no limit."""
    for folder, limit, used in _groups():
        try:
            most, now = int((folder / limit).read_text()), int((folder / used).read_text())
            yield most - now + _cached(folder / "memory.stat")
        except (OSError, ValueError):  # no limit: the file is not there, or says "max"
            continue


def _groups() -> Iterator[tuple[Path, str, str]]:
    """The folders of this process's groups that may limit memory, each with the names of the files of the limit and of
    what is used: version 2, then version 1, and all groups that they are in."""
    try:
        lines = (ROOT / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = ["0::/"]
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            top, files = ROOT / "sys/fs/cgroup", ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            top, files = ROOT / "sys/fs/cgroup/memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        own = top / path.lstrip("/")
        for folder in (own, *own.parents):
            if folder == top or top in folder.parents:
                yield folder, *files


def _cached(statistics: Path) -> int:
    """Bytes of files that the system gives up when memory is wanted."""
    try:
        found = dict(line.split() for line in statistics.read_text().splitlines())
    except (OSError, ValueError):
        return 0
    return int(found.get("inactive_file", 0)) + int(found.get("active_file", 0))
