"""Nets of stickers, compared with the stickers of a solid body that is turned in space."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import cos, pi, sin
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cases import for_each
from farthest.errors import PuzzleError
from farthest.families.permutation.definition import permutation
from farthest.families.user_input import drawn_board
from farthest.puzzles import catalogue
from farthest.puzzles.picture import Picture
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle

Vector = NDArray[np.float64]
Place = tuple[float, ...]

# x to the right, y up, z to the reader.
CUBE_FACES: Mapping[tuple[int, int], Callable[[float, float], tuple[float, float, float]]] = {
    (1, 0): lambda u, v: (u, 1, v),
    (0, 1): lambda u, v: (-1, -v, u),
    (1, 1): lambda u, v: (u, -v, 1),
    (2, 1): lambda u, v: (1, -v, -u),
    (3, 1): lambda u, v: (-u, -v, -1),
    (1, 2): lambda u, v: (u, -1, -v),
}
FACE_AXES = {
    "U": (0, 1, 0), "D": (0, -1, 0), "R": (1, 0, 0), "L": (-1, 0, 0), "F": (0, 0, 1), "B": (0, 0, -1),
}  # fmt: skip
VERTICES = {
    "U": np.array([0, 1, 0]),
    "L": np.array([-(2**0.5) / 3**0.5, -1 / 3, 2**0.5 / 3]),
    "R": np.array([2**0.5 / 3**0.5, -1 / 3, 2**0.5 / 3]),
    "B": np.array([0, -1 / 3, -2 * 2**0.5 / 3]),
}
# Where the vertices of each face are drawn.
PYRAMINX_FACES = [
    {"U": (3.0, 0.0), "B": (0.0, 0.0), "L": (1.5, 2.6)},
    {"U": (3.2, 0.0), "L": (1.7, 2.6), "R": (4.7, 2.6)},
    {"U": (3.4, 0.0), "R": (4.9, 2.6), "B": (6.4, 0.0)},
    {"L": (1.7, 2.8), "R": (4.7, 2.8), "B": (3.2, 5.4)},
]


OCTAHEDRON = {
    "f": np.array([0, 0, 1]), "tr": np.array([0.5, 0.5, 0]) * 2**0.5, "tl": np.array([-0.5, 0.5, 0]) * 2**0.5,
    "b": np.array([0, 0, -1]), "br": np.array([0.5, -0.5, 0]) * 2**0.5, "bl": np.array([-0.5, -0.5, 0]) * 2**0.5,
}  # fmt: skip
FTO_FACES = {
    "U": ("f", "tl", "tr"), "R": ("f", "tr", "br"), "F": ("f", "br", "bl"), "L": ("f", "bl", "tl"),
    "B": ("b", "tl", "tr"), "BR": ("b", "tr", "br"), "D": ("b", "br", "bl"), "BL": ("b", "bl", "tl"),
}  # fmt: skip
# Where the corners are drawn: from the front on the left, from behind on the right.
FTO_FRONT = {"f": (3.0, 3.0), "tl": (0.0, 0.0), "tr": (6.0, 0.0), "br": (6.0, 6.0), "bl": (0.0, 6.0)}
FTO_BEHIND = {"b": (9.8, 3.0), "tr": (6.8, 0.0), "tl": (12.8, 0.0), "bl": (12.8, 6.0), "br": (6.8, 6.0)}

SIZES = {"cuboid-1x3x3": (3, 1, 3), "cuboid-2x2x3": (2, 3, 2)}
"""Squares across, down and to the reader; the others are cubes."""


def net_picture(puzzle: Puzzle, board: tuple[int, ...]) -> Picture:
    drawn = puzzle.definition.net_picture(board)
    assert drawn is not None
    return drawn


def on_cuboid(middle: Vector, drawn: Picture, size: tuple[int, int, int]) -> Vector:
    x, y, z = size
    across, down = middle[0] / drawn.width * 2 * (x + z), middle[1] / drawn.height * (y + 2 * z)
    columns, rows = np.array([0, z, z + x, 2 * z + x, 2 * (z + x)]), np.array([0, z, z + y, 2 * z + y])
    column, row = (int(np.searchsorted(lines, at)) - 1 for lines, at in ((columns, across), (rows, down)))
    u = (across - columns[column]) / (columns[column + 1] - columns[column])
    v = (down - rows[row]) / (rows[row + 1] - rows[row])
    return np.array(CUBE_FACES[column, row](u * 2 - 1, v * 2 - 1)) * size / 2


def on_pyraminx(middle: Vector, drawn: Picture) -> Vector:
    assert (drawn.width, drawn.height) == pytest.approx((6.4, 5.4))
    for face in PYRAMINX_FACES:
        corners = np.array([[x, y, 1] for x, y in face.values()])
        parts = np.linalg.solve(corners.T, [*middle, 1])
        if (parts > 0).all():
            place: Vector = np.sum([part * VERTICES[v] for part, v in zip(parts, face, strict=True)], axis=0)
            return place
    raise AssertionError(f"{middle} is on no face")


def on_octahedron(middle: Vector, drawn: Picture) -> Vector:
    for face in FTO_FACES.values():
        drawn_at = FTO_FRONT if "f" in face else FTO_BEHIND
        corners = np.array([[*drawn_at[corner], 1] for corner in face])
        parts = np.linalg.solve(corners.T, [*middle * (12.8 / drawn.width), 1])
        if (parts > 0).all():
            place: Vector = np.sum(
                [part * OCTAHEDRON[corner] for part, corner in zip(parts, face, strict=True)], axis=0
            )
            return place
    raise AssertionError(f"{middle} is on no face")


def stickers(puzzle: Puzzle, board: tuple[int, ...]) -> dict[Place, Any]:
    """The colour at each place in space."""
    drawn = net_picture(puzzle, board)
    size = SIZES.get(puzzle.name, (2, 2, 2))
    middles = [np.mean(shape.points, axis=0) for shape in drawn.shapes]
    bodies = {"pyraminx": on_pyraminx, "fto": on_octahedron}
    places = [
        bodies[puzzle.name](middle, drawn) if puzzle.name in bodies else on_cuboid(middle, drawn, size)
        for middle in middles
    ]
    found = {
        tuple(np.round(place, 2) + 0.0): shape.colour
        for place, shape in zip(places, drawn.shapes, strict=True)
    }
    assert len(found) == len(drawn.shapes)
    return found


def axis(puzzle: Puzzle, name: str) -> Vector:
    if puzzle.name == "pyraminx":
        return VERTICES[name]
    if puzzle.name == "fto":
        normal = np.sum([OCTAHEDRON[corner] for corner in FTO_FACES[name]], axis=0)
        return np.asarray(normal / np.linalg.norm(normal), dtype=np.float64)
    whole = np.sum([FACE_AXES[face] for face in name], axis=0)
    return np.asarray(whole / np.linalg.norm(whole), dtype=np.float64)


DEEP = {
    "cube-2x2x2-htm": 0.4,
    "cube-2x2x2-qtm": 0.4,
    "cube-3x3x3": 0.3,
    "cuboid-1x3x3": 0.4,
    "cuboid-2x2x3": 0.4,
    "dino-cube": 0.5,
    "fto": 3**-0.5 / 3,
    "pyraminx": 1 / 15,
    "skewb": 0.0,
}
"""How far from the middle of the body the cut of a turn is."""

HALF_TURNS = {("cuboid-1x3x3", face) for face in "FRBL"} | {("cuboid-2x2x3", face) for face in "FR"}
OTHER_SIDE = {("dino-cube", "DBR"), ("dino-cube", "DBL")}
"""Turns that are made by turning all else the other way."""


def angle_of(puzzle: Puzzle, name: str) -> float:
    """In radians, clockwise as seen from outside."""
    if (puzzle.name, name) in HALF_TURNS:
        return pi
    return 2 * pi / (4 if puzzle.name.startswith("cub") else 3)


def turned(puzzle: Puzzle, before: dict[Place, Any], name: str, times: int) -> dict[Place, Any]:
    """After a turn, clockwise as seen from outside: what is beyond the cut goes round the axis."""
    round_ = axis(puzzle, name)
    other = (puzzle.name, name) in OTHER_SIDE
    angle = -angle_of(puzzle, name) * (-times if other else times)
    cross = np.cross(np.eye(3), round_)
    turn = np.eye(3) + sin(angle) * cross + (1 - cos(angle)) * cross @ cross
    after = {}
    for place, colour in before.items():
        beyond = bool(np.dot(place, round_) > DEEP[puzzle.name])
        there = turn @ place if beyond != other else np.array(place)
        near = min(before, key=lambda each: float(np.sum((there - np.array(each)) ** 2)))
        assert np.allclose(near, there, atol=0.02)
        after[near] = colour
    assert len(after) == len(before)
    return after


@pytest.mark.parametrize("name", DEEP)
@settings(max_examples=2, deadline=None)
@given(data=st.data())
def test_stickers_go_as_on_the_body(name: str, data: st.DataObject) -> None:
    puzzle = catalogue.load(name)
    generators = sorted({move.name.rstrip("'23") for move in permutation(puzzle).generators})
    moves = data.draw(
        st.lists(st.tuples(st.sampled_from(generators), st.integers(1, 2)), min_size=1, max_size=6)
    )
    moves = [(name, 1 if (puzzle.name, name) in HALF_TURNS else times) for name, times in moves]
    goal = puzzle.definition.origin_boards[0][0]
    expected = stickers(puzzle, goal)
    for generator, times in moves:
        expected = turned(puzzle, expected, generator, times)
    text = " ".join(f"{generator}{'2' if times == 2 else ''}" for generator, times in moves)
    assert stickers(puzzle, drawn_board(puzzle, f"moves: {text}")) == expected


@for_each("name", DEEP)
def test_each_face_of_the_goal_has_one_colour(name: str) -> None:
    puzzle = catalogue.load(name)
    colours: dict[int, set[Any]] = {}
    normals: list[Any] = list(FACE_AXES.values())
    if name == "pyraminx":
        normals = [-vertex for vertex in VERTICES.values()]
    elif name == "fto":
        normals = [axis(puzzle, face) for face in FTO_FACES]
    size = np.array(SIZES.get(name, (2, 2, 2)))
    for place, colour in stickers(puzzle, puzzle.definition.origin_boards[0][0]).items():
        colours.setdefault(int(np.argmax([np.dot(place / size, normal) for normal in normals])), set()).add(
            colour
        )
    assert all(len(found) == 1 for found in colours.values())
    assert len(set.union(*colours.values())) == len(colours) == len(normals)


ORDER = "ABCDEFLGKJIH"
"""Of the faces in the net."""


def faces_around(corners: list[str], face: str) -> list[str]:
    """The faces around one, clockwise: a corner is named clockwise by its faces."""
    after = {
        (name * 2)[name.index(face) + 1]: (name * 2)[name.index(face) + 2] for name in corners if face in name
    }
    found = [min(after)]
    while len(found) < 5:
        found.append(after[found[-1]])
    assert after[found[-1]] == found[0]
    return found


def test_a_turn_of_the_megaminx_takes_each_side_of_a_face_to_the_next() -> None:
    puzzle = catalogue.load("megaminx")
    net, goal = permutation(puzzle).net, permutation(puzzle).goals[0]
    assert net is not None
    names = [permutation(puzzle).tokens[label] for label in goal[:50]]
    corners = names[:20]
    face_of = {sticker.colour: ORDER[number // 11] for number, sticker in enumerate(net.stickers)}
    assert len(face_of) == 12
    for turned in "ABCDEFGHIJKL":
        around = faces_around(corners, turned)
        after = net_picture(puzzle, drawn_board(puzzle, f"moves: {turned}"))
        edges: list[tuple[str, Vector]] = []
        for sticker, shape in zip(net.stickers, after.shapes, strict=True):
            face = face_of[sticker.colour]
            name = names[sticker.slot] if sticker.slot >= 0 else face
            assert face in name
            beside = turned in name and face != turned
            expected = around[around.index(face) - 1] if beside else face
            assert face_of[str(shape.colour)] == expected
            if face == turned and len(name) == 2:
                edges.append((name.replace(face, ""), np.mean(shape.points, axis=0)))
        middle = np.mean([place for _, place in edges], axis=0)
        clockwise = sorted(edges, key=lambda edge: float(np.arctan2(*(edge[1] - middle)[::-1])))
        order = [name for name, _ in clockwise]
        first = order.index(around[0])
        assert order[first:] + order[:first] == around


HEAD = """name = "two"
family = "permutation"
[permutation]
goal = "a b c"
modulus = 2
[permutation.generators]
R = "(1 2+1)(3+1)"
[permutation.net]
"""
COLOURS = 'colours = { U = "white", F = "green" }\n'
FACES = COLOURS + 'squares = "U:1"\nfaces = """'
WRONG = [
    ("", 8, "no colours; write colours"),
    (COLOURS, 8, "no stickers; write squares, polygons or discs"),
    ('colours = { U = "withe" }\n', 9, "U has the colour 'withe'; expected one of white,"),
    ('colours = { UP = "white" }\n', 9, "the sign 'UP', expected one letter"),
    (COLOURS + 'sqares = "U:1"\n', 10, "did you mean 'squares'"),
    (COLOURS + "squares = 3\n", 10, "expected a text of several lines, got 3"),
    (COLOURS + 'squares = """\nU:1 .\n. U:x\n"""\n', 12, "the sticker 'U:x', expected a colour's sign"),
    (COLOURS + 'squares = """U:1\nU:4"""\n', 11, "slots are 1 to 3"),
    (COLOURS + 'squares = """\nU:0"""\n', 11, "slots are 1 to 3"),
    (COLOURS + 'squares = """\nU:1+2"""\n', 11, "orientation 2, expected one below 2"),
    (COLOURS + 'squares = """\nU:1B"""\n', 11, "the sticker 'U:1B', expected a colour's sign"),
    (COLOURS + 'squares = """\nU:1b F:1b"""\n', 11, "'F:1b' and 'U:1b' show the same sticker"),
    (COLOURS + 'squares = """\nB:1"""\n', 11, "has no known colour; expected one of U, F"),
    (COLOURS + 'squares = """\nU:1\n\nF:1+0\n"""\n', 13, "'F:1+0' and 'U:1' show the same sticker"),
    (COLOURS + 'polygons = """\nU:1 0,0 1,0\n"""\n', 11, "a polygon has 2 corners, expected 3 to 32"),
    (COLOURS + 'polygons = """\nU:1 0,0 1,0 2,0\n"""\n', 11, "a polygon has no area"),
    (COLOURS + 'polygons = """\nU:1 0,0 1,0 1;1\n"""\n', 11, "the corner '1;1', expected x,y"),
    (COLOURS + 'discs = """\nU:1 1,1 2,1\n"""\n', 11, "2 points, expected the middle of the disc alone"),
    (COLOURS + 'polygons = """\nU:1 1,1\n"""\n', 11, "a polygon has 1 corner, expected 3 or more"),
    (COLOURS + 'polygons = """\nU 0,0 1,0 1,101\n"""\n', 11, "a corner is outside 0 to 100"),
    (FACES + '\nU 0,0=1,1,1 1,0=2,1,1"""\n', 12, "expected a sign of colours and three points"),
    (FACES + '\nU 0,0=1,1,1 1,0=2,1,1 2,0=0,0,0"""\n', 12, "the points of U lie in a line"),
    (FACES + '\nU 0,0=1,1,1 1,0=2,1,1 1,1=0,0,3"""\n', 11, "the faces do not make a body"),
]


