"""Which words of a map were written: each must be, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.errors import StorageError

if TYPE_CHECKING:
    from typing_extensions import Buffer


class Written:
    """The ranges of a map's data, of ``size`` bytes, that were written. ``place``: of the map, as messages show it."""

    def __init__(self, size: int, place: str) -> None:
        self._size = size
        self._place = place
        self._ranges: list[tuple[int, int]] = []

    def add(self, first_word: int, data: Buffer) -> tuple[int, memoryview]:
        """Notes that words are written, from the word ``first_word`` on. Gives the byte that they begin at, and their
        bytes. Raises ValueError where they are none of the map."""
        view = memoryview(data).cast("B")
        first, last = 8 * first_word, 8 * first_word + len(view)
        if len(view) % 8 or first < 0 or last > self._size:
            raise ValueError("words outside the map")
        self._ranges.append((first, last))
        return first, view

    def check(self) -> None:
        """Raises StorageError unless all words were written, each once."""
        end = 0
        for first, last in [*sorted(self._ranges), (self._size, 0)]:
            if first != end:
                raise StorageError(
                    f"{self._place}: words from byte {end} of the data on were not written once each"
                )
            end = last
