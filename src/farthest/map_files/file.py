"""Reading a map file: ranges of bytes of it, and its pages, each checked before any of it is used."""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol

import numpy

from farthest.errors import DamagedMapError
from farthest.map_files.form import (
    CHECKSUM,
    PAGE,
    SECTION,
    file_checksum,
    header_bytes,
    parts_of,
    read_header,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0x40)
"""Memory that is only used where pages are read: the whole file may be larger than what the machine has."""


class Source(Protocol):
    """Where the bytes of a map file are."""

    place: str
    """As messages show it."""

    most: int
    """Most bytes that are worth reading at once."""

    def size(self) -> int:
        """Its bytes. Raises DamagedMapError where there is no such file."""

    def read(self, first: int, end: int) -> bytes:
        """The bytes from ``first`` to ``end``, this one excluded; fewer where it is shorter. Raises DamagedMapError."""

    def read_each(self, ranges: Sequence[tuple[int, int]]) -> Iterator[bytes]:
        """The same of several ranges, in their order."""

    def mapped(self, size: int) -> mmap.mmap | None:
        """Its first bytes as memory that is read from the file where it is used; None where the file is not on this
        machine. Raises DamagedMapError."""

    def close(self) -> None:
        """Gives up what is held."""


class FileSource:
    """``Source`` of a file in a folder."""

    most = 2**20

    def __init__(self, path: Path) -> None:
        self.place = str(path)
        self._file = -1
        try:
            self._file = os.open(
                path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
            )
        except OSError as error:
            raise DamagedMapError(f"{path}: the map file cannot be opened ({error.strerror})") from None

    def size(self) -> int:
        return os.fstat(self._file).st_size

    def read(self, first: int, end: int) -> bytes:
        parts = []
        try:
            while first < end and (part := os.pread(self._file, end - first, first)):
                parts.append(part)
                first += len(part)
        except OSError as error:
            raise DamagedMapError(f"{self.place}: the map file cannot be read ({error.strerror})") from None
        return b"".join(parts)

    def read_each(self, ranges: Sequence[tuple[int, int]]) -> Iterator[bytes]:
        return (self.read(first, end) for first, end in ranges)

    def mapped(self, size: int) -> mmap.mmap:
        try:
            return mmap.mmap(self._file, size, mmap.MAP_SHARED, mmap.PROT_READ)
        except (OSError, ValueError) as error:
            raise DamagedMapError(f"{self.place}: the map file cannot be read ({error})") from None

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        self.close()


