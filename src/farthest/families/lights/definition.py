"""The family ``lights``: lamps of two or more colours; a press changes a lamp and its neighbours to the next colour.

Lamps are numbered from 0 in reading order, walls skipped. A board is the colour of each lamp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farthest.errors import BoardError, PuzzleError
from farthest.json_fields import integers
from farthest.puzzles.definition import WILDCARD, Board, PuzzleDefinition, board_place
from farthest.puzzles.goal_keys import check_digits
from farthest.puzzles.grid import WALL
from farthest.wording import counted, shown

if TYPE_CHECKING:
    from farthest.puzzles.puzzle import Puzzle

MAX_LAMPS = 64
COLOURS = "0123456789abcdefghijklmnopqrstuvwxyz"
_OFF = "._"

Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Lights(PuzzleDefinition):
    """Lamps, what each press changes, and boards.

    ``rows``: a grid's lamp number at each place in reading order, -1 a wall; empty for a graph.
    ``presses``: for each lamp the lamps that its press changes, ascending.
    ``goals``: boards, perhaps with ``WILDCARD``.
    Raises PuzzleError when these do not fit together.
    """

    rows: Rows
    presses: tuple[tuple[int, ...], ...]
    colours: int
    goals: tuple[Board, ...]
    start: Board | None = None

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise PuzzleError(f"lights puzzle: {problem}")

    @property
    def cells(self) -> int:
        """See PuzzleDefinition: one a lamp."""
        return len(self.presses)

    @property
    def origin_boards(self) -> tuple[tuple[Board, ...], Board | None]:
        """See PuzzleDefinition."""
        return self.goals, self.start

    @property
    def radices(self) -> tuple[int, ...]:
        """For each cell, the number of values that it can have."""
        return (self.colours,) * self.cells

    def arrangements(self) -> int:
        """See PuzzleDefinition."""
        return int(self.colours**self.cells)

    def size(self) -> str:
        """See PuzzleDefinition."""
        if not self.rows:
            return f"{self.cells} (graph)"
        size = f"{len(self.rows)}×{len(self.rows[0])}"
        walls = len(self.rows) * len(self.rows[0]) - self.cells
        return f"{size}, {walls} of them walls" if walls else size

    def facts(self) -> list[tuple[str, str]]:
        """See PuzzleDefinition."""
        changed = "; ".join(f"{lamp}: {' '.join(map(str, press))}" for lamp, press in enumerate(self.presses))
        return [
            ("colours", f"{self.colours}, written {' '.join(COLOURS[: self.colours])}"),
            ("presses", changed),
        ]

    def parse_board(self, text: str, *, name: str = "") -> Board:
        """See PuzzleDefinition: the colours row by row; marks between them, and walls, may be left out."""
        return parse_colours(
            text, self.rows, self.cells, self.colours, board_place(text, self, name), wildcards=False
        )

    def format_board(self, board: Sequence[int]) -> str:
        """See PuzzleDefinition."""
        return "/".join(self._lines(board))

    def check_board(self, board: Sequence[int], *, name: str = "") -> Board:
        """See PuzzleDefinition."""
        place = f"board{f' for {name}' if name else ''}"
        if not hasattr(board, "__len__") or len(board) != self.cells:
            raise BoardError(f"{place}: expected the colours of {counted(self.cells, 'lamp')}")
        for lamp, colour in enumerate(board):
            if not hasattr(colour, "__index__") or not 0 <= colour < self.colours:
                raise BoardError(
                    f"{place}: lamp {lamp} has the colour {colour!r}, expected one from 0 to {self.colours - 1}"
                )
        return tuple(int(colour) for colour in board)

    def draw_board(self, board: Sequence[int]) -> list[str]:
        """See PuzzleDefinition."""
        return [" ".join(row).replace("0", "·") for row in self._lines(board)]

    def palette(self) -> Mapping[str, int]:
        """See PuzzleDefinition: each colour but that of a dark lamp; the first that of lamplight."""
        return {COLOURS[colour]: 2 + colour for colour in range(1, self.colours)}

    def _lines(self, board: Sequence[int]) -> list[str]:
        signs = ["*" if colour == WILDCARD else COLOURS[colour] for colour in board]
        rows = self.rows or (tuple(range(self.cells)),)
        return ["".join("#" if lamp == WALL else signs[lamp] for lamp in row) for row in rows]


def lights(puzzle: Puzzle) -> Lights:
    """The definition of a puzzle of this family."""
    assert isinstance(puzzle.definition, Lights), f"puzzle {puzzle.name} is of the family {puzzle.family}"
    return puzzle.definition


def from_fields(fields: dict[str, Any]) -> Lights:
    """The definition that had these ``fields``."""
    return Lights(
        rows=tuple(integers(row) for row in fields["rows"]),
        presses=tuple(integers(press) for press in fields["presses"]),
        colours=integers([fields["colours"]])[0],
        goals=tuple(integers(goal) for goal in fields["goals"]),
        start=None if fields["start"] is None else integers(fields["start"]),
    )


def parse_colours(text: str, rows: Rows, lamps: int, colours: int, place: str, *, wildcards: bool) -> Board:
    """The colour of each lamp of a board given as text. Raises BoardError, the message beginning with ``place``."""
    example = "/".join("".join("#" if lamp == WALL else "0" for lamp in row) for row in rows) or "0" * lamps
    mend = f"write the colours, such as {example!r}"
    for mark in "|;\n":
        text = text.replace(mark, "/")
    found = ["".join(row.replace(",", " ").split()) for row in text.split("/")]
    found = [row for row in found if row]
    walled = "#" in text
    expected = [[lamp for lamp in row if walled or lamp != WALL] for row in rows] or [list(range(lamps))]
    expected = [row for row in expected if row]
    if len(found) == 1:
        expected = [[lamp for row in expected for lamp in row]]
    if len(found) != len(expected):
        raise BoardError(f"{place}: {counted(len(found), 'row')}, expected {len(expected)}; {mend}")
    board = [0] * lamps
    for i, (row, wanted) in enumerate(zip(found, expected, strict=True), 1):
        if len(row) != len(wanted):
            raise BoardError(
                f"{place}: row {i} has {counted(len(row), 'lamp')}, expected {len(wanted)}; {mend}"
            )
        for j, (sign, lamp) in enumerate(zip(row, wanted, strict=True), 1):
            if (sign == "#") != (lamp == WALL):
                what = ("wall", "lamp") if sign == "#" else ("lamp", "wall")
                raise BoardError(f"{place}: row {i}, column {j} is a {what[0]}, expected a {what[1]}; {mend}")
            if lamp != WALL:
                board[lamp] = _colour(
                    sign, colours, f"{place}: row {i}, column {j}", mend, wildcards=wildcards
                )
    return tuple(board)


def _colour(sign: str, colours: int, place: str, mend: str, *, wildcards: bool) -> int:
    if sign == "*" and wildcards:
        return WILDCARD
    colour = 0 if sign in _OFF else COLOURS.find(sign.lower())
    if not 0 <= colour < colours:
        raise BoardError(
            f"{place} holds {shown(sign)}, expected one of {' '.join(COLOURS[:colours])}; {mend}"
        )
    return colour


def _problem(definition: Lights) -> str | None:
    if not 1 <= definition.cells <= MAX_LAMPS:
        return f"{definition.cells} lamps; expected 1 to {MAX_LAMPS}"
    if not 2 <= definition.colours <= len(COLOURS):
        return f"{definition.colours} colours; expected 2 to {len(COLOURS)}"
    if definition.rows:
        if len({len(row) for row in definition.rows}) != 1:
            return "the rows of the grid differ in length"
        if [lamp for row in definition.rows for lamp in row if lamp != WALL] != list(range(definition.cells)):
            return f"the lamps of the grid are not numbered 0 to {definition.cells - 1} in reading order"
    for lamp, press in enumerate(definition.presses):
        if list(press) != sorted(set(press)) or any(not 0 <= other < definition.cells for other in press):
            return f"the press of lamp {lamp} changes {list(press)}; expected lamps, ascending, each once"
    if not any(definition.presses):
        return "no press changes anything"
    if not definition.goals or len(set(definition.goals)) != len(definition.goals):
        return "expected at least one goal, and none twice"
    boards = [(f"goal {i}", goal) for i, goal in enumerate(definition.goals, 1)]
    for name, board in boards + ([("start", definition.start)] if definition.start is not None else []):
        problem = check_digits(board, definition.radices, name, wildcards=name != "start")
        if problem:
            return problem
    return None
