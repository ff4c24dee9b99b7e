"""Proof of the map of an additive pattern: all distances are computed again in a simple way, and compared.

A map of a pattern cannot be proved from state to state: it does not say where the blank is. So this searches again from
the definition, layer by layer, without the kernel, with a set of cells of the blank for each placement. Keys are
computed as docs/key-layout.md says.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from math import perm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.errors import ResourceError
from farthest.families.sliding.definition import Sliding, sliding
from farthest.puzzles.definition import Board
from farthest.puzzles.origin import names_of
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.gather import Chunks, gather
from farthest.verify.report import (
    BadState,
    Check,
    Report,
    check_facts,
    compare_digest,
    compare_layers,
    make_check,
    map_digest,
)
from farthest.verify.rows import Facts, Rows, compare_rows

UNREACHED = 255

MOST_KEYS = 2**27
"""Most placements of a map that is computed again: a quarter of an hour; the next patterns would take hours."""

BLOCK = 1 << 18
"""Placements that are moved on at once."""

Sets = NDArray[np.unsignedinteger[Any]]
"""Sets of cells as bit masks."""


def verify_pattern(
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
) -> Report:
    """Prove the map of an additive pattern, or find where it is wrong; the arguments are those of ``verify_map``.

    Raises ResourceError for a map of more than ``MOST_KEYS`` placements, BoardError when the origin's text is not a
    board.
    """
    started = time.perf_counter()
    definition = sliding(puzzle)
    keys = perm(definition.cells, len(definition.tokens) - 1)
    if keys > MOST_KEYS:
        raise ResourceError(
            f"puzzle {puzzle.name}: the map of an additive pattern is proved by computing all of it again, which for "
            f"{keys:,} placements would take hours and {9 * keys / 2**30:.0f} GiB; at most {MOST_KEYS:,} are proved; "
            "prove a pattern of fewer pieces of the same puzzle instead"
        )
    checks: list[Check] = []
    counts: tuple[int, ...] = ()
    found_digest = ""

    def report(total: str) -> Report:
        return Report(
            puzzle=puzzle.name,
            origin=str(origin),
            keys=keys,
            arrangements=keys,
            states=sum(counts),
            layers=counts,
            total=total,
            digest=found_digest,
            seconds=time.perf_counter() - started,
            checks=tuple(checks),
        )

    known = layout == {"version": 1, "kind": "placements"}
    checks.append(
        make_check("layout", 1, int(not known), f"{keys:,} keys" if known else f"unknown: {layout}")
    )
    if not known:
        return report("not counted: the key layout is wrong")
    array, problem = gather(distances, keys, unit)
    checks.append(make_check("length", keys, 1 if problem else 0, problem))
    if array is None:
        return report("not counted: the map is not whole")
    true = Recount(definition, origin).distances(depth)
    wrong = np.flatnonzero(array != true)
    first = None
    if wrong.size:
        key = int(wrong[0])
        board = definition.format_board(boards_of(definition, wrong[:1])[0].tolist())
        stored = None if array[key] == UNREACHED else int(array[key])
        first = BadState(key, board, stored, ((f"{board} worked out again", int(true[key])),))
    checks.append(make_check("recount", keys, len(wrong), first=first))
    found = np.bincount(array, minlength=UNREACHED + 1)[:UNREACHED]
    counts = tuple(map(int, np.trim_zeros(found, "b")))
    found_digest = map_digest(counts, array, digest)
    if layers is not None:
        checks.append(compare_layers(counts, tuple(layers)))
    if digest is not None:
        checks.append(compare_digest(found_digest, digest))
    if facts is not None:
        checks.append(check_facts(facts, counts, array.dtype.name, complete=depth is None))
    if rows is not None:

        def texts(wanted: NDArray[np.int64]) -> list[str]:
            return definition.texts(boards_of(definition, wanted))

        compared = compare_rows(rows, texts, array, counts)
        checks.append(make_check("rows", compared.checked, compared.failed, compared.detail))
    return report(f"{sum(counts):,} of the {keys:,} placements of the pattern's pieces")


def boards_of(definition: Sliding, keys: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The boards, uint8 (N, cells), of keys."""
    boards = np.zeros((len(keys), definition.cells), dtype=np.uint8)
    cells = cells_of(definition, keys)
    for piece in range(cells.shape[1]):
        boards[np.arange(len(keys)), cells[:, piece]] = piece + 1
    return boards


