"""Plain Lights Out boards by name: ``lights-5x5``, ``lights-torus-5x5``, ``lights-3x3-c3``, with known answers."""

from __future__ import annotations

import re
from math import comb

from farthest.errors import PuzzleError
from farthest.families.lights.definition import COLOURS, MAX_LAMPS, Lights
from farthest.families.lights.reader import NEIGHBOURS, grid_presses
from farthest.puzzles.grid import number_cells
from farthest.puzzles.puzzle import KnownAnswer, Origin, Puzzle
from farthest.wording import shown

_NAME = re.compile(r"lights-(torus-)?([0-9]+)x([0-9]+)(?:-c([0-9]+))?(-multi)?")
_SQUARE_NULLITY = (0, 0, 0, 0, 4, 2, 0, 0, 0)
"""Of the n x n board the number of press patterns that change nothing, as a power of 2 (OEIS A159257)."""


_FIVE = "1 25 300 2300 12650 53130 176176 467104 982335 1596279 1935294 1684446 1004934 383670 82614 7350"
_LAYERS = {4: (1, 16, 120, 560, 1387, 1440, 540, 32), 5: tuple(map(int, _FIVE.split()))}


def plain_lights(name: str) -> Puzzle | None:
    """The board of such a name, else None. Raises PuzzleError for an impossible size."""
    match = _NAME.fullmatch(name)
    if not match:
        return None
    numbers = [int(text) if len(text) <= 3 else 1000 for text in (match[2], match[3], match[4] or "2")]
    rows, columns, colours = numbers
    if not 1 <= rows * columns <= MAX_LAMPS:
        raise PuzzleError(f"{shown(name)}: expected 1 to {MAX_LAMPS} lamps; choose another size")
    if not 2 <= colours <= len(COLOURS):
        raise PuzzleError(f"{shown(name)}: expected 2 to {len(COLOURS)} colours; choose such a number")
    torus, multi = bool(match[1]), bool(match[5])
    numbered = number_cells([[False] * columns for _ in range(rows)])
    kind = f"{', edges joined' if torus else ''}{f', {colours} colours' if colours > 2 else ''}"
    return Puzzle(
        name=(
            f"lights-{'torus-' if torus else ''}{rows}x{columns}"
            f"{f'-c{colours}' if colours > 2 else ''}{'-multi' if multi else ''}"
        ),
        title=f"Lights Out on {rows} x {columns} lamps{kind}",
        source="the plain board of this size; Lights Out, Tiger Electronics 1995",
        family="lights",
        metric="multi" if multi else "press",
        origin=Origin(),
        known=() if torus or colours > 2 or rows != columns else _known(rows),
        definition=Lights(
            rows=numbered,
            presses=grid_presses(numbered, NEIGHBOURS["orthogonal"], torus=torus, own=True),
            colours=colours,
            goals=((0,) * (rows * columns),),
        ),
    )


def _known(side: int) -> tuple[KnownAnswer, ...]:
    lamps, nullity = side * side, _SQUARE_NULLITY[side]
    source = "OEIS A159257"
    layers: tuple[int, ...] | None = _LAYERS.get(side)
    if nullity == 0:
        source += ": each board is solved by one set of presses"
        layers = tuple(comb(lamps, presses) for presses in range(lamps + 1))
    elif layers is not None:
        source += "; J. Scherphuis, puzzle page (Lights Out); layers by cosets of quiet patterns"
    eccentricity = None if layers is None else len(layers) - 1
    return (KnownAnswer(2 ** (lamps - nullity), eccentricity, layers, None, source),)
