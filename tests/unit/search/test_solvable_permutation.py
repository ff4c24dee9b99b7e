"""Which boards of permutation puzzles can be solved: every board of small ones against the boards that moves join."""

import random

import pytest

from cases import for_each
from every_board import every_board, joined_to
from farthest.errors import PuzzleError
from farthest.families.permutation import solvable as moved_pieces
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.solvable import SolvableBoards
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import Board
from farthest.puzzles.family import UndecidedError
from farthest.puzzles.puzzle import Puzzle
from farthest.random_source import RandomSource
from farthest.search.contract import targets
from farthest.search.solvable import why_unsolvable
from permutations import cycles, moved, pieces, puzzle_of

SWAP = ([1, 0, 2, 3, 4], [0] * 5)
TURN = ([1, 2, 3, 4, 0], [0] * 5)
HALVES = ([1, 2, 0, 4, 5, 3], [0] * 6)
PAIRS = ([1, 0, 2, 4, 3, 5], [0] * 6)
PUZZLES = {
    "ring": puzzle_of([pieces("ABCDE")], [TURN]),
    "ring, equal pieces": puzzle_of([pieces("AABAB")], [TURN]),
    "cycles of three": puzzle_of([pieces("ABCDE")], cycles(5)),
    "cycles of three, equal pieces": puzzle_of([pieces("ABCDA")], cycles(5)),
    "all": puzzle_of([pieces("ABCDE")], [SWAP, TURN]),
    "two sets moved alike": puzzle_of([pieces("ABC"), pieces("ABC")], [HALVES, PAIRS]),
    "two sets moved alike, equal pieces": puzzle_of([pieces("ABC"), pieces("AAB")], [HALVES, PAIRS]),
    "two orbits of one set": puzzle_of([pieces("ABABCC")], [HALVES]),
    "turned": puzzle_of([pieces("ABC", 3)], [([1, 2, 0], [1, 0, 2]), ([1, 0, 2], [0, 0, 0])]),
    "turned one at a time": puzzle_of([pieces("ABC", 2)], [([1, 2, 0], [1, 0, 0]), ([1, 0, 2], [0, 0, 0])]),
    "turned, equal pieces": puzzle_of([pieces("AAB", 3)], [([1, 2, 0], [1, 0, 2])]),
    "turned, one ignored": puzzle_of(
        [pieces("ABC", 3, "A")], [([1, 2, 0], [1, 0, 2]), ([1, 0, 2], [0, 0, 0])]
    ),
    "turned in step": puzzle_of([pieces("ABC", 4)], [([1, 2, 0], [1, 1, 1])]),
}


def check(puzzle: Puzzle, boards: list[Board]) -> None:
    goals, solvable = targets(puzzle, "goal"), joined_to(puzzle, "goal")
    for board in boards:
        assert (why_unsolvable(puzzle, board, goals) is None) == (board in solvable), (puzzle, board)


@for_each("name", PUZZLES)
def test_every_board(name: str) -> None:
    check(PUZZLES[name], every_board(PUZZLES[name]))


