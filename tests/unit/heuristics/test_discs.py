"""Sums of patterns of discs, over all boards, beside searches with discs as lists on pegs."""

from itertools import product

import numpy as np
import pytest

from cases import for_each
from farthest.families.hanoi.definition import Hanoi
from farthest.heuristics.contract import UNREACHABLE, WholePatternMap
from farthest.heuristics.registry import open_heuristic
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.patterns import pattern_of
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.search.contract import Problem
from farthest.search.deepening import deepen
from farthest.search.engines import open_engine
from farthest.spaces import compile_space


def moves(definition: Hanoi, board: Board) -> list[Board]:
    """The boards one move away."""
    top = {peg: disc for disc, peg in reversed(list(enumerate(board)))}
    return [
        (*board[: top[a]], b, *board[top[a] + 1 :])
        for a, b in definition.arcs
        if a in top and top[a] < top.get(b, len(board))
    ]


def distances(definition: Hanoi) -> dict[Board, int]:
    """Of all boards to the goals; ``UNREACHABLE`` where no moves lead there."""
    boards = list(product(range(definition.pegs), repeat=definition.discs))
    found = {
        board: 0
        for board in boards
        for goal in definition.goals
        if all(wanted in (WILDCARD, peg) for peg, wanted in zip(board, goal, strict=True))
    }
    before: dict[Board, list[Board]] = {board: [] for board in boards}
    for board in boards:
        for after in moves(definition, board):
            before[after].append(board)
    queue = list(found)
    for board in queue:
        for other in before[board]:
            if other not in found:
                found[other] = found[board] + 1
                queue.append(other)
    return {board: found.get(board, UNREACHABLE) for board in boards}


def load_map(puzzle: Puzzle) -> WholePatternMap:
    """As the database would give it."""
    space = compile_space(puzzle)
    assert space.keys is not None
    found = distances(puzzle.defined_as(Hanoi))
    values = [found[tuple(board)] for board in space.decode(np.arange(space.keys, dtype=np.uint64)).tolist()]
    kept = np.minimum(values, 255).astype(np.uint8)
    return WholePatternMap(puzzle, space, kept, holes=bool((kept == 255).any()), job=1)


TABLES = {
    "4 pegs": "pegs = 4\ndiscs = 4",
    "cyclic": 'pegs = 3\ndiscs = 5\nvariant = "cyclic"',
    "adjacent": 'pegs = 4\ndiscs = 4\nvariant = "adjacent"',
    "two pegs": "pegs = 2\ndiscs = 5",
    "no way back": "pegs = 3\ndiscs = 4\narcs = [[0, 1], [1, 2]]",
    "two goals": 'pegs = 4\ndiscs = 4\ngoals = ["3*31", "0022"]\nedges = [[1, 2], [2, 3], [3, 0]]\narcs = [[0, 1]]',
}


@for_each("name", TABLES)
def test_sums(name: str) -> None:
    """They are what their patterns' distances add up to; never more than the distance; no move takes away more than
    1."""
    puzzle = parse_puzzle(f'name = "h"\nfamily = "hanoi"\n[hanoi]\n{TABLES[name]}\n', "h.toml")
    definition, goals = puzzle.defined_as(Hanoi), puzzle.definition.origin_boards[0]
    truth = distances(definition)
    boards = np.array(list(truth), dtype=np.uint8)
    for parts in (["1.4", "2.3"], ["2-4"], ["1", "3", "4"]):
        heuristic = open_heuristic("+".join(f"@{part}" for part in parts), puzzle, goals, load_map)
        assert (heuristic.admissible, heuristic.consistent) == (True, True)
        expected = np.zeros(len(boards), dtype=int)
        for part in parts:
            pattern = pattern_of(puzzle, part)
            found = distances(pattern.puzzle.defined_as(Hanoi))
            expected += [found[tuple(board)] for board in pattern.boards(boards).tolist()]
        value = dict(zip(truth, heuristic.values(boards).tolist(), strict=True))
        assert list(value.values()) == np.minimum(expected, UNREACHABLE).tolist()
        assert all(value[board] <= truth[board] for board in truth)
        assert all(value[board] <= 1 + value[after] for board in truth for after in moves(definition, board))
    assert not open_heuristic("@1.2+@2-4", puzzle, goals, load_map).admissible


@pytest.mark.parametrize("heuristic", ["@1-3+@4.5", "@3-5+@1.2,@1-3+@4.5"])
def test_searches_have_the_same_lengths(heuristic: str) -> None:
    puzzle = load("hanoi-4-5")
    truth = distances(puzzle.defined_as(Hanoi))
    for board in list(truth)[::211]:
        found = deepen(
            open_engine(Problem(puzzle, board, "goal", heuristic), load_map), board, first=False, limit=1
        )
        assert (found.length, found.nodes > 0) == (truth[board], truth[board] > 0)
