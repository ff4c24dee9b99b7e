"""Sliding blocks in plain numpy: for each place of a piece, which boards have a piece there and where it can go.

Codes as docs/blocks.md defines them: for each kind of piece the set of its first cells is ranked by combinadic among
the places where such a piece fits, and the ranks are digits, the first kind most significant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.families.blocks.definition import COLUMNS, ROWS, Blocks
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.origin import origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.models import Boards, CodedModel, LayoutError, MixedRadix, Packed

Flags = NDArray[np.bool_]

_WAYS = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""In the order of the bits of ``Kind.ways``."""

_CHOOSE = np.array([[comb(n, k) for k in range(65)] for n in range(64)], dtype=np.int64)


class BlocksModel(CodedModel):
    """See Model. Moves can be taken back, so the direction of counting does not matter."""

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        self.definition: Blocks = puzzle.defined_as(Blocks)
        self.metric = puzzle.metric
        self.origin = origin
        self.squares = [
            (r, c) for r, row in enumerate(self.definition.rows) for c, cell in enumerate(row) if cell >= 0
        ]
        self.number = {square: cell for cell, square in enumerate(self.squares)}
        self.counts = [len(kind.tokens) for kind in self.definition.kinds]
        # For each kind: first cell -> all cells, where a piece may stand.
        self.stands = [self._stands(kind) for kind in range(len(self.counts))]
        radices = [comb(len(stands), count) for stands, count in zip(self.stands, self.counts, strict=True)]
        if layout.get("kind") == "packed":
            self.coder = Packed(layout, radices)
        elif layout.get("version") == 1:
            self.coder = MixedRadix(radices, dense=False)
        else:
            raise LayoutError(f"layout of block puzzles: version {layout.get('version')!r}, expected 1")

    def _stands(self, kind: int) -> dict[int, list[int]]:
        stands = {}
        open_to = {"", *self.definition.kinds[kind].exits}
        ways, line = self.definition.kinds[kind].ways, self.definition.kinds[kind].line
        for first, (row, column) in enumerate(self.squares):
            if (ways == ROWS and row != line) or (ways == COLUMNS and column != line):
                continue
            squares = [(row + r, column + c) for r, c in self.definition.kinds[kind].shape]
            cells = [self.number[square] for square in squares if square in self.number]
            if len(cells) == len(squares) and {self.definition.signs[cell] for cell in cells} <= open_to:
                stands[first] = cells
        return stands

    def pieces(self, boards: Boards) -> tuple[list[Flags], Flags]:
        """For each kind and cell, which boards have a piece there; and which boards consist of the right pieces."""
        left = boards.copy()
        found = [np.zeros(boards.shape, dtype=np.bool_) for _ in self.counts]
        for cell in range(len(self.squares)):
            for label in np.unique(left[:, cell]).tolist():
                kind = label - 1
                stands = self.stands[kind] if 0 <= kind < len(self.stands) else {}
                if cell in stands:
                    rows = np.flatnonzero((left[:, stands[cell]] == kind + 1).all(axis=1))
                    left[rows[:, None], stands[cell]] = 0
                    found[kind][rows, cell] = True
        right = (left == 0).all(axis=1)
        for flags, count in zip(found, self.counts, strict=True):
            right &= flags.sum(axis=1) == count
        return found, right

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        all_rows, all_found = [np.zeros(0, dtype=np.intp)], [boards[:0]]
        flags, _ = self.pieces(boards)
        for kind, stands in enumerate(self.stands):
            for first, cells in stands.items():
                rows = np.flatnonzero(flags[kind][:, first])
                if not rows.size:
                    continue
                free = boards[rows] == 0
                free[:, cells] = True
                for there, reached in self.reached(kind, first, free):
                    chosen = rows[reached]
                    after = boards[chosen]
                    after[:, cells] = 0
                    after[:, stands[there]] = kind + 1
                    all_rows.append(chosen)
                    all_found.append(after)
        return np.concatenate(all_rows), np.concatenate(all_found)

    def reached(self, kind: int, first: int, free: Flags) -> Iterator[tuple[int, Flags]]:
        """The places that a piece reaches in a move, and on which boards; ``free``: free cells, its own included."""
        if self.metric == "move":
            yield from self.wandered(kind, first, free)
            return
        for way in range(len(_WAYS)):
            there, reached = self.beside(kind, first, way), np.ones(len(free), dtype=np.bool_)
            while there is not None:
                reached = reached & free[:, self.stands[kind][there]].all(axis=1)
                yield there, reached
                there = self.beside(kind, there, way) if self.metric == "slide" else None

    def wandered(self, kind: int, first: int, free: Flags) -> Iterator[tuple[int, Flags]]:
        """The same in the metric ``move``: steps until no board has a new place."""
        found = {first: np.ones(len(free), dtype=np.bool_)}
        edge = [(first, found[first])]
        while edge:
            place, fresh = edge.pop()
            for way in range(len(_WAYS)):
                there = self.beside(kind, place, way)
                if there is None:
                    continue
                known = found.setdefault(there, np.zeros(len(free), dtype=np.bool_))
                more = fresh & free[:, self.stands[kind][there]].all(axis=1) & ~known
                if more.any():
                    found[there] = known | more
                    edge.append((there, more))
        del found[first]
        yield from found.items()

    def beside(self, kind: int, first: int, way: int) -> int | None:
        """The place of a piece after it has moved by one cell, if a piece may be there."""
        (row, column), (down, right) = self.squares[first], _WAYS[way]
        there = self.number.get((row + down, column + right))
        return there if self.definition.kinds[kind].ways >> way & 1 and there in self.stands[kind] else None

    def origins(self) -> Boards:
        patterns = origin_patterns(self.definition, self.origin.where, "")
        found = [board for pattern in patterns for board in self.filled(pattern)]
        return np.array(found, dtype=np.uint8).reshape(-1, len(self.squares))

    def filled(self, pattern: tuple[int, ...]) -> Iterator[list[int]]:
        """All boards with the pieces of the pattern."""
        named = [0 if label == WILDCARD else label for label in pattern]
        flags, _ = self.pieces(np.array([named], dtype=np.uint8))
        missing = [count - int(there.sum()) for count, there in zip(self.counts, flags, strict=True)]
        yield from self.placed(named, 0, missing)

    def placed(self, board: list[int], kind: int, missing: list[int]) -> Iterator[list[int]]:
        """All boards with the missing pieces of this kind and later ones added."""
        if kind == len(missing):
            yield board
            return
        room = [cells for cells in self.stands[kind].values() if not any(board[cell] for cell in cells)]
        for chosen in combinations(room, missing[kind]):
            cells = [cell for piece in chosen for cell in piece]
            if len(set(cells)) == len(cells):
                after = list(board)
                for cell in cells:
                    after[cell] = kind + 1
                yield from self.placed(after, kind + 1, missing)

    def contents(self, boards: Boards) -> NDArray[np.int64]:
        """The rank of each kind; -1 for boards that are none."""
        flags, right = self.pieces(boards)
        ranks = np.zeros((len(boards), len(self.stands)), dtype=np.int64)
        for kind, (there, stands) in enumerate(zip(flags, self.stands, strict=True)):
            seen = np.zeros(len(boards), dtype=np.intp)
            for place, first in enumerate(stands):
                seen += there[:, first]
                ranks[:, kind] += np.where(there[:, first], _CHOOSE[place][seen], 0)
        ranks[~right] = -1
        return ranks

    def with_contents(self, contents: NDArray[np.int64]) -> Boards:
        """Pieces that overlap hide each other, so that the board has other ranks or none."""
        found = np.zeros((len(contents), len(self.squares)), dtype=np.uint8)
        rows = np.arange(len(contents))[:, None]
        for kind, rank in enumerate(contents.T):
            stands = np.array(list(self.stands[kind].values()))
            for number in range(self.counts[kind], 0, -1):
                choose = _CHOOSE[: len(stands), number]
                place = np.searchsorted(choose, rank, side="right") - 1
                rank = rank - choose[place]
                found[rows, stands[place]] = kind + 1
        return found


model = BlocksModel
