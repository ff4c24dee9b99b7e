"""The proof of a map with all distances, state by state, from the puzzle's definition and the stored bytes alone.

Written independently of the kernel and of the families' spaces, so that it does not repeat their mistakes: moves and
codes are those of a plain model (``verify.models``).

The proof for directed moves. Let d be the stored distances, in the direction in which moves are counted. If d = 0
exactly at the origin, and no successor of a reached state v is unreached or has a distance beyond d(v) + 1, then by
induction along a shortest path every state is reached at no more than its distance; and if every other reached state at
distance d is a successor of one at d - 1, then by induction on d at no less. The successors of every reached state are
computed once.

A dense map has the distance of a successor at its key. In a sparse map it has to be found by its code. So successors
are held, sorted, until they take a quarter of the memory; then one pass over the map, range by range, finds all of
them. A range fits in the cache of a processor, and one to which no successor leads is not read. What is more than the
memory is in files: a proof needs no more memory for a larger map.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import tempfile
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from farthest.errors import NoRoomError, StorageError, is_full
from farthest.machine import cores
from farthest.verify.models import Codes, Model
from farthest.verify.report import BadState, ForwardState, Proof, Stored
from farthest.verify.rows import Distances, Rows, RowsFinding, compare_rows
from farthest.wording import bytes_text

T = TypeVar("T")

BLOCK_STATES = 1 << 15
"""States to a block, of fewer than 5 moves each: with their successors some tens of megabytes."""

RANGE_STATES = 1 << 18
"""States to a range of a sparse map, whose codes stay in the cache of a processor."""

TOGETHER = 32
"""After so many blocks the memory that pages of files have taken is given back."""

CHUNK_KEYS = 2**19
"""Keys that a digest in a dense map's own is of."""

CODES_BYTES = 2**22
"""Bytes of codes that a digest in a sparse map's own is of, at most."""

Piece = tuple[Codes | None, "bytes | bytearray | memoryview | NDArray[Any]"]
"""The codes of consecutive states, None in a dense map, and their distances, little endian."""


PLAIN_KEYS = 2**26
"""Most keys of a residue map that is proved by the plain model alone: it takes some minutes on two cores."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a proof may use. ``memory``: bytes; ``scratch``: the folder for what is more. ``plain_keys``: residue maps
    of more keys are proved by the moves of blocks. ``progress``: called with (depth, share that is done), and may raise
    an exception. The share is of the step to the depth where a map is enumerated again; the depth is 0 while the
    moves of blocks are worked out, and None in a proof state by state."""

    memory: int
    scratch: Path
    threads: int
    plain_keys: int = PLAIN_KEYS
    progress: Callable[[int | None, float], None] = lambda depth, share: None


def memory_of(size: int, scratch: Path | None) -> mmap.mmap:
    """So many bytes of zeros: of memory, or of a file in a folder, which has no name and goes with the process."""
    if scratch is None:
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    try:
        with tempfile.TemporaryFile(prefix="farthest-verify-", dir=scratch) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)  # else a full disk would end the process
            else:
                file.truncate(size)
            return mmap.mmap(file.fileno(), size)
    except OSError as error:
        raise folder_error(scratch, size, error) from error


def folder_error(scratch: Path, size: int, error: OSError) -> StorageError:
    """That working files of a proof cannot be kept in a folder."""
    kind = NoRoomError if is_full(error) else StorageError
    return kind(
        f"{scratch}: the working files of the proof, {bytes_text(size)}, cannot be kept there ({error.strerror}); make "
        "room, name another folder with --scratch, or allow more memory with --memory"
    )


class Room:
    """Where the arrays of a proof are: in memory, or in files of the folder ``scratch``."""

    def __init__(self, scratch: Path | None = None) -> None:
        self._scratch = scratch
        self._memories: list[mmap.mmap] = []

    def zeros(self, count: int, kind: Any) -> NDArray[Any]:
        """An array of zeros. Raises StorageError."""
        memory = memory_of(max(1, count * np.dtype(kind).itemsize), self._scratch)
        self._memories.append(memory)
        return np.frombuffer(memory, dtype=kind, count=count)

    def release(self) -> None:
        """Gives the memory back that pages of files have taken."""
        for memory in self._memories:
            if self._scratch is not None and hasattr(mmap, "MADV_DONTNEED"):
                memory.madvise(mmap.MADV_DONTNEED)