def cells_of(definition: Sliding, keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The cell of each piece, int64 (N, pieces), of keys."""
    pieces = len(definition.tokens) - 1
    cells = np.zeros((len(keys), pieces), dtype=np.int64)
    rest = keys.astype(np.int64)
    for piece in reversed(range(pieces)):
        cells[:, piece] = rest % (definition.cells - piece)
        rest = rest // (definition.cells - piece)
        # Digits count free cells, so a later piece is one cell further on for each piece before it.
        cells[:, piece + 1 :] += cells[:, piece + 1 :] >= cells[:, piece : piece + 1]
    return cells


def keys_of(definition: Sliding, cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Inverse of ``cells_of``."""
    keys = np.zeros(len(cells), dtype=np.int64)
    for piece in range(cells.shape[1]):
        before = (cells[:, :piece] < cells[:, piece : piece + 1]).sum(axis=1)
        keys = keys * (definition.cells - piece) + cells[:, piece] - before
    return keys


class Recount:
    """The second search: for each placement the set of cells where the blank can be, as bits."""

    def __init__(self, definition: Sliding, origin: Origin) -> None:
        self.definition = definition
        self.pieces = len(definition.tokens) - 1
        ways = {*definition.edges, *((b, a) for a, b in definition.edges), *definition.arcs}
        self.ways = sorted(ways if origin.direction == "from" else {(b, a) for a, b in ways})
        keys = perm(definition.cells, self.pieces)
        self.unit = np.min_scalar_type(2**definition.cells - 1)
        self.known = np.zeros(keys, dtype=self.unit)
        self.next = np.zeros(keys, dtype=self.unit)
        for board, blanks in _starts(definition, origin):
            cells = np.array([[board.index(label) for label in range(1, self.pieces + 1)]])
            for blank in blanks:
                self.next[keys_of(definition, cells)] |= self._bit(blank)

    def distances(self, depth: int | None) -> NDArray[np.uint8]:
        """All distances, up to ``depth`` if that is given: uint8 in key order, 255 for none."""
        found = np.full(len(self.known), UNREACHED, dtype=np.uint8)
        layer = 0
        while self.next.any() and (depth is None or layer <= depth):
            now, self.next = self.next, np.zeros_like(self.next)
            active = np.flatnonzero(now)
            for first in range(0, len(active), BLOCK):
                keys = active[first : first + BLOCK]
                self._move_on(keys, now[keys], found, layer)
            layer += 1
        return found

    def _bit(self, cell: int) -> Any:
        return self.unit.type(1 << cell)

    def _move_on(self, keys: NDArray[np.int64], blanks: Sets, found: NDArray[np.uint8], layer: int) -> None:
        cells = cells_of(self.definition, keys)
        free = np.full(len(keys), 2**self.definition.cells - 1, dtype=self.unit)
        for piece in range(self.pieces):
            free ^= np.left_shift(self.unit.type(1), cells[:, piece].astype(self.unit))
        blanks = self._spread(blanks, free) & ~self.known[keys]
        fresh = blanks != 0
        keys, cells, blanks = keys[fresh], cells[fresh], blanks[fresh]
        self.known[keys] |= blanks
        found[keys] = np.minimum(found[keys], layer)
        for piece in range(self.pieces):
            for start, end in self.ways:
                rows = np.flatnonzero((cells[:, piece] == start) & (blanks & self._bit(end) != 0))
                if rows.size:
                    moved = cells[rows]
                    moved[:, piece] = end
                    self.next[keys_of(self.definition, moved)] |= self._bit(start)  # no key is there twice

    def _spread(self, blanks: Sets, free: Sets) -> Sets:
        """All cells that the blank reaches while other pieces move: it moves opposite to them."""
        while True:
            wider = blanks.copy()
            for start, end in self.ways:
                wider |= np.where(wider & self._bit(end), self._bit(start), self.unit.type(0)) & free
            if (wider == blanks).all():
                return blanks
            blanks = wider


def _starts(definition: Sliding, origin: Origin) -> list[tuple[Board, list[int]]]:
    """The boards at distance 0, and the cells where the blank may be in each."""
    found: list[tuple[Board, list[int]]] = []
    for name in names_of(origin.where):
        if name == "goal":
            found += [
                (goal, [blank]) for goal, blank in zip(definition.goals, definition.blanks, strict=True)
            ]
        else:
            board = definition.parse_board(name)
            found.append((board, [cell for cell, label in enumerate(board) if label == 0]))
    return found
