"""How heuristics are written: names, sums, the greatest, mirror images; what each claims; what is refused."""

from itertools import pairwise

import numpy as np
import pytest

import families
import farthest
from cases import for_each
from farthest.errors import FarthestError, SettingError
from farthest.families.permutation.definition import permutation
from farthest.families.sliding.definition import sliding
from farthest.families.sliding.symmetries import symmetries
from farthest.heuristics.contract import Gaps, LinearConflict, Matching, Table
from farthest.heuristics.registry import applicable, default_heuristic, in_full, open_heuristic, partitions
from farthest.puzzles.catalogue import load
from farthest.puzzles.patterns import pattern_of
from farthest.puzzles.puzzle import Puzzle
from permutations import pieces, puzzle_of
from strategies import grid_rows, make_puzzle


def opened(text: str, puzzle: Puzzle) -> object:
    return open_heuristic(text, puzzle, puzzle.definition.origin_boards[0])


@for_each(
    ("name", "default", "names"),
    [
        ("8-puzzle", "linear-conflict", "zero misplaced nearest manhattan matching linear-conflict"),
        ("eight-kinds", "matching", "zero misplaced nearest matching"),
        ("wilson-theta", "manhattan", "zero misplaced nearest manhattan matching"),
        ("8-puzzle-slide", "misplaced", "zero misplaced"),
        ("pancake-6", "gap", "zero misplaced gap"),
        ("burnt-pancake-3", "gap", "zero misplaced gap"),
        ("topspin-8-4", "misplaced", "zero misplaced"),
        ("pyraminx", "misplaced", "zero misplaced"),
        ("two-blanks", "manhattan", "zero misplaced nearest manhattan matching linear-conflict"),
        ("hanoi-3-4", "discs", "zero discs"),
        ("lights-3x3", "presses", "zero lamps presses"),
        ("pegs-english", "pegs", "zero pegs"),
        ("hoppers", "zero", "zero"),
        ("jugs-8-5-3", "zero", "zero"),
        ("pennant", "zero", "zero"),
    ],
)
def test_what_is_for_a_puzzle(name: str, default: str, names: str) -> None:
    puzzle = load(name)
    assert applicable(puzzle) == names.split()
    assert default_heuristic(puzzle) == default


def test_gaps_need_one_modulus() -> None:
    """Burnt pancakes on a piece that is never turned: not for `gap`, and solved all the same."""
    puzzle = puzzle_of([pieces("ab", 2), pieces("c")], [([1, 0, 2], [1, 1, 0])])
    assert applicable(puzzle) == ["zero", "misplaced"]
    assert farthest.solve(puzzle, "b+1 a+1 c").length == 1


@for_each(
    ("name", "default"),
    [("8-puzzle", "manhattan"), ("eight-kinds", "nearest"), ("pancake-6", "gap"), ("hoppers", "zero")],
)
def test_the_default_of_a_star_is_one_that_its_kernel_takes(name: str, default: str) -> None:
    assert default_heuristic(load(name), "astar") == default


@for_each("name", families.PUZZLES)
def test_defaults_can_be_opened(name: str) -> None:
    puzzle = families.PUZZLES[name]()
    board = families.a_board(puzzle)
    heuristic = open_heuristic(default_heuristic(puzzle), puzzle, [board])
    assert heuristic.values(np.array([board], dtype=np.uint8)).tolist() == [0]


@for_each(
    ("text", "claims"),
    [
        ("manhattan", (True, True)),
        ("misplaced+manhattan", (False, False)),
        ("manhattan,linear-conflict", (True, True)),
        ("zero,misplaced+manhattan", (False, False)),
        ("sym:linear-conflict", (True, True)),
        (" manhattan , zero ", (True, True)),
    ],
)
def test_claims(text: str, claims: tuple[bool, bool]) -> None:
    puzzle = load("8-puzzle-blank-first")
    heuristic = open_heuristic(text, puzzle, puzzle.definition.origin_boards[0])
    assert (heuristic.admissible, heuristic.consistent) == claims
    assert heuristic.name == "".join(text.split())


def test_sums_and_the_greatest() -> None:
    puzzle = load("8-puzzle")
    goals, start = puzzle.definition.origin_boards
    boards = np.array([goals[0], start, *[row[::-1] for row in goals]], dtype=np.uint8)
    values = {
        text: open_heuristic(text, puzzle, goals).values(boards)
        for text in ("misplaced", "manhattan", "linear-conflict")
    }
    added = open_heuristic("misplaced+manhattan", puzzle, goals)
    assert (added.values(boards) == values["misplaced"] + values["manhattan"]).all()
    both = open_heuristic("misplaced+misplaced,linear-conflict", puzzle, goals)
    expected = np.maximum(2 * values["misplaced"], values["linear-conflict"])
    assert (both.values(boards) == expected).all()
    terms = both.terms()
    assert terms is not None
    assert [[type(each) for each in term] for term in terms] == [[Table, Table], [LinearConflict]]


