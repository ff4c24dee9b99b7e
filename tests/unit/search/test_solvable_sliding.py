"""Which sliding boards can be solved: every board of small graphs against the boards that moves join."""

import random
from itertools import combinations
from pathlib import Path

import pytest

from cases import for_each
from every_board import every_board, joined_to
from farthest.families.sliding import solvable as blank_walks
from farthest.families.sliding import solvable as solvable_sliding
from farthest.families.sliding.definition import sliding
from farthest.families.sliding.solvable import classes_of
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.family import UndecidedError
from farthest.puzzles.grid import disconnection
from farthest.puzzles.puzzle import Puzzle
from farthest.random_source import RandomSource
from farthest.search.contract import targets
from farthest.search.solvable import why_unsolvable
from naive import moves
from strategies import make_puzzle

RING = ((0, 1), (1, 2), (2, 3), (3, 4), (0, 4))
THETA = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5), (0, 6), (3, 6))
K4 = tuple(combinations(range(4), 2))
BOW_TIE = ((0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4))
TAIL = ((0, 1), (1, 2), (2, 3), (0, 3), (3, 4), (4, 5))
HOUSE = ((0, 1), (1, 2), (2, 3), (0, 3), (2, 4), (3, 4))
STAR = ((0, 1), (0, 2), (0, 3), (3, 4))
LINE = ((0, 1), (1, 2), (2, 3), (3, 4))
SQUARE = ((0, 1), (2, 3))
FLAT = ((0, 1, 2), (3, 4, 5))

PUZZLES = {
    "2x2": make_puzzle(rows=SQUARE, goals=[(1, 2, 3, 0)]),
    "2x2, equal pieces": make_puzzle(rows=SQUARE, goals=[(1, 2, 1, 0)]),
    "2x3": make_puzzle(rows=FLAT, goals=[(1, 2, 3, 4, 5, 0)]),
    "2x3, equal pieces": make_puzzle(rows=FLAT, goals=[(1, 2, 3, 1, 4, 0)]),
    "2x3, slides": make_puzzle(rows=FLAT, goals=[(0, 1, 2, 3, 4, 5)], metric="slide"),
    "2x3, two blanks": make_puzzle(rows=FLAT, goals=[(1, 2, 3, 4, 0, 0)]),
    "1x5": make_puzzle(rows=((0, 1, 2, 3, 4),), goals=[(1, 2, 3, 1, 0)]),
    "walls": make_puzzle(rows=((0, 1, -1), (2, 3, 4)), goals=[(1, 2, 3, 4, 0)]),
    "ring": make_puzzle(edges=RING, goals=[(0, 1, 2, 3, 4)]),
    "ring, equal pieces": make_puzzle(edges=RING, goals=[(1, 0, 2, 1, 2)]),
    "ring, two blanks": make_puzzle(edges=RING, goals=[(1, 2, 0, 3, 0)]),
    "one-way ring": make_puzzle(arcs=((0, 1), (1, 2), (2, 3), (3, 4), (4, 0)), goals=[(0, 1, 2, 3, 4)]),
    "line, two blanks": make_puzzle(edges=LINE, goals=[(1, 2, 0, 3, 0)]),
    "K4": make_puzzle(edges=K4, goals=[(1, 2, 3, 0)]),
    "bow tie": make_puzzle(edges=BOW_TIE, goals=[(0, 1, 2, 3, 4)]),
    "bow tie, equal pieces": make_puzzle(edges=BOW_TIE, goals=[(1, 1, 2, 0, 2)]),
    "bow tie, two blanks": make_puzzle(edges=BOW_TIE, goals=[(0, 1, 2, 0, 3)]),
    "tail": make_puzzle(edges=TAIL, goals=[(1, 2, 3, 4, 5, 0)]),
    "house": make_puzzle(edges=HOUSE, goals=[(1, 2, 3, 4, 0)]),
    "star": make_puzzle(edges=STAR, goals=[(1, 2, 3, 4, 0)]),
    "star, two blanks": make_puzzle(edges=STAR, goals=[(1, 0, 3, 2, 0)]),
    "dead end": make_puzzle(edges=((0, 1), (1, 2), (0, 2)), arcs=((2, 3),), goals=[(1, 2, 0, 3)]),
    "goals": make_puzzle(rows=SQUARE, goals=[(1, 2, 3, 0), (0, 2, 1, 3)]),
    "wildcards": make_puzzle(rows=SQUARE, goals=[(1, WILDCARD, WILDCARD, 0)], counts=(1, 1, 1, 1)),
    "wildcards on a ring": make_puzzle(
        edges=RING, goals=[(1, WILDCARD, 2, WILDCARD, 0)], counts=(1, 1, 1, 1, 1)
    ),
}


