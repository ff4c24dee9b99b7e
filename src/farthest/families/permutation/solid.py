"""A twisty puzzle as a body in space, which follows from its net: each face is folded to where it is.

Where the face of a sticker is in space, the net tells (``faces`` of its table). The net of a cuboid, six rectangles
U; L F R B; D, needs not: they are folded to a box. x is to the right, y up, z to the reader, the middle of the body at
0; it is convex. Two views from opposite sides show all faces, each with a slight perspective.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import cos, dist, hypot, pi, radians, sin, sqrt

from farthest.families.permutation.fields import PermutationFields
from farthest.families.permutation.net import Net, Vector, board_colours
from farthest.puzzles.picture import PLASTIC, Picture, Point, Shape

NEAR = 0.02
"""Places that are nearer to each other, in parts of the body's radius, are one: nets are written with few digits."""

ZERO: Vector = (0.0, 0.0, 0.0)

ON_BOX: Mapping[str, Callable[[float, float, float], Vector]] = {
    "U": lambda x, y, far: (x, far, y),
    "R": lambda x, y, far: (far, -y, -x),
    "F": lambda x, y, far: (x, -y, far),
    "D": lambda x, y, far: (x, -far, -y),
    "L": lambda x, y, far: (-far, -y, x),
    "B": lambda x, y, far: (-x, -y, -far),
}
"""Where a point of a face is, x to the right of its middle in the net and y below; ``far``: from the box's middle."""

ON_NET = {"U": (1, 0), "R": (2, 1), "F": (1, 1), "D": (1, 2), "L": (0, 1), "B": (3, 1)}
"""Which column and row of faces a face is in the net of a box."""


def _box(net: Net) -> list[tuple[Vector, ...]] | None:
    """The stickers of the net of a box, folded; None: it is no such net."""
    areas = [sticker.area for sticker in net.stickers]
    if any(sticker.is_disc for sticker in net.stickers):
        return None
    left, top = min(area[0] for area in areas), min(area[1] for area in areas)
    wide, high = max(area[2] for area in areas) - left, max(area[3] for area in areas) - top
    z = min(area[1] for area in areas if area[0] == left) - top
    x, y = wide / 2 - z, high - 2 * z
    columns, rows = (0, z, z + x, 2 * z + x, wide), (0, z, z + y, high)
    if min(x, y, z) <= 0:
        return None
    far = {"U": y, "D": y, "L": x, "R": x, "F": z, "B": z}
    found, faces = [], set()
    for sticker, (x0, y0, x1, y1) in zip(net.stickers, areas, strict=True):
        for face, (column, row) in ON_NET.items():
            (x2, x3), (y2, y3) = columns[column : column + 2], rows[row : row + 2]
            if x2 <= x0 - left and x1 - left <= x3 and y2 <= y0 - top and y1 - top <= y3:
                faces.add(face)
                middle_x, middle_y = left + (x2 + x3) / 2, top + (y2 + y3) / 2
                place = ON_BOX[face]
                found.append(
                    tuple(place(x - middle_x, y - middle_y, far[face] / 2) for x, y in sticker.points)
                )
                break
        else:
            return None
    return found if len(faces) == 6 else None


def dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def plus(a: Vector, b: Vector, by: float = 1.0) -> Vector:
    return a[0] + by * b[0], a[1] + by * b[1], a[2] + by * b[2]


def times(a: Vector, by: float) -> Vector:
    return a[0] * by, a[1] * by, a[2] * by


def unit(a: Vector) -> Vector:
    return times(a, 1 / (hypot(*a) or 1.0))


def _middle(points: Sequence[Vector]) -> Vector:
    x, y, z = (sum(values) / len(points) for values in zip(*points, strict=True))
    return x, y, z


_INSET, _ROUND = 0.05, 0.18
"""From a sticker to its border, and what its rounding takes of its edges, in parts of the side of a mean one."""


@dataclass(frozen=True, slots=True)
class Body:
    """The body, its radius 1. ``faces``: the corners of what each sticker is on; ``places``: the middle of that;
    ``normals``: which way it looks. The sticker is by ``inset`` smaller on all sides, its corners rounded by ``round``.
    """

    faces: tuple[tuple[Vector, ...], ...]
    places: tuple[Vector, ...]
    normals: tuple[Vector, ...]
    inset: float
    round: float


@lru_cache(maxsize=32)
def body(net: Net) -> Body | None:
    """The body of a net; None: it is flat, or its faces are not round the point 0."""
    folded: Sequence[Sequence[Vector]] = [sticker.space for sticker in net.stickers]
    if not all(folded):
        folded = _box(net) or []
    if not folded:
        return None
    radius = max(hypot(*corner) for corners in folded for corner in corners) or 1.0
    faces = tuple(_corners([times(corner, 1 / radius) for corner in corners]) for corners in folded)
    if min(map(len, faces)) < 3:
        return None
    places, areas = tuple(map(_middle, faces)), list(map(_area, faces))
    normals = tuple(
        times(unit(each), 1 if dot(each, at) > 0 else -1) for each, at in zip(areas, places, strict=True)
    )
    if len({tuple(round(part, 1) + 0.0 for part in normal) for normal in normals}) < 4 or any(
        dot(normal, at) < NEAR for normal, at in zip(normals, places, strict=True)
    ):
        return None
    side = sqrt(sum(hypot(*each) for each in areas) / len(areas))
    shortest = min(dist(a, b) for face in faces for a, b in zip(face, [*face[1:], face[0]], strict=True))
    return Body(faces, places, normals, min(_INSET * side, shortest / 6), min(_ROUND * side, shortest / 3))