@for_each(("text", "line", "problem"), WRONG)
def test_a_wrong_net_is_refused_with_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(PuzzleError) as refused:
        parse_puzzle(HEAD + text, "two.toml")
    assert str(refused.value).startswith(f"two.toml, line {line}, [permutation.net]")
    assert problem in str(refused.value)


def test_a_net_is_no_part_of_what_decides_the_distances() -> None:
    net = COLOURS + 'squares = """\nU:1 F:1+1 U\nF:2 . F:2+1\n"""\n'
    with_net, plain = (
        parse_puzzle(HEAD + net, "a.toml"),
        parse_puzzle(HEAD.replace("[permutation.net]", ""), "a"),
    )
    assert with_net.digest == plain.digest
    stored = Puzzle.from_json(with_net.to_json())
    board = stored.definition.parse_board("b+1 a c")
    shapes = net_picture(stored, board).shapes
    assert [shape.colour for shape in shapes] == ["green", "green", "white", "white", "green"]
    assert shapes[0].points == ((0, 0), (1, 0), (1, 1), (0, 1))


def test_identical_pieces_have_the_same_colours() -> None:
    text = HEAD.replace('"a b c"', '"a a c"') + COLOURS + 'squares = "U:1 F:2"\n'
    with pytest.raises(PuzzleError, match=r"identical pieces .* have the colours white and green"):
        parse_puzzle(text, "two.toml")


