"""Moves by the names that a puzzle's space gives them: what families without a reader of their own use."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy

from farthest.errors import BoardError
from farthest.puzzles.move_text import MoveMaker
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces import compile_space
from farthest.wording import near_match, shown

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board
    from farthest.spaces.contract import Space

LISTED = 24
"""Possible moves that a message lists at most."""

_BETWEEN = re.compile(r"(?<=\w)\s*[-→>]+\s*(?=\w)")
_PLACE = re.compile(r" at \d+,\d+(?= )")
_TIMES = re.compile(r"\s*[x*×]\s*(?=\d+\Z)")


class NamedMoves(MoveMaker):
    """Compares a word with the names of the moves that can be made."""

    def __init__(self, puzzle: Puzzle, board: Board) -> None:
        """``board``: any that moves are made on."""
        self._puzzle = puzzle
        self._board = board

    @cached_property
    def _space(self) -> Space:
        origin = Origin("from", self._puzzle.definition.format_board(self._board))
        return compile_space(self._puzzle, origin)

    @cached_property
    def spaced(self) -> bool:
        names = [name for back in self._ways for name, _ in self._moves(self._board, back=back)]
        return any(" " in name for name in names)

    @property
    def _ways(self) -> tuple[bool, ...]:
        return (False, True) if self._space.moves_both_ways else (False,)

    def made(self, board: Board, word: str) -> list[Board]:
        moves = self._moves(board, back=False)
        return _chosen(moves, word) or self._refuse(word, moves, "it cannot be made on this board")

    def undone(self, board: Board, word: str) -> list[Board]:
        if not self._space.moves_both_ways:
            raise BoardError("it cannot be undone: the puzzle does not tell the states before a state")
        moves = self._moves(board, back=True)
        if self._puzzle.definition.names_swap:
            unnamed = self._puzzle.definition.unnamed
            found = [before for name, before in moves if unnamed(name) == unnamed(word)]
        else:
            found = _chosen(moves, word)
        return found or self._refuse(word, moves, "it does not lead to this board")

    def naming(self, board: Board) -> tuple[MoveMaker, Board]:
        """A maker of the puzzle whose pieces are told apart by their names."""
        if not self._puzzle.definition.names_swap:
            return self, board
        path = self._puzzle.definition.named_path(numpy.array([board], dtype=numpy.uint8), [])
        told = replace(self._puzzle, definition=path.definition, origin=Origin("from", "start"), known=())
        (named,) = path.boards.tolist()
        return _ToldApart(told, tuple(named), self._puzzle), tuple(named)

    def _moves(self, board: Board, *, back: bool) -> list[tuple[str, Board]]:
        row = numpy.array([board], dtype=numpy.uint8)
        found = self._space.neighbours(row, toward=back)
        return [(str(name), tuple(each)) for name, _, after in found for each in after.tolist()]

    def _refuse(self, word: str, moves: list[tuple[str, Board]], problem: str) -> list[Board]:
        names = list(dict.fromkeys(name for name, _ in moves))
        if not names:
            raise BoardError(f"{problem}, and no other move does")
        listed = ", ".join(map(shown_name, names[:LISTED]))
        mend = ""
        if self.spaced and any(word.startswith((f"{name} ", f"{_placeless(name)} ")) for name in names):
            mend = "; write a comma between two moves"
        elif len(names) > LISTED:
            guess = near_match(word, names)
            mend = f" and {len(names) - LISTED} more{'; ' if guess else ''}{guess}"
        raise BoardError(f"{problem}, expected one of {listed}{mend}")


class _ToldApart(NamedMoves):
    def __init__(self, puzzle: Puzzle, board: Board, plain: Puzzle) -> None:
        super().__init__(puzzle, board)
        self._plain = plain

    def renamed(self, board: Board) -> Board:
        return self._plain.definition.parse_board(self._puzzle.definition.format_board(board))


def shown_name(name: str) -> str:
    """The name of a move in a message."""
    return name if name.isprintable() and len(name) <= 40 else shown(name)


def _chosen(moves: list[tuple[str, Board]], word: str) -> list[Board]:
    """The boards of the moves with this name; else of those whose name is the same but for its signs; else but for the
    place of the piece."""
    return (
        [board for name, board in moves if name == word]
        or [board for name, board in moves if _plain(name) == _plain(word)]
        or [board for name, board in moves if _placeless(name) == _plain(word)]
    )


def _plain(name: str) -> str:
    """A name with one sign for each: ``0->1`` and ``0-1`` as ``0→1``, ``press 3 x2`` as ``press 3 ×2``."""
    return _TIMES.sub(" ×", _BETWEEN.sub("→", " ".join(name.split())))


def _placeless(name: str) -> str:
    """``7 at 5,1 right`` as ``7 right``."""
    return _PLACE.sub("", _plain(name))
