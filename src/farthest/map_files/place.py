"""What keeps map files, a folder (places.py) or an object store (objects.py): their names there, and how one is
written."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Protocol, Self

from farthest.errors import NoRoomError, StorageError, is_full
from farthest.map_files.form import ResidueForm, file_checksum, header_of, parts_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typing_extensions import Buffer

    from farthest.map_files.file import Source


_NAME = re.compile(r"\d{1,19}-[0-9a-f]{8}(/[0-9a-f]{16})?\.map", re.ASCII)


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


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A complete map file, stored for good. ``sections``: the SHA-256, in hexadecimal, of each section of its data."""

    name: str
    bytes: int
    checksum: str
    sections: list[str]


class MapWriter(ABC):
    """Writes one map file, ``name``, as ``place`` for messages. Words may be written in any order, each once.

    Leaving it as a context removes what was not published. All methods raise StorageError, NoRoomError where the place
    is full, UnavailableError where it is away for too long.
    """

    def __init__(self, name: str, place: str, form: ResidueForm, facts: dict[str, Any]) -> None:
        self._name = name
        self._place = place
        self._header = header_of(form, facts)
        self._parts = parts_of(self._header, form)
        self._ranges: list[tuple[int, int]] = []  # bytes of the data that were written
        self._published = False

    def write(self, first_word: int, data: Buffer) -> None:
        """Writes words, 8 bytes each, the lowest first, from the word ``first_word`` of the map on. Raises ValueError
        where they are none of the map."""
        view = memoryview(data).cast("B")
        first, last = 8 * first_word, 8 * first_word + len(view)
        if len(view) % 8 or first < 0 or last > self._parts.data:
            raise ValueError("words outside the map")
        self._ranges.append((first, last))
        self._put_data(first, view)

    def finish(self, threads: int = 1) -> WrittenFile:
        """Works out the checksums, and stores all for good. Raises StorageError where words were not written once."""
        end = 0
        for first, last in [*sorted(self._ranges), (self._parts.data, 0)]:
            if first != end:
                raise StorageError(
                    f"{self._place}: words from byte {end} of the data on were not written once each"
                )
            end = last
        summed = self._summed(threads)
        checksums = b"".join(sums for sums, _ in summed)
        self._complete(checksums)
        checksum = file_checksum(self._header, checksums)
        return WrittenFile(self._name, self._parts.bytes, checksum, [digest for _, digest in summed])

    @abstractmethod
    def publish(self) -> None:
        """Gives the finished file its name, and lets it stay; once, however often it is called."""

    @abstractmethod
    def abort(self) -> None:
        """Gives up what is held, and removes what was written, unless it was published."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.abort()

    @abstractmethod
    def _put_data(self, first: int, data: memoryview) -> None:
        """Writes data from the byte ``first`` of it on."""

    @abstractmethod
    def _summed(self, threads: int) -> list[tuple[bytes, str]]:
        """``section_sums`` of each section, in order."""

    @abstractmethod
    def _complete(self, checksums: bytes) -> None:
        """Stores the checksums, and all that was written, for good."""


def refusal(error: OSError, message: str) -> StorageError:
    """What the system refuses, told to people."""
    return (NoRoomError if is_full(error) else StorageError)(message)


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
        """A new map file of the job with this token (``job_token``). What an earlier attempt at the job has left
        is removed first. ``facts``: what tells the job, JSON. ``told`` hears that the place is away, and waited for;
        ``scratch``: the folder for parts that cannot be stored yet."""

    def source(self, name: str) -> Source:
        """The map file of a name. Raises DamagedMapError where there is none."""

    def remove(self, token: str) -> None:
        """Removes all files of a job, unfinished ones too."""

    def free(self) -> int | None:
        """Bytes that are free, where that can be known."""
