"""Boards of sliding blocks as other programs write them: Klotski codes, files of JimSlide, bare boards of Rush Hour."""

from __future__ import annotations

from pathlib import Path

import pytest

from cases import for_each
from farthest.errors import PuzzleError
from farthest.families.blocks.definition import COLUMNS, ROWS, Blocks
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle

RUSH = "BBoKMxDDDKMoIAALooIoJLEEooJFFNoGGoxN"

DONKEY = """
! L'Ane Rouge, the four small squares first
xsize: 4
YSIZE: 5                          ! rows
piece: 1 (0,0) (1,0) (0,1) (1,1)  ! (2x2 square)
piece: 2 (0, 0)(1, 0)
piece: 3 (0,0) (0,1)
piece: 44 (0,0);
put: 3 (0,0)
put: 1 (1,0) 'Q'
put: 3 (3,0) '!'
put: 3 (0,2)
put: 2 (1,2)
put: 3 (3,2)
put: 44 (1,3)
put: 44 (2,3)
put: 44 (1,4)
put: 44 (2,4)
win: 1 (1,3)
bigmem: 1000000000
numthreads: 3
"""


def read(folder: Path, text: str, name: str = "puz.txt") -> Puzzle:
    path = folder / name
    path.write_text(text)
    return load(path)


def same_game(one: Puzzle, other: Puzzle) -> bool:
    """Whether two puzzles differ in how pieces are written alone, and perhaps in the order of their kinds."""
    boards, freedoms = [], []
    for each in (one.defined_as(Blocks), other.defined_as(Blocks)):
        kinds = sorted((kind.shape, kind.ways, kind.line, len(kind.tokens)) for kind in each.kinds)
        place = [kinds.index((kind.shape, kind.ways, kind.line, len(kind.tokens))) for kind in each.kinds]
        found = [*each.goals, each.start or ()]
        boards.append([[place[label - 1] if label > 0 else label - 9 for label in board] for board in found])
        freedoms.append((each.rows, kinds))
    return boards[0] == boards[1] and freedoms[0] == freedoms[1] and one.metric == other.metric


def test_klotski_codes() -> None:
    classic = load("klotski-1A9BF0C")
    assert same_game(classic, load("hakoiri-musume-move"))
    definition = classic.defined_as(Blocks)
    assert definition.format_board(definition.start or ()) == "BAAC/BAAC/DEEF/DGHF/I..J"
    second = load("klotski-4fea13400").defined_as(Blocks)
    assert second.format_board(second.start or ()) == "BCDE/AAFE/AAFG/.HHG/.IJJ"
    assert second == load("klotski-4FEA134").defined_as(Blocks)


def test_a_code_in_a_file(tmp_path: Path) -> None:
    text = 'name = "x"\nfamily = "blocks"\nmetric = "move"\n[blocks]\nboard = "1A9BF0C"\n'
    assert read(tmp_path, text, "x.toml").definition == load("klotski-1A9BF0C").definition


@for_each(
    ("name", "message"),
    [
        (
            "klotski-3A9BF0C",
            "there is no room for piece A of 4 cells in row 1, column 4; write it like 1A9BF0C",
        ),
        ("klotski-D555FFC", "it has more pieces than the board of 20 cells"),
        ("klotski-1A9BF0C000", "expected a Klotski code, nine hexadecimal digits at most"),
        ("klotski-1A9BG0C", "expected a Klotski code"),
    ],
)
def test_wrong_codes(name: str, message: str) -> None:
    with pytest.raises(PuzzleError) as error:
        load(name)
    assert f"{name!r}: {message}" in str(error.value)


def test_a_board_of_rush_hour_alone() -> None:
    assert load(RUSH) == load(f"rush-{RUSH}")
    assert load(RUSH.replace("x", "#").replace("o", ".")).name == f"rush-{RUSH}".replace("o", ".")
    with pytest.raises(PuzzleError, match=r"car Z .* has one cell"):
        load(RUSH[:2] + "Z" + RUSH[3:])


