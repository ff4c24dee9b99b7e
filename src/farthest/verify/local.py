"""The proof of a map with all distances, state by state, from the puzzle's definition and the stored bytes alone.

Written independently of the kernel and of the families' spaces, so that it does not repeat their mistakes: moves and
codes are those of a plain model (``verify.models``).

The proof for directed moves. Let d be the stored distances, in the direction in which moves are counted. If d = 0
exactly at the origin, and no successor of a reached state v is unreached or has a distance beyond d(v) + 1, then by
induction along a shortest path every state is reached at no more than its distance; and if every other reached state at
distance d is a successor of one at d - 1, then by induction on d at no less. The successors of every reached state are
computed once.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from farthest.errors import ResourceError
from farthest.verify.models import Codes, Model
from farthest.verify.report import BadState, ForwardState, Proof, Stored
from farthest.verify.rows import Distances, Rows, RowsFinding, compare_rows

T = TypeVar("T")

BLOCK_STATES = 1 << 15
"""States to a block: with their successors some tens of megabytes."""

CHUNK_KEYS = 2**19
"""Keys that a digest in a dense map's own is of."""

CODES_BYTES = 2**22
"""Bytes of codes that a digest in a sparse map's own is of, at most."""

Piece = tuple[Codes | None, "bytes | bytearray | memoryview | NDArray[Any]"]
"""The codes of consecutive states, None in a dense map, and their distances, little endian."""


