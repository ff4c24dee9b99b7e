"""The ``[pegs]`` table of a definition: drawn boards, the jumps of a grid, or jumps by number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from farthest.errors import BoardError
from farthest.families.pegs.definition import (
    ANY,
    EMPTY,
    MAX_HOLES,
    MAX_JUMPS,
    MAX_PLACES,
    PEGS,
    Jump,
    Pegs,
    parse_signs,
)
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.goal_keys import Fail, check_keys
from farthest.wording import counted, near_match, shown

if TYPE_CHECKING:
    from farthest.puzzles.source import Source

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
