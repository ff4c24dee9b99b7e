"""Boards given as moves, of every family: walks against the boards that the moves lead through, and wrong text."""

import contextlib
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import farthest
from cases import for_each
from families import PUZZLES, a_board
from farthest.errors import BoardError, FarthestError
from farthest.families.user_input import board_given, origin_given, target_given
from farthest.puzzles.definition import Board, MoveName
from farthest.puzzles.move_text import moves_text
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.queries.stored_map import label_rows


def walk(puzzle: Puzzle, board: Board, moves: int, seed: int) -> tuple[str, Board]:
    """Moves by chance, as they are printed, and the board that they lead to."""
    chance = random.Random(seed)
    boards, names = [board], list[MoveName]()
    for _ in range(moves):
        possible = farthest.copies(puzzle, boards[-1])
        # A name may stand for several moves, of a class of one's own.
        clear = [
            (name, after) for name, after in possible if {b for n, b in possible if n == name} == {after}
        ]
        if not clear:
            break
        name, after = chance.choice(clear)
        names.append(name)
        boards.append(after)
    path = puzzle.definition.named_path(np.array(boards, dtype=np.uint8), names)
    return moves_text(path.moves), boards[-1]


@for_each("name", PUZZLES)
def test_moves_that_are_printed_are_read_again(name: str) -> None:
    puzzle = PUZZLES[name]()
    begin = puzzle.definition.format_board(a_board(puzzle))
    for seed in range(3):
        moves, end = walk(puzzle, a_board(puzzle), 8, seed)
        assert board_given(puzzle, f"moves from {begin}: {moves}") == end


@for_each("name", [name for name in PUZZLES if not name.startswith(("jugs", "python, one", "python, many"))])
def test_moves_that_are_undone_lead_back(name: str) -> None:
    puzzle = PUZZLES[name]()
    for seed in range(3):
        moves, end = walk(puzzle, a_board(puzzle), 6, seed)
        text = f"moves from {puzzle.definition.format_board(end)}: ({moves})'"
        assert board_given(puzzle, text) == a_board(puzzle)


def test_a_class_that_does_not_tell_what_comes_before_undoes_nothing() -> None:
    with pytest.raises(BoardError, match="does not tell the states before a state"):
        board_given(PUZZLES["python, many moves to one board"](), "moves: (a)'")


@for_each(
    ("name", "text", "same"),
    [
        ("cube-2x2x2-htm", "scramble: R U' F2 R2", "moves: R' R2 U3 F' F^-1 R'2"),
        ("cube-2x2x2-htm", "Moves: RU'F2R2", "moves: ((R2 F2) U R')'"),
        ("cube-2x2x2-htm", "moves: (R U)3", "moves: R U R U, (R U)"),
        ("cube-2x2x2-htm", "moves: R’ U^2", "moves: R3 U2'"),
        ("cube-2x2x2-htm", "moves: (R U)105", "goal"),
        ("megaminx", "moves: A23 B24' A6", "moves: A2' B A"),
        ("cube-3x3x3", "scramble: (R U)105", "goal"),
        ("cube-3x3x3", "scramble: (R U R' U')6 (F2 B2 L R' D)0", "goal"),
        ("cube-3x3x3", "moves: x U x' y F z R", "moves: F R U"),
        ("cube-3x3x3", "scramble: Rw U r' M2 (x y)'", "moves: L F L' L2 R2"),
        ("cube-3x3x3", "moves: xUy'2F2 (R x U)'", "moves: F U2 F' L'"),
        ("cube-3x3x3", "R U R' U'", "moves: R U R' U'"),
        ("cube-3x3x3", "RUR'U'", "moves: R U R' U'"),
        ("cube-3x3x3", "3Rw U 3l F 1Bw 2Rw'", "moves: x U x' F B r'"),
        ("cube-2x2x2-htm", "L' D2 B", "moves: x R' U2 F"),
        ("cube-2x2x2-htm", "scramble: Rw U y' R 2Fw B", "moves: x U y' R z B"),
        ("8-puzzle", "right D", "moves: R D"),
        ("hanoi-4-3", "3→1 3->2", "moves: 3-1, 3 → 2"),
        ("pancake-5", "moves: 5 3", "moves: 5, 3"),
        ("8-puzzle", "moves: 8 7", "moves: R R"),
        ("8-puzzle", "moves: 7-8", "moves: 8"),
        ("sliding-3x3", "moves: ULDR", "moves: up left d r"),
        ("sliding-3x3-slide", "moves: U2", "moves: 6-0"),
        ("sliding-3x3-slide", "moves from 312/645/078: (6-0)'", "goal"),
        ("red-donkey", "moves: 7 right, 4 down", "moves: 7 at 5,1 right,4 down"),
        ("hanoi-4-3", "moves: 3→1 3->2", "moves: 3-1, 3 → 2"),
        ("lights-2x3-c3", "moves: press 0, press 0", "moves: (press 0)2"),
        ("jugs-8-5-3", "moves: pour 1->2, pour 2→3", "moves: pour 1 -> 2; pour 2 -> 3"),
    ],
)
def test_ways_to_write_moves(name: str, text: str, same: str) -> None:
    puzzle = farthest.load_puzzle(name)
    assert board_given(puzzle, text) == board_given(puzzle, same)


