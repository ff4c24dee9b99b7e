"""Wrong definitions and boards of peg puzzles: the message has the place, what was expected and a mend."""

import json

import pytest

from cases import for_each
from farthest.errors import BoardError, PuzzleError
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle

WRONG = [
    ("", "[pegs]: no start and no goal, expected a board; write start"),
    ('start = "oo"', "line 4, [pegs] start: start has 2 holes, expected 3 to 64; a jump needs three"),
    ('start = ""', "start has no holes, expected rows of o and .; write start"),
    ("start = 5", "start: expected an array of rows or a text, got 5; write start"),
    ("start = [1, 2]", "start: expected an array of rows or a text"),
    ('start = "oxo"', "start: 'x' does not stand for a hole; expected o for a peg or . for an empty hole"),
    ('start = "oo*"', "start: * stands for any content, expected in goals only; write o or ."),
    (
        'start = "oo/.o"',
        "start: no three holes are in a row, expected a board on which pegs can jump; add holes",
    ),
    (f"start = {json.dumps(['o' * 9] * 9)}", "start has 81 holes, expected 3 to 64; make it smaller"),
    (
        f"start = {json.dumps(['o' + '#' * 600 + 'o', 'o.o', 'ooo'])}",
        "more than 1024 places, expected a board",
    ),
    (
        'start = "oo."\ngoal = "o../o"',
        "line 5, [pegs] goal: goal: other holes than start, expected boards of one shape",
    ),
    ('start = "oo./ooo"\ngoal = "oo./oo#"', "goal: other holes than start"),
    (
        'start = "oo."\ngoal = "..o"\ngoals = ["..o"]',
        "goals: both goal and goals are given; expected one of them",
    ),
    ('start = "oo."\ngoals = []', "goals: expected an array of boards, got an empty array"),
    ('start = "oo."\ngoals = ["..o", "..1"]', "goal 2 is the same board as goal 1; leave one out"),
    (
        'start = "oo."\ngrid = "hex"',
        "grid 'hex' is not known, expected square, triangle; write one of them",
    ),
    ('start = "oo."\ngrid = "triangel"', "did you mean 'triangle'"),
    ('start = "oo."\ndiagonal = 1', "diagonal: expected true or false, got 1; write diagonal = true"),
    ('start = "o/oo/ooo"\ngrid = "triangle"\ndiagonal = true', "a triangle has no diagonals"),
    ('start = "oo/o"\ngrid = "triangle"', "start, row 1 has 2 places, expected 1 in a triangle; write #"),
    ('start = "oo."\ngoul = "..o"', "key 'goul' is not known; did you mean 'goal' or"),
    (
        'start = "oo."\njumps = []',
        "jumps: expected an array of jumps, got an empty array; write jumps = [[0, 1, 2]]",
    ),
    (
        'start = "oo."\njumps = [[0, 1]]',
        "jump 1: expected three different holes from 0 to 2: from, over, to; got",
    ),
    ('start = "oo."\njumps = [[0, 1, 3]]', "jump 1: expected three different holes from 0 to 2"),
    ('start = "oo."\njumps = [[0, 1, 1]]', "jump 1: expected three different holes"),
    ('start = "oo."\njumps = [[0, 1, true]]', "jump 1: expected three different holes"),
    ('start = "oo.o"\njumps = [[0, 1, 2], [0, 3, 2]]', "jump 2: there is another jump from hole 0 to hole 2"),
    ('start = "oo."\njumps = [[0, 1, 2]]\ndiagonal = true', "diagonal: both jumps and a grid are given"),
    ('start = "oo."\njumps = [[0, 1, 2]]\ngoal = "o."', "goal: 2 holes, expected 3; draw all of them"),
    (f'start = "oo."\njumps = {[[0, 1, 2]] * 1025}', "1025 jumps, expected at most 1024; leave some out"),
]


def puzzle_of(table: str, head: str = "") -> Puzzle:
    return parse_puzzle(f'name = "p"\nfamily = "pegs"\n{head}[pegs]\n{table}\n', "p.toml")


@for_each(("table", "message"), WRONG)
def test_wrong_tables(table: str, message: str) -> None:
    with pytest.raises(PuzzleError) as caught:
        puzzle_of(table)
    assert str(caught.value).startswith("p.toml")
    assert message in str(caught.value)


def test_wrong_metric_and_origin() -> None:
    with pytest.raises(PuzzleError, match='metric \'jumps\' is not known, expected "jump" or "chain"'):
        puzzle_of('start = "oo."', 'metric = "jumps"\n')
    with pytest.raises(PuzzleError, match="the origin is the goal, but there is none"):
        puzzle_of('start = "oo."', 'origin = "to goal"\n')
    with pytest.raises(PuzzleError, match="the origin is the start, but there is none"):
        puzzle_of('goal = "..o"')


@for_each(
    ("text", "message"),
    [
        ("", "0 holes, expected 10"),
        ("o/oo/ooo/ooo", "9 holes, expected 10; write for example './oo/ooo/oooo'"),
        ("o/oo/oooo/ooo", "rows of 1 2 4 3 holes, expected 1 2 3 4"),
        ("o/oo/ooo/ooox", "'x' does not stand for a hole"),
        ("o/oo/ooo/ooo*", "* stands for any content, expected in goals only"),
    ],
)
def test_wrong_boards(text: str, message: str) -> None:
    definition = puzzle_of('start = "./oo/ooo/oooo"\ngrid = "triangle"').definition
    with pytest.raises(BoardError) as caught:
        definition.parse_board(text, name="p")
    assert message in str(caught.value)


def test_wrong_stored_definitions() -> None:
    good = json.loads(puzzle_of('start = "oo."\ngoal = "..o"').to_json())
    for field, value in [
        ("holes", 2),
        ("holes", "3"),
        ("jumps", []),
        ("jumps", [[0, 1, 3]]),
        ("jumps", [[0, 1]]),
        ("jumps", [[0, 1, 2], [0, 1, 2]]),
        ("rows", [[0, 1]]),
        ("rows", 3),
        ("goals", [[]]),
        ("goals", [[0, 0]]),
        ("goals", [[0, 0, 2]]),
        ("goals", [[0, 0, 1], [0, 0, 1]]),
        ("start", [1, 1, -1]),
        ("start", None),
    ]:
        damaged = {**good, "pegs": {**good["pegs"], field: value}}
        with pytest.raises(PuzzleError, match=r"peg puzzle|not a definition|start"):
            Puzzle.from_json(json.dumps(damaged))
    many = [1] * 64
    full = {**good["pegs"], "holes": 64, "rows": [], "start": many, "goals": []}
    with pytest.raises(PuzzleError, match="expected an empty hole"):
        Puzzle.from_json(json.dumps({**good, "pegs": full}))


@for_each("name", ["hoppers", "pegs-english", "pegs-french", "pegs-triangle-15"])
def test_boards_in_any_form_are_read_back(name: str) -> None:
    puzzle = load(name)
    assert Puzzle.from_json(puzzle.to_json()) == puzzle
    start = puzzle.definition.origin_boards[1]
    assert start is not None
    text = puzzle.definition.format_board(start)
    forms = [text, text.replace("/", "\n"), text.replace("/", ""), text.replace("o", "1").replace(".", "0")]
    for form in [*forms, "\n".join(puzzle.definition.draw_board(start))]:
        assert puzzle.definition.parse_board(form) == start
    assert puzzle.definition.check_board(start) == start
    for wrong in [start[1:], (2, *start[1:]), None]:
        with pytest.raises(BoardError):
            puzzle.definition.check_board(wrong)  # type: ignore[arg-type]
