"""Map files in a folder; where those of a database are: what FARTHEST_MAPS says."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from farthest.environment import MAPS
from farthest.errors import SettingError, StorageError
from farthest.locations import Bucket, folder_or_bucket, hide_password, synchronize
from farthest.map_files.form import SECTION, ResidueForm, section_sums
from farthest.map_files.place import MapPlace, MapWriter, name_of, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import Buffer

    from farthest.map_files.file import FileSource


class MapFileWriter(MapWriter):
    """Writes into a folder: words under a temporary name, then checksums, then the name. What an earlier attempt at the
    job has left in the folder is removed first."""

    def __init__(self, folder: Path, token: str, form: ResidueForm, facts: dict[str, Any]) -> None:
        self._folder = folder
        self._part = folder / f"{token}.{token_hex(8)}.part"
        super().__init__(name_of(token), str(self._part), form, facts)
        self._file = -1
        remove_files(folder, token)
        try:
            with folder_errors(self._part):
                folder.mkdir(parents=True, exist_ok=True)
                self._file = os.open(
                    self._part, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666
                )
                if hasattr(os, "posix_fallocate"):  # what does not fit is told now, not after hours
                    os.posix_fallocate(self._file, 0, self._parts.bytes)
                self._put(0, self._header)
        except StorageError:
            self.abort()
            raise

    def _put_data(self, first: int, data: memoryview) -> None:
        with folder_errors(self._part):
            self._put(self._parts.header + first, data)

    def _summed(self, threads: int) -> list[tuple[bytes, str]]:
        with folder_errors(self._part), ThreadPoolExecutor(threads) as pool:
            return list(pool.map(self._sums, range(0, self._parts.data, SECTION)))

    def _complete(self, checksums: bytes) -> None:
        with folder_errors(self._part):
            self._put(self._parts.checksums, checksums)
            os.fsync(self._file)

    def publish(self) -> None:
        if self._published:
            return
        with folder_errors(self._part):
            os.replace(self._part, self._folder / self._name)
            synchronize(self._folder)
            self._published = True

    def abort(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        with suppress(OSError):
            self._part.unlink(missing_ok=True)

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
    with folder_errors(folder):
        for path in folder.glob(f"{token}.*"):
            path.unlink(missing_ok=True)


@contextmanager
def folder_errors(place: Path) -> Iterator[None]:
    """Turns what the system refuses into StorageError."""
    try:
        yield
    except OSError as error:
        raise refusal(
            error,
            f"{place}: the map file cannot be kept there ({error.strerror or error}); make room, or name another "
            f"folder with {MAPS.name}",
        ) from error


class FolderMaps:
    """``MapPlace`` in a folder, which is made for the first file. ``beside``: it is that beside a database's file, and
    removed with its last file."""

    def __init__(self, folder: Path, *, beside: bool = False) -> None:
        self.where = str(folder)
        self._folder = folder
        self._beside = beside

    def check(self) -> None:
        """Whether files can be made shows when the first one is."""

    def writer(
        self,
        token: str,
        form: ResidueForm,
        facts: dict[str, Any],
        told: Callable[[str], None],
        scratch: Path,
    ) -> MapFileWriter:
        return MapFileWriter(self._folder, token, form, facts)

    def path(self, name: str) -> Path:
        """Where a file is."""
        return self._folder / name

    def source(self, name: str) -> FileSource:
        from farthest.map_files.file import FileSource

        return FileSource(self.path(name))

    def remove(self, token: str) -> None:
        remove_files(self._folder, token)
        if self._beside:
            with suppress(OSError):
                self._folder.rmdir()

    def free(self) -> int:
        """Where the folder is, or will be."""
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
