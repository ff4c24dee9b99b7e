"""Memory for what is read, used again unit by unit: the system would clear new memory each time."""

from __future__ import annotations

SLAB = 2**23
"""Bytes that memory is asked for at once, as a rule; longer pieces have memory of their own size."""


class Room:
    """Gives out memory until ``clear`` takes all of it back. ``slab``: bytes that are asked for at once."""

    def __init__(self, slab: int = SLAB) -> None:
        self._size = slab
        self._slabs: list[memoryview] = []
        self._slab = 0
        self._used = 0

    def take(self, size: int) -> memoryview:
        """``size`` bytes that hold anything."""
        while self._slab < len(self._slabs):
            rest = self._slabs[self._slab][self._used :]
            if len(rest) >= size:
                self._used += size
                return rest[:size]
            self._slab += 1
            self._used = 0
        self._slabs.append(memoryview(bytearray(max(size, self._size))))
        self._used = size
        return self._slabs[-1][:size]

    def clear(self) -> None:
        """All that was given out is used no more."""
        self._slab = self._used = 0
