"""The number of states at each depth as bars, in SVG: as a part of a page, or as a file."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from farthest.drawing.svg import escape
from farthest.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

WIDTH, HEIGHT = 860.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 76.0, 16.0, 28.0, 40.0
MOST_LABELS = 20
POWERS_DRAWN = 14
LINES_DRAWN = 6
LEAST_BAR = 0.06
"""The height of a bar of one state on the logarithmic scale, as a part of the whole: it is seen, and more than none."""

_STYLE = (
    ".chart text{font:12px ui-sans-serif,system-ui,sans-serif;fill:#333}.bar{fill:#3b6ea5}.marked{fill:#c2410c}"
    ".grid{stroke:#ccc}"
)


@dataclass(frozen=True, slots=True)
class Chart:
    """What is drawn. ``layers[d]``: states at depth d, of which none is 0. ``marked``: a depth whose bar has a colour
    of its own. ``link``: the address that a bar of a depth leads to, for pages. ``brief``: the bars say and link
    nothing. ``top``: the most states of a chart beside it that has the same scale."""

    layers: Sequence[int]
    logarithmic: bool = False
    marked: int | None = None
    link: Callable[[int], str] | None = None
    brief: bool = False
    top: int = 0

    def part_of_page(self) -> str:
        """An SVG element; the page's own style colours the classes ``bar``, ``marked`` and ``grid``."""
        linked = self.link is not None and not self.brief
        role = "group" if linked else "img"  # what is in an image is hidden from screen readers
        about = f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="{role}" {self._label}'
        return f'<svg class="chart" {about}>{self._drawn()}</svg>'

    def document(self, title: str) -> str:
        """A whole SVG file."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" width="{WIDTH:g}" height="{HEIGHT:g}" '
            f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img"><title>{escape(title)}</title><style>{_STYLE}</style>'
            f'<rect width="{WIDTH:g}" height="{HEIGHT:g}" fill="#fff"/>{self._drawn()}</svg>\n'
        )

    @property
    def _label(self) -> str:
        scale = "logarithmic" if self.logarithmic else "linear"
        return f'aria-label="States at each depth, 0 to {len(self.layers) - 1}, {scale} scale"'

    def _drawn(self) -> str:
        return "".join([*self._grid(), *self._bars(), *self._depths()])

    def _height(self, states: float) -> float:
        """Of a bar, as a part of the whole height."""
        most = max(self.top, *self.layers)
        if not self.logarithmic:
            return states / most
        return LEAST_BAR + (1 - LEAST_BAR) * (log10(states) / log10(most) if most > 1 else 1.0)

    def _grid(self) -> Iterator[str]:
        bottom = HEIGHT - BOTTOM
        most = max(self.top, *self.layers)
        if self.logarithmic:
            powers = len(str(most)) - 1
            step = max(1, ceil(powers / POWERS_DRAWN))
            values = [10.0**power for power in range(0, powers + 1, step)]
        else:
            apart = _round_value(most / LINES_DRAWN)
            values = [apart * line for line in range(int(most / apart) + 1)]
        for value in values:
            y = bottom - self._height(value) * (bottom - TOP)
            yield f'<line class="grid" x1="{LEFT:g}" x2="{WIDTH - RIGHT:g}" y1="{y:.1f}" y2="{y:.1f}"/>'
            yield f'<text x="{LEFT - 6:g}" y="{y + 4:.1f}" text-anchor="end">{_short(value)}</text>'
        turned = f"translate(14 {(TOP + bottom) / 2:g}) rotate(-90)"
        yield f'<text transform="{turned}" text-anchor="middle">states</text>'

    def _bars(self) -> Iterator[str]:
        bottom = HEIGHT - BOTTOM
        room = (WIDTH - LEFT - RIGHT) / len(self.layers)
        bars = []
        for depth, states in enumerate(self.layers):
            height = max(1.0, self._height(states) * (bottom - TOP)) if states else 0.0
            left = f"{LEFT + depth * room + room * 0.06:.1f}"
            bars.append(f"M{left} {bottom:g}v-{height:.1f}h{room * 0.88:.1f}V{bottom:g}z")
        if self.marked is not None:
            middle = LEFT + (self.marked + 0.5) * room
            place = "middle" if LEFT + 90 < middle < WIDTH - 90 else "start" if middle < WIDTH / 2 else "end"
            told = f"depth {self.marked}: {counted(self.layers[self.marked], 'state')}"
            yield f'<text class="here" x="{middle:.1f}" y="{TOP - 8:g}" text-anchor="{place}">{told}</text>'
        yield '<g class="bar">'
        if self.brief:
            yield f'<path d="{"".join(bars)}"/>'
        for depth, (states, bar) in enumerate(zip(self.layers, bars, strict=True)):
            kind = ' class="marked"' if depth == self.marked else ""
            drawn = f'<path{kind} d="{bar}"/>'
            if not self.brief:
                yield self._told(depth, states, drawn)
            elif depth == self.marked:
                yield drawn
        yield "</g>"

    def _told(self, depth: int, states: int, bar: str) -> str:
        """A bar with what it says, and a link where there is one."""
        title = f"<title>depth {depth}: {counted(states, 'state')}</title>"
        if self.link is None:
            return f"<g>{title}{bar}</g>"
        here = ' aria-current="true"' if depth == self.marked else ""
        return f'<a href="{escape(self.link(depth))}"{here}>{title}{bar}</a>'

    def _depths(self) -> Iterator[str]:
        room = (WIDTH - LEFT - RIGHT) / len(self.layers)
        step = _round_step(len(self.layers))
        for number, depth in enumerate(range(0, len(self.layers), step)):
            x = LEFT + (depth + 0.5) * room
            kind = ' class="second"' if number % 2 else ""  # left out where there is little room
            yield f'<text{kind} x="{x:.1f}" y="{HEIGHT - BOTTOM + 16:g}" text-anchor="middle">{depth}</text>'
        yield f'<text x="{(WIDTH + LEFT) / 2:g}" y="{HEIGHT - 5:g}" text-anchor="middle">depth (moves)</text>'


def _round_step(depths: int) -> int:
    """How many depths apart labels are: 1, 2 or 5 times a power of 10."""
    step, factors = 1, (2, 2.5, 2)
    number = 0
    while depths / step > MOST_LABELS:
        step = int(step * factors[number % 3])
        number += 1
    return step


def _round_value(least: float) -> float:
    """The first of 1, 2, 2.5, 5 and 10 times a power of 10 that is not below ``least``, and at least 1."""
    power = 10.0 ** floor(log10(max(1.0, least)))
    return next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= least)


def _short(value: float) -> str:
    """A number of states in few characters."""
    for power, unit in ((12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if value >= 10**power:
            return f"{value / 10**power:.3g} {unit}"
    return f"{value:.3g}"