def joined(puzzle: Puzzle) -> dict[Board, set[Board]]:
    """For each board those from which moves lead to it."""
    before: dict[Board, list[Board]] = {board: [] for board in every_board(puzzle)}
    for board in before:
        for after, _ in moves(puzzle, board):
            before[after].append(board)
    found = {}
    for board in before:
        queue, seen = [board], {board}
        for each in queue:
            fresh = [other for other in before[each] if other not in seen]
            seen.update(fresh)
            queue += fresh
        found[board] = seen
    return found


@for_each("name", PUZZLES)
def test_every_board(name: str) -> None:
    puzzle = PUZZLES[name]
    goals = targets(puzzle, "goal")
    solvable = joined_to(puzzle, "goal")
    for board in every_board(puzzle):
        reason = why_unsolvable(puzzle, board, goals)
        assert (reason is None) == (board in solvable), board


@pytest.mark.parametrize("equal", [False, True])
def test_theta(equal: bool) -> None:
    goal = (1, 2, 3, 4, 5, 1 if equal else 6, 0)
    puzzle = make_puzzle(edges=THETA, goals=[goal])
    solvable = joined_to(puzzle, "goal")
    boards = every_board(puzzle)[::31]
    assert all((why_unsolvable(puzzle, board, [goal]) is None) == (board in solvable) for board in boards)
    classes = classes_of(sliding(puzzle))
    assert classes is not None
    assert classes.size(goal) == len(solvable)
    assert equal or len(solvable) == 7 * 120


def test_theta_of_two_blanks() -> None:
    puzzle = make_puzzle(edges=THETA, goals=[(1, 2, 3, 4, 5, 0, 0)])
    assert len(joined_to(puzzle, "goal")) == sliding(puzzle).arrangements() == 2520
    assert why_unsolvable(puzzle, (2, 1, 3, 4, 5, 0, 0), targets(puzzle, "goal")) is None


def check_classes(puzzle: Puzzle) -> bool:
    """Asserts that what can be decided is what moves join; whether there was anything to be decided."""
    (goal,) = targets(puzzle, "goal")
    try:
        boards = solvable_sliding.solvable(puzzle, (goal,))
    except UndecidedError:
        return False
    links = joined(puzzle)
    assert all((boards.why_not(board) is None) == (board in links[goal]) for board in links)
    assert boards.draw(RandomSource(1)) in links[goal]
    classes = classes_of(sliding(puzzle))
    if classes is not None:
        parts = {frozenset(seen) for seen in links.values()}
        assert sum(map(len, parts)) == len(links), "moves can be taken back"
        assert len({classes.class_of(board) for board in links}) == len(parts)
        for part in parts:
            assert len({classes.class_of(board) for board in part}) == 1
            assert classes.size(min(part)) == len(part)
    return True


def some_graph(rng: random.Random, most: int) -> Puzzle | None:
    """A connected graph with some one-way passages, blanks and equal pieces; None: these are no such graph."""
    cells = rng.randrange(2, most + 1)
    pairs: list[tuple[int, int]] = list(combinations(range(cells), 2))
    chosen = rng.sample(pairs, min(len(pairs), rng.randrange(cells - 1, cells + 3)))
    if disconnection(cells, chosen):
        return None
    arcs = [(b, a) if rng.random() < 0.5 else (a, b) for a, b in chosen if rng.random() < 0.1]
    edges = [pair for pair in chosen if pair not in arcs and (pair[1], pair[0]) not in arcs]
    blanks = min(rng.choice((1, 1, 2, 3)), cells - 1)
    goal = [0] * blanks + [rng.randrange(1, cells) for _ in range(cells - blanks)]
    kinds = {label: number for number, label in enumerate(sorted(set(goal)))}
    goal = [kinds[label] for label in goal]
    rng.shuffle(goal)
    return make_puzzle(edges=tuple(edges), arcs=tuple(arcs), goals=[goal])


def test_some_graphs() -> None:
    rng = random.Random(1)
    puzzles = [puzzle for puzzle in (some_graph(rng, 5) for _ in range(60)) if puzzle]
    assert sum(map(check_classes, puzzles)) > 15


@pytest.mark.parametrize(
    "number", [pytest.param(200, marks=pytest.mark.slow), pytest.param(2000, marks=pytest.mark.night)]
)
def test_many_graphs(number: int) -> None:
    rng = random.Random(2)
    puzzles = [puzzle for puzzle in (some_graph(rng, 6) for _ in range(number)) if puzzle]
    assert sum(map(check_classes, puzzles)) > number / 4


