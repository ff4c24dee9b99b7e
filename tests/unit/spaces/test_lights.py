"""Lights: the space against lamps pressed one by one, cosets of quiet patterns, published figures."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from cases import for_each
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.families.lights.definition import Lights
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.spaces import compile_space
from space_battery import check_dense, space_layers


def naive_moves(puzzle: Puzzle, board: Board) -> list[tuple[str, Board]]:
    """Each lamp pressed once, or up to one time less than there are colours."""
    definition = puzzle.defined_as(Lights)
    found = []
    for lamp, press in enumerate(definition.presses):
        after = list(board)
        for times in range(1, definition.colours if puzzle.metric == "multi" else 2):
            for other in press:
                after[other] = (after[other] + 1) % definition.colours
            if press:
                found.append((f"press {lamp}" + (f" ×{times}" if times > 1 else ""), tuple(after)))
    return found


def puzzle_of(table: str, metric: str = "press") -> Puzzle:
    return parse_puzzle(f'name = "l"\nfamily = "lights"\nmetric = "{metric}"\n[lights]\n{table}\n', "l.toml")


TABLES = [
    "size = [3, 3]",
    "size = [1, 1]\ncolours = 5",
    "size = [2, 2]\ncolours = 3",
    "size = [1, 4]\ncolours = 4\nself = false",
    "size = [3, 3]\ntorus = true",
    'size = [2, 3]\nneighbours = "diagonal"',
    'size = [2, 3]\nneighbours = "all"\nself = false',
    'goal = ["00#", "0*0", "#00"]\nstart = ["01#", "110", "#01"]',
    'goals = ["00/01", "10/10"]\nstart = "22/22"\ncolours = 3',
    "lamps = 5\nedges = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]]",
    "lamps = 4\nedges = [[0, 1]]\narcs = [[1, 2], [2, 3]]\ncolours = 3\nself = false",
]


@pytest.mark.parametrize(
    ("table", "metric"),
    [(table, "press") for table in TABLES] + [(table, "multi") for table in TABLES if "colours" in table],
)
def test_naive(table: str, metric: str) -> None:
    puzzle = puzzle_of(table, metric)
    for direction in ("to", "from"):
        check_dense(puzzle, lambda board: naive_moves(puzzle, board), Origin(direction, "goal"))
    if "start" in table:
        check_dense(puzzle, lambda board: naive_moves(puzzle, board), Origin("from", "start"))


@for_each("table", TABLES)
def test_why_unreachable(table: str) -> None:
    """Where the number of colours is prime, the reason is given exactly for the boards out of reach."""
    puzzle = puzzle_of(table)
    space = compile_space(puzzle, Origin())
    reached = {board for layer in space_layers(puzzle, Origin()) for board in layer}
    definition = puzzle.defined_as(Lights)
    unreached = 0
    for board in product(range(definition.colours), repeat=definition.cells):
        if definition.colours in (2, 3, 5):
            reason = space.why_unreachable(board)
            # The sums of an invariant may each occur at some origin though no origin has them all.
            assert reason is None if board in reached else reason is not None or len(space.origins) > 1
            unreached += board not in reached
    assert unreached or definition.colours == 4 or len(reached) == definition.colours**definition.cells


def coset_layers(presses: tuple[tuple[int, ...], ...]) -> list[int]:
    """Of two colours: a board is a coset of the quiet press sets, its distance the fewest presses in it."""
    lamps = len(presses)
    sets = np.arange(2**lamps, dtype=np.uint32)
    changed = np.zeros_like(sets)
    for lamp, press in enumerate(presses):
        changed ^= ((sets >> lamp) & 1) * np.uint32(sum(1 << other for other in press))
    quiet = sets[changed == 0]
    fewest = np.bitwise_count(sets)
    for pattern in quiet:
        np.minimum(fewest, np.bitwise_count(sets ^ pattern), out=fewest)
    counts = np.bincount(fewest) // quiet.size
    return [int(count) for count in counts]


@pytest.mark.slow
@for_each("name", ["lights-2x2", "lights-3x3", "lights-4x4", "lights-torus-4x4", "lights-2x7"])
def test_cosets_and_known_answers(name: str) -> None:
    puzzle = load(name)
    layers = [len(layer) for layer in space_layers(puzzle, puzzle.origin)]
    assert layers == coset_layers(puzzle.defined_as(Lights).presses)
    for known in puzzle.known:
        assert known.states == sum(layers)
        assert known.eccentricity in (None, len(layers) - 1)
        assert known.layers in (None, tuple(layers))


def test_orchard_of_colours() -> None:
    """Of three colours every press pattern is its own board where no pattern is quiet: layers count patterns."""
    puzzle = load("lights-2x2-c3")
    layers = [len(layer) for layer in space_layers(puzzle, puzzle.origin)]
    if sum(layers) == 3**4:
        patterns = Counter(sum(pattern) for pattern in product(range(3), repeat=4))
        assert layers == [patterns[presses] for presses in range(9)]


@pytest.mark.slow
def test_the_original_board() -> None:
    """Of 5x5 lamps, 2^23 boards, at most 15 presses: the layers by cosets, which were worked out beforehand."""
    puzzle = load("lights-5x5")
    outcome = enumerate_puzzle(puzzle, None, Settings(histogram_only=True))
    assert outcome.layers == puzzle.known[0].layers
    assert (outcome.states, outcome.eccentricity) == (2**23, 15)
