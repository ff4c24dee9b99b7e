"""Some moves of a permutation puzzle as they are written in a name: ``<U,R>``, ``<U,F2>``, ``<M=L'R,E=D'U>``.

MOVES  MOVE,MOVE...
MOVE   a move of the puzzle, or a power of one: U F2
       NAME=SEQUENCE, moves one after the other as one move
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

from farthest.errors import BoardError
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.fields import name_problem
from farthest.families.permutation.moves import MAX_MOVES, Move, identity, inverse, listed, powers
from farthest.families.permutation.written_moves import OF_WHOLE_CUBES, WrittenMoves
from farthest.puzzles.move_text import read_moves
from farthest.wording import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from farthest.errors import PuzzleError
    from farthest.families.permutation.definition import Permutation
    from farthest.puzzles.puzzle import Puzzle

FORM = "PUZZLE<MOVES> such as 'cube-3x3x3<U,R>' or \"cube-3x3x3<M=L'R,E=D'U>\""

MOST_WRITTEN = 64
"""Moves between ``<`` and ``>``: each may have a thousand powers."""

_MARKS = "@<>=/"
"""What the name of a move cannot hold there."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """All moves of the puzzle's metric, on its slots; ``text``: how they are written, the same for the same moves of
    the puzzle in whatever order."""

    moves: list[Move]
    text: str


@dataclass(frozen=True, slots=True)
class _Generator:
    move: Move
    text: str
    place: tuple[int, int]
    """By which generators are sorted, before their text: the number of the puzzle's move that it is a power of, and
    which power."""


def read_chosen(puzzle: Puzzle, text: str, fail: Callable[[str], PuzzleError]) -> Chosen:
    """The moves that the text between ``<`` and ``>`` means. Raises what ``fail`` makes of a problem."""
    return _Reader(puzzle, fail).read(text)


class _Reader:
    def __init__(self, puzzle: Puzzle, fail: Callable[[str], PuzzleError]) -> None:
        self.definition: Permutation = permutation(puzzle)
        self.metric = puzzle.metric
        self.moduli = self.definition.slot_moduli
        self.maker = WrittenMoves(puzzle)
        self.fail = fail
        self.known: dict[frozenset[object], Move] = {}
        for move in self.definition.generators:
            self.known.setdefault(self.alike(move), move)

    def read(self, text: str) -> Chosen:
        found: dict[frozenset[object], _Generator] = {}
        parts = text.split(",")
        if len(parts) > MOST_WRITTEN:
            raise self.fail(f"{len(parts)} moves, expected at most {MOST_WRITTEN}; take fewer")
        for part in sorted(parts, key=lambda part: ("=" in part, part.strip())):
            generator = self.generator(part.strip())
            found.setdefault(self.alike(generator.move), generator)
        generators = sorted(found.values(), key=lambda each: (each.place, each.text))
        names = [each.move.name for each in generators]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise self.fail(f"two moves are called {twice}; choose another name")
        if self.metric == "power":
            given = [{power.effect for power in powers(each.move, self.moduli) or ()} for each in generators]
            generators = [
                each
                for each, own in zip(generators, given, strict=True)
                if not any(each.move.effect in other for other in given if other is not own)
            ]
        moves = listed(
            [each.move for each in generators],
            self.moduli,
            self.metric,
            inverses=self.definition.symmetric,
        )
        if moves is None:
            raise self.fail(f"more than {MAX_MOVES} moves with all powers; take fewer")
        return Chosen(moves, ",".join(each.text for each in generators))

    def generator(self, part: str) -> _Generator:
        name, equals, sequence = part.rpartition("=")
        name, sequence = name.strip(), sequence.strip()
        if not sequence:
            raise self.fail(
                f"a move is missing: there is nothing beside a comma or another sign; expected {FORM}"
            )
        if equals and (problem := self.name_problem(name)):
            raise self.fail(f"the name of a move {shown(name)} {problem}; choose a short word")
        try:
            steps = read_moves(sequence, spaced=False)
            whole = self.maker.product(steps)
        except BoardError as error:
            problem = self.problem(sequence) or str(error).removesuffix(OF_WHOLE_CUBES)
            raise self.fail(f"{shown(part)}: {problem}") from None
        if whole.effect == identity(len(self.moduli)).effect:
            raise self.fail(f"{shown(part)} changes nothing; leave it out")
        words = [f"{step.word}'" if step.undone else step.word for step in steps]
        alike = self.known.get(self.alike(whole))
        if not equals and alike is not None:
            return self.named(alike, alike.name)
        if not equals and len(words) > 1:
            raise self.fail(f"{shown(part)} is several moves one after the other; name it: A={sequence}")
        written = ("" if self.maker.letters else " ").join(words)
        return self.named(Move(name or written, *whole.effect), f"{name}={written}" if equals else written)

    def problem(self, sequence: str) -> str:
        """Why a sequence is refused that boards given as moves may have."""
        try:
            self.maker.product(self.maker.held(read_moves(sequence, spaced=False)))
        except BoardError:
            return ""
        return (
            "it turns the whole puzzle, after which the letters mean other faces; write the moves of faces, such as "
            "M=L'R"
        )

    def named(self, move: Move, text: str) -> _Generator:
        problem = self.name_problem(move.name)
        if problem:
            raise self.fail(
                f"the name of a move {shown(move.name)} {problem}; write another before it: A={text}"
            )
        return _Generator(move, text, self.place(move))

    def name_problem(self, name: str) -> str | None:
        held = [mark for mark in _MARKS if mark in name]
        return f"holds {held[0]}" if held else name_problem(name)

    def place(self, move: Move) -> tuple[int, int]:
        for number, of in enumerate(self.definition.generators):
            for count, power in enumerate(powers(of, self.moduli) or (), 1):
                if power.effect == move.effect:
                    return number, count
        return len(self.definition.generators), 0

    def alike(self, move: Move) -> frozenset[object]:
        """The moves in whose stead this one may stand: its powers that give it again, or its inverse."""
        own = {move.effect}
        if self.metric == "power":
            every = powers(move, self.moduli) or []
            own |= {each.effect for count, each in enumerate(every, 1) if gcd(count, len(every) + 1) == 1}
        elif self.definition.symmetric:
            own.add(inverse(move, self.moduli).effect)
        return frozenset(own)
