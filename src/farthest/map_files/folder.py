"""The folder of a database's map files, and their names there."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from farthest.environment import MAPS
from farthest.errors import NoRoomError, SettingError, StorageError

if TYPE_CHECKING:
    from datetime import datetime

_NAME = re.compile(r"\d{1,19}-[0-9a-f]{8}\.map", re.ASCII)

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The disk, a user's share of it, or what a process may write is used up."""


def job_token(job: int, created: datetime, puzzle_digest: str) -> str:
    """What names of a job's files begin with: other jobs of that number, in other databases, have another one."""
    begun = hashlib.sha256(f"{created.isoformat()} {puzzle_digest}".encode()).hexdigest()
    return f"{job}-{begun[:8]}"


def map_folder(database: Path | None) -> Path:
    """The folder of the map files of a database; ``database``: its file, None where a server keeps it.

    Raises SettingError where FARTHEST_MAPS is needed, or names something else than a folder.
    """
    text = MAPS.text()
    if not text:
        if database is None:
            raise SettingError(
                f"{MAPS.name} is not set, and the database is kept by a server: set it to a folder for the map files, "
                "the same for all who ask them"
            )
        return database.with_name(database.name + ".maps")
    if text.startswith("file:"):
        parts = urlsplit(text)
        if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
            raise SettingError(f"{MAPS.name} is {text!r}; expected a folder, or file:///FOLDER")
        return Path(unquote(parts.path))
    if "://" in text:
        raise SettingError(f"{MAPS.name} is {text!r}; map files are kept in a folder: expected its name")
    return Path(text).expanduser()


def checked_name(name: str) -> str:
    """A map file's name as the database has it. Raises ValueError for one that this program does not give."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"name {name!r}, expected that of a map file")
    return name


def name_of(token: str) -> str:
    """The name of the map file of a job."""
    return f"{token}.map"


def remove_files(folder: Path, token: str) -> None:
    """Removes all that is in the folder of the job with this token, unfinished files too. Raises StorageError."""
    try:
        for path in folder.glob(f"{token}.*"):
            path.unlink(missing_ok=True)
    except OSError as error:
        raise folder_error(folder, error) from error


def free_bytes(folder: Path) -> int:
    """Bytes that are free where the folder is, or will be."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


def folder_error(place: Path, error: OSError) -> StorageError:
    """What the system refuses, told to people."""
    kind = NoRoomError if error.errno in _FULL else StorageError
    return kind(
        f"{place}: the map file cannot be kept there ({error.strerror or error}); make room, or name another folder "
        f"with {MAPS.name}"
    )
