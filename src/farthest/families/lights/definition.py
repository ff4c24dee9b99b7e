"""The family ``lights``: lamps of two or more colours; a press changes a lamp and its neighbours to the next colour.

Lamps are numbered from 0 in reading order, walls skipped. A board is the colour of each lamp.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

from farthest.errors import BoardError, PuzzleError
from farthest.puzzles.definition import WILDCARD, Board, MoveName, PuzzleDefinition, board_place
from farthest.puzzles.grid import WALL, number_cells, read_passages
from farthest.puzzles.picture import Hold, Picture, Shape, cell_hold, cell_places, cells_picture
from farthest.puzzles.puzzle import KnownAnswer, Origin, Puzzle
from farthest.puzzles.tables import Source, check_digits, check_keys, read_goals, read_start, whole_number
from farthest.wording import counted, near_match, shown

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
    start: Board | None

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise PuzzleError(f"lights puzzle: {problem}")

    @property
    def cells(self) -> int:
        """One a lamp."""
        return len(self.presses)

    @property
    def origin_boards(self) -> tuple[tuple[Board, ...], Board | None]:
        return self.goals, self.start

    @property
    def radices(self) -> tuple[int, ...]:
        """For each cell, the number of values that it can have."""
        return (self.colours,) * self.cells

    def arrangements(self) -> int:
        return int(self.colours**self.cells)

    def size(self) -> str:
        if not self.rows:
            return f"{self.cells} (graph)"
        size = f"{len(self.rows)}×{len(self.rows[0])}"
        walls = len(self.rows) * len(self.rows[0]) - self.cells
        return f"{size}, {walls} of them walls" if walls else size

    def facts(self) -> list[tuple[str, str]]:
        changed = "; ".join(f"{lamp}: {' '.join(map(str, press))}" for lamp, press in enumerate(self.presses))
        return [
            ("colours", f"{self.colours}, written {' '.join(COLOURS[: self.colours])}"),
            ("presses", changed),
        ]

    def parse_board(self, text: str, *, name: str = "") -> Board:
        """The colours row by row; marks between them, and walls, may be left out."""
        return parse_colours(
            text, self.rows, self.cells, self.colours, board_place(text, self, name), wildcards=False
        )

    def format_board(self, board: Sequence[int]) -> str:
        return "/".join(self._lines(board))

    def check_board(self, board: Sequence[int], *, name: str = "") -> Board:
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
        return [" ".join(row).replace("0", "·") for row in self._lines(board)]

    def palette(self) -> Mapping[str, int]:
        """Each colour but that of a dark lamp; the first that of lamplight."""
        return {COLOURS[colour]: 2 + colour for colour in range(1, self.colours)}

    def _lines(self, board: Sequence[int]) -> list[str]:
        signs = ["*" if colour == WILDCARD else COLOURS[colour] for colour in board]
        rows = self.rows or (tuple(range(self.cells)),)
        return ["".join("#" if lamp == WALL else signs[lamp] for lamp in row) for row in rows]


def lights(puzzle: Puzzle) -> Lights:
    """The definition of a puzzle of this family."""
    assert isinstance(puzzle.definition, Lights), f"puzzle {puzzle.name} is of the family {puzzle.family}"
    return puzzle.definition


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


# --- The ``[lights]`` table of a definition: lamps on a grid or graph, and what a press changes.
#
# size = [5, 5] # rows and columns; or draw a goal, with # for walls; or lamps = 6 and edges colours = 2 # 0 is off;
# the colour after the last is 0 torus = false # whether the grid's edges are joined neighbours = "orthogonal" # or
# "diagonal", or "all" eight self = true # whether a press changes the lamp itself edges = [[0, 1]] # a graph
# instead of a grid: lamps that change each other arcs = [[1, 2]] # a press of the first changes the second, not
# back goal = ["00", "00"] # or goals = [...]; * = any colour; all off if not given start = ["11", "01"] # optional

NEIGHBOURS = {
    "orthogonal": ((0, 1), (1, 0), (0, -1), (-1, 0)),
    "diagonal": ((1, 1), (1, -1), (-1, 1), (-1, -1)),
    "all": ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)),
}
_KEYS = ("size", "lamps", "colours", "torus", "neighbours", "self", "edges", "arcs", "goal", "goals", "start")


def read_lights(table: Mapping[str, object], source: Source) -> Lights:
    """The definition of family ``lights``. Raises PuzzleError naming key, line, what was expected and a mend."""
    return _Reader(table, source).read()


class _Reader:
    def __init__(self, table: Mapping[str, object], source: Source) -> None:
        self.table = table
        self.source = source
        self.graph = any(key in table for key in ("edges", "arcs", "lamps"))

    def fail(self, key: str, problem: str) -> PuzzleError:
        return self.source.error("lights", key, problem)

    def read(self) -> Lights:
        check_keys(self.table, _KEYS, self.fail)
        colours = 2
        if "colours" in self.table:
            colours = whole_number(self.table, "colours", 2, len(COLOURS), 2, self.fail)
        rows = () if self.graph else self.rows()
        lamps = self.lamps() if self.graph else sum(lamp != WALL for row in rows for lamp in row)
        if not 1 <= lamps <= MAX_LAMPS:
            raise self.fail(
                "size" if "size" in self.table else "goal",
                f"{lamps} lamps, expected 1 to {MAX_LAMPS}; choose another size",
            )
        presses = self.graph_presses(lamps) if self.graph else self.grid_presses(rows)
        if not any(presses):
            raise self.fail("self", "no press would change anything; join lamps, or leave self out")

        def parse(text: str, place: str, wildcards: bool) -> Board:
            return parse_colours(text, rows, lamps, colours, place, wildcards=wildcards)

        example = "0" * lamps if self.graph else "/".join("0" * len(row) for row in rows)
        return Lights(
            rows=rows,
            presses=presses,
            colours=colours,
            goals=read_goals(self.table, (0,) * lamps, example, parse, self.fail),
            start=read_start(self.table, None, example, parse, self.fail),
        )

    def rows(self) -> Rows:
        """The grid of ``size``, or of the first board that is drawn."""
        if "size" in self.table:
            size = self.table["size"]
            if not isinstance(size, list) or len(size) != 2 or any(type(n) is not int or n < 1 for n in size):
                raise self.fail("size", f"expected rows and columns, got {shown(size)}; write size = [5, 5]")
            if size[0] * size[1] > MAX_LAMPS:
                raise self.fail("size", f"more than {MAX_LAMPS} lamps; choose a smaller size")
            return number_cells([[False] * size[1]] * size[0])
        for key in ("goal", "goals", "start"):
            if key in self.table:
                return self.drawn(key)
        raise self.fail("", "no lamps; write size = [5, 5], or goal = [...], or lamps = 6 and edges = [...]")

    def drawn(self, key: str) -> Rows:
        value: Any = self.table[key]
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

    def lamps(self) -> int:
        for key in ("size", "torus", "neighbours"):
            if key in self.table:
                raise self.fail(
                    key, f"{key} belongs to a grid, but lamps, edges or arcs are for a graph; leave one out"
                )
        if "lamps" not in self.table:
            raise self.fail("", "a graph without the number of its lamps; write lamps = 6")
        return whole_number(self.table, "lamps", 1, MAX_LAMPS, 6, self.fail)

    def flag(self, key: str, default: bool) -> bool:
        value = self.table.get(key, default)
        if not isinstance(value, bool):
            raise self.fail(key, f"expected true or false, got {shown(value)}; write {key} = true")
        return value

    def graph_presses(self, lamps: int) -> tuple[tuple[int, ...], ...]:
        edges = read_passages("edges", self.table.get("edges", []), lamps, (), self.fail)
        arcs = read_passages("arcs", self.table.get("arcs", []), lamps, edges, self.fail)
        own = self.flag("self", True)
        changed: list[set[int]] = [{lamp} if own else set() for lamp in range(lamps)]
        for a, b in [*edges, *((b, a) for a, b in edges), *arcs]:
            changed[a].add(b)
        return tuple(tuple(sorted(press)) for press in changed)

    def grid_presses(self, rows: Rows) -> tuple[tuple[int, ...], ...]:
        kind = self.table.get("neighbours", "orthogonal")
        if not isinstance(kind, str) or kind not in NEIGHBOURS:
            mend = (isinstance(kind, str) and near_match(kind, NEIGHBOURS)) or "write one of them"
            raise self.fail("neighbours", f"expected {', '.join(NEIGHBOURS)}, got {shown(kind)}; {mend}")
        return grid_presses(
            rows, NEIGHBOURS[kind], torus=self.flag("torus", False), own=self.flag("self", True)
        )


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


# --- Plain Lights Out boards by name: ``lights-5x5``, ``lights-torus-5x5``, ``lights-3x3-c3``, with known answers.

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
    numbers = [int(text) if len(text) <= 3 else 1000 for text in (match[2], match[3], match[4] or "2")]
    rows, columns, colours = numbers
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


# --- The picture of a board of lamps: dark, or in the colour that their number has.


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