def _corners(points: Sequence[Vector]) -> tuple[Vector, ...]:
    """The points of a polygon at which it has a corner."""
    found = []
    for before, here, after in zip([points[-1], *points], points, [*points[1:], points[0]], strict=False):
        if hypot(*cross(plus(before, here, -1), plus(after, here, -1))) > NEAR**3:
            found.append(here)
    return tuple(found)


def _area(corners: Sequence[Vector]) -> Vector:
    """Upright on a flat polygon, as long as that is large."""
    total = ZERO
    for a, b in zip(corners, [*corners[1:], corners[0]], strict=True):
        total = plus(total, cross(a, b), 0.5)
    return total


def rounded(corners: Sequence[Vector], inset: float, round_: float) -> list[Vector]:
    """A flat convex polygon by ``inset`` smaller on all sides, its corners rounded: three points of each."""
    found = []
    for before, here, after in zip(
        [corners[-1], *corners], corners, [*corners[1:], corners[0]], strict=False
    ):
        back, on = unit(plus(before, here, -1)), unit(plus(after, here, -1))
        corner = plus(here, plus(back, on), inset / max(NEAR, hypot(*cross(back, on))))
        first, last = plus(corner, back, round_), plus(corner, on, round_)
        found += [first, times(plus(plus(first, last), corner, 2), 0.25), last]
    return found


DISTANCE = 7.0
"""From the eye to the middle of the body, in its radii."""

YAW, PITCH = radians(-36), radians(31)
VIEWS = (YAW, PITCH), (YAW + pi, -PITCH)
"""How the body is turned for each view: about the y axis, then about the x axis."""

_WIDTH, _APART = 7.0, 0.35
"""Of the picture, and between its views."""


def seen(point: Vector, yaw: float, pitch: float) -> Vector:
    """The point, turned to the eye, which is on the z axis."""
    x, y, z = point
    x, z = x * cos(yaw) + z * sin(yaw), z * cos(yaw) - x * sin(yaw)
    return x, y * cos(pitch) - z * sin(pitch), y * sin(pitch) + z * cos(pitch)


def flat(point: Vector) -> Point:
    """Where a point that is turned to the eye is drawn, y downward."""
    near = DISTANCE / (DISTANCE - point[2])
    return point[0] * near, -point[1] * near


@dataclass(frozen=True, slots=True)
class Views:
    """Both views in one picture, in cells. ``middles``: where the middle of the body is in each; ``scale``: its radius.
    ``hulls``: the body in each; ``stickers``: of each view those that are seen, and their corners."""

    width: float
    height: float
    scale: float
    middles: list[Point]
    hulls: list[list[Point]]
    stickers: list[list[tuple[int, list[Point]]]]


@lru_cache(maxsize=32)
def views(of: Body) -> Views:
    """What does not depend on the board."""
    hulls = [_hull(flat(seen(corner, *way)) for corners in of.faces for corner in corners) for way in VIEWS]
    spans = [[(min(values), max(values)) for values in zip(*each, strict=True)] for each in hulls]
    scale = (_WIDTH - _APART) / sum(right - left for (left, right), _ in spans)
    height = max(bottom - top for _, (top, bottom) in spans) * scale
    middles, x = [], 0.0
    for (left, right), (top, bottom) in spans:
        middles.append((x - left * scale, height / 2 - (top + bottom) / 2 * scale))
        x += (right - left) * scale + _APART
    found = Views(_WIDTH, height, scale, middles, [], [])
    for outline, way, (x, y) in zip(hulls, VIEWS, middles, strict=True):
        corners = rounded([(*point, 0.0) for point in outline], 0, of.round)
        found.hulls.append([(x + scale * a, y + scale * b) for a, b, _ in corners])
        stickers = []
        for number, face in enumerate(of.faces):
            normal, place = seen(of.normals[number], *way), seen(of.places[number], *way)
            if dot(normal, plus((0.0, 0.0, DISTANCE), place, -1)) > 0:
                points = (flat(seen(corner, *way)) for corner in rounded(face, of.inset, of.round))
                stickers.append((number, [(x + scale * a, y + scale * b) for a, b in points]))
        found.stickers.append(stickers)
    return found


def _hull(points: Iterable[Point]) -> list[Point]:
    """The corners of the least convex polygon round some points, in order."""
    ordered = sorted(points)
    sides = []
    for some in (ordered, ordered[::-1]):
        side: list[Point] = []
        for x, y in some:
            while len(side) > 1:
                (x0, y0), (x1, y1) = side[-2:]
                if (x1 - x0) * (y - y0) - (x - x0) * (y1 - y0) > NEAR**2:
                    break
                side.pop()
            side.append((x, y))
        sides += side[:-1]
    return sides


def picture(definition: PermutationFields, board: Sequence[int]) -> Picture | None:
    """Both views of a board; None: the puzzle is flat."""
    net = definition.net
    of = None if net is None else body(net)
    if net is None or of is None:
        return None
    both = views(of)
    colours = board_colours(net, definition.slot_moduli, definition.goals[0], board)
    shapes = []
    for outline, stickers in zip(both.hulls, both.stickers, strict=True):
        shapes.append(polygon(outline, PLASTIC))
        for number, corners in stickers:
            colour = colours[number]
            if colour is not None:
                shapes.append(polygon(corners, colour))
    return Picture(both.width, both.height, tuple(shapes))


def polygon(points: Sequence[Point], colour: int | str) -> Shape:
    """The shape with these corners."""
    xs, ys = zip(*points, strict=True)
    x, y = min(xs), min(ys)
    return Shape(x, y, max(xs) - x, max(ys) - y, colour, bare=True, points=tuple(points))
