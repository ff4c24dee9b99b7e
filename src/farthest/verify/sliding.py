"""The proofs of maps of sliding puzzles: full maps, with keys by ranking, and maps of additive patterns.

A full map is proved by the neighbours of each state one move toward the origin. Let d be the stored distances and N(v)
the boards one move from v toward the origin. If d = 0 exactly at the origin, min over N(v) of d is d(v) - 1 for every
other reached v, and no unreached v has a reached board in N(v), then by induction on d the reached states are exactly
those joined to the origin, and d is their distance. Keys of neighbours are ranked from the slots of the pieces, without
boards: 110 ns of a processor for a state of 3 x 4 cells, where the proof by successors takes 2,400.

A map of a pattern cannot be proved from state to state: it does not say where the blank is. So all distances are
computed again, layer by layer, without the kernel, with a set of cells of the blank for each placement, and compared.
Keys are computed as docs/key-layout.md says.
"""

from __future__ import annotations

from itertools import islice
from math import perm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.errors import ResourceError
from farthest.families.sliding.definition import Sliding, sliding
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.grid import WILDCARD_TOKEN
from farthest.puzzles.origin import names_of
from farthest.puzzles.puzzle import Origin
from farthest.verify.local import (
    Finding,
    Findings,
    GatheredMap,
    MapProof,
    Means,
    StateProof,
    check_blocks,
    count_layers,
)
from farthest.verify.models import LayoutError
from farthest.verify.models.ranking import Slots
from farthest.verify.models.sliding import SlidingModel
from farthest.verify.report import BadState, Proof, Stored
from farthest.verify.rows import Distances, Mask

BLOCK_KEYS = 1 << 16
"""Keys to a block: the slots of a block stay in the cache of a processor."""


