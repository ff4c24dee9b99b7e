"""Malformed boards: every message names the board, what was expected, and how a board is written."""

import pytest

from cases import for_each
from farthest.errors import BoardError
from farthest.families.sliding.definition import sliding
from farthest.puzzles.catalogue import load

# (id, puzzle, text, what the message says after the board, mend)
EIGHT = "a board is written like '867/254/301'"
HOLDS = "a board holds 0 1 2 3 4 5 6 7 8"
KINDS = "a board is written like '┘│└/─□─/┐│┌'"
LONG = "a board is written like '0 1 2 3 / 4 5 6 7 / 8 9 10 11'"
CASES = [
    ("example", "8-puzzle", "1 2 3 / 4 5 6 / 7 8 8",
     "piece 8 appears twice, expected once; blank 0 is missing", HOLDS),
    ("empty", "8-puzzle", "", "it is empty", EIGHT),
    ("spaces", "8-puzzle", "  / /\n", "it is empty", EIGHT),
    ("short", "8-puzzle", "12345678", "8 cells, expected 9", EIGHT),
    ("long", "8-puzzle", "1234567800", "10 cells, expected 9", EIGHT),
    ("very-long", "8-puzzle", "1" * 1000, "1,000 cells, expected 9", EIGHT),
    ("piece-9", "8-puzzle", "123456789", "place 9 holds '9', expected one of 0 1 2 3 4 5 6 7 8", EIGHT),
    ("piece-10", "8-puzzle", "1 2 3 / 4 5 6 / 7 8 10",
     "row 3, column 3 holds '10', expected one of 0", EIGHT),
    ("joined-pair", "8-puzzle", "10 2 3 4 5 6 7 8", "place 1 holds '10', expected one of", EIGHT),
    ("letter", "8-puzzle", "12x/456/780", "row 1, column 3 holds 'x', expected one of", EIGHT),
    ("control", "8-puzzle", "12\x07456780", "place 3 holds '\\x07', expected one of", EIGHT),
    ("surrogate", "8-puzzle", "12\udce9456780", "place 3 holds '\\udce9', expected one of", EIGHT),
    ("two-rows", "8-puzzle", "12345/6780", "2 rows, expected 3", EIGHT),
    ("uneven", "8-puzzle", "12/3456/780", "row 1 has 2 cells, expected 3", EIGHT),
    ("uneven-spaces", "8-puzzle", "12 3456 780", "row 1 has 2 cells, expected 3", EIGHT),
    ("tokens-by-line", "8-puzzle", "1\n2\n3\n4\n5\n6\n7\n8\n0", "9 rows, expected 3", EIGHT),
    ("two-blanks", "8-puzzle", "123/456/700",
     "blank 0 appears twice, expected once; piece 8 is missing", HOLDS),
    ("wildcard", "8-puzzle", "123/4*6/780", "row 2, column 2 holds '*', expected one of", EIGHT),
    ("wall", "8-puzzle", "123/4#6/780",
     "row 2, column 2 is a wall, expected a cell; write all walls or none", EIGHT),
    ("seven", "8-puzzle", "111/111/110",
     "piece 1 appears 8 times, expected once; piece 2 is missing", "; and 2 more"),
    ("other-glyphs", "eight-kinds", "┘│└/─□─/┐│┏",
     "row 3, column 3 holds '┏', expected one of □ ┌ ─ ┐ │ └ ┘", KINDS),
    ("kinds", "eight-kinds", "┘││/─□─/┐│┌",
     "piece │ appears 3 times, expected twice; piece └ is missing", "a board holds"),
    ("kinds-digits", "eight-kinds", "123/456/780", "row 1, column 1 holds '1', expected one of", KINDS),
    ("not-separated", "sliding-3x4", "0123/4567/891011",
     "holds '0123', expected one of", "separate the pieces with spaces"),
    ("few", "sliding-3x4", "0 1 2 3 / 4 5 6 7 / 8 9 10", "row 3 has 3 cells, expected 4", LONG),
    ("bars", "sliding-3x4", "0 1 2 | 3 4 5 | 6 7 8 | 9 10 11", "4 rows, expected 3", LONG),
    ("zeros", "sliding-3x4", "00 1 2 3 / 4 5 6 7 / 8 9 10 11", "row 1, column 1 holds '00'", LONG),
    ("negative", "sliding-3x4", "0 -1 2 3 / 4 5 6 7 / 8 9 10 11", "row 1, column 2 holds '-1'", LONG),
    ("part-of-walls", "lozenge", "#12/3456/#70#",
     "row 1 has 3 places, expected 4", "like '#21#/0346/#57#'"),
    ("walls-misplaced", "lozenge", "1##2/3456/#70#",
     "row 1, column 1 is a cell, expected a wall", "write all walls or none"),
    ("too-many-for-walls", "lozenge", "1234/5670", "2 rows, expected 3", "a board is written like"),
    ("graph-rows", "wilson-theta", "123/456/0", "3 rows, expected 1", "a board is written like '1234560'"),
    ("graph-few", "wilson-theta", "12340", "5 cells, expected 7", "a board is written like"),
    ("one-blank", "two-blanks", "123/456/780", "holds '8', expected one of", "a board is written like"),
    ("letters", "mississippi", "MISS/ISSI/PPP_",
     "piece I appears 3 times, expected 4 times; piece P appears 3 times, expected twice",
     "a board holds _ M I I I I S S S S P P"),
    ("lower-case", "mississippi", "miss/issi/ppi_",
     "row 1, column 1 holds 'm', expected one of _ M I S P", "is written"),
]  # fmt: skip


