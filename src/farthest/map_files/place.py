"""What keeps map files: a folder (folder.py) or an object store (objects.py); FARTHEST_MAPS chooses (places.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typing_extensions import Buffer

    from farthest.map_files.file import Source
    from farthest.map_files.form import ResidueForm


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
