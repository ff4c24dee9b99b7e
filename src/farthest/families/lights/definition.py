"""The family ``lights``: lamps of two or more colours; a press changes a lamp and its neighbours to the next colour.
Its definition, its table in a puzzle's file, puzzles by name, boards as text and as pictures.

Lamps are numbered from 0 in reading order, walls skipped. A board is the colour of each lamp.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

from farthest.errors import BoardError, PuzzleError
from farthest.puzzles.definition import WILDCARD, Board, DigitPuzzle, MoveName
from farthest.puzzles.grid import (
    WALL,
    WALL_TOKEN,
    WILDCARD_TOKEN,
    board_rows,
    grid_problem,
    grid_size,
    number_cells,
    number_in_name,
)
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
from farthest.puzzles.puzzle import KnownAnswer, Origin, Puzzle
from farthest.puzzles.tables import BoardsTable, Flag, Given, Number, Word
from farthest.wording import shown

MAX_LAMPS = 64
COLOURS = "0123456789abcdefghijklmnopqrstuvwxyz"
_OFF = "._"

NEIGHBOURS = {
    "orthogonal": ((0, 1), (1, 0), (0, -1), (-1, 0)),
    "diagonal": ((1, 1), (1, -1), (-1, 1), (-1, -1)),
    "all": ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)),
}

Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Lights(DigitPuzzle):
    """Lamps, what each press changes, and boards.

    ``rows``: a grid's lamp number at each place in reading order, -1 a wall; empty for a graph.
    ``presses``: for each lamp the lamps that its press changes, ascending.
    """

    rows: Rows
    presses: tuple[tuple[int, ...], ...]
    colours: int
    goals: tuple[Board, ...]
    start: Board | None

    called = "lights"
    meaning = "the colour of each lamp"
    wrong = "lamp {cell} has the colour {digit}, expected one from 0 to {most}"

    def problem(self) -> str | None:
        lamps = len(self.presses)
        if not 1 <= lamps <= MAX_LAMPS:
            return f"{lamps} lamps; expected 1 to {MAX_LAMPS}"
        if not 2 <= self.colours <= len(COLOURS):
            return f"{self.colours} colours; expected 2 to {len(COLOURS)}"
        problem = grid_problem(self.rows, lamps, "lamps") if self.rows else None
        if problem:
            return problem
        for lamp, press in enumerate(self.presses):
            if list(press) != sorted(set(press)) or any(not 0 <= other < lamps for other in press):
                return f"the press of lamp {lamp} changes {list(press)}; expected lamps, ascending, each once"
        if not any(self.presses):
            return "no press changes anything"
        return self.boards_problem() if self.goals else "expected at least one goal"

    @property
    def radices(self) -> tuple[int, ...]:
        return (self.colours,) * len(self.presses)

    def size(self) -> str:
        return grid_size(self.rows, self.cells)

    def facts(self) -> list[tuple[str, str]]:
        changed = "; ".join(f"{lamp}: {' '.join(map(str, press))}" for lamp, press in enumerate(self.presses))
        return [
            ("colours", f"{self.colours}, written {' '.join(COLOURS[: self.colours])}"),
            ("presses", changed),
        ]

    def parsed(self, text: str, place: str, *, wildcards: bool) -> Board:
        """The colours row by row; marks between them, and walls, may be left out."""
        example = "/".join(self._lines([0] * self.cells))
        digits = COLOURS[: self.colours]
        values = {sign: colour for colour, digit in enumerate(digits) for sign in (digit, digit.upper())}
        values |= dict.fromkeys(_OFF, 0)
        if wildcards:
            values[WILDCARD_TOKEN] = WILDCARD
        rows = board_rows(
            "".join(sign for sign in text if sign not in " \t,"),
            self.rows or (tuple(range(self.cells)),),
            single=True,
            barred=False,
            accepted=values,
            expected=digits,
            fail=lambda problem: BoardError(f"{place}: {problem}; write the colours, such as {example!r}"),
        )
        return tuple(values[sign] for row in rows for sign in row if sign != WALL_TOKEN)

    def format_board(self, board: Sequence[int]) -> str:
        return "/".join(self._lines(board))

    def draw_board(self, board: Sequence[int]) -> list[str]:
        return [" ".join(row).replace("0", "·") for row in self._lines(board)]

    def palette(self) -> Mapping[str, int]:
        """Each colour but that of a dark lamp; the first that of lamplight."""
        return {COLOURS[colour]: 2 + colour for colour in range(1, self.colours)}

    def _lines(self, board: Sequence[int]) -> list[str]:
        signs = ["*" if colour == WILDCARD else COLOURS[colour] for colour in board]
        rows = self.rows or (tuple(range(self.cells)),)
        return ["".join("#" if lamp == WALL else signs[lamp] for lamp in row) for row in rows]


class LightsTable(BoardsTable):
    """The ``[lights]`` table of a definition: docs/puzzles.md says what its keys mean."""

    header = "lights"
    size = Given()
    lamps = Number(1, MAX_LAMPS, write=6)
    colours = Number(2, len(COLOURS), write=2, default=2)
    torus = Flag(default=False)
    neighbours = Word(NEIGHBOURS, default="orthogonal")
    self_ = Flag(default=True)
    edges = Given()
    arcs = Given()

    def read(self) -> Lights:
        graph = any(key in self for key in ("edges", "arcs", "lamps"))
        colours = self.colours
        rows = () if graph else self._rows()
        lamps = self._graph_lamps() if graph else sum(lamp != WALL for row in rows for lamp in row)
        if not 1 <= lamps <= MAX_LAMPS:
            raise self.fail(
                "size" if "size" in self else "goal",
                f"{lamps} lamps, expected 1 to {MAX_LAMPS}; choose another size",
            )
        if graph:
            edges, arcs = self.passages(lamps)
            changed: list[set[int]] = [{lamp} if self.self_ else set() for lamp in range(lamps)]
            for a, b in [*edges, *((b, a) for a, b in edges), *arcs]:
                changed[a].add(b)
            presses = tuple(tuple(sorted(press)) for press in changed)
        else:
            presses = grid_presses(rows, NEIGHBOURS[self.neighbours], torus=self.torus, own=self.self_)
        if not any(presses):
            raise self.fail("self", "no press would change anything; join lamps, or leave self out")
        return self.with_boards(Lights(rows, presses, colours, ((0,) * lamps,), None))

    def _rows(self) -> Rows:
        """The grid of ``size``, or of the first board that is drawn."""
        if "size" in self:
            size = self.size
            if not isinstance(size, list) or len(size) != 2 or any(type(n) is not int or n < 1 for n in size):
                raise self.fail("size", f"expected rows and columns, got {shown(size)}; write size = [5, 5]")
            if size[0] * size[1] > MAX_LAMPS:
                raise self.fail("size", f"more than {MAX_LAMPS} lamps; choose a smaller size")
            return number_cells([[False] * size[1]] * size[0])
        for key in ("goal", "goals", "start"):
            if key in self:
                return self._drawn(key)
        raise self.fail("", "no lamps; write size = [5, 5], or goal = [...], or lamps = 6 and edges = [...]")

    def _drawn(self, key: str) -> Rows:
        value = self.fields[key]
        if key == "goals" and isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, str):
            value = value.replace("\n", "/").replace("|", "/").split("/")
        if not isinstance(value, list) or not value or not all(isinstance(row, str) for row in value):
            raise self.fail(key, f'expected a drawn board, got {shown(value)}; write {key} = ["000", "0#0"]')
        drawn = ["".join(row.replace(",", " ").split()) for row in value]
        drawn = [row for row in drawn if row]
        for i, row in enumerate(drawn, 1):
            if len(row) != len(drawn[0]):
                raise self.fail(
                    key,
                    f"row {i} has {len(row)} places, row 1 has {len(drawn[0])}; fill the rows up with # for walls",
                )
        return number_cells([[sign == "#" for sign in row] for row in drawn])

    def _graph_lamps(self) -> int:
        for key in ("size", "torus", "neighbours"):
            if key in self:
                raise self.fail(
                    key, f"{key} belongs to a grid, but lamps, edges or arcs are for a graph; leave one out"
                )
        if "lamps" not in self:
            raise self.fail("", "a graph without the number of its lamps; write lamps = 6")
        return self.lamps


def grid_presses(
    rows: Rows, steps: Iterable[tuple[int, int]], *, torus: bool, own: bool
) -> tuple[tuple[int, ...], ...]:
    """For each lamp of a grid, the lamps at ``steps`` (rows down, columns right) from it; each changes once."""
    steps = list(steps)
    height, width = len(rows), len(rows[0])
    presses = []
    for i, row in enumerate(rows):
        for j, lamp in enumerate(row):
            if lamp == WALL:
                continue
            places = [(i + down, j + right) for down, right in steps]
            if torus:
                places = [(y % height, x % width) for y, x in places]
            near = {rows[y][x] for y, x in places if 0 <= y < height and 0 <= x < width} - {WALL, lamp}
            presses.append(tuple(sorted(near | {lamp} if own else near)))
    return tuple(presses)


_NAME = re.compile(r"lights-(torus-)?([0-9]+)x([0-9]+)(?:-c([0-9]+))?(-multi)?")
_SQUARE_NULLITY = (0, 0, 0, 0, 4, 2, 0, 0, 0)
"""Of the n x n board the number of press patterns that change nothing, as a power of 2 (OEIS A159257)."""


_FIVE = "1 25 300 2300 12650 53130 176176 467104 982335 1596279 1935294 1684446 1004934 383670 82614 7350"
_LAYERS = {4: (1, 16, 120, 560, 1387, 1440, 540, 32), 5: tuple(map(int, _FIVE.split()))}


def plain_lights(name: str) -> Puzzle | None:
    """The board of such a name, else None. Raises PuzzleError for an impossible size."""
    match = _NAME.fullmatch(name)
    if not match:
        return None
    rows, columns, colours = map(number_in_name, (match[2], match[3], match[4] or "2"))
    if not 1 <= rows * columns <= MAX_LAMPS:
        raise PuzzleError(f"{shown(name)}: expected 1 to {MAX_LAMPS} lamps; choose another size")
    if not 2 <= colours <= len(COLOURS):
        raise PuzzleError(f"{shown(name)}: expected 2 to {len(COLOURS)} colours; choose such a number")
    torus, multi = bool(match[1]), bool(match[5])
    numbered = number_cells([[False] * columns for _ in range(rows)])
    kind = f"{', edges joined' if torus else ''}{f', {colours} colours' if colours > 2 else ''}"
    return Puzzle(
        name=(
            f"lights-{'torus-' if torus else ''}{rows}x{columns}"
            f"{f'-c{colours}' if colours > 2 else ''}{'-multi' if multi else ''}"
        ),
        title=f"Lights Out on {rows} x {columns} lamps{kind}",
        source="the plain board of this size; Lights Out, Tiger Electronics 1995",
        family="lights",
        metric="multi" if multi else "press",
        origin=Origin(),
        known=() if torus or colours > 2 or rows != columns else _known(rows),
        definition=Lights(
            rows=numbered,
            presses=grid_presses(numbered, NEIGHBOURS["orthogonal"], torus=torus, own=True),
            colours=colours,
            goals=((0,) * (rows * columns),),
            start=None,
        ),
    )


def _known(side: int) -> tuple[KnownAnswer, ...]:
    lamps, nullity = side * side, _SQUARE_NULLITY[side]
    source = "OEIS A159257"
    layers: tuple[int, ...] | None = _LAYERS.get(side)
    if nullity == 0:
        source += ": each board is solved by one set of presses"
        layers = tuple(comb(lamps, presses) for presses in range(lamps + 1))
    elif layers is not None:
        source += "; J. Scherphuis, puzzle page (Lights Out); layers by cosets of quiet patterns"
    eccentricity = None if layers is None else len(layers) - 1
    return (KnownAnswer(2 ** (lamps - nullity), eccentricity, layers, None, source),)


def picture(definition: Lights, board: Sequence[int]) -> Picture:
    """Lamps: dark, or in the colour that their number has."""
    lamps = []
    for x, y, lamp in cell_places(definition.rows, definition.cells):
        shade = board[lamp]
        number = (
            None if shade == WILDCARD else -1 if shade == 0 else 2 + shade
        )  # the first: that of lamplight
        text = "*" if shade == WILDCARD else str(shade) if shade and definition.colours > 2 else ""
        lamps.append(Shape(x, y, colour=number, text=text))
    return cells_picture(definition.rows, definition.cells, lamps)


def hold(definition: Lights, board: Sequence[int], move: MoveName, after: Sequence[int]) -> Hold:
    """The lamp that is pressed; the move is ``press 3``, or ``press 3 ×2``."""
    return cell_hold(definition.rows, definition.cells, int(str(move).split()[1]))


def canvas(definition: Lights, board: Board | None) -> Canvas:
    """All lamps dark at first."""
    many = definition.colours > 2
    shades = [Value(COLOURS[n], 2 + n, COLOURS[n] if many else "") for n in range(1, definition.colours)]
    return grid_canvas(definition.rows, board or (0,) * definition.cells, [Value(COLOURS[0], -1), *shades])
