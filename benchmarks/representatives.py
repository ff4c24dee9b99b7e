"""Searches of a permutation puzzle with maps kept by representatives beside the same maps whole, in one run.

    python benchmarks/representatives.py --database MAPS.db [--puzzle cube-3x3x3] [--heuristic HEURISTIC] [--length 15]
                                         [--boards 5] [--bound 14] [--least-keys 134217728]

The maps must be in the database (`farthest enumerate PATTERN --map full`). Each board is made by random moves, and each
iteration up to the bound is searched by both in turn, twice, in one thread: the nodes are the same. Processor seconds;
of each the memory, the seconds until it is read, the median of nodes a second, and the ratio of these.
"""

from __future__ import annotations

import argparse
import statistics
import time
from unittest.mock import patch

import farthest
from farthest.families.user_input import board_given
from farthest.heuristics.contract import Heuristic, MapTable
from farthest.heuristics.registry import open_heuristic
from farthest.models.database import open_database
from farthest.puzzles.puzzle import Puzzle
from farthest.queries import pattern_maps
from farthest.queries import pattern_maps as compact_map
from farthest.queries.pattern_maps import PatternMaps
from farthest.random_source import RandomSource
from farthest.search.arrangement_engine import ArrangementEngine, arrangement_engine
from farthest.search.contract import Node, Problem

PHASE_ONE = "sym:@FR=FL=BL=BR.turns:corners.edges"


def opened(text: str, puzzle: Puzzle, maps: PatternMaps, *, least_keys: int) -> Heuristic:
    """The heuristic, with maps of so many keys and more by representatives."""
    pattern_maps._kept.clear()
    begun = time.process_time()
    with patch.object(compact_map, "REDUCED_KEYS", least_keys):
        found = open_heuristic(text, puzzle, puzzle.definition.origin_boards[0], maps)
    terms = found.terms()
    assert terms is not None
    tables = {
        id(part.distances): part.distances for term in terms for part in term if isinstance(part, MapTable)
    }
    size = sum(each.nbytes for each in tables.values())
    print(f"{size / 2**20:,.0f} MiB, read in {time.process_time() - begun:.1f} s")
    return found


def searched(engine: ArrangementEngine, problem: Problem, bound: int) -> tuple[int, float]:
    """The nodes of iterations up to the bound, each to its end, and the seconds."""
    nodes, begun = 0, time.process_time()
    for each in range(engine.lower_bound(problem.board), bound + 1):
        nodes += engine.run(Node(problem.board, 0), each, first=False, limit=0).nodes
    return nodes, time.process_time() - begun


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True)
    parser.add_argument("--puzzle", default="cube-3x3x3")
    parser.add_argument("--heuristic", default=PHASE_ONE)
    parser.add_argument("--length", type=int, default=15, help="random moves that make a board")
    parser.add_argument("--boards", type=int, default=5)
    parser.add_argument("--bound", type=int, default=14)
    parser.add_argument(
        "--least-keys", type=int, default=compact_map.REDUCED_KEYS, help="of maps by representatives"
    )
    arguments = parser.parse_args()
    puzzle = farthest.load_puzzle(arguments.puzzle)
    names = [move.name for move in puzzle.definition.generators]  # type: ignore[attr-defined]
    source = RandomSource(1)
    rates: dict[str, list[float]] = {"whole": [], "representatives": []}
    with open_database(arguments.database, create=False) as database:
        maps = PatternMaps(database, tables=True)
        heuristics = {
            "whole": opened(arguments.heuristic, puzzle, maps, least_keys=2**62),
            "representatives": opened(arguments.heuristic, puzzle, maps, least_keys=arguments.least_keys),
        }
        for _ in range(arguments.boards):
            moves = " ".join(names[source.below(len(names))] for _ in range(arguments.length))
            problem = Problem(puzzle, board_given(puzzle, f"moves: {moves}"), "goal", arguments.heuristic)
            counted = set()
            for kind in ("whole", "representatives") * 2:
                engine = arrangement_engine(problem, heuristics[kind])
                assert engine is not None
                engine.budget = 2**62
                nodes, seconds = searched(engine, problem, arguments.bound)
                rates[kind].append(nodes / seconds)
                counted.add(nodes)
            assert len(counted) == 1, "the nodes are the same"
            print(f"{moves}: {counted.pop():,} nodes")
    medians = {kind: statistics.median(each) for kind, each in rates.items()}
    for kind, rate in medians.items():
        print(f"{kind}: {rate / 1e6:.2f} million nodes a second")
    print(f"ratio: {medians['representatives'] / medians['whole']:.2f}")


if __name__ == "__main__":
    main()
