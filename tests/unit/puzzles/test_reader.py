"""Definitions that are read: every key of the format, and the forms in which boards may be drawn."""

from cases import for_each
from farthest.families.sliding.definition import sliding
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.puzzle import KnownAnswer, Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle


def read(sliding: str, top: str = "") -> Puzzle:
    return parse_puzzle(f'name = "a"\nfamily = "sliding"\n{top}\n[sliding]\n{sliding}', "a.toml")


def test_the_example_of_the_design() -> None:
    puzzle = parse_puzzle(
        """
        name   = "eight-kinds"
        title  = "8-puzzle with six kinds of piece"
        source = "M. Hiroi, puzzle page; 90720 states, 6 farthest at 30"
        family = "sliding"
        metric = "step"                 # step: one tile, one cell

        [sliding]
        blank = "□"
        goal  = ["┌─┐", "│□│", "└─┘"]   # same glyph = identical pieces
        start = ["┘│└", "─□─", "┐│┌"]
        """,
        "eight-kinds.toml",
    )
    definition = sliding(puzzle)
    assert (puzzle.name, puzzle.family, puzzle.metric) == ("eight-kinds", "sliding", "step")
    assert puzzle.origin == Origin("to", "goal")
    assert definition.tokens == ("□", "┌", "─", "┐", "│", "└", "┘")
    assert definition.counts == (1, 1, 2, 1, 2, 1, 1)
    assert definition.rows == ((0, 1, 2), (3, 4, 5), (6, 7, 8))
    assert len(definition.edges) == 12
    assert definition.goals == ((1, 2, 3, 4, 0, 4, 5, 2, 6),)
    assert definition.start == (6, 4, 5, 2, 0, 2, 3, 4, 1)


def test_what_may_be_left_out() -> None:
    puzzle = read('goal = "12/30"')
    assert (puzzle.title, puzzle.source, puzzle.metric, puzzle.known) == ("a", "", "step", ())
    assert sliding(puzzle).start is None


@for_each(
    "goal",
    [
        '["1 2 3", "4 5 0"]',
        '["123", "450"]',
        '"123/450"',
        '"1 2 3 / 4 5 0"',
        '"""\n1 2 3\n4 5 0\n"""',
        "[[1, 2, 3], [4, 5, 0]]",
        '[["1", "2", "3"], ["4", "5", "0"]]',
        '["1, 2, 3", "4, 5, 0"]',
    ],
)
def test_forms_of_a_board(goal: str) -> None:
    assert sliding(read(f"goal = {goal}")) == sliding(read('goal = "123/450"'))


def test_one_column_of_long_tokens() -> None:
    definition = sliding(read('goal = [["10"], ["11"], ["0"]]'))
    assert definition.tokens == ("0", "10", "11")
    assert definition.edges == ((0, 1), (1, 2))


def test_walls_are_no_cells() -> None:
    definition = sliding(read('goal = ["#12#", "3450", "####"]'))
    assert definition.rows == ((-1, 0, 1, -1), (2, 3, 4, 5), (-1, -1, -1, -1))
    assert definition.edges == ((0, 1), (0, 3), (1, 4), (2, 3), (3, 4), (4, 5))


def test_graph() -> None:
    definition = sliding(
        read('goal = "1 2 3 0 0 4"\nedges = [[1, 0], [3, 2], [1, 2]]\narcs = [[5, 4], [4, 3]]')
    )
    assert definition.rows == ()
    assert definition.edges == ((0, 1), (1, 2), (2, 3))
    assert definition.arcs == ((4, 3), (5, 4))
    assert definition.counts == (2, 1, 1, 1, 1)
    assert sliding(read('goal = "10"\narcs = [[0, 1]]')).edges == ()


def test_set_of_goals() -> None:
    definition = sliding(read('goals = ["12/30", ["21", "03"]]'))
    assert [definition.format_board(goal) for goal in definition.goals] == ["12/30", "21/03"]
    assert sliding(read('goals = ["12/30"]')) == sliding(read('goal = "12/30"'))


def test_set_of_goals_on_a_graph() -> None:
    definition = sliding(read('goals = ["120", "210"]\nedges = [[0, 1], [1, 2]]'))
    assert definition.goals == ((1, 2, 0), (2, 1, 0))


@for_each("more", ['pieces = "321"', 'pieces = "0 1 2 3"', 'start = "32/10"', "pieces = [[1, 2, 3]]"])
def test_wildcards(more: str) -> None:
    definition = sliding(read(f'goal = ["1 *", "* 0"]\n{more}'))
    assert definition.goals == ((1, WILDCARD, WILDCARD, 0),)
    assert sorted(definition.tokens) == ["0", "1", "2", "3"]
    assert definition.counts == (1, 1, 1, 1)
    assert definition.tokens[:2] == ("0", "1")


def test_pieces_known_from_another_goal() -> None:
    definition = sliding(read('goals = ["1*/*0", "12/30"]'))
    assert definition.goals == ((1, WILDCARD, WILDCARD, 0), (1, 2, 3, 0))


@for_each(
    ("text", "origin"),
    [
        ("to goal", Origin("to", "goal")),
        ("from goal", Origin("from", "goal")),
        ("from start", Origin("from", "start")),
        ("to 3 2 / 1 0", Origin("to", "32/10")),
    ],
)
def test_origin(text: str, origin: Origin) -> None:
    assert read('goal = "12/30"\nstart = "31/20"', f'origin = "{text}"').origin == origin


def test_known_answers() -> None:
    text = """goal = "12/30"
[[known]]
source = "layers"
layers = [1, 2, 2, 2, 2, 2, 1]
farthest = ["0 3 / 2 1"]
[[known]]
source = "the number alone"
oeis = "A000012"
states = 12
[[known]]
source = "some layers"
first_layers = [1, 2]
"""
    assert read(text).known == (
        KnownAnswer(12, 6, (1, 2, 2, 2, 2, 2, 1), ("03/21",), "layers"),
        KnownAnswer(12, None, None, None, "the number alone", oeis="A000012"),
        KnownAnswer(None, None, None, None, "some layers", first_layers=(1, 2)),
    )
    assert Puzzle.from_json(read(text).to_json()) == read(text)
