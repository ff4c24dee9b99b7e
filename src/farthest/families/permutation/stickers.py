"""Boards that are drawn by the colours of their stickers. Cubes are written as facelets (facelets.py), others as
``stickers:`` and a sign for each sticker of the net, in its order: the first letter of its colour that is not one of an
earlier colour, in the order of ``NAMED_COLOURS``.

Boards of a puzzle are drawn so where all stickers are coloured on its goal, and these colours tell each piece.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from farthest.errors import BoardError
from farthest.families.permutation.facelets import FACES, cube_of, pieces_of_facelets, pieces_seen
from farthest.families.permutation.net import FIXED, Net, board_colours, net_picture
from farthest.puzzles.picture import NAMED_COLOURS, Canvas, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.families.permutation.fields import PermutationFields
    from farthest.puzzles.definition import Board

BEFORE = "stickers:"
_UNSET = "."


def pieces_of_colours(
    definition: PermutationFields, text: str, place: str
) -> tuple[list[int], list[int]] | None:
    """Label and orientation of each slot; None: the text is not one of colours. Raises BoardError."""
    if definition.net is None or not text.lstrip().startswith(BEFORE):
        return pieces_of_facelets(definition, text, place)
    colour_of = {sign: colour for colour, sign in signs(definition.net).items()}
    written = [sign for sign in text.strip().removeprefix(BEFORE) if not sign.isspace()]
    count = len(definition.net.stickers)
    if len(written) != count:
        raise BoardError(f"{place}: {len(written)} stickers, expected {count}; write a sign for each")
    wrong = next((sign for sign in written if sign not in colour_of), None)
    if wrong is not None:
        raise BoardError(
            f"{place}: a sticker is {wrong!r}, expected one of {' '.join(colour_of)}; correct it"
        )
    return _pieces(definition, [colour_of[sign] for sign in written], place)


def _pieces(definition: PermutationFields, colours: Sequence[str], place: str) -> tuple[list[int], list[int]]:
    assert definition.net is not None
    seen = defaultdict(list)
    for sticker, colour in zip(definition.net.stickers, colours, strict=True):
        if sticker.slot != FIXED:
            seen[sticker.slot].append((sticker, colour))
        elif colour != sticker.colour:
            raise BoardError(
                f"{place}: a sticker that no move touches is {colour}, expected {sticker.colour}; correct it"
            )

    def shown(slot: int) -> str:
        colours = ", ".join(colour for _, colour in seen[slot])
        return f"shows {colours}, and no piece has these colours in this order"

    return pieces_seen(definition, seen, place, shown)


def signs(net: Net) -> dict[str, str]:
    """How each colour of the net is written."""
    found: dict[str, str] = {}
    for colour in sorted({sticker.colour for sticker in net.stickers}, key=list(NAMED_COLOURS).index):
        found[colour] = next(letter for letter in colour if letter not in found.values())
    return found


@lru_cache(maxsize=32)
def _told_by_colours(definition: PermutationFields) -> bool:
    """Whether the colours tell each piece of the goal."""
    goal = definition.goals[0]
    assert definition.net is not None
    colours = board_colours(definition.net, definition.slot_moduli, goal, goal)
    try:
        labels, turns = _pieces(definition, [str(colour) for colour in colours], "")
    except BoardError:
        return False
    return (*labels, *turns)[: len(goal)] == goal


def canvas(definition: PermutationFields, board: Board | None) -> Canvas | None:
    """The stickers on the net; at first only those that no move touches are coloured."""
    net = definition.net
    if net is None or not _told_by_colours(definition):
        return None
    cube = cube_of(net)
    ordered = net if cube is None else Net(cube.stickers)
    goal = definition.goals[0]
    found = board_colours(ordered, definition.slot_moduli, goal, goal if board is None else board)
    still = (at for at, sticker in enumerate(ordered.stickers) if sticker.slot == FIXED)
    fixed = frozenset(still if cube is None else cube.middles)  # a cube may be held otherwise
    written = signs(net) if cube is None else dict(zip(cube.colours, FACES, strict=True))
    number = {colour: at for at, colour in enumerate(written)}
    held = tuple(
        -1 if colour is None or (board is None and at not in fixed) else number[colour]
        for at, colour in enumerate(found)
    )
    shown = net_picture(ordered, [None] * len(held))
    return Canvas(
        shown.width,
        shown.height,
        tuple((shape, "") for shape in shown.shapes),
        tuple(Value(sign, colour) for colour, sign in written.items()),
        held,
        unset=_UNSET,
        before="" if cube else BEFORE,
        fixed=fixed,
    )