@for_each(
    ("name", "text", "told"),
    [
        ("cube-2x2x2-htm", "moves: R U X", r"moves 'R U X': move 3, 'X': expected one of U R F, and"),
        (
            "cube-2x2x2-htm",
            "scramble: R M",
            r"scramble 'R M': move 2, 'M': expected .*; or D L B x y z r Rw$",
        ),
        ("cube-2x2x2-htm<U,R>", "scramble: R x", r"scramble 'R x': move 2, 'x': it turns the whole puzzle"),
        ("cube-3x3x3", "moves: 4Rw", r"move 1, '4Rw': expected one of U D L R F B"),
        ("cube-3x3x3", "R U R' Q", r"^puzzle cube-3x3x3: moves .*: move 4, 'Q': expected one of"),
        (
            "cube-3x3x3",
            "U" * 53,
            r"^board .*: 53 facelets, expected 54; write one sign for each sticker$",
        ),
        ("cube-3x3x3", "UR URF", r"2 pieces, expected 20; .*; if these are moves, write \"moves: UR URF\""),
        ("cube-2x2x2-htm", "URF UFL ULB UBR DFR DLF", r"6 pieces, expected 7; .*; if these are moves, write"),
        ("cube-2x2x2-htm", "UUUU RRRR FFFF DDDD LLLL BBB", r"23 facelets, expected 24"),
        ("mississippi", "MISSISSIPP/I", "expected"),
        ("cube-2x2x2-htm", "moves R U", r"expected a colon"),
        ("cube-2x2x2-htm", "moves from: R", r"expected a colon|board"),
        ("cube-2x2x2-htm", "moves: (R U", r"character 1: '\(' without '\)'"),
        ("cube-2x2x2-htm", "moves: R U)", r"character 4: '\)' without '\('"),
        ("cube-2x2x2-htm", "moves: (R)x", r"character 4: 'x' after a group, expected a number"),
        ("cube-2x2x2-htm", "moves: ((R)99999)99999", r"more than 10,000 moves"),
        ("cube-2x2x2-htm", "moves: " + "(" * 999 + ")" * 999, r"character 21: more than 20 groups"),
        ("pancake-5", "moves: 32", r"move 1, '32': expected one of 2 3 4 5"),
        (
            "8-puzzle",
            "moves: 8 3",
            r"move 2, '3': on this board the piece 3 cannot move, expected one of 4-7",
        ),
        ("8-puzzle", "moves: U", r"no piece can move up, expected one of 5-8 \(piece 6\), 7-8 \(piece 8\)"),
        ("8-puzzle", "moves: x", r"expected a piece \(1 2 3 4 5 6 7 8\), U, D, L or R for"),
        ("wilson-theta", "moves: U", r"expected a piece \(1 2 3 4 5 6\), or two cells"),
        ("two-blanks", "moves: D", r"stands for 2 moves"),
        ("first-row", "moves: 7-8", r"its goal stands for many boards|move 1"),
        ("jugs-8-5-3", "moves: fill 1", r"cannot be made on this board, expected one of pour 1→2, pour 1→3"),
        ("red-donkey", "moves: 7 right 5 left", r"7 at 5,1 right, .* write a comma between two moves"),
        ("8-puzzle@1-3", "moves: U", r"has no moves"),
    ],
)
def test_wrong_moves_are_named(name: str, text: str, told: str) -> None:
    with pytest.raises(BoardError, match=told):
        board_given(farthest.load_puzzle(name), text)