class SlidingProof(StateProof):
    """The proof of a full map. Raises LayoutError."""

    def __init__(self, stored: Stored, means: Means) -> None:
        self.sliding = SlidingModel(stored.puzzle, stored.origin, stored.layout)
        super().__init__(stored, self.sliding, means)
        self.ranking = self.sliding.ranking
        self.layout_detail = f"{self.ranking.keys:,} keys"
        self._require_closed()

    def _require_closed(self) -> None:
        """Raise LayoutError unless origins have keys, and moves join boards with keys only to such boards."""
        if self.ranking.parity is None:
            return
        for template in self.sliding.templates:
            # Two ways to fill two wildcards differ by a swap, so they would show both parities.
            boards = list(islice(self.sliding.filled(template), 2))
            missing = np.flatnonzero(
                self.sliding.codes(np.array(boards, dtype=np.uint8)) >= self.ranking.keys
            )
            if missing.size:
                raise LayoutError(f"the origin {boards[int(missing[0])]} has no key in the layout")
        for path in self.sliding.paths:
            # A path of n cells moves their contents in a cycle, which is n - 1 swaps.
            ends = (self.ranking.slot_of_cell[cell] for cell in (path[0], path[-1]))
            first, last = (self.ranking.parity[slot] for slot in ends)
            if last != first ^ (len(path) - 1) & 1:
                raise LayoutError(f"the move along cells {path} leads to boards without keys in the layout")

    def findings(self, whole: GatheredMap) -> Findings:
        return check_blocks(whole, BLOCK_KEYS, lambda first, last: self._check(whole, first, last))

    def _check(self, whole: GatheredMap, first: int, last: int) -> Findings:
        """Check the states with keys first <= key < last."""
        slots = self.ranking.slots(np.arange(first, last, dtype=self.ranking.key_type))
        own = whole.distances[first:last]
        nearest = self._nearest_neighbour(whole, slots)
        reached = own != whole.unreachable
        at_origin = self._at_origin(slots)

        def found(checked: int, wrong: Mask) -> Finding:
            failed = int(np.count_nonzero(wrong))
            return Finding(checked, failed, first + int(wrong.argmax()) if failed else None)

        states, at_zero = int(np.count_nonzero(reached)), int(np.count_nonzero(own == 0))
        later = reached & ~at_origin
        # At distance 0, own - 1 wraps round to the largest value: such a state off the origin fails "origin".
        before = own - whole.distances.dtype.type(1)
        stop = whole.unreachable if whole.depth is None else whole.depth
        findings = {
            "origin": found(len(own), (own == 0) != at_origin),
            "nearer": found(states - at_zero, later & (nearest > before)),
            "jump": found(states - at_zero, later & (own != 0) & (nearest < before)),
            "closed": found(len(own) - states, ~reached & (nearest < stop)),
        }
        if whole.depth is not None:
            findings["depth"] = found(states, reached & (own > whole.depth))
        return findings

    def _nearest_neighbour(self, whole: GatheredMap, slots: Slots) -> Distances:
        """The least distance among the neighbours of each board; ``unreachable`` where there is none."""
        nearest = np.full(slots.shape[1], whole.unreachable, dtype=whole.distances.dtype)
        blanks = slots[: self.ranking.starts[1]]
        # Keys place the blanks first, so in most blocks all boards have them in the same cells, and a move applies to
        # all boards or to none.
        if (blanks[:, 0] == blanks[:, -1]).all():
            blanks = blanks[:, :1]
        for path in self.sliding.paths:
            route = [self.ranking.slot_of_cell[cell] for cell in path]
            applies = (blanks == route[0]).any(axis=0)
            for slot in route[1:]:
                applies &= ~(blanks == slot).any(axis=0)
            if not applies.any():
                continue
            if applies.all():
                np.minimum(nearest, self._distances_after(whole, slots, route), out=nearest)
            else:
                after = self._distances_after(whole, slots[:, applies], route)
                nearest[applies] = np.minimum(nearest[applies], after)
        return nearest

    def _distances_after(self, whole: GatheredMap, slots: Slots, route: list[int]) -> Distances:
        """The distances of the boards that a move makes of these, to all of which it applies."""
        before = slots[: self.ranking.ranked]
        after = before.copy()
        for source, target in zip(route, route[-1:] + route[:-1], strict=True):
            # A piece in slot `source` goes to `target`: as a change of bits, so that it needs no branch.
            after ^= (before == source).view(np.uint8) * np.uint8(source ^ target)
        return whole.distances[self.ranking.rank(after)]

    def _at_origin(self, slots: Slots) -> Mask:
        """Which boards are origins; a wildcard stands for any piece."""
        found = np.zeros(slots.shape[1], dtype=np.bool_)
        for template in self.sliding.templates:
            candidates: NDArray[np.intp] | None = None
            for slot, pieces in self._demands(template):
                if candidates is None:
                    candidates = np.flatnonzero((slots[pieces] == slot).any(axis=0))
                else:
                    candidates = candidates[(slots[pieces, candidates] == slot).any(axis=0)]
                if not candidates.size:
                    break
            found[candidates] = True
        return found

    def _demands(self, template: Board) -> list[tuple[int, slice]]:
        """The slots that a template fills, blanks first, each with the rows of the pieces that fit."""
        ranking = self.ranking
        return [
            (ranking.slot_of_cell[cell], slice(ranking.starts[j], ranking.starts[j + 1]))
            for j, label in enumerate(ranking.classes)
            for cell, content in enumerate(template)
            if content == label
        ]

    def explain(self, whole: GatheredMap, place: int) -> BadState:
        board = self.model.boards(whole.codes_at(np.array([place])))
        around = self.around(whole, self.sliding.moved(board, self.sliding.paths)[1])
        return BadState(place, self.puzzle.definition.texts(board)[0], whole.distance(place), around)

    def texts(self, whole: GatheredMap, places: NDArray[np.int64]) -> list[str]:
        """The texts of boards by code of the proof's own."""
        definition = self.sliding.definition
        # The text of a board that is all wildcards: cells between walls and marks.
        form = definition.format_board([WILDCARD] * definition.cells).replace(WILDCARD_TOKEN, "%s")
        tokens = np.array(definition.tokens, dtype=object)
        return [form % (*row,) for row in tokens[self.ranking.boards(places)].tolist()]

    def total(self, states: int) -> str:
        if states == self.arrangements:
            return f"{states:,} states: all arrangements of the pieces"
        if states and self.arrangements % states == 0:
            part = self.arrangements // states
            name = "half" if part == 2 else f"1/{part:,}"
            return f"{states:,} states: {name} of the {self.arrangements:,} arrangements of the pieces"
        return f"{states:,} of the {self.arrangements:,} arrangements of the pieces"


