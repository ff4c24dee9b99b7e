"""Moves of sliding puzzles as people write them.

``3-4``: the piece in cell 3 goes to cell 4, as `farthest path` prints it. ``7``: the piece 7 moves. ``U D L R``,
``up``, ``U2``, ``ULDR``: a piece moves up, down, left or right into the blank: the way of the piece, never that of the
blank.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from farthest.arrays import np
from farthest.errors import BoardError
from farthest.families.sliding.definition import sliding
from farthest.puzzles.move_text import MoveMaker, check_count
from farthest.puzzles.picture import cell_places
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces import compile_space
from farthest.wording import near_match

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board
    from farthest.spaces.contract import Space

    Name = tuple[int, int]
    """Of a move: the cells (from, to)."""

WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
"""What is added to the row and the column of the piece."""

_CELLS = re.compile(r"(\d{1,3})[-→](\d{1,3})")
_LETTERS = re.compile(r"([UDLRudlr])(\d{0,3})")
_LISTED = 24
"""Pieces or moves that a message lists at most."""


class WrittenMoves(MoveMaker):
    def __init__(self, puzzle: Puzzle) -> None:
        self._puzzle = puzzle
        self._definition = definition = sliding(puzzle)
        self._tokens = {token: label for label, token in enumerate(definition.tokens) if label}
        self._places = {cell: (row, column) for column, row, cell in cell_places(definition.rows, 0)}
        self._space: Space | None = None

    def only_moves(self, text: str) -> bool:
        """A word is no piece."""
        return any(
            any(sign.isalpha() for sign in word) and not {word, *word} & {*self._tokens}
            for word in text.replace(",", " ").split()
        )

    def moved(self, board: Board, word: str, *, undone: bool) -> list[Board]:
        boards = [board]
        for part in self._parts(word)[:: -1 if undone else 1]:
            boards = list({after for each in boards for after in self._one(each, part, back=undone)})
            if len(boards) > 1:
                break  # the word stands for several moves
        return boards

    def _parts(self, word: str) -> list[str]:
        """The moves that are written as one word, ``ULDR`` and ``U2``; where pieces are called so, it is one move."""
        found = list(_LETTERS.finditer(word))
        if "".join(match[0] for match in found) != word or word in self._tokens:
            return [word]
        if any(match[1] in self._tokens for match in found):
            return [word]
        counts = [int(match[2] or 1) for match in found]
        check_count(sum(counts))
        return [match[1] for match, count in zip(found, counts, strict=True) for _ in range(count)]

    def _one(self, board: Board, word: str, *, back: bool) -> list[Board]:
        """The boards that the moves of this name lead to; ``back``: that they lead from."""
        if self._space is None:
            self._space = compile_space(self._puzzle, Origin("from", self._definition.format_board(board)))
        row = np.array([board], dtype=np.uint8)
        found = self._space.neighbours(row, toward=back)
        moves = sorted((cast("Name", name), tuple(after[0].tolist())) for name, _, after in found)
        # Of each move the piece that is farthest from the blank.
        pieces = {name: (after if back else board)[name[0]] for name, after in moves}
        chosen = self._chosen(word, pieces)
        return [after for name, after in moves if name in chosen]

    def _chosen(self, word: str, pieces: dict[Name, int]) -> set[Name]:
        """Those of the possible moves that the word means. ``pieces``: for each of them the label of its piece."""
        cells = _CELLS.fullmatch(word)
        if cells is not None:
            name = int(cells[1]), int(cells[2])
            found = {name} & set(pieces)
            what = f"on this board no piece can go from cell {name[0]} to cell {name[1]}"
        elif word in self._tokens:
            found = {name for name, label in pieces.items() if label == self._tokens[word]}
            what = f"on this board the piece {word} cannot move"
        else:
            way = next((way for way in WAYS if word.lower() in (way, way[0])), None)
            if way is None or not self._places:
                raise BoardError(self._unknown(word))
            found = {name for name in pieces if self._way(name) == WAYS[way]}
            what = f"on this board no piece can move {way}"
        if found:
            return found
        tokens = self._definition.tokens
        listed = [f"{a}-{b} (piece {tokens[label]})" for (a, b), label in pieces.items()]
        raise BoardError(
            f"{what}, {f'expected one of {_list(listed)}' if listed else 'nor can any other piece'}"
        )

    def _way(self, move: Name) -> tuple[int, int]:
        (row, column), (to_row, to_column) = (self._places[cell] for cell in move)
        return to_row - row, to_column - column

    def _unknown(self, word: str) -> str:
        ways = "U, D, L or R for the way that a piece goes, " if self._places else ""
        tokens = list(self._tokens)
        guess = near_match(word, [*tokens, *WAYS] if self._places else tokens)
        expected = f"expected a piece ({_list(tokens, ' ')}), {ways}or two cells such as 0-1"
        return f"{expected}; {guess}" if guess else expected


def _list(words: list[str], joint: str = ", ") -> str:
    return joint.join(words[:_LISTED]) + (" ..." if len(words) > _LISTED else "")
