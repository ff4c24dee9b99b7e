"""Definitions and boards of sliding block puzzles: every form that is read, every mistake with its place and a mend."""

from typing import Any

import numpy as np
import pytest

from cases import for_each
from farthest.errors import BoardError, PuzzleError
from farthest.families.blocks.definition import COLUMNS, ROWS, Blocks, Kind
from farthest.families.blocks.picture import picture
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle

HEAD = 'name = "made-up"\nsource = "a test"\nfamily = "blocks"\n[blocks]\n'
START = 'start = ["AAB", "..B"]'
RUSH = "BBoKMxDDDKMoIAALooIoJLEEooJFFNoGGoxN"


def puzzle(*lines: str) -> Puzzle:
    """The keys of the table begin at line 5."""
    return parse_puzzle(HEAD + "\n".join(lines) + "\n", "b.toml")


def definition(*lines: str) -> Blocks:
    return puzzle(*lines).defined_as(Blocks)


def test_pieces_of_one_shape_are_one_kind() -> None:
    made = load("hakoiri-musume-slide").defined_as(Blocks)
    assert made.kinds == (
        Kind(((0, 0), (1, 0)), ("2", "3", "4", "5"), 15, -1, ()),
        Kind(((0, 0), (0, 1), (1, 0), (1, 1)), ("1",), 15, -1, ()),
        Kind(((0, 0), (0, 1)), ("6",), 15, -1, ()),
        Kind(((0, 0),), ("7", "7", "7", "7"), 15, -1, ()),
    )
    assert made.start == (1, 2, 2, 1, 1, 2, 2, 1, 1, 3, 3, 1, 1, 4, 4, 1, 4, 0, 0, 4)
    assert made.goals == ((WILDCARD,) * 13 + (2, 2) + (WILDCARD,) * 2 + (2, 2) + (WILDCARD,),)
    assert made.format_board(made.start) == "2113/2113/4665/4775/7007"
    assert made.format_board(made.goals[0]) == "****/****/****/*11*/*11*"
    assert made.draw_board(made.start)[0] == "2 1 1 3"
    assert made.arrangements() == 1820 * 12 * 15 * 4845
    assert made.size() == "5×4"
    assert made.facts() == [
        ("pieces", "10 of 4 kinds: 2 3 4 5, 1, 6, 7 7 7 7"),
        ("empty cells", "2, written 0"),
    ]


def test_distinct_along_and_exits_make_kinds_of_their_own() -> None:
    made = definition(
        'start = ["AA.BB+", "CC.DD#"]', 'distinct = ["B"]', 'along = "D"', 'exits = { "+" = ["A", "C"] }'
    )
    assert [(kind.tokens, kind.ways, kind.line, kind.exits) for kind in made.kinds] == [
        (("A", "C"), 15, -1, ("+",)),
        (("B",), 15, -1, ()),
        (("D",), ROWS, 1, ()),
    ]
    assert made.signs == ("", "", "", "", "", "+", "", "", "", "", "")
    assert made.start is not None
    assert made.format_board(made.start) == "AA.BB+/CC.DD#"
    assert made.facts()[2:] == [("rows only", "D"), ("exit +", "only for A C")]
    assert made.size() == "2×6, 1 of them walls"
    assert made.covers[0][4] == (4, 5)
    assert made.covers[1][4] == ()
    assert definition('start = ["AB.", "AB."]', "distinct = true").kinds[1].tokens == ("B",)


def test_a_tray_shows_exits_under_pieces() -> None:
    made = definition('start = ["BA", ".."]', 'tray = [".+", ".."]', 'exits = { "+" = ["A"] }')
    assert made.signs == ("", "+", "", "")
    assert made.start is not None
    assert made.format_board(made.start) == "BA/.."


def test_a_goal_that_places_all_pieces_is_one_board() -> None:
    assert definition(START, 'goal = ["AAB", "**B"]').goals == ((1, 1, 2, 0, 0, 2),)
    assert definition(START, 'goals = ["*AA/***", "***/.AA"]').goals == (
        (WILDCARD, 1, 1, WILDCARD, WILDCARD, WILDCARD),
        (WILDCARD, WILDCARD, WILDCARD, WILDCARD, 1, 1),
    )


