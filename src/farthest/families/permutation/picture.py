"""The picture of a permutation board: its net of stickers, or its pieces in their slots."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.families.permutation import slots_drawn
from farthest.families.permutation.definition import Permutation
from farthest.families.permutation.net import Net, board_colours
from farthest.puzzles.definition import MoveName
from farthest.puzzles.holds import Hold
from farthest.puzzles.picture import Picture, Shape

_NET_WIDTH = 7.0  # wider nets are drawn smaller


def picture(definition: Permutation, board: Sequence[int]) -> Picture:
    """The net; of a puzzle without one the pieces in their slots."""
    if definition.net is not None:
        return _net(definition.net, definition, board)
    return slots_drawn.picture(definition, board)


def hold(definition: Permutation, board: Sequence[int], move: MoveName) -> Hold | None:
    """Of a move that turns the first pieces of a stack over the last of these; other moves have none."""
    del board
    if definition.net is not None or slots_drawn.form(definition) != "stack":
        return None
    turned = slots_drawn.turned_over(next(each.to for each in definition.generators if each.name == move))
    return Hold(slots_drawn.pancake(definition, turned - 1), said=f"turn over {turned}")


def _net(net: Net, definition: Permutation, board: Sequence[int]) -> Picture:
    areas = [sticker.area for sticker in net.stickers]
    left, top = min(x for x, _, _, _ in areas), min(y for _, y, _, _ in areas)
    width, height = max(right for _, _, right, _ in areas) - left, max(bottom for *_, bottom in areas) - top
    scale = min(1.0, _NET_WIDTH / width)
    colours = board_colours(net, definition.slot_moduli, definition.goals[0], board)
    shapes = []
    for sticker, colour, (x, y, right, bottom) in zip(net.stickers, colours, areas, strict=True):
        points = tuple(((x - left) * scale, (y - top) * scale) for x, y in sticker.points)
        shapes.append(
            Shape(
                (x - left) * scale,
                (y - top) * scale,
                (right - x) * scale,
                (bottom - y) * scale,
                colour=colour,
                disc=sticker.is_disc,
                points=() if sticker.is_disc else points,
            )
        )
    return Picture(width * scale, height * scale, tuple(shapes))