LETTERS = st.sampled_from(
    [
        *"RUDLrux0123456789",
        "'",
        "’",
        "(",
        ")",
        "^",
        "-",
        "→",
        ",",
        ";",
        " ",
        ":",
        "\n",
        "fill",
        "at 1,2",
        "é",
        "\0",
    ]
)


@pytest.mark.parametrize("name", ["cube-2x2x2-htm", "8-puzzle", "jugs-8-5-3", "hanoi-4-3"])
@settings(max_examples=25, deadline=None)
@given(st.lists(LETTERS, max_size=14).map("".join), st.booleans())
def test_any_text_is_moves_or_an_error(name: str, text: str, based: bool) -> None:
    puzzle = farthest.load_puzzle(name)
    with contextlib.suppress(FarthestError):
        board = board_given(puzzle, f"moves from start: {text}" if based else f"moves:{text}")
        assert puzzle.definition.check_board(board) == board


def test_many_boards_given_as_moves() -> None:
    puzzle = farthest.load_puzzle("8-puzzle")
    rows = label_rows(puzzle, ["moves: 8 7", "goal", "scramble: R", (1, 2, 3, 4, 5, 6, 7, 8, 0)])
    assert rows[0].tolist() == [1, 2, 3, 4, 5, 6, 0, 7, 8]
    assert rows[2].tolist() == [1, 2, 3, 4, 5, 6, 7, 0, 8]
    assert (rows[1] == rows[3]).all()
    with pytest.raises(BoardError, match="line 2: puzzle 8-puzzle: moves '3': move 1"):
        label_rows(puzzle, ["moves: 8 7", "moves: 3"])


def test_targets_and_origins_given_as_moves_are_kept_as_boards() -> None:
    puzzle = farthest.load_puzzle("8-puzzle")
    assert target_given(puzzle, "moves: 8") == "123/456/708"
    assert origin_given(puzzle, "from moves: 8") == Origin("from", "123/456/708")
    assert origin_given(puzzle, Origin("to", "scramble: R")) == Origin("to", "123/456/708")
    drawn = 'name = "p"\nfamily = "sliding"\norigin = "from moves: 8"\n[sliding]\ngoal = "123/456/780"\n'
    assert parse_puzzle(drawn, "p.toml").origin == Origin("from", "123/456/708")


def test_the_cube_has_as_many_boards_as_are_known() -> None:
    """OEIS A080601."""
    puzzle = farthest.load_puzzle("cube-3x3x3")
    found = [{puzzle.definition.origin_boards[0][0]}]
    for _ in range(2):
        found.append(
            {after for board in found[-1] for _, after in farthest.copies(puzzle, board)}
            - set().union(*found)
        )
    assert [len(layer) for layer in found] == [1, 18, 243]


def test_middle_layers_and_turns_of_the_cube_give_the_superflip() -> None:
    """All twelve edges are flipped, and nothing else is changed."""
    puzzle = farthest.load_puzzle("cube-3x3x3")
    board = puzzle.definition.format_board(board_given(puzzle, "moves: ((M' U')4 x y)3"))
    assert board == (
        "URF UFL ULB UBR DFR DLF DBL DRB / UR+1 UF+1 UL+1 UB+1 DR+1 DF+1 DL+1 DB+1 FR+1 FL+1 BL+1 BR+1"
    )


@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("8-puzzle", "UD" * 30_000),
        ("cube-2x2x2-htm", "RU" * 30_000),
        ("hanoi-4-3", "(3→1 1→3)9999"),
        ("jugs-8-5-3", "(" + "pour 1→2, pour 2→1, " * 20 + ")'"),
    ],
)
def test_long_texts_are_refused_soon(name: str, moves: str) -> None:
    with pytest.raises(BoardError):
        board_given(farthest.load_puzzle(name), f"moves: {moves}")
