"""The picture of a sliding board: tiles in their cells."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.families.sliding.definition import Sliding
from farthest.puzzles.definition import WILDCARD, Board, MoveName
from farthest.puzzles.picture import (
    Area,
    Canvas,
    Hold,
    Picture,
    Shape,
    Value,
    cell_hold,
    cell_places,
    cells_picture,
    grid_canvas,
)


def picture(definition: Sliding, board: Sequence[int]) -> Picture:
    """Tiles in their cells."""
    tiles, palette = [], definition.palette()
    for x, y, cell in cell_places(definition.rows, definition.cells):
        token = "*" if board[cell] == WILDCARD else definition.tokens[board[cell]]
        colour = palette.get(token) if board[cell] else -1
        tiles.append(Shape(x, y, colour=colour, text=token if board[cell] else "", glides=board[cell] > 0))
    return cells_picture(definition.rows, definition.cells, tiles)


def hold(definition: Sliding, board: Sequence[int], move: MoveName, after: Sequence[int]) -> Hold:
    """The piece that is farthest from the blank; those between go along, each to the next cell."""
    assert not isinstance(move, str)
    source, target = move
    token = definition.tokens[board[source]]
    if not definition.rows:
        return cell_hold((), definition.cells, source, target, f"tile {token} from {source} to {target}")
    places = cell_places(definition.rows, definition.cells)
    (x, y), (to_x, to_y) = (next((x, y) for x, y, at in places if at == cell) for cell in move)
    step_x, step_y = (to_x > x) - (to_x < x), (to_y > y) - (to_y < y)
    between = [(x + k * step_x, y + k * step_y) for k in range(max(abs(to_x - x), abs(to_y - y)))]
    shapes = tuple(number for number, (*place, _) in enumerate(places) if tuple(place) in between)
    way = ("left" if step_x < 0 else "right") if step_x else "up" if step_y < 0 else "down"
    return Hold(Area(x, y), Area(x + step_x, y + step_y), shapes, said=f"tile {token} {way}")


def canvas(definition: Sliding, board: Board | None) -> Canvas | None:
    """Tiles that change places, from the goal on; none of a goal that stands for many boards."""
    held = board or definition.goals[0] if definition.goals else board
    if held is None or WILDCARD in held or definition.blanks:
        return None
    palette = definition.palette()
    tiles = [Value(token, palette[token], token) for token in definition.tokens[1:]]
    return grid_canvas(definition.rows, held, [Value(definition.tokens[0], -1), *tiles], swapped=True)
