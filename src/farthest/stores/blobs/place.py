"""A place for blobs: where the states of running jobs are kept as bytes, apart from the records that name them.

Redis (stores/redis/places.py), a folder (folder.py) and an object store (objects.py) are such places;
FARTHEST_BLOBS chooses. A blob gets a name that none has had, and never changes. A record that names it is written when
the blob is there, so a blob that is missing or altered was lost, and the attempt is made again from its checkpoint.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple, Protocol

from farthest.environment import BLOBS
from farthest.errors import SettingError, StorageError

ATTEMPT_NAME = re.compile(r"[A-Za-z0-9_.-]{1,200}")
"""What the name of an attempt looks like: names come from Redis and from messages, and become parts of keys, of
patterns of keys, and of paths."""

NONCE = re.compile(r"[0-9a-f]{8}")
"""What a nonce looks like: those of blobs come from Redis, and become parts of keys and paths."""

REDIS = "redis"
"""What FARTHEST_BLOBS says where the place is Redis itself."""

Kind = Literal["b", "o", "v", "m", "p"]
"""Of a blob: the states of a block at a depth; its outbox; all its states up to a depth, or some of them; the mark of
an attempt; the chunks of a map part."""

DAY = 86400.0
"""An attempt that the own Redis does not know may belong to another installation, which shares the place: it is removed
when nothing of it was written for so many seconds."""


class BlobName(NamedTuple):
    """The name of a blob of ``attempt``. ``nonce`` makes sure that no other blob has had it."""

    attempt: str
    kind: Kind
    depth: int
    block: int
    nonce: str

    @property
    def file(self) -> str:
        """Its name among the files of its attempt."""
        return f"{self.kind}-{self.depth}-{self.block}-{self.nonce}"


FILE = re.compile(rf"[bovmp]-\d+-\d+-{NONCE.pattern}")
"""What ``BlobName.file`` looks like. Nothing else is ever removed from a place."""

ATTEMPT_FOLDER = "farthest-attempt-"
"""What the name of the folder of an attempt begins with, before the attempt's own name."""


class BlobPart(NamedTuple):
    """``size`` bytes of a blob, from its byte ``first`` on."""

    name: BlobName
    first: int
    size: int


class NameTakenError(StorageError):
    """There is another blob of that name already."""


class BlobPlace(Protocol):
    """Keeps blobs. All methods raise UnavailableError where the place cannot be reached now, NoRoomError where it is
    full, else StorageError. None waits; all may be repeated."""

    @property
    def url(self) -> str:
        """Where it is, as FARTHEST_BLOBS says it, without secrets."""

    def check(self) -> None:
        """Raises SettingError, too, where the place cannot be used."""

    def put(self, blobs: Mapping[BlobName, bytes]) -> None:
        """Stores blobs, for good when it returns. One that is there already is left as it is: NameTakenError where
        that has other bytes."""

    def read(self, parts: Sequence[BlobPart]) -> list[bytes]:
        """Parts of blobs: as many of their bytes as are there, none of a blob that is missing."""

    def remove(self, names: Iterable[BlobName]) -> None:
        """Removes those of the blobs that are there."""

    def drop(self, attempt: str) -> None:
        """Removes all blobs of an attempt."""

    def attempts(self) -> list[str]:
        """The attempts that have blobs here."""

    def silence(self, attempt: str) -> float:
        """For how many seconds no blob of the attempt was written; 0 where that is not known."""

    def free(self) -> int | None:
        """How many bytes may be written before the place is full, where that can be known."""


def new_nonce() -> str:
    """A nonce for the name of a blob."""
    return secrets.token_hex(4)


def attempt_in(folder: str) -> str | None:
    """The attempt whose folder has this name; None where it is none of farthest's."""
    name = folder.removeprefix(ATTEMPT_FOLDER)
    return name if name != folder and ATTEMPT_NAME.fullmatch(name) else None


def mark_of(attempt: str, nonce: str) -> BlobName:
    """The name of the blob that shows that a process sees the same place as the coordinator which has written it."""
    return BlobName(attempt, "m", 0, 0, nonce)


def probe(place: BlobPlace) -> None:
    """Writes to a place, reads, and removes what was written. Raises SettingError for one that does not keep the
    contract, and what its methods raise."""
    attempt = f"probe-{secrets.token_hex(8)}"
    name = mark_of(attempt, new_nonce())
    try:
        place.put({name: b"first"})
        try:
            place.put({name: b"second"})
        except NameTakenError:
            pass
        else:
            raise _unfit(place, "overwrites what it was told to create only where there is nothing")
        if place.read([BlobPart(name, 1, 3)]) != [b"irs"]:
            raise _unfit(place, "does not give back what was written, or a part of it")
    finally:
        with suppress(StorageError):
            place.drop(attempt)


def _unfit(place: BlobPlace, what: str) -> SettingError:
    return SettingError(f"{BLOBS.name} is {place.url}: this place {what}; choose another one")
