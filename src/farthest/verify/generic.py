"""Proof of a stored distance map of any family, by a plain model of its moves and codes (``verify.models``).

The proof for directed moves. Let d be the stored distances, in the direction in which moves are counted. If d = 0
exactly at the origin, and no successor of a reached state v is unreached or has a distance beyond d(v) + 1, then by
induction along a shortest path every state is reached at no more than its distance; and if every other reached state at
distance d is a successor of one at d - 1, then by induction on d at no less. The successors of every reached state are
computed once.
"""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.errors import ForbiddenCodeError
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.gather import gather, gather_sparse, sparse_digest
from farthest.verify.models import Codes, Model, model_of
from farthest.verify.models.python import stored_form
from farthest.verify.ranking import Distances, Finding, LayoutError
from farthest.verify.report import (
    BadState,
    Check,
    ForwardState,
    Progress,
    Report,
    check_facts,
    compare_digest,
    compare_known,
    compare_layers,
    make_check,
    map_digest,
)
from farthest.verify.rows import Facts, Rows, compare_rows

BLOCK_STATES = 1 << 15
"""States to a block: with their successors some tens of megabytes."""

Piece = tuple[Codes | None, NDArray[Any]]
"""The codes of consecutive states, None in a dense map, and their distances."""


def verify_generic(
    puzzle: Puzzle,
    layout: Mapping[str, Any],
    origin: Origin,
    pieces: Iterable[Piece],
    *,
    unit: str,
    length: int,
    layers: Sequence[int] | None = None,
    digest: str | None = None,
    depth: int | None = None,
    facts: Facts | None = None,
    rows: Rows | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Prove a distance map, or find where it is wrong.

    ``pieces``: the whole map in order. ``length``: how many distances it should hold. The rest is as in ``verify_map``.
    Where the puzzle is a class that may not run, moves and boards are not checked, and the report says so. Holds the
    whole map in memory, and a byte for each key or state. Raises BoardError when the origin's text is not a board of
    the puzzle, ResourceError when the map does not fit in memory.
    """
    started = time.perf_counter()
    checks: list[Check] = []
    counts: tuple[int, ...] = ()
    found_digest = ""

    def report(total: str) -> Report:
        return Report(
            puzzle=puzzle.name,
            origin=str(origin),
            keys=length,
            arrangements=arrangements,
            states=sum(counts),
            layers=counts,
            total=total,
            digest=found_digest,
            seconds=time.perf_counter() - started,
            checks=tuple(checks),
            unproved=unproved,
        )

    model: Model | None = None
    unproved, arrangements = "", 0
    try:
        try:
            model = model_of(puzzle, origin, layout)
            keys, code_bytes, arrangements = model.keys, model.code_bytes, puzzle.definition.arrangements()
        except ForbiddenCodeError as refused:
            unproved = str(refused)
            keys, code_bytes = stored_form(layout)
            arrangements = keys or 256**code_bytes - 1
    except LayoutError as error:
        checks.append(make_check("layout", 1, 1, str(error)))
        return report("not counted: the key layout is wrong")

    codes: Codes | None = None
    if keys is not None:
        length = keys
        distances, problem = gather((part for _, part in pieces), length, unit)
    else:
        codes, distances, problem = gather_sparse(pieces, length, unit, code_bytes)
    checks.append(make_check("length", length, 1 if problem else 0, problem))
    if distances is None:
        return report("not counted: the map is not whole")

    known = MapInMemory(codes, distances, depth)
    if model is None:
        counts = tuple(np.bincount(distances[distances != known.unreachable]).tolist())
    else:
        counts, local = _prove(puzzle, model, known, threads, progress)
        checks.extend(local)
    found_digest = (
        map_digest(counts, distances, digest) if codes is None else sparse_digest(counts, codes, distances)
    )
    if layers is not None:
        checks.append(compare_layers(counts, tuple(layers)))
    if digest is not None:
        checks.append(compare_digest(found_digest, digest))
    if facts is not None:
        checks.append(check_facts(facts, counts, distances.dtype.name, complete=depth is None))
    if rows is not None and model is not None:
        checks.append(_compare_rows(rows, puzzle, model, known, counts))
    if depth is None and origin == puzzle.origin and puzzle.known and model is not None:
        proved = model

        def last_boards(most: int) -> list[str]:
            return _texts(puzzle, proved, known, np.flatnonzero(distances == len(counts) - 1)[:most])

        def nearest_goal() -> int | None:
            return _nearest_goal(puzzle, proved, known)

        checks.append(compare_known(puzzle, counts, last_boards, nearest_goal))
    return report(f"{sum(counts):,} states; at most {arrangements:,} are possible")


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
        """The value that stands for no distance."""
        return int(np.iinfo(self.distances.dtype).max)

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


def _prove(
    puzzle: Puzzle, model: Model, known: MapInMemory, threads: int | None, progress: Progress | None
) -> tuple[tuple[int, ...], list[Check]]:
    """The states of each layer, and the checks of every state."""
    length, distances = len(known.distances), known.distances
    counts = np.zeros(known.unreachable + 1, dtype=np.int64)
    findings = {"codes": Finding(0, 0, None), "jump": Finding(0, 0, None), "closed": Finding(0, 0, None)}
    preceded = np.zeros(length, dtype=np.bool_)  # all threads write it, none reads it
    pool = ThreadPoolExecutor(threads or os.cpu_count())
    try:

        def look(first: int) -> dict[str, Finding]:
            return _look(model, known, preceded, first, min(first + BLOCK_STATES, length))

        for block, found in enumerate(pool.map(look, range(0, length, BLOCK_STATES)), 1):
            for name, finding in found.items():
                findings[name] = findings[name].merge(finding)
            first = (block - 1) * BLOCK_STATES
            counts += np.bincount(distances[first : first + BLOCK_STATES], minlength=len(counts))
            if progress:
                progress(min(block * BLOCK_STATES, length), length)
    finally:
        pool.shutdown(cancel_futures=True)
    findings["origin"] = _look_at_origins(model, known)
    orphans = np.flatnonzero((distances != known.unreachable) & (distances != 0) & ~preceded)
    states = int(counts[:-1].sum())
    findings["nearer"] = _finding(states - int(counts[0]), orphans)
    if known.depth is not None:
        beyond = np.flatnonzero((distances > known.depth) & (distances != known.unreachable))
        findings["depth"] = _finding(states, beyond)
    checks = []
    for name in ("codes", "origin", "nearer", "jump", "closed", "depth"):
        if name in findings:
            one = findings[name]
            bad = None if one.first is None else _explain(puzzle, model, known, one.first)
            checks.append(make_check(name, one.checked, one.failed, first=bad))
    return tuple(map(int, np.trim_zeros(counts[:-1], "b"))), checks


def _look(
    model: Model, known: MapInMemory, preceded: NDArray[np.bool_], first: int, last: int
) -> dict[str, Finding]:
    """Check the places first <= place < last, and mark the successors that are one farther."""
    places = np.flatnonzero(known.distances[first:last] != known.unreachable) + first
    if not places.size:
        return {}
    codes = known.codes_at(places)
    boards = model.boards(codes)
    rows, after = model.successors(boards)
    reached = known.places_of(model.codes(after))
    own = known.distances[places[rows]].astype(np.int64)
    farther = known.distances[reached].astype(np.int64) - own  # of nothing, where the place is -1
    there = reached >= 0
    preceded[reached[there & (farther == 1)]] = True
    outside = ~there if known.depth is None else ~there & (own != known.depth)
    return {
        "codes": _finding(len(places), places[model.codes(boards) != codes]),
        "jump": _finding(len(places), places[np.unique(rows[there & (farther > 1)])]),
        "closed": _finding(len(places), places[np.unique(rows[outside])]),
    }


def _look_at_origins(model: Model, known: MapInMemory) -> Finding:
    places = np.unique(known.places_of(np.unique(model.codes(model.origins()))))
    missing = int(places[0] < 0)  # an origin that is not reached has no place to report
    wrong = np.setxor1d(places[missing:], np.flatnonzero(known.distances == 0))
    found = _finding(len(places), wrong)
    return Finding(found.checked, found.failed + missing, found.first)


def _finding(checked: int, wrong: NDArray[Any]) -> Finding:
    return Finding(checked, len(wrong), int(wrong[0]) if len(wrong) else None)


def _explain(puzzle: Puzzle, model: Model, known: MapInMemory, place: int) -> BadState:
    """The bad state and the states that follow it."""
    board = model.boards(known.codes_at(np.array([place])))
    _, after = model.successors(board)
    found = []
    for text, at in zip(
        puzzle.definition.texts(after), known.places_of(model.codes(after)).tolist(), strict=True
    ):
        found.append((text, None if at < 0 else int(known.distances[at])))
    stored = int(known.distances[place])
    return ForwardState(
        place,
        puzzle.definition.texts(board)[0],
        None if stored == known.unreachable else stored,
        tuple(dict.fromkeys(found)),
    )


def _texts(puzzle: Puzzle, model: Model, known: MapInMemory, places: NDArray[np.int64]) -> list[str]:
    return puzzle.definition.texts(model.boards(known.codes_at(places)))


def _nearest_goal(puzzle: Puzzle, model: Model, known: MapInMemory) -> int | None:
    nearest = known.unreachable
    for first in range(0, len(known.distances), BLOCK_STATES):
        places = np.flatnonzero(known.distances[first : first + BLOCK_STATES] < nearest) + first
        goals = puzzle.definition.at_goal(model.boards(known.codes_at(places)))
        nearest = int(known.distances[places[goals]].min(initial=nearest))
    return None if nearest == known.unreachable else nearest


def _compare_rows(
    rows: Rows, puzzle: Puzzle, model: Model, known: MapInMemory, counts: tuple[int, ...]
) -> Check:
    def texts(places: NDArray[np.int64]) -> list[str]:
        return _texts(puzzle, model, known, places)

    found = compare_rows(rows, texts, known.distances, counts)
    bad = None if found.key is None else _explain(puzzle, model, known, found.key)
    return make_check("rows", found.checked, found.failed, found.detail, bad)
