"""Additive patterns: distances against a plain 0-1 search of the puzzle itself, on grids, walls and graphs."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import replace
from functools import lru_cache
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cases import for_each
from farthest import _kernel
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.errors import BoardError, PuzzleError, ResourceError
from farthest.families.sliding.definition import Sliding
from farthest.families.sliding.patterns import PatternSpace
from farthest.puzzles.catalogue import load
from farthest.puzzles.patterns import pattern_of
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.spaces import compile_space
from farthest.stores.contract import step
from farthest.stores.memory.pattern_store import PatternStore

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board

ISAS = _kernel.available_isas()

GRAPHS = {
    "theta": "edges = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [0, 6], [6, 3]]",
    "triangles": "edges = [[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 5], [5, 3], [5, 6]]",
    "one-way": "edges = [[0, 1], [1, 2], [2, 3], [0, 3], [3, 4]]\narcs = [[4, 5], [5, 6], [6, 0]]",
    "star": "edges = [[0, 1], [0, 2], [0, 3], [0, 4], [0, 5], [0, 6]]",
}


def graph(name: str) -> Puzzle:
    return parse_puzzle(
        f'name = "{name}"\nfamily = "sliding"\n[sliding]\n{GRAPHS[name]}\ngoal = "1 2 3 4 5 6 0"\n', name
    )


@lru_cache
def naive(parent: Puzzle, labels: tuple[int, ...], origin: Origin) -> dict[Board, int]:
    """The least cost over all places of the blank, by placement: a 0-1 search over placements and blanks."""
    definition = parent.definition
    assert isinstance(definition, Sliding)
    ways = {*definition.edges, *((b, a) for a, b in definition.edges), *definition.arcs}
    if origin.direction == "to":
        ways = {(b, a) for a, b in ways}
    back = {end: [start for start, to in ways if to == end] for end in range(definition.cells)}
    costs: dict[tuple[Board, int], int] = {}
    queue = deque(
        (0, tuple(goal.index(label) for label in labels), goal.index(0)) for goal in definition.goals
    )
    while queue:
        cost, pieces, blank = queue.popleft()
        if (pieces, blank) in costs:
            continue
        costs[pieces, blank] = cost
        for start in back[blank]:
            if start in pieces:
                queue.append((cost + 1, tuple(blank if cell == start else cell for cell in pieces), start))
            else:
                queue.appendleft((cost, pieces, start))
    least: dict[Board, int] = {}
    for (pieces, _), cost in costs.items():
        least[pieces] = min(cost, least.get(pieces, cost))
    return least


def enumerated(space: PatternSpace, isa: str, threads: int = 1) -> PatternStore:
    store = PatternStore(space.compile_kernel(isa))
    depth = 0
    while store.reachable(depth + 1):
        depth += 1
        step(store, depth, store.begin(depth, [0]), threads)
    return store


def distances(space: PatternSpace, isa: str, threads: int = 1) -> list[int]:
    store = enumerated(space, isa, threads)
    return [value for one in store.chunks(0, 1000) for value in memoryview(one.distances)]


SMALL = [
    *(("sliding-2x3", tokens) for tokens in ("1", "4", "2.5", "1-3", "1-4", "1-5")),
    ("8-puzzle", "1-3"),
    ("8-puzzle-blank-first", "2.7.8"),
    ("sliding-2x4", "1.7"),
    ("sliding-1x5", "1.3"),
    ("theta", "1.2.5"),
    ("triangles", "1-4"),
    ("one-way", "1.2.4"),
    ("one-way", "1-6"),
    ("star", "1.4"),
]
LARGER = [
    *(pytest.param("8-puzzle", tokens, marks=pytest.mark.night) for tokens in ("1-4", "1-6", "1-8")),
    ("8-puzzle", "1-7"),
    ("sliding-2x4", "1-4"),
    pytest.param("sliding-2x4", "1-7", marks=pytest.mark.night),
    ("sliding-3x4", "1.5.9.10"),
    pytest.param("sliding-4x4", "1.6.11", marks=pytest.mark.night),
    pytest.param("sliding-5x5", "7.12", marks=pytest.mark.night),
    ("sliding-6x6", "20"),
    pytest.param("sliding-2x9", "3.17", marks=pytest.mark.night),
]


def parent_of(name: str) -> Puzzle:
    return graph(name) if name in GRAPHS else load(name)


def check_distances(name: str, tokens: str, isa: str, origin: Origin = Origin()) -> None:  # noqa: B008
    parent = parent_of(name)
    pattern = pattern_of(parent, tokens)
    space = compile_space(pattern.puzzle, origin)
    assert isinstance(space, PatternSpace)
    expected = naive(parent, pattern.labels, origin)
    # Keys are the ranks of the placements in lexicographic order.
    placements = permutations(range(space.cells), space.pieces)
    assert distances(space, isa, threads=2) == [expected.get(cells, 255) for cells in placements]


@for_each("isa", ISAS)
@for_each(("name", "tokens"), SMALL)
def test_distances_are_those_of_a_plain_search(name: str, tokens: str, isa: str) -> None:
    check_distances(name, tokens, isa)


@for_each("isa", ISAS)
def test_distances_from_the_goal_go_with_one_way_passages(isa: str) -> None:
    check_distances("one-way", "1.2.4", isa, Origin("from"))


@pytest.mark.slow
@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize(("name", "tokens"), LARGER)
def test_larger_distances_are_those_of_a_plain_search(name: str, tokens: str, isa: str) -> None:
    check_distances(name, tokens, isa)


def test_keys_and_boards() -> None:
    space = compile_space(load("8-puzzle@2.5.7"))
    assert isinstance(space, PatternSpace)
    keys = np.arange(space.keys, dtype=np.uint64)
    boards = space.decode(keys)
    assert (space.encode(boards) == keys).all()
    assert boards[0].tolist() == [1, 2, 3, 0, 0, 0, 0, 0, 0]
    assert space.encode(np.zeros((1, 9), dtype=np.uint8)).tolist() == [2**64 - 1]
    with pytest.raises(ValueError, match="key 504 is out of range"):
        space.decode(np.array([504], dtype=np.uint64))


def test_an_origin_that_is_a_board_has_the_blank_anywhere() -> None:
    parent = load("sliding-2x3")
    pattern = pattern_of(parent, "1.2")
    board = "···/1·2"
    space = compile_space(pattern.puzzle, Origin("to", board))
    assert isinstance(space, PatternSpace)
    found = distances(space, "")
    cells = (3, 5)
    everywhere = [
        naive(parent_with_goal(parent, cells, blank), pattern.labels, Origin()) for blank in (0, 1, 2, 4)
    ]
    for key, placement in enumerate(permutations(range(6), 2)):
        assert found[key] == min(each[placement] for each in everywhere)
    with pytest.raises(BoardError):
        compile_space(pattern.puzzle, Origin("to", "12/3"))
    with pytest.raises(PuzzleError, match="no start"):
        compile_space(pattern.puzzle, Origin("to", "start"))


def parent_with_goal(parent: Puzzle, cells: tuple[int, int], blank: int) -> Puzzle:
    """The puzzle with pieces 1 and 2 of the goal on two cells, and the blank on another."""
    goal = [0] * 6
    goal[cells[0]], goal[cells[1]] = 1, 2
    others = iter(range(3, 6))
    goal = [label or (0 if cell == blank else next(others)) for cell, label in enumerate(goal)]
    definition = parent.definition
    assert isinstance(definition, Sliding)
    return replace(parent, definition=replace(definition, goals=(tuple(goal),)))


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(
        ResourceError, match=r"placements of its pieces, more than the 1.1e[+]12 that can be enumerated"
    ):
        compile_space(load("sliding-6x6@1-9"))
    with pytest.raises(ResourceError, match=r"518,918,400 placements need about .* take fewer pieces"):
        enumerate_puzzle(load("15-puzzle@1-8"), None, Settings(memory=10**9))


def test_workers_are_refused() -> None:
    with pytest.raises(PuzzleError, match="enumerated by the threads of one process"):
        enumerate_puzzle(load("8-puzzle@1-4"), None, Settings(workers="celery"))


def test_a_layer_may_be_empty_before_the_last() -> None:
    """No placement has the distance 2, but one of distance 3 is reached by other places of the blank."""
    parent = parse_puzzle(
        'name = "gap"\nfamily = "sliding"\n[sliding]\nedges = [[0, 2], [1, 2], [1, 5], [2, 3]]\n'
        'arcs = [[1, 0], [3, 4]]\ngoal = "3 4 0 2 1 5"\n',
        "gap",
    )
    pattern = pattern_of(parent, "3.5")
    assert Counter(naive(parent, pattern.labels, Origin()).values()) == {0: 1, 1: 3, 3: 1}
    outcome = enumerate_puzzle(pattern.puzzle, None)
    assert (outcome.layers, outcome.complete) == ((1, 3, 0, 1), True)


def test_no_layer_after_the_last_state() -> None:
    # After its 31 layers the blank still finds places that are new to it, with placements that are known.
    parent = load("sliding-2x4")
    pattern = pattern_of(parent, "1-6")
    expected = Counter(naive(parent, pattern.labels, Origin()).values())
    outcome = enumerate_puzzle(pattern.puzzle, None)
    assert outcome.layers == tuple(expected[depth] for depth in range(31))


def test_a_depth_limit() -> None:
    whole = enumerate_puzzle(load("8-puzzle@1-3"), None)
    part = enumerate_puzzle(load("8-puzzle@1-3"), None, Settings(max_depth=5, histogram_only=True))
    assert part.layers == whole.layers[:6]
    assert not part.complete


def test_a_pattern_too_deep_for_its_distances() -> None:
    """The layer after the last that a byte can tell."""
    store = PatternStore(_kernel.PatternSpace(3, 1, [(0, 1), (1, 0), (1, 2), (2, 1)], [([0], 2)]))
    with pytest.raises(ResourceError, match="deeper than 254 moves"):
        store.step(255, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tokens", "eccentricity", "states"),
    [("1-6", 28, 5_765_760), pytest.param("1-7", 33, 57_657_600, marks=pytest.mark.night)],
)
def test_the_15_puzzle(tokens: str, eccentricity: int, states: int) -> None:
    outcome = enumerate_puzzle(load(f"15-puzzle-blank-first@{tokens}"), None, Settings(histogram_only=True))
    assert (outcome.eccentricity, outcome.states) == (eccentricity, states)
