"""The engine for sliding puzzles with one blank, beside plain recursion in Python and known answers."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import permutations
from typing import TYPE_CHECKING

import numpy
import pytest
from numpy.typing import NDArray

import farthest
from cases import for_each
from farthest import _kernel
from farthest.families.sliding.definition import sliding
from farthest.heuristics.contract import Component, Heuristic, PatternTable
from farthest.heuristics.registry import open_heuristic
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.search.contract import Node, PieceResult, Problem
from farthest.search.deepening import Deepened, deepen
from farthest.search.engines import SlidingEngine
from farthest.search.expansion import least
from search_models import Reached, answer, play, reached

if TYPE_CHECKING:
    from collections.abc import Callable

    from farthest.puzzles.definition import MoveName
    from farthest.spaces.contract import Boards

ONE_WAY = """
name = "one-way"
family = "sliding"
[sliding]
blank = "."
edges = [[0, 1], [1, 2], [3, 4], [4, 5], [0, 3]]
arcs = [[5, 2], [4, 1]]
goals = ["a b c . c c", "a b . * * *"]
"""


def open_problem(name: str, text: str, heuristic: str = "zero") -> Problem:
    """``name``: of a puzzle, perhaps followed by `` to BOARD``."""
    name, _, target = name.partition(" to ")
    puzzle = parse_puzzle(ONE_WAY, "one-way.toml") if name == "one-way" else farthest.load_puzzle(name)
    return Problem(puzzle, puzzle.definition.parse_board(text), target or "goal", heuristic)


def open_engine(problem: Problem, heuristic: Heuristic | None = None) -> SlidingEngine:
    chosen = heuristic or open_heuristic(problem.heuristic, problem.puzzle, problem.targets())
    return SlidingEngine(problem, chosen)


@dataclass
class Naive:
    """Depth-first search below a node by plain recursion over boards."""

    problem: Problem
    judged: Callable[[Board], tuple[bool, int]]
    bound: int
    nodes: int = 0
    ways: list[tuple[MoveName, ...]] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)

    def visit(self, board: Board, depth: int, last: int, way: tuple[MoveName, ...]) -> None:
        goal, value = self.judged(board)
        if depth + value > self.bound:
            self.cut.append(depth + value)
        elif goal:
            self.ways.append(way)
        else:
            blank = board.index(0)
            for cell in sources(self.problem.puzzle, blank):
                if cell != last:
                    self.nodes += 1
                    after = list(board)
                    after[blank], after[cell] = after[cell], 0
                    self.visit(tuple(after), depth + 1, blank, (*way, (cell, blank)))


def judging(problem: Problem, heuristic: Heuristic) -> Callable[[Board], tuple[bool, int]]:
    """Whether a board is a goal, and its value."""

    @cache
    def judged(board: Board) -> tuple[bool, int]:
        row = numpy.array([board], dtype=numpy.uint8)
        goal = bool(problem.at_target(row)[0])
        return goal, 0 if goal else max(1, int(heuristic.values(row)[0]))

    return judged


@lru_cache
def sources(puzzle: Puzzle, blank: int) -> list[int]:
    definition = sliding(puzzle)
    both = {a + b - blank for a, b in definition.edges if blank in (a, b)}
    return sorted(both | {a for a, b in definition.arcs if b == blank})


def in_pieces(engine: SlidingEngine, node: Node, bound: int, budget: int) -> PieceResult:
    """The whole of a node, piece by piece."""
    engine.budget = budget
    nodes, solutions, next_bound, waiting = 0, 0, None, [node]
    listed: tuple[tuple[MoveName, ...], ...] = ()
    while waiting:
        piece = engine.run(waiting.pop(), bound, first=False, limit=100_000)
        nodes, solutions, listed = nodes + piece.nodes, solutions + piece.solutions, listed + piece.listed
        next_bound = least(next_bound, piece.next_bound)
        waiting += reversed(piece.rest)
    return PieceResult(nodes, solutions, listed, next_bound, ())


CASES = [
    ("8-puzzle", "1 2 3 / 7 4 6 / 0 5 8", "manhattan"),
    ("8-puzzle", "1 2 3 / 7 4 6 / 0 5 8", "linear-conflict"),
    ("8-puzzle", "1 3 6 / 4 0 2 / 7 5 8", "zero"),
    ("8-puzzle", "5 1 3 / 4 0 2 / 7 8 6", "misplaced+manhattan"),
    ("eight-kinds", "┌─│ │□┐ └─┘", "nearest"),
    ("eight-kinds", "┌─│ │□┐ └─┘", "matching,misplaced"),
    ("eight-kinds", "┌─│ │□┐ └─┘", "zero"),
    ("one-way", "c a b c . c", "zero"),
    ("one-way to a b c . c c", "c a b c . c", "nearest"),
    ("one-way to a b . c c c", ". a c b c c", "misplaced,matching"),
    ("15-puzzle", "1 2 3 4 / 5 6 7 8 / 9 14 10 12 / 13 0 11 15", "linear-conflict"),
    ("sliding-2x3", "4 5 0 / 1 2 3", "manhattan"),
    ("sliding-2x5", "1 2 3 4 9 / 5 0 6 7 8", "manhattan"),
]


@for_each(("name", "text", "heuristic"), CASES)
def test_as_by_plain_recursion(name: str, text: str, heuristic: str) -> None:
    problem = open_problem(name, text, heuristic)
    engine = open_engine(problem)
    begun = engine.lower_bound(problem.board)
    judged = judging(problem, engine.heuristic)
    assert begun == judged(problem.board)[1]
    start = Node(problem.board, 2, -1, ((7, 7),))
    for bound in {1, begun + 2, begun + 3, min(begun + 5, 13), 10}:
        model = Naive(problem, judged, bound)
        model.visit(problem.board, 2, -1, ((7, 7),))
        wanted = PieceResult(model.nodes, len(model.ways), tuple(model.ways), least(*model.cut), ())
        for budget in (1, 2, 3, 10, 100, 1000, 2**24):
            assert in_pieces(engine, start, bound, budget) == wanted


@for_each(
    ("name", "text", "heuristic"), [case for case in CASES if case[0].startswith(("sliding-2x3", "one-way"))]
)
def test_as_found_breadth_first(name: str, text: str, heuristic: str) -> None:
    problem = open_problem(name, text, heuristic)
    engine = open_engine(problem)
    model = answer(problem, everything(problem.puzzle, problem.board))
    assert model is not None
    whole = deepen(engine, problem.board, first=False, limit=100)
    assert (whole.length, whole.solutions) == model
    for way in whole.listed:
        end = play(problem.puzzle, problem.board, way)
        assert problem.at_target(numpy.array([end], dtype=numpy.uint8)).all()
    engine.split_from, engine.parts = 0, 7
    split = deepen(engine, problem.board, first=False, limit=100)
    assert (split.length, split.solutions, set(split.listed)) == (*model, set(whole.listed))
    first = deepen(engine, problem.board, first=True, limit=100)
    assert (first.length, first.solutions, first.listed) == (model[0], 1, split.listed[:1])


@lru_cache
def everything(puzzle: Puzzle, board: Board) -> Reached:
    return reached(puzzle, board)


def additive(
    cells: int, labels: tuple[int, ...], goal: Board, reach: list[list[int]]
) -> dict[tuple[int, ...], int]:
    """The least moves of the pattern's pieces from each placement on `cells` cells, the blank anywhere: 0-1 search."""
    start = (*(goal.index(label) for label in labels), goal.index(0))
    found = {start: 0}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        *pieces, blank = state
        for cell in reach[blank]:
            moved = tuple(blank if piece == cell else piece for piece in pieces)
            cost = found[state] + (cell in pieces)
            if cost < found.get((*moved, cell), cells**9):
                found[(*moved, cell)] = cost
                (waiting.append if cell in pieces else waiting.appendleft)((*moved, cell))
    least_of: dict[tuple[int, ...], int] = {}
    for (*pieces, _), cost in found.items():
        least_of[tuple(pieces)] = min(cost, least_of.get(tuple(pieces), cost))
    return least_of


