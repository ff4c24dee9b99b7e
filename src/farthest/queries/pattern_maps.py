"""Stored maps of patterns, whole in memory, in which searches and heuristics look distances up.

A process reads each map once, and its threads share it. Large maps of permutation puzzles are kept by representatives
where symmetries allow it, and with two distances in a byte where these are small. A map is made small as it is read: it
is never whole in memory. Where it was enumerated by representatives, its distances are given to the keys of all states,
or to those representatives that searches look up.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy

from farthest import _kernel
from farthest.errors import DamagedMapError, JobError, MissingMapError, PuzzleError, ResourceError
from farthest.heuristics.contract import HALF, HalfBytes, PatternMap, ReducedMap, WholePatternMap
from farthest.models.job_reader import JobReader
from farthest.models.map_reader import in_order
from farthest.models.records import FINISHED
from farthest.models.stored_job import origin_of, space_of
from farthest.puzzles.catalogue import find
from farthest.puzzles.patterns import pattern_of
from farthest.puzzles.puzzle import MARK, Origin, Puzzle
from farthest.queries.stored_map import StoredMap
from farthest.spaces import compile_space
from farthest.spaces.contract import NO_KEY, reduced
from farthest.spaces.reduced import RepresentativeSpace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from farthest.models.database import Database
    from farthest.models.records import JobRecord
    from farthest.spaces.contract import Space

    Bytes = NDArray[numpy.uint8]
    Distances = NDArray[numpy.uint8] | NDArray[numpy.uint16]
    Pieces = Iterable[tuple[int, Distances]]
    """The first key of consecutive distances, and these: all keys, in order."""

LARGE_KEYS = 2**26
"""Maps of fewer keys are kept as they are."""

REDUCED_KEYS = 2**27
"""Maps of fewer keys, at most 64 MiB, are not kept by representatives: looking them up so costs a few nodes in a
hundred (docs/patterns.md)."""


TRANSLATED = 2**16
"""Keys whose codes in a map of representatives are found together."""


def may_be_compact(puzzle: Puzzle, record: JobRecord) -> bool:
    """Whether a map is large, one that searches look up by key, and of distances of a byte."""
    return (
        puzzle.family == "permutation"
        and record.unit == "uint8"
        and (record.eccentricity or 0) < _kernel.Representatives.unset
        and max(record.keys or 0, record.states or 0) >= LARGE_KEYS
    )


def compacted(database: Database, record: JobRecord, space: Space) -> HalfBytes | ReducedMap | None:
    """The map of a job; None where it can be no smaller. Raises DamagedMapError where it is not the same for states
    that are alike by symmetry, ResourceError where it does not fit in memory, and what reading it raises."""
    from farthest.families.permutation.representatives import representatives_of

    halves = (record.eccentricity or 0) < HALF
    keys = space.keys or 0
    representatives = representatives_of(space) if keys >= REDUCED_KEYS else None
    if representatives is None:
        return _halved(record, _pieces(database, record, space), keys) if halves else None
    entries = memory_of(record, representatives.kernel.entries)
    entries[:] = _kernel.Representatives.unset
    kept = reduced(space_of(record, space.puzzle))
    places = representatives.places_in(space, kept) if isinstance(kept, RepresentativeSpace) else None
    pieces = _pieces(database, record, space) if places is None else iter(())
    if places is not None:
        stored = _stored(database, record)
        for first, keys_there in places:
            entries[first : first + len(keys_there)] = stored[keys_there]

    def take(piece: tuple[int, Distances]) -> tuple[int, int] | None:
        first, distances = piece
        wrong = representatives.kernel.take(first, distances, entries)
        return None if wrong is None else (wrong, int(distances[wrong - first]))

    for found in in_order(take, pieces):
        if found is not None:
            raise _damaged(record, space, *found)
    differing = representatives.differing(entries)
    if differing is not None:
        raise _damaged(record, space, representatives.key_of(differing), int(entries[differing]))
    if not halves:
        entries.flags.writeable = False
        return ReducedMap(entries, representatives)
    some = 2**20
    parts = ((at, entries[at : at + some]) for at in range(0, len(entries), some))
    return ReducedMap(_halved(record, parts, len(entries)), representatives)


def table_bytes(space: Space) -> int:
    """The memory that a map of all states takes in searches, about. Raises ResourceError where it is not one with a
    distance for each key."""
    keys = space.keys
    if keys is None:
        raise ResourceError(f"puzzle {space.puzzle.name}: its map is sparse, and serves no search")
    if space.puzzle.family != "permutation" or keys < LARGE_KEYS:
        return keys
    from farthest.families.permutation.representatives import representatives_of

    found = representatives_of(space) if keys >= REDUCED_KEYS else None
    return keys // 2 if found is None else found.kernel.entries // 2 + found.nbytes


def memory_of(record: JobRecord, size: int) -> Bytes:
    """So many bytes. Raises ResourceError."""
    try:
        return numpy.frombuffer(_kernel.pages(size), dtype=numpy.uint8)
    except MemoryError:
        raise ResourceError(
            f"the map of {record.name} (job {record.id}) needs {size:,} bytes of memory, which the "
            "system does not give; free some, or take a smaller pattern"
        ) from None


def _pieces(database: Database, record: JobRecord, space: Space) -> Iterator[tuple[int, Distances]]:
    """The distances of the keys of a space: the map's, or that of all states where the map is of representatives."""
    kept = reduced(space_of(record, space.puzzle))
    if kept is None:
        for chunk in StoredMap(database, record).chunks_once():
            yield chunk.first, chunk.distance_array()
        return
    stored, keys = _stored(database, record), space.keys or 0
    for first in range(0, keys, TRANSLATED):
        some = numpy.arange(first, min(first + TRANSLATED, keys), dtype=numpy.uint64)
        codes = kept.encode(space.decode(some))
        found = stored[numpy.where(codes == NO_KEY, 0, codes)]
        found[codes == NO_KEY] = numpy.iinfo(stored.dtype).max
        yield first, found


