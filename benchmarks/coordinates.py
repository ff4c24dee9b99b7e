"""Searches of a permutation puzzle with maps of patterns: coordinates advanced by tables beside boards that are ranked.

    python benchmarks/coordinates.py --database MAPS.db [--puzzle cube-3x3x3] [--patterns A,B,...] [--length 14]
                                     [--boards 5] [--bound 12]

The maps are enumerated where the database does not have them. Each board is made by random moves, and each iteration up
to the bound is searched twice, in one thread: by coordinates, and by boards, which a component that the kernel updates
on boards enforces (the heuristic's value stays the same). Processor seconds; nodes a second, medians, and the ratio.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass

import farthest
from farthest.errors import JobError
from farthest.families.user_input import board_given
from farthest.heuristics.contract import Component, Contents
from farthest.heuristics.patterns import Greatest
from farthest.heuristics.registry import open_heuristic
from farthest.models.database import open_database
from farthest.puzzles.puzzle import Puzzle
from farthest.queries.pattern_maps import PatternMaps
from farthest.random_source import RandomSource
from farthest.search.arrangement_engine import ArrangementEngine, arrangement_engine
from farthest.search.contract import Node, Problem

CUBE = "URF.UFL.ULB.UBR.DFR.DLF.DBL.DRB,UR.UF.UL.UB.DR.DF.FR,UB.DR.DF.DL.DB.FL.BL"


class OnBoards(Greatest):
    """Another term, 1 or 0: whether anything is out of place. It never exceeds the maps'."""

    def terms(self) -> list[list[Component]] | None:
        """See Heuristic: with a component that is not a map."""
        found = super().terms()
        assert found is not None
        slots, labels, turns = self.form
        table = bytearray(b"\1" * (slots * labels * turns))
        for slot in range(slots):
            table[slot * turns * slots + slot] = 0
        return [*found, [Contents(turns, bytes(table), slots)]]

    form = (0, 0, 0)


@dataclass(frozen=True)
class Speed:
    """What one engine searched."""

    nodes: int
    seconds: float


def searched(engine: ArrangementEngine, problem: Problem, bound: int) -> Speed:
    """Iterations up to the bound, each to its end."""
    nodes, begun = 0, time.process_time()
    for each in range(engine.lower_bound(problem.board), bound + 1):
        nodes += engine.run(Node(problem.board, 0), each, first=False, limit=0).nodes
    return Speed(nodes, time.process_time() - begun)


def engines(
    puzzle: Puzzle, problem: Problem, maps: PatternMaps
) -> tuple[ArrangementEngine, ArrangementEngine]:
    """By coordinates, and by boards."""
    parts = [
        open_heuristic(f"@{text}", puzzle, problem.targets(), maps) for text in problem.heuristic.split(",")
    ]
    definition = puzzle.definition
    boards = OnBoards("boards", parts)
    boards.form = (definition.slots, len(definition.tokens), max(definition.slot_moduli))  # type: ignore[attr-defined]
    found = [arrangement_engine(problem, each) for each in (Greatest("coordinates", parts), boards)]
    assert all(engine is not None for engine in found)
    for engine in found:
        engine.budget = 2**62  # type: ignore[union-attr]
    assert [engine.walk.kernel.by_coordinates for engine in found] == [True, False]  # type: ignore[union-attr]
    return found[0], found[1]  # type: ignore[return-value]


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True)
    parser.add_argument("--puzzle", default="cube-3x3x3")
    parser.add_argument("--patterns", default=CUBE)
    parser.add_argument("--length", type=int, default=14, help="random moves that make a board")
    parser.add_argument("--boards", type=int, default=5)
    parser.add_argument("--bound", type=int, default=12)
    arguments = parser.parse_args()
    puzzle = farthest.load_puzzle(arguments.puzzle)
    names = [move.name for move in puzzle.definition.generators]  # type: ignore[attr-defined]
    source = RandomSource(1)
    fast, slow = [], []
    with open_database(arguments.database, create=True) as database:
        maps = PatternMaps(database)
        for text in arguments.patterns.split(","):
            begun = time.perf_counter()
            try:
                maps(farthest.load_puzzle(f"{puzzle.name}@{text}"))
            except JobError:
                farthest.enumerate(f"{puzzle.name}@{text}", database=arguments.database).close()
                print(f"@{text}: enumerated in {time.perf_counter() - begun:.1f} s")
        for _ in range(arguments.boards):
            moves = " ".join(names[source.below(len(names))] for _ in range(arguments.length))
            problem = Problem(puzzle, board_given(puzzle, f"moves: {moves}"), "goal", arguments.patterns)
            by_coordinates, by_boards = engines(puzzle, problem, maps)
            fast.append(searched(by_coordinates, problem, arguments.bound))
            slow.append(searched(by_boards, problem, arguments.bound))
            print(f"{moves}: {fast[-1].nodes:,} nodes by coordinates, {slow[-1].nodes:,} by boards")
    rates = [statistics.median(each.nodes / each.seconds for each in runs) for runs in (fast, slow)]
    print(f"by coordinates: {rates[0] / 1e6:.2f} million nodes a second")
    print(f"by boards:      {rates[1] / 1e6:.2f} million nodes a second")
    print(f"ratio of the nodes a second: {rates[0] / rates[1]:.1f}")
    times = statistics.median(one.seconds / other.seconds for one, other in zip(slow, fast, strict=True))
    print(f"ratio of the seconds, median: {times:.1f}")


if __name__ == "__main__":
    main()
