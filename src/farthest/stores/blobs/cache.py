"""The contents of blobs that were read or written lately, so that a process need not fetch them again.

A blob never changes once it has a name, so what is kept under its name cannot be stale; losing it costs only time.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Protocol, TypeVar


class Contents(Protocol):
    """What a blob holds: a bitmap or a sorted run."""

    @property
    def bytes(self) -> int:
        """Bytes of memory that it may take."""


Kind = TypeVar("Kind", bound=Contents)


class BlobCache:
    """The contents used last, of at most ``size`` bytes together, by the names of their blobs. Safe to share among
    threads; the contents must not be changed."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._bytes = 0
        self._lock = threading.Lock()
        self._contents: OrderedDict[Hashable, Contents] = OrderedDict()

    @property
    def size(self) -> int:
        """Most bytes that it keeps."""
        return self._size

    def get(self, name: Hashable, kind: type[Kind]) -> Kind | None:
        """The contents of a blob of that kind, if they are here."""
        with self._lock:
            found = self._contents.get(name)
            if not isinstance(found, kind):
                return None
            self._contents.move_to_end(name)
            return found

    def put(self, name: Hashable, contents: Contents) -> None:
        """Keeps the contents of a blob, in place of those that were used longest ago."""
        with self._lock:
            if name in self._contents or contents.bytes > self._size:
                return
            self._contents[name] = contents
            self._bytes += contents.bytes
            while self._bytes > self._size:
                _, dropped = self._contents.popitem(last=False)
                self._bytes -= dropped.bytes