def _stored(database: Database, record: JobRecord) -> Distances:
    """All distances as they are stored."""
    unit = numpy.dtype(record.unit)
    distances: Distances = memory_of(record, (record.keys or 0) * unit.itemsize).view(unit)
    for chunk in StoredMap(database, record).chunks_once():
        distances[chunk.first : chunk.last + 1] = chunk.distance_array()
    return distances


def _halved(record: JobRecord, pieces: Pieces, keys: int) -> HalfBytes:
    """``pieces`` begin at even keys."""
    packed = memory_of(record, (keys + 1) // 2)
    for first, distances in pieces:
        whole = numpy.empty(len(distances) + len(distances) % 2, dtype=numpy.uint8)
        numpy.minimum(distances, HALF, out=whole[: len(distances)])
        whole[len(distances) :] = 0
        packed[first // 2 : (first + len(whole)) // 2] = whole[0::2] | whole[1::2] << 4
    packed.flags.writeable = False
    return HalfBytes(packed, keys)


def _damaged(record: JobRecord, space: Space, key: int, distance: int) -> DamagedMapError:
    board = space.puzzle.definition.texts(space.decode(numpy.array([key], dtype=numpy.uint64)))[0]
    told = "none" if distance == 255 else str(distance)
    return DamagedMapError(
        f"job {record.id} ({record.name}): its map is damaged: the distance of key {key} (board {board}) is {told}, "
        "and that of a state that is alike by a symmetry of the puzzle is another; `farthest verify` says where, and "
        "enumerating the puzzle again mends it"
    )


KEPT_BYTES = 4 * 2**30
"""Maps that are not used any more are kept for later use, up to this size in all."""

TO_GOAL = Origin()


def complete_map(database: Database, puzzle: Puzzle, origin: Origin = TO_GOAL) -> JobRecord | None:
    """The newest job that has all distances of a puzzle with the same digest."""
    for record in JobReader(database).finished_maps(puzzle.digest):
        if record.complete and origin_of(record) == origin:
            return record
    return None


class PatternMaps:
    """``LoadMap`` of a database: the newest complete map to the goal of the puzzle that is given."""

    def __init__(self, database: Database, *, compact: bool = False) -> None:
        """``compact``: large maps of permutation puzzles are kept in less memory where that can be
        (queries/pattern_maps.py)."""
        self._compact = compact
        self._database = database

    def __call__(self, puzzle: Puzzle) -> PatternMap:
        """The map of a puzzle with the same digest, whatever its name. Raises MissingMapError where there is none,
        ResourceError where it does not fit in memory, StorageError where it is damaged."""
        record = self._newest(puzzle)
        compact = self._compact and may_be_compact(puzzle, record)
        key = (self._database.place, record.id, record.digest, compact)
        with _lock:  # one at a time, also while reading: two readers would only slow each other down
            found = _kept.pop(key, None) or self._read(puzzle, record, compact=compact)
            _kept[key] = found
            while len(_kept) > 1 and sum(held.distances.nbytes for held in _kept.values()) > KEPT_BYTES:
                _kept.popitem(last=False)
        return found

    def _newest(self, puzzle: Puzzle) -> JobRecord:
        found = complete_map(self._database, puzzle)
        if found is not None:
            return found
        what, records = "", JobReader(self._database).finished_maps(puzzle.digest)
        if records:
            newest = records[0]
            why = (
                f"{origin_of(newest).direction} {origin_of(newest).where}"
                if newest.complete
                else "cut off by --max-depth"
            )
            what = f", except job {newest.id}, which is {why}; expected a complete one, to the goal"
        raise missing_map(self._database.place, puzzle, what)

    def whole(self, puzzle: Puzzle) -> WholePatternMap:
        """All distances in key order, of a database that is not ``compact``. Raises as a call."""
        found = self(puzzle)
        assert isinstance(found, WholePatternMap), "the maps are not compact"
        return found

    def _read(self, puzzle: Puzzle, record: JobRecord, *, compact: bool) -> PatternMap:
        space = space_of(record, puzzle)
        if reduced(space) is not None:
            space = compile_space(puzzle, origin_of(record))
        if space.keys is None:
            raise JobError(
                f"job {record.id} ({record.name}): its map is sparse; expected one with a distance for each key"
            )
        holes = record.states != space.keys
        if compact:
            small = compacted(self._database, record, space)
            if small is not None:
                return PatternMap(puzzle, space, small, holes, record.id)
        unit = numpy.dtype(record.unit)
        distances = memory_of(record, space.keys * unit.itemsize).view(unit)
        for first, some in _pieces(self._database, record, space):
            distances[first : first + len(some)] = some
        distances.flags.writeable = False
        return WholePatternMap(puzzle, space, distances, holes, record.id)


def missing_map(place: str, puzzle: Puzzle, what: str = "") -> MissingMapError:
    """The error for a puzzle that has to be enumerated first."""
    return MissingMapError(f"{place}: no finished map of {puzzle.name}{what}; run {_enumeration(puzzle)}")


def _enumeration(puzzle: Puzzle) -> str:
    """The command that makes the map. A puzzle from a file cannot be named by its name, and the file is not known
    here."""
    try:
        named = find(puzzle.name)
    except PuzzleError:
        named = None
    if named is not None and named.digest == puzzle.digest:
        return f"`farthest enumerate {puzzle.name}` first"
    parent, _, tokens = puzzle.name.partition(MARK)
    return f"`farthest enumerate FILE{MARK}{tokens}` first, where FILE is the file of {parent}"


_lock = threading.Lock()
_kept: OrderedDict[tuple[str, int, str | None, bool], PatternMap] = OrderedDict()


def stored_patterns(database: Database, puzzle: Puzzle) -> list[str]:
    """The patterns of the puzzle, ``@TOKENS``, that have a complete map to the goal in the database."""
    found: dict[str, None] = {}
    for record in JobReader(database).list():
        name, mark, tokens = record.name.rpartition(MARK)
        if name != puzzle.name or record.status != FINISHED or not (record.has_map and record.complete):
            continue
        if origin_of(record) != TO_GOAL:
            continue
        try:
            same = record.puzzle_digest == pattern_of(puzzle, tokens).puzzle.digest
        except PuzzleError:  # a pattern of another puzzle of the same name
            continue
        if same:
            found[mark + tokens] = None
    return list(found)
