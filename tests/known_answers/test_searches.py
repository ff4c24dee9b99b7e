"""What the five programs of the seeds find, found again: lengths, numbers of solutions, first bounds, and the same set
of solutions by plain deepening, by IDA* and from the stored map.
"""

import pytest

import farthest
from cases import for_each
from farthest.coordinator.search.settings import SearchOutcome

FARTHEST = ["┘─└/│□│/┐─┌", "┘│└/│□─/┐─┌", "┘│└/─□─/┐│┌", "┘│└/─□│/┐─┌", "┘─└/─□│/┐│┌", "┘─└/│□─/┐│┌"]
"""M. Hiroi's six positions at distance 30 of eight kinds of piece."""
SOLUTIONS = [72, 32, 16, 32, 32, 32]
HARDEST = ["867254301", "647850321"]
"""The two boards of the 8-puzzle at distance 31."""


def solutions(outcome: SearchOutcome) -> set[tuple[object, ...]]:
    """All that were found, none twice."""
    found = {tuple(map(_plain, way)) for way in outcome.paths}
    assert len(found) == len(outcome.paths) == outcome.solutions
    return found


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database for stored maps."""
    return str(tmp_path_factory.mktemp("searches") / "maps.db")


def stored_solutions(puzzle: str, board: str, maps: str) -> set[tuple[object, ...]]:
    """The same, from the map."""
    with farthest.enumerate(puzzle, database=maps) as stored:
        ways = stored.solutions_of(stored.solution_graph(board))
        return {tuple(map(_plain, way.moves)) for way in ways}


def _plain(move: object) -> object:
    return tuple(move) if isinstance(move, list | tuple) else move


def test_eight_kinds(maps: str) -> None:
    """M. Hiroi, eight1.py: 30 moves, 16 solutions, the first limit 24."""
    guided = farthest.solve("eight-kinds", all_solutions=True, heuristic="nearest")
    assert (guided.length, guided.solutions, guided.optimal) == (30, 16, True)
    assert guided.iterations[0].bound == 24
    assert solutions(guided) == stored_solutions("eight-kinds", FARTHEST[2], maps)


@pytest.mark.slow
def test_eight_kinds_by_plain_deepening() -> None:
    plain = farthest.solve("eight-kinds", all_solutions=True, algorithm="iddfs")
    assert (plain.length, plain.iterations[0].bound) == (30, 1)
    assert solutions(plain) == solutions(
        farthest.solve("eight-kinds", all_solutions=True, heuristic="nearest")
    )


@for_each(("board", "count"), list(zip(FARTHEST, SOLUTIONS, strict=True)))
def test_the_farthest_of_eight_kinds(board: str, count: int) -> None:
    outcome = farthest.solve("eight-kinds", board, all_solutions=True)
    assert (outcome.length, len(solutions(outcome))) == (30, count)


@pytest.mark.parametrize("board", HARDEST)
def test_the_hardest_of_the_8_puzzle(board: str) -> None:
    """M. Hiroi, eight4.pl: 31 moves, 40 solutions, the first limit of the lower bound 21."""
    guided = farthest.solve("8-puzzle", board, all_solutions=True, heuristic="manhattan")
    assert (guided.length, guided.solutions) == (31, 40)
    assert guided.iterations[0].bound == 21
    assert len(solutions(guided)) == 40


def test_hoppers_after_the_first_jump() -> None:
    """M. Hiroi, peg13.pl, where the first jump is that of 0 over 3 to 6: 7 moves with it, 18 solutions."""
    rest = farthest.solve("hoppers-first-jump", all_solutions=True)
    assert (rest.length, len(solutions(rest))) == (6, 18)


@pytest.mark.slow
def test_hoppers() -> None:
    """All 7 moves, from the centre hole: 18 of the solutions begin with that jump."""
    whole = farthest.solve("hoppers", all_solutions=True, algorithm="iddfs", store=False)
    begun = [way for way in solutions(whole) if str(way[0]).split("-")[:2] == ["0", "6"]]
    assert (whole.length, whole.solutions, len(begun)) == (7, 72, 18)


def test_2x2() -> None:
    """xyzzysims, AIMA exercise 3.10: four moves, by plain deepening."""
    outcome = farthest.solve("3-puzzle", all_solutions=True, algorithm="iddfs")
    assert outcome.length == 4


REPORTED = "6 2 7 / 3 8 1 / 4 5 0"


def test_the_example_of_the_report() -> None:
    """The student report: 25 boards."""
    outcome = farthest.solve("8-puzzle", REPORTED, all_solutions=True)
    assert (outcome.length, outcome.optimal) == (24, True)
    assert outcome.solutions == 1


@pytest.mark.slow
@pytest.mark.parametrize("board", [*HARDEST, REPORTED])
def test_solutions_of_the_8_puzzle_are_those_of_its_map(board: str, maps: str) -> None:
    outcome = farthest.solve("8-puzzle", board, all_solutions=True)
    assert solutions(outcome) == stored_solutions("8-puzzle", board, maps)


@pytest.mark.slow
def test_the_algorithms_of_the_report() -> None:
    """Breadth first 25 boards; A* with the heuristic that is not admissible may find more."""
    widely = farthest.solve("8-puzzle", REPORTED, algorithm="bfs")
    assert (widely.length, widely.optimal) == (24, True)
    guided = farthest.solve("8-puzzle", REPORTED, algorithm="astar", heuristic="misplaced+manhattan")
    assert not guided.optimal
    assert guided.length is not None
    assert guided.length >= 24


@for_each(
    ("puzzle", "board"),
    [
        ("8-puzzle", "123456870"),
        ("15-puzzle", "1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0"),
        ("3-puzzle", "0 2/1 3"),
        ("wilson-theta", "2134560"),
        ("lights-5x5", "10000/00000/00000/00000/00000"),
        ("hanoi-2-3", "110"),
        ("pegs-english", "ooo/ooo/ooooooo/ooooooo/ooooooo/ooo/ooo"),
        ("cube-2x2x2-qtm", "URF+1 UFL ULB UBR DFR DLF DRB"),
    ],
)
def test_boards_that_cannot_be_solved_are_refused_at_once(puzzle: str, board: str) -> None:
    with pytest.raises(farthest.UnreachableError, match="it cannot be solved: "):
        farthest.solve(puzzle, board)
