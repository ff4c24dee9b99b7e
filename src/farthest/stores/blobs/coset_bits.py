"""Checkpoints of cosets that take long: the bits of a large subgroup, and how far their enumeration is.

A checkpoint is an attempt of its own in a place for blobs; its name tells the coset. It is written anew now and then,
with the numbers 0 and 1 in turns, and the one before is removed when the new one is whole:

    v-NUMBER-CHUNK-NONCE   some pages of bits that are not all 0, as a zstd frame
    m-NUMBER-0-NONCE       the ``Head``, written last: a checkpoint is there from then on

The place is that of running jobs where FARTHEST_BLOBS names one besides Redis, so that other machines may go on; else a
folder of this machine.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import unquote

import msgspec

from farthest import _kernel
from farthest.cosets import CosetRow, CosetSet, Drawn
from farthest.environment import CHECKPOINT_SECONDS
from farthest.errors import LostStateError, StorageError
from farthest.frames import frame_of, longest, unpacked
from farthest.machine import cores
from farthest.stores.blobs.blob import longest_blob, seal, unseal
from farthest.stores.blobs.place import DAY, BlobName, BlobPart
from farthest.typed import decode
from farthest.wording import seconds_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from farthest.stores.blobs.place import BlobPlace

FORMAT = 1
"""Of the blobs, and of the order in which a run lists sequences."""
PREFIX = "coset-"
NONCE = "0" * 8
KIND = b"fcos"
PAGES = 280
"""Of a chunk."""
CHUNKS = range(0, _kernel.LargeCosets.pages, PAGES)
CHUNK_BYTES = PAGES * _kernel.LargeCosets.page_bytes
MOST_HEAD = 2**16

INTERVALS = 5
"""So many times FARTHEST_CHECKPOINT_SECONDS are between two checkpoints: the bits are more than most layers of jobs."""
SHARE = 10
"""And at least so many times what the last one took."""
LEAST = 0.1
"""A process that was told to stop writes one if so much of that time is over."""

Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``name``: of the checkpoint; ``row``: what had been found, and the ``mark`` of the run (``LargeCosetRun.mark``);
    ``seconds`` that it had taken; ``chunks``: the XXH3 of their blobs, 0 where there is none."""

    name: str
    row: CosetRow
    mark: Annotated[list[Number], msgspec.Meta(min_length=7, max_length=7)]
    seconds: Annotated[float, msgspec.Meta(ge=0)]
    chunks: list[int]


def interval() -> float:
    """Seconds before the first checkpoint of a coset, and between two. Raises SettingError."""
    return INTERVALS * CHECKPOINT_SECONDS.number()


def _name_of(asked: CosetSet, part: int) -> str:
    """The same for sets of any depth that have the coset by the same sequence, or by the same seed, whatever the title
    of the puzzle."""
    chosen = asked.chosen
    which = [chosen.seed, part] if isinstance(chosen, Drawn) else chosen[part] if chosen else part
    text = msgspec.json.encode([FORMAT, asked.puzzle.digest, asked.subgroup, which])
    return f"{PREFIX}{sha256(text).hexdigest()[:32]}"


def drop_checkpoints(place: BlobPlace, asked: CosetSet, parts: Iterable[int]) -> None:
    """Removes those of some parts. Raises as ``BlobPlace``."""
    if there := {name for name in place.attempts() if name.startswith(PREFIX)}:
        for name in {_name_of(asked, part) for part in parts} & there:
            place.drop(name)


def _coset(text: str) -> str:
    return f"coset {text or '(solved)'}"


def place_text(place: BlobPlace) -> str:
    """Where it is, for users: of a folder the path."""
    return unquote(place.url.removeprefix("file://"))


def _where(head: Head) -> str:
    return f"distance {head.mark[0]}, after {seconds_text(head.seconds)}"