def test_terms_where_there_are_none() -> None:
    walls = make_puzzle(goals=[(1, 2, 3, 4, 0)], rows=[[0, 1, 2], [3, -1, 4]])
    two_goals = make_puzzle(goals=[(1, 2, 3, 0), (2, 1, 3, 0)], rows=grid_rows(2, 2))
    wild = make_puzzle(goals=[(1, -1, -1, 0)], rows=grid_rows(2, 2), counts=[1, 1, 1, 1])
    assert open_heuristic("manhattan", walls, sliding(walls).goals).terms() is not None
    assert open_heuristic("linear-conflict", walls, sliding(walls).goals).terms() is None
    for name in ("manhattan", "matching", "linear-conflict", "zero+manhattan", "zero,manhattan"):
        assert open_heuristic(name, two_goals, sliding(two_goals).goals).terms() is None
    assert open_heuristic("manhattan", wild, sliding(wild).goals).terms() is not None
    assert open_heuristic("matching", wild, sliding(wild).goals).terms() is None
    assert open_heuristic("linear-conflict", wild, sliding(wild).goals).terms() is None


def test_terms_that_there_are() -> None:
    for name, text, kind in [
        ("eight-kinds", "matching", Matching),
        ("eight-kinds", "nearest", Table),
        ("pancake-5", "gap", Gaps),
        ("burnt-pancake-4", "gap", Gaps),
    ]:
        puzzle = load(name)
        terms = open_heuristic(text, puzzle, puzzle.definition.origin_boards[0]).terms()
        assert terms is not None
        ((component,),) = terms
        assert isinstance(component, kind)


@pytest.mark.parametrize("name", ["pancake-5", "burnt-pancake-3"])
def test_what_gaps_mean(name: str) -> None:
    puzzle = load(name)
    definition = permutation(puzzle)
    heuristic = open_heuristic("gap", puzzle, definition.goals)
    terms = heuristic.terms()
    assert terms is not None
    ((gaps,),) = terms
    assert isinstance(gaps, Gaps)
    contents = len(definition.tokens) * gaps.turns
    rng = np.random.default_rng(2)
    for _ in range(40):
        labels = rng.permutation(definition.slots)
        turns = rng.integers(gaps.turns, size=definition.slots)
        stack = (labels * gaps.turns + turns).tolist()
        value = sum(gaps.pairs[a * contents + b] for a, b in pairwise(stack)) + gaps.last[stack[-1]]
        board = [*labels, *turns] if definition.oriented else labels
        assert heuristic.values(np.array([board], dtype=np.uint8)).tolist() == [value]


def test_mirror_images() -> None:
    """The goal of 8-puzzle-blank-first is itself again, but for names, along one diagonal; with the blank in the
    middle it is so in all eight ways but one that changes nothing."""
    corner = load("8-puzzle-blank-first")
    (diagonal,) = symmetries(sliding(corner), sliding(corner).goals)
    assert diagonal.cells == (0, 3, 6, 1, 4, 7, 2, 5, 8)
    assert diagonal.labels == (0, 3, 6, 1, 4, 7, 2, 5, 8)
    middle = make_puzzle(goals=[(1, 2, 3, 4, 0, 5, 6, 7, 8)], rows=grid_rows(3, 3))
    assert len(symmetries(sliding(middle), sliding(middle).goals)) == 7
    assert symmetries(sliding(load("wilson-theta")), sliding(load("wilson-theta")).goals) == []
    alike = make_puzzle(goals=[(0, 1, 2, 2)], rows=grid_rows(2, 2))
    assert symmetries(sliding(alike), sliding(alike).goals) == []