@for_each(
    ("pattern", "colour", "untold"),
    [
        ("cube-3x3x3@corners", "grey", 24),
        ("cube-3x3x3@URF.UR=UF", "grey", 48 - 3 - 4),
        ("fto@edges", "black", 24 + 24),  # a face is grey
    ],
)
def test_a_pattern_is_drawn_as_the_puzzle_with_other_pieces_in_one_colour(
    pattern: str, colour: str, untold: int
) -> None:
    whole, part = catalogue.load(pattern.partition("@")[0]), catalogue.load(pattern)
    for moves in ("moves: R", "moves: U R U R'", "moves: F U R F' U2 L"):
        colours = [
            [shape.colour for shape in net_picture(puzzle, drawn_board(puzzle, moves)).shapes]
            for puzzle in (whole, part)
        ]
        assert colours[1].count(colour) == untold
        if "=" not in pattern:
            assert all(other in (one, colour) for one, other in zip(*colours, strict=True))


def test_phase_one_shows_which_pieces_are_turned() -> None:
    """Of pieces that are alike and turned, the first sticker is black: that of U or D, or of F or B."""
    puzzle = catalogue.load("cube-3x3x3@FR=FL=BL=BR.turns:corners.edges")
    for moves, black in (("U", 16), ("F2 R2", 16), ("R", 10), ("F", 10)):
        drawn = net_picture(puzzle, drawn_board(puzzle, f"moves: {moves}")).shapes
        above_and_below = drawn[:9] + drawn[-9:]
        assert sum(shape.colour == "black" for shape in drawn) == 16
        assert sum(shape.colour == "black" for shape in above_and_below) == black