class MapPages:
    """The words of a map file in memory, those of the pages that were asked for.

    ``words``: uint64, shape (words of the map,); ``present``: uint8, shape (pages,), 1 where a page was read and its
    checksum is right; else its words are 0. ``held``: bytes of pages in memory. ``form``, ``facts``: what the header
    says.
    """

    def __init__(self, source: Source, size: int, checksum: str) -> None:
        """``size``, ``checksum``: of the file, as the database has them. Raises DamagedMapError where it is another."""
        self._source = source
        found = source.size()
        if found != size:
            raise self._damaged(f"it has {found:,} bytes, expected {size:,}")
        try:
            header = source.read(0, header_bytes(source.read(0, 64)))
            self.form, self.facts = read_header(header)
        except (ValueError, IndexError) as error:
            raise self._damaged(str(error)) from None
        self._parts = parts_of(header, self.form)
        if self._parts.bytes != size:
            raise self._damaged("its header is of a file of another length")
        sums = source.read(self._parts.checksums, size)
        if file_checksum(header, sums) != checksum:
            raise self._damaged("header and checksums are not those that were stored")
        self._sums: NDArray[numpy.uint32] = numpy.frombuffer(sums, dtype="<u4")
        self._memory = mmap.mmap(
            -1, self._parts.pages * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
        )
        self.words: NDArray[numpy.uint64] = numpy.frombuffer(self._memory, dtype="<u8", count=self.form.words)
        self.present: NDArray[numpy.uint8] = numpy.zeros(self._parts.pages, dtype=numpy.uint8)
        self.held = 0
        self._mapped: mmap.mmap | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """The form as JSON has it."""
        return self.form.fields()

    def check_facts(self, expected: dict[str, Any]) -> None:
        """Raises DamagedMapError where the header says otherwise."""
        for name, value in expected.items():
            if self.facts.get(name) != value:
                raise self._damaged(
                    f"it is of another job: its {name} is {self.facts.get(name)!r}, expected {value!r}"
                )

    def check_keys(self, keys: int) -> None:
        """Raises DamagedMapError where the map is of another number of keys."""
        if self.form.order.keys != keys:
            raise self._damaged(f"it has {self.form.order.keys:,} keys, expected {keys:,}")

    def load(self, pages: NDArray[numpy.integer[Any]]) -> None:
        """Reads pages that are not there yet, given in any order. Raises DamagedMapError where one is not as it was
        stored."""
        if len(pages) == 1:
            wanted = pages[self.present[pages] == 0]
        else:
            wanted = numpy.unique(pages)
            wanted = wanted[self.present[wanted] == 0]
        if not wanted.size:
            return
        breaks = numpy.flatnonzero(numpy.diff(wanted) != 1) + 1
        most = self._source.most // PAGE
        runs = [
            (first, min(first + most, int(run[-1]) + 1))
            for run in numpy.split(wanted, breaks)
            for first in range(int(run[0]), int(run[-1]) + 1, most)
        ]
        header = self._parts.header
        data = self._source.read_each(
            [(header + first * PAGE, header + min(end * PAGE, self._parts.data)) for first, end in runs]
        )
        for (first, end), found in zip(runs, data, strict=True):
            self._take(first, end, found)

    def load_all(self) -> NDArray[numpy.uint64]:
        """Reads every page that is not there yet. Returns all words."""
        self.load(numpy.flatnonzero(self.present == 0))
        return self.words

    def sections(self, threads: int) -> Iterator[bytes]:
        """All words, section by section, each page checked; none of them stays in memory. Raises DamagedMapError."""
        pages, header = SECTION // PAGE, self._parts.header
        starts = range(0, self._parts.pages, pages)
        with ThreadPoolExecutor(threads) as pool:
            for at in range(0, len(starts), 4 * threads):
                some = [
                    (first, min(first + pages, self._parts.pages)) for first in starts[at : at + 4 * threads]
                ]
                ranges = [
                    (header + first * PAGE, header + min(end * PAGE, self._parts.data)) for first, end in some
                ]
                data = list(self._source.read_each(ranges))
                list(pool.map(self._check, *zip(*some, strict=True), data))
                yield from data

    def mapped(self, scratch: Path, threads: int) -> NDArray[numpy.uint64]:
        """All words, uint64, read from the file where they are used; ``release`` gives their memory back. A file that
        is not on this machine is copied into the folder ``scratch`` first. Raises DamagedMapError and OSError."""
        start = self._parts.header
        if self._mapped is None:
            self._mapped = self._source.mapped(start + self._parts.data)
        if self._mapped is None:
            start = 0
            with tempfile.TemporaryFile(prefix="farthest-map-", dir=scratch) as file:
                for section in self.sections(threads):
                    file.write(section)
                file.flush()
                self._mapped = mmap.mmap(file.fileno(), self._parts.data, mmap.MAP_SHARED, mmap.PROT_READ)
        return numpy.frombuffer(self._mapped, dtype="<u8", count=self.form.words, offset=start)

    def release(self) -> None:
        """Gives the memory back that ``mapped`` words take; they stay usable."""
        if self._mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._mapped.madvise(mmap.MADV_DONTNEED)

    def forget(self) -> None:
        """Gives the memory of all pages back."""
        self.present[:] = 0
        self.held = 0
        if hasattr(mmap, "MADV_DONTNEED"):
            self._memory.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        """Gives up the file; pages in memory stay."""
        self._source.close()

    def _take(self, first: int, end: int, data: bytes) -> None:
        """Keeps pages that were read, if they are as they were stored."""
        self._check(first, end, data)
        self._memory[first * PAGE : first * PAGE + len(data)] = data
        self.present[first:end] = 1
        self.held += (end - first) * PAGE

    def _check(self, first: int, end: int, data: bytes) -> None:
        """Raises DamagedMapError where pages are not as they were stored."""
        begin, stop = first * PAGE, min(end * PAGE, self._parts.data)
        if len(data) != stop - begin:
            raise self._damaged("it was cut short")
        for page in range(first, end):
            at = (page - first) * PAGE
            if zlib.crc32(data[at : at + PAGE]) != self._sums[page]:
                raise self._damaged(f"page {page} of its data, {PAGE} bytes, is not what was stored")

    def _damaged(self, what: str) -> DamagedMapError:
        return DamagedMapError(
            f"{self._source.place}: the map file is damaged: {what}; restore it from a copy, or remove the job with "
            "`farthest delete` and enumerate again"
        )


assert numpy.dtype("<u4").itemsize == CHECKSUM
