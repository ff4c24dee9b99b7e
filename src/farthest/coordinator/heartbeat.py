"""A coordinator's sign of life on its host: a file that it touches, for health checks that need no server.

The file's first line is the coordinator's token, the second one the place of its database. The file shows that the
process runs and its threads get processor time; the job's progress in the database shows whether the job advances.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from farthest.errors import SettingError
from farthest.models.leases import is_of_this_host, owner_is_dead, owner_token
from farthest.puzzles.reader import read_bytes

if TYPE_CHECKING:  # health checks need no SQLAlchemy
    from farthest.models.database import Database

PREFIX = "farthest-coordinator-"
BEAT_SECONDS = 5.0
LATE_SECONDS = 3 * BEAT_SECONDS


@contextmanager
def beating(database: Database) -> Iterator[None]:
    """Touches this process's file regularly during the block. Raises SettingError where the folder cannot be written
    to."""
    folder = _folder()
    _bury_the_dead(folder)
    try:
        descriptor, name = tempfile.mkstemp(prefix=PREFIX, dir=folder)
    except OSError as error:
        raise SettingError(
            f"{folder}: no file can be made there ({error.strerror}); name another folder with TMPDIR"
        ) from error
    done = threading.Event()
    heart = threading.Thread(target=_beat, args=(descriptor, done), name="farthest-heartbeat", daemon=True)
    try:
        _sign(descriptor, folder, database)
        heart.start()
        yield
    finally:
        done.set()
        if heart.ident is not None:
            heart.join()
        os.close(descriptor)
        with suppress(OSError):
            os.unlink(name)


def _sign(descriptor: int, folder: Path, database: Database) -> None:
    try:
        os.write(descriptor, os.fsencode(f"{owner_token()}\n{_place(database)}"))
    except OSError as error:
        raise SettingError(
            f"{folder}: nothing can be written there ({error.strerror}); make room, or name another folder with TMPDIR"
        ) from error


def alive(database: Database | None = None) -> bool:
    """Whether a coordinator of this host, with the same folder, has touched its file recently; one of this database,
    if one is given."""
    place = None if database is None else _place(database)
    return any(_is_fresh(file, place) for file in _folder().glob(f"{PREFIX}*"))


def _is_fresh(file: Path, place: str | None) -> bool:
    try:
        late = time.time() - file.stat().st_mtime > LATE_SECONDS
        owner, served = _signature(file)
    except OSError:  # it ended meanwhile, or is another user's
        return False
    # The folder may be shared by containers, each a host of its own.
    return not late and place in (None, served) and is_of_this_host(owner) and not owner_is_dead(owner)


def _place(database: Database) -> str:
    return database.place if database.path is None else str(database.path.resolve())


def _signature(file: Path) -> tuple[str, str]:
    """The token and the database in a file. In a shared folder others may have made it, so it may hold anything; a
    pipe, which could be silent for ever, has none. Raises OSError."""
    text = os.fsdecode(read_bytes(file)) if file.is_file() else ""
    owner, _, place = text.partition("\n")
    return owner, place


def _folder() -> Path:
    return Path(tempfile.gettempdir())


def _beat(descriptor: int, done: threading.Event) -> None:
    while not done.wait(BEAT_SECONDS):
        os.utime(descriptor)


def _bury_the_dead(folder: Path) -> None:
    """Removes the files of coordinators that were killed."""
    for file in folder.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if owner_is_dead(_signature(file)[0]):
                file.unlink()