@for_each(
    "text",
    [
        "2113/2113/4665/4775/7007",
        "2 1 1 3 / 2 1 1 3 / 4 6 6 5 / 4 7 7 5 / 7 0 0 7",
        "3112/3112/5664/5774/7..7",  # interchangeable pieces may be written as any of them
        "2113|2113|4665|4775|7__7",
        "2113\n2113\n4665\n4775\n7oo7\n",
        "2113 2113 4665 4775 7007",
        "21132113466547757007",
        "2,1,1,3;2,1,1,3;4,6,6,5;4,7,7,5;7,0,0,7",
    ],
)
def test_boards_are_read_in_every_reasonable_form(text: str) -> None:
    made = load("hakoiri-musume-step").defined_as(Blocks)
    assert made.parse_board(text) == made.start


def test_touching_pieces_of_one_kind_are_divided_in_one_way() -> None:
    made = definition('start = ["VWX.", "VWX."]')
    board = made.parse_board("VVVV/VV..".replace("VVVV/VV..", ".VVV/.VVV"))
    assert made.format_board(board) == ".VWX/.VWX"
    flat = definition('start = ["AA", "BB", "CC", ".."]', 'goal = ["..", "..", "..", "AA"]')
    assert flat.format_board(flat.parse_board("../AA/AA/AA")) == "../AA/BB/CC"


def test_tokens_of_several_characters() -> None:
    made = definition('start = ["red red .", "blue . ."]')
    assert made.start is not None
    assert made.format_board(made.start) == "red red . / blue . ."
    assert made.parse_board("red red _ / blue 0 .") == made.start
    assert made.draw_board(made.start) == [" red  red    .", "blue    .    ."]


def test_rush_hour_in_36_characters() -> None:
    made = definition(f'board = "{RUSH}"')
    assert made == load("rush-hour-58").defined_as(Blocks)
    assert made == load(f"rush-{RUSH}").defined_as(Blocks)
    assert made.start is not None
    assert made.format_board(made.start) == "BBoKM#/DDDKMo/IAALoo/IoJLEE/ooJFFN/oGGo#N"
    assert made.parse_board(RUSH) == made.start
    assert made.format_board(made.goals[0]) == "*****#/******/****AA/******/******/****#*"
    assert {kind.tokens: kind.ways for kind in made.kinds}["A",] == ROWS
    assert {kind.tokens: kind.ways for kind in made.kinds}["K",] == COLUMNS
    alone = definition(f'board = "{"." * 12}AA{"." * 22}"')
    assert alone.goals == ((0,) * 16 + (1, 1) + (0,) * 18,)
    assert load(f"rush-{RUSH}").metric == "slide"


def test_stored_and_read_again() -> None:
    for name in ("red-donkey", "rush-hour-51", "mas-puzzle"):
        made = load(name)
        assert Puzzle.from_json(made.to_json()) == made


