"""The family ``pegs``: peg solitaire. A peg jumps over a neighbouring one into an empty hole; the other is taken away.

Metrics: ``jump``; ``chain``: consecutive jumps of one peg are one move. A board is 0 or 1 a hole, in reading order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from farthest.errors import BoardError, PuzzleError
from farthest.puzzles.definition import WILDCARD, Board, MoveName, PuzzleDefinition, board_place
from farthest.puzzles.picture import Hold, Picture, Shape, cell_hold, cell_places, cells_picture
from farthest.puzzles.tables import Fail, check_keys
from farthest.wording import counted, near_match, shown

if TYPE_CHECKING:
    from farthest.puzzles.puzzle import Puzzle
    from farthest.puzzles.tables import Source


MAX_HOLES = 64
"""The kernel keeps a set of holes in one 64-bit mask."""
MAX_JUMPS = 1024
MAX_PLACES = 1024
"""Places of a drawing, holes or not."""

PEGS, EMPTY, ANY = "o1O●", ".0○", "*"
Jump = tuple[int, int, int]
"""The holes that a jump goes from, over and to."""


@dataclass(frozen=True, slots=True)
class Pegs(PuzzleDefinition):
    """Holes and jumps. ``rows``: a drawing, hole numbers and -1 where there is none; empty: the holes in one line.

    ``goals``: boards, perhaps with ``WILDCARD``. Raises PuzzleError when these do not fit together.
    """

    holes: int
    jumps: tuple[Jump, ...]
    rows: tuple[tuple[int, ...], ...]
    goals: tuple[Board, ...]
    start: Board | None

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise PuzzleError(f"peg puzzle: {problem}")

    @property
    def cells(self) -> int:
        """One a hole."""
        return self.holes

    @property
    def origin_boards(self) -> tuple[tuple[Board, ...], Board | None]:
        return self.goals, self.start

    @property
    def hole_rows(self) -> tuple[tuple[int, ...], ...]:
        """The holes of each row that has any."""
        rows = [tuple(hole for hole in row if hole >= 0) for row in self.rows]
        return tuple(row for row in rows if row) or (tuple(range(self.holes)),)

    def arrangements(self) -> int:
        return int(2**self.holes)

    def size(self) -> str:
        return counted(self.holes, "hole")

    def facts(self) -> list[tuple[str, str]]:
        facts = [("holes", str(self.holes)), ("jumps", str(len(self.jumps)))]
        if self.start is not None:
            facts.append(("pegs at the start", str(sum(self.start))))
        return facts

    def parse_board(self, text: str, *, name: str = "") -> Board:
        """A sign for each hole in reading order; rows may end at / or a new line."""
        board = _parse(text, self.hole_rows, board_place(text, self, name), self.example())
        if WILDCARD in board:
            raise BoardError(
                f"{board_place(text, self, name)}: * stands for any content, expected in goals only; write o or ."
            )
        return board

    def format_board(self, board: Sequence[int]) -> str:
        signs = [ANY if hole == WILDCARD else "o" if hole else "." for hole in board]
        return "/".join("".join(signs[hole] for hole in row) for row in self.hole_rows)

    def check_board(self, board: Sequence[int], *, name: str = "") -> Board:
        place = f"board{f' for {name}' if name else ''}"
        if not hasattr(board, "__len__") or len(board) != self.holes:
            raise BoardError(
                f"{place}: expected {counted(self.holes, 'number')}, 1 for a peg, 0 for an empty hole"
            )
        for hole, content in enumerate(board):
            if not hasattr(content, "__index__") or content not in (0, 1):
                raise BoardError(f"{place}: hole {hole} holds {content!r}, expected 1 for a peg, 0 for none")
        return tuple(int(content) for content in board)

    def draw_board(self, board: Sequence[int]) -> list[str]:
        if not self.rows:
            return [self.format_board(board)]
        signs = {WILDCARD: ANY, 0: ".", 1: "o"}
        lines = [" ".join(signs[board[hole]] if hole >= 0 else " " for hole in row) for row in self.rows]
        return [line.rstrip() for line in lines]

    def palette(self) -> Mapping[str, int]:
        """Pegs are blue."""
        return {"o": 1}


def pegs(puzzle: Puzzle) -> Pegs:
    """The definition of a puzzle of this family."""
    assert isinstance(puzzle.definition, Pegs), f"puzzle {puzzle.name} is of the family {puzzle.family}"
    return puzzle.definition


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


def _parse(text: str, rows: Sequence[Sequence[int]], place: str, example: str) -> Board:
    drawn = [
        parse_signs(line, place, example) for line in text.replace("|", "/").replace("/", "\n").splitlines()
    ]
    drawn = [row for row in drawn if row]
    expected = sum(map(len, rows))
    found = sum(map(len, drawn))
    if found != expected:
        raise BoardError(
            f"{place}: {counted(found, 'hole')}, expected {expected}; write for example {example!r}"
        )
    lengths = [len(row) for row in rows]
    if len(drawn) > 1 and [len(row) for row in drawn] != lengths:
        raise BoardError(
            f"{place}: rows of {' '.join(str(len(row)) for row in drawn)} holes, expected "
            f"{' '.join(map(str, lengths))}; write for example {example!r}"
        )
    return tuple(hole for row in drawn for hole in row)


def _problem(definition: Pegs) -> str | None:
    if not 3 <= definition.holes <= MAX_HOLES:
        return f"expected 3 to {MAX_HOLES} holes"
    drawn = [hole for row in definition.rows for hole in row if hole != -1]
    if definition.rows and drawn != list(range(definition.holes)):
        return "the rows do not hold each hole once, in order"
    if not 1 <= len(definition.jumps) <= MAX_JUMPS:
        return f"expected 1 to {MAX_JUMPS} jumps"
    ends = set()
    for jump in definition.jumps:
        if len(set(jump)) != 3 or not all(0 <= hole < definition.holes for hole in jump):
            return f"jump {list(jump)}: expected three different holes from 0 to {definition.holes - 1}"
        if (jump[0], jump[2]) in ends:
            return f"two jumps go from hole {jump[0]} to hole {jump[2]}; a jump is told by its ends"
        ends.add((jump[0], jump[2]))
    if not definition.goals and definition.start is None:
        return "expected a start or a goal"
    if len(set(definition.goals)) != len(definition.goals):
        return "a goal is there twice"
    for name, board in [
        ("start", definition.start),
        *((f"goal {i}", goal) for i, goal in enumerate(definition.goals, 1)),
    ]:
        least = 0 if name == "start" else WILDCARD
        if board is not None and (
            len(board) != definition.holes or any(not least <= content <= 1 for content in board)
        ):
            return f"{name} is not {definition.holes} numbers, 1 for a peg and 0 for none"
        if board is not None and board == (1,) * MAX_HOLES:
            return f"{name} has {MAX_HOLES} pegs, expected an empty hole"
    return None


# --- The ``[pegs]`` table of a definition: drawn boards, the jumps of a grid, or jumps by number.
#
# start = [" ooo ", " o.o ", ...] # o or 1: peg, . or 0: empty hole; # or space: no hole goal = [" ... ", " .o. ",
# ...] # or goals = [...]; * = peg or not diagonal = true # jumps along the diagonals too grid = "triangle" # rows
# of 1, 2, 3 ... holes, jumps along three directions; spaces are nothing jumps = [[0, 1, 2], [0, 3, 6]] # instead of
# a grid: from, over, to; boards are then one line, hole 0 first

_KEYS = ("start", "goal", "goals", "grid", "diagonal", "jumps")
_GRIDS = ("square", "triangle")
_WAYS = {
    "square": ((0, 1), (1, 0)),
    "diagonal": ((0, 1), (1, 0), (1, 1), (1, -1)),
    # In a drawing each row of the triangle begins one place before the row above, and its holes are two apart.
    "triangle": ((0, 2), (1, 1), (1, -1)),
}
_NONE = -1


def read_pegs(table: dict[str, Any], source: Source) -> Pegs:
    """The definition of a table. Raises PuzzleError."""
    fail = partial(source.error, "pegs")
    check_keys(table, _KEYS, fail)
    grid, diagonal = _grid(table, fail)
    drawn = {name: (key, _lines(key, name, value, fail)) for key, name, value in _boards(table, fail)}
    first = next(iter(drawn))
    if "jumps" in table:
        holes, jumps = _numbered(table, drawn, fail)
        flat = all(len(lines) == 1 for _, lines in drawn.values())
        rows: tuple[tuple[int, ...], ...] = () if flat else _rows(*drawn[first], first, grid, fail)
    else:
        rows = _rows(*drawn[first], first, grid, fail)
        holes = sum(hole != _NONE for row in rows for hole in row)
        _check_holes(drawn[first][0], first, holes, fail)
        jumps = _jumps(rows, _WAYS["diagonal" if diagonal else grid])
        if not jumps:
            raise fail(
                drawn[first][0],
                f"{first}: no three holes are in a row, expected a board on which pegs can jump; add holes",
            )
        if len(jumps) > MAX_JUMPS:
            raise fail(
                drawn[first][0], f"{first}: {len(jumps)} jumps, expected at most {MAX_JUMPS}; leave holes out"
            )
    boards: dict[str, Board] = {}
    for name, (key, lines) in drawn.items():
        if rows and grid == "square" and _rows(key, lines, name, grid, fail) != rows:
            raise fail(
                key,
                f"{name}: other holes than {next(iter(drawn))}, expected boards of one shape; write # where there is "
                "no hole",
            )
        if rows and grid == "triangle":
            _rows(key, lines, name, grid, fail)
        board = tuple(hole for line in lines for hole in _signs(key, name, line, fail))
        if len(board) != holes:
            raise fail(key, f"{name}: {counted(len(board), 'hole')}, expected {holes}; draw all of them")
        if name == "start" and WILDCARD in board:
            raise fail(key, "start: * stands for any content, expected in goals only; write o or .")
        twin = next((other for other, known in boards.items() if known == board and other != "start"), None)
        if twin is not None and name != "start":
            raise fail(key, f"{name} is the same board as {twin}; leave one out")
        boards[name] = board
    start = boards.pop("start", None)
    return Pegs(holes, jumps, rows, tuple(boards.values()), start)


def _grid(table: dict[str, Any], fail: Fail) -> tuple[str, bool]:
    grid, diagonal = table.get("grid", "square"), table.get("diagonal", False)
    if grid not in _GRIDS:
        mend = (isinstance(grid, str) and near_match(grid, _GRIDS)) or "write one of them, or jumps"
        raise fail("grid", f"grid {shown(grid)} is not known, expected {' or '.join(_GRIDS)}; {mend}")
    if not isinstance(diagonal, bool):
        raise fail("diagonal", f"expected true or false, got {shown(diagonal)}; write diagonal = true")
    if diagonal and grid != "square":
        raise fail(
            "diagonal", f"a {grid} has no diagonals, expected a square grid; leave one of the keys out"
        )
    for key in ("grid", "diagonal"):
        if key in table and "jumps" in table:
            raise fail(
                key,
                "both jumps and a grid are given; expected a grid or jumps by number, leave one of the keys out",
            )
    return grid, diagonal


def _boards(table: dict[str, Any], fail: Fail) -> Iterable[tuple[str, str, object]]:
    """(key, what messages call it, value) of all boards, the start first."""
    if "goal" in table and "goals" in table:
        raise fail("goals", "both goal and goals are given; expected one of them, put all boards into goals")
    goals = table.get("goals")
    if "goals" in table and (not isinstance(goals, list) or not goals):
        raise fail(
            "goals", f'expected an array of boards, got {_found(goals)}; write goals = ["o.o/...", ...]'
        )
    found = [("start", "start", table["start"])] if "start" in table else []
    found += [("goal", "goal", table["goal"])] if "goal" in table else []
    found += [("goals", f"goal {i}", value) for i, value in enumerate(goals or (), 1)]
    if not found:
        raise fail("", 'no start and no goal, expected a board; write start = ["ooo", "o.o", "ooo"]')
    return found


def _lines(key: str, name: str, value: object, fail: Fail) -> list[str]:
    if isinstance(value, str):
        lines = value.strip("\n").replace("/", "\n").splitlines()
    elif isinstance(value, list) and all(isinstance(row, str) for row in value):
        lines = list(value)
    else:
        raise fail(
            key,
            f'{name}: expected an array of rows or a text, got {shown(value)}; write {key} = ["o.o", "ooo"]',
        )
    if not any(sign in PEGS + EMPTY + ANY for line in lines for sign in line):
        raise fail(key, f'{name} has no holes, expected rows of o and .; write {key} = ["ooo", "o.o", "ooo"]')
    return lines


def _signs(key: str, name: str, line: str, fail: Fail) -> list[int]:
    try:
        return parse_signs(line, name, "ooo/o.o")
    except BoardError as error:
        raise fail(key, str(error)) from None


def _rows(key: str, lines: Sequence[str], name: str, grid: str, fail: Fail) -> tuple[tuple[int, ...], ...]:
    """The drawing's hole numbers. Rows and columns without holes around it are left out."""
    for line in lines:
        _signs(key, name, line, fail)
    if grid == "triangle":
        drawn = [[sign != "#" for sign in line if not sign.isspace() and sign != ","] for line in lines]
        drawn = [row for row in drawn if row]
        for i, row in enumerate(drawn, 1):
            if len(row) != i:
                raise fail(
                    key,
                    f"{name}, row {i} has {counted(len(row), 'place')}, expected {i} in a triangle; write # where "
                    "there is no hole",
                )
        places = []
        for i, row in enumerate(drawn):
            line_places = [False] * (2 * len(drawn) - 1)
            for j, hole in enumerate(row):
                line_places[len(drawn) - 1 - i + 2 * j] = hole
            places.append(line_places)
    else:
        width = max(map(len, lines))
        places = [[sign in PEGS + EMPTY + ANY for sign in line.ljust(width)] for line in lines]
        places = _trimmed(places)
    if sum(map(len, places)) > MAX_PLACES:
        raise fail(
            key, f"{name} has more than {MAX_PLACES} places, expected a board; leave the empty margin out"
        )
    free = 0
    rows = []
    for place_row in places:
        numbers = []
        for is_hole in place_row:
            numbers.append(free if is_hole else _NONE)
            free += is_hole
        rows.append(tuple(numbers))
    return tuple(rows)


