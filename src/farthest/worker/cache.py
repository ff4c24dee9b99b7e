"""Bitmaps of blobs that were read or written lately, so that a process need not fetch them again.

A blob never changes once it has a name, so what is kept under its name cannot be stale; losing it costs time alone.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farthest.worker.bitmaps import Bitmap


class BitmapCache:
    """The bitmaps used last, of at most ``size`` bytes together, by the names of their blobs. Safe to share among
    threads; the bitmaps must not be changed."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._bytes = 0
        self._lock = threading.Lock()
        self._bitmaps: OrderedDict[str, Bitmap] = OrderedDict()

    def get(self, name: str) -> Bitmap | None:
        """The bitmap of a blob, if it is here."""
        with self._lock:
            found = self._bitmaps.get(name)
            if found is not None:
                self._bitmaps.move_to_end(name)
            return found

    def put(self, name: str, bitmap: Bitmap) -> None:
        """Keeps a bitmap, in place of those that were used longest ago."""
        with self._lock:
            if name in self._bitmaps or bitmap.bytes > self._size:
                return
            self._bitmaps[name] = bitmap
            self._bytes += bitmap.bytes
            while self._bytes > self._size:
                _, dropped = self._bitmaps.popitem(last=False)
                self._bytes -= dropped.bytes
