"""Pieces of a map's data that are put together from words in any order.

Layers in files give the words of a map in the order of their plan, in which nearly all pieces are begun before one is
complete. So a few are in memory, and the others in a temporary file, which goes with its process.
"""

from __future__ import annotations

import errno
import os
import tempfile
from typing import IO, TYPE_CHECKING

from farthest.errors import NoRoomError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IN_MEMORY = 2
"""Most pieces in memory that are begun and not complete."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Pieces:
    """The pieces of ``size`` bytes of data, of ``each`` bytes but for the last; ``scratch``: the folder for those that
    wait. All methods raise StorageError, NoRoomError where that folder is full."""

    def __init__(self, size: int, each: int, scratch: Path) -> None:
        self._size = size
        self._each = each
        self._scratch = scratch
        self._missing: dict[int, int] = {}
        self._in_memory: dict[int, bytearray] = {}
        self._file: IO[bytes] | None = None

    def put(self, at: int, data: memoryview) -> Iterator[tuple[int, bytearray]]:
        """Adds bytes from the byte ``at`` of the data on. Gives the pieces that are complete by them: number, bytes."""
        while data:
            number, within = divmod(at, self._each)
            part = data[: self._each - within]
            self._begin(number)
            if number in self._in_memory:
                self._in_memory[number][within : within + len(part)] = part
            else:
                self._write(at, part)
            self._missing[number] -= len(part)
            if self._missing[number] <= 0:
                del self._missing[number]
                yield number, self._in_memory.pop(number) if number in self._in_memory else self._read(number)
            at, data = at + len(part), data[len(part) :]

    def close(self) -> None:
        """Gives up what is not complete."""
        self._in_memory.clear()
        if self._file is not None:
            self._file.close()

    def _bytes(self, number: int) -> int:
        return min(self._each, self._size - number * self._each)

    def _begin(self, number: int) -> None:
        if number in self._missing:
            return
        if len(self._in_memory) == IN_MEMORY:
            oldest = next(iter(self._in_memory))
            self._write(oldest * self._each, memoryview(self._in_memory.pop(oldest)))
        self._missing[number] = self._bytes(number)
        self._in_memory[number] = bytearray(self._bytes(number))

    def _write(self, at: int, data: memoryview) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="farthest-map-", dir=self._scratch)  # noqa: SIM115
            while data:
                done = os.pwrite(self._file.fileno(), data, at)
                at, data = at + done, data[done:]
        except OSError as error:
            raise self._error(error) from error

    def _read(self, number: int) -> bytearray:
        assert self._file is not None
        data = bytearray(self._bytes(number))
        try:
            found = os.preadv(self._file.fileno(), [data], number * self._each)
        except OSError as error:
            raise self._error(error) from error
        if found != len(data):
            raise self._error(OSError(0, "it was cut short"))
        return data

    def _error(self, error: OSError) -> StorageError:
        kind = NoRoomError if error.errno in _FULL else StorageError
        return kind(
            f"{self._scratch}: the parts of the map that wait for their neighbours, up to {self._size:,} bytes, cannot "
            f"be kept there ({error.strerror}); make room, or name another folder with --scratch"
        )
