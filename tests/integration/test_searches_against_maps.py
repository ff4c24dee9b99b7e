"""Iterative deepening of random boards of all families: lengths and numbers of solutions are those of stored maps."""

import pytest

import farthest
from families import PUZZLES
from farthest.heuristics.registry import default_heuristic, open_heuristic
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin
from farthest.queries.distance_map import DistanceMap
from farthest.queries.states import random_states
from farthest.random_source import RandomSource
from farthest.search.contract import Problem
from farthest.search.deepening import deepen
from farthest.search.engines import BatchEngine, engine_with

FAMILIES = (
    "sliding",
    "sliding, blanks",
    "sliding, one-way",
    "permutation",
    "permutation, turned",
    "hanoi",
    "lights",
    "pegs, jump",
    "pegs, chain",
    "blocks, step",
    "blocks, move",
)
FEW, MANY = 2, 19
NEAR = 6
"""Moves at most where equal boards are not merged: there may be many ways to each."""


@pytest.fixture(scope="module", params=FAMILIES)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> DistanceMap:
    """The map of all distances to a family's goal."""
    database = tmp_path_factory.mktemp("maps") / "maps.db"
    puzzle = PUZZLES[request.param]()
    return farthest.enumerate(puzzle, database=str(database), origin=Origin("to", "goal"))


@pytest.mark.parametrize(
    "count", [FEW, pytest.param(MANY, marks=pytest.mark.night)], ids=["few boards", "many boards"]
)
def test_lengths_and_numbers_of_solutions(opened: DistanceMap, count: int) -> None:
    for number, text in enumerate(random_states(opened, count, RandomSource(5))):
        check(opened, opened.labels(text), default_heuristic(opened.puzzle) if number % 2 else "zero")


def check(opened: DistanceMap, board: Board, heuristic: str) -> None:
    graph = opened.solution_graph(board)
    solutions = graph.count()
    problem = Problem(opened.puzzle, board, "goal", heuristic)
    rated = open_heuristic(heuristic, opened.puzzle, problem.targets())
    engines = [engine_with(problem, rated), BatchEngine(problem, rated)]
    if graph.distance <= NEAR:
        engines.append(small(BatchEngine(problem, rated)))
    limit = 20
    ways = {tuple(way.moves) for way in opened.solutions_of(graph, None)} if solutions < 1000 else None
    for engine in engines:
        found = deepen(engine, board, first=False, limit=limit)
        assert (found.length, found.solutions) == (graph.distance, solutions)
        assert len(set(found.listed)) == min(limit, solutions)
        assert ways is None or set(found.listed) <= ways
        first = deepen(engine, board, first=True, limit=limit)
        assert (first.length, first.solutions, len(first.listed)) == (graph.distance, 1, 1)
        assert ways is None or set(first.listed) <= ways
        assert [step.bound for step in first.iterations] == [step.bound for step in found.iterations]


def small(engine: BatchEngine) -> BatchEngine:
    """One that cuts small pieces."""
    engine.parts, engine.budget, engine.widest, engine.probed = 6, 80, 6, 6
    return engine
