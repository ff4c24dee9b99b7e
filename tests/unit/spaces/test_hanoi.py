"""Towers of Hanoi: the space against pegs as lists of discs, and published numbers of moves."""

import pytest

from cases import for_each
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.families.hanoi.definition import Hanoi
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle
from space_battery import check_dense, distance, space_layers


def naive_moves(puzzle: Puzzle, board: Board) -> list[tuple[str, Board]]:
    """The top disc of each peg, onto each peg that it may go to and whose top is larger."""
    stacks: list[list[int]] = [[] for _ in range(puzzle.defined_as(Hanoi).pegs)]
    for disc in reversed(range(len(board))):
        stacks[board[disc]].append(disc)
    found = []
    for a, b in puzzle.defined_as(Hanoi).arcs:
        if stacks[a] and (not stacks[b] or stacks[a][-1] < stacks[b][-1]):
            after = list(board)
            after[stacks[a][-1]] = b
            found.append((f"{a}→{b}", tuple(after)))
    return found


def puzzle_of(table: str) -> Puzzle:
    return parse_puzzle(f'name = "h"\nfamily = "hanoi"\n[hanoi]\n{table}\n', "h.toml")


@pytest.mark.parametrize(
    "table",
    [
        "pegs = 2\ndiscs = 3",
        "pegs = 3\ndiscs = 1",
        "pegs = 3\ndiscs = 5",
        "pegs = 4\ndiscs = 4",
        "pegs = 11\ndiscs = 2",
        'pegs = 3\ndiscs = 4\nvariant = "cyclic"',
        'pegs = 4\ndiscs = 3\nvariant = "cyclic"',
        'pegs = 3\ndiscs = 4\nvariant = "adjacent"',
        'pegs = 5\ndiscs = 3\nvariant = "adjacent"',
        "pegs = 4\ndiscs = 3\nedges = [[0, 1], [0, 2], [0, 3]]",
        "pegs = 4\ndiscs = 3\nedges = [[0, 1]]\narcs = [[1, 2], [2, 3], [3, 0]]",
        "pegs = 3\ndiscs = 3\narcs = [[0, 1], [1, 2]]",
        'pegs = 3\ndiscs = 4\ngoals = ["*111", "0202"]\nstart = "0102"',
    ],
)
@pytest.mark.parametrize("origin", ["to goal", "from start", "from goal", "to start"])
def test_naive(table: str, origin: str) -> None:
    puzzle = puzzle_of(table)
    direction, where = origin.split()
    check_dense(puzzle, lambda board: naive_moves(puzzle, board), Origin(direction, where))  # type: ignore[arg-type]


def test_discs_of_several_tables() -> None:
    """Seventeen discs on two pegs, of which tables hold sixteen."""
    puzzle = puzzle_of('pegs = 2\ndiscs = 17\nstart = "01010101010101011"')
    layers = space_layers(puzzle, Origin("from", "start"))
    start = puzzle.defined_as(Hanoi).start
    assert start is not None
    seen, layer = set[Board](), {start}
    for found in layers:
        assert found == layer
        seen |= found
        layer = {reached for board in layer for _, reached in naive_moves(puzzle, board)} - seen
    assert not layer


@for_each(
    ("form", "published"),
    [
        ("hanoi-3-{}", (1, 3, 7, 15, 31, 63, 127)),  # OEIS A000225
        ("hanoi-4-{}", (1, 3, 5, 9, 13, 17)),  # OEIS A007664
        ("hanoi-5-{}", (1, 3, 5, 7, 11)),  # OEIS A007665
        ("hanoi-cyclic-3-{}", (2, 7, 21, 59, 163, 447)),  # OEIS A005666: the last peg is two steps away
        ("hanoi-adjacent-3-{}", (2, 8, 26, 80, 242)),  # 3^n - 1
        ("hanoi-adjacent-4-{}", (3, 10, 19, 34, 57)),  # OEIS A160002
    ],
)
def test_published_moves(form: str, published: tuple[int, ...]) -> None:
    for discs, moves in enumerate(published, 1):
        puzzle = load(form.format(discs))
        start = puzzle.defined_as(Hanoi).start
        assert start is not None
        assert distance(space_layers(puzzle, puzzle.origin), start) == moves


def test_cyclic_to_the_next_peg() -> None:
    """OEIS A005665, M. D. Atkinson 1981."""
    for discs, expected in enumerate((1, 5, 15, 43, 119), 1):
        layers = space_layers(load(f"hanoi-cyclic-3-{discs}"), Origin("from", "start"))
        assert distance(layers, (1,) * discs) == expected


@for_each("name", ["hanoi-3-6", "hanoi-adjacent-3-5", "hanoi-4-6", "hanoi-4-1"])
def test_known_answers(name: str) -> None:
    puzzle = load(name)
    layers = [len(layer) for layer in space_layers(puzzle, puzzle.origin)]
    (known,) = puzzle.known
    assert (sum(layers), len(layers) - 1) == (known.states, known.eccentricity)
    assert known.layers in (None, tuple(layers))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hanoi-4-10", "hanoi-3-12"])
def test_larger_known_answers(name: str) -> None:
    puzzle = load(name)
    outcome = enumerate_puzzle(puzzle, None, Settings(histogram_only=True))
    (known,) = puzzle.known
    assert (outcome.states, outcome.eccentricity) == (known.states, known.eccentricity)
    assert known.layers in (None, tuple(outcome.layers))
