"""The family ``jugs``: jugs of water that are filled, emptied and poured one into another, to measure an amount. Its
definition, its table in a puzzle's file, boards as text and as pictures.

A board is two bytes for each jug, the higher one first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from farthest.puzzles.definition import WILDCARD, Board, DigitPuzzle, MoveName
from farthest.puzzles.picture import Area, Hold, Picture, Shape
from farthest.puzzles.tables import BoardsTable, Given
from farthest.wording import counted, near_match, shown

MOVES = ("fill", "empty", "pour")
MAX_JUGS = 16
MAX_CAPACITY = 65_534


@dataclass(frozen=True, slots=True)
class Jugs(DigitPuzzle):
    """Capacities, the moves that are allowed (some of MOVES, in that order), goals and start.

    ``goals``: boards, perhaps with a jug of any amount (``WILDCARD`` twice); none at all is possible.
    """

    capacities: tuple[int, ...]
    moves: tuple[str, ...]
    goals: tuple[Board, ...]
    start: Board | None

    called = "jugs"
    digit_bytes = 2
    meaning = "two for the amount in each jug"
    wrong = "jug {number} holds {digit}, expected 0 to {most}"

    def problem(self) -> str | None:
        if not 1 <= len(self.capacities) <= MAX_JUGS:
            return f"expected 1 to {MAX_JUGS} jugs"
        if not all(1 <= capacity <= MAX_CAPACITY for capacity in self.capacities):
            return f"expected capacities from 1 to {MAX_CAPACITY}"
        if not self.moves or tuple(move for move in MOVES if move in self.moves) != self.moves:
            return f"the moves are not some of {', '.join(MOVES)} in that order"
        return self.boards_problem()

    @property
    def radices(self) -> tuple[int, ...]:
        return tuple(capacity + 1 for capacity in self.capacities)

    def size(self) -> str:
        return f"{counted(len(self.capacities), 'jug')}: {' '.join(map(str, self.capacities))}"

    def facts(self) -> list[tuple[str, str]]:
        return [("capacities", " ".join(map(str, self.capacities))), ("moves", ", ".join(self.moves))]

    def parsed(self, text: str, place: str, *, wildcards: bool) -> Board:
        """The amounts, separated by spaces, commas or /."""
        mend = f"write the amounts, such as {' '.join('0' for _ in self.capacities)!r}"
        tokens = text.replace(",", " ").replace("/", " ").split()
        return self.read_digits(tokens, ("amount", "jug"), place, mend, wildcards=wildcards)

    def format_board(self, board: Sequence[int]) -> str:
        return " ".join("*" if amount == WILDCARD else str(amount) for amount in self.digits(board))

    def draw_board(self, board: Sequence[int]) -> list[str]:
        """A bar for each jug."""
        width = max(len(str(capacity)) for capacity in self.capacities)
        scale = max(1, -(-max(self.capacities) // 40))
        lines = []
        for amount, capacity in zip(self.digits(board), self.capacities, strict=True):
            full = 0 if amount == WILDCARD else -(-amount // scale)
            bar = "█" * full + "·" * (-(-capacity // scale) - full)
            lines.append(f"{'*' if amount == WILDCARD else amount:>{width}}/{capacity:<{width}} {bar}")
        return lines

    def palette(self) -> Mapping[str, int]:
        """Water is blue."""
        return {"█": 1}


class JugsTable(BoardsTable):
    """The ``[jugs]`` table of a definition: docs/puzzles.md says what its keys mean."""

    header = "jugs"
    capacities = Given()
    measure = Given()
    moves = Given()

    def read(self) -> Jugs:
        capacities = self._capacities()
        plain = Jugs(capacities, self._moves(), (), (0,) * (2 * len(capacities)))
        if "measure" in self:
            self.only_one("measure", ["goal", "goals"], "write all as goals")
            value, most = self.measure, max(capacities)
            if type(value) is not int or not 0 <= value <= most:
                raise self.fail(
                    "measure", f"expected a whole number from 0 to {most}, got {shown(value)}; write another"
                )
            jugs = [jug for jug, capacity in enumerate(capacities) if capacity >= value]
            goals = ([value if at == jug else WILDCARD for at in range(len(capacities))] for jug in jugs)
            plain = replace(plain, goals=tuple(map(plain.board_of, goals)))
        return self.with_boards(plain)

    def _capacities(self) -> tuple[int, ...]:
        mend = "write capacities = [3, 5]"
        if "capacities" not in self:
            raise self.fail("", f"no capacities; {mend}")
        value = self.capacities
        if not isinstance(value, list) or not 1 <= len(value) <= MAX_JUGS:
            raise self.fail(
                "capacities", f"expected an array of 1 to {MAX_JUGS} numbers, got {shown(value)}; {mend}"
            )
        for jug, capacity in enumerate(value, 1):
            if type(capacity) is not int or not 1 <= capacity <= MAX_CAPACITY:
                raise self.fail(
                    "capacities",
                    f"jug {jug}: expected a whole number from 1 to {MAX_CAPACITY}, got {shown(capacity)}; {mend}",
                )
        return tuple(value)

    def _moves(self) -> tuple[str, ...]:
        value = self.fields.get("moves", list(MOVES))
        mend = f'some of {", ".join(MOVES)}; write moves = ["pour"]'
        if not isinstance(value, list) or not value:
            raise self.fail("moves", f"expected an array of texts, got {shown(value)}; {mend}")
        for move in value:
            if move not in MOVES:
                near = (isinstance(move, str) and near_match(move, MOVES)) or mend
                raise self.fail(
                    "moves", f"move {shown(move)} is not known, expected some of {', '.join(MOVES)}; {near}"
                )
        if len(set(value)) != len(value):
            raise self.fail("moves", "a move appears twice, expected each once; leave one out")
        return tuple(move for move in MOVES if move in value)


_JUG = 4.0  # height of the largest
_APART = 1.5  # from jug to jug


def picture(definition: Jugs, board: Sequence[int]) -> Picture:
    """Jugs as high as they hold, filled as far as they are."""
    unit = _JUG / max(definition.capacities)
    shapes = []
    for number, (amount, capacity) in enumerate(
        zip(definition.digits(board), definition.capacities, strict=True)
    ):
        x, top = number * _APART, _JUG - capacity * unit
        shapes.append(Shape(x, top, 1, capacity * unit, -1))
        if amount > 0:
            shapes.append(Shape(x, _JUG - amount * unit, 1, amount * unit, 1))
        text = f"{'*' if amount == WILDCARD else amount}/{capacity}"
        shapes.append(Shape(x, _JUG, 1, 0.6, None, text, bare=True))
    return Picture(_APART * (len(definition.capacities) - 1) + 1, _JUG + 0.6, tuple(shapes))


def hold(definition: Jugs, board: Sequence[int], move: MoveName, after: Sequence[int]) -> Hold:
    """A jug that is poured into another one; words below it that fill or empty it."""
    kind, _, jugs = str(move).partition(" ")
    numbers = [int(jug) - 1 for jug in jugs.split("→")]
    if kind == "pour":
        source, target = (Area(number * _APART, 0.0, 1.0, _JUG) for number in numbers)
        return Hold(source, target, chosen=True)
    return Hold(Area(numbers[0] * _APART - 0.1, _JUG + (0.7 if kind == "fill" else 1.3), 1.2, 0.5), sign=kind)
