"""Rush Hour boards in 36 characters, as in M. Fogleman's database of all interesting ones.

Six rows of six without marks between them: ``o`` or ``.`` an empty cell, ``x`` or ``#`` a wall, each letter one car
of two cells or more in a line, ``A`` the car that must get to the right end of its row. Cars go along their length
only.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from farthest.errors import PuzzleError
from farthest.families.blocks.definition import Blocks
from farthest.families.blocks.fields import COLUMNS, ROWS, Kind
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.grid import number_cells
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.wording import shown

_SIDE = 6
_NAME = re.compile(r"rush-([^-]+)")
_EXAMPLE = "BBoKMxDDDKMoIAALooIoJLEEooJFFNoGGoxN"


def rush_hour(name: str) -> Puzzle | None:
    """The puzzle called ``rush-`` and a board, else None. Raises PuzzleError for a board that cannot be."""
    match = _NAME.fullmatch(name)
    if not match:
        return None
    return Puzzle(
        name=name,
        title="Rush Hour",
        source="the board of this name",
        family="blocks",
        metric="slide",
        origin=Origin("from", "start"),
        known=(),
        definition=read_rush_hour(match[1], lambda problem: PuzzleError(f"{shown(name)}: {problem}")),
    )


def read_rush_hour(text: object, fail: Callable[[str], PuzzleError]) -> Blocks:
    """The board of 36 characters. Raises what ``fail`` makes of what is wrong with it."""
    if not isinstance(text, str):
        raise fail(f'expected a text, got {shown(text)}; write board = "{_EXAMPLE}"')
    if len(text) != _SIDE * _SIDE:
        raise fail(
            f"{len(text)} characters, expected {_SIDE * _SIDE}: {_SIDE} rows of {_SIDE} without marks between; "
            f"write it like {_EXAMPLE}"
        )
    rows = [text[i : i + _SIDE] for i in range(0, len(text), _SIDE)]
    cars: dict[str, list[tuple[int, int]]] = {}
    for r, row in enumerate(rows):
        for c, sign in enumerate(row):
            if sign in "o.x#":
                continue
            if not (sign.isascii() and sign.isalpha() and sign.isupper()):
                where = f"character {r * _SIDE + c + 1} (row {r + 1}, column {c + 1})"
                raise fail(
                    f"{where} is {shown(sign)}, expected a letter A to Z, o or . (empty), x or # (wall); correct it"
                )
            cars.setdefault(sign, []).append((r, c))
    for letter, cells in cars.items():
        _check_car(letter, cells, fail)
    if "A" not in cars:
        raise fail("no car A, which is the one to get out; call that car A")
    numbered = number_cells([[sign in "x#" for sign in row] for row in rows])
    level = cars["A"][0][0]
    if cars["A"][-1][0] != level:
        raise fail("car A stands in a column, expected a row: it leaves to the right; turn the board")
    length = len(cars["A"])
    target = numbered[level][_SIDE - length :]
    if min(target) < 0:
        raise fail(
            f"a wall stands at the right end of row {level + 1}, where car A must get to; correct one of them"
        )
    kinds = tuple(
        Kind(
            shape=tuple((r - cells[0][0], c - cells[0][1]) for r, c in cells),
            tokens=(letter,),
            ways=ROWS if cells[0][0] == cells[-1][0] else COLUMNS,
            line=cells[0][0] if cells[0][0] == cells[-1][0] else cells[0][1],
            exits=(),
        )
        for letter, cells in cars.items()
    )
    labels = {letter: label for label, letter in enumerate(cars, 1)}
    start = [labels.get(sign, 0) for sign in text if sign not in "x#"]
    goal = [WILDCARD if len(cars) > 1 else 0] * len(start)
    for cell in target:
        goal[cell] = labels["A"]
    return Blocks(
        rows=numbered,
        signs=("",) * len(start),
        empty="o" if "o" in text or "." not in text else ".",
        kinds=kinds,
        goals=(tuple(goal),),
        start=tuple(start),
    )


def _check_car(letter: str, cells: list[tuple[int, int]], fail: Callable[[str], PuzzleError]) -> None:
    (row, column), last = cells[0], cells[-1]
    line = [(row, column + i) for i in range(len(cells))]
    if last[0] != row:
        line = [(row + i, column) for i in range(len(cells))]
    if len(cells) < 2:
        raise fail(
            f"car {letter} (row {row + 1}, column {column + 1}) has one cell, expected two or more in a line; "
            "o is an empty cell, x a wall"
        )
    if cells != line:
        raise fail(
            f"the cells of car {letter} (first in row {row + 1}, column {column + 1}) are not one straight line; "
            "give each car a letter of its own"
        )
