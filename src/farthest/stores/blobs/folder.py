"""A folder as a place for blobs: of one machine, or of a file system that all hosts share.

Each attempt has a folder of its own in it, farthest-attempt-NAME, and each blob a file there. A file is written under
another name, and renamed: it is there as a whole or not at all. The disk is waited for only where blobs are to last:
other attempts do not outlive their coordinators. Where a host alone loses power, what it had not written yet is missing
or damaged, as other lost blobs are.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from farthest.environment import BLOBS, SCRATCH, Setting, scratch_folder
from farthest.errors import NoRoomError, SettingError, UnavailableError, is_full
from farthest.stores.blobs.place import (
    ATTEMPT_FOLDER,
    FILE,
    BlobName,
    BlobPart,
    NameTakenError,
    attempt_in,
    probe,
)

_OWN = re.compile(rf"{FILE.pattern}|\.{FILE.pattern}\.[0-9a-f]{{8}}")
"""The file of a blob, or one that is being written."""


class FolderPlace:
    """``BlobPlace`` in the folder at an absolute path, which ``setting`` has named. ``lasting``: blobs are on the disk
    when ``put`` returns."""

    def __init__(self, folder: Path, setting: Setting = BLOBS, *, lasting: bool = False) -> None:
        self._folder, self._setting, self._lasting = folder, setting, lasting

    @property
    def url(self) -> str:
        return self._folder.as_uri()

    def check(self) -> None:
        if not self._folder.is_dir():
            raise SettingError(
                f"{BLOBS.name} is {self.url}: there is no folder {self._folder}; make it, or mount it, on every "
                "host where a worker or a coordinator runs"
            )
        if not os.access(self._folder, os.W_OK | os.X_OK | os.R_OK):
            raise SettingError(
                f"{BLOBS.name} is {self.url}: this process may not write to the folder {self._folder}; give its "
                "user the right to, or name another folder"
            )
        probe(self)

    def put(self, blobs: Mapping[BlobName, bytes]) -> None:
        with self._errors():
            for attempt in {name.attempt for name in blobs}:
                self._of(attempt).mkdir(exist_ok=True)
            for name, blob in blobs.items():
                self._write(self._path(name), blob)

    def _write(self, path: Path, blob: bytes) -> None:
        if path.exists():
            if path.read_bytes() != blob:
                raise NameTakenError(f"{path}: there is another blob of that name")
            return
        unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            with unfinished.open("xb") as file:
                file.write(blob)
                if self._lasting:
                    file.flush()
                    os.fsync(file.fileno())
            unfinished.rename(path)
        except BaseException:
            with suppress(OSError):
                unfinished.unlink()
            raise

    def read(self, parts: Sequence[BlobPart]) -> list[bytes]:
        with self._errors():
            return [self._read(part) for part in parts]

    def _read(self, part: BlobPart) -> bytes:
        try:
            with self._path(part.name).open("rb") as file:
                file.seek(part.first)
                return file.read(part.size)
        except FileNotFoundError:
            self._folder.stat()  # which raises where the folder itself is away
            return b""

    def remove(self, names: Iterable[BlobName]) -> None:
        with self._errors():
            touched = set()
            for name in names:
                self._path(name).unlink(missing_ok=True)
                touched.add(name.attempt)
            for attempt in touched:
                self._remove_if_empty(attempt)

    def drop(self, attempt: str) -> None:
        with self._errors():
            try:
                with os.scandir(self._of(attempt)) as entries:
                    files = [entry.path for entry in entries if _OWN.fullmatch(entry.name)]
            except FileNotFoundError:
                return
            for file in files:
                Path(file).unlink(missing_ok=True)
            self._remove_if_empty(attempt)

    def _remove_if_empty(self, attempt: str) -> None:
        """Removes the folder of an attempt, unless something is in it."""
        try:
            self._of(attempt).rmdir()
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                raise

    def attempts(self) -> list[str]:
        with self._errors(), os.scandir(self._folder) as entries:
            folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        return [name for name in map(attempt_in, folders) if name is not None]

    def silence(self, attempt: str) -> float:
        with self._errors():
            try:
                return time.time() - self._of(attempt).stat().st_mtime
            except FileNotFoundError:
                return 0.0

    def free(self) -> int | None:
        with self._errors():
            status = os.statvfs(self._folder)
        return status.f_bavail * status.f_frsize

    def _of(self, attempt: str) -> Path:
        return self._folder / f"{ATTEMPT_FOLDER}{attempt}"

    def _path(self, name: BlobName) -> Path:
        return self._of(name.attempt) / name.file

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turns what the system says meanwhile into errors for people."""
        try:
            yield
        except OSError as error:
            if is_full(error):
                raise NoRoomError(
                    f"{self._folder}: the blobs of running jobs do not fit there ({error.strerror}); make room, or "
                    f"name another place with {self._setting.name}"
                ) from error
            raise UnavailableError(
                f"{self._folder}: the blobs of running jobs cannot be read or written there ({error.strerror}); "
                f"check that it is mounted, that this process may write to it, and {self._setting.name}"
            ) from error


def scratch_place(beside: Path | None) -> FolderPlace:
    """For blobs that last, on this machine: ``scratch_folder``, whose ``beside`` it is. Raises SettingError."""
    return FolderPlace(scratch_folder(None, beside), SCRATCH, lasting=True)