MOST_KEYS = 2**27
"""Most placements of a map that is computed again: a quarter of an hour; the next patterns would take hours."""

BLOCK = 1 << 18
"""Placements that are moved on at once."""

NOT_REACHED = 255

Sets = NDArray[np.unsignedinteger[Any]]
"""Sets of cells as bit masks."""


class PatternProof(MapProof):
    """The proof of an additive pattern's map. Raises ResourceError for more than ``MOST_KEYS``, LayoutError."""

    def __init__(self, stored: Stored) -> None:
        self.definition = sliding(stored.puzzle)
        self.origin = stored.origin
        self.keys = self.arrangements = keys = perm(self.definition.cells, len(self.definition.tokens) - 1)
        self.layout_detail = f"{keys:,} keys"
        if keys > MOST_KEYS:
            raise ResourceError(
                f"puzzle {stored.puzzle.name}: the map of an additive pattern is proved by computing all of it again, "
                f"which for {keys:,} placements would take hours and {9 * keys / 2**30:.0f} GiB; at most {MOST_KEYS:,} "
                "are proved; prove a pattern of fewer pieces of the same puzzle instead"
            )
        if stored.layout != {"version": 1, "kind": "placements"}:
            raise LayoutError(f"unknown: {stored.layout}")

    def prove(self, proof: Proof, whole: GatheredMap) -> None:
        true = PatternRecount(self.definition, self.origin).distances(whole.depth)
        wrong = np.flatnonzero(whole.distances != true)
        first = None
        if wrong.size:
            key = int(wrong[0])
            (board,) = self.texts(whole, wrong[:1])
            first = BadState(
                key, board, whole.distance(key), ((f"{board} worked out again", int(true[key])),)
            )
        proof.check("recount", len(true), len(wrong), first=first)
        proof.counts = count_layers(whole)

    def texts(self, whole: GatheredMap, places: NDArray[np.int64]) -> list[str]:
        cells = cells_of(self.definition, places)
        boards = np.zeros((len(places), self.definition.cells), dtype=np.uint8)
        for piece in range(cells.shape[1]):
            boards[np.arange(len(places)), cells[:, piece]] = piece + 1
        return self.definition.texts(boards)

    def total(self, states: int) -> str:
        return f"{states:,} of the {self.arrangements:,} placements of the pattern's pieces"


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


class PatternRecount:
    """The second search: for each placement the set of cells where the blank can be, as bits."""

    def __init__(self, definition: Sliding, origin: Origin) -> None:
        self.definition = definition
        self.pieces = len(definition.tokens) - 1
        ways = {*definition.edges, *((b, a) for a, b in definition.edges), *definition.arcs}
        self.ways = sorted(ways if origin.direction == "from" else {(b, a) for a, b in ways})
        keys = perm(definition.cells, self.pieces)
        self.unit = np.min_scalar_type(2**definition.cells - 1)
        self.reached = np.zeros(keys, dtype=self.unit)
        self.next = np.zeros(keys, dtype=self.unit)
        for board, blanks in _starts(definition, origin):
            cells = np.array([[board.index(label) for label in range(1, self.pieces + 1)]])
            for blank in blanks:
                self.next[keys_of(definition, cells)] |= self._bit(blank)

    def distances(self, depth: int | None) -> NDArray[np.uint8]:
        """All distances, up to ``depth`` if that is given: uint8 in key order, 255 for none."""
        found = np.full(len(self.reached), NOT_REACHED, dtype=np.uint8)
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
        blanks = self._spread(blanks, free) & ~self.reached[keys]
        fresh = blanks != 0
        keys, cells, blanks = keys[fresh], cells[fresh], blanks[fresh]
        self.reached[keys] |= blanks
        found[keys] = np.minimum(found[keys], layer)
        for piece in range(self.pieces):
            for start, end in self.ways:
                rows = np.flatnonzero((cells[:, piece] == start) & (blanks & self._bit(end) != 0))
                if rows.size:
                    moved = cells[rows]
                    moved[:, piece] = end
                    self.next[keys_of(self.definition, moved)] |= self._bit(start)  # no key appears twice

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
