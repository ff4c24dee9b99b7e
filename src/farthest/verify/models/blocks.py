"""Sliding blocks in plain Python: pieces on squares of a grid, worked out from the drawing of each board.

Codes as docs/blocks.md defines them: for each kind of piece the set of its first cells is ranked by combinadic among
the sets of places where such a piece fits, and the ranks are digits, the first kind most significant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.puzzles.blocks import Blocks, blocks
from farthest.puzzles.body import WILDCARD
from farthest.puzzles.definition import Origin, Puzzle
from farthest.verify.models import Boards, Codes
from farthest.verify.ranking import LayoutError

Square = tuple[int, int]
Stones = dict[Square, int]
"""What stands on the squares that are not empty: 1 + the kind of the piece."""


def model(puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> BlockModel:
    """See ``verify.models``."""
    if layout.get("version") != 1:
        raise LayoutError(f"layout of block puzzles: version {layout.get('version')!r}, expected 1")
    return BlockModel(puzzle, origin)


class BlockModel:
    """See ``Model``. Moves can be taken back, so the direction of counting does not matter."""

    keys: int | None = None

    def __init__(self, puzzle: Puzzle, origin: Origin) -> None:
        self.body: Blocks = blocks(puzzle)
        self.metric = puzzle.metric
        self.origin = origin
        self.squares = [
            (r, c) for r, row in enumerate(self.body.rows) for c, cell in enumerate(row) if cell >= 0
        ]
        self.number = {square: cell for cell, square in enumerate(self.squares)}
        kinds = range(len(self.body.kinds))
        self.standing = {(kind, first) for kind in kinds for first in self.squares if self.fits(kind, first)}
        self.places = [
            [cell for cell, first in enumerate(self.squares) if (kind, first) in self.standing]
            for kind in kinds
        ]
        self.radix = [
            comb(len(places), len(kind.tokens))
            for places, kind in zip(self.places, self.body.kinds, strict=True)
        ]
        self.code_bytes = 8 if prod(self.radix) < 2**64 else 16

    def piece(self, kind: int, first: Square) -> list[Square]:
        """The squares of a piece, on the board or not."""
        return [(first[0] + r, first[1] + c) for r, c in self.body.kinds[kind].shape]

    def fits(self, kind: int, first: Square) -> bool:
        """Whether all squares of the piece are on the board, and those of exits open to it."""
        squares = self.piece(kind, first)
        if not all(square in self.number for square in squares):
            return False
        signs = {self.body.signs[self.number[square]] for square in squares}
        return signs <= {"", *self.body.kinds[kind].exits}

    def pieces(self, board: list[int]) -> list[tuple[int, Square]] | None:
        """Kind and first square of each piece; None where the board is not made of whole pieces."""
        left = {square: label for square, label in zip(self.squares, board, strict=True) if label > 0}
        found = []
        while left:
            first = min(left)
            kind = left[first] - 1
            if kind >= len(self.places):
                return None
            for square in self.piece(kind, first):
                if left.pop(square, 0) != kind + 1:
                    return None
            if (kind, first) not in self.standing:
                return None
            found.append((kind, first))
        return found

    def reached(self, stones: Stones, kind: int, first: Square) -> Iterator[Square]:
        """Where one move brings the piece; its own squares are empty in ``stones``."""
        ways = [
            way
            for i, way in enumerate([(-1, 0), (1, 0), (0, -1), (0, 1)])
            if self.body.kinds[kind].ways >> i & 1
        ]
        seen, edge = {first}, [(first, way) for way in ways]
        while edge:
            (row, column), way = edge.pop()
            there = (row + way[0], column + way[1])
            if (
                there in seen
                or not self.fits(kind, there)
                or any(part in stones for part in self.piece(kind, there))
            ):
                continue
            seen.add(there)
            yield there
            if self.metric == "slide":
                edge.append((there, way))
            elif self.metric == "move":
                edge += [(there, other) for other in ways]

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        """See Model."""
        rows: list[int] = []
        found: list[list[int]] = []
        for row, board in enumerate(boards.tolist()):
            for kind, first in self.pieces(board) or ():
                stones = {square: label for square, label in zip(self.squares, board, strict=True) if label}
                for part in self.piece(kind, first):
                    del stones[part]
                for there in self.reached(stones, kind, first):
                    after = stones | dict.fromkeys(self.piece(kind, there), kind + 1)
                    rows.append(row)
                    found.append([after.get(square, 0) for square in self.squares])
        return np.array(rows, dtype=np.intp), np.array(found, dtype=np.uint8).reshape(-1, len(self.squares))

    def origins(self) -> Boards:
        """See Model."""
        body = self.body
        if self.origin.where == "start" and body.start is not None:
            patterns = [body.start]
        elif self.origin.where == "goal":
            patterns = list(body.goals)
        else:
            patterns = [body.parse_board(self.origin.where)]
        boards = [board for pattern in patterns for board in self.filled(list(pattern))]
        return np.array(boards, dtype=np.uint8).reshape(-1, len(self.squares))

    def filled(self, pattern: list[int]) -> Iterator[list[int]]:
        """All boards with the pieces of the pattern."""
        named = [0 if label == WILDCARD else label for label in pattern]
        kinds = [kind for kind, _ in self.pieces(named) or ()]
        missing = [len(kind.tokens) - kinds.count(i) for i, kind in enumerate(self.body.kinds)]

        yield from self.placed(named, 0, missing)

    def placed(self, board: list[int], kind: int, missing: list[int]) -> Iterator[list[int]]:
        """All boards with the missing pieces of this kind and later ones added."""
        if kind == len(missing):
            yield board
            return
        for firsts in combinations(self.places[kind], missing[kind]):
            cells = [self.number[part] for first in firsts for part in self.piece(kind, self.squares[first])]
            if len(set(cells)) == len(cells) and not any(board[cell] for cell in cells):
                after = list(board)
                for cell in cells:
                    after[cell] = kind + 1
                yield from self.placed(after, kind + 1, missing)

    def codes(self, boards: Boards) -> Codes:
        """See Model."""
        return self.packed([self.code(board) for board in boards.tolist()])

    def code(self, board: list[int]) -> int | None:
        """The code of a board, or None."""
        found = self.pieces(board)
        if found is None:
            return None
        code = 0
        for kind, places in enumerate(self.places):
            ranks = [places.index(self.number[first]) for other, first in found if other == kind]
            if len(ranks) != len(self.body.kinds[kind].tokens):
                return None
            code = code * self.radix[kind] + sum(comb(rank, i) for i, rank in enumerate(sorted(ranks), 1))
        return code

    def packed(self, codes: list[int | None]) -> Codes:
        """Codes as maps hold them; all bits set for None."""
        filler = 2 ** (8 * self.code_bytes) - 1
        whole = [filler if code is None else code for code in codes]
        if self.code_bytes == 8:
            return np.array(whole, dtype=np.uint64)
        return np.frombuffer(b"".join(code.to_bytes(16, "big") for code in whole), dtype="S16")

    def boards(self, codes: Codes) -> Boards:
        """See Model. Pieces that overlap hide each other, so that the board has another code or none."""
        found = []
        for text in np.ascontiguousarray(codes).view(f"V{self.code_bytes}").tolist():
            code = int.from_bytes(text, "little" if self.code_bytes == 8 else "big")
            board = [0] * len(self.squares)
            for kind in reversed(range(len(self.places))):
                code, rank = divmod(code, self.radix[kind])
                for i in range(len(self.body.kinds[kind].tokens), 0, -1):
                    place = max(n for n in range(len(self.places[kind])) if comb(n, i) <= rank)
                    rank -= comb(place, i)
                    for square in self.piece(kind, self.squares[self.places[kind][place]]):
                        board[self.number[square]] = kind + 1
            found.append(board)
        return np.array(found, dtype=np.uint8).reshape(-1, len(self.squares))
