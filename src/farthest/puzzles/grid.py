"""The geometry of boards: cells of a grid with walls, passages between cells, connected parts."""

from collections.abc import Iterable, Sequence

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


def components(cells: int, passages: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The connected parts, every passage taken both ways: each ascending, in order of first cells."""
    neighbours: list[list[int]] = [[] for _ in range(cells)]
    for a, b in passages:
        neighbours[a].append(b)
        neighbours[b].append(a)
    parts, seen = [], [False] * cells
    for first in range(cells):
        if seen[first]:
            continue
        seen[first] = True
        part = [first]
        for cell in part:  # grows while it is read
            for other in neighbours[cell]:
                if not seen[other]:
                    seen[other] = True
                    part.append(other)
        parts.append(sorted(part))
    return parts


def disconnection(cells: int, passages: Iterable[tuple[int, int]]) -> str | None:
    """What is wrong when the cells are not all joined, with the parts named; None when they are."""
    parts = components(cells, passages)
    if len(parts) == 1:
        return None
    named = ", ".join("{" + " ".join(map(str, part)) + "}" for part in parts)
    return f"the cells fall into {len(parts)} parts with no passage between them: {named}"
