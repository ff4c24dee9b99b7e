"""The geometry of boards: cells of a grid with walls, passages between cells, connected parts."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import TypeVar, cast

from farthest.errors import BoardError
from farthest.wording import counted, shown

T = TypeVar("T")

WALL = -1

MAX_CELLS = 64
"""The kernel keeps a set of cells in one 64-bit mask."""

Passages = tuple[tuple[int, int], ...]


def number_cells(walls: Sequence[Sequence[bool]]) -> tuple[tuple[int, ...], ...]:
    """Number the places of a grid that are not walls in reading order; ``WALL`` marks the others."""
    rows, free = [], 0
    for row in walls:
        numbers = []
        for wall in row:
            numbers.append(WALL if wall else free)
            free += not wall
        rows.append(tuple(numbers))
    return tuple(rows)


def grid_problem(rows: Sequence[Sequence[int]], cells: int, what: str = "cells") -> str | None:
    """Why the rows are not those of a grid of so many cells, or None; messages call these ``what``."""
    if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
        return "the rows of the grid differ in length"
    if [cell for row in rows for cell in row if cell != WALL] != list(range(cells)):
        return f"the {what} of the grid are not numbered 0 to {cells - 1} in reading order"
    return None


def grid_size(rows: Sequence[Sequence[int]], cells: int) -> str:
    """How large a grid is, for lists: ``3×3``; of a graph, without rows, the number of cells."""
    if not rows:
        return f"{cells} (graph)"
    size, walls = f"{len(rows)}×{len(rows[0])}", len(rows) * len(rows[0]) - cells
    return f"{size}, {walls} of them walls" if walls else size


def place_of(rows: Sequence[Sequence[int]], cell: int) -> tuple[int, int]:
    """The row and the column of a cell of a grid."""
    return next((r, row.index(cell)) for r, row in enumerate(rows) if cell in row)


def number_in_name(text: str) -> int:
    """The number that digits in the name of a puzzle write; of more than three, one that is too large for anything."""
    text = text.lstrip("0") or "0"
    return int(text) if len(text) <= 3 else 1000


def grid_edges(rows: Sequence[Sequence[int]]) -> Passages:
    """The pairs (a, b), a < b, sorted, of cells that are orthogonal neighbours in a grid of cell numbers."""
    edges = []
    for i, row in enumerate(rows):
        below = rows[i + 1] if i + 1 < len(rows) else ()
        for j, cell in enumerate(row):
            if cell == WALL:
                continue
            if j + 1 < len(row) and row[j + 1] != WALL:
                edges.append((cell, row[j + 1]))
            if j < len(below) and below[j] != WALL:
                edges.append((cell, below[j]))
    return tuple(sorted(edges))


def neighbours_of(cells: int, passages: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The cells beside each cell, every passage taken both ways, ascending."""
    beside: list[set[int]] = [set() for _ in range(cells)]
    for a, b in passages:
        beside[a].add(b)
        beside[b].add(a)
    return [sorted(cells) for cells in beside]


def closure(start: T, steps: Callable[[T], Iterable[T]], most: int | None = None) -> list[T]:
    """What steps lead to from the start, breadth first; where it is more than ``most``, some of it that is more."""
    found, queue = {start}, [start]
    for each in queue:
        for after in steps(each):
            if after not in found:
                found.add(after)
                queue.append(after)
        if most is not None and len(queue) > most:
            break
    return queue


def parts_of(points: int, steps: Callable[[int], Iterable[int]]) -> list[tuple[int, ...]]:
    """The sets of points that steps, which lead back too, join: each ascending, in order of first points."""
    parts: list[tuple[int, ...]] = []
    seen = set[int]()
    for first in range(points):
        if first not in seen:
            parts.append(tuple(sorted(closure(first, steps))))
            seen.update(parts[-1])
    return parts


def round_trips(cells: int, ways: Iterable[tuple[int, int]]) -> bool:
    """Whether each cell can be reached from each other along one-way passages."""
    there, back = [list[int]() for _ in range(cells)], [list[int]() for _ in range(cells)]
    for a, b in ways:
        there[a].append(b)
        back[b].append(a)
    return all(len(closure(0, beside.__getitem__)) == cells for beside in (there, back))