@dataclass(frozen=True, slots=True)
class MapInMemory:
    """A map in memory: distances by *place*, which is a key, or a state's number in a sparse map.

    ``codes``: of a sparse map, ascending. ``depth``: the last layer of a map with limited depth, else None.
    """

    codes: Codes | None
    distances: Distances
    depth: int | None

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

    def places_of(self, codes: Codes) -> NDArray[np.int64]:
        """The places of codes, -1 where the map does not reach them."""
        if self.codes is None:
            places = np.where(codes < len(self.distances), codes, 0).astype(np.int64)
            found = (codes < len(self.distances)) & (self.distances[places] != self.unreachable)
        else:
            # Sorted codes are searched for near the place of the one before: several times faster than in random order.
            order = np.argsort(codes)
            places = np.empty(len(codes), dtype=np.int64)
            places[order] = np.searchsorted(self.codes, codes[order])
            places[places == len(self.codes)] = 0
            found = self.codes[places] == codes
        places[~found] = -1
        return places

    def digest(self, layers: Sequence[int], stored: str | None = None) -> str:
        """The digest of the map, SHA-256 in hex (docs/chunk-format.md).

        It is of the layer counts, the unit, the width of codes, and the SHA-256 of each chunk. Older versions stored a
        digest of all distances, and all codes. Where ``stored`` is that of this map, it is given. Both cover the same
        and differ in their first line, so a map that is not what was stored has neither.
        """
        data = np.ascontiguousarray(self.distances, dtype=self.distances.dtype.newbyteorder("<"))
        head, name, each = f"{' '.join(map(str, layers))}\n{self.distances.dtype.name}\n", "map", CHUNK_KEYS
        if self.codes is not None:
            width = self.codes.dtype.itemsize
            head, name, each = f"{head}{width}\n", "sparse map", min(each, CODES_BYTES // width)
        whole = hashlib.sha256(f"farthest {name} 2\n{head}".encode("ascii"))
        of_codes = hashlib.sha256()
        for first in range(0, len(data), each):
            line = hashlib.sha256(data[first : first + each].data.cast("B"))
            if self.codes is not None:
                some = self.codes[first : first + each]
                written = (some.astype(">u8") if some.dtype.kind == "u" else some).tobytes()
                of_codes.update(written)
                line = hashlib.sha256(hashlib.sha256(written).digest() + line.digest())
            whole.update(f"{line.hexdigest()}\n".encode("ascii"))
        found = whole.hexdigest()
        if stored is None or stored == found:
            return found
        older = hashlib.sha256(f"farthest {name} 1\n{head}".encode("ascii"))
        if self.codes is None:
            older.update(data.data.cast("B"))
        else:
            of_distances = hashlib.sha256(data.data.cast("B"))
            older.update(f"{of_codes.hexdigest()}\n{of_distances.hexdigest()}\n".encode("ascii"))
        return stored if stored == older.hexdigest() else found


def gather(
    pieces: Iterable[Piece], states: int, unit: str, code_bytes: int | None, depth: int | None
) -> tuple[MapInMemory | None, str]:
    """The pieces as one map and ""; or None and what is wrong with their number or type. ``code_bytes``: of the codes
    of a sparse map; None: dense."""
    if unit not in ("uint8", "uint16"):
        return None, f"the map's unit is {unit!r}; expected uint8 or uint16"
    little = np.dtype(unit).newbyteorder("<")
    kind = np.dtype(np.uint64 if code_bytes == 8 else f"S{code_bytes or 1}")
    of_codes = 0 if code_bytes is None else kind.itemsize
    try:
        codes = None if code_bytes is None else np.empty(states, dtype=kind)
        distances = np.empty(states, dtype=unit)
    except (MemoryError, ValueError):
        size = states * (little.itemsize + of_codes) / 2**30
        raise ResourceError(
            f"verifying needs the whole map in memory, {size:,.1f} GiB; use a machine with more"
        ) from None
    filled = 0
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
        filled = end
    if filled != states:
        return None, f"the map ends at {at} {filled}: it holds {filled:,} {what}; expected {states:,}"
    found_map = MapInMemory(codes, distances, depth)
    if codes is not None:
        wrong = np.flatnonzero(codes[1:] <= codes[:-1])
        if wrong.size:
            return None, f"the code of state {int(wrong[0]) + 1} is not greater than the one before"
        if (distances == found_map.unreachable).any():
            return None, "a state of the map has no distance"
    return found_map, ""


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


def in_blocks(length: int, states: int, work: Callable[[int, int], T]) -> Iterator[T]:
    """What ``work`` gives for each block of so many places, first <= place < last, by as many threads as processors."""
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        yield from pool.map(lambda first: work(first, min(first + states, length)), range(0, length, states))
    finally:
        pool.shutdown(cancel_futures=True)


def merge_findings(findings: Findings, later: Findings) -> None:
    """Adds those of a block with greater places."""
    for name, finding in later.items():
        findings[name] = findings[name].merge(finding) if name in findings else finding


def check_blocks(
    whole: MapInMemory, states: int, check: Callable[[int, int], Findings]
) -> tuple[tuple[int, ...], Findings]:
    """The states of each layer, and what ``check`` finds at blocks of so many places."""
    counts = np.zeros(whole.unreachable + 1, dtype=np.int64)
    findings: Findings = {}

    def block(first: int, last: int) -> tuple[NDArray[np.int64], Findings]:
        return np.bincount(whole.distances[first:last], minlength=len(counts)), check(first, last)

    for here, found in in_blocks(len(whole.distances), states, block):
        counts += here
        merge_findings(findings, found)
    return tuple(map(int, np.trim_zeros(counts[:-1], "b"))), findings


class MapProof(ABC):
    """How the distances of a map are proved. ``keys``, ``code_bytes``: see Model; ``arrangements``: see Report.
    ``layout_detail``: what the report says of a right layout, if anything."""

    keys: int | None
    code_bytes = 8
    arrangements: int
    layout_detail = ""

    @abstractmethod
    def prove(self, proof: Proof, whole: MapInMemory) -> None:
        """Adds all checks of states, and the states of each layer."""

    @abstractmethod
    def texts(self, whole: MapInMemory, places: NDArray[np.int64]) -> list[str]:
        """The texts of the boards at places."""

    def compare_rows(self, whole: MapInMemory, rows: Rows, counts: Sequence[int]) -> RowsFinding:
        """What is found of the readable rows. ``counts``: the states of each layer."""
        return compare_rows(rows, lambda places: self.texts(whole, places), whole.distances, counts)

    def explain(self, whole: MapInMemory, place: int) -> BadState | None:
        """The bad state at a place and those around it; None: they say nothing."""
        return None

    def nearest_goal(self, whole: MapInMemory) -> int | None:
        """The least distance of a goal."""
        return None

    def total(self, states: int) -> str:
        """The number of states compared with how many there may be, in words."""
        return f"{states:,} states; at most {self.arrangements:,} are possible"


class StateProof(MapProof):
    """The proof by the successors of each state."""

    def __init__(self, stored: Stored, model: Model) -> None:
        self.puzzle = stored.puzzle
        self.model = model
        self.keys, self.code_bytes = model.keys, model.code_bytes
        self.arrangements = stored.puzzle.definition.arrangements()

    def prove(self, proof: Proof, whole: MapInMemory) -> None:
        proof.counts, findings = self.findings(whole)
        for name, one in findings.items():
            first = None if one.first is None else self.explain(whole, one.first)
            proof.check(name, one.checked, one.failed, first=first)

    def findings(self, whole: MapInMemory) -> tuple[tuple[int, ...], Findings]:
        """The states of each layer, and what was found of all states."""
        distances = whole.distances
        preceded = np.zeros(len(distances), dtype=np.bool_)  # all threads write it, none reads it

        def check(first: int, last: int) -> Findings:
            return self.check_block(whole, preceded, first, last)

        counts, found = check_blocks(whole, BLOCK_STATES, check)
        none = Finding(0, 0, None)
        ordered = {
            "codes": found.get("codes", none),
            "origin": self.check_origins(whole),
            "nearer": Finding.at(
                sum(counts[1:]), np.flatnonzero((distances % whole.unreachable > 0) & ~preceded)
            ),
            "jump": found.get("jump", none),
            "closed": found.get("closed", none),
        }
        ordered |= {name: one for name, one in found.items() if name not in ordered}
        ordered |= self.check_depth(whole, sum(counts))
        return counts, ordered

    def check_depth(self, whole: MapInMemory, states: int) -> Findings:
        """That no distance is beyond the depth of a map that has one."""
        if whole.depth is None:
            return {}
        beyond = (whole.distances > whole.depth) & (whole.distances != whole.unreachable)
        return {"depth": Finding.at(states, np.flatnonzero(beyond))}

    def check_block(self, whole: MapInMemory, preceded: NDArray[np.bool_], first: int, last: int) -> Findings:
        """Check the places first <= place < last, and mark the successors that are one farther."""
        places = np.flatnonzero(whole.distances[first:last] != whole.unreachable) + first
        if not places.size:
            return {}
        codes = whole.codes_at(places)
        boards = self.model.boards(codes)
        rows, after = self.model.successors(boards)
        reached = whole.places_of(self.model.codes(after))
        own = whole.distances[places[rows]].astype(np.int64)
        farther = whole.distances[reached].astype(np.int64) - own  # of nothing, where the place is -1
        there = reached >= 0
        preceded[reached[there & (farther == 1)]] = True
        outside = ~there if whole.depth is None else ~there & (own != whole.depth)
        return {
            "codes": Finding.at(len(places), places[self.model.codes(boards) != codes]),
            "jump": Finding.at(len(places), places[np.unique(rows[there & (farther > 1)])]),
            "closed": Finding.at(len(places), places[np.unique(rows[outside])]),
        }

    def check_origins(self, whole: MapInMemory) -> Finding:
        places = np.unique(whole.places_of(np.unique(self.model.codes(self.model.origins()))))
        missing = int(places[0] < 0)  # an origin that is not reached has no place to report
        wrong = np.setxor1d(places[missing:], np.flatnonzero(whole.distances == 0))
        found = Finding.at(len(places), wrong)
        return Finding(found.checked, found.failed + missing, found.first)

    def explain(self, whole: MapInMemory, place: int) -> BadState:
        """The bad state and the states that follow it."""
        board = self.model.boards(whole.codes_at(np.array([place])))
        around = self.around(whole, self.model.successors(board)[1])
        (text,) = self.puzzle.definition.texts(board)
        return ForwardState(place, text, whole.distance(place), around)

    def around(self, whole: MapInMemory, boards: NDArray[np.uint8]) -> tuple[tuple[str, int | None], ...]:
        """The texts and distances of boards, each once."""
        distances = map(whole.distance, whole.places_of(self.model.codes(boards)).tolist())
        return tuple(dict.fromkeys(zip(self.puzzle.definition.texts(boards), distances, strict=True)))

    def boards_at(self, whole: MapInMemory, places: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The boards of the states at places."""
        return self.model.boards(whole.codes_at(places))

    def texts(self, whole: MapInMemory, places: NDArray[np.int64]) -> list[str]:
        return self.puzzle.definition.texts(self.boards_at(whole, places))

    def nearest_goal(self, whole: MapInMemory) -> int | None:
        for depth in range(whole.unreachable):
            places = np.flatnonzero(whole.distances == depth)
            if not places.size:
                return None
            for first in range(0, len(places), BLOCK_STATES):
                boards = self.boards_at(whole, places[first : first + BLOCK_STATES])
                if self.puzzle.definition.at_goal(boards).any():
                    return depth
        return None
