"""A bound on memory for tests of hostile values: what would be taken is refused instead of killing the machine."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def little_memory(more: int = 2**31) -> Iterator[None]:
    """Whoever takes ``more`` bytes of addresses than there are now, touched or not, gets a MemoryError."""
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
