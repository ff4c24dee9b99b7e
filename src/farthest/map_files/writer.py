"""Writing a map file: words in any order under a temporary name, then checksums, then its name."""

from __future__ import annotations

import hashlib
import os
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Self

from farthest.errors import StorageError
from farthest.map_files.folder import folder_error, name_of, remove_files
from farthest.map_files.layout import CHECKSUM, PAGE, SECTION, file_checksum, header_of, parts_of

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Buffer

    from farthest.map_files.form import ResidueForm


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A complete file, on the disk. ``sections``: the SHA-256, in hexadecimal, of each section of its data."""

    name: str
    bytes: int
    checksum: str
    sections: list[str]


class MapFileWriter:
    """One map file. What an earlier attempt at the job has left in the folder is removed first.

    Words may be written in any order, each once. ``finish`` puts the file on the disk, ``publish`` gives it its name,
    ``abort`` removes what has not got one. All raise StorageError, NoRoomError where the disk is full.
    """

    def __init__(self, folder: Path, token: str, form: ResidueForm, facts: dict[str, Any]) -> None:
        self._folder = folder
        self._header = header_of(form, facts)
        self._parts = parts_of(self._header, form)
        self._name = name_of(token)
        self._part = folder / f"{token}.{token_hex(8)}.part"
        self._written: list[tuple[int, int]] = []  # ranges of bytes of the data
        self._file = -1
        self._published = False
        remove_files(folder, token)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(
                self._part, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666
            )
            if hasattr(os, "posix_fallocate"):  # what does not fit is told now, not after hours
                os.posix_fallocate(self._file, 0, self._parts.bytes)
            self._put(0, self._header)
        except OSError as error:
            self.abort()
            raise folder_error(self._part, error) from error

    def write(self, first_word: int, data: Buffer) -> None:
        """Writes words, 8 bytes each, the lowest first, from the word ``first_word`` of the map on."""
        view = memoryview(data).cast("B")
        first, last = 8 * first_word, 8 * first_word + len(view)
        if len(view) % 8 or first < 0 or last > self._parts.data:
            raise ValueError("words outside the map")
        try:
            self._put(self._parts.header + first, view)
        except OSError as error:
            raise folder_error(self._part, error) from error
        self._written.append((first, last))

    def finish(self, threads: int = 1) -> WrittenFile:
        """Works out the checksums, and puts the file on the disk. Raises StorageError where words were not written."""
        self._check_written()
        starts = range(0, self._parts.data, SECTION)
        try:
            with ThreadPoolExecutor(threads) as pool:
                summed = list(pool.map(self._sums, starts))
            checksums = b"".join(sums for sums, _ in summed)
            self._put(self._parts.checksums, checksums)
            os.fsync(self._file)
        except OSError as error:
            raise folder_error(self._part, error) from error
        checksum = file_checksum(self._header, checksums)
        return WrittenFile(self._name, self._parts.bytes, checksum, [digest for _, digest in summed])

    def publish(self) -> None:
        """Gives the finished file its name, in place of any other file; once, however often it is called."""
        if self._published:
            return
        try:
            os.replace(self._part, self._folder / self._name)
            folder = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
            self._published = True
        except OSError as error:
            raise folder_error(self._part, error) from error

    def abort(self) -> None:
        """Closes the file, and removes it unless it was published."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        with suppress(OSError):
            self._part.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.abort()

    def _put(self, at: int, data: Buffer) -> None:
        rest = memoryview(data)
        while rest:
            done = os.pwrite(self._file, rest, at)
            rest, at = rest[done:], at + done

    def _check_written(self) -> None:
        end = 0
        for first, last in [*sorted(self._written), (self._parts.data, 0)]:
            if first != end:
                raise StorageError(
                    f"{self._part}: words from byte {end} of the data on were not written once each"
                )
            end = last

    def _sums(self, start: int) -> tuple[bytes, str]:
        """The checksums of the pages of a section, and its digest."""
        size = min(SECTION, self._parts.data - start)
        data = os.pread(self._file, size, self._parts.header + start)
        if len(data) != size:
            raise OSError(0, "it was cut short while it was written")
        pages = (zlib.crc32(data[at : at + PAGE]) for at in range(0, size, PAGE))
        return b"".join(page.to_bytes(CHECKSUM, "little") for page in pages), hashlib.sha256(data).hexdigest()
