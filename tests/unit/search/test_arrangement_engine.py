"""The kernel's searches of arrangement boards: the lengths, numbers of solutions and counts of plain programs."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy
import pytest
from numpy.typing import NDArray

import farthest
from cases import for_each
from families import ARCS, BLANKS
from farthest import _kernel
from farthest.errors import ResourceError
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.symmetries import Conjugation, symmetries
from farthest.families.user_input import board_given
from farthest.heuristics import PlainAlgorithm
from farthest.heuristics.contract import UNREACHABLE, Component, Heuristic, MapTable
from farthest.heuristics.patterns import Greatest, conjugated, some_boards
from farthest.heuristics.registry import applicable, default_heuristic, open_heuristic
from farthest.heuristics.tables import Table, TableForm
from farthest.puzzles.definition import Board
from farthest.puzzles.patterns import pattern_of
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.search.arrangement_engine import ArrangementEngine, arrangement_engine
from farthest.search.contract import Node, Problem
from farthest.search.deepening import Deepened, deepen
from farthest.search.engines import BatchEngine
from farthest.search.plain import PlainResult, a_star, breadth_first, depth_first, native_plain
from farthest.spaces import compile_space
from farthest.spaces.contract import Space
from permutations import samples
from search_models import Zero, answer, play, reached

MEMORY = 2**30

WILD = """
name = "wild"
family = "sliding"
[sliding]
blank = "."
pieces = "a a b b c"
goal = ["a**", "*.*"]
"""


def named(name: str) -> Callable[[], Puzzle]:
    return lambda: farthest.load_puzzle(name)


def text_of(text: str) -> Callable[[], Puzzle]:
    return lambda: parse_puzzle(text, "sample.toml")


PUZZLES: dict[str, Callable[[], Puzzle]] = {
    "pancakes": named("pancake-5"),
    "burnt pancakes": named("burnt-pancake-3"),
    "TopSpin": named("topspin-6-3"),
    "one-way": named("lrx-5"),
    "blanks": text_of(BLANKS.format("step")),
    "blanks, slide": text_of(BLANKS.format("slide")),
    "one-way passages": text_of(ARCS),
    "slide": named("sliding-2x3-slide"),
    "one blank": named("sliding-2x3"),
    "twisty": named("cuboid-1x3x3"),
    **{name: lambda name=name: samples()[f"{name}, to"] for name in ("turned", "equal pieces turned")},  # type: ignore[misc]
}


@cache
def puzzle_of(name: str) -> Puzzle:
    return PUZZLES[name]()


@cache
def boards_of(name: str) -> list[Board]:
    """Some that can be reached from a goal, sorted by how far they are."""
    puzzle = puzzle_of(name)
    found = reached(puzzle, next(iter(puzzle.definition.origin_boards[0])))
    farthest_first = sorted(found.depths, key=lambda board: (-found.depths[board], board))
    return [farthest_first[0], *random.Random(1).sample(farthest_first, min(3, len(farthest_first)))]


def engine_of(problem: Problem, *, budget: int = 0, parts: int = 0) -> ArrangementEngine:
    heuristic = (
        Zero()
        if problem.heuristic == "zero"
        else open_heuristic(problem.heuristic, problem.puzzle, problem.targets())
    )
    engine = arrangement_engine(problem, heuristic)
    assert engine is not None
    engine.budget = budget or engine.budget
    if parts:
        engine.parts, engine.split_from = parts, 0
    return engine


def solved(problem: Problem, *, budget: int = 0, parts: int = 0, first: bool = False) -> Deepened:
    engine = engine_of(problem, budget=budget, parts=parts)
    return deepen(engine, problem.board, first=first, limit=1000)


@pytest.mark.parametrize("name", PUZZLES)
def test_all_solutions_whatever_the_pieces(name: str) -> None:
    puzzle = puzzle_of(name)
    for board in boards_of(name):
        problem = Problem(puzzle, board, "goal", "zero")
        model = answer(problem, reached(puzzle, board))
        if model is None or model[0] > 9:
            continue
        whole = solved(problem)
        if whole.nodes > 20_000:
            continue
        assert (whole.length, whole.solutions) == model
        assert len(set(whole.listed)) == len(whole.listed) == min(whole.solutions, 1000)
        ends = {play(puzzle, board, way) for way in whole.listed[:20]}
        assert problem.at_target(numpy.array(list(ends), dtype=numpy.uint8)).all()
        for budget in (1, 7, 100):
            if whole.nodes > 1000 * budget:
                continue
            assert solved(problem, budget=budget) == whole
            first = solved(problem, budget=budget, first=True)
            assert (first.length, first.solutions, first.listed) == (whole.length, 1, whole.listed[:1])
        split = solved(problem, parts=5, budget=20)
        assert (split.length, split.solutions, set(split.listed)) == (*model, set(whole.listed))


@for_each("name", PUZZLES)
def test_the_kernel_has_the_values_of_heuristics(name: str) -> None:
    puzzle = puzzle_of(name)
    goals = puzzle.definition.origin_boards[0]
    for text in applicable(puzzle):
        heuristic = open_heuristic(text, puzzle, goals)
        for board in boards_of(name):
            engine = arrangement_engine(Problem(puzzle, board, "goal", text), heuristic)
            if engine is not None:
                (value,) = heuristic.values(numpy.array([board], dtype=numpy.uint8)).tolist()
                assert engine.lower_bound(board) == (0 if board in goals else max(value, 1))


def test_every_budget_has_the_same_totals() -> None:
    puzzle = farthest.load_puzzle("pancake-6")
    problem = Problem(puzzle, puzzle.definition.parse_board("4 6 2 5 1 3"), "goal", "gap")
    whole = solved(problem)
    assert (whole.length, whole.solutions) == answer(problem, reached(puzzle, problem.board))
    assert all(solved(problem, budget=budget) == whole for budget in range(1, 1000, 13))


def test_the_order_of_what_is_left_is_that_of_the_search() -> None:
    puzzle = puzzle_of("blanks")
    problem = Problem(puzzle, boards_of("blanks")[0], "goal", "zero")
    piece = engine_of(problem, budget=50).run(Node(problem.board, 0), 9, first=False, limit=5)
    depths = [node.depth for node in piece.rest]
    assert piece.nodes >= 50
    assert depths == sorted(depths, reverse=True)
    for node in piece.rest:
        assert len(node.way) == node.depth
        assert play(puzzle, problem.board, node.way) == node.board


@for_each("name", PUZZLES)
def test_plain_searches_are_those_of_python(name: str) -> None:
    puzzle = puzzle_of(name)
    for board in boards_of(name):
        problem = Problem(puzzle, board, "goal", "zero")
        heuristic: Heuristic = open_heuristic(default_heuristic(puzzle), puzzle, problem.targets())
        if arrangement_engine(problem, heuristic) is None:
            heuristic = Zero()
        models: list[tuple[PlainAlgorithm, PlainResult]] = [
            ("bfs", breadth_first(problem, MEMORY)),
            ("dfs", depth_first(problem, MEMORY)),
            ("astar", a_star(problem, heuristic, MEMORY)),
        ]
        for algorithm, model in models:
            found = native_plain(algorithm, problem, heuristic, MEMORY)
            assert found is not None
            assert replace(found, seconds=model.seconds) == model


def test_what_cannot_be_solved_and_what_takes_too_much() -> None:
    puzzle = puzzle_of("one blank")
    problem = Problem(puzzle, puzzle.definition.parse_board("1 2 3 / 5 4 0"), "goal", "zero")
    algorithm: PlainAlgorithm
    for algorithm in ("bfs", "dfs", "astar"):
        found = native_plain(algorithm, problem, Zero(), MEMORY)
        assert found is not None
        assert (found.length, found.moves, found.expanded, found.optimal) == (None, (), 360, True)
    puzzle = farthest.load_puzzle("pancake-9")
    problem = Problem(puzzle, puzzle.definition.parse_board("3 9 1 5 8 2 6 4 7"), "goal", "zero")
    for algorithm in ("bfs", "astar"):
        with pytest.raises(ResourceError, match="boards, which take the"):
            native_plain(algorithm, problem, Zero(), 100_000)


def test_goals_with_wildcards() -> None:
    puzzle = parse_puzzle(WILD, "wild.toml")
    board = puzzle.definition.parse_board("b . c / a b a")
    problem = Problem(puzzle, board, "goal", "zero")
    model = answer(problem, reached(puzzle, board))
    whole = solved(problem)
    assert (whole.length, whole.solutions) == model
    found = native_plain("bfs", problem, None, MEMORY)
    assert found is not None
    assert found.length == whole.length


def test_a_board_that_is_solved() -> None:
    puzzle = puzzle_of("pancakes")
    problem = Problem(puzzle, puzzle.definition.origin_boards[0][0], "goal", "gap")
    found = solved(problem)
    assert (found.length, found.solutions, found.listed, found.nodes) == (0, 1, ((),), 0)


def test_what_the_kernel_does_not_keep_is_for_another_engine() -> None:
    hanoi = farthest.load_puzzle("hanoi-4-3")
    assert (
        arrangement_engine(Problem(hanoi, hanoi.definition.origin_boards[0][0], "goal", "zero"), Zero())
        is None
    )
    puzzle = puzzle_of("one blank")
    problem = Problem(puzzle, boards_of("one blank")[0], "goal", "linear-conflict")
    conflict = open_heuristic("linear-conflict", puzzle, problem.targets())
    assert arrangement_engine(problem, conflict) is None


@dataclass
class Stored:
    """What stands for a stored map of a pattern."""

    puzzle: Puzzle
    space: Space
    distances: NDArray[numpy.uint8]


def stored(puzzle: Puzzle) -> Stored:
    """Distances to the goals, by the moves that lead away from them."""
    space = compile_space(puzzle, Origin("to", "goal"))
    assert space.keys is not None
    distances = numpy.full(space.keys, 255, dtype=numpy.uint8)
    layer = [numpy.array(space.origins, dtype=numpy.uint8)]
    depth = 0
    while sum(map(len, layer)):
        codes = numpy.unique(space.encode(numpy.concatenate(layer)))
        fresh = codes[distances[codes] == 255]
        distances[fresh] = depth
        layer = [boards for _, _, boards in space.neighbours(space.decode(fresh), toward=False)]
        depth += 1
    return Stored(puzzle, space, distances)


@for_each(
    ("name", "pattern"),
    [
        ("pancakes", "1-3"),
        ("burnt pancakes", "2.3"),
        ("twisty", "FL.F"),
        ("one-way", "2.4"),
        ("one blank", "plain:1.2"),
        ("equal pieces turned", "a.x"),
        ("turned", "a.c"),
    ],
)
def test_maps_of_patterns(name: str, pattern: str) -> None:
    puzzle = puzzle_of(name)
    goals = puzzle.definition.origin_boards[0]
    heuristic = Mapped(puzzle, pattern)
    for board in sorted(reached(puzzle, goals[0]).depths)[::50]:
        problem = Problem(puzzle, board, "goal", "")
        model = answer(problem, reached(puzzle, board))
        engine = arrangement_engine(problem, heuristic)
        assert engine is not None
        (value,) = heuristic.values(numpy.array([board], dtype=numpy.uint8)).tolist()
        assert engine.lower_bound(board) == max(value, int(board not in goals))
        if model is None or model[0] > 9:
            continue
        assert value <= model[0]
        whole = deepen(engine, board, first=False, limit=0)
        assert (whole.length, whole.solutions) == model


CUBES = [
    ("cube-2x2x2-htm", ["UFL.ULB", "URF.UBR.DFR"], "moves: R U R2 F' U2", 5),
    ("cube-2x2x2-qtm", ["UFL.ULB", "URF.UBR.DFR"], "moves: R U' R F' U", 5),
    ("pyraminx", ["UL.UR.LR", "UB.RB.L.R"], "moves: U L R' B U'", 5),
]


@for_each(("name", "patterns", "moves", "most"), CUBES)
def test_searches_by_coordinates_are_those_of_the_engine_for_any_family(
    name: str, patterns: list[str], moves: str, most: int
) -> None:
    puzzle = farthest.load_puzzle(name)
    board = board_given(puzzle, moves)
    heuristic = Greatest("maps", [Mapped(puzzle, pattern) for pattern in patterns])
    problem = Problem(puzzle, board, "goal", "maps")
    engine = arrangement_engine(problem, heuristic)
    assert engine is not None
    assert engine.walk.kernel.by_coordinates
    found = deepen(engine, board, first=False, limit=1000)
    for form in (TableForm(4), TableForm(2, 2, never=False)):
        small = Greatest("maps", [Mapped(puzzle, pattern, form) for pattern in patterns])
        packed = arrangement_engine(problem, small)
        assert packed is not None
        assert packed.walk.kernel.by_coordinates
        other = deepen(packed, board, first=False, limit=1000)
        assert (other == found) == (form.bits == 4)
        assert (other.length, other.solutions, set(other.listed)) == (
            found.length,
            found.solutions,
            set(found.listed),
        )
    other = deepen(BatchEngine(problem, Zero()), board, first=False, limit=1000)
    assert (found.length, found.solutions, set(found.listed)) == (
        other.length,
        other.solutions,
        set(other.listed),
    )
    assert found.length is not None
    assert 3 < found.length <= most
    engine.budget = 20
    assert deepen(engine, board, first=False, limit=1000) == found
    first = deepen(engine, board, first=True, limit=1)
    assert (first.length, first.solutions) == (found.length, 1)
    assert first.listed[0] in found.listed
    engine.parts, engine.split_from = 5, 0
    split = deepen(engine, board, first=False, limit=1000)
    assert (split.length, split.solutions, set(split.listed)) == (
        found.length,
        found.solutions,
        set(found.listed),
    )
    first = deepen(engine, board, first=True, limit=1)
    assert (first.length, first.solutions) == (found.length, 1)
    assert first.listed[0] in found.listed


@pytest.mark.parametrize("pattern", ["UL.UR", "UL=UB.turns:edges"])
def test_images_by_symmetries_are_looked_up_as_numpy_does(pattern: str) -> None:
    puzzle = farthest.load_puzzle("pyraminx")
    goal = puzzle.definition.origin_boards[0][0]
    found = symmetries(permutation(puzzle), goal).maps
    images = [(each, each.slotwise()) for each in found if isinstance(each, Conjugation)]
    boards = some_boards(puzzle, goal)
    alone = Mapped(puzzle, pattern)
    heuristic = conjugated("sym", alone, [(each, image) for each, image in images if image], boards)
    terms = heuristic.terms()
    assert terms is not None
    assert len(terms) > 1
    values = heuristic.values(boards)
    assert (values >= alone.values(boards)).all()
    problem = Problem(puzzle, tuple(boards[0].tolist()), "goal", "sym")
    engine = arrangement_engine(problem, heuristic)
    assert engine is not None
    assert engine.walk.kernel.by_coordinates
    for board, value in zip(boards.tolist()[:50], values.tolist()[:50], strict=True):
        assert engine.lower_bound(tuple(board)) == (0 if tuple(board) == goal else max(1, value))
    board = board_given(puzzle, "moves: U R' B L")
    problem = Problem(puzzle, board, "goal", "sym")
    engine = arrangement_engine(problem, heuristic)
    assert engine is not None
    whole = deepen(engine, board, first=False, limit=1000)
    other = deepen(BatchEngine(problem, Zero()), board, first=False, limit=1000)
    assert (whole.length, whole.solutions, set(whole.listed)) == (
        other.length,
        other.solutions,
        set(other.listed),
    )


class Mapped:
    """A pattern's map as a heuristic, orientations and all."""

    name = "mapped"
    admissible = consistent = True

    def __init__(self, puzzle: Puzzle, pattern: str, form: TableForm | None = None) -> None:
        self._form = form
        self._pattern = pattern_of(puzzle, pattern)
        self._found = stored(self._pattern.puzzle)

    def values(self, boards: NDArray[numpy.uint8]) -> NDArray[numpy.int32]:
        codes = self._found.space.encode(self._pattern.boards(boards))
        found = self._found.distances[codes].astype(numpy.int32)
        return numpy.where(found == 255, numpy.int32(UNREACHABLE), found)

    def terms(self) -> list[list[Component]]:
        relabel = bytes(self._pattern.relabel).ljust(256, b"\0")
        cells = tuple(range(self._pattern.puzzle.definition.cells))
        distances, form = self._found.distances, self._form
        if form is None:
            return [[MapTable(self._found.space, distances, relabel, cells)]]
        numbers = form.packed(distances)
        kernel = _kernel.DistanceTable(numbers, len(distances), form.bits, form.base, form.never)
        return [[MapTable(self._found.space, Table(kernel, form, numbers), relabel, cells)]]


