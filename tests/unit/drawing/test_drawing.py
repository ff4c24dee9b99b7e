"""Pictures of boards: what is in them, as text and as SVG."""

from dataclasses import replace
from xml.etree import ElementTree

import click
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each
from farthest.drawing.outline import label_place, loops
from farthest.drawing.svg import svg
from farthest.drawing.terminal import coloured
from farthest.puzzles import catalogue
from farthest.puzzles.family import board_hold, board_picture
from farthest.puzzles.picture import COLOURS, Picture, Shape
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.search.walking import successors_of

NAMES = [
    *catalogue.names(),
    "pancake-7",
    "topspin-6-4",
    "lrx-5",
    "burnt-pancake-4",
    "hanoi-4-5",
    "lights-3x4-c3",
]
SVG = "{http://www.w3.org/2000/svg}"


def first_board(puzzle: Puzzle) -> tuple[int, ...]:
    goals, start = puzzle.definition.origin_boards
    return goals[0] if goals else start or ()


@for_each("name", NAMES)
def test_every_puzzle_of_the_catalogue_can_be_drawn(name: str) -> None:
    puzzle = catalogue.load(name)
    board = first_board(puzzle)
    drawn = board_picture(puzzle, board)
    assert drawn.width > 0
    assert drawn.height > 0
    assert drawn.shapes
    for shape in drawn.shapes:
        assert shape.x >= -1e-9
        assert shape.y >= -1e-9
        assert shape.x + shape.width <= drawn.width + 1e-9
        assert shape.y + shape.height <= drawn.height + 1e-9
    assert [
        click.unstyle(line) for line in coloured(puzzle.definition, board)
    ] == puzzle.definition.draw_board(board)


def test_svg_holds_every_shape_and_text_once() -> None:
    puzzle = catalogue.load("8-puzzle")
    board = puzzle.definition.parse_board("867254301")
    drawn = board_picture(puzzle, board)
    root = ElementTree.fromstring(svg([("start <&>", drawn), ("1-2", drawn)], "a & b"))
    assert root.findtext(f"{SVG}title") == "a & b"
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts == ["start <&>", *"86725431", "1-2", *"86725431"]
    # The page, and in each board nine places.
    assert len(list(root.iter(f"{SVG}rect"))) == 1 + 2 * 9
    fills = {rect.get("fill") for rect in root.iter(f"{SVG}rect")} - {None, "#fff"}
    assert fills == {hexadecimal for _, hexadecimal in COLOURS[:8]}


def test_many_boards_stand_in_rows_as_wide_as_a_page() -> None:
    drawn = board_picture(catalogue.load("8-puzzle"), (1, 2, 3, 4, 5, 6, 7, 8, 0))
    root = ElementTree.fromstring(svg([("", drawn)] * 30, "thirty"))
    assert float(root.get("width", "0")) <= 1200
    assert (
        len(
            [
                group
                for group in root.iter(f"{SVG}g")
                if group.get("transform", "").startswith("translate(24 ")
            ]
        )
        > 1
    )


def test_colours_of_a_terminal() -> None:
    puzzle = catalogue.load("eight-kinds")
    lines = coloured(puzzle.definition, first_board(puzzle))
    assert "".join(lines).count("\x1b[38;5;") == 8  # all pieces, not the blank


WILD = {
    "sliding": ("15-puzzle", (-1,) * 15 + (0,)),
    "hanoi": ("hanoi-3-3", (-1, 0, 2)),
    "lights": ("lights-2x2", (-1, 0, 1, 1)),
    "pegs": ("hoppers", (-1,) + (1,) * 11 + (0,)),
    "jugs": ("die-hard-jugs", (-1, -1, 0, 4)),
}


@for_each("family", WILD)
def test_wildcards_are_drawn(family: str) -> None:
    name, board = WILD[family]
    assert any("*" in shape.text for shape in board_picture(catalogue.load(name), board).shapes)


def test_a_piece_is_one_shape_and_its_goal_is_marked_under_it() -> None:
    text = """
name = "three"
family = "blocks"
[blocks]
start = ["#ABB", ".AAB"]
goal = ["#A..", ".AA."]
"""
    puzzle = parse_puzzle(text, "three.toml")
    start = puzzle.definition.origin_boards[1]
    assert start is not None
    frame, ground, mark, *pieces = board_picture(puzzle, start).shapes
    assert (len(frame.cells), len(ground.cells)) == (7, 7)  # the wall is not enclosed
    assert mark.dashed
    assert (mark.x, mark.y, mark.cells) == (pieces[0].x, pieces[0].y, pieces[0].cells)
    assert [(shape.text, shape.cells) for shape in pieces] == [
        ("A", ((0, 0), (0, 1), (1, 1))),
        ("B", ((0, 0), (1, 0), (1, 1))),
    ]


