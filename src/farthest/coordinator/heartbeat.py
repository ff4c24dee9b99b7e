"""A coordinator's sign of life on its host: a file that it touches, for health checks that need no server.

The file shows that the process runs and its threads get processor time; the job's progress in the database shows
whether the job advances.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from farthest.errors import SettingError
from farthest.models.leases import is_of_this_host, owner_is_dead, owner_token
from farthest.puzzles.reader import read_bytes

PREFIX = "farthest-coordinator-"
BEAT_SECONDS = 5.0
LATE_SECONDS = 3 * BEAT_SECONDS


@contextmanager
def beating() -> Iterator[None]:
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
        _sign(descriptor, folder)
        heart.start()
        yield
    finally:
        done.set()
        if heart.ident is not None:
            heart.join()
        os.close(descriptor)
        with suppress(OSError):
            os.unlink(name)


def _sign(descriptor: int, folder: Path) -> None:
    try:
        os.write(descriptor, owner_token().encode())
    except OSError as error:
        raise SettingError(
            f"{folder}: nothing can be written there ({error.strerror}); make room, or name another folder with TMPDIR"
        ) from error


def alive() -> bool:
    """Whether a coordinator of this host, with the same folder, has touched its file recently."""
    return any(map(_is_fresh, _folder().glob(f"{PREFIX}*")))


def _is_fresh(file: Path) -> bool:
    try:
        late = time.time() - file.stat().st_mtime > LATE_SECONDS
        owner = _owner(file)
    except OSError:  # it ended meanwhile, or is another user's
        return False
    # The folder may be shared by containers, each a host of its own.
    return not late and is_of_this_host(owner) and not owner_is_dead(owner)


def _owner(file: Path) -> str:
    """The token in a file. In a shared folder others may have made it, so it may hold anything; a pipe, which could be
    silent for ever, has none. Raises OSError."""
    return read_bytes(file).decode(errors="replace") if file.is_file() else ""


def _folder() -> Path:
    return Path(tempfile.gettempdir())


def _beat(descriptor: int, done: threading.Event) -> None:
    while not done.wait(BEAT_SECONDS):
        os.utime(descriptor)


def _bury_the_dead(folder: Path) -> None:
    """Removes the files of coordinators that were killed."""
    for file in folder.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if owner_is_dead(_owner(file)):
                file.unlink()
