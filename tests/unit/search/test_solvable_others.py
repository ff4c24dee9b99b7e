"""Which boards of the other families can be solved: every board of small ones against the boards that moves join."""

import pytest

from cases import for_each
from every_board import every_board, joined_to
from farthest.errors import PuzzleError
from farthest.puzzles.catalogue import load
from farthest.puzzles.family import UndecidedError
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.random_source import RandomSource
from farthest.search import solvable as component
from farthest.search.contract import targets
from farthest.search.solvable import draw_solvable, why_unsolvable


def puzzle_of(family: str, table: str) -> Puzzle:
    return parse_puzzle(f'name = "p"\nfamily = "{family}"\n[{family}]\n{table}\n', "p.toml")


LIGHTS = {
    **{f"2x3 of {colours}": f"size = [2, 3]\ncolours = {colours}" for colours in (2, 3, 4)},
    "1x4 of 6": "size = [1, 4]\ncolours = 6",
    "1x5": "size = [1, 5]",
    "without itself": "size = [2, 2]\ncolours = 4\nself = false",
    "torus": "size = [3, 3]\ntorus = true",
    "graph": "lamps = 4\ncolours = 4\nedges = [[0, 1], [1, 2]]\narcs = [[2, 3]]",
    "goals": 'size = [1, 5]\ncolours = 3\ngoals = ["00000", "**121"]',
    "more goals": 'size = [2, 2]\ncolours = 4\nself = false\ngoals = ["00/00", "01/10", "1*/1*"]',
}
HANOI = {
    "three pegs": "pegs = 3\ndiscs = 4",
    "one-way": 'pegs = 3\ndiscs = 3\nvariant = "cyclic"',
    "row": 'pegs = 4\ndiscs = 3\nvariant = "adjacent"',
    "two pegs": "pegs = 2\ndiscs = 4",
    "two pegs, goals": 'pegs = 2\ndiscs = 4\ngoals = ["0*10", "1110", "0**1"]',
    "no way back": "pegs = 4\ndiscs = 2\nedges = [[0, 1], [1, 2], [0, 2]]\narcs = [[2, 3]]",
}
PEGS = {
    "line": 'start = ["oo.o.oo"]\ngoal = ["...o..."]',
    "cross": 'start = [" oo ", "o.oo", " oo "]\ngoal = [" .. ", ".o..", " .. "]',
    "wildcards": 'start = ["ooo", "o.o", "ooo"]\ngoals = ["***/.o./...", "..o/.../..*"]',
}
CASES = [
    *[("lights", table) for table in LIGHTS.values()],
    *[("hanoi", table) for table in HANOI.values()],
    *[("pegs", table) for table in PEGS.values()],
]


@for_each(("family", "table"), CASES)
def test_every_board(family: str, table: str) -> None:
    puzzle = puzzle_of(family, table)
    goals, solvable = targets(puzzle, "goal"), joined_to(puzzle, "goal")
    boards = every_board(puzzle)
    if family == "pegs":
        boards = boards[:: 1 + len(boards) // 50]
    for board in boards:
        assert (why_unsolvable(puzzle, board, goals) is None) == (board in solvable), board


@for_each(
    ("name", "board", "begins"),
    [
        (
            "lights-5x5",
            "10000/00000/00000/00000/00000",
            "no press changes the sum of the colours of the lamps 0",
        ),
        ("hanoi-2-3", "110", "with two pegs no disc but the smallest can ever move, and disc 3 is on peg 0"),
        ("pegs-english", "ooo/ooo/ooooooo/ooooooo/ooooooo/ooo/ooo", "position class: every jump changes"),
        ("pegs-english", ".../.../......./......./......./.../...", "pegs: jumps only take pegs away"),
    ],
)
def test_reasons(name: str, board: str, begins: str) -> None:
    puzzle = load(name)
    reason = why_unsolvable(puzzle, puzzle.definition.parse_board(board), targets(puzzle, "goal"))
    assert reason is not None
    assert reason.startswith(begins)
    assert "\n" not in reason


def test_a_board_with_as_many_pegs_as_the_target() -> None:
    puzzle = puzzle_of("pegs", PEGS["line"])
    reason = why_unsolvable(puzzle, puzzle.definition.parse_board("o......"), targets(puzzle, "goal"))
    assert str(reason).startswith("pegs: both boards have 1 peg, in other holes")


def test_puzzles_that_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Board by board, as far as they are not too many."""
    puzzle = puzzle_of("pegs", PEGS["line"])
    goals = targets(puzzle, "goal")
    solvable = joined_to(puzzle, "goal")
    reasons = {board: str(why_unsolvable(puzzle, board, goals)) for board in every_board(puzzle)}
    looked_at = [board for board, reason in reasons.items() if reason.startswith("no moves lead")]
    assert looked_at
    assert all(reasons[board].endswith("that can be reached from it were visited") for board in looked_at)
    draw, rng = draw_solvable(puzzle), RandomSource(1)
    assert {draw(rng) for _ in range(20 * len(solvable))} == solvable
    monkeypatch.setattr(component, "MOST_LOOKED_AT", 0)
    monkeypatch.setattr(component, "MOST_DRAWN", 0)
    assert all(why_unsolvable(puzzle, board, goals) is None for board in looked_at), "it is not known"
    with pytest.raises(UndecidedError, match="only a map of all distances to the target tells"):
        draw_solvable(puzzle)


@for_each("name", ["Ring", "Doubling", "OneWay"])
def test_spaces_of_users(name: str) -> None:
    puzzle = puzzle_of("python", f'class = "python_spaces:{name}"')
    board, target = (puzzle.definition.parse_board(text) for text in ("1", "2"))
    assert why_unsolvable(puzzle, board, [target]) is None
    with pytest.raises(PuzzleError, match="it has no goal; name a board instead"):
        draw_solvable(puzzle)
    if name == "OneWay":
        with pytest.raises(UndecidedError, match="only a map of all distances to the target tells"):
            draw_solvable(puzzle, "2")
    else:
        assert draw_solvable(puzzle, "2")(RandomSource(1)) in joined_to(puzzle, "2")


def test_additive_patterns() -> None:
    """They have no blank that could be walked with: only their map tells."""
    puzzle = load("8-puzzle@1-3")
    (goal,) = targets(puzzle, "goal")
    assert why_unsolvable(puzzle, goal[::-1], [goal]) is None
    with pytest.raises(UndecidedError):
        draw_solvable(puzzle)
