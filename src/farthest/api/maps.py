"""Enumerations in this process, and the maps of patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, SupportsIndex

from farthest.api.numbers import whole
from farthest.families.given import origin_given, puzzle_given

if TYPE_CHECKING:
    from pathlib import Path

    from farthest.coordinator.settings import Outcome
    from farthest.families.given import GivenOrigin, GivenPuzzle
    from farthest.queries.distance_map import DistanceMap
    from farthest.queries.pattern_maps import StoredPattern


def enumerate(  # noqa: A001 - the verb of the command line
    puzzle: GivenPuzzle,
    *,
    database: str | Path | None = None,
    origin: GivenOrigin | None = None,
    max_depth: SupportsIndex | None = None,
    threads: SupportsIndex | None = None,
    memory: SupportsIndex | None = None,
    map: Literal["full", "residues"] | None = None,
    progress: bool | None = None,
) -> DistanceMap:
    """Enumerate a puzzle, store its map, and return the map.

    ``database``: as for `open_map`; the file is made where there is none. ``origin``: the states at distance
    0; None: what the puzzle says. ``max_depth``: the last layer wanted. ``threads``: None: one a processor.
    ``memory``: bytes that may be used. ``map``: "full" keeps every distance in the database, "residues" a bit or two of
    each in a file, for puzzles whose moves can be taken back; None: full, residues beyond 2^30 keys where they can be.
    ``progress``: a progress bar; None: in a notebook and on a terminal; True: elsewhere too, as lines on standard
    error. An enumeration that was broken off is resumed. Where the memory is used up before ``max_depth``, the map ends
    with the last complete layer (its ``depth``). Raises PuzzleError, BoardError (of the origin), ResourceError,
    StorageError, or SettingError (of the folder of files).
    """
    from farthest.coordinator.bars import progress_bar
    from farthest.coordinator.enumeration.bar import EnumerationBar
    from farthest.coordinator.enumeration.job import enumerate_puzzle
    from farthest.coordinator.settings import Settings
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.queries.distance_map import DistanceMap

    loaded = puzzle_given(puzzle)
    settings = Settings(
        origin=origin_given(loaded, origin),
        max_depth=whole("max_depth", max_depth),
        threads=whole("threads", threads),
        memory=whole("memory", memory),
        residues=None if map is None else _residues(map),
    )
    opened = open_database(database, create=True)
    try:
        with progress_bar(progress) as bar:
            outcome = enumerate_puzzle(loaded, opened, settings, EnumerationBar(bar))
        assert outcome.job is not None, "what is stored has a number"
        return DistanceMap(opened, Jobs(opened).get(outcome.job))
    except BaseException:
        opened.close()
        raise


def histogram(
    puzzle: GivenPuzzle,
    *,
    origin: GivenOrigin | None = None,
    max_depth: SupportsIndex | None = None,
    threads: SupportsIndex | None = None,
    memory: SupportsIndex | None = None,
    progress: bool | None = None,
) -> Outcome:
    """Enumerate a puzzle for its layers and farthest boards alone: the least memory, and nothing is stored.

    The arguments are those of `enumerate`; where the memory is used up before ``max_depth``, the outcome's ``stopped``
    says so.
    """
    from farthest.coordinator.bars import progress_bar
    from farthest.coordinator.enumeration.bar import EnumerationBar
    from farthest.coordinator.enumeration.job import enumerate_puzzle
    from farthest.coordinator.settings import Settings

    loaded = puzzle_given(puzzle)
    settings = Settings(
        origin=origin_given(loaded, origin),
        max_depth=whole("max_depth", max_depth),
        threads=whole("threads", threads),
        memory=whole("memory", memory),
        histogram_only=True,
    )
    with progress_bar(progress) as bar:
        return enumerate_puzzle(loaded, None, settings, EnumerationBar(bar))


def _residues(kind: str) -> bool:
    if kind not in ("full", "residues"):
        raise ValueError(f"map: expected full or residues, got {kind!r}; `histogram` keeps none")
    return kind == "residues"


def pattern_map(pattern: GivenPuzzle, database: str | Path | None = None) -> StoredPattern:
    """The stored map of a pattern, ``15-puzzle@1-7``, or of any puzzle to its goal, whole in memory: ``distances`` in
    the order of keys, and the ``space`` whose ``encode`` makes keys of boards (uint8, shape (boards, cells)).

    ``database``: as for `open_map`. Raises PuzzleError, JobError where it was not enumerated, ResourceError where it
    does not fit in memory, or StorageError.
    """
    from farthest.models.database import open_database
    from farthest.queries.pattern_maps import PatternMaps

    with open_database(database, create=False) as opened:
        return PatternMaps(opened).whole(puzzle_given(pattern))