def pattern_table(cells: int, labels: tuple[int, ...], costs: dict[tuple[int, ...], int]) -> PatternTable:
    distances = []
    for placement in permutations(range(cells), len(labels)):  # in the order of their places
        distances.append(costs[placement])
    table = numpy.frombuffer(_kernel.pages(len(distances)), dtype=numpy.uint8)
    table[:] = distances
    return PatternTable(labels, table, tuple(range(cells)))


class Patterns:
    """Additive pattern databases and their look-ups in the mirrored board, from the definition."""

    name = "patterns"
    admissible = True
    consistent = False

    def __init__(self, puzzle: Puzzle) -> None:
        goal = puzzle.definition.origin_boards[0][0]
        reach = [sources(puzzle, cell) for cell in range(9)]
        self.costs = {labels: additive(9, labels, goal, reach) for labels in ((3, 1, 2, 5), (4, 6, 7, 8))}
        self.mirror = tuple(cell % 3 * 3 + cell // 3 for cell in range(9))
        self.twin = {goal[cell]: goal[self.mirror[cell]] for cell in range(9)}

    def terms(self) -> list[list[Component]]:
        plain = [pattern_table(9, labels, costs) for labels, costs in self.costs.items()]
        return [
            [*plain],
            [
                replace(part, labels=tuple(self.twin[label] for label in part.labels), cell_of=self.mirror)
                for part in plain
            ],
        ]

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        found = []
        for board in boards.tolist():
            mirrored = [self.twin[board[self.mirror[cell]]] for cell in range(9)]
            found.append(
                max(
                    sum(
                        costs[tuple(seen.index(label) for label in labels)]
                        for labels, costs in self.costs.items()
                    )
                    for seen in (board, mirrored)
                )
            )
        return numpy.array(found, dtype=numpy.int32)


def test_pattern_databases_and_mirrored_look_ups() -> None:
    problem = open_problem("8-puzzle", "8 6 7 / 2 5 4 / 3 0 1")
    patterns = Patterns(problem.puzzle)
    engine = open_engine(problem, patterns)
    found = deepen(engine, problem.board, first=False, limit=0)
    assert (found.length, found.solutions) == (31, 40)
    problem = open_problem("8-puzzle", "1 8 2 / 0 4 3 / 7 6 5")
    engine = open_engine(problem, patterns)
    judged = judging(problem, patterns)
    for bound in (9, 13):
        model = Naive(problem, judged, bound)
        model.visit(problem.board, 0, -1, ())
        wanted = PieceResult(model.nodes, len(model.ways), tuple(model.ways), least(*model.cut), ())
        for budget in (1, 7, 2**24):
            assert in_pieces(engine, Node(problem.board, 0), bound, budget) == wanted


def test_known_answers() -> None:
    problem = open_problem("8-puzzle", "8 6 7 / 2 5 4 / 3 0 1", "manhattan")
    found = solved(problem)
    assert (found.iterations[0].bound, found.length, found.solutions) == (21, 31, 40)
    problem = open_problem("eight-kinds", "┘│└ ─□─ ┐│┌", "nearest")
    found = solved(problem)
    assert (found.iterations[0].bound, found.length, found.solutions) == (24, 30, 16)
    assert len(set(found.listed)) == 16


def solved(problem: Problem) -> Deepened:
    return deepen(open_engine(problem), problem.board, first=False, limit=100)


def test_what_is_left_lies_where_its_way_leads() -> None:
    problem = open_problem("8-puzzle", "8 6 7 / 2 5 4 / 3 0 1", "manhattan")
    engine = open_engine(problem)
    engine.budget = 1000
    piece = engine.run(Node(problem.board, 0), 31, first=False, limit=0)
    assert piece.nodes <= 1000
    depths = [node.depth for node in piece.rest]
    assert depths == sorted(depths, reverse=True)
    for node in piece.rest:
        assert play(problem.puzzle, problem.board, node.way) == node.board
        assert node.way[-1] == (node.board.index(0), node.last)


def test_several_threads_at_once() -> None:
    problem = open_problem("8-puzzle", "8 6 7 / 2 5 4 / 3 0 1", "manhattan")
    engine = open_engine(problem)
    roots = engine.split(problem.board, 31).roots
    assert {len(set(root.board)) for root in roots} == {9}
    assert any(root.last >= 0 for root in roots)

    def run(root: Node) -> PieceResult:
        return engine.run(root, 31, first=False, limit=9)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, roots)) == [run(root) for root in roots]


def test_a_solved_board() -> None:
    found = solved(open_problem("8-puzzle", "1 2 3 / 4 5 6 / 7 8 0", "manhattan"))
    assert (found.length, found.solutions, found.listed, found.nodes) == (0, 1, ((),), 0)


@pytest.mark.slow
def test_the_nodes_of_a_published_search() -> None:
    """Korf 1985, number 1 of 100: a search that looks at one child after another generates 276,361,932 nodes."""
    name = "15-puzzle to 0 1 2 3 / 4 5 6 7 / 8 9 10 11 / 12 13 14 15"
    problem = open_problem(name, "14 13 15 7 / 11 12 9 5 / 6 0 2 1 / 4 8 10 3", "manhattan")
    engine = open_engine(problem)
    engine.split_from, engine.budget = 2**62, 2**62
    found = deepen(engine, problem.board, first=True, limit=1)
    assert (found.iterations[0].bound, found.length, found.nodes) == (41, 57, 276_361_932)