# (id, lines of the table, place, what is wrong, mend)
WRONG: list[tuple[str, list[str], str, str, str]] = [
    ("no-start", [], ", line 4, [blocks]:", "no start", "letters are pieces"),
    ("unknown-key", [START, 'gaol = ["A"]'], ", line 6, [blocks] gaol:", "not known", "did you mean 'goal'"),
    ("start-number", ["start = 5"], ", line 5, [blocks] start:", "expected an array of rows", "write start ="),
    ("ragged", ['start = ["AA.", ".."]'], ", line 5, [blocks] start:", "row 2 has 2 places", "rows of one length"),
    ("too-large", [f"start = {['.' * 9] * 8}"], ", line 5, [blocks] start:", "72 cells", "make it smaller"),
    ("no-piece", ['start = ["..", ".."]'], ", line 5, [blocks] start:", "holds no piece", "letters for pieces"),
    ("wildcard-start", ['start = ["A*"]'], ", line 5, [blocks] start:", "expected in goals only", "another sign"),
    ("goals-too", [START, 'goal = ["AA.", "..."]', "goals = []"], ", line 7, [blocks] goals:",
     "both goal and goals are given",
     "put all boards into goals"),
    ("goals-empty", [START, "goals = []"], ", line 6, [blocks] goals:", "an empty array", "write goals ="),
    ("goals-rows", [START, 'goals = ["AA.", "..."]'], ", line 6, [blocks] goals:", "of one row only", "write goal ="),
    ("goal-shape", [START, 'goal = ["AA."]'], ", line 6, [blocks] goal:", "1 row, start has 2", "draw all rows"),
    ("goal-stranger", [START, 'goal = ["CC.", "..."]'], ", line 6, [blocks] goal:", "row 1, column 1 holds 'C'",
     "a piece of the start (A B)"),
    ("goal-half", [START, 'goal = ["A..", "..."]'], ", line 6, [blocks] goal:", "the cells of A are not whole",
     "draw the whole pieces"),
    ("goal-names-none", [START, 'goal = ["...", "..."]'], ", line 6, [blocks] goal:", "names no piece",
     "draw at least one"),
    ("goal-too-many", [START, 'goal = ["AA.", "AA."]'], ", line 6, [blocks] goal:", "2 pieces of the shape of A",
     "draw the whole pieces"),
    ("goal-twice", [START, 'goals = ["AA./...", "AA0/***"]'], ", line 6, [blocks] goals:", "the same board as goal 1",
     "leave one out"),
    ("goal-walls", [START, 'goal = ["AA#", "..."]'], ", line 6, [blocks] goal:", "is a wall", "walls in the same"),
    ("shapes-differ", ['start = ["AA.", "..A"]'], ", line 5, [blocks] start:", "row 2, column 3: touching cells",
     'shapes = { A = "A" }'),
    ("shapes-text", [START, 'shapes = "A"'], ", line 6, [blocks] shapes:", "expected a table", "write shapes ="),
    ("shape-stranger", [START, 'shapes = { A = "AX" }'], ", line 6, [blocks] shapes:", "it holds 'X'",
     "draw the piece with A"),
    ("shape-empty", [START, 'shapes = { A = "." }'], ", line 6, [blocks] shapes:", "it holds no A", "draw the piece"),
    ("shape-unused", [START, 'shapes = { C = "C" }'], ", line 6, [blocks] shapes:", "no piece of start is written 'C'",
     "leave it out"),
    ("shape-broken", ['start = ["AAA"]', 'shapes = { A = "AA" }'], ", line 5, [blocks] start:",
     "row 1, column 3: no whole piece A", "correct the shape"),
    ("distinct-number", [START, "distinct = 3"], ", line 6, [blocks] distinct:", "expected a list of pieces",
     'write ["A"]'),
    ("distinct-stranger", [START, 'distinct = ["Z"]'], ", line 6, [blocks] distinct:", "is written 'Z'",
     "name one that is"),
    ("distinct-same", ['start = ["A.A"]', "distinct = true"], ", line 6, [blocks] distinct:",
     "several pieces are written A", "write them differently"),
    ("along-square", ['start = ["AA", "AA"]', "along = true"], ", line 6, [blocks] along:", "not a straight line",
     "leave it out"),
    ("along-unit", ['start = ["A.BB"]', 'along = ["A"]'], ", line 6, [blocks] along:", "no length", "leave it out"),
    ("exits-text", [START, 'exits = "+"'], ", line 6, [blocks] exits:", "expected a table", "write exits ="),
    ("exit-sign", [START, 'exits = { "#" = ["A"] }'], ", line 6, [blocks] exits:", "meaning of its own", "another"),
    ("exit-empty", [START, 'exits = { "." = ["A"] }'], ", line 6, [blocks] exits:", "is an empty cell", "another"),
    ("exit-undrawn", [START, 'exits = { "+" = ["A"] }'], ", line 6, [blocks] exits:", "no cell of start is drawn +",
     "or in tray"),
    ("exit-for-none", ['start = ["A+"]', 'exits = { "+" = [] }'], ", line 6, [blocks] exits:", "list of pieces",
     "write"),
    ("exit-for-stranger", ['start = ["A+"]', 'exits = { "+" = ["B"] }'], ", line 6, [blocks] exits:",
     "no piece of start is written 'B'", "name one that is"),
    ("exit-moved", ['start = ["A+."]', 'goal = [".A+"]', 'exits = { "+" = ["A"] }'], ", line 6, [blocks] goal:",
     "row 1, column 3 is drawn as exit +", "correct one"),
    ("exit-another", ['start = ["A+.-B"]', 'goal = [".-.+."]', 'exits = { "+" = ["A"], "-" = ["B"] }'],
     ", line 6, [blocks] goal:", "row 1, column 2 is drawn as exit -", "correct one"),
    ("exit-shut", ['start = ["A+"]', 'goal = [".A"]', 'exits = { "+" = ["A"] }', 'distinct = ["B"]'],
     ", line 8, [blocks] distinct:", "no piece of start is written 'B'", "name one that is"),
    ("goal-in-a-shut-exit", ['start = ["AB+"]', 'goal = ["..B"]', 'exits = { "+" = ["A"] }'],
     ", line 6, [blocks] goal:", "not whole pieces where they may be", "draw the whole pieces"),
    ("start-in-a-shut-exit", ['start = ["AB."]', 'tray = ["..+"]', 'goal = ["..A"]'], ", line 6, [blocks] tray:",
     "row 1, column 3 holds '+'", "list the sign of an exit"),
    ("start-on-a-shut-exit", ['start = ["AB"]', 'tray = [".+"]', 'exits = { "+" = ["A"] }'],
     ", line 5, [blocks] start:", "the cells of B are not whole pieces where they may be", "let it into the exit"),
    ("tray-with-piece", [START, 'tray = ["A..", "..."]'], ", line 6, [blocks] tray:", "holds 'A'", "without pieces"),
    ("board-and-start", [START, f'board = "{RUSH}"'], ", line 5, [blocks] start:", "both board and start are given",
     "leave one out"),
    ("board-number", ["board = 36"], ", line 5, [blocks] board:", "expected a text", "write board ="),
    ("board-short", ['board = "AAo"'], ", line 5, [blocks] board:", "3 characters, expected 36", "write it like"),
    ("board-sign", [f'board = "{RUSH.replace("N", "n")}"'], ", line 5, [blocks] board:",
     "character 30 (row 5, column 6) is 'n'", "correct it"),
    ("board-no-a", [f'board = "{RUSH.replace("A", "o")}"'], ", line 5, [blocks] board:", "no car A", "call that car A"),
    ("board-single", [f'board = "{"o" * 12}AA{"o" * 21}B"'], ", line 5, [blocks] board:",
     "car B (row 6, column 6) has one cell", "o is an empty cell"),
    ("board-bent", [f'board = "{"o" * 12}AA{"o" * 10}BB{"o" * 5}B{"o" * 4}"'], ", line 5, [blocks] board:",
     "car B (first in row 5, column 1)", "a letter of its own"),
    ("board-apart", [f'board = "{"o" * 12}AAoA{"o" * 20}"'], ", line 5, [blocks] board:", "not one straight line",
     "a letter of its own"),
    ("board-upright-a", [f'board = "A{"o" * 5}A{"o" * 29}"'], ", line 5, [blocks] board:", "stands in a column",
     "turn the board"),
    ("board-walled", [f'board = "AAooox{"o" * 30}"'], ", line 5, [blocks] board:", "a wall stands at the right end",
     "correct one"),
]  # fmt: skip


