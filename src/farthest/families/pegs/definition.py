"""The family ``pegs``: peg solitaire. A peg jumps over a neighbouring one into an empty hole; the other is taken away.
Its definition, its table in a puzzle's file, boards as text and as pictures.

Metrics: ``jump``; ``chain``: consecutive jumps of one peg are one move. A board is 0 or 1 a hole, in reading order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from farthest.errors import BoardError
from farthest.puzzles.definition import WILDCARD, Board, DigitPuzzle, MoveName
from farthest.puzzles.grid import number_cells
from farthest.puzzles.picture import (
    Canvas,
    Hold,
    Picture,
    Shape,
    Value,
    cell_hold,
    cell_places,
    cells_picture,
    grid_canvas,
)
from farthest.puzzles.tables import BoardsTable, Flag, Given, GivenBoard, Word
from farthest.wording import counted, shown

MAX_HOLES = 64
"""The kernel keeps a set of holes in one 64-bit mask."""
MAX_JUMPS = 1024
MAX_PLACES = 1024
"""Places of a drawing, holes or not."""

PEGS, EMPTY, ANY = "o1O●", ".0○", "*"
NO_WILDCARD = "* stands for any content, expected in goals only; write o or ."
Jump = tuple[int, int, int]
"""The holes that a jump goes from, over and to."""


@dataclass(frozen=True, slots=True)
class Pegs(DigitPuzzle):
    """Holes and jumps. ``rows``: a drawing, hole numbers and -1 where there is none; empty: the holes in one line.

    ``goals``: boards, perhaps with ``WILDCARD``. Raises PuzzleError when these do not fit together.
    """

    holes: int
    jumps: tuple[Jump, ...]
    rows: tuple[tuple[int, ...], ...]
    goals: tuple[Board, ...]
    start: Board | None

    called = "peg"
    meaning = "1 for a peg, 0 for an empty hole"
    wrong = "hole {cell} holds {digit}, expected 1 for a peg, 0 for none"

    def problem(self) -> str | None:
        if not 3 <= self.holes <= MAX_HOLES:
            return f"expected 3 to {MAX_HOLES} holes"
        drawn = [hole for row in self.rows for hole in row if hole != -1]
        if self.rows and drawn != list(range(self.holes)):
            return "the rows do not hold each hole once, in order"
        if not 1 <= len(self.jumps) <= MAX_JUMPS:
            return f"expected 1 to {MAX_JUMPS} jumps"
        ends = set()
        for jump in self.jumps:
            if len(set(jump)) != 3 or not all(0 <= hole < self.holes for hole in jump):
                return f"jump {list(jump)}: expected three different holes from 0 to {self.holes - 1}"
            if (jump[0], jump[2]) in ends:
                return f"two jumps go from hole {jump[0]} to hole {jump[2]}; a jump is identified by its ends"
            ends.add((jump[0], jump[2]))
        if not self.goals and self.start is None:
            return "expected a start or a goal"
        full = [name for name, board in self.named_boards if board == (1,) * MAX_HOLES]
        return self.boards_problem() or (
            f"{full[0]} has {MAX_HOLES} pegs, expected an empty hole" if full else None
        )

    @property
    def radices(self) -> tuple[int, ...]:
        return (2,) * self.holes

    @property
    def hole_rows(self) -> tuple[tuple[int, ...], ...]:
        """The holes of each row that has any."""
        rows = [tuple(hole for hole in row if hole >= 0) for row in self.rows]
        return tuple(row for row in rows if row) or (tuple(range(self.holes)),)

    def size(self) -> str:
        return counted(self.holes, "hole")

    def facts(self) -> list[tuple[str, str]]:
        facts = [("holes", str(self.holes)), ("jumps", str(len(self.jumps)))]
        if self.start is not None:
            facts.append(("pegs at the start", str(sum(self.start))))
        return facts

    def parsed(self, text: str, place: str, *, wildcards: bool) -> Board:
        """A sign for each hole in reading order; rows may end at / or a new line."""
        rows = self.hole_rows
        drawn = [
            parse_signs(line, place, self.example())
            for line in text.replace("|", "/").replace("/", "\n").splitlines()
        ]
        drawn = [row for row in drawn if row]
        mend = f"write for example {self.example()!r}"
        found = sum(map(len, drawn))
        if found != self.holes:
            raise BoardError(f"{place}: {counted(found, 'hole')}, expected {self.holes}; {mend}")
        lengths, wanted = (" ".join(str(len(row)) for row in each) for each in (drawn, rows))
        if len(drawn) > 1 and lengths != wanted:
            raise BoardError(f"{place}: rows of {lengths} holes, expected {wanted}; {mend}")
        board = tuple(hole for row in drawn for hole in row)
        if WILDCARD in board and not wildcards:
            raise BoardError(f"{place}: {NO_WILDCARD}")
        return board

    def format_board(self, board: Sequence[int]) -> str:
        signs = [ANY if hole == WILDCARD else "o" if hole else "." for hole in board]
        return "/".join("".join(signs[hole] for hole in row) for row in self.hole_rows)

    def draw_board(self, board: Sequence[int]) -> list[str]:
        if not self.rows:
            return [self.format_board(board)]
        signs = {WILDCARD: ANY, 0: ".", 1: "o"}
        lines = [" ".join(signs[board[hole]] if hole >= 0 else " " for hole in row) for row in self.rows]
        return [line.rstrip() for line in lines]

    def palette(self) -> Mapping[str, int]:
        """Pegs are blue."""
        return {"o": 1}


def parse_signs(text: str, place: str, example: str) -> list[int]:
    """The contents of the holes that a line draws, signs for no hole left out. Raises BoardError."""
    board = []
    for sign in text:
        if sign in PEGS:
            board.append(1)
        elif sign in EMPTY:
            board.append(0)
        elif sign == ANY:
            board.append(WILDCARD)
        elif not (sign.isspace() or sign in "#,"):
            raise BoardError(
                f"{place}: {shown(sign)} does not stand for a hole; expected o for a peg or . for an empty hole; "
                f"write for example {example!r}"
            )
    return board


_WAYS = {
    "square": ((0, 1), (1, 0)),
    "diagonal": ((0, 1), (1, 0), (1, 1), (1, -1)),
    # In a drawing each row of the triangle begins one place before the row above, and its holes are two apart.
    "triangle": ((0, 2), (1, 1), (1, -1)),
}
_NONE = -1

Rows = tuple[tuple[int, ...], ...]


class PegsTable(BoardsTable):
    """The ``[pegs]`` table of a definition: docs/puzzles.md says what its keys mean."""

    header = "pegs"
    grid = Word(("square", "triangle"), default="square", instead="jumps")
    diagonal = Flag(default=False)
    jumps = Given()

    def read(self) -> Pegs:
        grid, diagonal = self.grid, self.diagonal
        if diagonal and grid != "square":
            raise self.fail(
                "diagonal", f"a {grid} has no diagonals, expected a square grid; leave one of the keys out"
            )
        for key in ("grid", "diagonal"):
            if key in self and "jumps" in self:
                raise self.fail(
                    key,
                    "both jumps and a grid are given; expected a grid or jumps by number, leave one of the keys out",
                )
        given = [GivenBoard("start", "start", self.start)] if "start" in self else []
        given += self.given_goals("o.o/...")
        if not given:
            raise self.fail("", 'no start and no goal, expected a board; write start = ["ooo", "o.o", "ooo"]')
        drawn = [(each, self._lines(each)) for each in given]
        first, lines = drawn[0]
        if "jumps" in self:
            holes = sum(len(self._signs(first, line)) for line in lines)
            self._check_holes(first, holes)
            jumps = self._numbered_jumps(holes)
            rows = () if all(len(lines) == 1 for _, lines in drawn) else self._rows(first, lines)
        else:
            rows = self._rows(first, lines)
            holes = sum(hole != _NONE for row in rows for hole in row)
            self._check_holes(first, holes)
            jumps = self._grid_jumps(first, rows, _WAYS["diagonal" if diagonal else grid])
        boards = [(each, self._board(each, lines, rows, holes, first)) for each, lines in drawn]
        start = boards.pop(0)[1] if "start" in self else None
        return Pegs(holes, jumps, rows, self.each_once(boards), start)

    def _board(self, given: GivenBoard, lines: list[str], rows: Rows, holes: int, first: GivenBoard) -> Board:
        if rows:
            own = self._rows(given, lines)
            if self.grid == "square" and own != rows:
                raise self.fail(
                    given.key,
                    f"{given.name}: other holes than {first.name}, expected boards of one shape; write # where there "
                    "is no hole",
                )
        board = tuple(hole for line in lines for hole in self._signs(given, line))
        if len(board) != holes:
            raise self.fail(
                given.key,
                f"{given.name}: {counted(len(board), 'hole')}, expected {holes}; draw all of them",
            )
        if given.name == "start" and WILDCARD in board:
            raise self.fail("start", f"start: {NO_WILDCARD}")
        return board

    def _lines(self, given: GivenBoard) -> list[str]:
        key, name, value = given
        if isinstance(value, str):
            lines = value.strip("\n").replace("/", "\n").splitlines()
        elif isinstance(value, list) and all(isinstance(row, str) for row in value):
            lines = list(value)
        else:
            raise self.fail(
                key,
                f'{name}: expected an array of rows or a text, got {shown(value)}; write {key} = ["o.o", "ooo"]',
            )
        if not any(sign in PEGS + EMPTY + ANY for line in lines for sign in line):
            raise self.fail(
                key, f'{name} has no holes, expected rows of o and .; write {key} = ["ooo", "o.o", "ooo"]'
            )
        return lines

    def _signs(self, given: GivenBoard, line: str) -> list[int]:
        with self.at(given.key):
            return parse_signs(line, given.name, "ooo/o.o")

    def _rows(self, given: GivenBoard, lines: Sequence[str]) -> Rows:
        """The drawing's hole numbers. Rows and columns without holes around it are left out."""
        for line in lines:
            self._signs(given, line)
        if self.grid == "triangle":
            holes = self._triangle(given, lines)
        else:
            width = max(map(len, lines))
            holes = _trimmed([[sign in PEGS + EMPTY + ANY for sign in line.ljust(width)] for line in lines])
        if sum(map(len, holes)) > MAX_PLACES:
            raise self.fail(
                given.key,
                f"{given.name} has more than {MAX_PLACES} places, expected a board; leave the empty margin out",
            )
        return number_cells([[not hole for hole in row] for row in holes])

    def _triangle(self, given: GivenBoard, lines: Sequence[str]) -> list[list[bool]]:
        drawn = [[sign != "#" for sign in line if not sign.isspace() and sign != ","] for line in lines]
        drawn = [row for row in drawn if row]
        places = []
        for i, row in enumerate(drawn):
            if len(row) != i + 1:
                raise self.fail(
                    given.key,
                    f"{given.name}, row {i + 1} has {counted(len(row), 'place')}, expected {i + 1} in a triangle; "
                    "write # where there is no hole",
                )
            line_places = [False] * (2 * len(drawn) - 1)
            for j, hole in enumerate(row):
                line_places[len(drawn) - 1 - i + 2 * j] = hole
            places.append(line_places)
        return places

    def _check_holes(self, given: GivenBoard, holes: int) -> None:
        if not 3 <= holes <= MAX_HOLES:
            mend = "make it smaller" if holes > MAX_HOLES else "a jump needs three"
            raise self.fail(
                given.key, f"{given.name} has {counted(holes, 'hole')}, expected 3 to {MAX_HOLES}; {mend}"
            )

    def _grid_jumps(self, given: GivenBoard, rows: Rows, ways: Iterable[tuple[int, int]]) -> tuple[Jump, ...]:
        """All jumps along the ways, both directions, sorted."""
        at = {(i, j): hole for i, row in enumerate(rows) for j, hole in enumerate(row) if hole != _NONE}
        jumps = []
        for (i, j), hole in at.items():
            for down, right in ways:
                for sign in (1, -1):
                    over = at.get((i + sign * down, j + sign * right))
                    to = at.get((i + 2 * sign * down, j + 2 * sign * right))
                    if over is not None and to is not None:
                        jumps.append((hole, over, to))
        if not jumps:
            raise self.fail(
                given.key,
                f"{given.name}: no three holes are in a row, expected a board on which pegs can jump; add holes",
            )
        if len(jumps) > MAX_JUMPS:
            raise self.fail(
                given.key,
                f"{given.name}: {len(jumps)} jumps, expected at most {MAX_JUMPS}; leave holes out",
            )
        return tuple(sorted(jumps))

    def _numbered_jumps(self, holes: int) -> tuple[Jump, ...]:
        values = self.jumps
        if not isinstance(values, list) or not values:
            found = "an empty array" if values == [] else shown(values)
            raise self.fail("jumps", f"expected an array of jumps, got {found}; write jumps = [[0, 1, 2]]")
        if len(values) > MAX_JUMPS:
            raise self.fail("jumps", f"{len(values)} jumps, expected at most {MAX_JUMPS}; leave some out")
        jumps: list[Jump] = []
        for i, value in enumerate(values, 1):
            if (
                not isinstance(value, list)
                or len(value) != 3
                or any(type(hole) is not int or not 0 <= hole < holes for hole in value)
                or len(set(value)) != 3
            ):
                raise self.fail(
                    "jumps",
                    f"jump {i}: expected three different holes from 0 to {holes - 1}: from, over, to; got "
                    f"{shown(value)}; write for example [0, 1, 2]",
                )
            a, b, c = value
            if any((a, c) == (one[0], one[2]) for one in jumps):
                raise self.fail(
                    "jumps",
                    f"jump {i}: there is another jump from hole {a} to hole {c}, expected one; leave one out",
                )
            jumps.append((a, b, c))
        return tuple(sorted(jumps))


