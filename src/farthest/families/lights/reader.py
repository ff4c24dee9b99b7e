"""The ``[lights]`` table of a definition: lamps on a grid or graph, and what a press changes.

size       = [5, 5]         # rows and columns; or draw a goal, with # for walls; or lamps = 6 and edges
colours    = 2              # 0 is off; the colour after the last is 0
torus      = false          # whether the grid's edges are joined
neighbours = "orthogonal"   # or "diagonal", or "all" eight
self       = true           # whether a press changes the lamp itself
edges      = [[0, 1]]       # a graph instead of a grid: lamps that change each other
arcs       = [[1, 2]]       # a press of the first changes the second, not back
goal       = ["00", "00"]   # or goals = [...]; * = any colour; all off if not given
start      = ["11", "01"]   # optional
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from farthest.errors import PuzzleError
from farthest.families.lights.definition import COLOURS, MAX_LAMPS, Lights, Rows, parse_colours
from farthest.puzzles.definition import Board
from farthest.puzzles.goal_keys import check_keys, read_goals, read_start, whole_number
from farthest.puzzles.grid import WALL, number_cells
from farthest.puzzles.passages import read_passages
from farthest.puzzles.source import Source
from farthest.wording import near_match, shown

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
