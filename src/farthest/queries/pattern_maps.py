"""Stored maps of patterns, whole in memory, in which searches and heuristics look distances up.

A process reads each map once, and its threads share it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy

from farthest.errors import JobError, MissingMapError, PuzzleError
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps
from farthest.models.records import FINISHED
from farthest.models.stored_job import origin_of, space_of
from farthest.puzzles.catalogue import known
from farthest.puzzles.pattern_maker import MARK
from farthest.puzzles.patterns import pattern_of
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.queries.compact_map import compacted, may_be_compact, memory_of
from farthest.queries.stored_map import StoredMap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.heuristics.half_bytes import HalfBytes
    from farthest.heuristics.reduced_map import ReducedMap
    from farthest.models.chunks import Unit
    from farthest.models.records import JobRecord
    from farthest.models.transactions import Database
    from farthest.spaces.contract import Space

KEPT_BYTES = 4 * 2**30
"""Maps that are not used any more are kept for later use, up to this size in all."""

TO_GOAL = Origin()


@dataclass(frozen=True, slots=True)
class StoredPattern:
    """``PatternMap`` of a finished job: all distances in key order, which may only be read."""

    puzzle: Puzzle
    space: Space
    distances: NDArray[numpy.uint8] | NDArray[numpy.uint16]
    holes: bool
    job: int


@dataclass(frozen=True, slots=True)
class CompactPattern:
    """``PatternMap`` of a finished job, in less memory."""

    puzzle: Puzzle
    space: Space
    distances: HalfBytes | ReducedMap
    holes: bool
    job: int


class PatternMaps:
    """``LoadMap`` of a database: the newest complete map to the goal of the puzzle that is given."""

    def __init__(self, database: Database, *, compact: bool = False) -> None:
        """``compact``: large maps of permutation puzzles are kept in less memory where that can be
        (queries/compact_map.py)."""
        self._compact = compact
        self._database = database
        self._jobs = Jobs(database)

    def __call__(self, puzzle: Puzzle) -> StoredPattern | CompactPattern:
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
        records = self._jobs.finished_maps(puzzle.digest)
        for record in records:
            if record.complete and origin_of(record) == TO_GOAL:
                return record
        what = ""
        if records:
            newest = records[0]
            why = (
                f"{origin_of(newest).direction} {origin_of(newest).where}"
                if newest.complete
                else "cut off by --max-depth"
            )
            what = f", except job {newest.id}, which is {why}; expected a complete one, to the goal"
        raise missing_map(self._database.place, puzzle, what)

    def whole(self, puzzle: Puzzle) -> StoredPattern:
        """All distances in key order, of a database that is not ``compact``. Raises as a call."""
        found = self(puzzle)
        assert isinstance(found, StoredPattern), "the maps are not compact"
        return found

    def _read(self, puzzle: Puzzle, record: JobRecord, *, compact: bool) -> StoredPattern | CompactPattern:
        space = space_of(record, puzzle)
        if space.keys is None:
            raise JobError(
                f"job {record.id} ({record.name}): its map is sparse; expected one with a distance for each key"
            )
        holes = record.states != space.keys
        if compact:
            small = compacted(self._database, record, space)
            if small is not None:
                return CompactPattern(puzzle, space, small, holes, record.id)
        if record.keeps_residues:
            whole = StoredMap(self._database, record).array()
            whole.flags.writeable = False
            return StoredPattern(puzzle, space, whole, holes, record.id)
        unit = numpy.dtype(record.unit)
        pages = memory_of(record, space.keys * unit.itemsize)
        Maps(self._database).read_into(record.id, cast("Unit", record.unit), pages)
        distances = pages.view(unit.newbyteorder("<"))
        distances.flags.writeable = False
        return StoredPattern(puzzle, space, distances, holes, record.id)


def missing_map(place: str, puzzle: Puzzle, what: str = "") -> MissingMapError:
    """The error for a puzzle that has to be enumerated first."""
    return MissingMapError(f"{place}: no finished map of {puzzle.name}{what}; run {_enumeration(puzzle)}")


def _enumeration(puzzle: Puzzle) -> str:
    """The command that makes the map. A puzzle from a file cannot be named by its name, and the file is not known
    here."""
    try:
        named = known(puzzle.name)
    except PuzzleError:
        named = None
    if named is not None and named.digest == puzzle.digest:
        return f"`farthest enumerate {puzzle.name}` first"
    parent, _, tokens = puzzle.name.partition(MARK)
    return f"`farthest enumerate FILE{MARK}{tokens}` first, where FILE is the file of {parent}"


_lock = threading.Lock()
_kept: OrderedDict[tuple[str, int, str | None, bool], StoredPattern | CompactPattern] = OrderedDict()


def stored_patterns(database: Database, puzzle: Puzzle) -> list[str]:
    """The patterns of the puzzle, ``@TOKENS``, that have a complete map to the goal in the database."""
    found: dict[str, None] = {}
    for record in Jobs(database).list():
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