def _trimmed(places: list[list[bool]]) -> list[list[bool]]:
    while not any(places[0]):
        places = places[1:]
    while not any(places[-1]):
        places = places[:-1]
    columns = [j for j in range(len(places[0])) if any(row[j] for row in places)]
    return [row[columns[0] : columns[-1] + 1] for row in places]


def picture(definition: Pegs, board: Sequence[int]) -> Picture:
    """Pegs as full discs, holes as small ones."""
    shapes = []
    for x, y, hole in cell_places(definition.rows, definition.cells):
        if board[hole] == WILDCARD:
            shapes.append(Shape(x + 0.1, y + 0.1, 0.8, 0.8, text="*", disc=True))
        elif board[hole]:
            shapes.append(Shape(x + 0.1, y + 0.1, 0.8, 0.8, 1, disc=True))
        else:
            shapes.append(Shape(x + 0.35, y + 0.35, 0.3, 0.3, -1, disc=True))
    return cells_picture(definition.rows, definition.cells, shapes)


def hold(definition: Pegs, board: Sequence[int], move: MoveName, after: Sequence[int]) -> Hold:
    """The peg that jumps; its holes are in the name of the move."""
    holes = [int(hole) for hole in str(move).split("-")]
    return cell_hold(definition.rows, definition.cells, holes[0], holes[-1])


def canvas(definition: Pegs, board: Board | None) -> Canvas:
    """The start at first."""
    held = board or definition.start or (1,) * definition.holes
    return grid_canvas(definition.rows, held, [Value(".", -1), Value("o", 1)], inset=0.1)
