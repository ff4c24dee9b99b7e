"""Pictures of a path: a strip of its boards, or its boards one after the other, animated by CSS without a script."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from farthest.drawing.svg import CELL, GAP, SIGN, escape, head, shape_svg, svg
from farthest.puzzles.family import board_picture
from farthest.puzzles.move_text import board_titles
from farthest.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.puzzles.definition import NamedPath
    from farthest.puzzles.picture import Picture, Point, Shape
    from farthest.puzzles.puzzle import Puzzle


@dataclass(frozen=True, slots=True)
class Track:
    """A piece: how it looks, at (0, 0), and its corner in each picture; None where it is not there."""

    shape: Shape
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
        for shape, places in there.items():
            alike = [track for track in found if track.shape == shape and track.places[-2] is not None]
            for track, place in _matched(alike, places):
                track.places[-1] = place
                places.remove(place)
            found += [Track(shape, [*[None] * number, place]) for place in places]
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


SECONDS = 0.8
"""Between two moves."""
FIRST, LAST = 2, 3
"""How many times as long the first and the last picture are shown."""
GLIDE = 0.4
"""Of the time between two moves, the part in which a piece moves."""
LINE = 18.0
LEAST_WIDTH = 320.0
"""Of the room for captions, in pixels."""


def animated_svg(frames: Sequence[tuple[str, Picture]], title: str) -> str:
    """The pictures at one place, one after the other, over and over; below them all captions, of which that of the
    picture shown is marked. ``title``: what a screen reader says.

    Who has asked the system for less motion sees the first picture and all captions.
    """
    return _Animation([caption for caption, _ in frames], [picture for _, picture in frames]).document(title)


class _Animation:
    def __init__(self, captions: Sequence[str], pictures: Sequence[Picture]) -> None:
        self.captions = captions
        self.pictures = pictures
        self.last = len(pictures) - 1
        self.units = FIRST + LAST + self.last - 1 if self.last else 1
        self.height = max(picture.height for picture in pictures) * CELL
        self.field = max(LEAST_WIDTH, *(picture.width * CELL for picture in pictures))
        still = [{shape for shape in picture.shapes if not shape.glides} for picture in pictures]
        common = set.intersection(*still)
        self.ground = dict.fromkeys(
            shape
            for picture, found in zip(pictures, still, strict=True)
            for shape in picture.shapes
            if shape in found and (shape in common or shape.colour == -1)
        )
        """What is drawn once: the shapes that all pictures have, and all holes, over which pieces lie."""

    def document(self, title: str) -> str:
        pieces = tracks(self.pictures)
        places, lines = _wrapped(self.captions, self.field)
        whole = self.field + 2 * GAP, self.height + 3 * GAP + lines * LINE
        style = self.style() + "".join(self.motion(i, track) for i, track in enumerate(pieces))
        inset = GAP + (self.field - max(picture.width for picture in self.pictures) * CELL) / 2
        parts = [*head(*whole, title, style), f'<g transform="translate({inset:g} {GAP:g})">']
        parts += map(shape_svg, self.ground)
        for number, picture in enumerate(self.pictures):
            shapes = [shape for shape in picture.shapes if not shape.glides and shape not in self.ground]
            if shapes:
                parts += [f"<g {self.timed(number, 'f')}>", *map(shape_svg, shapes), "</g>"]
        parts += [f'<g class="p{i}">{shape_svg(track.shape)}</g>' for i, track in enumerate(pieces)]
        parts.append(f'</g><g transform="translate({GAP:g} {self.height + 2 * GAP:g})">')
        for number, (caption, (x, y)) in enumerate(zip(self.captions, places, strict=True)):
            parts.append(f'<text {self.timed(number, "w")} x="{x:g}" y="{y:g}">{escape(caption)}</text>')
        parts.append("</g></svg>\n")
        return "\n".join(parts)

    def timed(self, number: int, kind: str) -> str:
        """The attributes of what is shown, or marked, with one picture."""
        which = "a" if not number else "z" if number == self.last else ""
        delay = f' style="animation-delay:{self.begin(number) * SECONDS:g}s"' if number else ""
        return f'class="{kind}{f" {kind}{which}" if which else ""}"{delay}'

    def begin(self, number: int) -> int:
        """When a picture is first shown, in units of ``SECONDS``; of the picture after the last the end."""
        return 0 if not number else self.units if number > self.last else FIRST + number - 1

    def style(self) -> str:
        rules = [
            f"[class]{{animation-duration:{self.units * SECONDS:g}s;animation-iteration-count:infinite}}",
            ".f{visibility:hidden}.w{font-size:13px;fill:#666}.f,.w{animation-timing-function:step-end}",
        ]
        for which, units in (("", 1), ("a", FIRST if self.last else 1), ("z", LAST)):
            end = self.percent(units)
            rules.append(
                f"@keyframes f{which}{{0%{{visibility:visible}}{end}{{visibility:hidden}}}}"
                f"@keyframes w{which}{{0%{{fill:#c2410c}}{end}{{fill:#666}}}}"
                f".f{which}{{animation-name:f{which}}}.w{which}{{animation-name:w{which}}}"
            )
        rules.append(
            "@media(prefers-reduced-motion:reduce){[class]{animation:none!important}.fa{visibility:visible}}"
        )
        return "".join(rules)

    def motion(self, number: int, track: Track) -> str:
        """The rules of a piece: where it is first, and how it goes from place to place."""
        first = next(place for place in track.places if place is not None)
        frames = [(self.percent(0), first, track.places[0] is not None)]
        for i, place in enumerate(track.places[1:], 1):
            _, before, there = frames[-1]
            if (place or before, place is not None) != (before, there):
                start = self.begin(i)
                frames.append((self.percent(start), before, there))
                frames.append((self.percent(start + GLIDE), place or before, place is not None))
        still = _place(*frames[0][1:])
        rules = "".join(
            f"{time}{{{_place(place, there)}}}" for time, place, there in (*frames, ("100%", *frames[-1][1:]))
        )
        if len(frames) == 1:
            return f".p{number}{{{still}}}"
        return f".p{number}{{{still};animation-name:p{number}}}@keyframes p{number}{{{rules}}}"

    def percent(self, units: float) -> str:
        return f"{100 * units / self.units:.5g}%"


def _place(place: Point, there: bool) -> str:
    moved = f"transform:translate({place[0] * CELL:g}px,{place[1] * CELL:g}px)"
    return f"{moved};visibility:{'visible' if there else 'hidden'}"


def _wrapped(captions: Sequence[str], width: float) -> tuple[list[Point], int]:
    """The middle of each caption in lines of this width, and the number of lines."""
    places: list[Point] = []
    x, line = 0.0, 0
    for caption in captions:
        wide = len(caption) * SIGN
        if x and x + wide > width:
            x, line = 0.0, line + 1
        places.append((x + wide / 2, (line + 0.5) * LINE))
        x += wide + 1.5 * SIGN
    return places, line + 1


BOARDS_SHOWN = 60
"""Of a path in a notebook; of a longer one the first and the last."""


def path_svg(puzzle: Puzzle, path: NamedPath, *, animated: bool = False, most: int | None = None) -> str:
    """The boards of a path as an SVG document: in rows, each above the move that leads to it, or ``animated``.
    ``most``: boards of a strip; of a longer path the first and the last."""
    title = f"{puzzle.title}: {counted(len(path.moves), 'move')}"
    captioned = list(zip(board_titles(path), path.boards.tolist(), strict=True))
    if most is not None and len(captioned) > most:
        half = most // 2
        captioned = [*captioned[:half], ("...", captioned[half][1]), *captioned[1 + half - most :]]
    pictures = [(caption, board_picture(puzzle, board, path.definition)) for caption, board in captioned]
    return animated_svg(pictures, title) if animated else svg(pictures, title, below=True)