def test_more_arrangements_than_can_be_numbered() -> None:
    puzzle = farthest.load_puzzle("pancake-30")
    board = puzzle.definition.origin_boards[0][0]
    for size in (7, 29, 12, 30, 18, 5):
        board = (*reversed(board[:size]), *board[size:])
    problem = Problem(puzzle, board, "goal", "gap")
    found = solved(problem)
    assert found.length == found.iterations[-1].bound <= 6
    assert (
        native_plain("astar", problem, open_heuristic("gap", puzzle, problem.targets()), MEMORY) is not None
    )


def test_breadth_first_finds_the_distances_of_a_plain_search() -> None:
    puzzle = farthest.load_puzzle("sliding-2x3")
    depths = reached(puzzle, puzzle.definition.origin_boards[0][0]).depths
    for board in random.Random(3).sample(sorted(depths), 20):
        found = native_plain("bfs", Problem(puzzle, board, "goal", "zero"), None, MEMORY)
        assert found is not None
        assert found.length == depths[board]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "heuristic", "deepest"),
    [
        pytest.param("pancake-8", "gap", 9, marks=pytest.mark.night),
        ("burnt-pancake-6", "gap", 10),
        pytest.param("topspin-8-4", "zero", 8, marks=pytest.mark.night),
        ("cube-2x2x2-htm", "misplaced", 7),
        pytest.param("cuboid-2x2x3", "zero", 7, marks=pytest.mark.night),
        ("two-blanks", "nearest", 14),
        pytest.param("8-puzzle-slide", "misplaced", 14, marks=pytest.mark.night),
    ],
)
def test_solutions_are_those_of_stored_maps(name: str, heuristic: str, deepest: int, tmp_path: Path) -> None:
    puzzle = farthest.load_puzzle(name)
    with farthest.enumerate(puzzle, database=str(tmp_path / "maps.db")) as stored:
        for text in farthest.random_boards(puzzle, 60, seed=1):
            length = stored.distance(text)
            assert length is not None
            if length > deepest:
                continue
            problem = Problem(puzzle, puzzle.definition.parse_board(text), "goal", heuristic)
            found = solved(problem)
            assert (found.length, found.solutions) == (length, stored.count_solutions(text))