@for_each("name", ["pancake-5", "burnt-pancake-3", "topspin-5-3", "topspin-6-4", "lrx-5", "cuboid-1x3x3"])
def test_puzzles_by_name(name: str) -> None:
    puzzle = load(name)
    boards = every_board(puzzle)
    check(puzzle, boards[:: 1 + len(boards) // 200])


@for_each("name", ["cube-2x2x2-htm", "dino-cube", "skewb", "pyraminx"])
def test_large_puzzles(name: str) -> None:
    """Boards some moves from the goal can be solved; with two pieces exchanged, or one turned, most cannot."""
    puzzle, rng = load(name), random.Random(1)
    definition, goals, refused = permutation(puzzle), targets(puzzle, "goal"), 0
    boards = SolvableBoards(puzzle, goals)
    for _ in range(20):
        board = goals[0]
        for _ in range(30):
            board = moved(definition, rng.choice(definition.generators), board)
        assert boards.why_not(board) is None
        assert boards.why_not(boards.draw(RandomSource(rng.randrange(1000)))) is None
        orbit = rng.choice([number for number, slots in enumerate(definition.orbits) if len(slots) > 1])
        other = list(board)
        a, b = definition.orbits[orbit][:2]
        if definition.moduli[orbit] > 1:
            other[definition.slots + a] = (other[definition.slots + a] + 1) % definition.moduli[orbit]
        else:
            other[a], other[b] = other[b], other[a]
        refused += boards.why_not(tuple(other)) is not None
    assert refused >= 10


@for_each(
    ("corners", "edges", "reason"),
    [
        (
            "URF+1 UFL",
            "UR UF",
            "one of the corners is twisted, or several are: no move changes the sum of those of the corners modulo 3",
        ),
        (
            "URF UFL",
            "UR+1 UF",
            "the edges modulo 2, which is 0 for all boards that can be reached, and 1 here",
        ),
        ("UFL URF", "UR UF", "every move permutes the corners and edges evenly"),
    ],
)
def test_cubes_put_together_wrongly(corners: str, edges: str, reason: str) -> None:
    """The reason is told also where a puzzle is too large to be numbered."""
    puzzle = load("cube-3x3x3")
    board = f"{corners} ULB UBR DFR DLF DBL DRB / {edges} UL UB DR DF DL DB FR FL BL BR"
    found = why_unsolvable(puzzle, puzzle.definition.parse_board(board), targets(puzzle, "goal"))
    assert found is not None
    assert reason in found


def some_puzzle(rng: random.Random) -> Puzzle | None:
    """A set or two, moves that permute and turn them in part; None: no move does anything."""
    sets = []
    for _ in range(rng.choice((1, 1, 2))):
        modulus, count = rng.choice((1, 1, 2, 3)), rng.randrange(1, 5)
        text = "".join(rng.choice("ABCD") for _ in range(count)) if rng.random() < 0.5 else "ABCD"[:count]
        ignore = "".join(sign for sign in sorted(set(text)) if modulus > 1 and rng.random() < 0.2)
        sets.append(pieces(text, modulus, ignore))
    slots = sum(len(each.pieces) for each in sets)
    moves: list[tuple[list[int], list[int]]] = []
    for _ in range(rng.choice((1, 2, 3))):
        to: list[int] = []
        delta: list[int] = []
        for each in sets:
            here = list(range(len(to), len(to) + len(each.pieces)))
            if rng.random() < 0.7:
                rng.shuffle(here)
            to += here
            delta += [rng.randrange(each.modulus) if rng.random() < 0.4 else 0 for _ in here]
        if (to, delta) != (list(range(slots)), [0] * slots) and (to, delta) not in moves:
            moves.append((to, delta))
    try:
        return puzzle_of(sets, moves) if slots > 1 else None
    except PuzzleError:  # they turn what is ignored, or nothing
        return None


def check_some(seed: int, count: int) -> None:
    rng = random.Random(seed)
    for puzzle in filter(None, (some_puzzle(rng) for _ in range(count))):
        if permutation(puzzle).arrangements() <= 3000:
            boards = every_board(puzzle)
            check(puzzle, rng.sample(boards, min(len(boards), 200)))


def test_some_puzzles() -> None:
    check_some(1, 15)


@pytest.mark.slow
def test_many_puzzles() -> None:
    check_some(2, 300)


def test_a_group_that_cannot_be_known_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known to be solvable is; of what is not known nothing is said, but that a search would tell."""
    monkeypatch.setattr(moved_pieces, "MOST_PRODUCTS", 0)
    puzzle = PUZZLES["ring"]
    boards = SolvableBoards(puzzle, targets(puzzle, "goal"))
    assert boards.why_not((1, 2, 3, 4, 0)) is None
    for asked in (lambda: boards.why_not((1, 0, 2, 3, 4)), lambda: boards.draw(RandomSource(1))):
        with pytest.raises(UndecidedError, match="the group is not known whole"):
            asked()


def test_reasons() -> None:
    def reason(name: str, board: Board) -> str:
        return str(why_unsolvable(PUZZLES[name], board, targets(PUZZLES[name], "goal")))

    assert reason("cycles of three", (1, 0, 2, 3, 4)).startswith(
        "parity: every move permutes the pieces evenly"
    )
    assert reason("turned", (0, 1, 2, 1, 0, 0)).startswith("orientations: one of the pieces is twisted")
    assert reason("ring", (1, 0, 3, 2, 4)).startswith("group: the moves make 5 permutations and turns")
    assert reason("two sets moved alike", (1, 2, 0, 3, 4, 5)).startswith("group: the moves make 6")