def disconnection(cells: int, passages: Iterable[tuple[int, int]]) -> str | None:
    """What is wrong when the cells are not all joined, with the parts named; None when they are."""
    parts = parts_of(cells, neighbours_of(cells, passages).__getitem__)
    if len(parts) == 1:
        return None
    named = ", ".join("{" + " ".join(map(str, part)) + "}" for part in parts)
    return f"the cells fall into {len(parts)} parts with no passage between them: {named}"


Fail = Callable[[str, str], Exception]
"""Makes the error at a key, from the key and the problem."""


def read_passages(key: str, value: object, cells: int, edges: Passages, fail: Fail) -> Passages:
    """The pairs of ``edges`` (smaller cell first) or of ``arcs`` (as written), sorted.

    ``edges``: the edges read before the arcs. Raises what ``fail`` makes for anything but pairs of
    different cells, each passage once.
    """
    mend = f"write {key} = [[0, 1], [1, 2], ...] with cells 0 to {cells - 1}"
    if not isinstance(value, list):
        raise fail(key, f"expected an array of pairs of cells, got {shown(value)}; {mend}")
    found: set[tuple[int, int]] = set()
    for i, pair in enumerate(value, 1):
        if not isinstance(pair, list) or len(pair) != 2 or any(type(cell) is not int for cell in pair):
            raise fail(key, f"pair {i}: expected two cells such as [0, 1], got {_pair_shown(pair)}; {mend}")
        a, b = cast("list[int]", pair)
        where = f"pair {i} {_pair_shown(pair)}"
        for cell in (a, b):
            if not 0 <= cell < cells:
                raise fail(key, f"{where}: there is no cell {shown(cell)}, expected 0 to {cells - 1}; {mend}")
        if a == b:
            raise fail(key, f"{where} joins a cell with itself; expected two different cells, leave it out")
        ordered = (min(a, b), max(a, b))
        if key == "edges":
            a, b = ordered
        if (a, b) in found:
            raise fail(key, f"{where} appears twice; expected each passage once, leave one out")
        if ordered in edges:
            raise fail(
                key, f"{where} is also an edge, and edges go both ways; expected one of them, leave one out"
            )
        if (b, a) in found:
            raise fail(
                key, f"{where} and its opposite are both there; expected the edge {list(ordered)} instead"
            )
        found.add((a, b))
    return tuple(sorted(found))


def _pair_shown(pair: object) -> str:
    if isinstance(pair, list):
        return "[" + ", ".join(shown(cell) for cell in pair[:4]) + (", ..." if len(pair) > 4 else "") + "]"
    return shown(pair)


WALL_TOKEN = "#"
WILDCARD_TOKEN = "*"
ROW_TOKEN = "/"


MAX_TOKEN = 32
"""Characters in a token."""

RESERVED = "/,;#*"
"""Characters with a meaning of their own in a board: rows, separators, wall, wildcard."""


def token_problem(token: str) -> str | None:
    """Why the text cannot stand for a piece or the blank, or None when it can."""
    if not token:
        return "is empty"
    if len(token) > MAX_TOKEN:
        return f"has {len(token)} characters; at most {MAX_TOKEN} are possible"
    for character in token:
        if character in RESERVED:
            return f"holds {character!r}, which has a meaning of its own in boards"
        if character == " " or not character.isprintable():
            return f"holds the character U+{ord(character):04X}, which cannot be seen"
    if not token.isascii():
        import unicodedata

        if unicodedata.category(token[0])[0] == "M":
            return f"begins with the combining mark U+{ord(token[0]):04X}; separate the pieces with spaces"
    return None


_OTHERS = "·∙◦×"
"""How the pieces outside the pattern are written: the first of these that is no piece."""


def others_token(tokens: Sequence[str]) -> str:
    """How the pieces outside the pattern are written."""
    written: list[str] = [*_OTHERS, *(f"others{number}" for number in range(len(tokens)))]
    return next(token for token in written if token not in tokens)