@for_each(
    ("name", "board", "begins"),
    [
        ("8-puzzle", "123456870", "parity: where all pieces are distinct"),
        ("15-puzzle", "1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0", "parity"),
        ("3-puzzle", "0 2 / 1 3", "order: the pieces can only go round"),
        ("wilson-theta", "2134560", "Wilson's theta graph: 120 of its"),
        ("sliding-1x4", "0 2 1 3", "order: the pieces cannot pass each other on the line"),
    ],
)
def test_reasons(name: str, board: str, begins: str) -> None:
    puzzle = load(name)
    reason = why_unsolvable(puzzle, puzzle.definition.parse_board(board), targets(puzzle, "goal"))
    assert reason is not None
    assert reason.startswith(begins)
    assert "\n" not in reason


def test_reasons_of_parts_of_a_graph() -> None:
    goal, turned, passed = (0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 5, 4), (0, 1, 2, 4, 3, 5)
    lollipop = make_puzzle(edges=((0, 1), (1, 2), (2, 3), (2, 4), (3, 5), (4, 5)), goals=[goal])
    reason = why_unsolvable(lollipop, turned, [goal])
    assert reason == (
        "order: the pieces on the cells 2 3 4 5 can only go round, from cell 3 on in the order 3 4 5, and at the "
        "target 3 5 4; put them in that order"
    )
    assert why_unsolvable(lollipop, (1, 2, 0, 4, 5, 3), [goal]) is None
    reason = why_unsolvable(lollipop, (2, 1, 0, 3, 4, 5), [goal])
    assert reason == (
        "pieces: with the blank brought to cell 0, cell 1 holds 2, and at the target 1; no piece comes past cell 0, so "
        "put these pieces there"
    )
    assert why_unsolvable(lollipop, passed, [goal]) is not None


def test_reasons_of_several_blanks() -> None:
    """A star with a longer arm, whose pieces cannot all pass each other."""
    puzzle = PUZZLES["star, two blanks"]
    reason = why_unsolvable(puzzle, (0, 0, 1, 2, 3), targets(puzzle, "goal"))
    assert reason == (
        "pieces: with the blanks brought to the cells 0 1, the cells 2 3 hold 1 2, and at the target 1 3; no piece "
        "comes there from other cells, so put these pieces there"
    )


def test_blanks_of_too_many_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blank_walks, "MOST_PLACES", 9)
    puzzle = make_puzzle(edges=STAR, goals=[(0, 1, 3, 2, 0)])
    with pytest.raises(UndecidedError):
        solvable_sliding.solvable(puzzle, targets(puzzle, "goal"))
    assert why_unsolvable(puzzle, (0, 0, 1, 2, 3), targets(puzzle, "goal")) == (
        "no moves lead to a target: all 20 boards that can be reached from it were visited"
    )


def test_a_target_of_the_users() -> None:
    puzzle = load("8-puzzle")
    board, other = (puzzle.definition.parse_board(text) for text in ("867254301", "123456870"))
    assert why_unsolvable(puzzle, board, targets(puzzle, "123456780")) is None
    assert why_unsolvable(puzzle, board, [other]) is not None
    assert why_unsolvable(puzzle, board, [other, board]) is None
    assert why_unsolvable(puzzle, board, [other, puzzle.definition.parse_board("213456780")]) is not None
    ring = PUZZLES["ring"]
    reason = why_unsolvable(ring, (0, 1, 2, 4, 3), [(0, 1, 2, 3, 4), (0, 1, 3, 2, 4)])
    assert reason is not None
    assert reason.endswith("no other target can be reached either")


def test_wildcards_of_large_puzzles(tmp_path: Path) -> None:
    """More boards than could be listed, of two classes; and too many on a ring, where the search has to tell."""
    rows = '["1 2 3 4", "* * * *", "* * * *", "* * * 0"]'
    pieces = " ".join(map(str, range(1, 16)))
    file = tmp_path / "first.toml"
    table = f'goal = {rows}\npieces = "{pieces}"\nstart = ["2 1 3 4", "5 6 7 8", "9 10 11 12", "13 14 15 0"]'
    file.write_text(f'name = "f"\nfamily = "sliding"\n[sliding]\n{table}\n', encoding="utf-8")
    puzzle = load(str(file))
    start = sliding(puzzle).start
    assert start is not None
    assert why_unsolvable(puzzle, start, targets(puzzle, "goal")) is None
