"""Moves of sliding puzzles as people write them.

``3-4``: the piece in cell 3 goes to cell 4, as `farthest path` prints it. ``7``: the piece 7 moves. ``U D L R``,
``up``, ``U2``, ``ULDR``: a piece moves up, down, left or right into the blank: the way of the piece, never that of the
blank.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from farthest.errors import BoardError
from farthest.families.sliding.definition import sliding
from farthest.families.sliding.space import moves_of
from farthest.puzzles.grid import WALL
from farthest.puzzles.move_text import MoveMaker, check_count
from farthest.wording import near_match

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle
    from farthest.spaces.arrangement import Move

WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
"""What is added to the row and the column of the piece."""

_CELLS = re.compile(r"(\d{1,3})[-→](\d{1,3})")
_LETTERS = re.compile(r"([UDLRudlr])(\d{0,3})")
_LISTED = 24
"""Pieces or moves that a message lists at most."""


class WrittenMoves(MoveMaker):
    def __init__(self, puzzle: Puzzle) -> None:
        self._definition = sliding(puzzle)
        moves = list(moves_of(self._definition, puzzle.metric))
        self._into: list[list[Move]] = [[] for _ in range(self._definition.cells)]
        self._out_of: list[list[tuple[Move, Move]]] = [[] for _ in range(self._definition.cells)]
        for move in moves:
            self._into[move.name[1]].append(move)
            self._out_of[move.name[0]].append((move, move.inverse()))
        self._tokens = {token: label for label, token in enumerate(self._definition.tokens) if label}
        self._places = {
            cell: (r, c)
            for r, row in enumerate(self._definition.rows)
            for c, cell in enumerate(row)
            if cell != WALL
        }

    def made(self, board: Board, word: str) -> list[Board]:
        return self._after(board, self._parts(word), self._made)

    def undone(self, board: Board, word: str) -> list[Board]:
        return self._after(board, self._parts(word)[::-1], self._undone)

    def _after(
        self, board: Board, parts: list[str], one: Callable[[Board, str], dict[tuple[int, int], Board]]
    ) -> list[Board]:
        boards = [board]
        for part in parts:
            boards = list({after for each in boards for after in one(each, part).values()})
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

    def _made(self, board: Board, word: str) -> dict[tuple[int, int], Board]:
        moves = [move for cell, label in enumerate(board) if not label for move in self._into[cell]]
        possible = [move for move in moves if all(board[c] for c in _cells(move.forbid))]
        chosen = self._chosen(word, possible, [board[move.name[0]] for move in possible])
        return {move.name: _moved(move, board) for move in chosen}

    def _undone(self, board: Board, word: str) -> dict[tuple[int, int], Board]:
        pairs = [pair for cell, label in enumerate(board) if not label for pair in self._out_of[cell]]
        pairs = [(move, back) for move, back in pairs if all(board[c] for c in _cells(back.forbid))]
        moves = [move for move, _ in pairs]
        chosen = self._chosen(word, moves, [board[move.to[move.name[0]]] for move in moves])
        backs = {move.name: back for move, back in pairs}
        return {move.name: _moved(backs[move.name], board) for move in chosen}

    def _chosen(self, word: str, moves: list[Move], labels: list[int]) -> list[Move]:
        """Those of the possible moves that the word means. ``labels``: for each move that of the piece that is
        farthest from the blank."""
        cells = _CELLS.fullmatch(word)
        if cells is not None:
            name = int(cells[1]), int(cells[2])
            found = [move for move in moves if move.name == name]
            what = f"on this board no piece can go from cell {name[0]} to cell {name[1]}"
        elif word in self._tokens:
            found = [move for move, label in zip(moves, labels, strict=True) if label == self._tokens[word]]
            what = f"on this board the piece {word} cannot move"
        else:
            way = next((way for way in WAYS if word.lower() in (way, way[0])), None)
            if way is None or not self._places:
                raise BoardError(self._unknown(word))
            found = [move for move in moves if self._way(move) == WAYS[way]]
            what = f"on this board no piece can move {way}"
        return found or self._refuse(what, moves, labels)

    def _way(self, move: Move) -> tuple[int, int]:
        (row, column), (to_row, to_column) = (self._places[cell] for cell in move.name)
        return to_row - row, to_column - column

    def _refuse(self, what: str, moves: list[Move], labels: list[int]) -> list[Move]:
        tokens = self._definition.tokens
        listed = [
            f"{move.name[0]}-{move.name[1]} (piece {tokens[label]})"
            for move, label in zip(moves, labels, strict=True)
        ]
        expected = f"expected one of {_list(listed)}" if listed else "nor can any other piece"
        raise BoardError(f"{what}, {expected}")

    def _unknown(self, word: str) -> str:
        ways = "U, D, L or R for the way that a piece goes, " if self._places else ""
        tokens = list(self._tokens)
        guess = near_match(word, [*tokens, *WAYS] if self._places else tokens)
        expected = f"expected a piece ({_list(tokens, ' ')}), {ways}or two cells such as 0-1"
        return f"{expected}; {guess}" if guess else expected


def _cells(mask: int) -> Iterable[int]:
    return (cell for cell in range(mask.bit_length()) if mask >> cell & 1)


def _moved(move: Move, board: Board) -> Board:
    after = list(board)
    for cell, to in enumerate(move.to):
        after[to] = board[cell]
    return tuple(after)


def _list(words: list[str], joint: str = ", ") -> str:
    return joint.join(words[:_LISTED]) + (" ..." if len(words) > _LISTED else "")