@dataclass(frozen=True, slots=True)
class GatheredMap:
    """A map as arrays: distances by *place*, which is a key, or a state's number in a sparse map.

    ``codes``: of a sparse map, ascending. ``depth``: the last layer of a map with limited depth, else None. ``room``:
    where the arrays are.
    """

    codes: Codes | None
    distances: Distances
    depth: int | None
    room: Room = field(default_factory=Room)

    @property
    def unreachable(self) -> int:
        """The value that stands for no distance: 255 or 65535."""
        return int(np.iinfo(self.distances.dtype).max)

    def distance(self, place: int) -> int | None:
        """The distance at a place; None: there is none, or the place is -1."""
        found = self.unreachable if place < 0 else int(self.distances[place])
        return None if found == self.unreachable else found

    def codes_at(self, places: NDArray[np.int64]) -> Codes:
        """The codes of places."""
        return places.astype(np.uint64) if self.codes is None else self.codes[places]

    def places_of(self, codes: Codes, first: int = 0, last: int | None = None) -> NDArray[np.int64]:
        """The places of codes, -1 where the map does not reach them. In a sparse map those that are not among the
        places first <= place < last are not found; ascending codes are found several times faster."""
        if self.codes is None:
            inside = codes < len(self.distances)
            places = np.where(inside, codes, 0).astype(np.int64)
            found = inside & (self.distances[places] != self.unreachable)
        else:
            some = self.codes[first:last]
            places = np.searchsorted(some, codes)
            places[places == len(some)] = 0
            found = some[places] == codes if len(some) else np.zeros(len(codes), dtype=bool)
            places += first
        places[~found] = -1
        return places

    def places_at(self, depth: int) -> Iterator[NDArray[np.int64]]:
        """The places with a distance, ascending, some at a time."""
        for first in range(0, len(self.distances), CHUNK_KEYS):
            yield first + np.flatnonzero(self.distances[first : first + CHUNK_KEYS] == depth)
            self.room.release()

    def first_places(self, depth: int, most: int) -> NDArray[np.int64]:
        """The first places with a distance, so many at the most."""
        found = np.empty(0, dtype=np.int64)
        for places in self.places_at(depth):
            found = np.append(found, places)[:most]
            if len(found) == most:
                break
        return found

    def digest(self, layers: Sequence[int], stored: str | None = None) -> str:
        """The digest of the map, SHA-256 in hex (docs/chunk-format.md).

        It is of the layer counts, the unit, the width of codes, and the SHA-256 of each chunk. Older versions stored a
        digest of all distances, and all codes. Where ``stored`` is that of this map, it is given. Both cover the same
        and differ in their first line, so a map that is not what was stored has neither.
        """
        head, name, each = f"{' '.join(map(str, layers))}\n{self.distances.dtype.name}\n", "map", CHUNK_KEYS
        if self.codes is not None:
            width = self.codes.dtype.itemsize
            head, name, each = f"{head}{width}\n", "sparse map", min(each, CODES_BYTES // width)

        def line(first: int, last: int) -> str:
            found = hashlib.sha256(self._written(first, last))
            if self.codes is not None:
                codes = hashlib.sha256(self._written_codes(first, last))
                found = hashlib.sha256(codes.digest() + found.digest())
            return f"{found.hexdigest()}\n"

        whole = hashlib.sha256(f"farthest {name} 2\n{head}".encode("ascii"))
        for one in in_blocks(len(self.distances), each, line, self.room.release):
            whole.update(one.encode("ascii"))
        found = whole.hexdigest()
        if stored is None or stored == found:
            return found
        older = hashlib.sha256(f"farthest {name} 1\n{head}".encode("ascii"))
        blocks = range(0, len(self.distances), each)
        if self.codes is None:
            for first in blocks:
                older.update(self._written(first, first + each))
        else:
            of_codes, of_distances = hashlib.sha256(), hashlib.sha256()
            for first in blocks:
                of_codes.update(self._written_codes(first, first + each))
                of_distances.update(self._written(first, first + each))
            older.update(f"{of_codes.hexdigest()}\n{of_distances.hexdigest()}\n".encode("ascii"))
        return stored if stored == older.hexdigest() else found

    def _written(self, first: int, last: int) -> bytes:
        some = self.distances[first:last]
        return some.astype(some.dtype.newbyteorder("<")).tobytes()

    def _written_codes(self, first: int, last: int) -> bytes:
        assert self.codes is not None
        some = self.codes[first:last]
        return (some.astype(">u8") if some.dtype.kind == "u" else some).tobytes()


def gather(
    pieces: Iterable[Piece], states: int, unit: str, code_bytes: int | None, depth: int | None, means: Means
) -> tuple[GatheredMap | None, str]:
    """The pieces as one map and ""; or None and what is wrong with their number or type. ``code_bytes``: of the codes
    of a sparse map; None: dense. Raises StorageError where the working files do not fit in the scratch folder."""
    if unit not in ("uint8", "uint16"):
        return None, f"the map's unit is {unit!r}; expected uint8 or uint16"
    little = np.dtype(unit).newbyteorder("<")
    kind = np.dtype(np.uint64 if code_bytes == 8 else f"S{code_bytes or 1}")
    each = little.itemsize + 1 + (0 if code_bytes is None else kind.itemsize)
    room = Room(means.scratch if states * each > means.memory * 3 // 4 else None)
    codes = None if code_bytes is None else room.zeros(states, kind)
    distances = room.zeros(states, np.dtype(unit))
    unreachable = np.iinfo(distances.dtype).max
    filled = 0
    wrong = ""
    what, at = ("distances", "key") if codes is None else ("states", "state")
    for some, given in pieces:
        if codes is not None and (some is None or some.dtype != kind):
            found = "no codes" if some is None else f"codes of {some.dtype.itemsize} bytes"
            return None, f"from state {filled} the map has {found}; expected {code_bytes} bytes each"
        try:
            part = np.frombuffer(given, dtype=little)
        except ValueError as error:
            return None, f"from {at} {filled} the map is not whole distances: {error}"
        end = filled + len(part)
        if end > states or (some is not None and len(some) != len(part)):
            return None, f"the map holds {end:,} {what} or more; expected {states:,}"
        distances[filled:end] = part
        if codes is not None:
            codes[filled:end] = some
            begin = max(filled, 1)
            falls = np.flatnonzero(codes[begin:end] <= codes[begin - 1 : end - 1])
            if falls.size:
                wrong = (
                    wrong or f"the code of state {begin + int(falls[0])} is not greater than the one before"
                )
            elif (part == unreachable).any():
                wrong = wrong or "a state of the map has no distance"
        filled = end
        room.release()
    if filled != states:
        return None, f"the map ends at {at} {filled}: it holds {filled:,} {what}; expected {states:,}"
    return (None, wrong) if wrong else (GatheredMap(codes, distances, depth, room), "")


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: how many states were checked, how many are wrong, and the first wrong place."""

    checked: int
    failed: int
    first: int | None

    @classmethod
    def at(cls, checked: int, wrong: NDArray[Any]) -> Finding:
        """That of wrong places, ascending."""
        return cls(checked, len(wrong), int(wrong[0]) if len(wrong) else None)

    def merge(self, later: Finding) -> Finding:
        """This finding and that of a block with greater places as one."""
        first = later.first if self.first is None else self.first
        return Finding(self.checked + later.checked, self.failed + later.failed, first)


Findings = dict[str, Finding]
"""By name of the check."""


def in_blocks(
    length: int, states: int, work: Callable[[int, int], T], release: Callable[[], None] = lambda: None
) -> Iterator[T]:
    """What ``work`` gives for each block of so many places, first <= place < last, by as many threads as processors.
    ``release`` is called now and then. Few results wait, however many moves have made them large."""
    with ThreadPoolExecutor(cores()) as pool:
        waiting: deque[Future[T]] = deque()
        for number, first in enumerate(range(0, length, states), 1):
            waiting.append(pool.submit(work, first, min(first + states, length)))
            if len(waiting) == cores() + 2:
                yield waiting.popleft().result()
            if number % TOGETHER == 0:
                release()
        while waiting:
            yield waiting.popleft().result()
        release()


def merge_findings(findings: Findings, later: Findings) -> None:
    """Adds those of a block with greater places."""
    for name, finding in later.items():
        findings[name] = findings[name].merge(finding) if name in findings else finding


def check_blocks(whole: GatheredMap, states: int, check: Callable[[int, int], Findings]) -> Findings:
    """What ``check`` finds at blocks of so many places."""
    findings: Findings = {}
    for found in in_blocks(len(whole.distances), states, check, whole.room.release):
        merge_findings(findings, found)
    return findings


def count_layers(whole: GatheredMap) -> tuple[int, ...]:
    """The states of each layer."""
    counts = np.zeros(whole.unreachable + 1, dtype=np.int64)

    def count(first: int, last: int) -> NDArray[np.int64]:
        return np.bincount(whole.distances[first:last], minlength=len(counts))

    for here in in_blocks(len(whole.distances), CHUNK_KEYS, count, whole.room.release):
        counts += here
    return tuple(map(int, np.trim_zeros(counts[:-1], "b")))


Successors = tuple[Codes, NDArray[np.int64]]
"""Codes of successors, and the places of the states that they follow."""


class MapProof(ABC):
    """How the distances of a map are proved. ``keys``, ``code_bytes``: see Model; ``arrangements``: see Report.
    ``layout_detail``: what the report says of a right layout, if anything."""

    keys: int | None
    code_bytes = 8
    arrangements: int
    layout_detail = ""

    @abstractmethod
    def prove(self, proof: Proof, whole: GatheredMap) -> None:
        """Adds all checks of states, and the states of each layer."""

    @abstractmethod
    def texts(self, whole: GatheredMap, places: NDArray[np.int64]) -> list[str]:
        """The texts of the boards at places."""

    def compare_rows(self, whole: GatheredMap, rows: Rows, counts: Sequence[int]) -> RowsFinding:
        """What is found of the readable rows. ``counts``: the states of each layer."""
        return compare_rows(rows, lambda places: self.texts(whole, places), whole.distances, counts)

    def explain(self, whole: GatheredMap, place: int) -> BadState | None:
        """The bad state at a place and those around it; None: they say nothing."""
        return None

    def nearest_goal(self, whole: GatheredMap) -> int | None:
        """The least distance of a goal."""
        return None

    def total(self, states: int) -> str:
        """The number of states compared with how many there may be, in words."""
        return f"{states:,} states; at most {self.arrangements:,} are possible"


class StateProof(MapProof):
    """The proof by the successors of each state."""

    def __init__(self, stored: Stored, model: Model, means: Means) -> None:
        self.puzzle = stored.puzzle
        self.means = means
        self.model = model
        self.keys, self.code_bytes = model.keys, model.code_bytes
        self.arrangements = stored.puzzle.definition.arrangements()

    def prove(self, proof: Proof, whole: GatheredMap) -> None:
        proof.counts = count_layers(whole)
        for name, one in self.findings(whole).items():
            first = None if one.first is None else self.explain(whole, one.first)
            proof.check(name, one.checked, one.failed, first=first)

    def findings(self, whole: GatheredMap) -> Findings:
        """What is found of all states."""
        length, none = len(whole.distances), Finding(0, 0, None)
        found = {
            "codes": none,
            "origin": self.check_origins(whole),
            "nearer": none,
            "jump": none,
            "closed": none,
        }
        preceded = whole.room.zeros(length, np.bool_)
        firsts = whole.codes_at(np.arange(RANGE_STATES, length, RANGE_STATES))
        held: list[Successors] = []
        size = 0
        some = whole.codes_at(np.arange(0, length, length // 256 + 1))
        moves = len(self.model.successors(self.model.boards(some))[1]) // max(1, len(some))
        each = max(1, BLOCK_STATES * 4 // max(4, moves))
        blocks = in_blocks(length, each, partial(self._expand, whole), whole.room.release)
        for number, (here, successors) in enumerate(blocks, 1):
            merge_findings(found, here)
            held.append(successors)
            size += sum(array.nbytes for array in successors)
            share = min(1.0, number * each / length)
            self.means.progress(None, share)
            if size >= self.means.memory // 4 or number * each >= length:
                merge_findings(found, self._look_up(whole, preceded, held, firsts, share))
                held, size = [], 0
        for name in ("jump", "closed"):
            found[name] = replace(found[name], checked=found["codes"].checked)

        def check_preceded(first: int, last: int) -> Findings:
            distances = whole.distances[first:last]
            later = (distances > 0) & (distances != whole.unreachable)
            wrong = np.flatnonzero(later & ~preceded[first:last])
            return {"nearer": Finding.at(int(np.count_nonzero(later)), first + wrong)}

        found |= check_blocks(whole, CHUNK_KEYS, check_preceded)
        return found | self.check_depth(whole, found["codes"].checked)

    def check_depth(self, whole: GatheredMap, states: int) -> Findings:
        """That no distance is beyond the depth of a map that has one."""
        depth = whole.depth
        if depth is None:
            return {}

        def check(first: int, last: int) -> Findings:
            distances = whole.distances[first:last]
            wrong = np.flatnonzero((distances > depth) & (distances != whole.unreachable))
            return {"depth": Finding.at(0, first + wrong)}

        return {"depth": replace(check_blocks(whole, CHUNK_KEYS, check)["depth"], checked=states)}

    def _expand(self, whole: GatheredMap, first: int, last: int) -> tuple[Findings, Successors]:
        """What is found of the codes of the states first <= place < last, and their successors, ascending."""
        places = np.flatnonzero(whole.distances[first:last] != whole.unreachable) + first
        if not places.size:
            return {}, (whole.codes_at(places), places)
        codes = whole.codes_at(places)
        boards = self.model.boards(codes)
        rows, after = self.model.successors(boards)
        reached = self.model.codes(after)
        order = np.argsort(reached)
        wrong = places[self.model.codes(boards) != codes]
        return {"codes": Finding.at(len(places), wrong)}, (reached[order], places[rows[order]])

    def _look_up(
        self,
        whole: GatheredMap,
        preceded: NDArray[np.bool_],
        held: Sequence[Successors],
        firsts: Codes,
        share: float,
    ) -> Findings:
        """What the map has at successors: marks those that are one farther. ``firsts``: the first code of each range
        but the first. ``share``: what is done, to be told meanwhile."""
        cuts = np.array(
            [np.concatenate(([0], np.searchsorted(codes, firsts), [len(codes)])) for codes, _ in held]
        )

        def check(first: int, last: int) -> dict[str, NDArray[np.int64]]:
            begin, end = cuts[:, first // RANGE_STATES :][:, :2].T.tolist()
            parts = [
                (codes[a:b], places[a:b])
                for (codes, places), a, b in zip(held, begin, end, strict=True)
                if a < b
            ]
            if not parts:
                return {}
            reached, sources = (np.concatenate(each) for each in zip(*parts, strict=True))
            order = np.argsort(reached)
            sources, places = sources[order], whole.places_of(reached[order], first, last)
            there, own = places >= 0, whole.distances[sources].astype(np.int32)
            farther = whole.distances[places].astype(np.int32) - own  # of nothing, where the place is -1
            preceded[places[there & (farther == 1)]] = True
            outside = ~there if whole.depth is None else ~there & (own != whole.depth)
            return {"jump": sources[there & (farther > 1)], "closed": sources[outside]}

        wrong: dict[str, list[NDArray[np.int64]]] = {"jump": [], "closed": []}
        for found in in_blocks(len(whole.distances), RANGE_STATES, check, whole.room.release):
            self.means.progress(None, share)
            for name, sources in found.items():
                wrong[name].append(sources)
        return {name: Finding.at(0, np.unique(np.concatenate(each))) for name, each in wrong.items() if each}

    def check_origins(self, whole: GatheredMap) -> Finding:
        places = np.unique(whole.places_of(np.unique(self.model.codes(self.model.origins()))))
        missing = int(places[0] < 0)  # an origin that is not reached has no place to report
        first_layer = [np.empty(0, dtype=np.int64), *whole.places_at(0)]  # a sparse map may have no states
        wrong = np.setxor1d(places[missing:], np.concatenate(first_layer))
        found = Finding.at(len(places), wrong)
        return Finding(found.checked, found.failed + missing, found.first)

    def explain(self, whole: GatheredMap, place: int) -> BadState:
        """The bad state and the states that follow it."""
        board = self.model.boards(whole.codes_at(np.array([place])))
        around = self.around(whole, self.model.successors(board)[1])
        (text,) = self.puzzle.definition.texts(board)
        return ForwardState(place, text, whole.distance(place), around)

    def around(self, whole: GatheredMap, boards: NDArray[np.uint8]) -> tuple[tuple[str, int | None], ...]:
        """The texts and distances of boards, each once."""
        distances = map(whole.distance, whole.places_of(self.model.codes(boards)).tolist())
        return tuple(dict.fromkeys(zip(self.puzzle.definition.texts(boards), distances, strict=True)))

    def boards_at(self, whole: GatheredMap, places: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The boards of the states at places."""
        return self.model.boards(whole.codes_at(places))

    def texts(self, whole: GatheredMap, places: NDArray[np.int64]) -> list[str]:
        return self.puzzle.definition.texts(self.boards_at(whole, places))

    def nearest_goal(self, whole: GatheredMap) -> int | None:
        for depth in range(whole.unreachable):
            some = False
            for places in whole.places_at(depth):
                some |= bool(places.size)
                for first in range(0, len(places), BLOCK_STATES):
                    boards = self.boards_at(whole, places[first : first + BLOCK_STATES])
                    if self.puzzle.definition.at_goal(boards).any():
                        return depth
            if not some:
                return None
        return None
