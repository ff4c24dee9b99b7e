"""All boards of small puzzles, and those from which moves lead to a target, found by going back from it."""

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from farthest.families.hanoi.definition import Hanoi
from farthest.families.lights.definition import Lights
from farthest.families.pegs.definition import Pegs
from farthest.families.permutation.definition import Permutation
from farthest.families.sliding.definition import Sliding
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces import compile_space
from naive import arrangements


def every_board(puzzle: Puzzle) -> list[Board]:
    """All boards that the puzzle's reader takes."""
    definition = puzzle.definition
    if isinstance(definition, Sliding):
        return list(arrangements(definition.counts))
    if isinstance(definition, Permutation):
        return list(_turned(definition))
    if isinstance(definition, Lights | Hanoi):
        return list(product(*map(range, definition.radices)))
    assert isinstance(definition, Pegs)
    return list(product(range(2), repeat=definition.holes))


def joined_to(puzzle: Puzzle, target: str) -> set[Board]:
    """The boards from which moves lead to the target."""
    space = compile_space(puzzle, Origin("to", target))
    found = set(space.origins)
    layer = np.array(space.origins, dtype=np.uint8)
    while len(layer):
        fresh = set[Board]()
        for _, _, boards in space.neighbours(layer, toward=False):
            fresh |= {tuple(board) for board in boards.tolist()}
        fresh -= found
        found |= fresh
        layer = np.array(sorted(fresh), dtype=np.uint8).reshape(-1, space.cells)
    return found


def evenly_spread(counts: Sequence[int]) -> bool:
    """Whether numbers of draws are what draws with equal chances give: chi-square, below 4 standard deviations above
    its mean."""
    mean, freedom = sum(counts) / len(counts), len(counts) - 1
    assert mean >= 10, "too few draws"
    square = sum((count - mean) ** 2 for count in counts) / mean
    return square < freedom + 4 * math.sqrt(2 * freedom)


def _turned(definition: Permutation) -> Iterator[Board]:
    parts = []
    for number, orbit in enumerate(definition.orbits):
        labels = [label for label, of in enumerate(definition.label_orbit) if of == number]
        part = []
        for arranged in arrangements([definition.counts[label] for label in labels]):
            held = [labels[place] for place in arranged]
            turns = [range(1 if definition.ignore[label] else definition.moduli[number]) for label in held]
            part += [(orbit, held, turned) for turned in product(*turns)]
        parts.append(part)
    for chosen in product(*parts):
        board = [0] * definition.cells
        for orbit, held, turned in chosen:
            for slot, label, turn in zip(orbit, held, turned, strict=True):
                board[slot] = label
                if definition.oriented:
                    board[definition.slots + slot] = turn
        yield tuple(board)
