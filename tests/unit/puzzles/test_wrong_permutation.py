"""Wrong permutation puzzles, in TOML and in foreign formats: messages name file, line, what was expected, a mend."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cases import for_each
from farthest.errors import BoardError, PuzzleError
from farthest.puzzles.catalogue import load
from farthest.puzzles.reader import parse_puzzle

HEAD = 'name = "wrong"\nfamily = "permutation"\n'
MOVES = '[permutation.generators]\nR = "(1 2 3)"\n'
ORBITS = '[[permutation.orbits]]\nname = "a"\nslots = 3\n'
ORBITS += '[[permutation.orbits]]\nname = "b"\ngoal = "x y"\nmodulus = 2\n'

TABLES = [
    ("[permutation]\n" + MOVES, 3, "no goal|no pieces"),
    ("[permutation]\ngoal = 3\n" + MOVES, 4, "expected a text, got 3"),
    ('[permutation]\ngoal = "1"\n[permutation.generators]\nR = "(1)"\n', 4, "1 slots, expected 2 to 4999"),
    ("[permutation]\nslots = 5000\n" + MOVES, 4, "expected a whole number from 1 to 4999, got 5000"),
    ('[permutation]\ngoal = "1 2 3"\nslots = 3\n' + MOVES, 5, "both goal and slots"),
    ('[permutation]\ngaol = "1 2 3"\n' + MOVES, 4, "did you mean 'goal'"),
    ('[permutation]\ngoal = "1 2+1 3"\n' + MOVES, 4, "has the orientation 1; this set has 1"),
    ('[permutation]\ngoal = "1 2 #"\n' + MOVES, 4, "'#'"),
    (
        "[permutation]\nslots = 3\nmodulus = 0\n" + MOVES,
        5,
        r"a whole number from 1 to 64 \(orientations\), got 0",
    ),
    ("[permutation]\nslots = 3\nnumbering = 2\n" + MOVES, 5, "expected a whole number from 0 to 1"),
    ('[permutation]\nslots = 3\nignore = "1"\n' + MOVES, 5, "no orientation to ignore"),
    ('[permutation]\nslots = 3\nmodulus = 2\nignore = "4"\n' + MOVES, 6, "there is no piece '4'"),
    ('[permutation]\nslots = 3\ninverses = "yes"\n' + MOVES, 5, "expected true or false"),
    ('[permutation]\nslots = 3\nstart = "1 2 2"\n' + MOVES, 5, "piece 2 appears twice"),
    ('[permutation]\nslots = 3\ngoals = ["1 2 3", "123"]\n' + MOVES, 5, "the same board as goal 1"),
    ("[permutation]\nslots = 3\n", 3, "no generators; write"),
    ('[permutation]\nslots = 3\n[permutation.generators]\nR = "(1 2 4)"\n', 6, "slot 4 is out of range"),
    ('[permutation]\nslots = 3\n[permutation.generators]\nR = "(1 2 1)"\n', 6, "slot 1 appears twice"),
    ('[permutation]\nslots = 3\n[permutation.generators]\nR = "(1 2"\n', 6, "not closed"),
    ('[permutation]\nslots = 3\n[permutation.generators]\nR = "((1 2))"\n', 6, "opens in a cycle"),
    ('[permutation]\nslots = 3\n[permutation.generators]\nR = "1 2)"\n', 6, "in no cycle"),
    ('[permutation]\nslots = 3\n[permutation.generators]\nR = "(1 x)"\n', 6, "'x' at place 4"),
    (
        '[permutation]\nslots = 3\n[permutation.generators]\nR = "(1+1 2)"\n',
        6,
        "no turn: the pieces are not turned",
    ),
    ("[permutation]\nslots = 3\n[permutation.generators]\nR = [2, 3]\n", 6, "2 images, expected 3"),
    (
        "[permutation]\nslots = 3\n[permutation.generators]\nR = [2, 3, 3]\n",
        6,
        "two slots go to slot 3: not a perm",
    ),
    ("[permutation]\nslots = 3\n[permutation.generators]\nR = [2, 3, 0]\n", 6, "slot 0 is out of range"),
    ("[permutation]\nslots = 3\n[permutation.generators]\nR = 7\n", 6, "expected cycles or images, got 7"),
    ('[permutation]\nslots = 3\n[permutation.generators]\nR = ""\n', 6, "changes nothing"),
    (
        '[permutation]\nslots = 3\n[permutation.generators]\nR = "(1 2)"\nS = [2, 1, 3]\n',
        7,
        "the same move as R",
    ),
    ('[permutation]\nslots = 3\n[permutation.generators]\n"R U" = "(1 2)"\n', 6, "holds a space"),
    (
        "[permutation]\nslots = 2\nmodulus = 2\n[permutation.generators]\nR = { to = [2, 1], twist = [1] }\n",
        7,
        "twist: expected 2 whole numbers",
    ),
    (
        '[permutation]\nslots = 2\nmodulus = 2\n[permutation.generators]\nR = "(1+2 2)"\n',
        7,
        "turns by 2, expected less than 2",
    ),
    (
        f'[permutation]\n{ORBITS}[permutation.generators]\nR = "(3 4)"\n',
        12,
        "slot 3 of a goes to slot 4 of b",
    ),
    (f'[permutation]\n{ORBITS}[permutation.generators]\nR = {{ c = "(1 2)" }}\n', 12, "there is no set 'c'"),
    (f"[permutation]\nmodulus = 2\n{ORBITS}", 4, "modulus and orbits are both given"),
    ('[permutation]\n[[permutation.orbits]]\ngoal = "1 2"\n', 4, "has no name"),
    ('[permutation]\n[[permutation.orbits]]\nname = "to"\nslots = 2\n', 5, "meaning of its own"),
    (f'[permutation]\n{ORBITS}[[permutation.orbits]]\nname = "a"\nslots = 2\n', 12, "that of two sets"),
]


@for_each(("table", "line", "expected"), TABLES)
def test_wrong_tables(table: str, line: int, expected: str) -> None:
    with pytest.raises(PuzzleError, match=expected) as caught:
        parse_puzzle(HEAD + table, "wrong.toml")
    check_message(str(caught.value), f"wrong.toml, line {line}", expected)


def test_inverses_of_powers() -> None:
    text = HEAD + 'metric = "power"\n[permutation]\nslots = 3\ninverses = false\n' + MOVES
    with pytest.raises(PuzzleError, match=r"line 6.*inverse of a generator is one of its powers"):
        parse_puzzle(text, "wrong.toml")


SETS = "Name X\nSet A 3 2\nSet B 2 1\n"
SOLVED = SETS + "Solved\nEnd\n"
TURN = "Move R\nB\n2 1\nEnd\n"

TWSEARCH = [
    ("", 0, "no set of pieces"),
    (SETS, 0, "no solved state"),
    (SOLVED, 0, "no moves"),
    ("Set A 3\n", 1, "2 words after the command, expected 3"),
    ("Set A x 2\n", 1, "'x': expected 1 to 4999"),
    ("Set A 3 0\n", 1, "'0': expected 1 to 127"),
    ("Set A 3 90\n", 1, "90 orientations; at most 64"),
    ("Set A 4000 1\nSet B 1000 1\n", 2, "5000 pieces up to here; at most 4999"),
    ("Set A 3 1\nSet A 2 1\n", 2, "appears twice"),
    ("Set 3 3 1\n", 1, "reads as a row"),
    ("Sett A 3 1\n", 1, "not a command; did you mean 'Set'"),
    ("Solved\nEnd\n", 1, "before any set"),
    (SOLVED + "Set C 2 1\n", 6, "a Set after Solved"),
    (SOLVED + "Solved\nEnd\n", 6, "there is a solved state already"),
    (SETS + "Solved\nC\n1 2\nEnd\n", 5, "there is no set 'C'"),
    (SETS + "Solved\nA\n1 2\nEnd\n", 6, "2 numbers, expected 3"),
    (SETS + "Solved\nA\n1 2 ?\nEnd\n", 6, "[?] for a piece"),
    (SETS + "Solved\nA\n1 2 0\nEnd\n", 6, "'0': expected 1 to 4999"),
    (SETS + "Solved\nA\n1 2 3\n0 0 2\nEnd\n", 7, "'2': expected 0 to 1"),
    (SETS + "Solved\nA\n1 1 3\n0 [?] 0\nEnd\n".replace("[?]", "?"), 7, "only some is [?]"),
    (SETS + "Solved\nA\n1 2 3\n0 0 0\n0 0 0\nEnd\n", 8, "a third row"),
    (SETS + "Solved\n1 2 3\nEnd\n", 5, "a row before the name of its set"),
    (SETS + "Solved\nA\nB\n1 2\nEnd\n", 5, "the set A has no row"),
    (SETS + "Solved\nA\n1 2 3\nA\n1 2 3\nEnd\n", 7, "the set A twice"),
    (SETS + "Solved\nA\n1 2 3\n", 4, "Solved has no End"),
    (SETS + "Solved\nA\n1 2 3\nMove R\n", 4, "no End before Move in line 7"),
    (SOLVED + "Move\n", 6, "0 words after the command"),
    (SOLVED + "Move R\nA\n2 1 1\nEnd\n", 8, "1 appears twice: not a permutation"),
    (SOLVED + "Move R\nA\n2 1 4\nEnd\n", 8, "'4': expected 1 to 3"),
    (SOLVED + "MoveTransformation R\nA\n1 2 3\nEnd\n", 8, "'3': expected 0 to 2"),
    (SOLVED + "Move R\nA\n2 1 3\n0 [?] 0\nEnd\n".replace("[?]", "?"), 9, "'[?]': expected 0 to 1"),
    (SOLVED + "Move R\nA\n1 2 3\nEnd\n", 6, "changes nothing"),
    (SOLVED + "Move R\nB\n2 1\nEnd\nMove R\nA\n2 1 3\nEnd\n", 10, "the move R appears twice"),
    (SOLVED + "Move R\nB\n2 1\nEnd\nMoveSequence S R Q\n", 10, "no move 'Q'"),
    (SOLVED + "MoveSequence S\n", 6, "a name and moves are missing"),
    (SOLVED + "Illegal A 1\n", 6, "expected a set, a slot and pieces that may not stand there"),
    (SOLVED + "Illegal Q 1 2\n", 6, "expected a set, a slot and pieces"),
    (SOLVED + "Illegal A 4 2\n" + TURN, 6, "'4': expected 1 to 3"),
    (SOLVED + "Illegal A 1 9\n" + TURN, 6, "A: there is no piece 9"),
    (SOLVED + "Illegal A 1 1\n" + TURN, 6, "A: piece 1 is there in the solved state"),
    (SOLVED + "Block\nA\n1 9\nEnd\n" + TURN, 8, "A: there is no piece 9"),
    (SOLVED + "Block\nA\n1\n2\nEnd\n", 9, "a second row for A in Block"),
    (SOLVED + "Block\nA\n1 2\n", 6, "Block has no End"),
    (SOLVED + "Ignore\nA\n1 1 0\nEnd\n", 6, "Ignore cannot be read here"),
    (SOLVED + "ForbiddenPairs\nR L\nEnd\n", 6, "ForbiddenPairs cannot be read here"),
    (SOLVED + "MoveLimits\nR 2\nEnd\n", 6, "MoveLimits cannot be read here"),
    (SOLVED + "ParallelMoves\nR L\n", 6, "ParallelMoves has no End"),
    (SOLVED + "Move R\nB\n2 \0\nEnd\n", 8, "a zero byte"),
]


@pytest.mark.parametrize("suffix", [".tws", ".def"])
@pytest.mark.parametrize(("text", "line", "expected"), TWSEARCH)
def test_wrong_twsearch_files(text: str, line: int, expected: str, suffix: str, tmp_path: Path) -> None:
    check_file(tmp_path / f"wrong{suffix}", text, line, expected)


GAP = [
    ("", 1, "no generators"),
    ("# nothing\n\n", 3, "no generators"),
    ("a := (1,2,3)\n", 1, "the statement has no end, found the end of the file"),
    ("a := (1,2,3)\nb := (1,2);\n", 2, "the statement has no end, found 'b'"),
    ("a := (1,2;\n", 1, "a cycle has no end"),
    ("a := (1,,2);\n", 1, "',' in a cycle, expected a point"),
    ("a := (1,2,1);\n", 1, "the point 1 is twice"),
    ("a := (0,1);\n", 1, "the point 0 is out of range"),
    ("a := (1,99999);\n", 1, "the point 99999 is out of range"),
    ("G := Group((1,2), b);\n", 1, "'b' is not defined"),
    ("turn := (1,2);\nG := Group(turm);\n", 2, "'turm' is not defined; did you mean 'turn'"),
    ("G := Group();\n", 1, "Group: expected permutations"),
    ("G := Group(3);\n", 1, "Group: expected permutations"),
    ("G := PrimitiveGroup(100, 3);\n", 1, "the function 'PrimitiveGroup' cannot be read here"),
    ("G := SymmetricGroup(1);\n", 1, "SymmetricGroup: 1 is out of range"),
    ("G := CyclicGroup(IsPermGroup, 5000);\n", 1, "at most 4999 points"),
    ("G := DihedralGroup(9);\n", 1, "DihedralGroup: 9 is odd"),
    ("G := MathieuGroup(13);\n", 1, "MathieuGroup: 13 is out of range; expected 11, 12"),
    ("G := MathieuGroup();\n", 1, "expected one number, as MathieuGroup\\(24\\)"),
    ("x := GeneratorsOfGroup((1,2));\n", 1, "GeneratorsOfGroup: expected a group"),
    ("x := [(1,2)];\ny := x[2];\n", 2, "there is no such item; expected 1 to 1"),
    ("x := (1,2)[1];\n", 1, "there is no such item; expected a list before"),
    ("G := Group((1,2));\nx := G.2;\n", 2, "'G' has the generators 1 to 1; correct G.2"),
    ("f := function(x) return x; end;\n", 1, "programs of GAP cannot be read here"),
    ("G := Group((1,2)) H", 1, "the statement has no end, found 'H'"),
    ("a := PermList([2,2,1]);\n", 1, "PermList needs a permutation of 1 to 3"),
    ("a := (1,2)*3;\n", 1, "[*] needs a permutation on both sides"),
    ("a := 3^(1,2);\n", 1, "\\^ needs a permutation before it"),
    ("a := [(1,2), (3,4);\n", 1, r"'\[' has no end; write \] after"),
    ("a := (1,2)$;\n", 1, "'\\$' is not understood"),
    ("\n\na := );\n", 3, "'\\)' begins no value"),
    ("a := " + "(" * 60 + "b" + ")" * 60 + ";\n", 1, "more than 50 brackets"),
    (
        "a := (" + ",".join(map(str, range(1, 302))) + "); b := (1,2);\n",
        1,
        "301 pieces, 301 of them different; at most 255",
    ),
    ("a := ();\n", 2, "no generators"),
]


@pytest.mark.parametrize("suffix", [".gap", ".g"])
@pytest.mark.parametrize(("text", "line", "expected"), GAP)
def test_wrong_generator_lists(text: str, line: int, expected: str, suffix: str, tmp_path: Path) -> None:
    check_file(tmp_path / f"wrong{suffix}", text, line, expected)


@for_each(
    ("text", "expected"),
    [
        ("", "no pieces"),
        ("x+1 x y a b", "piece x appears twice"),
        ("x y", "2 pieces, expected 5"),
        ("x+1 y z / a", "3 and 1 pieces in the rows, expected 3 and 2"),
        ("x+3 y z / a b", "place 1 has the orientation 3, expected 0 to 2"),
        ("x y z / a+1 b", "place 4 has the orientation 1, expected none"),
        ("x y q / a b", "place 3 holds 'q', expected one of x y z"),
        ("x y z / a a", "piece a appears twice"),
    ],
)
def test_wrong_boards(text: str, expected: str) -> None:
    toml = (
        HEAD + '[permutation]\n[[permutation.orbits]]\nname = "t"\ngoal = "x y z"\nmodulus = 3\n'
        '[[permutation.orbits]]\nname = "u"\ngoal = "a b"\n[permutation.generators]\n'
        'R = { t = "(1+1 2 3)", u = "(1 2)" }\n'
    )
    with pytest.raises(BoardError, match=expected):
        parse_puzzle(toml, "right.toml").definition.parse_board(text, name="wrong")


@for_each(
    "name",
    [
        "pancake-1",
        "pancake-65",
        "burnt-pancake-0",
        "reversals-65",
        "topspin-4-5",
        "topspin-5-1",
        "topspin-2-2-free",
        "lrx-2",
        "lrx-" + "9" * 5000,
    ],
)
def test_impossible_sizes(name: str) -> None:
    with pytest.raises(
        PuzzleError, match=r"expected a number from [0-9]+ to [0-9]+; choose a (larger|smaller) one"
    ):
        load(name)


def check_file(path: Path, text: str, line: int, expected: str) -> None:
    path.write_bytes(text.encode())
    with pytest.raises(PuzzleError) as caught:
        load(path)
    place = f"{path}, line {line}" if line else str(path)
    check_message(str(caught.value), place, expected)


def check_message(message: str, place: str, expected: str) -> None:
    assert message.startswith(f"{place}"), message
    assert message[len(place)] in ":,", message
    assert re.search(expected, message), message
    assert ";" in message or ", expected" in message, f"no mend: {message}"
