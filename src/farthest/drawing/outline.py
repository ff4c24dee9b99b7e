"""Pieces of several cells as one SVG path: their common outline, with rounded corners, and where their label stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import dist

from farthest.puzzles.picture import Place, Point

ROUND = 0.14
"""The radius of a corner, in cells."""


def outline(cells: Sequence[Place], corner: Point, inset: float, scale: float) -> str:
    """The path, relative steps after each first point. ``inset``: how far within the edges; negative: outside. Cells
    that touch only at a corner are apart."""
    return "".join(_path(loop, corner, inset, scale) for loop in loops(cells))


def loops(cells: Sequence[Place]) -> list[list[Place]]:
    """The corners of each closed edge, with the cells on its right hand; the first is on the outside."""
    inside = set(cells)
    after: dict[Place, list[Place]] = {}
    for x, y in sorted(inside):
        square = ((x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1))
        beyond = ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y))
        for start, end, other in zip(square, (*square[1:], square[0]), beyond, strict=True):
            if other not in inside:
                after.setdefault(start, []).append(end)
    found = []
    while after:
        here = start = min(after)
        edge, came = [start], (1, 0)
        while True:
            # Of two ways on, where two cells touch at a corner, the one to the right keeps to the same cell.
            ends = after[here]
            end = max(ends, key=lambda end: _turn(came, _step(here, end)))
            ends.remove(end)
            if not ends:
                del after[here]
            came, here = _step(here, end), end
            if here == start:
                break
            edge.append(here)
        around = zip([edge[-1], *edge], edge, [*edge[1:], edge[0]], strict=False)
        found.append([at for before, at, then in around if _turn(_step(before, at), _step(at, then))])
    return found


def _step(start: Place, end: Place) -> Place:
    return end[0] - start[0], end[1] - start[1]


def _turn(one: Place, other: Place) -> int:
    """Positive to the right, where y is downward."""
    return one[0] * other[1] - one[1] * other[0]


def _sign(step: Place) -> Place:
    return (step[0] > 0) - (step[0] < 0), (step[1] > 0) - (step[1] < 0)


def _path(loop: Sequence[Place], corner: Point, inset: float, scale: float) -> str:
    parts = []
    bends = list(_bends(loop, inset))
    place: Point = (0.0, 0.0)
    for number, ((x, y), come, go) in enumerate(bends):
        start = (corner[0] + x - come[0] * ROUND, corner[1] + y - come[1] * ROUND)
        if number:
            dx, dy = (start[i] - place[i] for i in (0, 1))
            parts.append(f"h{_number(dx * scale)}" if abs(dx) > abs(dy) else f"v{_number(dy * scale)}")
        else:
            parts.append(f"M{_number(start[0] * scale)} {_number(start[1] * scale)}")
        bend = ROUND * (come[0] + go[0]), ROUND * (come[1] + go[1])
        steps = (come[0] * ROUND, come[1] * ROUND, *bend)
        parts.append("q" + " ".join(_number(value * scale) for value in steps))
        place = start[0] + bend[0], start[1] + bend[1]
    return "".join(parts) + "z"


def _bends(loop: Sequence[Place], inset: float) -> Iterator[tuple[Point, Place, Place]]:
    """Of each corner where it is, and the directions before and after it."""
    for before, (x, y), after in zip([loop[-1], *loop], loop, [*loop[1:], loop[0]], strict=False):
        come, go = _sign(_step(before, (x, y))), _sign(_step((x, y), after))
        # What is to the right of a step (a, b) is at (-b, a).
        yield (x - inset * (come[1] + go[1]), y + inset * (come[0] + go[0])), come, go


def _number(value: float) -> str:
    text = f"{round(value, 2):g}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def label_place(cells: Sequence[Place]) -> Point:
    """Of the middles of cells, edges between two and corners between four, one that is the farthest from the outside,
    and of these the nearest to the middle of all."""
    inside = set(cells)
    middle = (sum(x for x, _ in cells) / len(cells) + 0.5, sum(y for _, y in cells) / len(cells) + 0.5)
    places = []
    for x, y in sorted(inside):
        right, below, across = ((x + 1, y) in inside, (x, y + 1) in inside, (x + 1, y + 1) in inside)
        places.append((0, (x + 0.5, y + 0.5)))
        places += [(0, (x + 1.0, y + 0.5))] * right + [(0, (x + 0.5, y + 1.0))] * below
        places += [(-1, (x + 1.0, y + 1.0))] * (right and below and across)
    return min(places, key=lambda each: (each[0], round(dist(each[1], middle), 6)))[1]
