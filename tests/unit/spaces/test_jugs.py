"""Jugs: the space against amounts in lists, and the classic measurements."""

import pytest

from farthest.families.jugs.definition import Jugs
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle
from space_battery import check_dense, distance, space_layers


def naive_moves(puzzle: Puzzle, board: Board) -> list[tuple[str, Board]]:
    """Fill, empty and pour, where something changes."""
    definition = puzzle.defined_as(Jugs)
    held = list(definition.digits(board))
    found = []
    for a, capacity in enumerate(definition.capacities):
        if "fill" in definition.moves:
            found.append((f"fill {a + 1}", [capacity if jug == a else n for jug, n in enumerate(held)]))
        if "empty" in definition.moves:
            found.append((f"empty {a + 1}", [0 if jug == a else n for jug, n in enumerate(held)]))
        for b, room in enumerate(definition.capacities):
            if a != b and "pour" in definition.moves:
                after = list(held)
                while after[a] > 0 and after[b] < room:
                    after[a] -= 1
                    after[b] += 1
                found.append((f"pour {a + 1}→{b + 1}", after))
    return [(name, definition.board_of(after)) for name, after in found if after != held]


def puzzle_of(table: str) -> Puzzle:
    return parse_puzzle(f'name = "j"\nfamily = "jugs"\n[jugs]\n{table}\n', "j.toml")


@pytest.mark.parametrize("origin", ["from start", "to start", "to goal", "from goal"])
@pytest.mark.parametrize(
    "table",
    [
        "capacities = [1]\nmeasure = 1",
        "capacities = [3, 5]\nmeasure = 4",
        'capacities = [2, 3, 4]\nstart = "2 0 1"\ngoals = ["* 1 *", "0 0 4"]',
        'capacities = [3, 5, 8]\nstart = "0 0 8"\ngoal = "0 4 4"\nmoves = ["pour"]',
        'capacities = [4, 6]\nmoves = ["fill", "pour"]\nmeasure = 2',
        'capacities = [4, 6]\nmoves = ["fill", "empty"]\nmeasure = 4',
        'capacities = [4, 6]\nmoves = ["empty", "pour"]\nstart = "1 5"\nmeasure = 2',
        "capacities = [257, 1]\nmeasure = 257",
    ],
)
def test_naive(table: str, origin: str) -> None:
    puzzle = puzzle_of(table)
    direction, where = origin.split()
    check_dense(puzzle, lambda board: naive_moves(puzzle, board), Origin(direction, where))  # type: ignore[arg-type]


def test_classic_measurements() -> None:
    """Four of 3 and 5: 6 moves. Halving 8 by 5 and 3: 7 pourings (Bachet 1612; Tartaglia)."""
    puzzle = load("die-hard-jugs")
    layers = space_layers(puzzle, puzzle.origin)
    assert (
        min(
            d
            for d, layer in enumerate(layers)
            if any(4 in puzzle.defined_as(Jugs).digits(board) for board in layer)
        )
        == 6
    )
    (known,) = puzzle.known
    assert (sum(map(len, layers)), len(layers) - 1) == (known.states, known.eccentricity)
    halving = load("jugs-8-5-3")
    layers = space_layers(halving, halving.origin)
    assert distance(layers, halving.defined_as(Jugs).board_of([4, 4, 0])) == 7
