"""The folder of one enumeration: its header, its lock, and the journal of its complete layers.

header     JSON: the enumeration, and how its space is cut; whoever goes on must have the same
journal    JSON lines: a complete layer each, with the units that have a file
lock       held by the process that uses the folder
L*.*, V*.*, O*.*
           files of units (unit_file.py)
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from farthest.errors import LostStateError, NoRoomError, StorageError
from farthest.json_fields import count
from farthest.stores.folder.unit_file import KINDS
from farthest.untrusted_json import read_json_object

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The disk, a user's share of it, or what a process may write is used up."""


@dataclass(frozen=True, slots=True)
class LayerFigures:
    """A complete layer, and what it took. ``units``: those that have a file. Bytes: of what was read and written, of
    all files there at its end (``disk``), and of memory, the most that the process has had (``memory``). Times in
    seconds, ``processor`` of all threads; of a layer that was gone on with, since then."""

    depth: int
    states: int
    units: list[int]
    seconds: float
    processor: float
    read: int
    written: int
    disk: int
    memory: int

    def document(self) -> dict[str, Any]:
        """As stored with the job: without the units."""
        fields = asdict(self)
        del fields["units"]
        return fields


class EnumerationFolder:
    """A folder that this process alone uses. ``layers``: those that are complete, where the folder was there already;
    ``units``: of a layer, as it was begun. ``key`` (16 bytes) tells the enumeration.

    Raises StorageError where another process uses it, it is of another enumeration, or it cannot be used;
    LostStateError where it is damaged.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any], units: int) -> None:
        self.path = path
        self.units = units
        with self.errors():
            path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self._take_lock()
            with self.errors():
                self.layers = self._opened(identity)
        except BaseException:
            os.close(self._lock)
            raise

    def _take_lock(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StorageError(
                f"{self.path}: another process uses this folder ({error.strerror}); wait until it has ended, or name "
                "another folder with --scratch"
            ) from error

    def _opened(self, identity: Mapping[str, Any]) -> list[LayerFigures]:
        header = self.path / "header"
        wanted = json.dumps({**identity, "units": self.units}, sort_keys=True)
        if not header.exists():
            unfinished = self.path / "header.part"
            unfinished.write_text(wanted)
            unfinished.rename(header)
        text = header.read_text(errors="replace")
        try:
            found = read_json_object(text)
            self.units = count(found.get("units"))
        except (TypeError, ValueError) as error:
            raise LostStateError(f"{header}: the file is damaged: {error}") from error
        if not same_identity(found, identity):
            raise StorageError(
                f"{header}: the layers in this folder are of another enumeration, or of another version of farthest; "
                "name another folder with --scratch, or remove this one"
            )
        self.key = blake2b(text.encode(), digest_size=16).digest()
        return list(self._journal())

    def _journal(self) -> Iterator[LayerFigures]:
        with suppress(FileNotFoundError):
            lines = (self.path / "journal").read_bytes().split(b"\n")
            for depth, line in enumerate(
                lines[:-1]
            ):  # what follows the last line's end was not written to its end
                yield _figures(line, depth, self.path)

    def complete(self, layer: LayerFigures) -> None:
        """Adds a complete layer to the journal. Raises StorageError."""
        with self.errors(), (self.path / "journal").open("ab") as journal:
            # A line that was cut off by a crash has no end: it would spoil this one.
            whole = sum(len(_line(known)) for known in self.layers)
            journal.truncate(whole)
            journal.write(_line(layer))
            journal.flush()
            os.fsync(journal.fileno())
        self.layers.append(layer)

    def errors(self) -> _Errors:
        """Turns errors of the system into StorageError, NoRoomError where the disk is full."""
        return _Errors(self.path)

    def remove(self, name: str) -> None:
        """Removes a file, if it is there."""
        with self.errors(), suppress(FileNotFoundError):
            (self.path / name).unlink()

    def close(self) -> None:
        """Lets others use the folder."""
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = -1

    def drop(self) -> None:
        """Removes what is farthest's in the folder, the folder if nothing else is in it, and closes it."""
        remove_layers(self.path)
        self.close()


def remove_layers(folder: Path) -> int:
    """Removes what is farthest's in a folder of layers, and the folder if nothing else is in it; the bytes that this
    gave back. What cannot be removed stays."""
    freed = 0
    for pattern in (*(f"{kind}*.*" for kind in KINDS), "journal", "header.part", "header", "lock"):
        for file in folder.glob(pattern):
            with suppress(OSError):
                size = file.stat().st_size
                file.unlink()
                freed += size
    with suppress(OSError):
        folder.rmdir()
    return freed


def same_identity(header: Mapping[str, Any], identity: Mapping[str, Any]) -> bool:
    """Whether a folder's header is of that enumeration, in however many units."""
    found = {name: value for name, value in header.items() if name != "units"}
    return json.dumps(found, sort_keys=True) == json.dumps(dict(identity), sort_keys=True)


class _Errors:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, OSError):
            return
        if error.errno in FULL:
            raise NoRoomError(
                f"{self._path}: there is no room for the layers ({error.strerror}); make room and give the same "
                "command again, which goes on from here"
            ) from error
        raise StorageError(
            f"{self._path}: the layers cannot be kept there ({error.strerror}); name another folder with --scratch"
        ) from error


def _line(layer: LayerFigures) -> bytes:
    return json.dumps(asdict(layer)).encode() + b"\n"


def _figures(line: bytes, depth: int, path: Path) -> LayerFigures:
    try:
        fields = read_json_object(line.decode())
        layer = LayerFigures(**fields)
        if layer.depth != depth or not all(isinstance(unit, int) for unit in layer.units):
            raise ValueError(f"it tells of depth {layer.depth}")
    except (TypeError, ValueError) as error:
        raise LostStateError(f"{path / 'journal'}: line {depth + 1} is damaged: {error}") from error
    return layer
