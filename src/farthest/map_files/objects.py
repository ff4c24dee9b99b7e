"""Map files in an object store: a file is several objects, which are its bytes when they are read one after the other.

The objects of the file NAME are NAME/00000000, NAME/00000001 and so on: the header, the data in pieces of PIECE bytes,
the checksums in such pieces. Each is written whole, by one request. A multipart upload would make one object of a file;
but what a killed process leaves of one can neither be listed nor removed by the client, and its parts have an order.
"""

from __future__ import annotations

import os
import re
import tempfile
from bisect import bisect_right
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import accumulate
from secrets import token_hex
from threading import Event
from typing import IO, TYPE_CHECKING, Any

from farthest.environment import DATABASE_WAIT_SECONDS, MAPS
from farthest.errors import AccessError, DamagedMapError, SettingError, StorageError
from farthest.map_files.form import SECTION, ResidueForm, section_sums
from farthest.map_files.place import MapWriter, new_name, refusal
from farthest.object_store import REQUESTS, ObjectStore, RefusedError
from farthest.retry import retry_while_away

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from typing_extensions import Buffer

    from farthest.locations import Bucket


# Pieces of a map's data that are put together from words in any order.
#
# Layers in files give the words of a map in the order of their plan, in which nearly all pieces are begun before
# one is complete. So a few are in memory, and the others in a temporary file, which goes with its process.

IN_MEMORY = 2
"""Most pieces in memory that are begun and not complete."""


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
        return refusal(
            error,
            f"{self._scratch}: the parts of the map that wait for their neighbours, up to {self._size:,} bytes, cannot "
            f"be kept there ({error.strerror}); make room, or name another folder with --scratch",
        )


PIECE = 16 * SECTION
"""Bytes of data in an object: few enough for one request on a slow line, and many enough for few objects."""

UPLOADS = 4
"""Pieces that are written at a time: it bounds the memory."""

_NUMBER = re.compile(r"\d{8}", re.ASCII)


class ObjectMaps:
    """``MapPlace`` in a bucket of an object store. Raises SettingError as ``ObjectStore`` does."""

    def __init__(self, bucket: Bucket) -> None:
        self._objects = ObjectStore(bucket, MAPS)
        self.where = self._objects.url

    def check(self) -> None:
        """Writes an object, reads it, lists it, removes it."""
        folder = f"farthest-probe-{token_hex(8)}"
        path = f"{folder}/{0:08}"
        try:
            self._objects.put(path, b"first")
            found = self._objects.read(path, 1, 3), [one.path for one in self._objects.files(folder)]
            self._objects.delete([path])
        except (AccessError, RefusedError) as error:
            raise SettingError(str(error)) from error
        if found != (b"irs", [path]):
            raise SettingError(
                f"{self._objects.place}: this object store does not give back what was written; choose another one"
            )

    def writer(
        self,
        token: str,
        form: ResidueForm,
        facts: dict[str, Any],
        told: Callable[[str], None],
        scratch: Path,
    ) -> ObjectWriter:
        retry_while_away(lambda: self.remove(token), DATABASE_WAIT_SECONDS.number, told=told)
        return ObjectWriter(self._objects, new_name(token), form, facts, told, scratch)

    def source(self, name: str) -> ObjectSource:
        return ObjectSource(self._objects, name)

    def remove(self, token: str) -> None:
        self._objects.delete([one.path for one in self._objects.files(token)])

    def free(self) -> int | None:
        """An object store does not say."""
        return None