def test_a_piece_is_moved_by_the_shape_that_draws_it() -> None:
    """The shape that a move takes along lies, after it, where the picture of the next board has it."""
    puzzle = catalogue.load("diabolical-box")
    board = puzzle.definition.origin_boards[1]
    assert board is not None
    for name, after in successors_of(puzzle)(board):
        hold = board_hold(puzzle, board, name, after)
        assert hold is not None
        assert hold.target is not None
        (number,) = hold.shapes
        before, then = (board_picture(puzzle, each).shapes for each in (board, after))
        moved = replace(
            before[number],
            x=before[number].x + hold.target.x - hold.source.x,
            y=before[number].y + hold.target.y - hold.source.y,
        )
        assert set(then) - set(before) == {moved}


@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_an_outline_encloses_its_cells(cells: set[tuple[int, int]]) -> None:
    """By the shoelace formula, holes counted away; every edge of a cell that has no neighbour is on it."""
    found = loops(tuple(cells))
    twice = sum(
        x0 * y1 - x1 * y0
        for loop in found
        for (x0, y0), (x1, y1) in zip(loop, [*loop[1:], loop[0]], strict=True)
    )
    assert twice == 2 * len(cells)
    length = sum(
        abs(x1 - x0) + abs(y1 - y0)
        for loop in found
        for (x0, y0), (x1, y1) in zip(loop, [*loop[1:], loop[0]], strict=True)
    )
    assert length == sum(
        (x + dx, y + dy) not in cells for x, y in cells for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))
    )
    x, y = label_place(tuple(cells))
    assert {(int(x + dx), int(y + dy)) for dx in (-0.1, 0.1) for dy in (-0.1, 0.1)} <= cells


def test_numbered_holes_are_drawn_where_the_boards_show_them() -> None:
    puzzle = catalogue.load("hoppers")
    start = puzzle.definition.origin_boards[1]
    assert start is not None
    assert puzzle.definition.draw_board(start) == [
        "o   o   o",
        "  o   o",
        "o   .   o",
        "  o   o",
        "o   o   o",
    ]
    drawn = board_picture(puzzle, start)
    assert (drawn.width, drawn.height, len(drawn.shapes)) == (5, 5, 13)


MARKUP = "</title></svg><script>alert(1)</script>\"'&<!--]]>\x00\x1b[2J\x0b\u202e\ufffe\ud800\U0001fb00"
READ_BACK = MARKUP.translate(
    {0: "\\u0000", 0x1B: "\\u001b", 0x0B: "\\u000b", 0x202E: "\\u202e", 0xFFFE: "\\ufffe", 0xD800: "\\ud800"}
)


def test_markup_and_characters_that_xml_does_not_know_are_text() -> None:
    drawn = Picture(1, 1, (Shape(0, 0, text=MARKUP),))
    document = svg([(MARKUP, drawn)], MARKUP)
    root = ElementTree.fromstring(document.encode())
    assert root.findtext(f"{SVG}title") == READ_BACK
    assert [text.text for text in root.iter(f"{SVG}text")] == [READ_BACK, READ_BACK]
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg",
        "title",
        "style",
        "rect",
        "g",
        "text",
    }


@given(st.text())
def test_any_text_can_stand_in_a_picture(text: str) -> None:
    root = ElementTree.fromstring(svg([(text, Picture(1, 1, ()))], text).encode())
    assert root.tag == f"{SVG}svg"


def test_pancakes_lie_in_a_stack_and_show_their_burnt_sides() -> None:
    puzzle = catalogue.load("burnt-pancake-3")
    drawn = board_picture(puzzle, puzzle.definition.parse_board("3 1+1 2"))
    pancakes = [shape for shape in drawn.shapes if shape.text]
    assert [shape.text for shape in sorted(pancakes, key=lambda shape: shape.y)] == ["3", "1", "2"]
    assert [shape.text for shape in sorted(pancakes, key=lambda shape: shape.width)] == ["1", "2", "3"]
    assert [shape.y == pancake.y for shape, pancake in zip(drawn.shapes[1::2], pancakes, strict=True)] == [
        False,
        True,
        False,
    ]


def test_pieces_of_a_ring_are_equally_far_from_their_neighbours() -> None:
    puzzle = catalogue.load("topspin-8-4")
    shapes = board_picture(puzzle, first_board(puzzle)).shapes
    apart = [
        round(((one.x - other.x) ** 2 + (one.y - other.y) ** 2) ** 0.5, 2)
        for one, other in zip(shapes, [*shapes[1:], shapes[0]], strict=True)
    ]
    assert len(set(apart)) == 1
    assert apart[0] > 1  # they do not overlap


def test_discs_of_a_net() -> None:
    puzzle = catalogue.load("hungarian-rings")
    shapes = board_picture(
        puzzle, puzzle.definition.parse_board("b" * 10 + "r" * 10 + "y" * 9 + "g" * 9)
    ).shapes
    assert {shape.disc for shape in shapes} == {True}
    assert [shape.colour for shape in shapes[:11]] == ["blue"] * 10 + ["red"]
