"""What keeps map files: a folder (folder.py) or an object store (objects.py); FARTHEST_MAPS chooses (places.py)."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Protocol, Self

from farthest.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from typing_extensions import Buffer

    from farthest.map_files.file import Source
    from farthest.map_files.form import ResidueForm


# --- Names of map files in their folder or object store.

_NAME = re.compile(r"\d{1,19}-[0-9a-f]{8}(/[0-9a-f]{16})?\.map", re.ASCII)


def job_token(job: int, created: datetime, puzzle_digest: str) -> str:
    """What names of a job's files begin with: other jobs of that number, in other databases, have another one."""
    begun = hashlib.sha256(f"{created.isoformat()} {puzzle_digest}".encode()).hexdigest()
    return f"{job}-{begun[:8]}"


def checked_name(name: str) -> str:
    """A map file's name as the database has it. Raises ValueError for one that this program does not give."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"name {name!r}, expected that of a map file")
    return name


def name_of(token: str) -> str:
    """The name of the map file of a job, in a folder."""
    return f"{token}.map"


def new_name(token: str) -> str:
    """A name for the map file of a job in an object store: each attempt at the job has another one, as objects cannot
    be renamed."""
    return f"{token}/{token_hex(8)}.map"


# --- Which words of a map were written: each must be, once.


class Written:
    """The ranges of a map's data, of ``size`` bytes, that were written. ``place``: of the map, as messages show it."""

    def __init__(self, size: int, place: str) -> None:
        self._size = size
        self._place = place
        self._ranges: list[tuple[int, int]] = []

    def add(self, first_word: int, data: Buffer) -> tuple[int, memoryview]:
        """Notes that words are written, from the word ``first_word`` on. Gives the byte that they begin at, and their
        bytes. Raises ValueError where they are none of the map."""
        view = memoryview(data).cast("B")
        first, last = 8 * first_word, 8 * first_word + len(view)
        if len(view) % 8 or first < 0 or last > self._size:
            raise ValueError("words outside the map")
        self._ranges.append((first, last))
        return first, view

    def check(self) -> None:
        """Raises StorageError unless all words were written, each once."""
        end = 0
        for first, last in [*sorted(self._ranges), (self._size, 0)]:
            if first != end:
                raise StorageError(
                    f"{self._place}: words from byte {end} of the data on were not written once each"
                )
            end = last


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A complete map file, stored for good. ``sections``: the SHA-256, in hexadecimal, of each section of its data."""

    name: str
    bytes: int
    checksum: str
    sections: list[str]


class MapWriter(Protocol):
    """Writes one map file. Words may be written in any order, each once.

    Leaving it as a context removes what was not published. All methods raise StorageError, NoRoomError where the place
    is full, UnavailableError where it is away for too long.
    """

    def write(self, first_word: int, data: Buffer) -> None:
        """Writes words, 8 bytes each, the lowest first, from the word ``first_word`` of the map on."""

    def finish(self, threads: int = 1) -> WrittenFile:
        """Works out the checksums, and stores all for good. Raises StorageError where words were not written."""

    def publish(self) -> None:
        """Gives the finished file its name, and lets it stay; once, however often it is called."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


class MapPlace(Protocol):
    """Keeps map files by their names. All methods raise StorageError; UnavailableError where the place is away."""

    where: str
    """As messages show it."""

    def check(self) -> None:
        """Raises SettingError where maps cannot be kept there, as far as that can be known before one is made."""

    def writer(
        self,
        token: str,
        form: ResidueForm,
        facts: dict[str, Any],
        told: Callable[[str], None],
        scratch: Path,
    ) -> MapWriter:
        """A new map file of the job with this token (``names.job_token``). What an earlier attempt at the job has left
        is removed first. ``facts``: what tells the job, JSON. ``told`` hears that the place is away, and waited for;
        ``scratch``: the folder for parts that cannot be stored yet."""

    def source(self, name: str) -> Source:
        """The map file of a name. Raises DamagedMapError where there is none."""

    def remove(self, token: str) -> None:
        """Removes all files of a job, unfinished ones too."""

    def free(self) -> int | None:
        """Bytes that are free, where that can be known."""
