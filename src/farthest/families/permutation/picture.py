"""The picture of a permutation board: its net of stickers, or a row of pieces for each set."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.families.permutation.boards import layout
from farthest.families.permutation.definition import Permutation
from farthest.families.permutation.net import Net, board_colours
from farthest.puzzles.definition import MoveName
from farthest.puzzles.holds import Area, Hold
from farthest.puzzles.picture import Picture, Shape

_BETWEEN = 1.3  # from row to row
_NET_WIDTH = 7.0  # wider nets are drawn smaller


def picture(definition: Permutation, board: Sequence[int]) -> Picture:
    """The net; of a puzzle without one a row of pieces for each set, in which a turned piece tells by how much."""
    if definition.net is not None:
        return _net(definition.net, definition, board)
    shapes, sets = [], layout(definition).rows
    palette = definition.palette()
    for y, row in enumerate(sets):
        for x, slot in enumerate(row.slots):
            turned = board[definition.slots + slot] if definition.oriented else 0
            token = definition.tokens[board[slot]]
            text = f"{token}+{turned}" if turned else token
            shapes.append(Shape(x, y * _BETWEEN, colour=palette[token], text=text))
    return Picture(max(len(row.slots) for row in sets), len(sets) * _BETWEEN - (_BETWEEN - 1), tuple(shapes))


def hold(definition: Permutation, board: Sequence[int], move: MoveName) -> Hold | None:
    """Of a move that turns the first pieces over, such as pancakes, the last of these; other moves have none."""
    del board
    rows = layout(definition).rows
    to = next(each.to for each in definition.generators if each.name == move)
    last = max((slot for slot, other in enumerate(to) if other != slot), default=0)
    turned = to[: last + 1] == tuple(range(last, -1, -1))
    if (
        definition.net is not None
        or len(rows) > 1
        or list(rows[0].slots) != sorted(rows[0].slots)
        or not turned
    ):
        return None
    return Hold(Area(float(last), 0.0), said=f"turn over {last + 1}")


def _net(net: Net, definition: Permutation, board: Sequence[int]) -> Picture:
    corners = [point for sticker in net.stickers for point in sticker.points]
    left, top = min(x for x, _ in corners), min(y for _, y in corners)
    width, height = max(x for x, _ in corners) - left, max(y for _, y in corners) - top
    scale = min(1.0, _NET_WIDTH / width)
    colours = board_colours(net, definition.slot_moduli, definition.goals[0], board)
    shapes = []
    for sticker, colour in zip(net.stickers, colours, strict=True):
        points = tuple(((x - left) * scale, (y - top) * scale) for x, y in sticker.points)
        xs, ys = [x for x, _ in points], [y for _, y in points]
        shapes.append(
            Shape(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys), colour=colour, points=points)
        )
    return Picture(width * scale, height * scale, tuple(shapes))
