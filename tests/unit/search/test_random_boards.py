"""Random boards: the same for the same seed, and all with the same chance."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest

import farthest
from cases import for_each
from every_board import evenly_spread, joined_to
from farthest.errors import BoardError, PuzzleError
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.random_source import RandomSource
from farthest.search.contract import targets
from farthest.search.solvable import random_boards, random_stream, why_unsolvable
from permutations import pieces, puzzle_of
from strategies import make_puzzle

TAIL = ((0, 1), (1, 2), (2, 3), (0, 3), (3, 4))


def read(family: str, table: str) -> Puzzle:
    return parse_puzzle(f'name = "p"\nfamily = "{family}"\n[{family}]\n{table}\n', "p.toml")


SMALL = {
    "2x2": load("3-puzzle"),
    "2x3": make_puzzle(rows=((0, 1, 2), (3, 4, 5)), goals=[(1, 2, 3, 4, 5, 0)]),
    "2x3, equal pieces": make_puzzle(rows=((0, 1, 2), (3, 4, 5)), goals=[(1, 2, 2, 1, 3, 0)]),
    "ring, two blanks": make_puzzle(edges=((0, 1), (1, 2), (2, 3), (3, 4), (0, 4)), goals=[(1, 2, 0, 1, 0)]),
    "two goals of different classes": make_puzzle(edges=TAIL, goals=[(1, 2, 1, 2, 0), (1, 1, 2, 2, 0)]),
    "wildcards": make_puzzle(rows=((0, 1), (2, 3)), goals=[(1, WILDCARD, WILDCARD, 0)], counts=(1, 1, 1, 1)),
    "several blanks": make_puzzle(rows=((0, 1, 2), (3, 4, 5)), goals=[(1, 2, 1, 0, 0, 3)]),
    "looked at": make_puzzle(edges=TAIL, goals=[(1, 2, 0, 3, 0)]),
    "permutation": load("pancake-5"),
    "turned": load("burnt-pancake-3"),
    "equal and turned": puzzle_of([pieces("AAB", 3)], [([1, 2, 0], [1, 0, 2])]),
    "no free orbit": puzzle_of([pieces("ABCABC")], [([1, 2, 3, 4, 5, 0], [0] * 6)]),
    "lights": read("lights", "size = [2, 3]\ncolours = 3"),
    "lights, targets that overlap": read("lights", 'size = [1, 5]\ngoals = ["00000", "**100", "0*000"]'),
    "hanoi": load("hanoi-3-4"),
    "hanoi, two pegs": read("hanoi", 'pegs = 2\ndiscs = 5\ngoals = ["0*1*0", "000*0"]'),
    "jugs": load("die-hard-jugs"),
}


@for_each("name", SMALL)
def test_each_board_has_the_same_chance(name: str) -> None:
    puzzle = SMALL[name]
    solvable = joined_to(puzzle, "goal")
    drawn = Counter(random_boards(puzzle, 10 * len(solvable), 3))
    assert set(drawn) <= solvable
    assert evenly_spread([drawn[board] for board in solvable])


def test_the_same_boards_for_ever() -> None:
    """If these change, a seed means other boards than it did: say so in the changelog."""
    boards = [
        load("15-puzzle").definition.format_board(board) for board in random_boards(load("15-puzzle"), 2, 7)
    ]
    assert boards == [
        "9 4 13 8 / 7 11 3 1 / 6 14 12 5 / 0 15 2 10",
        "4 1 11 13 / 12 2 5 0 / 9 10 6 8 / 3 14 15 7",
    ]
    rng = RandomSource(1)
    assert [rng.below(10) for _ in range(8)] == [7, 6, 3, 0, 9, 7, 8, 2]
    assert [rng.below(10**30) for _ in range(2)] == [
        614794336738076691050613883315,
        805320680565209237359147484217,
    ]


def test_seeds() -> None:
    puzzle = load("8-puzzle")
    boards = random_boards(puzzle, 20, 5)
    assert random_boards(puzzle, 7, 5) == boards[:7]
    assert random_boards(puzzle, 20, 6) != boards
    assert random_boards(puzzle, 0, 5) == []
    assert list(islice(random_stream(puzzle, RandomSource(5)), 3)) == boards[:3]
    assert farthest.random_boards("8-puzzle", 7, seed=5) == puzzle.definition.texts(
        np.array(boards[:7], dtype=np.uint8)
    )
    with pytest.raises(ValueError, match="seed -1: expected 0 or more"):
        random_boards(puzzle, 1, -1)


@for_each("limit", [1, 2, 3, 7, 2**53, 2**53 + 1, 2**60 - 1, 10**40])
def test_numbers_below_a_limit(limit: int) -> None:
    rng = RandomSource(11)
    drawn = [rng.below(limit) for _ in range(300)]
    assert min(drawn) >= 0
    assert max(drawn) < limit
    tenths = Counter(min(number * 10 // limit, 9) for number in drawn)
    assert limit < 10 or evenly_spread([tenths[tenth] for tenth in range(10)])
    with pytest.raises(ValueError, match="limit 0"):
        rng.below(0)


def test_choices_and_orders() -> None:
    rng = RandomSource(2)
    assert evenly_spread(list(Counter(rng.chosen("abc") for _ in range(300)).values()))
    weighed = Counter(rng.weighed([1, 0, 3]) for _ in range(400))
    assert evenly_spread([3 * weighed[0], weighed[2]])
    assert weighed[1] == 0
    orders = Counter[str]()
    for _ in range(600):
        values = list("abc")
        rng.shuffle(values)
        orders["".join(values)] += 1
    assert len(orders) == 6
    assert evenly_spread(list(orders.values()))


def test_other_targets() -> None:
    puzzle = load("8-puzzle")
    wanted = targets(puzzle, "123456870")
    assert all(
        why_unsolvable(puzzle, board, wanted) is None for board in random_boards(puzzle, 20, 1, "123456870")
    )
    assert random_boards(load("eight-kinds"), 1, 1, "start")
    with pytest.raises(BoardError, match="piece 8 appears twice"):
        random_boards(puzzle, 1, 1, "123456880")
    with pytest.raises(PuzzleError, match="it has no start; name a board instead"):
        random_boards(load("sliding-2x2"), 1, 1, "start")


@for_each("name", ["sliding-8x8", "pancake-40", "cube-2x2x2-htm", "lights-8x8", "hanoi-4-60"])
def test_large_puzzles(name: str) -> None:
    puzzle = load(name)
    boards = random_boards(puzzle, 5, 1)
    assert len(set(boards)) == 5
    goals = targets(puzzle, "goal")
    assert all(
        why_unsolvable(puzzle, puzzle.definition.check_board(board), goals) is None for board in boards
    )