def board_rows(
    text: str,
    places: Sequence[Sequence[int]],
    *,
    single: bool,
    barred: bool,
    accepted: Container[str],
    expected: Iterable[str],
    fail: Callable[[str], BoardError],
    walls: Container[str] = (WALL_TOKEN,),
) -> list[list[str]]:
    """The tokens of a board that was given as text, row by row, each wall as ``WALL_TOKEN``; they fit the grid.

    ``places``: the grid's cell numbers; ``single``: every token is one character, so that tokens need no spaces between
    them; ``barred``: a token holds ``|``, which then ends no row; ``accepted``: what a cell may hold, ``expected``: of
    these, what messages list. Raises what ``fail`` makes of a problem.
    """
    rows, divided = _split_rows(text, places, "/;\n\r" if barred else "/;\n\r|", single=single)
    if not rows:
        raise fail("it is empty")
    rows = [[WALL_TOKEN if token in walls else token for token in row] for row in rows]
    for i, row in enumerate(rows, 1):
        for j, token in enumerate(row, 1):
            if token != WALL_TOKEN and token not in accepted:
                where = f"row {i}, column {j}" if divided else f"place {j}"
                hint = "" if single or token == WILDCARD_TOKEN else "; separate the pieces with spaces"
                raise fail(f"{where} holds {shown(token)}, expected one of {' '.join(expected)}{hint}")
    if problem := _rows_problem(rows, places, divided=divided):
        raise fail(problem)
    return rows


def _split_rows(
    text: str, places: Sequence[Sequence[int]], row_marks: str, *, single: bool
) -> tuple[list[list[str]], bool]:
    """The tokens of each row that is not empty, and whether the text says where rows end.

    ``places``: the grid's cell numbers; ``row_marks``: characters that end a row; ``single``: every token is one
    character, so that tokens need no spaces between them.
    """
    for mark in row_marks:
        text = text.replace(mark, ROW_TOKEN)
    chunks = [row.replace(",", " ").split() for row in text.split(ROW_TOKEN)]
    chunks = [row for row in chunks if row]
    if not single:
        return chunks, len(chunks) > 1
    if len(chunks) == 1 and len(chunks[0]) > 1:
        longer = sum(len(chunk) > 1 for chunk in chunks[0])
        if longer == len(chunks[0]) or (longer and len(chunks[0]) == len(places)):
            return [list(chunk) for chunk in chunks[0]], True  # spaces end the rows
    # A row is one run of characters, or characters with spaces: a longer chunk among others is no token.
    return [list(row[0]) if len(row) == 1 else row for row in chunks], len(chunks) > 1


def _rows_problem(rows: list[list[str]], places: Sequence[Sequence[int]], *, divided: bool) -> str | None:
    """What is wrong with the shape of a board in rows, all walls drawn or none; None when it fits the grid."""
    walled = any(WALL_TOKEN in row for row in rows)
    expected = [list(row) if walled else [cell for cell in row if cell != WALL] for row in places]
    expected = [row for row in expected if row]
    if not divided:
        expected = [[cell for row in expected for cell in row]]
    cells = sum(len(row) for row in expected)
    what = "place" if walled else "cell"
    if not divided and len(rows[0]) != cells:
        return f"{counted(len(rows[0]), what)}, expected {cells}"
    if len(rows) != len(expected):
        return f"{counted(len(rows), 'row')}, expected {len(expected)}"
    for i, (row, numbers) in enumerate(zip(rows, expected, strict=True), 1):
        if len(row) != len(numbers):
            return f"row {i} has {counted(len(row), what)}, expected {len(numbers)}"
    for i, (row, numbers) in enumerate(zip(rows, expected, strict=True), 1):
        for j, (token, cell) in enumerate(zip(row, numbers, strict=True), 1):
            if (token == WALL_TOKEN) != (cell == WALL):
                found, instead = ("wall", "cell") if token == WALL_TOKEN else ("cell", "wall")
                where = f"row {i}, column {j}" if divided else f"place {j}"
                return f"{where} is a {found}, expected a {instead}; write all walls or none"
    return None
