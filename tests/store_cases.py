"""Searches for tests of stores and executors: one of each kind of graph, with its layers from the naive model."""

from dataclasses import dataclass
from functools import cache

import numpy as np

import naive
import permutations
from farthest import _kernel
from farthest.families.pegs.definition import Pegs
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces import compile_space, reduced_space
from farthest.spaces.contract import GatherSpace, gather
from farthest.spaces.reduced import RepresentativeSpace
from strategies import grid_rows, make_puzzle
from symmetric_puzzles import symmetric_puzzle


@dataclass(frozen=True)
class Case:
    """A search: a kernel's space and the keys at depth 0. ``layers``: the keys at each depth, ascending.

    The shards of ``kernel`` are cut at level ``shard_classes``.
    """

    space: GatherSpace
    shard_classes: int
    kernel: _kernel.Space
    origins: tuple[int, ...]
    layers: tuple[tuple[int, ...], ...]
    distances: dict[Board, int]

    def classes(self, depth: int) -> int | None:
        """The classes of states that symmetries take to each other, where the space keeps their representatives."""
        if not isinstance(self.space, RepresentativeSpace):
            return None
        boards = np.array([board for board, at in self.distances.items() if at == depth], dtype=np.uint8)
        images = [each.images(boards).tolist() for each in self.space.maps] if len(boards) else []
        return len({tuple(min(alike)) for alike in zip(*images, strict=True)})

    def states(self, depth: int) -> int:
        """The states of a layer."""
        return sum(self.counts(depth).values())

    def counts(self, depth: int, shards: int = 0) -> dict[int, int]:
        """The states of a layer in each shard that has some; there are so many ``shards`` as the kernel has."""
        assert shards in (0, self.kernel.shards)
        per_shard = self.kernel.keys // self.kernel.shards
        counts: dict[int, int] = {}
        weights = self.space.weights if isinstance(self.space, RepresentativeSpace) else None
        for key in self.layers[depth] if depth < len(self.layers) else ():
            shard = key // per_shard
            counts[shard] = counts.get(shard, 0) + (1 if weights is None else int(weights[shard]))
        return counts


@cache
def _puzzles() -> dict[str, Puzzle | None]:
    rows = grid_rows(2, 3)
    odd_ring = ((0, 1), (0, 2), (1, 2), (2, 3), (3, 4))
    one_way_ring = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0))
    return {
        "two colours": make_puzzle(rows=rows, goals=[(0, 1, 1, 1, 2, 2)]),
        "halved": make_puzzle(rows=rows, goals=[(0, 1, 2, 3, 4, 5)]),
        "origins of both colours": make_puzzle(rows=rows, goals=[(0, 1, 1, 1, 2, 2), (1, 0, 1, 1, 2, 2)]),
        "not bipartite": make_puzzle(edges=odd_ring, goals=[(0, 1, 2, 3, 4)]),
        "slides": make_puzzle(rows=rows, goals=[(0, 1, 1, 1, 2, 2)], metric="slide"),
        "one-way": make_puzzle(
            arcs=one_way_ring, edges=((0, 2),), goals=[(0, 0, 1, 2, 3)], origin=Origin("from", "goal")
        ),
        "two blanks": make_puzzle(rows=rows, goals=[(0, 0, 1, 2, 3, 4)]),
        "turned pieces": permutations.samples()["moduli mixed, from"],
        "equal pieces turned": permutations.samples()["equal pieces turned, from"],
        "graded": load("pegs-triangle-15"),
        "representatives": symmetric_puzzle(112),
        "representatives, united": symmetric_puzzle(27),
        "representatives, one-way": symmetric_puzzle(17),
        "one state": make_puzzle(edges=(), arcs=((0, 1),), goals=[(0, 1)], origin=Origin("to", "goal")),
    }


NAMES = tuple(_puzzles())


def cuts(*levels: int) -> list[tuple[str, int]]:
    """Each search with its shards cut at the levels; those of representatives are the same at all."""
    return [(name, at) for name in NAMES for at in (levels[:1] if "representatives" in name else levels)]


@cache
def case(name: str, shard_classes: int = 1) -> Case:
    """A search by its name, its shards cut at level ``shard_classes``."""
    puzzle = _puzzles()[name]
    assert puzzle is not None
    kept = reduced_space(puzzle, puzzle.origin, None) if "representatives" in name else None
    space = gather(kept or compile_space(puzzle))
    models = {"pegs": peg_distances, "sliding": naive.distances}
    distances = models.get(puzzle.family, permutations.distances)(puzzle)
    layers: dict[int, set[int]] = {}
    for key, depth in zip(space.keys_of(list(distances)), distances.values(), strict=True):
        layers.setdefault(depth, set()).add(key)
    return Case(
        space,
        shard_classes,
        space.compile_kernel(shard_classes),
        tuple(space.keys_of(space.origins)),
        tuple(tuple(sorted(layers[depth])) for depth in range(len(layers))),
        distances,
    )


def peg_distances(puzzle: Puzzle) -> dict[Board, int]:
    """The boards that jumps lead to from the start, each with the number of jumps."""
    start = puzzle.defined_as(Pegs).start
    assert start is not None
    distances, layer = {start: 0}, [start]
    while layer:
        following = []
        for board in layer:
            for a, b, c in puzzle.defined_as(Pegs).jumps:
                if (board[a], board[b], board[c]) == (1, 1, 0):
                    after = tuple({a: 0, b: 0, c: 1}.get(hole, peg) for hole, peg in enumerate(board))
                    if after not in distances:
                        distances[after] = distances[board] + 1
                        following.append(after)
        layer = following
    return distances
