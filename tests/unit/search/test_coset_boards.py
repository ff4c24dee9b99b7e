"""Boards that are solved by enumerating their cosets, compared with a walk over all boards."""

from collections import Counter

import pytest

import farthest
from cases import for_each
from farthest.coordinator.search import coset_boards
from farthest.coordinator.search.coset_boards import MOST_WATCHED, BoardsByCosets
from farthest.coordinator.search.settings import SearchReporter, SearchSettings
from farthest.coordinator.search.solve import Solver
from farthest.cosets import CosetSet
from farthest.errors import FarthestError
from farthest.machine import memory_limit
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import Board
from farthest.search.walking import boards_along, successors_of

PUZZLE, SUBGROUP = "cube-2x2x2-htm<U,R2,F2>", "<U,R2>"


def distances(name: str, board: Board | None = None, *, moves: str = "") -> dict[Board, int]:
    """Of all boards that these moves, if not all, lead to from a board, the goal if none is given."""
    puzzle = load(name)
    found = {board or goal_of(name): 0}
    queue, successors, own = list(found), successors_of(puzzle), moves.split()
    for each in queue:
        for move, after in successors(each):
            if after not in found and (not own or move in own):
                found[after] = found[each] + 1
                queue.append(after)
    return found


def goal_of(name: str) -> Board:
    return load(name).definition.origin_boards[0][0]


def check(name: str, subgroup: str, boards: list[Board], alone: int = 0) -> None:
    puzzle, known, goal = load(name), distances(name), goal_of(name)
    outcomes = farthest.solve_many(name, boards, subgroup=subgroup, threads=1)
    for board, outcome in zip(boards, outcomes, strict=True):
        assert outcome is not None
        assert (outcome.length, outcome.optimal, outcome.bound) == (known[board], True, known[board])
        assert outcome.moves is not None
        assert len(outcome.moves) == outcome.length
        boards_along(puzzle, board, outcome.moves, lambda end: end == goal)
    how = Counter(outcome.algorithm for outcome in outcomes if outcome)
    assert (how["cosets"], how["ida"]) == (len(boards) - alone, alone)


@pytest.mark.parametrize("around", [1 << 12, 1])
def test_lengths_are_those_of_a_walk(around: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a board's sequence is put together in several rounds."""
    monkeypatch.setattr(coset_boards, "MOST_AROUND", around)
    own, known = "U U' U2 R2", distances(PUZZLE)
    assert len(known) == 5040
    last = [*known][-1]
    boards = [*distances(PUZZLE, moves=own)][::3] + [*distances(PUZZLE, last, moves=own)][::3]
    check(PUZZLE, SUBGROUP, boards)


def test_boards_that_are_alone_are_searched() -> None:
    """Of turned pieces too."""
    name = "pyraminx<U,L>"
    boards = [*distances(name)]
    several = [board for start in boards[1::90] for board in distances(name, start, moves="U U'")]
    (one,) = (board for board in boards[-1:] if board not in several)
    check(name, "<U>", [*several, one, *several[:2]], alone=1)


def test_few_boards_have_many_around_them() -> None:
    around = BoardsByCosets(solver(), SUBGROUP, {}, SearchReporter())._around
    counts = [len(around.of(boards).words) for boards in (1, MOST_WATCHED // 70, MOST_WATCHED)]
    assert counts == [120, sum(around.lengths <= around.lengths[70] - 1), 5]


def solver(name: str = PUZZLE, target: str = "goal", memory: int | None = None) -> Solver:
    return Solver(load(name), target, "auto", SearchSettings(memory=memory))


@for_each(
    "name, target, memory, subgroup, said",
    [
        (PUZZLE, "start", None, "<U>", "to: with subgroup it is goal"),
        (PUZZLE, "goal", 1000, "<U>", "more than --memory 1000 bytes"),
        ("8-puzzle", "goal", None, "<U>", "only permutation puzzles have cosets"),
        ("cube-3x3x3-htm", "goal", None, "<U,D>", "more than the 2,097,152"),
        (PUZZLE, "goal", None, "U", "expected moves between < and >"),
    ],
)
def test_what_is_refused(name: str, target: str, memory: int | None, subgroup: str, said: str) -> None:
    with pytest.raises(FarthestError) as error:
        BoardsByCosets(solver(name, target, memory), subgroup, {}, SearchReporter())
    assert said in str(error.value)


@pytest.mark.night
def test_boards_of_a_large_subgroup() -> None:
    cube, subgroup = "cube-3x3x3-htm", "<U,D,R2,L2,F2,B2>"
    if memory_limit(None) < CosetSet(load(cube), subgroup, 0, ()).bytes:
        pytest.skip("too little memory is free")
    boards = [f"moves: B L F' R U' L {word}" for word in ("U2 F2 D", "D' R2", "F2 U L2", "")]
    outcomes = farthest.solve_many(cube, boards, subgroup=subgroup)
    alone = farthest.solve_many(cube, boards)
    for one, other in zip(outcomes, alone, strict=True):
        assert one is not None
        assert other is not None
        assert (one.algorithm, one.length) == ("cosets", other.length)
