"""The engine for any family: lengths and numbers of solutions, however small its pieces are cut."""

import numpy

import farthest
from cases import for_each
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.search.contract import Node, Problem
from farthest.search.deepening import Deepened, deepen
from farthest.search.engines import BatchEngine
from search_models import Zero, answer, play, reached


def small_engine(problem: Problem, *, parts: int = 4, budget: int = 60, widest: int = 4) -> BatchEngine:
    """One that cuts much smaller pieces than it need."""
    engine = BatchEngine(problem, Zero())
    engine.parts, engine.budget, engine.widest, engine.probed = parts, budget, widest, 4
    return engine


def solved(problem: Problem, engine: BatchEngine | None = None, *, first: bool = False) -> Deepened:
    return deepen(engine or BatchEngine(problem, Zero()), problem.board, first=first, limit=50)


def problem_of(name: str, text: str | None = None, target: str = "goal") -> Problem:
    puzzle = farthest.load_puzzle(name)
    board = puzzle.definition.origin_boards[1] if text is None else puzzle.definition.parse_board(text)
    assert board is not None
    return Problem(puzzle, board, target, "zero")


def test_known_answers() -> None:
    square = solved(problem_of("3-puzzle", "0 3 / 1 2"))
    assert (square.length, square.solutions) == (4, 1)
    hoppers = solved(problem_of("hoppers-first-jump"))
    assert (hoppers.length, hoppers.solutions, len(hoppers.listed)) == (6, 18, 18)  # the first jump is made


@for_each(
    ("name", "text"),
    [
        ("sliding-2x3", "4 5 0 / 1 2 3"),
        ("pancake-5", "2 4 1 5 3"),
        ("hanoi-4-3", None),
        ("lights-2x3-c3", "210/112"),
        ("jugs-8-5-3", None),
    ],
)
def test_small_pieces_find_the_same(name: str, text: str | None) -> None:
    problem = problem_of(name, text)
    whole = solved(problem)
    model = answer(problem, reached(problem.puzzle, problem.board))
    assert model == (whole.length, whole.solutions)
    cut = solved(problem, small_engine(problem))
    assert (cut.length, cut.solutions) == model
    assert set(cut.listed[:50]) <= set(whole.listed) or whole.solutions > 50
    goals = {play(problem.puzzle, problem.board, way) for way in cut.listed}
    assert problem.at_target(numpy.array(list(goals), dtype=numpy.uint8)).all()
    first = solved(problem, small_engine(problem), first=True)
    assert (first.length, first.solutions, first.listed) == (whole.length, 1, cut.listed[:1])
    assert first == solved(problem, small_engine(problem), first=True)
    assert first.nodes <= cut.nodes


def test_what_is_left_is_searched_as_one_node() -> None:
    problem = problem_of("sliding-2x3", "4 5 0 / 1 2 3")
    engine = small_engine(problem, budget=30)
    node = Node(problem.board, 0)
    piece = engine.run(node, 20, first=False, limit=5)
    assert piece.nodes >= 30
    assert piece.rest
    depths = [left.depth for left in piece.rest]
    assert depths == sorted(depths, reverse=True)
    for left in piece.rest:
        boards = len(left.board) // 6
        assert len(left.way) == left.depth * boards
        for number in range(boards):
            way = left.way[number * left.depth : (number + 1) * left.depth]
            board = play(problem.puzzle, problem.board, way)
            assert board == left.board[number * 6 : (number + 1) * 6]


def test_what_cannot_be_solved_is_told() -> None:
    problem = problem_of("sliding-2x3", "1 2 3 / 5 4 0")
    found = solved(problem)
    assert (found.length, found.solutions, found.listed) == (None, 0, ())
    assert len(found.iterations) == 1


def test_a_solved_board() -> None:
    found = solved(problem_of("sliding-2x3", "0 1 2 / 3 4 5"))
    assert (found.length, found.solutions, found.listed, found.nodes) == (0, 1, ((),), 0)


def test_one_way_spaces_and_equal_boards_by_many_moves() -> None:
    text = 'name = "parallel"\nfamily = "python"\n[python]\nclass = "python_spaces:Parallel"\n'
    puzzle: Puzzle = parse_puzzle(text, "parallel.toml")
    problem = Problem(puzzle, puzzle.definition.parse_board("30"), "35", "zero")
    for engine in (None, small_engine(problem, parts=1, widest=1)):
        found = solved(problem, engine)
        assert (found.length, found.solutions) == (5, 4**5)
    behind = Problem(puzzle, puzzle.definition.parse_board("35"), "30", "zero")
    assert solved(behind).length is None
    assert solved(behind, small_engine(behind, parts=1, widest=1)).length is None
