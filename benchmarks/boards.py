"""Searches of arrangement boards in the kernel, in one process; prints ``seconds=...`` for the part that is measured.

    python benchmarks/boards.py walk PUZZLE HEURISTIC MORE | bfs PUZZLE BOARDS

walk: one iteration below a random board, MORE moves above its lower bound, on one thread; also prints the nodes a
second. bfs: so many random boards, each searched breadth first.
"""

from __future__ import annotations

import sys
import time

import farthest
from farthest.search.contract import Node, Problem
from farthest.search.engines import open_engine
from farthest.search.plain import search_plain

MEMORY = 2**31


def walk(name: str, heuristic: str, more: int) -> tuple[float, int, int]:
    """The seconds that an iteration takes, and its bound and nodes."""
    puzzle = farthest.load_puzzle(name)
    (board,) = farthest.random_boards(puzzle, seed=1)
    problem = Problem(puzzle, puzzle.definition.parse_board(board), "goal", heuristic)
    engine = open_engine(problem, None)
    engine.budget = 2**62
    bound = engine.lower_bound(problem.board) + more
    began = time.perf_counter()
    piece = engine.run(Node(problem.board, 0), bound, first=False, limit=0)
    return time.perf_counter() - began, bound, piece.nodes


def breadth_first(name: str, count: int) -> tuple[float, int]:
    """The seconds that the searches take, and the boards taken."""
    puzzle = farthest.load_puzzle(name)
    boards = [puzzle.definition.parse_board(text) for text in farthest.random_boards(puzzle, count, seed=1)]
    expanded = 0
    began = time.perf_counter()
    for board in boards:
        expanded += search_plain("bfs", Problem(puzzle, board, "goal", "zero"), None, MEMORY).expanded
    return time.perf_counter() - began, expanded


def main() -> None:
    """Measures one case."""
    job, name, *rest = sys.argv[1:]
    if job == "walk":
        seconds, bound, nodes = walk(name, rest[0], int(rest[1]))
        print(f"bound {bound}: {nodes:,} nodes, {nodes / seconds / 1e6:.1f} million/s")
    else:
        seconds, expanded = breadth_first(name, int(rest[0]))
        print(f"{expanded:,} boards")
    print(f"seconds={seconds}")


if __name__ == "__main__":
    main()