def _trimmed(places: list[list[bool]]) -> list[list[bool]]:
    while not any(places[0]):
        places = places[1:]
    while not any(places[-1]):
        places = places[:-1]
    columns = [j for j in range(len(places[0])) if any(row[j] for row in places)]
    return [row[columns[0] : columns[-1] + 1] for row in places]


def _check_holes(key: str, name: str, holes: int, fail: Fail) -> None:
    if not 3 <= holes <= MAX_HOLES:
        mend = "make it smaller" if holes > MAX_HOLES else "a jump needs three"
        raise fail(key, f"{name} has {counted(holes, 'hole')}, expected 3 to {MAX_HOLES}; {mend}")


def _found(value: object) -> str:
    return "an empty array" if value == [] else shown(value)


def _jumps(rows: Sequence[Sequence[int]], ways: Iterable[tuple[int, int]]) -> tuple[Jump, ...]:
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
    return tuple(sorted(jumps))


def _numbered(
    table: dict[str, Any], drawn: dict[str, tuple[str, list[str]]], fail: Fail
) -> tuple[int, tuple[Jump, ...]]:
    """The number of holes and the jumps of a table with ``jumps``."""
    first = next(iter(drawn))
    key, lines = drawn[first]
    holes = sum(len(_signs(key, first, line, fail)) for line in lines)
    _check_holes(key, first, holes, fail)
    values = table["jumps"]
    if not isinstance(values, list) or not values:
        raise fail("jumps", f"expected an array of jumps, got {_found(values)}; write jumps = [[0, 1, 2]]")
    if len(values) > MAX_JUMPS:
        raise fail("jumps", f"{len(values)} jumps, expected at most {MAX_JUMPS}; leave some out")
    jumps: list[Jump] = []
    for i, value in enumerate(values, 1):
        if (
            not isinstance(value, list)
            or len(value) != 3
            or any(type(hole) is not int or not 0 <= hole < holes for hole in value)
            or len(set(value)) != 3
        ):
            raise fail(
                "jumps",
                f"jump {i}: expected three different holes from 0 to {holes - 1}: from, over, to; got {shown(value)}; "
                "write for example [0, 1, 2]",
            )
        a, b, c = value
        if any((a, c) == (one[0], one[2]) for one in jumps):
            raise fail(
                "jumps",
                f"jump {i}: there is another jump from hole {a} to hole {c}, expected one; leave one out",
            )
        jumps.append((a, b, c))
    return holes, tuple(sorted(jumps))


# --- The picture of a peg board: pegs as full discs, holes as small ones.


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