@for_each(("lines", "place", "problem", "mend"), [case[1:] for case in WRONG])
def test_wrong_definitions(lines: list[str], place: str, problem: str, mend: str) -> None:
    with pytest.raises(PuzzleError) as raised:
        puzzle(*lines)
    message = str(raised.value)
    assert message.startswith(f"b.toml{place}")
    assert problem in message
    assert mend in message


def test_known_depths_of_goals() -> None:
    """``goal`` of a known answer, in any family."""
    known = '[[known]]\nsource = "a book"\ngoal = '
    made = puzzle(START, f"{known}3")
    assert [answer.goal for answer in made.known] == [3]
    assert Puzzle.from_json(made.to_json()) == made
    with pytest.raises(
        PuzzleError, match=r"b.toml, line 8, \[known\] goal: expected a whole number of at least 0"
    ):
        puzzle(START, f"{known}-1")


def test_wrong_names_of_rush_hour_boards() -> None:
    with pytest.raises(PuzzleError, match="'rush-AAo': 3 characters, expected 36"):
        load("rush-AAo")


@for_each(
    ("text", "problem"),
    [
        ("", "it is empty"),
        ("2113/2113/4665/4775", "4 rows, expected 5"),
        ("2113/2113/4665/4775/700", "row 5 has 3 cells, expected 4"),
        ("2113211346654775700", "19 cells, expected 20"),
        ("2113/2113/4665/4775/700x", "row 5, column 4 is a wall"),
        ("2113/2113/4665/4775/700Q", "row 5, column 4 holds 'Q', expected one of 2 3 4 5 1 6 7 0"),
        ("2113/2113/4665/4775/7000", "3 pieces of the shape of 7 7 7 7, expected 4"),
        ("2113/2113/4665/4705/7077".replace("211", "201"), "the cells of 1 are not whole pieces"),
        ("****/****/****/*11*/*11*", "holds '*'"),
    ],
)
def test_wrong_boards(text: str, problem: str) -> None:
    with pytest.raises(BoardError) as raised:
        load("hakoiri-musume-step").defined_as(Blocks).parse_board(text, name="hakoiri")
    assert problem in str(raised.value)
    assert "for hakoiri" in str(raised.value)
    assert "a board is written like '2113/2113/4665/4775/7007'" in str(raised.value)