class ObjectWriter(MapWriter):
    """A piece is written as soon as it is complete; ``scratch``: the folder for pieces that are not.

    It waits for a store that is away for FARTHEST_DATABASE_WAIT_SECONDS.
    """

    def __init__(
        self,
        objects: ObjectStore,
        name: str,
        form: ResidueForm,
        facts: dict[str, Any],
        told: Callable[[str], None],
        scratch: Path,
    ) -> None:
        super().__init__(name, f"{objects.url}/{name}", form, facts)
        self._objects = objects
        self._told = told
        self._pieces = Pieces(self._parts.data, PIECE, scratch)
        self._sums: dict[int, list[tuple[bytes, str]]] = {}
        self._pool = ThreadPoolExecutor(UPLOADS, "farthest-map")
        self._under_way: deque[Future[None]] = deque()
        self._stopped = Event()

    def _put_data(self, first: int, data: memoryview) -> None:
        for number, piece in self._pieces.put(first, data):
            self._send(self._store_data, number, piece)

    def _summed(self, threads: int) -> list[tuple[bytes, str]]:
        self._wait(0)
        return [section for number in sorted(self._sums) for section in self._sums[number]]

    def _complete(self, checksums: bytes) -> None:
        first = 1 + len(self._sums)
        for number, start in enumerate(range(0, len(checksums), PIECE), first):
            self._send(self._store, number, checksums[start : start + PIECE])
        self._wait(0)
        self._store(0, self._header)

    def publish(self) -> None:
        """Objects have their names already, and are a map when the database names them."""
        self._published = True

    def abort(self) -> None:
        """What cannot be removed now is by the next attempt."""
        self._stopped.set()
        self._pool.shutdown(cancel_futures=True)
        self._pieces.close()
        if not self._published:
            with suppress(StorageError):
                self._objects.delete([one.path for one in self._objects.files(self._name)])

    def _send(self, action: Callable[[int, Any], None], number: int, data: Buffer) -> None:
        self._under_way.append(self._pool.submit(action, number, data))
        self._wait(UPLOADS)

    def _wait(self, most: int) -> None:
        """Until at most so many pieces are under way. Raises what one of the others has raised."""
        while len(self._under_way) > most:
            self._under_way.popleft().result()

    def _store_data(self, number: int, data: bytearray) -> None:
        view = memoryview(data)
        self._sums[number] = [
            section_sums(view[start : start + SECTION]) for start in range(0, len(view), SECTION)
        ]
        self._store(1 + number, data)

    def _store(self, number: int, data: Buffer) -> None:
        retry_while_away(
            lambda: self._objects.put(_path(self._name, number), data),
            DATABASE_WAIT_SECONDS.number,
            told=self._told,
            while_waiting=self._check_stopped,
        )

    def _check_stopped(self) -> None:
        if self._stopped.is_set():
            raise StorageError(f"{self._place}: the map was given up")


class ObjectSource:
    """``Source`` of the objects of a map file, which are looked for once."""

    most = 2**22

    def __init__(self, objects: ObjectStore, name: str) -> None:
        self.place = f"{objects.url}/{name}"
        self._objects = objects
        self._name = name
        found = objects.files(name)
        numbers = [one.path.removeprefix(f"{name}/") for one in found]
        present = {int(number) for number in numbers if _NUMBER.fullmatch(number)}
        sizes = [one.size for one, number in zip(found, numbers, strict=True) if _NUMBER.fullmatch(number)]
        if not present:
            raise DamagedMapError(f"{self.place}: the map file cannot be opened (there are no such objects)")
        missing = min(set(range(max(present) + 1)) - present, default=None)
        if missing is not None:
            raise DamagedMapError(
                f"{self.place}: the map file is damaged: its object {missing:08} is missing; restore it from a copy, "
                "or remove the job with `farthest delete` and enumerate again"
            )
        self._starts = [0, *accumulate(sizes)]

    def size(self) -> int:
        return self._starts[-1]

    def read(self, first: int, end: int) -> bytes:
        parts = []
        end = min(end, self.size())
        number = bisect_right(self._starts, first) - 1
        while first < end:
            within = first - self._starts[number]
            size = min(end, self._starts[number + 1]) - first
            part = self._objects.read(_path(self._name, number), within, size)
            parts.append(part)
            if len(part) != size:
                break
            first, number = first + size, number + 1
        return b"".join(parts)

    def read_each(self, ranges: Sequence[tuple[int, int]]) -> Iterator[bytes]:
        """Several at a time."""
        for start in range(0, len(ranges), REQUESTS):
            yield from self._objects.for_each(lambda one: self.read(*one), ranges[start : start + REQUESTS])

    def mapped(self, size: int) -> None:
        """Objects are elsewhere."""

    def close(self) -> None:
        """Nothing is held."""


def _path(name: str, number: int) -> str:
    return f"{name}/{number:08}"
