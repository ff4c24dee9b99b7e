"""Where the map files of a database are: what FARTHEST_MAPS says."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Self

from farthest.environment import MAPS
from farthest.errors import NoRoomError, SettingError, StorageError
from farthest.locations import Bucket, folder_or_bucket, hide_password
from farthest.map_files.form import SECTION, file_checksum, header_of, parts_of, section_sums
from farthest.map_files.place import Written, WrittenFile, name_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

    from farthest.map_files.file import FileSource
    from farthest.map_files.form import ResidueForm
    from farthest.map_files.place import MapPlace


# --- Writing a map file into a folder: words in any order under a temporary name, then checksums, then its name.

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The disk, a user's share of it, or what a process may write is used up."""


class MapFileWriter:
    """``MapWriter`` of one map file. What an earlier attempt at the job has left in the folder is removed first."""

    def __init__(self, folder: Path, token: str, form: ResidueForm, facts: dict[str, Any]) -> None:
        self._folder = folder
        self._header = header_of(form, facts)
        self._parts = parts_of(self._header, form)
        self._name = name_of(token)
        self._part = folder / f"{token}.{token_hex(8)}.part"
        self._written = Written(self._parts.data, str(self._part))
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
        """See MapWriter."""
        first, view = self._written.add(first_word, data)
        try:
            self._put(self._parts.header + first, view)
        except OSError as error:
            raise folder_error(self._part, error) from error

    def finish(self, threads: int = 1) -> WrittenFile:
        """See MapWriter."""
        self._written.check()
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
        """See MapWriter."""
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

    def _sums(self, start: int) -> tuple[bytes, str]:
        """The checksums of the pages of a section, and its digest."""
        size = min(SECTION, self._parts.data - start)
        data = os.pread(self._file, size, self._parts.header + start)
        if len(data) != size:
            raise OSError(0, "it was cut short while it was written")
        return section_sums(data)


def remove_files(folder: Path, token: str) -> None:
    """Removes all that is in the folder of the job with this token, unfinished files too. Raises StorageError."""
    try:
        for path in folder.glob(f"{token}.*"):
            path.unlink(missing_ok=True)
    except OSError as error:
        raise folder_error(folder, error) from error


def folder_error(place: Path, error: OSError) -> StorageError:
    """What the system refuses, told to people."""
    kind = NoRoomError if error.errno in _FULL else StorageError
    return kind(
        f"{place}: the map file cannot be kept there ({error.strerror or error}); make room, or name another folder "
        f"with {MAPS.name}"
    )


# --- A folder of map files.


class FolderMaps:
    """``MapPlace`` in a folder, which is made for the first file. ``beside``: it is that beside a database's file, and
    removed with its last file."""

    def __init__(self, folder: Path, *, beside: bool = False) -> None:
        self.where = str(folder)
        self._folder = folder
        self._beside = beside

    def check(self) -> None:
        """See MapPlace: whether files can be made shows when the first one is."""

    def writer(
        self,
        token: str,
        form: ResidueForm,
        facts: dict[str, Any],
        told: Callable[[str], None],
        scratch: Path,
    ) -> MapFileWriter:
        """See MapPlace."""
        return MapFileWriter(self._folder, token, form, facts)

    def path(self, name: str) -> Path:
        """Where a file is."""
        return self._folder / name

    def source(self, name: str) -> FileSource:
        """See MapPlace."""
        from farthest.map_files.file import FileSource

        return FileSource(self.path(name))

    def remove(self, token: str) -> None:
        """See MapPlace."""
        remove_files(self._folder, token)
        if self._beside:
            with suppress(OSError):
                self._folder.rmdir()

    def free(self) -> int:
        """See MapPlace: where the folder is, or will be."""
        status = os.statvfs(self.existing())
        return status.f_bavail * status.f_frsize

    def existing(self) -> Path:
        """The folder, or the first one above it that is there."""
        folder = self._folder
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        return folder


def map_place(database: Path | None) -> MapPlace:
    """The place of the map files of a database; ``database``: its file, None where a server keeps it.

    Raises SettingError where FARTHEST_MAPS is needed, or names something else.
    """
    text = MAPS.text()
    if not text:
        if database is None:
            raise SettingError(
                f"{MAPS.name} is not set, and the database is kept by a server: set it to a folder or an object store "
                "for the map files, the same for all who ask them"
            )
        return FolderMaps(database.with_name(database.name + ".maps"), beside=True)
    found = folder_or_bucket(text)
    if found is None and "://" not in text and not text.startswith("file:"):
        found = Path(text).expanduser()
    if isinstance(found, Path):
        return FolderMaps(found)
    if isinstance(found, Bucket):
        from farthest.map_files.objects import ObjectMaps

        return ObjectMaps(found)
    raise SettingError(
        f"{MAPS.name} is {hide_password(text)!r}; expected a folder, also as file:///FOLDER, or an object store as "
        "s3://bucket/prefix"
    )
