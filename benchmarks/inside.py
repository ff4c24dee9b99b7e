"""One benchmark case inside one process; prints ``seconds=...`` for the part that is measured.

    python benchmarks/inside.py CASE PUZZLE [ISA | DEPTH]

enumerate, histogram: compiling the space and searching it, with and without distances. map: the same and one array
of all distances. boards: the layers of a peg puzzle up to DEPTH, board by board, as those of a space without structure
are found. run: the layers of a puzzle of any family, by name or file. cold: one distance of a stored map just
opened. bulk: 100,000 boards from text to distances. The last two make the map first if it is not in the database that
FARTHEST_BENCHMARK_DATABASE names.
"""

from __future__ import annotations

import os
import random
import sys
import time
from importlib import import_module

from farthest.coordinator.enumeration.executors import ThreadsExecutor, next_layer
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.families.python.allowed import allow_module
from farthest.machine import cores
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import gather
from farthest.stores.memory.gather_store import MemoryStore

BOARDS = 100_000


def search(puzzle: Puzzle, isa: str, *, distances: bool) -> tuple[MemoryStore, list[int]]:
    """The whole search on all cores; the store and the layers."""
    space = gather(compile_space(puzzle))
    store = MemoryStore(space.compile_kernel(isa=isa), space.keys_of(space.origins), distances=distances)
    layers = [len(space.origins)]
    executor = ThreadsExecutor(cores())
    while states := next_layer(store, executor, len(layers)):
        layers.append(states)
    return store, layers


def by_successors(puzzle: Puzzle, depth: int) -> list[int]:
    """The layers of a peg puzzle up to ``depth``, from the successors of each board."""
    from farthest.families.pegs.space import PegBoards, PegScatterSpace
    from farthest.stores.memory.scatter_store import ScatterMemoryStore

    space = PegScatterSpace(PegBoards(puzzle, puzzle.origin))
    store, executor = ScatterMemoryStore(space, distances=False), ThreadsExecutor(cores())
    return [len(space.origins), *(next_layer(store, executor, layer) for layer in range(1, depth + 1))]


def stored_map(puzzle: Puzzle) -> str:
    """The database that the cases share, with the puzzle's map in it."""
    from farthest.models.database import open_database

    path = os.environ["FARTHEST_BENCHMARK_DATABASE"]
    if not os.path.exists(path):
        with open_database(path, create=True) as database:
            enumerate_puzzle(puzzle, database, Settings())
    return path


def random_boards(puzzle: Puzzle, count: int) -> list[str]:
    """Boards that can be reached, in canonical text."""
    from farthest.coordinator.enumeration.record import board_texts

    space = gather(compile_space(puzzle))
    generator = random.Random(1)
    return board_texts(space, [generator.randrange(space.keys) for _ in range(count)])


def main(case: str, name: str, option: str = "") -> None:
    """Runs one case."""
    allow_module("python_space")
    puzzle = load(name)
    import_module(f"farthest.families.{puzzle.family}.space")
    if case in ("enumerate", "histogram", "map"):
        begun = time.perf_counter()
        store, layers = search(puzzle, option, distances=case != "histogram")
        if case == "map":
            assert len(store.distances(len(layers) - 1, cores())) == store.kernel.keys
        print(f"seconds={time.perf_counter() - begun}")
        expected = next((answer.layers for answer in puzzle.known if answer.layers), None)
        assert expected is None or tuple(layers) == expected
        return
    if case == "boards":
        begun = time.perf_counter()
        found = by_successors(puzzle, int(option))
        print(f"seconds={time.perf_counter() - begun}")
        known = next(answer.layers for answer in puzzle.known if answer.layers)
        assert tuple(found) == known[: len(found)]
        return
    if case == "run":
        begun = time.perf_counter()
        outcome = enumerate_puzzle(puzzle, None, Settings(histogram_only=True))
        print(f"seconds={time.perf_counter() - begun}")
        assert outcome.states in (None, *(answer.states for answer in puzzle.known))
        return
    from farthest.queries.distance_map import open_map

    path = stored_map(puzzle)
    boards = random_boards(puzzle, 1 if case == "cold" else BOARDS)
    begun = time.perf_counter()
    stored = open_map(puzzle.name, path)
    if case == "cold":
        begun = time.perf_counter()
        stored.distance(boards[0])
    else:
        assert len(stored.distances(boards)) == BOARDS
    print(f"seconds={time.perf_counter() - begun}")


if __name__ == "__main__":
    main(*sys.argv[1:])
