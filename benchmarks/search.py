"""The search on sliding puzzles: nodes a second in one thread, beside a program that can do nothing else.

    python benchmarks/search.py [--runs 5] [--board "14 13 15 7 ..."] [--heuristic manhattan] [--database MAPS.db]

The board is one of the 15-puzzle with the blank first; with pattern databases, such as ``@1-7+@8-15``, they are read
from the database. With ``manhattan`` the program of search_plain.cpp is compiled and takes turns with the search: in
processor seconds, so that what else the machine does matters little. Medians, and the ratio of the medians.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from farthest.models.database import open_database
from farthest.puzzles.catalogue import load
from farthest.queries.pattern_maps import PatternMaps
from farthest.search.contract import Problem
from farthest.search.deepening import deepen
from farthest.search.engines import open_engine

PUZZLE = "15-puzzle-blank-first"
KORF_1 = "14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3"
PLAIN = Path(__file__).with_name("search_plain.cpp")


@dataclass(frozen=True)
class Run:
    """One search for the first solution."""

    length: int
    nodes: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.length} moves, {self.nodes:,} nodes, {self.nodes / self.seconds / 1e6:.1f} million a second"


def plain(program: Path, board: str) -> Run:
    """By the compiled program."""
    answer = subprocess.run([program, *board.split()], capture_output=True, text=True, check=True)
    length, nodes, seconds = answer.stdout.split()
    return Run(int(length), int(nodes), float(seconds))


def median(runs: list[Run]) -> Run:
    """Their median; all have the same nodes."""
    assert len({(run.length, run.nodes) for run in runs}) == 1, "the nodes do not depend on the run"
    return Run(runs[0].length, runs[0].nodes, statistics.median(run.seconds for run in runs))


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--board", default=KORF_1, help="default: the first of Korf's hundred")
    parser.add_argument("--heuristic", default="manhattan")
    parser.add_argument("--database", help="where pattern databases are stored")
    arguments = parser.parse_args()
    puzzle = load(PUZZLE)
    problem = Problem(puzzle, puzzle.definition.parse_board(arguments.board), "goal", arguments.heuristic)
    with ExitStack() as open_ones:
        load_map = None
        if arguments.database:
            load_map = PatternMaps(open_ones.enter_context(open_database(arguments.database, create=False)))
        engine = open_engine(problem, load_map)
        engine.split_from = engine.budget = 2**62  # in one piece, as the plain program does
        program = None
        if arguments.heuristic == "manhattan":
            program = Path(open_ones.enter_context(tempfile.TemporaryDirectory())) / "search_plain"
            subprocess.run(["c++", "-O3", "-std=c++20", PLAIN, "-o", program], check=True)
        ours, theirs = [], []
        for _ in range(arguments.runs):
            begun = time.process_time()
            found = deepen(engine, problem.board, first=True, limit=1)
            assert found.length is not None, "the board cannot be solved"
            ours.append(Run(found.length, found.nodes, time.process_time() - begun))
            if program:
                theirs.append(plain(program, arguments.board))
    print(f"{arguments.heuristic}: {median(ours)}")
    if theirs:
        print(f"search_plain: {median(theirs)}")
        print(f"processor time, ours by theirs: {median(ours).seconds / median(theirs).seconds:.2f}")


if __name__ == "__main__":
    main()
