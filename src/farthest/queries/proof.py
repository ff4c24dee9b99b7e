"""Passes a stored job, with all that is stored of it, to the proof for its kind and family."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from farthest.environment import scratch_folder
from farthest.errors import StorageError
from farthest.machine import cores, memory_limit
from farthest.models.job_reader import JobReader
from farthest.models.jobs import Jobs
from farthest.models.map_reader import MapReader
from farthest.models.records import SEARCH, JobRecord, Proved, Verification, now
from farthest.models.searches import Searches
from farthest.models.stored_job import origin_of, puzzle_of, search_parameters
from farthest.models.structure import structure_problems
from farthest.verify.local import Means
from farthest.verify.maps import verify_map
from farthest.verify.report import PROVES, Check, Report, Stored, verify_layers, verify_search
from farthest.verify.residues import verify_residues
from farthest.verify.rows import Facts
from farthest.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from farthest.models.database import Database
    from farthest.queries.stored_map import StoredMap

TOLD_SECONDS = 10.0
"""How often the progress of a long proof is told."""

UNSEALED = "an older version of farthest stored the job: nothing says whether all of it is what was stored"


def prove(distance_map: StoredMap, memory: int | None = None, scratch: Path | None = None) -> Report:
    """The report of ``farthest verify`` for a job with a map. ``memory``: bytes that the proof may use, four
    fifths of what is free by default; ``scratch``: the folder for what is more."""
    return _proved(
        distance_map.database,
        distance_map.record,
        lambda: _prove_map(distance_map, memory, scratch),
        distance_map.told,
    )


def prove_without_map(database: Database, record: JobRecord, told: Callable[[str], None]) -> Report:
    """The same for a finished search, or for an enumeration that kept only the counts of its layers."""
    return _proved(database, record, lambda: _prove_without_map(database, record), told)


def _proved(
    database: Database, record: JobRecord, proof: Callable[[], Report], told: Callable[[str], None]
) -> Report:
    """The report of a proof with the checks of the stored job. Stores that the job was proved; what disproves it
    removes the mark of an earlier proof. ``told`` gets why that could not be stored."""
    stored_checks, report, jobs = _kept(database, record), proof(), Jobs(database)
    report = replace(report, checks=(*stored_checks, *report.checks))
    try:
        if report.failures:
            jobs.remove_mark(record.id)
        elif report.ok:
            checks = tuple(Proved(one.name, one.proves, one.checked) for one in report.checks if not one.note)
            found = Verification(now(), __version__, report.seconds, checks)
            if not jobs.mark(record.id, record.proved_as, found):
                told(
                    "the outcome of this proof is not stored: the job has changed meanwhile; verify it again"
                )
    except StorageError as error:
        told(f"the outcome of this proof is not stored: {error}")
    return report


def _prove_without_map(database: Database, record: JobRecord) -> Report:
    puzzle = puzzle_of(record)
    if record.kind == SEARCH:
        searches = Searches(database)
        return verify_search(
            puzzle.name,
            record.parameters,
            record.result or {},
            [(one.bound, one.nodes) for one in searches.iterations(record.id)],
            searches.solutions(record.id),
            _player(record),
            record.digest,
        )
    origin = origin_of(record)
    return verify_layers(
        puzzle.name,
        str(origin),
        [layer.states for layer in JobReader(database).layers(record.id)],
        Facts(record.states, record.eccentricity, record.depth, ""),
        [(row.key, row.distance, row.board) for row in MapReader(database).states(record.id)],
        complete=record.complete,
        digest=record.digest,
    )


def _kept(database: Database, record: JobRecord) -> tuple[Check, ...]:
    """The checks of every job: the file that it is in, and its record.

    The job's row was checked when it was opened; layers, chunks, iterations and solutions are checked when they are
    read.
    """
    problems = structure_problems(database)
    file = [] if problems is None else [_check("file", 1, len(problems), "; ".join(problems))]
    if not record.sealed:
        return (*file, _check("record", 0, detail=UNSEALED))
    try:
        MapReader(database).check_states(record.id)
    except StorageError as damage:
        return (*file, _check("record", 1, 1, str(damage)))
    return (*file, _check("record", 1))


def _check(name: str, checked: int, failed: int = 0, detail: str = "") -> Check:
    return Check(name, PROVES[name], checked, failed, detail)


def _player(record: JobRecord) -> Any:
    """A function that says whether moves, as they come through JSON, lead from a search's board to its target."""
    from farthest.search.contract import Problem, way_of
    from farthest.search.walking import boards_along

    puzzle, asked = puzzle_of(record), search_parameters(record)
    board = puzzle.definition.parse_board(asked.board, name=puzzle.name)
    problem = Problem(puzzle, board, asked.target, asked.heuristic)

    def play(moves: Sequence[Any]) -> bool:
        try:
            boards = boards_along(puzzle, board, way_of(moves))
        except TypeError as error:
            raise ValueError(str(error)) from None
        return bool(problem.at_target(boards[-1:])[0])

    return play


class Progress:
    """Tells how far a proof is, now and then. ``layers``: the states of each."""

    def __init__(self, told: Callable[[str], None], layers: Sequence[int]) -> None:
        self._told = told
        self._layers = layers
        self._next = monotonic() + TOLD_SECONDS

    def __call__(self, depth: int | None, share: float) -> None:
        if monotonic() < self._next:
            return
        self._next = monotonic() + TOLD_SECONDS
        if depth is None:
            self._told(f"proved {share:.0%} of the states")
            return
        if not depth:
            self._told(f"working out the moves of blocks of keys: {share:.0%}")
            return
        done = sum(self._layers[:depth]) + share * sum(self._layers[depth : depth + 1])
        self._told(f"enumerating again: depth {depth}, {done / max(1, sum(self._layers)):.0%} of the states")


def _prove_map(distance_map: StoredMap, memory: int | None, scratch: Path | None) -> Report:
    record = distance_map.record
    rows = MapReader(distance_map.database).states(record.id, checked=False)
    stored = Stored(
        distance_map.puzzle,
        record.layout,
        distance_map.origin,
        layers=distance_map.layers,
        digest=distance_map.digest,
        depth=None if distance_map.complete else distance_map.depth,
        facts=Facts(record.states, record.eccentricity, record.depth, record.unit),
        rows=((row.key, row.distance, row.board) for row in rows),
    )
    means = Means(
        memory_limit(memory),
        scratch_folder(scratch, distance_map.database.folder),
        cores(),
        progress=Progress(distance_map.told, distance_map.layers),
    )
    if not record.keeps_residues:
        pieces = (
            (chunk.code_array(), chunk.distance_array())
            for chunk in MapReader(distance_map.database).chunks(record.id, any_unit=True)
        )
        return verify_map(stored, pieces, means, unit=distance_map.unit.name, length=record.keys or 0)
    with closing(distance_map.residue_bits()) as bits:
        return verify_residues(stored, bits, means)
