"""Large maps of permutation puzzles as searches keep them: by representatives where symmetries allow it, and two
distances in a byte where these are small.

A map is made small as it is read: it is never whole in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest import _kernel
from farthest.errors import DamagedMapError, ResourceError
from farthest.families.permutation.representatives import representatives_of
from farthest.heuristics.half_bytes import HALF, HalfBytes
from farthest.heuristics.reduced_map import ReducedMap
from farthest.models.maps import Maps
from farthest.models.pipeline import in_order
from farthest.queries.stored_map import StoredMap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from farthest.models.records import JobRecord
    from farthest.models.transactions import Database
    from farthest.puzzles.puzzle import Puzzle
    from farthest.spaces.contract import Space

    Bytes = NDArray[numpy.uint8]
    Pieces = Iterable[tuple[int, Bytes]]
    """The first key of consecutive distances, and these: all keys, in order."""

LARGE_KEYS = 2**26
"""Maps of fewer keys are kept as they are."""

REDUCED_KEYS = 2**27
"""Maps of fewer keys, at most 64 MiB, are not kept by representatives: looking them up so costs a few nodes in a
hundred (docs/patterns.md)."""


def may_be_compact(puzzle: Puzzle, record: JobRecord) -> bool:
    """Whether a map is large, one that searches look up by key, and of distances of a byte."""
    return (
        puzzle.family == "permutation"
        and record.unit == "uint8"
        and (record.eccentricity or 0) < _kernel.Representatives.unset
        and (record.keys or 0) >= LARGE_KEYS
    )


def compacted(database: Database, record: JobRecord, space: Space) -> HalfBytes | ReducedMap | None:
    """The map of a job; None where it can be no smaller. Raises DamagedMapError where it is not the same for states
    that are alike by symmetry, ResourceError where it does not fit in memory, and what reading it raises."""
    halves = (record.eccentricity or 0) < HALF
    keys = record.keys or 0
    representatives = representatives_of(space) if keys >= REDUCED_KEYS else None
    if representatives is None:
        return _halved(record, _pieces(database, record), keys) if halves else None
    entries = memory_of(record, representatives.kernel.entries)
    entries[:] = _kernel.Representatives.unset

    def take(piece: tuple[int, Bytes]) -> tuple[int, int] | None:
        first, distances = piece
        wrong = representatives.kernel.take(first, distances, entries)
        return None if wrong is None else (wrong, int(distances[wrong - first]))

    for found in in_order(take, _pieces(database, record)):
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


def memory_of(record: JobRecord, size: int) -> Bytes:
    """So many bytes. Raises ResourceError."""
    try:
        return numpy.frombuffer(_kernel.pages(size), dtype=numpy.uint8)
    except MemoryError:
        raise ResourceError(
            f"the map of {record.name} (job {record.id}) needs {size:,} bytes of memory, which the "
            "system does not give; free some, or take a smaller pattern"
        ) from None


def _pieces(database: Database, record: JobRecord) -> Iterator[tuple[int, Bytes]]:
    if not record.keeps_residues:
        yield from Maps(database).bytes_of(record.id)
        return
    for chunk in StoredMap(database, record).chunks_once():
        yield chunk.first_key, numpy.asarray(chunk.distances, dtype=numpy.uint8)


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
