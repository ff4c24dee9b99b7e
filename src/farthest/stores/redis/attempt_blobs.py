"""The keys of one attempt in Redis, and its blobs, wherever their place is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from farthest.errors import LostStateError, SettingError
from farthest.stores.blobs.place import BlobName, BlobPart, Kind, mark_of
from farthest.stores.redis.attempts import prefix
from farthest.wording import shown

if TYPE_CHECKING:
    from farthest.stores.blobs.place import BlobPlace
    from farthest.stores.redis.connections import RedisNodes

MARK = b"farthest"
"""What the mark of an attempt holds."""


class AttemptKeys:
    """The keys of the attempt called ``attempt`` on the main node."""

    def __init__(self, attempt: str) -> None:
        self.attempt = attempt
        self._prefix = prefix(attempt)

    @property
    def done_key(self) -> str:
        """The done-list."""
        return f"{self._prefix}done"

    @property
    def meta_key(self) -> str:
        """What the attempt is, and how far."""
        return f"{self._prefix}meta"

    def records_key(self, depth: int) -> str:
        """The records of a layer."""
        return f"{self._prefix}c:{depth}"

    @property
    def fold_key(self) -> str:
        """What map is to be made."""
        return f"{self._prefix}fold"

    def parts_key(self, depth: int) -> str:
        """The records of the parts of the map up to a depth."""
        return f"{self._prefix}parts:{depth}"

    def bases_key(self, depth: int) -> str:
        """The records of those parts of the map up to a depth, a checkpoint, that are in the place of blobs."""
        return f"{self._prefix}bases:{depth}"

    @property
    def visited_key(self) -> str:
        """Where each block's blob of all its states is."""
        return f"{self._prefix}v"


class AttemptBlobs(AttemptKeys):
    """The keys and blobs of an attempt; what goes to their place waits, and raises, as ``RedisNodes.call`` does."""

    def __init__(self, nodes: RedisNodes, attempt: str, place: BlobPlace) -> None:
        super().__init__(attempt)
        self.nodes = nodes
        self.place = place

    def found_name(self, depth: int, block: int, nonce: str) -> BlobName:
        """Of a block's states at a depth."""
        return self._name("b", depth, block, nonce)

    def visited_name(self, depth: int, block: int, nonce: str) -> BlobName:
        """Of all states of a block up to a depth, or some of them."""
        return self._name("v", depth, block, nonce)

    def outbox_name(self, depth: int, block: int, nonce: str) -> BlobName:
        """Of what the states of a block at a depth lead to, part by part."""
        return self._name("o", depth, block, nonce)

    def part_name(self, depth: int, part: int, nonce: str) -> BlobName:
        """Of the chunks of a part of the map up to a depth."""
        return self._name("p", depth, part, nonce)

    def _name(self, kind: Kind, depth: int, block: int, nonce: str) -> BlobName:
        return BlobName(self.attempt, kind, depth, block, nonce)

    def fetch(self, names: Sequence[BlobName], most: int) -> list[bytes | None]:
        """The blobs of these names; of one with more than ``most`` bytes only the beginning, which is damaged."""
        return [blob or None for blob in self.fetch_parts([BlobPart(name, 0, most + 1) for name in names])]

    def fetch_parts(self, parts: Sequence[BlobPart]) -> list[bytes]:
        """Parts of blobs; what is missing is left out of the bytes."""
        return self.nodes.call(lambda: self.place.read(parts)) if parts else []

    def send(self, blobs: Mapping[BlobName, bytes]) -> None:
        """Stores blobs."""
        if blobs:
            self.nodes.call(lambda: self.place.put(blobs))

    def discard(self, names: Sequence[BlobName]) -> None:
        """Removes blobs."""
        if names:
            self.nodes.call(lambda: self.place.remove(names))

    def write_mark(self, nonce: str) -> None:
        """Shows those who see the place of the attempt's blobs that they do."""
        self.send({mark_of(self.attempt, nonce): MARK})

    def check_mark(self, said: str, nonce: str) -> None:
        """Checks that this process sees the place that the attempt's coordinator calls ``said`` and has marked. Only
        its own setting says where that is: there may be another path to it here. Raises SettingError where it is
        another place, LostStateError where it should be this one."""
        mark = mark_of(self.attempt, nonce)
        if self.fetch_parts([BlobPart(mark, 0, len(MARK) + 1)]) == [MARK]:
            return
        if said != self.place.url:
            raise SettingError(
                f"attempt {self.attempt} keeps its blobs in {shown(said)}, this process in {self.place.url}: give "
                "all workers and coordinators the same FARTHEST_BLOBS"
            )
        raise LostStateError(
            f"attempt {self.attempt}: in {self.place.url}, as this process sees it, is nothing of what its coordinator "
            "has written there: it was removed, or the hosts do not share that folder or store"
        )
