"""Korf and Felner's fifty boards of the 24-puzzle: lengths and nodes beside the published ones, and nodes a second.

    python benchmarks/fifty.py --database MAPS.db [--boards 38 40 25 32 44] [--split]

The boards are the twelve with the fewest published nodes unless told. Maps of the two patterns that are not in the
database yet are made first. One thread, in one piece an iteration, as the published program: the nodes are the same.
``--split``: as ``farthest solve`` does it, in which an iteration that is split counts boards once that several ways
lead to. Seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import time

import farthest
from farthest.errors import MissingMapError
from farthest.models.database import open_database
from farthest.puzzles.board_sets import board_set
from farthest.puzzles.catalogue import load
from farthest.queries.pattern_maps import PatternMaps
from farthest.search.contract import Problem
from farthest.search.deepening import deepen
from farthest.search.engines import open_engine

PUZZLE = "24-puzzle"
PATTERNS = ("1.2.5-7.12", "3.4.8.9.13.14")
HEURISTIC = "6-6-6-6"
EASIEST = 12


def make_maps(database: str) -> None:
    """Enumerates the patterns that are missing."""
    for pattern in PATTERNS:
        name = f"{PUZZLE}@{pattern}"
        with open_database(database, create=True) as opened:
            try:
                PatternMaps(opened)(load(name))
                continue
            except MissingMapError:
                pass
        begun, spent = time.perf_counter(), time.process_time()
        farthest.enumerate(name, database=database).close()
        seconds, processor = time.perf_counter() - begun, time.process_time() - spent
        print(f"{name}: {seconds:.1f} s, {processor:.1f} s of processors")


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True, help="where the maps are, or are to be made")
    parser.add_argument("--boards", type=int, nargs="*", help="their numbers; default: the twelve easiest")
    parser.add_argument("--split", action="store_true", help="large iterations as `farthest solve` does them")
    arguments = parser.parse_args()
    published = {board.number: board for board in board_set("korf-felner-50").boards}
    easiest = sorted(published, key=lambda number: published[number].nodes or 0)[:EASIEST]
    make_maps(arguments.database)
    puzzle = load(PUZZLE)
    print("board  length  published           nodes       published   ratio  seconds  millions a second")
    nodes = 0
    seconds = 0.0
    with open_database(arguments.database, create=False) as opened:
        for number in arguments.boards or easiest:
            answer = published[number]
            assert answer.nodes is not None, "nodes were published"
            known = answer.nodes
            problem = Problem(puzzle, puzzle.definition.parse_board(answer.text), "goal", HEURISTIC)
            engine = open_engine(problem, PatternMaps(opened))
            if not arguments.split:
                engine.split_from = engine.budget = 2**62
            begun = time.process_time()
            found = deepen(engine, problem.board, first=True, limit=1)
            spent = time.process_time() - begun
            nodes, seconds = nodes + found.nodes, seconds + spent
            print(
                f"{number:5}{found.length:8}{answer.length:11}{found.nodes:16,}{known:16,}"
                f"{found.nodes / known:8.4f}{spent:9.1f}{found.nodes / spent / 1e6:19.1f}",
                flush=True,
            )
    print(f"together {nodes:,} nodes, {seconds:.1f} s, {nodes / seconds / 1e6:.1f} million a second")


if __name__ == "__main__":
    main()
