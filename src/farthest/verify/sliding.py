"""Proof of a stored distance map, from the puzzle's definition and the stored bytes alone.

Written independently of the kernel and of the families' spaces, so that it does not repeat their mistakes: moves are
computed from the definition, keys from the stored key layout. A map that fails gives a failed Report.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, permutations
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.families.sliding.definition import sliding
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.origin import origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.gather import Chunks, gather
from farthest.verify.ranking import BlockResult, Finding, LayoutError, Proof, Ranking, paths_toward_origin
from farthest.verify.report import (
    BadState,
    Check,
    Progress,
    Report,
    check_facts,
    compare_digest,
    compare_known,
    compare_layers,
    make_check,
    map_digest,
)
from farthest.verify.rows import Facts, Rows, board_texts, compare_rows

BLOCK_KEYS = 1 << 16
"""Keys to a block: the slots of a block stay in the cache of a processor."""


def verify_map(
    puzzle: Puzzle,
    layout: Mapping[str, Any],
    origin: Origin,
    distances: NDArray[Any] | Chunks,
    *,
    unit: str = "uint8",
    layers: Sequence[int] | None = None,
    digest: str | None = None,
    depth: int | None = None,
    facts: Facts | None = None,
    rows: Rows | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Prove a distance map, or find where it is wrong.

    ``distances``: all distances in key order, as one array or as buffers of ``unit`` ("uint8" or "uint16", little
    endian; the largest value stands for unreachable). ``layers`` and ``digest`` are the stored ones, None where there
    are none. ``depth``: the last layer of a map that stops there though more may be reachable, None for a complete map.
    ``facts``: what is stored of the job. ``rows``: the stored readable rows (key, distance, board) in key order, read
    once the map is in memory. ``progress`` is called with (keys checked, all keys), at most once a block.

    Holds the whole map in memory, and about 10 MB a thread. Raises BoardError when the origin's text is not a
    board of the puzzle, ResourceError when the map does not fit in memory.
    """
    started = time.perf_counter()
    definition = sliding(puzzle)
    origins = _origins(puzzle, origin)
    paths = paths_toward_origin(puzzle, origin)
    checks: list[Check] = []
    arrangements = factorial(definition.cells) // prod(factorial(count) for count in definition.counts)
    counts: tuple[int, ...] = ()
    keys, found_digest = 0, ""

    def report(total: str) -> Report:
        return Report(
            puzzle=puzzle.name,
            origin=str(origin),
            keys=keys,
            arrangements=arrangements,
            states=sum(counts),
            layers=counts,
            total=total,
            digest=found_digest,
            seconds=time.perf_counter() - started,
            checks=tuple(checks),
        )

    try:
        ranking = Ranking(layout, definition.counts)
        _require_closed(ranking, origins, paths)
    except LayoutError as error:
        checks.append(make_check("layout", 1, 1, str(error)))
        return report("not counted: the key layout is wrong")
    keys = ranking.keys
    checks.append(make_check("layout", 1, 0, f"{keys:,} keys"))

    array, problem = gather(distances, keys, unit)
    checks.append(make_check("length", keys, 1 if problem else 0, problem))
    if array is None:
        return report("not counted: the map is not whole")

    proof = Proof(ranking, array, paths, origins, depth)
    counts, local = _prove(proof, puzzle, threads, progress)
    checks.extend(local)
    found_digest = map_digest(counts, array, digest)
    if layers is not None:
        checks.append(compare_layers(counts, tuple(layers)))
    if digest is not None:
        checks.append(compare_digest(found_digest, digest))
    if facts is not None:
        checks.append(check_facts(facts, counts, array.dtype.name, complete=depth is None))
    if rows is not None:
        checks.append(_compare_rows(rows, puzzle, proof, counts))
    if depth is None and origin == puzzle.origin and puzzle.known:
        checks.append(
            compare_known(
                puzzle,
                counts,
                lambda most: _last_boards(proof, puzzle, counts, most),
                lambda: _nearest_goal(proof, puzzle),
            )
        )
    return report(_total(sum(counts), arrangements))


def _origins(puzzle: Puzzle, origin: Origin) -> list[Board]:
    """The boards at distance 0, a label per cell; goals may hold wildcards."""
    return list(origin_patterns(puzzle.definition, origin.where, puzzle.name))


