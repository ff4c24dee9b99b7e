"""Sizes in words, and how much memory there is."""

import os
from pathlib import Path

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def bytes_text(size: int) -> str:
    """A number of bytes: 812 bytes, 1.5 MiB."""
    if size < 1024:
        return f"{size} bytes"
    amount = size / 1024
    for unit in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if amount < 1023.95:
            return f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:,.0f} EiB"


def available_memory() -> int:
    """Bytes of memory that are free for this process, as far as the system tells."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
                break
        else:
            raise OSError
    except OSError:
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(free, int(_CGROUP_LIMIT.read_text()))
    except (OSError, ValueError):  # no limit: the file is not there, or says "max"
        return free
