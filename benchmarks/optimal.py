"""Optimal solutions of random boards of a cube, with maps of patterns: seconds and nodes by distance.

    python benchmarks/optimal.py --database MAPS.db [--puzzle cube-3x3x3] [--heuristic TEXT] [--turns 16,17,20]
                                 [--boards 10] [--threads 2] [--seed 1] [--only DISTANCE] [--inverse]

The maps are enumerated where the database does not have them, and the seconds of that are told. A board is made by
random turns, no two in a row of one face or of opposite faces in the wrong order; its distance is mostly their
number, up to 17. --only: until so many boards of that distance are solved. --inverse solves the inverse of each board
too, and compares the lengths.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass

import farthest
from farthest.coordinator.search.settings import SearchOutcome, SearchSettings
from farthest.coordinator.search.solve import Solver
from farthest.coordinator.search.storage import SearchStorage
from farthest.errors import JobError
from farthest.families.permutation.definition import permutation
from farthest.families.user_input import board_given
from farthest.models.database import open_database
from farthest.puzzles.puzzle import Puzzle
from farthest.queries.pattern_maps import PatternMaps
from farthest.random_source import RandomSource

HEURISTIC = "sym:@FR=FL=BL=BR.turns:corners.edges,@corners"
FACES = "UDRLFB"
"""Opposite faces side by side; their turns commute."""


@dataclass(frozen=True)
class Solved:
    """One board's search."""

    outcome: SearchOutcome
    processor: float


def scramble(names: list[str], turns: int, source: RandomSource) -> list[str]:
    """Random turns, in one order of those that commute."""
    moves: list[str] = []
    while len(moves) < turns:
        name = names[source.below(len(names))]
        if moves:
            before, face = FACES.index(moves[-1][0]), FACES.index(name[0])
            if before // 2 == face // 2 and before >= face:
                continue
        moves.append(name)
    return moves


def inverse(names: list[str], moves: list[str]) -> list[str]:
    """The moves that take these back."""
    back = {name: name if name[1:] == "2" else name[0] + ("" if name[1:] else "'") for name in names}
    return [back[move] for move in reversed(moves)]


def enumerate_missing(puzzle: Puzzle, heuristic: str, database: str) -> None:
    """Enumerates the maps that are not stored yet."""
    with open_database(database, create=True) as opened:
        for text in heuristic.replace("sym:", "").replace("@", "").split(","):
            try:
                PatternMaps(opened, tables=True)(farthest.load_puzzle(f"{puzzle.name}@{text}"))
            except JobError:
                begun = time.perf_counter()
                farthest.enumerate(f"{puzzle.name}@{text}", database=database).close()
                print(f"@{text}: enumerated in {time.perf_counter() - begun:.1f} s", flush=True)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True)
    parser.add_argument("--puzzle", default="cube-3x3x3")
    parser.add_argument("--heuristic", default=HEURISTIC)
    parser.add_argument("--turns", default="16")
    parser.add_argument("--boards", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--inverse", action="store_true")
    arguments = parser.parse_args()
    puzzle = farthest.load_puzzle(arguments.puzzle)
    names = [move.name for move in permutation(puzzle).generators]
    source = RandomSource(arguments.seed)
    enumerate_missing(puzzle, arguments.heuristic, arguments.database)
    found: dict[int, list[Solved]] = defaultdict(list)
    begun = time.perf_counter()
    settings = SearchSettings(threads=arguments.threads)
    with closing(SearchStorage(arguments.database, store=False)) as storage:
        solver = Solver(puzzle, "goal", arguments.heuristic, settings, storage)
        solver.check()
        print(f"maps loaded in {time.perf_counter() - begun:.1f} s", flush=True)

        def solved(moves: list[str]) -> Solved:
            before = time.process_time()
            outcome = solver.solve(board_given(puzzle, "moves: " + " ".join(moves)))
            return Solved(outcome, time.process_time() - before)

        for turns in map(int, arguments.turns.split(",")):
            done = 0
            while done < arguments.boards:
                moves = scramble(names, turns, source)
                each = solved(moves)
                outcome = each.outcome
                assert outcome.length is not None, "random moves can be taken back"
                found[outcome.length].append(each)
                done += arguments.only is None or outcome.length == arguments.only
                note = ""
                if arguments.inverse:
                    other = solved(inverse(names, moves))
                    note = "; inverse: " + ("the same" if other.outcome.length == outcome.length else "OTHER")
                print(
                    f"{outcome.length:3} moves, {outcome.nodes:14,} nodes, {outcome.seconds:7.2f} s, "
                    f"{each.processor:7.2f} s of processors: {' '.join(moves)}{note}",
                    flush=True,
                )
    for distance, searches in sorted(found.items()):
        seconds = [each.outcome.seconds for each in searches]
        nodes, processor = (
            sum(each.outcome.nodes for each in searches),
            sum(each.processor for each in searches),
        )
        count = len(searches)
        print(
            f"distance {distance}: {count} boards, mean {statistics.mean(seconds):.2f} s, "
            f"median {statistics.median(seconds):.2f} s, {nodes / count:,.0f} nodes, "
            f"{processor / count:.2f} s of processors, {nodes / processor / 1e6:.2f} million nodes in each of these"
        )


if __name__ == "__main__":
    main()