def test_many_boards_in_mixed_forms() -> None:
    made = load("hakoiri-musume-step").defined_as(Blocks)
    start = "2113/2113/4665/4775/7007"
    lines = [start] * 4200
    expected = bytes(made.start or ()) * 4200
    assert made.parse_boards(lines) == expected
    lines[4100] = "2 1 1 3 / 2 1 1 3 / 4 6 6 5 / 4 7 7 5 / 7 0 0 7\n"
    assert made.parse_boards(iter(lines)) == expected
    for wrong in ("2113/2113/4665/4775/7000", "2113/2113/4665/4775/70*7", "2113x2113/4665/4775/7007", ""):
        lines[4100] = wrong
        with pytest.raises(BoardError, match=r"^line 4101: "):
            made.parse_boards(lines)
    with pytest.raises(BoardError, match=r"^line 1: board: expected a text"):
        made.parse_boards([5])  # type: ignore[list-item]


def test_a_box_that_is_all_exits_has_no_frame() -> None:
    made = definition('start = ["A+"]', 'tray = ["++"]', 'exits = { "+" = ["A"] }')
    assert made.start is not None
    assert [shape.text for shape in picture(made, made.start).shapes] == ["", "+", "+", "A"]


def test_an_exit_is_where_it_is() -> None:
    with pytest.raises(BoardError, match=r"row 1, column 2 is marked as exit \+"):
        definition('start = ["A.+"]', 'exits = { "+" = ["A"] }').parse_board("A+.")
    with pytest.raises(BoardError, match="not whole pieces where they may be"):
        definition('start = ["AB+"]', 'exits = { "+" = ["A"] }').parse_board("A.B")
    with pytest.raises(BoardError, match="expected a text such as"):
        definition(START).parse_board(5)  # type: ignore[arg-type]


@for_each(
    ("board", "problem"),
    [
        (5, "got int"),
        ((0, 1), "2 numbers, expected 6"),
        ((1, 1, 3, 0, 0, 2), "cell 2 holds 3"),
        ((1, 1, 2, 0, 0, 0.5), "cell 5 holds 0.5"),
        ((1, 1, 2, 0, 0, 0), "not whole pieces"),
        ((1, 1, 0, 0, 0, 0), "0 pieces of the shape of B, expected 1"),
    ],
)
def test_wrong_numbers(board: Any, problem: str) -> None:
    made = definition(START)
    with pytest.raises(BoardError, match=problem):
        made.check_board(board)
    if isinstance(board, tuple) and len(board) == made.cells:
        whole = [made.start, made.start, board] if all(isinstance(label, int) for label in board) else []
        assert made.first_wrong(np.array(whole, dtype=np.int64).reshape(-1, made.cells)) == (
            2 if whole else None
        )


