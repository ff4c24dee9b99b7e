"""Passes a stored job, with all that is stored of it, to the proof for its kind and family."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from farthest.environment import scratch_folder
from farthest.errors import StorageError
from farthest.families.sliding.definition import Sliding
from farthest.machine import memory_limit
from farthest.models.job_reader import JobReader
from farthest.models.jobs import Jobs
from farthest.models.map_reader import MapReader
from farthest.models.records import SEARCH, Proved, Verification, now
from farthest.models.sealing import damaged
from farthest.models.searches import Searches
from farthest.models.stored_job import origin_of, puzzle_of
from farthest.models.structure import structure_problems
from farthest.spaces.contract import is_packed
from farthest.verify.generic import verify_generic
from farthest.verify.pattern import verify_pattern
from farthest.verify.report import make_check
from farthest.verify.residues import Means, verify_residues
from farthest.verify.rows import Facts
from farthest.verify.sliding import verify_map
from farthest.verify.without_map import verify_layers, verify_search
from farthest.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from farthest.models.database import Database
    from farthest.models.records import JobRecord
    from farthest.queries.stored_map import StoredMap
    from farthest.verify.report import Check, Report
    from farthest.verify.rows import Rows

TOLD_SECONDS = 10.0
"""How often the progress of a long proof is told."""

UNSEALED = "an older version of farthest stored the job: nothing says whether all of it is what was stored"


def prove(distance_map: StoredMap, memory: int | None = None, scratch: Path | None = None) -> Report:
    """The report of ``farthest verify`` for a job with a map. ``memory``: bytes that the proof of a large residue map
    may use, four fifths of what is free by default; ``scratch``: the folder for its layers."""
    kept = _kept(distance_map.database, distance_map.record)
    report = _prove_map(distance_map, memory, scratch)
    report = replace(report, checks=(*kept, *report.checks))
    keep_mark(distance_map.database, distance_map.record, report, distance_map.told)
    return report


def prove_without_map(database: Database, record: JobRecord, told: Callable[[str], None]) -> Report:
    """The same for a finished search, or for an enumeration that kept only the counts of its layers."""
    report = _prove_without_map(database, record)
    keep_mark(database, record, report, told)
    return report


def keep_mark(database: Database, record: JobRecord, report: Report, told: Callable[[str], None]) -> None:
    """Stores that the job was proved; what disproves it removes the mark of an earlier proof. ``told`` gets why that
    could not be stored."""
    jobs = Jobs(database)
    try:
        if report.failures:
            jobs.remove_mark(record.id)
        elif report.ok:
            checks = tuple(Proved(one.name, one.proves, one.checked) for one in report.checks if not one.note)
            found = Verification(now(), __version__, report.seconds, checks)
            jobs.mark(record.id, record.proved_as, found)
    except StorageError as error:
        told(f"the outcome of this proof is not stored: {error}")


def _prove_without_map(database: Database, record: JobRecord) -> Report:
    kept = _kept(database, record)
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
            digest=record.digest,
            kept=kept,
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
        kept=kept,
    )


def _kept(database: Database, record: JobRecord) -> tuple[Check, ...]:
    """The checks of every job: the file that it is in, and its record.

    The job's row was checked when it was opened; layers, chunks, iterations and solutions are checked when they are
    read.
    """
    problems = structure_problems(database)
    file = [] if problems is None else [make_check("file", 1, len(problems), "; ".join(problems))]
    if not record.sealed:
        return (*file, make_check("record", 0, 0, UNSEALED))
    try:
        MapReader(database).check_states(record.id)
    except StorageError as damage:
        return (*file, make_check("record", 1, 1, str(damage)))
    return (*file, make_check("record", 1, 0))


def _player(record: JobRecord) -> Any:
    """A function that says whether moves, as they come through JSON, lead from a search's board to its target."""
    from farthest.search.contract import Problem, way_of
    from farthest.search.expansion import boards_along

    puzzle, asked = puzzle_of(record), record.parameters
    if not all(isinstance(asked.get(name), str) for name in ("board", "target", "heuristic")):
        raise damaged("job", record.id, "column parameters: expected those of a search", record.id)
    board = puzzle.definition.parse_board(asked["board"], name=puzzle.name)
    problem = Problem(puzzle, board, asked["target"], asked["heuristic"])

    def play(moves: Sequence[Any]) -> bool:
        try:
            boards = boards_along(puzzle, board, way_of(moves))
        except TypeError as error:
            raise ValueError(str(error)) from None
        return bool(problem.at_target(boards[-1:])[0])

    return play


def _prove_residues(
    distance_map: StoredMap, facts: Facts, rows: Rows, memory: int | None, scratch: Path | None
) -> Report:
    bits = distance_map.residue_bits()
    means = Means(
        memory_limit(memory),
        scratch_folder(scratch, distance_map.database.folder),
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        told=Progress(distance_map.told, distance_map.layers),
    )
    with closing(bits):
        return verify_residues(
            distance_map.puzzle,
            distance_map.record.layout,
            distance_map.origin,
            bits,
            layers=distance_map.layers,
            digest=distance_map.digest,
            depth=None if distance_map.complete else distance_map.depth,
            facts=facts,
            rows=rows,
            means=means,
        )


class Progress:
    """Tells how far the proof of a residue map is, now and then. ``layers``: the states of each."""

    def __init__(self, told: Callable[[str], None], layers: Sequence[int]) -> None:
        self._told = told
        self._layers = layers
        self._next = monotonic() + TOLD_SECONDS

    def __call__(self, depth: int, share: float) -> None:
        if monotonic() < self._next:
            return
        self._next = monotonic() + TOLD_SECONDS
        if not depth:
            self._told(f"working out the moves of blocks of keys: {share:.0%}")
            return
        done = sum(self._layers[:depth]) + share * sum(self._layers[depth : depth + 1])
        self._told(f"enumerating again: depth {depth}, {done / max(1, sum(self._layers)):.0%} of the states")


def _prove_map(distance_map: StoredMap, memory: int | None, scratch: Path | None) -> Report:
    record = distance_map.record
    facts = Facts(record.states, record.eccentricity, record.depth, record.unit)
    stored = MapReader(distance_map.database).states(record.id, checked=False)
    rows = ((row.key, row.distance, row.board) for row in stored)
    depth = None if distance_map.complete else distance_map.depth
    definition = distance_map.puzzle.definition
    if record.keeps_residues:
        return _prove_residues(distance_map, facts, rows, memory, scratch)
    if isinstance(definition, Sliding) and not is_packed(record.layout):
        prove_sliding = verify_pattern if definition.blanks else verify_map
        return prove_sliding(
            distance_map.puzzle,
            record.layout,
            distance_map.origin,
            (chunk.distances for chunk in distance_map.chunks()),
            unit=distance_map.unit.name,
            layers=distance_map.layers,
            digest=distance_map.digest,
            depth=depth,
            facts=facts,
            rows=rows,
        )
    return verify_generic(
        distance_map.puzzle,
        record.layout,
        distance_map.origin,
        ((chunk.codes, chunk.distances) for chunk in distance_map.chunks()),
        unit=distance_map.unit.name,
        length=record.keys or 0,
        layers=distance_map.layers,
        digest=distance_map.digest,
        depth=depth,
        facts=facts,
        rows=rows,
    )
