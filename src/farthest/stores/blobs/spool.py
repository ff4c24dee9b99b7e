"""The spool: blobs of older layers on the coordinator's disk, until a checkpoint makes them a part of the map.

Redis keeps the layers that the next steps need; all that were found since the last checkpoint wait here. The file has
no name and goes with its process: the database alone is the truth.
"""

from __future__ import annotations

import errno
import tempfile
import threading
from collections.abc import Iterable

from farthest.environment import SPOOL
from farthest.errors import LostStateError, NoRoomError, StorageError

Place = tuple[int, int]
"""Depth and block."""

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The disk, a user's share of it, or what a process may write is used up."""


class Spool:
    """Bytes by depth and block. ``folder`` None: the system's for temporary files. Safe to share among threads."""

    def __init__(self, folder: str | None = None) -> None:
        self._place = folder or SPOOL.text()
        self._lock = threading.Lock()
        self._places: dict[Place, tuple[int, int]] = {}
        try:
            self._place = self._place or tempfile.gettempdir()
            # Without a buffer: put() must raise if the blob does not fit, not the closing of the file.
            self._file = tempfile.TemporaryFile(  # noqa: SIM115 - closed by close()
                buffering=0, dir=self._place, prefix="farthest-"
            )
        except OSError as error:
            raise self._error(error) from error

    def put(self, entries: Iterable[tuple[Place, bytes]]) -> None:
        """Stores blobs. Raises NoRoomError when there is no room."""
        try:
            with self._lock:
                end = self._file.seek(0, 2)
                for place, blob in entries:
                    rest = memoryview(blob)
                    while rest:
                        rest = rest[self._file.write(rest) :]
                    self._places[place] = (end, len(blob))
                    end += len(blob)
        except OSError as error:
            raise self._error(error) from error

    def get(self, depth: int, block: int) -> bytes:
        """A blob. Raises LostStateError when it is not there."""
        try:
            with self._lock:
                start, size = self._places[depth, block]
                self._file.seek(start)
                blob = self._file.read(size)
        except KeyError:
            raise LostStateError(f"the blob of block {block} at depth {depth} is not in the spool") from None
        except OSError as error:
            raise self._error(error) from error
        return blob

    def __contains__(self, place: Place) -> bool:
        return place in self._places

    def clear(self) -> None:
        """Forgets everything and gives the room back."""
        try:
            with self._lock:
                self._places.clear()
                self._file.truncate(0)
        except OSError as error:
            raise self._error(error) from error

    def close(self) -> None:
        """Gives the room back for good."""
        self._file.close()

    def _error(self, error: OSError) -> StorageError:
        kind = NoRoomError if error.errno in FULL else StorageError
        return kind(
            f"{self._place or 'temporary files'}: the layers since the last checkpoint cannot be kept there "
            f"({error.strerror}); make room, or name another folder with {SPOOL.name}"
        )
