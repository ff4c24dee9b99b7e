"""Boards with moves, and boards of a path, as parts of a page."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthest.drawing.page_boards import MoveLink, board_with_moves, frames
from farthest.drawing.svg import CELL, shape_svg
from farthest.puzzles.picture import Area, Hold, Picture, Shape

BOARD = Picture(3, 3, tuple(Shape(x, y, colour=x, text=str(y)) for x in range(3) for y in range(3)))
WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1), (2, 0), (1, 1))


@given(
    ways=st.lists(st.sampled_from(WAYS), min_size=1, max_size=6),
    size=st.sampled_from([(1, 1), (2, 1), (1, 3)]),
)
def test_moves_of_one_piece_share_its_place(ways: list[tuple[int, int]], size: tuple[int, int]) -> None:
    """Their links lie side by side within the source, cover it, and each has its arrow within its part."""
    source = Area(1, 1, *size)
    moves = [
        MoveLink(
            Hold(source, Area(1 + x, 1 + y, *size), (4,)), f"/{number}?a=1&b=2", f"move <{number}>", "nearer"
        )
        for number, (x, y) in enumerate(ways)
    ]
    root = ElementTree.fromstring(board_with_moves(BOARD, moves, "a <board>"))
    assert root.get("aria-label") == "a <board>"
    links = root.findall("a")
    assert {link.get("href"): link.get("aria-label") for link in links} == {
        move.address: move.said for move in moves
    }
    covered = 0.0
    for link in links:
        area, arrow = link.find("rect"), link.find("polygon")
        assert area is not None
        assert arrow is not None
        x, y, width, height = (float(area.get(name, "")) for name in ("x", "y", "width", "height"))
        covered += width * height
        assert x >= CELL - 0.1
        assert y >= CELL - 0.1
        for corner in arrow.get("points", "").split():
            across, down = map(float, corner.split(","))
            if len(ways) <= 2:  # of many moves the parts are narrow
                assert x - 0.1 <= across <= x + width + 0.1
                assert y - 0.1 <= down <= y + height + 0.1
    assert covered == pytest.approx(source.width * source.height * CELL * CELL, rel=0.01)


@given(
    boards=st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=4, unique=True),
        min_size=1,
        max_size=6,
    )
)
def test_the_changes_of_a_path_make_each_of_its_boards(boards: list[list[tuple[int, int]]]) -> None:
    pictures = [Picture(4, 1, tuple(Shape(x, 0, colour=colour) for x, colour in board)) for board in boards]
    made = frames(pictures, "path")
    shapes = re.findall(r'<g(?: display="none")?>(.*?)</g>', made.svg)
    shown = {number for number, each in enumerate(re.findall(r"<g([^>]*)>", made.svg)) if "none" not in each}
    for change, picture in zip(["-", *made.changes], pictures, strict=True):
        come, go = (set(map(int, part.split())) for part in change.split("-"))
        assert go <= shown
        assert not come & shown
        shown = shown - go | come
        assert {shapes[number] for number in shown} == set(map(shape_svg, picture.shapes))
    assert len(set(shapes)) == len(shapes)