@for_each(("name", "text", "problem", "mend"), [c[1:] for c in CASES])
def test_message_names_board_problem_and_mend(name: str, text: str, problem: str, mend: str) -> None:
    puzzle = load(name)
    with pytest.raises(BoardError) as raised:
        sliding(puzzle).parse_board(text, name=puzzle.name)
    message = str(raised.value)
    shown = text if len(text) <= 80 else text[:77] + "..."
    assert message.startswith(f"board {shown!r} for {name}: ")
    assert problem in message
    assert mend in message
    assert message.isprintable()
    assert len(message) < 400


@for_each(("name", "text", "problem", "mend"), [c[1:] for c in CASES])
def test_many_boards_refuse_the_same(name: str, text: str, problem: str, mend: str) -> None:
    puzzle = load(name)
    definition = sliding(puzzle)
    good = " ".join(definition.tokens[label] for label in definition.goals[0])
    with pytest.raises(BoardError) as raised:
        definition.parse_boards([good, good + "\n", text, good], name=name)
    message = str(raised.value)
    assert message.startswith("line 3: board ")
    assert problem in message
    assert mend in message


def test_without_a_name_the_message_names_the_board() -> None:
    with pytest.raises(BoardError, match=r"^board '12': 2 cells, expected 9; "):
        sliding(load("8-puzzle")).parse_board("12")


@for_each("board", [None, 123456780, b"123456780", [1, 2, 3]])
def test_no_text(board: object) -> None:
    definition = sliding(load("8-puzzle"))
    with pytest.raises(BoardError, match="expected a text such as '867/254/301', got "):
        definition.parse_board(board)  # type: ignore[arg-type]
    with pytest.raises(BoardError, match="line 1: expected a text such as '867/254/301', got "):
        definition.parse_boards([board])  # type: ignore[list-item]


@for_each(
    ("labels", "problem"),
    [
        ([1, 2, 3], "board for 8-puzzle: 3 labels, expected 9, one per cell"),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9], "cell 8 holds 9, expected a label from 0 to 8"),
        ([1, 2, 3, 4, 5, 6, 7, 8, -1], "cell 8 holds -1, expected a label from 0 to 8"),
        ([1, 2, 3, 4, 5, 6, 7, 8, 0.5], "cell 8 holds 0.5, expected a label from 0 to 8"),
        (
            [1, 2, 3, 4, 5, 6, 7, 8, 8],
            "'123/456/788': piece 8 appears twice, expected once; blank 0 is missing",
        ),
        (8, "expected the labels of 9 cells, got int"),
    ],
)
def test_labels(labels: object, problem: str) -> None:
    with pytest.raises(BoardError) as raised:
        sliding(load("8-puzzle")).check_board(labels, name="8-puzzle")  # type: ignore[arg-type]
    assert problem in str(raised.value)
