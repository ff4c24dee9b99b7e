"""Wrong definitions and boards of hanoi, lights and jugs: the message has the place, what was expected and a mend."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each
from farthest.errors import BoardError, PuzzleError
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle

HANOI = [
    ("", "[hanoi]: no pegs; expected a whole number from 2 to 64, write pegs = 3"),
    ("pegs = 3", "no discs; expected a whole number from 1 to 64, write discs = 5"),
    ("pegs = 1\ndiscs = 3", "line 4, [hanoi] pegs: expected a whole number from 2 to 64, got 1; write"),
    ('pegs = "3"\ndiscs = 3', "pegs: expected a whole number from 2 to 64, got '3'"),
    ("pegs = 3\ndiscs = 0", "line 5, [hanoi] discs: expected a whole number from 1 to 64, got 0"),
    ("pegs = 3\ndiscs = 1000000000000", "discs: expected a whole number from 1 to 64"),
    ("pegs = 3\ndiscs = 2\ndisks = 2", "key 'disks' is not known; did you mean 'discs'?"),
    (
        'pegs = 3\ndiscs = 2\nvariant = "ciclic"',
        "variant 'ciclic' is not known, expected standard, cyclic, adjacent",
    ),
    ("pegs = 3\ndiscs = 2\nvariant = 3", "variant 3 is not known, expected standard"),
    (
        'pegs = 3\ndiscs = 2\nvariant = "cyclic"\nedges = [[0, 1]]',
        "variant: both edges and variant are given; expected one of them",
    ),
    ("pegs = 3\ndiscs = 2\nedges = [[0, 1]]", "the pegs fall into 2 parts"),
    ("pegs = 3\ndiscs = 2\nedges = [[0, 3]]", "pair 1 [0, 3]: there is no cell 3, expected 0 to 2"),
    ("pegs = 3\ndiscs = 2\narcs = [[0, 0]]", "joins a cell with itself"),
    (
        'pegs = 3\ndiscs = 2\ngoal = "222"',
        "[hanoi] goal: goal '222': 3 pegs, expected 2, one per disc; write the peg",
    ),
    ('pegs = 3\ndiscs = 2\ngoal = "23"', "goal '23': disc 2 is on '3', expected a peg from 0 to 2"),
    ('pegs = 3\ndiscs = 2\nstart = "*0"', "start '*0': disc 1 is on '*', expected a peg from 0 to 2"),
    ("pegs = 3\ndiscs = 2\ngoal = 22", 'goal: expected a text, got 22; write goal = "22"'),
    ("pegs = 3\ndiscs = 2\ngoals = []", "expected an array of boards, got an empty array"),
    ('pegs = 3\ndiscs = 2\ngoals = ["22", "2 2"]', "goal 2 is the same board as goal 1; leave one out"),
    (
        'pegs = 3\ndiscs = 2\ngoal = "22"\ngoals = ["11"]',
        "goals: both goal and goals are given; expected one of them",
    ),
    ('pegs = 3\ndiscs = 2\nstart = "2 1/-/-/-"', "4 pegs, expected 3; write the discs of each peg"),
    ('pegs = 3\ndiscs = 3\nstart = "1 3 2/-/-"', "on peg 0 a disc lies on a smaller one"),
]

LIGHTS = [
    ("", "[lights]: no lamps; write size = [5, 5], or goal = [...]"),
    ("size = 5", "line 4, [lights] size: expected rows and columns, got 5; write size = [5, 5]"),
    ("size = [5]", "size: expected rows and columns"),
    ("size = [0, 5]", "size: expected rows and columns"),
    ("size = [9, 9]", "more than 64 lamps; choose a smaller size"),
    ("size = [2, 2]\ncolours = 1", "line 5, [lights] colours: expected a whole number from 2 to 36, got 1"),
    ("size = [2, 2]\ncolors = 3", "key 'colors' is not known; did you mean 'colours'?"),
    ("size = [2, 2]\ntorus = 1", "torus: expected true or false, got 1; write torus = true"),
    ('size = [2, 2]\nself = "no"', "self: expected true or false, got 'no'"),
    (
        'size = [2, 2]\nneighbours = "knight"',
        "neighbours 'knight' is not known, expected orthogonal, diagonal, all; write one",
    ),
    ("size = [1, 1]\nself = false", "no press would change anything"),
    (
        'size = [2, 2]\ngoal = ["000", "000"]',
        "goal '000/000': row 1 has 3 cells, expected 2; write the colours",
    ),
    ('size = [2, 2]\ngoal = ["02", "00"]', "row 1, column 2 holds '2', expected one of 0 1"),
    ('goal = ["00", "000"]', "row 2 has 3 places, row 1 has 2; fill the rows up with # for walls"),
    ('goal = ["##", "##"]', "0 lamps, expected 1 to 64"),
    (
        'goal = ["0#", "00"]\nstart = ["00", "#0"]',
        "start '00/#0': row 1, column 2 is a cell, expected a wall",
    ),
    ("goal = 3", "goal: expected a drawn board, got 3"),
    ('size = [2, 2]\nstart = ["0*", "00"]', "row 1, column 2 holds '*', expected one of 0 1"),
    ("edges = [[0, 1]]", "a graph without the number of its lamps; write lamps = 6"),
    ("lamps = 3\nedges = [[0, 3]]", "there is no cell 3, expected 0 to 2"),
    (
        "lamps = 3\ntorus = true\nedges = [[0, 1]]",
        "torus belongs to a grid, but lamps, edges or arcs are for a graph",
    ),
    ("lamps = 3\nedges = [[0, 1]]\narcs = [[1, 0]]", "is also an edge"),
    ("lamps = 3\nself = false", "no press would change anything"),
]

JUGS = [
    ("", "[jugs]: no capacities; write capacities = [3, 5]"),
    ("capacities = 3", "line 4, [jugs] capacities: expected an array of 1 to 16 numbers, got 3; write"),
    ("capacities = []", "expected an array of 1 to 16 numbers"),
    ("capacities = [3, 0]", "jug 2: expected a whole number from 1 to 65534, got 0"),
    ("capacities = [3, 5.5]", "jug 2: expected a whole number from 1 to 65534, got a decimal number"),
    ("capacities = [3, 65535]", "jug 2: expected a whole number from 1 to 65534, got 65535"),
    ("capacities = [3, 5]\nmesure = 4", "key 'mesure' is not known; did you mean 'measure'?"),
    (
        "capacities = [3, 5]\nmeasure = 6",
        "line 5, [jugs] measure: expected a whole number from 0 to 5, got 6",
    ),
    ('capacities = [3, 5]\nmeasure = "4"', "measure: expected a whole number from 0 to 5, got '4'"),
    (
        'capacities = [3, 5]\nmeasure = 4\ngoal = "0 4"',
        "measure: both goal and measure are given; expected one of them",
    ),
    (
        'capacities = [3, 5]\ngoal = "4"',
        "goal '4': 1 amount, expected 2, one per jug; write the amounts, such as '0 0'",
    ),
    ('capacities = [3, 5]\ngoal = "4 0"', "goal '4 0': jug 1 holds '4', expected 0 to 3"),
    ('capacities = [3, 5]\nstart = "* 0"', "start '* 0': jug 1 holds '*', expected 0 to 3"),
    ('capacities = [3, 5]\nstart = "-1 0"', "jug 1 holds '-1', expected 0 to 3"),
    ("capacities = [3, 5]\nstart = [0, 0]", "start: expected a text, got an array"),
    ("capacities = [3, 5]\nmoves = []", "moves: expected an array of texts"),
    (
        'capacities = [3, 5]\nmoves = ["por"]',
        "expected some of fill, empty, pour; did you mean 'pour'?",
    ),
    ('capacities = [3, 5]\nmoves = ["pour", "pour"]', "a move appears twice, expected each once"),
    ('capacities = [3, 5]\norigin = "to goal"', "key 'origin' is not known"),
]


def definition(family: str, table: str) -> Puzzle:
    return parse_puzzle(f'name = "x"\nfamily = "{family}"\n[{family}]\n{table}\n', "x.toml")


@for_each(
    ("family", "table", "message"),
    [
        *(("hanoi", *case) for case in HANOI),
        *(("lights", *case) for case in LIGHTS),
        *(("jugs", *case) for case in JUGS),
    ],
)
def test_wrong_definitions(family: str, table: str, message: str) -> None:
    with pytest.raises(PuzzleError) as raised:
        definition(family, table)
    assert message in str(raised.value)
    assert str(raised.value).startswith("x.toml")
    assert "\n" not in str(raised.value)


def test_goal_that_is_not_there() -> None:
    with pytest.raises(
        PuzzleError, match='the origin is the goal, but there is none; write origin = "from start"'
    ):
        parse_puzzle(
            'name = "x"\nfamily = "jugs"\norigin = "from goal"\n[jugs]\ncapacities = [2]\n', "x.toml"
        )


@for_each(
    ("name", "message"),
    [
        ("hanoi-1-5", "'hanoi-1-5': expected 2 to 64 pegs and 1 to 64 discs; choose such numbers"),
        ("hanoi-3-0", "expected 2 to 64 pegs and 1 to 64 discs"),
        ("hanoi-cyclic-3-99999999999", "expected 2 to 64 pegs"),
        ("hanoi-5", "no puzzle is called 'hanoi-5'"),
        ("lights-9x9", "expected 1 to 64 lamps; choose another size"),
        ("lights-0x5", "expected 1 to 64 lamps"),
        ("lights-3x3-c1", "expected 2 to 36 colours"),
        ("lights-torus-3x3-c99999", "expected 2 to 36 colours"),
    ],
)
def test_wrong_names(name: str, message: str) -> None:
    with pytest.raises(PuzzleError) as raised:
        load(name)
    assert message in str(raised.value)


@for_each(
    ("name", "text", "message"),
    [
        ("hanoi-3-3", "", "0 pegs, expected 3, one per disc; write the peg of each disc"),
        ("hanoi-3-3", "0123", "4 pegs, expected 3"),
        ("hanoi-3-3", "003", "disc 3 is on '3', expected a peg from 0 to 2"),
        ("hanoi-3-3", "0 -1 0", "disc 2 is on '-1'"),
        ("hanoi-3-3", "00٣", "disc 3 is on '٣'"),
        ("hanoi-3-3", "3 2/1", "2 pegs, expected 3; write the discs of each peg"),
        ("hanoi-3-3", "3 2/2/1", "disc 2 appears twice"),
        ("hanoi-3-3", "3/2/-", "disc 1 missing"),
        ("hanoi-3-3", "1 3 2/-/-", "on peg 0 a disc lies on a smaller one"),
        ("hanoi-3-3", "3 2 4/1/-", "peg 0 holds '4', expected discs from 1 to 3"),
        ("hanoi-12-2", "00", "1 peg, expected 2"),
        ("hanoi-12-2", "0 12", "disc 2 is on '12', expected a peg from 0 to 11"),
        ("lights-2x3", "000", "3 cells, expected 6; write the colours"),
        ("lights-2x3", "000/00", "row 2 has 2 cells, expected 3"),
        ("lights-2x3", "000/000/000", "3 rows, expected 2"),
        ("lights-2x3", "", "it is empty; write the colours"),
        ("lights-2x3", "002/000", "row 1, column 3 holds '2', expected one of 0 1"),
        ("lights-2x3", "00*/000", "row 1, column 3 holds '*'"),
        ("lights-2x3", "00#/000", "row 1, column 3 is a wall, expected a cell"),
        ("die-hard-jugs", "4", "1 amount, expected 2"),
        ("die-hard-jugs", "4 0", "jug 1 holds '4', expected 0 to 3"),
        ("die-hard-jugs", "* 0", "jug 1 holds '*', expected 0 to 3"),
        ("die-hard-jugs", "0 99999999999999999999", "jug 2 holds"),
    ],
)
def test_wrong_boards(name: str, text: str, message: str) -> None:
    puzzle = load(name)
    with pytest.raises(BoardError) as raised:
        puzzle.definition.parse_board(text, name=name)
    assert message in str(raised.value)
    assert name in str(raised.value)


@for_each("name", ["hanoi-3-3", "lights-2x3", "die-hard-jugs"])
def test_wrong_numbers(name: str) -> None:
    definition = load(name).definition
    for board in (
        [0] * (definition.cells + 1),
        [9] * definition.cells,
        [-1] * definition.cells,
        [0.5] * definition.cells,
        [300] * definition.cells,
    ):
        with pytest.raises(BoardError):
            definition.check_board(board)  # type: ignore[arg-type]
    with pytest.raises(BoardError):
        definition.check_board(None)  # type: ignore[arg-type]
    with pytest.raises(BoardError, match="expected a text such as"):
        definition.parse_board(3)  # type: ignore[arg-type]


@for_each(
    ("name", "texts"),
    [
        ("hanoi-3-3", ["012", "0 1 2", "0,1,2", "1/2/3", "1 | 2 | 3"]),
        ("hanoi-3-3", ["001", "2 1 / 3 / -", "1 2/3/"]),
        ("hanoi-12-2", ["0 11", "0,11"]),
        ("lights-2x3", ["010/001", "010001", ".1. ..1", "0 1 0 / 0 0 1", "010\n001", "_1_;__1"]),
        ("die-hard-jugs", ["3 5", "3,5", "3/5", "03 005"]),
    ],
)
def test_reasonable_forms(name: str, texts: list[str]) -> None:
    definition = load(name).definition
    boards = {definition.parse_board(text) for text in texts}
    assert len(boards) == 1
    (board,) = boards
    assert definition.format_board(board) == texts[0]
    assert definition.check_board(board) == board
    assert all(isinstance(line, str) for line in definition.draw_board(board))


@for_each(
    "name", ["hanoi-3-3", "hanoi-cyclic-4-2", "lights-torus-3x3-c3", "lights-2x2-multi", "die-hard-jugs"]
)
def test_json(name: str) -> None:
    puzzle = load(name)
    assert puzzle.name == name
    assert Puzzle.from_json(puzzle.to_json()) == puzzle


@for_each("name", ["hanoi-3-3", "lights-2x2", "die-hard-jugs"])
@for_each("damage", ["drop", "text", "long"])
def test_damaged_json(name: str, damage: str) -> None:
    import json

    puzzle = load(name)
    document = json.loads(puzzle.to_json())
    for key in document[puzzle.family]:
        fields = json.loads(puzzle.to_json())
        if damage == "drop":
            del fields[puzzle.family][key]
        elif damage == "text":
            fields[puzzle.family][key] = "x"
        else:
            fields[puzzle.family][key] = [[99999, -7]]
        with pytest.raises(PuzzleError):
            Puzzle.from_json(json.dumps(fields))


@pytest.mark.parametrize("name", ["hanoi-12-2", "lights-2x3", "die-hard-jugs"])
@given(data=st.data())
def test_any_text_is_a_board_or_a_board_error(name: str, data: st.DataObject) -> None:
    definition = load(name).definition
    text = data.draw(st.text(alphabet="0123456789*#-/|,; \n٣x", max_size=12) | st.text(max_size=12))
    try:
        board = definition.parse_board(text)
    except BoardError:
        return
    assert definition.parse_board(definition.format_board(board)) == board == definition.check_board(board)
