"""Random permutation puzzles against plain models: counts and maps by each kind of space, classes up to symmetry,
patterns, and searches with their maps, whole and as tables."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import farthest
from farthest.coordinator.enumeration import choice as chosen_space
from farthest.errors import PuzzleError, SettingError
from farthest.families.permutation import group_spaces as few_reached
from farthest.families.permutation import reach, space
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.moves import Move
from farthest.families.permutation.symmetries import symmetries
from farthest.heuristics import Algorithm
from farthest.heuristics.registry import applicable, open_heuristic
from farthest.models.database import open_database
from farthest.puzzles.definition import MoveName
from farthest.puzzles.patterns import pattern_of
from farthest.puzzles.puzzle import Puzzle
from farthest.queries import pattern_maps
from farthest.queries import residues as residue_reader
from farthest.queries.distance_map import DistanceMap
from farthest.queries.pattern_maps import PatternMaps
from farthest.search.arrangement_engine import ArrangementEngine
from permutations import Board, moved, unmoved
from random_permutations import distances, random_pattern, random_puzzle, solutions

pytestmark = pytest.mark.slow

Patches = dict[tuple[Any, str], Any]

SEEDS = st.integers(0, 2**40)

SPACES: dict[str, Patches] = {
    "as chosen": {},
    "slotwise": {(space, "_gathered"): lambda space: False},
    "by a base": {(reach, "SMALL"): -1, (reach, "DENSE"): 0, (few_reached, "SMALL"): 2**62},
    "by the group": {
        (reach, "SMALL"): -1,
        (reach, "DENSE"): 0,
        (few_reached, "SMALL"): -1,
        (few_reached, "DENSE"): 0,
    },
    "packed": {(chosen_space, "_too_large"): lambda space, settings, machine: True},
}
"""What is patched for a kind of space."""

SMALL_MAPS: Patches = {
    (pattern_maps, "TABLE_KEYS"): 0,
    (pattern_maps, "LARGE_KEYS"): 0,
    (residue_reader, "TOLD_KEYS"): 0,
}
"""Maps of any size are opened as tables."""


@contextmanager
def patched(values: Patches) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for (where, name), value in values.items():
            patch.setattr(where, name, value)
        yield


@contextmanager
def folder() -> Iterator[str]:
    """The name of a database in a folder of its own, which is the place of map files too."""
    with TemporaryDirectory() as made, pytest.MonkeyPatch.context() as patch:
        patch.setenv("FARTHEST_MAPS", made)
        yield f"{made}/maps.db"


def drawn(seed: int) -> Puzzle:
    puzzle = random_puzzle(seed)
    assume(puzzle is not None)
    assert puzzle is not None
    return puzzle


@given(seed=SEEDS, depth=st.integers(0, 5))
def test_layers_and_maps(seed: int, depth: int) -> None:
    puzzle = drawn(seed)
    definition = permutation(puzzle)
    found = distances(puzzle, definition.goals, unmoved if puzzle.origin.direction == "to" else moved)
    assume(found is not None)
    assert found is not None
    counts = Counter(found.values())
    layers = [counts[depth] for depth in range(len(counts))]
    for kind, values in SPACES.items():
        with patched(values):
            some = farthest.histogram(puzzle, max_depth=depth, threads=2)
            assert (kind, list(some.layers)) == (kind, layers[: depth + 1])
            if kind != "packed":
                assert (kind, list(farthest.histogram(puzzle, threads=1).layers)) == (kind, layers)
    kept: Literal["full", "residues"] = "residues" if definition.symmetric and seed % 2 else "full"
    with folder() as database, farthest.enumerate(puzzle, database=database, map=kept) as opened:
        assert opened.distances(list(found)).tolist() == list(found.values())
        assert opened.verify().ok
        if len(definition.goals) == 1:
            check_classes(opened, found)


def check_classes(opened: DistanceMap, found: dict[Board, int]) -> None:
    """Symmetries keep the distance, and states are joined to the classes that are counted."""
    import networkx  # which takes a while, and the fast tests need it nowhere

    definition = permutation(opened.puzzle)
    known = symmetries(definition, definition.goals[0])
    boards = list(found)
    number = {board: i for i, board in enumerate(boards)}
    rows = numpy.array(boards, dtype=numpy.uint8)
    images = [[tuple(row) for row in each.images(rows).tolist()] for each in known.maps]
    inverses = (
        [] if known.inversion is None else [[tuple(row) for row in known.inversion.images(rows).tolist()]]
    )
    for joined in (images, images + inverses):
        classes = networkx.utils.UnionFind(range(len(boards)))
        for each in joined:
            assert [found[image] for image in each] == list(found.values())
            for i, image in enumerate(each):
                classes.union(i, number[image])
        counts = Counter(found[boards[min(members)]] for members in classes.to_sets())
        told = opened.symmetry_classes(inverses=joined is not images and bool(inverses))
        assert [layer.classes for layer in told.layers] == [counts[depth] for depth in range(len(counts))]


@given(seed=SEEDS)
def test_patterns_and_searches(seed: int) -> None:
    puzzle, rng = drawn(seed), Random(seed)
    definition = permutation(puzzle)
    found = distances(puzzle, definition.goals, unmoved)
    assume(found is not None and len(set(definition.tokens)) == len(definition.tokens))
    assert found is not None
    boards = numpy.array(list(found), dtype=numpy.uint8)
    names = applicable(puzzle)
    with folder() as database, patched(SMALL_MAPS if seed % 2 else {}):
        for _ in range(2):
            pattern = random_pattern(puzzle, rng)
            try:
                derived = pattern_of(puzzle, pattern.text).puzzle
            except PuzzleError:  # a pattern of all pieces, or of none that move
                continue
            kept: Literal["full", "residues"] = (
                "full" if rng.random() < 0.6 or not definition.symmetric else "residues"
            )
            farthest.enumerate(derived, database=database, map=kept, origin="to goal").close()
            with open_database(database, create=False) as opened:
                for text in (f"@{pattern.text}", f"sym:@{pattern.text}"):
                    try:
                        heuristic = open_heuristic(text, puzzle, definition.goals, PatternMaps(opened))
                    except SettingError:
                        assert text.startswith("sym:")
                        continue
                    values = heuristic.values(boards).tolist()
                    told = pattern.distances(puzzle, found)
                    if text.startswith("@"):
                        assert values == [told[board] for board in found]
                    assert all(
                        value <= distance for value, distance in zip(values, found.values(), strict=True)
                    )
                    names.append(text)
        names.append(",".join(names[-2:]))
        for _ in range(4):
            check_search(puzzle, found, rng.choice(list(found)), rng.choice(names), database, rng)


def in_pieces(budget: int, parts: int, widest: int) -> Callable[..., None]:
    """How engines are made that split every iteration."""
    made = ArrangementEngine.__init__

    def make(engine: ArrangementEngine, *given: Any) -> None:
        made(engine, *given)
        engine.split_from, engine.budget, engine.parts, engine.widest = 0, budget, parts, widest

    return make


def check_search(
    puzzle: Puzzle, found: dict[Board, int], board: Board, heuristic: str, database: str, rng: Random
) -> None:
    """The length, and of deepening all ways, in pieces of any size."""
    definition = permutation(puzzle)
    if found[board] > (12 if "@" in heuristic else 8):
        return
    algorithm: Algorithm = rng.choice(["ida", "ida", "astar"])
    number = solutions(puzzle, found, board)
    every = algorithm == "ida" and number < 1000
    sizes: Patches = {}
    if rng.random() < 0.7:
        sizes = {
            (ArrangementEngine, "__init__"): in_pieces(
                rng.choice([1, 20]), rng.choice([2, 9]), rng.choice([0, 4])
            )
        }
    with patched(sizes):
        outcome = farthest.solve(
            puzzle,
            board,
            heuristic=heuristic,
            algorithm=algorithm,
            all_solutions=every,
            threads=rng.choice([1, 2]),
            database=database,
            store=False,
        )
    assert outcome.length == found[board]
    named: dict[MoveName, Move] = {move.name: move for move in definition.generators}
    for way in outcome.paths:
        after = board
        for name in way:
            after = moved(definition, named[name], after)
        assert after in definition.goals
        assert len(way) == found[board]
    if every:
        assert outcome.solutions == number == len(set(outcome.paths))
