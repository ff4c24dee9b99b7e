"""Stored maps of patterns, whole in memory, in which searches and heuristics look distances up.

A process reads each map once, and its threads share it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy

from farthest import _kernel
from farthest.errors import JobError, MissingMapError, PuzzleError, ResourceError
from farthest.heuristics.half_bytes import HALF
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps
from farthest.models.stored_job import origin_of, space_of
from farthest.puzzles.catalogue import known
from farthest.puzzles.pattern_maker import MARK
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.queries.stored_map import StoredMap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.models.chunks import Unit
    from farthest.models.records import JobRecord
    from farthest.models.transactions import Database
    from farthest.spaces.contract import Space

KEPT_BYTES = 4 * 2**30
"""Maps that are not used any more are kept for later use, up to this size in all."""

TO_GOAL = Origin()

LARGE_KEYS = 2**26
"""Maps of fewer keys are kept as they are."""


@dataclass(frozen=True, slots=True)
class StoredPattern:
    """``PatternMap`` of a finished job. ``distances`` may only be read."""

    puzzle: Puzzle
    space: Space
    distances: NDArray[numpy.uint8] | NDArray[numpy.uint16]
    holes: bool
    job: int
    halves: bool = False


class PatternMaps:
    """``LoadMap`` of a database: the newest complete map to the goal of the puzzle that is given."""

    def __init__(self, database: Database, *, in_halves: bool = False) -> None:
        """``in_halves``: large maps of permutation puzzles are kept as `HalfBytes` where distances allow it."""
        self._in_halves = in_halves
        self._database = database
        self._jobs = Jobs(database)

    def __call__(self, puzzle: Puzzle) -> StoredPattern:
        """The map of a puzzle with the same digest, whatever its name. Raises MissingMapError where there is none,
        ResourceError where it does not fit in memory, StorageError where it is damaged."""
        record = self._newest(puzzle)
        halves = self._in_halves and _fits_halves(puzzle, record)
        key = (self._database.place, record.id, record.digest, halves)
        with _lock:  # one at a time, also while reading: two readers would only slow each other down
            found = _kept.pop(key, None) or self._read(puzzle, record, halves=halves)
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

    def _read(self, puzzle: Puzzle, record: JobRecord, *, halves: bool) -> StoredPattern:
        space = space_of(record, puzzle)
        if space.keys is None:
            raise JobError(
                f"job {record.id} ({record.name}): its map is sparse; expected one with a distance for each key"
            )
        if record.keeps_residues:
            whole = StoredMap(self._database, record).array()
            whole.flags.writeable = False
            return StoredPattern(puzzle, space, whole, record.states != space.keys, record.id)
        unit, keys = numpy.dtype(record.unit), space.keys
        needed = (keys + 1) // 2 if halves else keys * unit.itemsize
        try:
            pages = _kernel.pages(needed)
        except MemoryError:
            raise ResourceError(
                f"the map of {puzzle.name} (job {record.id}) needs {needed:,} bytes of memory, which the "
                "system does not give; free some, or take a smaller pattern"
            ) from None
        if halves:
            packed = numpy.frombuffer(pages, dtype=numpy.uint8)
            Maps(self._database).read_halves_into(record.id, packed)
            packed.flags.writeable = False
            return StoredPattern(puzzle, space, packed, record.states != keys, record.id, halves=True)
        Maps(self._database).read_into(
            record.id, cast("Unit", record.unit), numpy.frombuffer(pages, dtype=numpy.uint8)
        )
        distances = numpy.frombuffer(pages, dtype=unit.newbyteorder("<"))
        distances.flags.writeable = False
        return StoredPattern(puzzle, space, distances, record.states != keys, record.id)


def _fits_halves(puzzle: Puzzle, record: JobRecord) -> bool:
    """Whether two distances fit in a byte, and the map is large and one that searches look up by key."""
    return (
        puzzle.family == "permutation"
        and record.unit == "uint8"
        and not record.keeps_residues
        and (record.eccentricity or HALF) < HALF
        and (record.states or 0) >= LARGE_KEYS
    )


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
_kept: OrderedDict[tuple[str, int, str | None, bool], StoredPattern] = OrderedDict()
