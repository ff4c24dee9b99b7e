"""Which shape of a picture is which of the next: the tracks of pieces through pictures."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.puzzles.picture import Picture, Point, Shape


@dataclass(frozen=True, slots=True)
class Track:
    """A piece: how it looks, at (0, 0), and its corner in each picture; None where it is not there."""

    look: Shape
    places: list[Point | None]


def tracks(pictures: Sequence[Picture]) -> list[Track]:
    """The tracks of all shapes that glide. Of shapes that look alike those at the same place are the same, and of the
    others those that are nearest to each other."""
    found: list[Track] = []
    for number, picture in enumerate(pictures):
        there: dict[Shape, list[Point]] = defaultdict(list)
        for shape in picture.shapes:
            if shape.glides:
                there[replace(shape, x=0.0, y=0.0, points=())].append((shape.x, shape.y))
        for track in found:
            track.places.append(None)
        for look, places in there.items():
            alike = [track for track in found if track.look == look and track.places[-2] is not None]
            for track, place in _matched(alike, places):
                track.places[-1] = place
                places.remove(place)
            found += [Track(look, [*[None] * number, place]) for place in places]
    return found


def _matched(alike: Sequence[Track], places: Sequence[Point]) -> list[tuple[Track, Point]]:
    """Each track with at most one place, the nearest pairs first."""
    pairs = sorted(
        (_distance(track.places[-2], place), i, j)
        for i, track in enumerate(alike)
        for j, place in enumerate(places)
    )
    chosen: dict[int, int] = {}
    for _, i, j in pairs:
        if i not in chosen and j not in chosen.values():
            chosen[i] = j
    return [(alike[i], places[j]) for i, j in chosen.items()]


def _distance(one: Point | None, other: Point) -> float:
    assert one is not None, "only tracks that the picture before shows are asked"
    return (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2
