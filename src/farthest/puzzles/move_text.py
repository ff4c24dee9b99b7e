"""Moves as people write them in a row: ``R U' (F2 R)3``, ``6 down, 1 right 2``, ``(0-1 1-4)'``.

A group in parentheses is repeated by a number after it, and undone by ``'``: ``(R U)'`` is ``U' R'``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from farthest.errors import BoardError
from farthest.puzzles.definition import Board, MoveName, NamedPath
from farthest.wording import shown

MOST_MOVES = 10_000
"""Moves that a text may stand for."""
MOST_GROUPS = 20
"""Groups within each other."""

_PRIME = "['’′‘`]"
POWER = re.compile(
    rf"\^-(?P<inverse>\d{{1,9}})|(?P<first>{_PRIME})(?P<then>\d{{1,9}})"
    rf"|\^?(?P<times>\d{{1,9}})(?P<last>{_PRIME}?)|(?P<alone>{_PRIME}?)"
)
"""What may follow a group, or the name of a move of a twisty puzzle: ``2``, ``'``, ``2'``, ``'2``, ``^2``, ``^-1``."""

_SEPARATORS = ",;\r\n"
_ARROW = re.compile(r"\s*(?:->|→)\s*")


@dataclass(frozen=True, slots=True)
class Step:
    """A move as it is written, or a move undone; ``number``: its place among the moves of the text, from 1."""

    word: str
    undone: bool
    number: int


def read_moves(text: str, *, spaced: bool) -> list[Step]:
    """The moves of a text in order, groups written out. ``spaced``: names of moves hold spaces.

    Raises BoardError for parentheses that do not fit, or too many moves.
    """
    return _Reader(_ARROW.sub("→", text), spaced).read()


class _Reader:
    def __init__(self, text: str, spaced: bool) -> None:
        self.text = text
        self.at = 0
        self.numbers = 0
        self.marks = _SEPARATORS if spaced else _SEPARATORS + " \t"
        self.spaced = spaced

    def read(self) -> list[Step]:
        steps = self.sequence(0)
        if self.at < len(self.text):
            raise BoardError(f"character {self.at + 1}: ')' without '(' before it; leave it out")
        return steps

    def sequence(self, depth: int) -> list[Step]:
        """Up to the end of the text, or a closing parenthesis."""
        steps: list[Step] = []
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign == ")":
                break
            if sign in self.marks or sign.isspace():
                self.at += 1
            elif sign == "(":
                steps += self.group(depth)
            else:
                self.numbers += 1
                steps.append(Step(self.word(), undone=False, number=self.numbers))
            check_count(len(steps))
        return steps

    def group(self, depth: int) -> list[Step]:
        opened = self.at + 1
        if depth == MOST_GROUPS:
            raise BoardError(
                f"character {opened}: more than {MOST_GROUPS} groups within each other; write fewer"
            )
        self.at += 1
        steps = self.sequence(depth + 1)
        if self.at == len(self.text):
            raise BoardError(f"character {opened}: '(' without ')' after it; close the group")
        self.at += 1
        count, undone = self.power()
        check_count(len(steps) * count)
        if undone:
            steps = [Step(step.word, not step.undone, step.number) for step in reversed(steps)]
        return steps * count

    def power(self) -> tuple[int, bool]:
        """What follows a group: how often, and whether undone."""
        found = POWER.match(self.text, self.at)
        assert found is not None, "the empty text matches"
        self.at = found.end()
        count, undone = power_of(found)
        if self.at < len(self.text) and self.text[self.at] not in self.marks + " \t()":
            raise BoardError(
                f"character {self.at + 1}: {shown(self.text[self.at])} after a group, expected a number or '; "
                "put a space between"
            )
        return count, undone

    def word(self) -> str:
        """A move. In names with spaces, parentheses that follow a sign at once belong to the name."""
        start = self.at
        inner = 0
        while self.at < len(self.text):
            sign = self.text[self.at]
            if self.spaced and sign == "(" and self.at > start and not self.text[self.at - 1].isspace():
                inner += 1
            elif inner:
                inner -= sign == ")"
            elif sign in "()" or (sign in self.marks and not self._in_a_place()):
                break
            self.at += 1
        return " ".join(self.text[start : self.at].split())

    def _in_a_place(self) -> bool:
        """Whether the comma is that of a row and a column, ``7 at 5,1 up``."""
        if not self.spaced or self.text[self.at] != ",":
            return False
        before = re.search(r"at\s+\d+\Z", self.text[max(0, self.at - 16) : self.at])
        return before is not None and self.text[self.at + 1 : self.at + 2].isdigit()


def power_of(found: re.Match[str]) -> tuple[int, bool]:
    """How often, and whether undone, of a match of ``POWER``."""
    times = found["inverse"] or found["then"] or found["times"]
    undone = found["inverse"] or found["first"] or found["last"] or found["alone"]
    return int(times) if times else 1, bool(undone)


def check_count(moves: int) -> None:
    """Raises BoardError where a text stands for more than ``MOST_MOVES``."""
    if moves > MOST_MOVES:
        raise BoardError(f"more than {MOST_MOVES:,} moves, expected at most so many; write fewer")


class MoveMaker(ABC):
    """Makes moves of one puzzle, one at a time.

    A move is written as `farthest path` prints it; a family may read other forms too.
    """

    @property
    def spaced(self) -> bool:
        """Whether names of moves hold spaces: then moves are separated by commas, else also by spaces."""
        return False

    def held(self, steps: Sequence[Step]) -> Sequence[Step]:
        """The steps of a text without those that turn the puzzle as a whole, where the family knows such."""
        return steps

    def only_moves(self, text: str) -> bool:
        """Whether a text of such moves cannot be a board with a mistake in it, whatever people type."""
        return True

    @abstractmethod
    def moved(self, board: Board, word: str, *, undone: bool) -> list[Board]:
        """The boards that the move may lead to; several where the word stands for several moves. ``undone``: those from
        which it leads to ``board``, perhaps among others from which it does not (``names_swap``). Raises BoardError
        where there is none; its message says what was expected."""

    def naming(self, board: Board) -> tuple[MoveMaker, Board]:
        """A maker for moves in a row from ``board``, and that board as it writes it: each piece keeps the name that it
        has here."""
        return self, board

    def renamed(self, board: Board) -> Board:
        """A board of ``naming`` as a board of the puzzle."""
        return board


def move_text(move: MoveName) -> str:
    """A move as it is shown: its name, or two cells as from-to."""
    return move if isinstance(move, str) else f"{move[0]}-{move[1]}"


def moves_text(moves: Sequence[MoveName]) -> str:
    """Moves as they are shown, in a row."""
    texts = list(map(move_text, moves))
    return (", " if any(" " in text for text in texts) else " ").join(texts)


def board_titles(path: NamedPath) -> list[str]:
    """For each board of a path the move that leads to it; for the first ``start``."""
    return ["start", *map(move_text, path.moves)]
