"""Twisty puzzles in space: both views show each sticker of the net in its colour."""

from __future__ import annotations

from math import cos, radians, sin

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from farthest.drawing.terminal import coloured
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.net import board_colours
from farthest.families.permutation.solid import body, views
from farthest.families.permutation.turning import turn
from farthest.families.user_input import drawn_board
from farthest.puzzles import catalogue
from farthest.puzzles.family import board_picture
from farthest.puzzles.picture import PLASTIC

NAMES = [
    "cube-2x2x2-htm",
    "cube-3x3x3",
    "cube-3x3x3-slices",
    "cube-3x3x3-three-colours",
    "cuboid-1x3x3",
    "cuboid-2x2x3",
    "dino-cube",
    "fto",
    "megaminx",
    "pyraminx",
    "skewb",
]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_the_two_views_show_each_sticker_of_the_net_once(name: str, data: st.DataObject) -> None:
    puzzle = catalogue.load(name)
    definition = permutation(puzzle)
    generators = sorted(move.name for move in definition.generators)
    moves = data.draw(st.lists(st.sampled_from(generators), min_size=1, max_size=9))
    board = drawn_board(puzzle, f"moves: {' '.join(moves)}")
    net = definition.net
    assert net is not None
    of = body(net)
    assert of is not None
    colours = board_colours(net, definition.slot_moduli, definition.goals[0], board)
    seen = [number for view in views(of).stickers for number, _ in view]
    assert sorted(seen) == list(range(len(net.stickers)))
    shapes = [shape.colour for shape in board_picture(puzzle, board).shapes]
    assert shapes.count(PLASTIC) == 2
    assert [colour for colour in shapes if colour != PLASTIC] == [colours[number] for number in seen]


@pytest.mark.parametrize("name", [*NAMES, "cube-3x3x3-antislices", "cube-2x2x2-qtm"])
@settings(max_examples=2, deadline=None)
@given(data=st.data())
def test_the_parts_that_a_move_turns_take_their_colours_along(name: str, data: st.DataObject) -> None:
    puzzle = catalogue.load(name)
    definition = permutation(puzzle)
    net = definition.net
    assert net is not None
    of = body(net)
    assert of is not None
    moves = data.draw(st.lists(st.sampled_from(definition.generators), min_size=4, max_size=9))
    for length in range(len(moves)):
        names = [move.name for move in moves[: length + 1]]
        before, after = (
            board_colours(net, definition.slot_moduli, definition.goals[0], board)
            for board in (drawn_board(puzzle, f"moves: {' '.join(some)}") for some in (names[:-1], names))
        )
        found = turn(net, moves[length])
        assert found is not None
        expected = list(before)
        for degrees, numbers in found.parts:
            cross = np.cross(np.eye(3), found.axis)
            angle = radians(degrees)
            rotation = np.eye(3) + sin(angle) * cross + (1 - cos(angle)) * cross @ cross
            for number in numbers:
                far = np.linalg.norm(np.array(of.places) - rotation @ of.places[number], axis=1)
                assert far.min() < 0.02
                expected[int(far.argmin())] = before[number]
        assert expected == after


def test_a_net_on_a_plane_has_no_body() -> None:
    net = permutation(catalogue.load("hungarian-rings-small")).net
    assert net is not None
    assert body(net) is None


def test_a_group_is_drawn_by_its_cycles() -> None:
    """A wedge for each point that is moved, from it to where its piece belongs, in the colour of its cycle."""
    puzzle = catalogue.load("mathieu-m24")
    goal = puzzle.definition.origin_boards[0][0]
    assert {shape.colour for shape in board_picture(puzzle, goal).shapes} == {"grey"}
    board = drawn_board(puzzle, "moves: a b")
    shapes = board_picture(puzzle, board).shapes
    wedges, discs = shapes[:-24], shapes[-24:]
    moved = [slot for slot in range(24) if board[slot] != goal[slot]]
    assert len(wedges) == len(moved)
    middles = [(disc.x + disc.width / 2, disc.y + disc.height / 2) for disc in discs]
    for wedge in wedges:
        (x, y), (x1, y1), tip = wedge.points
        start = middles.index(
            next(each for each in middles if each == pytest.approx(((x + x1) / 2, (y + y1) / 2)))
        )
        end = middles.index(next(each for each in middles if each == pytest.approx(tip)))
        assert goal[end] == board[start]
        assert wedge.colour == discs[start].colour == discs[end].colour


def test_a_terminal_shows_the_net_in_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle = catalogue.load("cube-3x3x3")
    board = drawn_board(puzzle, "moves: F")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    lines = coloured(puzzle.definition, board)
    assert len(lines) == 9
    # The row of U above F: six blank places, then the stickers of L.
    assert lines[2] == "      \x1b[38;5;208m" + "█" * 6 + "\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured(puzzle.definition, board) == puzzle.definition.draw_board(
        board
    )  # the pieces by their names
