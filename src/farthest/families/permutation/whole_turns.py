"""Turns of a whole cube and of its middle layers, taken out of moves: for a cube that is held, ``x U`` is ``F``.

After ``x``, ``y`` or ``z``, which turn the cube as ``R``, ``U`` and ``F`` turn their faces, a letter means the face
that is there now. The board is that of the cube turned back. Two layers, ``Rw`` or ``r``, are the opposite face and a
turn of the cube; a middle layer, ``M E S``, which turns as ``L D F``, is both faces beside it and a turn of the cube.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from farthest.families.permutation.moves import product
from farthest.puzzles.move_text import POWER, Step, check_count, power_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from farthest.families.permutation.moves import Modulo, Move

FACES = "UDLRFB"
OPPOSITE = ("UD", "LR", "FB")

_TURNS = {"x": "FUBD", "y": "FLBR", "z": "URDL"}  # each face goes where the next one was

_LAYERS = {
    "r": "L x",
    "l": "R x'",
    "u": "D y",
    "d": "U y'",
    "f": "B z",
    "b": "F z'",
    "M": "L' R x'",
    "E": "D' U y'",
    "S": "F' B z",
}
_PART = re.compile(rf"([{FACES}]w|[A-Za-z])({POWER.pattern})")


def is_cube(named: Mapping[str, Move], moduli: Modulo) -> bool:
    """Whether the moves are those of the six faces of a cube: of these, opposite ones alone can change places."""
    if any(face not in named for face in FACES) or set(named) & {*_TURNS, *_LAYERS}:
        return False
    faces = [named[face] for face in FACES]
    return all(
        (product(one, other, moduli).effect == product(other, one, moduli).effect)
        == ("".join(sorted((one.name, other.name))) in map("".join, map(sorted, OPPOSITE)))
        for i, one in enumerate(faces)
        for other in faces[:i]
    )


def without_whole_turns(steps: Sequence[Step]) -> list[Step]:
    """The steps as moves of the six faces of a cube that is held. A word that is none of these moves stays."""
    frame = {face: face for face in FACES}
    found: list[Step] = []
    for step in steps:
        parts = list(_parts(step.word))
        if not parts:
            found.append(step)
            continue
        for base, power in reversed(parts) if step.undone else parts:
            found += _held(base, -power if step.undone else power, frame, step.number)
            check_count(len(found))
    return found


def _parts(word: str) -> Iterator[tuple[str, int]]:
    """The moves that a word is, each with its power; none where it is anything else."""
    matches = list(_PART.finditer(word))
    bases = [match[1][0].lower() if match[1].endswith("w") else match[1] for match in matches]
    if "".join(match[0] for match in matches) != word or not {*bases} <= {*FACES, *_TURNS, *_LAYERS}:
        return
    for base, match in zip(bases, matches, strict=True):
        count, undone = power_of(match)
        yield base, -count if undone else count


def _held(base: str, power: int, frame: dict[str, str], number: int) -> Iterator[Step]:
    """The steps for a part; ``frame``, which is changed: for each place, the face that is there."""
    if base in FACES:
        yield Step(f"{frame[base]}{abs(power)}", power < 0, number)
    elif base in _LAYERS:
        for each in _LAYERS[base].split():
            yield from _held(each[0], -power if each.endswith("'") else power, frame, number)
    else:
        cycle = _TURNS[base]
        for _ in range(power % 4):
            here = [frame[face] for face in cycle]
            for face, gone in zip(cycle[1:] + cycle[:1], here, strict=True):
                frame[face] = gone