def test_jimslide(tmp_path: Path) -> None:
    puzzle = read(tmp_path, DONKEY, "L'Ane Rouge.txt")
    assert (puzzle.name, puzzle.title, puzzle.metric) == ("L-Ane-Rouge", "L'Ane Rouge", "move")
    drawn = 'name = "x"\nfamily = "blocks"\nmetric = "move"\n[blocks]\n'
    drawn += (
        'start = ["BAAC", "BAAC", "DEEF", "DGHF", ".IJ."]\ngoal = ["....", "....", "....", ".AA.", ".AA."]\n'
    )
    assert same_game(puzzle, read(tmp_path, drawn, "x.toml"))
    definition = puzzle.defined_as(Blocks)
    assert definition.format_board(definition.start or ()) == "3QQ!/3QQ!/322 3".replace(
        "322 3", "3223/3AA3/.AA."
    )


def test_jimslide_walls_locks_and_wins(tmp_path: Path) -> None:
    text = (
        "xsize: 5\nysize: 4\nhwall: 0 (4, 3)\nvwall: 4 (2, 3)\nwall: (0, 3)\npiece: 1 (0,0) (1,0)\n"
        "piece: 2 (0,0) (0,1)\n"
        "piece: 3 (0,0) (-1,1) (0,1)\nlocky: 1\nlockx: 2\nput: 1 (0,0)\nput: 1 (0,1)\nput: 2 (3,2)\nput: 3 (2,2)\n"
        "win: 1 (2,1)\nwin: 3 (2, 2)\n"
    )
    definition = read(tmp_path, text).defined_as(Blocks)
    assert definition.format_board(definition.start or ()) == "11.##/AA.../..32#/#332#"
    kinds = [(kind.ways, kind.line) for kind in definition.kinds]
    assert kinds[:2] == [(ROWS, 0), (ROWS, 1)]
    assert (COLUMNS, 3) in kinds
    with pytest.raises(PuzzleError, match="line 16: two pieces must be on one cell"):
        read(
            tmp_path,
            text.replace("win: 1 (2,1)", "win: 1 (1,1)\nwin: 1 (2,1)"),
        )


def test_a_text_file_of_another_kind_is_toml(tmp_path: Path) -> None:
    text = 'name = "x"\nfamily = "blocks"\n[blocks]\nstart = ["A."]\n'
    assert read(tmp_path, text, "x.txt").definition == read(tmp_path, text, "x.toml").definition
    with pytest.raises(PuzzleError, match=r"y\.txt, line 1"):
        read(tmp_path, "{", "y.txt")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("YSIZE: 5", "", "there is no ysize; write ysize: 5"),
        ("xsize: 4", "xsize: 99", "line 3: xsize is 99, expected 1 to 64"),
        ("xsize: 4", "xsize: 14", "70 cells; expected 2 to 64"),
        ("put: 44 (1,4)", "put: 44 1,4", "line 17: expected put: 7 (2, 0), got '44 1,4'"),
        ("put: 44 (1,4)", "put: 44 (1,5)", "line 17: column 1, row 5 is not on the board"),
        (
            "put: 44 (1,4)",
            "put: 4 (1,4)",
            "line 17: there is no piece of the type 4; the types are 1, 2, 3, 44",
        ),
        ("put: 44 (1,4)", "put: 44 (1,3)", "line 17: the piece stands on that of line 15; move one of them"),
        ("put: 44 (1,4)", "putt: 44 (1,4)", "line 17: 'putt' is not a command; did you mean 'put'?"),
        ("win: 1 (1,3)", "win: 0 (1,3)", "line 19: win: 0, an empty cell, cannot be read here"),
        ("win: 1 (1,3)", "win: 1 (3,3)", "line 19: column 4, row 3 is not on the board"),
        ("numthreads: 3", "ystep: 1 2", "line 21: ystep cannot be read here: it leaves out positions"),
        ("numthreads: 3", "lockx: 3\nlocky: 3", "line 22: pieces of the type 3 cannot move at all"),
        (
            "numthreads: 3",
            "piece: 3 (0,0)",
            "line 21: the type 3 is there already; give the type another number",
        ),
        ("numthreads: 3", "wall: (0,0)", "line 9: column 0, row 0 is a wall; move the piece or the wall"),
        ("'!'", "'Q'", "pieces of two types, or an empty cell, are written 'Q'; change put"),
        ("put:", "!put:", "no piece is put on the board; write put: 7 (2, 0)"),
    ],
)
def test_wrong_files_of_jimslide(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in DONKEY
    with pytest.raises(PuzzleError) as error:
        read(tmp_path, DONKEY.replace(old, new))
    assert message in str(error.value)