class CosetCheckpoint:
    """That of a coset, which is a part of a set; see ``cosets.Kept``. ``notice`` hears where it goes on, and
    what is wrong, and at a stop what is written or kept. Raises SettingError."""

    def __init__(self, place: BlobPlace, asked: CosetSet, part: int, notice: Callable[[str], None]) -> None:
        self._place, self._depth, self._notice = place, asked.depth, notice
        self._name, self._interval = _name_of(asked, part), interval()
        self._number = 1  # of the last one
        self._coset = ""
        self._last: Head | None = None  # until it was told where it is
        self._since = self._began = perf_counter()
        self._took = 0.0
        self._failed = self._deeper = self._writing = False
        self.seconds = 0.0
        self.stopping = self.given_up = False

    def restored(self, run: _kernel.LargeCosetRun, coset: str) -> CosetRow | None:
        """See ``cosets.Kept``. Of two that are whole the later one is taken."""
        self._coset = _coset(coset)
        self._since = self._began = perf_counter()
        heads: list[tuple[list[int], int, Head]] = []
        problem = f"{place_text(self._place)}: the checkpoint of {self._coset} is not used"
        for number in (0, 1):
            with self._told(problem):
                if head := self._head(number, coset):
                    heads.append(([head.mark[0], head.mark[4]], number, head))
        for _, number, head in sorted(heads, key=lambda each: each[0], reverse=True):
            filled = False
            with self._told(problem):
                self._fill(run, number, head)
                filled = True
            if filled:
                self._number, self.seconds, self._since = number, head.seconds, perf_counter()
                self._last = head
                self._notice(f"{self._coset} goes on at {_where(head)}, from {place_text(self._place)}")
                return head.row
            run.clear()
        return None

    def _head(self, number: int, coset: str) -> Head | None:
        name = self._blob("m", number)
        (blob,) = self._place.read([BlobPart(name, 0, longest_blob(MOST_HEAD))])
        if not blob:
            return None
        _, text = unseal(KIND, number, 0, blob, MOST_HEAD)
        try:
            head = decode(text, Head)
        except msgspec.MsgspecError as error:
            raise LostStateError(f"{name.file}: {error}") from None
        row, distances = head.row, head.mark[0]
        found = [head.name, row.coset, len(row.layers), sum(row.layers), len(head.chunks)]
        if found != [self._name, coset, distances, head.mark[1], len(CHUNKS)]:
            raise LostStateError(f"{name.file}: it is of another coset, or says what cannot be")
        listed = distances if head.mark[3] else distances - 1
        self._deeper = self._deeper or listed > self._depth
        return None if listed > self._depth else head

    def _fill(self, run: _kernel.LargeCosetRun, number: int, head: Head) -> None:
        def fill(chunk: int) -> None:
            if not head.chunks[chunk]:
                return
            (blob,) = self._place.read(
                [BlobPart(self._blob("v", number, chunk), 0, longest(CHUNK_BYTES) + 1)]
            )
            if _kernel.xxh3(blob) != head.chunks[chunk]:
                raise LostStateError(f"{self._blob('v', number, chunk).file}: it is damaged, or missing")
            run.set_pages(CHUNKS[chunk], unpacked(blob, CHUNK_BYTES, CHUNK_BYTES))

        with ThreadPoolExecutor(cores()) as pool:
            list(pool.map(fill, range(len(CHUNKS))))
        run.resume(head.mark)

    def stop(self) -> None:
        """The process was told to stop, and waits for what is being written."""
        self.stopping = True
        if self._writing:
            self._notice(f"{self._coset}: a checkpoint is being written; the same signal again gives it up")

    def offer(self, run: _kernel.LargeCosetRun, row: CosetRow) -> None:
        """See ``cosets.Kept``."""
        least = LEAST * self._interval if self.stopping else max(self._interval, SHARE * self._took)
        due = not (row.bounds or self._deeper) and perf_counter() - self._since >= least
        if due and (mark := run.mark()) is not None:
            self._writing, self._since = True, perf_counter()
            if self.stopping:
                self.stop()
            try:
                self._remove_stale()
                self._last = self._write(run, row, mark, 1 - self._number)
                self._number = 1 - self._number
            except StorageError as error:
                if not self._failed and not self.given_up:
                    self._failed = True
                    self._notice(f"a checkpoint of {self._coset} could not be written: {error}")
            with self._told(""):
                self._remove(1 - self._number)
            self._took = perf_counter() - self._since
            self._writing, self._since = False, perf_counter()
        if self.stopping and self._last is not None:
            self._notice(f"{place_text(self._place)} keeps {self._coset} at {_where(self._last)}")
            self._last = None

    def _write(self, run: _kernel.LargeCosetRun, row: CosetRow, mark: list[int], number: int) -> Head:
        def write(chunk: int) -> int:
            if self.given_up:
                raise StorageError("given up")
            if not (pages := run.pages(CHUNKS[chunk], PAGES)):
                return 0
            blob = frame_of(pages)
            self._place.put({self._blob("v", number, chunk): blob})
            return _kernel.xxh3(blob)

        self._remove(number)
        with ThreadPoolExecutor(cores()) as pool:
            chunks = list(pool.map(write, range(len(CHUNKS))))
        head = Head(self._name, row, mark, self.seconds + perf_counter() - self._began, chunks)
        self._place.put({self._blob("m", number): seal(KIND, number, 0, 0, msgspec.json.encode(head))})
        return head

    def _remove(self, number: int) -> None:
        self._place.remove([self._blob("m", number)])
        self._place.remove([self._blob("v", number, chunk) for chunk in range(len(CHUNKS))])

    def _remove_stale(self) -> None:
        """Checkpoints of cosets that nobody has gone on with for a day."""
        for name in self._place.attempts():
            if name.startswith(PREFIX) and name != self._name and self._place.silence(name) > DAY:
                self._place.drop(name)

    def drop(self) -> None:
        """Removes it: its coset is done."""
        if not self._deeper:
            with self._told("a checkpoint was not removed"):
                self._place.drop(self._name)

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Tells what is wrong in the block, and ends it."""
        try:
            yield
        except (StorageError, ValueError) as error:
            if what:
                self._notice(f"{what}: {error}")

    def _blob(self, kind: Literal["v", "m"], number: int, chunk: int = 0) -> BlobName:
        return BlobName(self._name, kind, number, chunk, NONCE)
