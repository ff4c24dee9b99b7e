"""Cubes written as facelets, as programs that solve cubes exchange them."""

import random

import pytest

from cases import for_each
from farthest.errors import BoardError
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.net import board_colours
from farthest.families.permutation.solid import ON_NET
from farthest.families.user_input import board_given
from farthest.puzzles.catalogue import load
from permutations import moved

SOLVED = "".join(sign * 9 for sign in "URFDLB")
PLACES = "UF UR UB UL DF DR DB DL FR FL BR BL UFR URB UBL ULF DRF DFL DLB DBR"


def test_a_published_solution() -> None:
    """Of H. Kociemba's two-phase algorithm; the example of the package kociemba for Python."""
    cube = load("cube-3x3x3")
    board = cube.definition.parse_board("DRLUUBFBRBLURRLRUBLRDDFDLFUFUFFDBRDUBRUFLLFDDBFLUBLRBD")
    moves = {move.name: move for move in permutation(cube).generators}
    solution = "D2 R' D' F2 B D R2 D2 R' F2 D' F2 U' B2 L2 U2 D R2 U"
    for name in solution.split():
        board = moved(permutation(cube), moves[name], board)
    assert board == permutation(cube).goals[0]


@for_each("name", ["cube-3x3x3", "cube-3x3x3<U,R>", "cube-2x2x2-qtm"])
def test_facelets_are_the_colours_of_the_net(name: str) -> None:
    cube, rng = load(name), random.Random(1)
    definition = permutation(cube)
    assert definition.net is not None
    size = 3 if "3x3x3" in name else 2
    corner = {face: at for at, face in enumerate([*".U..", *"LFRB", *".D.."])}
    where = {sticker.points[0]: at for at, sticker in enumerate(definition.net.stickers)}
    order = [
        where[float(corner[face] % 4 * size + x), float(corner[face] // 4 * size + y)]
        for face in "URFDLB"
        for y in range(size)
        for x in range(size)
    ]
    signs = {"white": "U", "red": "R", "green": "F", "yellow": "D", "orange": "L", "blue": "B"}
    board = definition.goals[0]
    for _ in range(30):
        board = moved(definition, rng.choice(definition.generators), board)
        colours = board_colours(definition.net, definition.slot_moduli, definition.goals[0], board)
        text = "".join(signs[str(colours[at])] for at in order)
        assert definition.parse_board(text) == board
        if size == 3:  # the middles tell which colour a sign is
            other = text.translate(str.maketrans("URFDLB", "wrgyob"))
            assert definition.parse_board(" / ".join(other[at : at + 9] for at in range(0, 54, 9))) == board


def test_places_in_the_order_of_other_programs() -> None:
    cube = load("cube-3x3x3")
    read = cube.definition.parse_board
    assert read(PLACES) == permutation(cube).goals[0]
    after_u = "UR UB UL UF DF DR DB DL FR FL BR BL URB UBL ULF UFR DRF DFL DLB DBR"  # R is seen where F was
    assert read(after_u) == board_given(cube, "moves: U")
    after_r = "UF FR UB UL DF BR DB DL DR FL UR BL FDR FRU UBL ULF BRD DFL DLB BUR"
    assert read(after_r) == board_given(cube, "moves: R")


@for_each(
    ("name", "text", "problem"),
    [
        ("cube-3x3x3", SOLVED[1:], "53 facelets, expected 54; write one sign for each sticker"),
        ("cube-3x3x3", "URF UFL", "2 pieces, expected 20; .* or as 54 facelets"),
        ("cube-3x3x3", SOLVED[:4] + "R" + SOLVED[5:], "middles of the faces U R F D L B are R R F D L B"),
        (
            "cube-3x3x3",
            "B" + SOLVED[1:-1] + "U",
            r"of ULB \(facelets 1 37 48\) shows BLB, and .* two stickers of B",
        ),
        (
            "cube-3x3x3",
            SOLVED[:5] + "L" + SOLVED[6:39] + "U" + SOLVED[40:],
            r"of UR \(facelets 6 11\) shows LR, and no piece has .* opposite",
        ),
        (
            "cube-3x3x3",
            PLACES.replace("FR FL BR", "FR FR BL"),
            "piece FR appears twice, .*; piece FL is missing; piece BL appears twice, .*; piece BR is missing",
        ),
        ("cube-3x3x3", PLACES.replace("FR FL", "FR FR"), "9 U, 10 R, 9 F, 9 D, 8 L, 9 B; expected 9 of each"),
        (
            "cube-3x3x3",
            SOLVED[:8] + "FRRRRRRRRRFFU" + SOLVED[21:],
            "shows FRU, and the piece with .* other order",
        ),
        (
            "cube-2x2x2-htm",
            "UUUULLLLFFFFDDDDRRRRBBBB",
            "facelet 19 shows 'R', but no move changes the one on L",
        ),
        ("cube-2x2x2-htm", "wwwwrrrrffffyyyyoooobbbb", "the signs are b f o r w y; expected the faces"),
        ("cube-3x3x3@corners", SOLVED, "1 piece, expected 20; a board is written like [^,]*$"),
    ],
)
def test_wrong_facelets(name: str, text: str, problem: str) -> None:
    with pytest.raises(BoardError, match=problem):
        load(name).definition.parse_board(text)


def test_a_small_cube_in_any_position_is_turned_until_it_fits() -> None:
    """As the corners of the 3x3x3, whose middles tell how it is held; scrambles have turns of the whole cube."""
    large, small, rng = load("cube-3x3x3"), load("cube-2x2x2-htm"), random.Random(2)
    net = permutation(large).net
    assert net is not None
    for _ in range(20):
        scramble = " ".join(rng.choice("URFDLBxyz") + rng.choice(["", "'", "2"]) for _ in range(12))
        colours = board_colours(
            net,
            permutation(large).slot_moduli,
            permutation(large).goals[0],
            board_given(large, f"moves: {scramble}"),
        )
        shown = dict(zip((sticker.points[0] for sticker in net.stickers), colours, strict=True))
        middles = {face: (3 * x + 1.0, 3 * y + 1.0) for face, (x, y) in ON_NET.items()}
        signs = {shown[place]: face for face, place in middles.items()}
        facelets = "".join(
            signs[shown[x + i, y + j]] for x, y in middles.values() for j in (-1, 1) for i in (-1, 1)
        )
        assert small.definition.parse_board(facelets) == board_given(small, scramble)