@for_each(
    ("puzzle", "text", "message"),
    [
        ("8-puzzle", "manhatan", "heuristic 'manhatan': is not known; did you mean 'manhattan'?"),
        (
            "8-puzzle",
            "zero,manhatan+zero",
            "heuristic 'zero,manhatan+zero': 'manhatan' is not known; did you mean",
        ),
        ("8-puzzle", "42", "heuristic '42': is not known; those for 8-puzzle are zero, misplaced"),
        ("8-puzzle", "", "heuristic '': a name is missing; those for 8-puzzle are zero, misplaced"),
        ("8-puzzle", "zero,", "heuristic 'zero,': a name is missing"),
        ("8-puzzle", "zero++zero", "heuristic 'zero++zero': a name is missing"),
        ("8-puzzle", "sym:", "heuristic 'sym:': a name is missing"),
        ("8-puzzle", "sym:sym:zero", "heuristic 'sym:sym:zero': has sym: twice; leave one out"),
        (
            "8-puzzle",
            "gap",
            "heuristic 'gap': is not for 8-puzzle: it needs moves that all turn over the top",
        ),
        ("eight-kinds", "manhattan", "there are 2 ─; use 'nearest' or 'matching'"),
        ("wilson-theta", "linear-conflict", "it needs the rows and columns of a grid; use 'manhattan'"),
        (
            "8-puzzle-slide",
            "nearest",
            "one move takes several pieces; it needs the metric step; those for it are zero",
        ),
        ("pancake-4", "nearest", "this is of the family permutation; those for it are zero, misplaced, gap"),
        ("hanoi-3-3", "misplaced", "this is of the family hanoi; those for it are zero, discs"),
        ("8-puzzle", "discs", "it counts the discs of the family hanoi; those for it are"),
        ("8-puzzle", "lamps", "it counts the lamps of the family lights"),
        ("8-puzzle", "pegs", "it counts the pegs of the family pegs"),
        ("hoppers", "pegs", "in the metric chain one move takes away any number of pegs"),
        ("wilson-theta", "sym:zero", "needs a grid of a sliding puzzle with one goal"),
        ("pancake-4", "sym:gap", "needs patterns"),
        ("cube-2x2x2-htm", "sym:@UFL.ULB", "needs a puzzle that no piece holds"),
        ("8-puzzle", "@", "heuristic '@': is not a pattern: 8-puzzle@: no pieces after @"),
        ("8-puzzle", "@1-9", "is not a pattern: 8-puzzle@1-9"),
        ("lights-3x3", "@1", " puzzles have patterns"),
        ("lights-2x2-c4", "presses", "it needs a prime number of colours, this has 4"),
        ("lights-torus-5x5-c5", "presses", "it would compare 5^9 solutions of a board, more than 16,384"),
        ("8-puzzle", "presses", "it counts the presses of the family lights"),
        ("8-puzzle", "@1-4", "is a stored map, and no database is open; use 'linear-conflict'"),
    ],
)
def test_what_is_refused(puzzle: str, text: str, message: str) -> None:
    with pytest.raises(SettingError) as caught:
        opened(text, load(puzzle))
    assert message in str(caught.value)


def test_patterns_are_of_the_goal() -> None:
    puzzle = load("8-puzzle")
    _, start = puzzle.definition.origin_boards
    assert start is not None
    with pytest.raises(
        SettingError, match="map of distances to the goal of 8-puzzle, and another board is asked"
    ):
        open_heuristic("@1-4", puzzle, [start])


def test_a_pattern_has_no_heuristics() -> None:
    pattern = pattern_of(load("8-puzzle"), "1-4").puzzle
    assert applicable(pattern) == []
    message = r"puzzle 8-puzzle@1-4 is a pattern, .* name 8-puzzle instead"
    with pytest.raises(FarthestError, match=message):
        default_heuristic(pattern)
    with pytest.raises(FarthestError, match=message):
        opened("zero", pattern)


@pytest.mark.parametrize(
    ("name", "partition", "pieces"), [("15-puzzle-blank-first", "7-8", 15), ("24-puzzle", "6-6-6-6", 24)]
)
def test_names_of_partitions(name: str, partition: str, pieces: int) -> None:
    puzzle = load(name)
    assert partitions(puzzle) == [partition]
    text = in_full(f"manhattan,{partition}", puzzle)
    assert text == f"manhattan,{in_full(partition, puzzle)}"
    patterns = in_full(partition, puzzle).removeprefix("sym:").split("+")
    labels = [pattern_of(puzzle, each.removeprefix("@")).labels for each in patterns]
    assert sorted(label for each in labels for label in each) == list(range(1, pieces + 1))
    assert [str(len(each)) for each in labels] == partition.split("-")


@for_each("name", ["15-puzzle", "sliding-4x4-slide", "sliding-2x8", "8-puzzle-blank-first"])
def test_other_puzzles_have_no_partitions(name: str) -> None:
    assert partitions(load(name)) == []
    assert in_full("7-8", load(name)) == "7-8"
    with pytest.raises(SettingError, match=r"heuristic '7-8': is not known"):
        opened("7-8", load(name))
