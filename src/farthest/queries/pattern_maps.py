"""Stored maps of patterns, in which searches and heuristics look distances up.

Searches open large maps as tables (heuristics/tables.py), made from the map when they are first wanted. A map of
representatives becomes a table of these, in the same order, where the place of a board is found by tables; else its
distances are given to the keys of all states. Small maps, and those whose distances are all compared, are read whole,
once a process.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

import numpy

from farthest import _kernel
from farthest.errors import JobError, MissingMapError, PuzzleError, ResourceError
from farthest.families.permutation.representatives import look_up_of
from farthest.heuristics.contract import PatternMap, WholePatternMap
from farthest.heuristics.table_files import TableFiles, bounds_facts
from farthest.heuristics.tables import Table, TableForm, best_base, read_table, write_table
from farthest.machine import memory_limit
from farthest.models.job_reader import JobReader
from farthest.models.map_reader import in_order
from farthest.models.records import FINISHED, JobRecord
from farthest.models.stored_job import origin_of, space_of
from farthest.puzzles.catalogue import find
from farthest.puzzles.patterns import pattern_of
from farthest.puzzles.puzzle import MARK, Origin, Puzzle
from farthest.queries.stored_map import StoredMap
from farthest.spaces import compile_space, reduced_space
from farthest.spaces.contract import FULL_KEYS, NO_KEY, REPRESENTATIVES, Space, reduced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from farthest.models.database import Database

    Bytes = NDArray[numpy.uint8]
    Distances = NDArray[numpy.uint8] | NDArray[numpy.uint16]
    Pieces = Iterable[tuple[int, Distances]]
    """The first key of consecutive distances, and these: all keys, in order."""

TABLE_KEYS = 2**20
"""Maps of fewer keys are read from the database: no file is made."""

LARGE_KEYS = 2**26
"""Tables of fewer keys have a byte for each."""

TRANSLATED = 2**16
"""Keys whose codes in a map of representatives are found together."""


def table_of(database: Database, record: JobRecord, space: Space, form: TableForm) -> Table:
    """The table of a job's map, opened; made where there is none, or where it is damaged or of another map. ``space``:
    that of all states. Raises StorageError where the map is damaged, ResourceError where the table has to be in memory
    and does not fit."""
    facts = {"puzzle": record.puzzle_digest, "map": record.digest}

    def write(file: BinaryIO) -> None:
        kept = space_of(record, space.puzzle)
        look_up = look_up_of(space, kept)
        pieces: Pieces
        if look_up is None:
            pieces = _pieces(database, record, space)
        else:
            pieces = (
                (chunk.first, chunk.distance_array()) for chunk in StoredMap(database, record).chunks_once()
            )
        entries = (space.keys or 0) if look_up is None else look_up.entries
        packed = in_order(lambda piece: form.packed(piece[1]), pieces)
        write_table(file, facts, form, entries, look_up, packed)

    place = TableFiles(database.path, database.place)
    try:
        return place.opened(f"{record.id}-{form.bits}", facts, write)
    except OSError:  # no room, or no right to write there
        memory = BytesIO()
        try:
            write(memory)
        except MemoryError:
            raise _no_memory(record, memory.tell()) from None
        return read_table(memory.getbuffer(), facts)


def table_bytes(space: Space, record: JobRecord | None) -> int:
    """The memory that a map of all states takes in searches, about. ``record``: of its job, where it is stored. Raises
    ResourceError where it is not one with a distance for each key."""
    keys = space.keys
    if keys is None:
        raise ResourceError(f"puzzle {space.puzzle.name}: its map is sparse, and cannot serve a search")
    if space.puzzle.family != "permutation" or keys < LARGE_KEYS:
        return keys
    kept = reduced_space(space.puzzle, space.origin, None) if record is None else record
    return ((keys if kept is None else kept.keys) or 0) // 2


def memory_of(record: JobRecord, size: int) -> Bytes:
    """So many bytes. Raises ResourceError."""
    try:
        return numpy.frombuffer(_kernel.pages(size), dtype=numpy.uint8)
    except MemoryError:
        raise _no_memory(record, size) from None


def _no_memory(record: JobRecord, size: int) -> ResourceError:
    return ResourceError(
        f"the map of {record.name} (job {record.id}) needs {size:,} bytes of memory, which the system does not give; "
        "free some, or take a smaller pattern"
    )


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

    def __init__(
        self, database: Database, *, tables: bool = False, bits: int | None = None, memory: int | None = None
    ) -> None:
        """``tables``: large maps are opened as tables, for searches; they are made where there are none yet. ``bits``:
        2, 4 or 8 that a distance has there; None: 4 where these are enough for large maps of permutation puzzles, else
        8. Tables of other families and of maps in which keys have no distance have 8, or 4. ``memory``: bytes that a
        table of bounds may have; None: four fifths of what is free."""
        self._tables = tables
        self._bits = bits
        self._memory = memory
        self._database = database

    def __call__(self, puzzle: Puzzle) -> PatternMap:
        """The map of a puzzle with the same digest, whatever its name. Raises MissingMapError where there is none,
        ResourceError where it does not fit in memory, StorageError where it is damaged."""
        try:
            record = self._newest(puzzle)
        except MissingMapError:
            bounds = self._bounds(puzzle) if self._tables else None
            if bounds is None:
                raise
            return bounds
        table = self._tables and record.unit == "uint8" and (record.keys or 0) >= TABLE_KEYS
        key = (self._database.place, record.id, record.digest, table, self._bits)
        with _lock:  # one at a time, also while reading: two readers would only slow each other down
            found = _kept.pop(key, None) or self._read(puzzle, record, table=table)
            _kept[key] = found
            while len(_kept) > 1 and sum(held.distances.nbytes for held in _kept.values()) > KEPT_BYTES:
                _kept.popitem(last=False)
        return found

    def _bounds(self, puzzle: Puzzle) -> PatternMap | None:
        """The largest table of bounds of a puzzle that has no map."""
        files = TableFiles(self._database.path, self._database.place)
        most = memory_limit(self._memory)
        with _lock:
            for path in files.bounds_files(puzzle, most):
                key = (str(path), 0, puzzle.digest, True, None)
                if key in _kept:
                    return _kept[key]
                table = files.found(path.stem, bounds_facts(puzzle))
                if table is not None:
                    _kept[key] = PatternMap(puzzle, compile_space(puzzle, TO_GOAL), table, holes=False, job=0)
                    return _kept[key]
        return None

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
        """All distances in key order, where maps are not opened as tables. Raises as a call."""
        found = self(puzzle)
        assert isinstance(found, WholePatternMap), "the maps are no tables"
        return found

    def _read(self, puzzle: Puzzle, record: JobRecord, *, table: bool) -> PatternMap:
        by_representatives = record.layout.get("kind") == REPRESENTATIVES
        space = compile_space(puzzle, origin_of(record)) if by_representatives else space_of(record, puzzle)
        if space.keys is None:
            raise JobError(
                f"job {record.id} ({record.name}): its map is sparse; expected one with a distance for each key"
            )
        holes = record.states != space.keys
        if table:
            found = table_of(self._database, record, space, self._form(puzzle, record, holes=holes))
            if found.by_key is None:
                return PatternMap(puzzle, space, found, holes, record.id)
            return WholePatternMap(puzzle, space, found.by_key, holes, record.id)
        unit = numpy.dtype(record.unit)
        distances = memory_of(record, space.keys * unit.itemsize).view(unit)
        for first, some in _pieces(self._database, record, space):
            distances[first : first + len(some)] = some
        distances.flags.writeable = False
        return WholePatternMap(puzzle, space, distances, holes, record.id)

    def _form(self, puzzle: Puzzle, record: JobRecord, *, holes: bool) -> TableForm:
        depth = record.eccentricity or 0
        if puzzle.family != "permutation" or self._bits == 8:
            return TableForm()
        if self._bits == 2 and not holes:
            layers = [layer.states for layer in JobReader(self._database).layers(record.id)]
            return TableForm(2, best_base(layers, 2), never=False)
        large = max(record.keys or 0, record.states or 0) >= LARGE_KEYS
        small = depth < 2**4 - holes
        return TableForm(4, 0, never=holes) if (small and large) or self._bits else TableForm()


def missing_map(place: str, puzzle: Puzzle, what: str = "") -> MissingMapError:
    """The error for a puzzle that has to be enumerated first."""
    return MissingMapError(f"{place}: no finished map of {puzzle.name}{what}; run {_enumeration(puzzle)}")


def _enumeration(puzzle: Puzzle) -> str:
    """The command that makes the map, or its table of bounds. A puzzle from a file cannot be named by its name, and the
    file is not known here."""
    parent, _, tokens = puzzle.name.partition(MARK)
    try:
        named = find(puzzle.name)
    except PuzzleError:
        named = None
    whole = (
        " --map full" if puzzle.definition.arrangements() > FULL_KEYS else ""
    )  # else residues, of no use here
    if named is None or named.digest != puzzle.digest:
        return f"`farthest enumerate FILE{MARK}{tokens}{whole}` first, where FILE is the file of {parent}"
    from farthest.heuristics.candidates import BOUNDS

    bounded = {f"{parent}{MARK}{text}" for _, forms in BOUNDS.get(parent, ()) for text in forms}
    if any(found is not None and found.digest == puzzle.digest for found in map(find, bounded)):
        return (
            f"`farthest solve {parent} BOARD --memory 4GiB` once, which makes a table of bounds instead "
            f"(`farthest heuristic {parent} --memory 4GiB` tells the sizes)"
        )
    return f"`farthest enumerate {puzzle.name}{whole}` first"


_lock = threading.Lock()
_kept: OrderedDict[tuple[str, int, str | None, bool, int | None], PatternMap] = OrderedDict()


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
