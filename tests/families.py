"""Small puzzles of every family and metric, with a board of each."""

from collections.abc import Callable

import farthest
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle

ARCS = """
name = "arcs"
family = "sliding"
[sliding]
blank = "."
edges = [[0, 1], [1, 2], [2, 3]]
arcs = [[3, 0], [0, 2]]
goal = ". a b b"
"""

BLANKS = """
name = "blanks"
family = "sliding"
metric = "{}"
[sliding]
blank = "."
goal = ["abc", ".#d", "..e"]
"""

BLOCKS = """
name = "corner"
family = "blocks"
metric = "{}"
[blocks]
start = ["AAB", "ACB", "..D"]
goal = ["...", ".AA", ".A."]
"""

PEGS = """
name = "plus"
family = "pegs"
metric = "{}"
[pegs]
start = ["#oo#", "oooo", "o.oo", "#oo#"]
goal = ["#..#", "....", ".o..", "#..#"]
"""


def python_class(name: str) -> Puzzle:
    """A puzzle of one of the classes of tests/python_spaces.py."""
    text = f'name = "{name.lower()}"\nfamily = "python"\n[python]\nclass = "python_spaces:{name}"\n'
    return parse_puzzle(text, "p.toml")


def named(name: str) -> Callable[[], Puzzle]:
    """A puzzle of a name, when it is asked for."""
    return lambda: farthest.load_puzzle(name)


PUZZLES: dict[str, Callable[[], Puzzle]] = {
    "sliding": named("sliding-2x3"),
    "sliding, equal pieces": named("eight-kinds"),
    "sliding, slide": named("sliding-2x3-slide"),
    "sliding, one-way": lambda: parse_puzzle(ARCS, "arcs.toml"),
    "sliding, blanks": lambda: parse_puzzle(BLANKS.format("step"), "blanks.toml"),
    "sliding, blanks, slide": lambda: parse_puzzle(BLANKS.format("slide"), "blanks.toml"),
    "permutation": named("pancake-5"),
    "permutation, one-way": named("lrx-5"),
    "permutation, turned": named("burnt-pancake-3"),
    "permutation, corners": named("cube-2x2x2-qtm"),
    "permutation, equal pieces": named("pyraminx"),
    "hanoi": named("hanoi-4-3"),
    "hanoi, one-way": named("hanoi-cyclic-3-3"),
    "lights": named("lights-2x3-c3"),
    "jugs": named("jugs-8-5-3"),
    "blocks, step": lambda: parse_puzzle(BLOCKS.format("step"), "corner.toml"),
    "blocks, slide": lambda: parse_puzzle(BLOCKS.format("slide"), "corner.toml"),
    "blocks, move": lambda: parse_puzzle(BLOCKS.format("move"), "corner.toml"),
    "pegs, jump": lambda: parse_puzzle(PEGS.format("jump"), "plus.toml"),
    "pegs, chain": lambda: parse_puzzle(PEGS.format("chain"), "plus.toml"),
    "python, dense": lambda: python_class("Doubling"),
    "python, one-way": lambda: python_class("OneWay"),
    "python, strings": lambda: python_class("Words"),
    "python, 128 bits": lambda: python_class("Wide"),
    "python, many moves to one board": lambda: python_class("Parallel"),
}


def a_board(puzzle: Puzzle) -> Board:
    """The start, or else a goal."""
    goals, start = puzzle.definition.origin_boards
    return goals[0] if start is None else start