def _require_closed(ranking: Ranking, origins: Sequence[Board], paths: Sequence[tuple[int, ...]]) -> None:
    """Raise LayoutError unless origins have keys, and moves join boards with keys only to such boards."""
    if ranking.parity is None:
        return
    for template in origins:
        # Two ways to fill two wildcards differ by a swap, so they would show both parities.
        for board in islice(_fillings(template, ranking.cells), 2):
            if ranking.key(board) is None:
                raise LayoutError(f"the origin {board} has no key in the layout")
    for path in paths:
        # A path of n cells moves their contents in a cycle, which is n - 1 swaps.
        first, last = (ranking.parity[ranking.slot_of_cell[cell]] for cell in (path[0], path[-1]))
        if last != first ^ (len(path) - 1) & 1:
            raise LayoutError(f"the move along cells {path} leads to boards without keys in the layout")


def _fillings(template: Board, labels: int) -> Iterator[Board]:
    """The boards that a template stands for, when every piece is distinct."""
    missing = [label for label in range(labels) if label not in template]
    for order in permutations(missing):
        pieces = iter(order)
        yield tuple(next(pieces) if label == WILDCARD else label for label in template)


def _prove(
    proof: Proof, puzzle: Puzzle, threads: int | None, progress: Progress | None
) -> tuple[tuple[int, ...], list[Check]]:
    """The states of each layer, and the checks of every state."""
    keys = proof.ranking.keys
    counts = np.zeros(proof.unreachable + 1, dtype=np.int64)
    findings: dict[str, Finding] = {}
    pool = ThreadPoolExecutor(threads or os.cpu_count())
    try:

        def check(first: int) -> BlockResult:
            return proof.check(first, min(first + BLOCK_KEYS, keys))

        for block, result in enumerate(pool.map(check, range(0, keys, BLOCK_KEYS)), 1):
            counts += result.counts
            for name, finding in result.findings.items():
                findings[name] = findings[name].merge(finding) if name in findings else finding
            if progress:
                progress(min(block * BLOCK_KEYS, keys), keys)
    finally:
        pool.shutdown(cancel_futures=True)
    layers = np.trim_zeros(counts[:-1], "b")
    checks = []
    for name, found in findings.items():
        bad = None if found.first is None else _explain(proof, puzzle, found.first)
        checks.append(make_check(name, found.checked, found.failed, first=bad))
    return tuple(map(int, layers)), checks


def _explain(proof: Proof, puzzle: Puzzle, key: int) -> BadState:
    """The bad state and its neighbours, computed one board at a time."""
    board = proof.ranking.board(key)

    def stored(key: int | None) -> int | None:
        value = None if key is None else int(proof.distances[key])
        return None if value == proof.unreachable else value

    neighbours = []
    for path in proof.paths:
        if board[path[0]] == 0 and all(board[cell] != 0 for cell in path[1:]):
            after = list(board)
            for to_cell, from_cell in zip(path, path[1:] + path[:1], strict=True):
                after[to_cell] = board[from_cell]
            neighbours.append((puzzle.definition.format_board(after), stored(proof.ranking.key(after))))
    return BadState(key, puzzle.definition.format_board(board), stored(key), tuple(neighbours))


def _compare_rows(rows: Rows, puzzle: Puzzle, proof: Proof, counts: tuple[int, ...]) -> Check:
    texts = board_texts(sliding(puzzle), proof.ranking)
    found = compare_rows(rows, texts, proof.distances, counts)
    bad = None if found.key is None else _explain(proof, puzzle, found.key)
    return make_check("rows", found.checked, found.failed, found.detail, bad)


def _last_boards(proof: Proof, puzzle: Puzzle, counts: Sequence[int], most: int) -> list[str]:
    keys = np.flatnonzero(proof.distances == len(counts) - 1)[:most]
    return [puzzle.definition.format_board(proof.ranking.board(int(key))) for key in keys]


def _nearest_goal(proof: Proof, puzzle: Puzzle) -> int | None:
    for depth in range(proof.unreachable):
        keys = np.flatnonzero(proof.distances == depth)
        if not keys.size:
            return None
        if puzzle.definition.at_goal(proof.ranking.boards(keys)).any():
            return depth
    return None


def _total(states: int, arrangements: int) -> str:
    """The number of states compared with the number of all arrangements of the pieces."""
    if states == arrangements:
        return f"{states:,} states: all arrangements of the pieces"
    if states and arrangements % states == 0:
        part = arrangements // states
        name = "half" if part == 2 else f"1/{part:,}"
        return f"{states:,} states: {name} of the {arrangements:,} arrangements of the pieces"
    return f"{states:,} of the {arrangements:,} arrangements of the pieces"