GOOD: dict[str, Any] = {
    "rows": ((0, 1, 2), (3, 4, 5)),
    "signs": ("",) * 6,
    "empty": ".",
    "kinds": (Kind(((0, 0), (0, 1)), ("A",), 15, -1, ()), Kind(((0, 0), (1, 0)), ("B",), 15, -1, ())),
    "goals": (),
    "start": (1, 1, 2, 0, 0, 2),
}


@for_each(
    ("change", "problem"),
    [
        ({"signs": ("",)}, "1 cells; expected 2 to 64"),
        ({"rows": ((0, 1, 2), (3, 4))}, "differ in length"),
        ({"rows": ((0, 1, 2), (3, 5, 4))}, "not numbered 0 to 5"),
        ({"kinds": ()}, "0 kinds of piece"),
        ({"kinds": (Kind(((0, 0),), (), 15, -1, ()),)}, "a kind has no pieces"),
        ({"kinds": (Kind(((0, 0),), ("A",), 16, -1, ()),)}, "directions that are none"),
        ({"kinds": (Kind(((0, 0),), ("A",), ROWS, -1, ()),)}, "bound to a line, but not"),
        ({"kinds": (Kind(((0, 1),), ("A",), 15, -1, ()),)}, "the shape of A is not in reading order"),
        ({"kinds": (Kind(((0, 0),), ("A",), 15, -1, ()),) * 2}, "pieces of two kinds are written 'A'"),
        ({"kinds": (Kind(((0, 0),), ("#",), 15, -1, ()),)}, "token '#' holds '#'"),
        ({"kinds": (Kind(((0, 0),), (".",), 15, -1, ()),)}, "must not be written alike"),
        ({"kinds": (Kind(((0, 0),), ("A",), 15, -1, ("+",)),)}, "A may enter an exit that is not there"),
        ({"start": None}, "expected a start or a goal"),
        ({"goals": ((1, 1, 2, 0, 0, 2),) * 2}, "a goal appears twice"),
        ({"start": (1, 1, 3, 0, 0, 3)}, "start is not 6 numbers from 0 to 2"),
        ({"goals": ((1, 1, 0, -1, 0, 0),)}, "goal 1 holds both empty cells"),
        ({"goals": ((1, -1, -1, -1, -1, -1),)}, "goal 1: the cells of A are not whole pieces"),
        ({"start": (1, 1, 0, 0, 0, 0)}, "start: 0 pieces of the shape of B"),
    ],
)
def test_bodies_fit_together(change: dict[str, Any], problem: str) -> None:
    Blocks(**GOOD)
    with pytest.raises(PuzzleError, match="block puzzle: ") as raised:
        Blocks(**{**GOOD, **change})
    assert problem in str(raised.value)


def test_a_piece_keeps_its_name_along_a_path() -> None:
    """A and B go round and change places; every board alone would call the first of them A."""
    made = definition('start = ["AB", ".."]')
    boards = np.array([(1, 1, 0, 0), (0, 1, 1, 0), (1, 0, 1, 0), (1, 0, 0, 1), (1, 1, 0, 0)], dtype=np.uint8)
    assert made.names_swap
    path = made.named_path(boards, ["A down", "A left", "B right", "B up"])
    assert path.moves == ["A down", "B left", "A right", "A up"]
    assert path.texts == ["AB/..", ".B/A.", "B./A.", "B./.A", "BA/.."]
    assert [path.definition.draw_board(board) for board in path.boards.tolist()][-1] == ["B A", ". ."]
    assert path.definition.palette() == made.palette()
    assert [made.parse_board(text) for text in path.texts] == list(map(tuple, boards.tolist()))


def test_pieces_of_one_name_are_not_told_apart() -> None:
    made = load("hakoiri-musume-move").defined_as(Blocks)
    boards = np.array([made.start], dtype=np.uint8)
    path = made.named_path(boards, [])
    assert path.texts == made.texts(boards)
    assert not definition('start = ["AAB", "..B"]').names_swap
