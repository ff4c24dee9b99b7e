"""Puzzles of all families by representatives of each group of symmetries that has a space: layers, farthest boards,
distances and classes, beside those of all states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Outcome, Settings
from farthest.models.chunks import layers_digest
from farthest.models.database import open_database
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import Board
from farthest.puzzles.family import BoardMap
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.queries.distance_map import DistanceMap, open_map
from farthest.spaces import reduced_runs_space, reduced_space
from naive import distances as sliding_distances
from permutations import distances as permutation_distances

NAIVE: dict[str, Callable[[Puzzle], dict[Board, int]]] = {
    "sliding": sliding_distances,
    "permutation": permutation_distances,
}
MOST_NAIVE = 3000
"""States of puzzles that are also enumerated by loops over dictionaries."""

MOST_IMAGES = 1_000_000
"""Images of all boards from which classes are counted."""

# Puzzles, by name or by the rows and metric of a grid, and the numbers of symmetries of their groups.
FAST: list[tuple[str, Sequence[int]]] = [
    ("cuboid-1x3x3", [8]),
    ("3-puzzle", [2]),
    ("red-and-white", [2]),
    ("1 1 1 / 1 _ 2 / 2 2 2, step", [2]),  # the blank in the centre; pieces are exchanged
    ("_ 2 4 / 2 1 3 / 4 3 _, slide", [4]),
    ("hanoi-4-4", [6]),
    ("lights-torus-3x3", [12]),
]
NIGHT: list[tuple[str, Sequence[int]]] = [
    ("cuboid-1x3x3", [2, 4]),
    ("1 2 1 / 3 _ 3 / 1 2 1, slide", [2, 4]),
    ("cube-3x3x3-three-half-turns", [2, 3, 6]),
    ("cube-3x3x3@UR.DR.places:UF.DF", [2]),  # ignored orientations
    ("hanoi-3-6", [2]),
    ("hanoi-4-6", [2, 3, 6]),
    ("hanoi-5-4", [2, 3, 4, 6, 8, 12, 24]),
    ("lights-torus-3x3", [2, 3, 4, 6, 12]),
    ("lights-3x3-c3", [2, 4, 8]),
    ("fto@corners", [2, 3, 4, 6, 8, 12, 16, 24, 48]),
    ("cube-2x2x2-htm", [2, 3, 6]),  # a corner is held
    ("cube-3x3x3-domino-corners", [2, 4, 8, 16]),
    ("cube-3x3x3-domino-edges", [2, 4, 8, 16]),
    ("cube-3x3x3-half-turns-ring", [2, 4, 8, 16]),
    ("cube-3x3x3-half-turns", [2, 3, 4, 6, 8, 12, 16, 24, 48]),
    ("cube-3x3x3@UR.UF.UL.UB", [2, 4, 8]),
    ("cuboid-2x2x3", [2, 4]),
    ("pyraminx", [2, 3, 4, 6, 8, 12, 24]),  # orbits are exchanged
    ("lrx-9", [2]),
    ("topspin-8-4", [2]),  # orders as words
    ("topspin-9-4", [2]),
    ("topspin-9-4-free", [2]),
    ("8-puzzle", [2]),
    ("sliding-3x3-slide", [2]),
    ("eight-kinds", [2, 4, 8]),
    ("1 2 3 / 4 _ 5 / 6 7 8, slide", [2, 4, 8]),
    ("1 2 # 3 4 / 5 6 _ 6 5, step", [2]),
    ("lights-4x4", [2, 4, 8]),
    ("lights-3x3-c4", [2, 4, 8]),
    ("lights-torus-4x4", [2, 8, 48, 192]),
    ("lights-torus-3x3-c4", [2, 3, 4, 6, 12]),
]


def puzzle_of(name: str) -> Puzzle:
    """Of the catalogue, or a grid: rows and the metric."""
    if " " not in name:
        return load(name)
    rows, metric = name.split(", ")
    goal = ", ".join(f'"{row.strip()}"' for row in rows.split("/"))
    text = (
        f'name = "grid"\nfamily = "sliding"\nmetric = "{metric}"\n[sliding]\nblank = "_"\ngoal = [{goal}]\n'
    )
    return parse_puzzle(text, "grid.toml")


def classes(whole: DistanceMap, of: DistanceMap, symmetries: Sequence[BoardMap]) -> tuple[int, ...]:
    """Of the boards of the keys of one of the maps the classes at each distance, each by its least code among those of
    all boards. Symmetries keep the distance."""
    distances = of.array()
    codes = np.flatnonzero(distances != np.iinfo(distances.dtype).max)
    boards = of.space.decode(codes.astype(np.uint64))
    images = [whole.space.encode(each.images(boards)) for each in symmetries]
    least: NDArray[np.uint64] = np.minimum.reduce(images)
    assert (whole.array()[least] == distances[codes]).all()
    return tuple(np.bincount(whole.array()[np.unique(least)]).tolist())


def same_farthest(found: Outcome, plain: Outcome) -> None:
    if plain.layers[-1] == len(plain.farthest):
        assert sorted(found.farthest) == sorted(plain.farthest)
    else:
        assert len(set(found.farthest)) == len(plain.farthest)


def compare(puzzle: Puzzle, orders: Sequence[int], place: Path) -> None:
    """Layers alone, and a map, by each group beside the map of all states."""
    with open_database(place, create=True) as database:
        plain = enumerate_puzzle(puzzle, database, Settings(symmetry=1))
        by_group = [enumerate_puzzle(puzzle, database, Settings(symmetry=order)) for order in orders]
    naive = NAIVE[puzzle.family](puzzle) if puzzle.family in NAIVE and plain.states < MOST_NAIVE else {}
    with open_map(plain.job or 0, place) as whole:
        some = whole.random(1000, seed=1)
        distances = whole.distances(some)
        for order, of_map in zip(orders, by_group, strict=True):
            space = reduced_space(puzzle, None, order)
            assert space is not None
            assert (space.order, len(space.maps)) == (order, order)
            counted = plain.states * order <= MOST_IMAGES
            expected = classes(whole, whole, space.maps) if counted else of_map.classes
            layers = enumerate_puzzle(puzzle, None, Settings(histogram_only=True, symmetry=order))
            assert layers.digest == layers_digest(plain.layers)
            for found in (of_map, layers):
                assert found.layers == plain.layers
                assert found.classes == (None if puzzle.family == "sliding" else expected)  # not told
                same_farthest(found, plain)
            if plain.layers[-1] > len(plain.farthest):
                assert (whole.distances(layers.farthest) == whole.depth).all()
            with open_map(of_map.job or 0, place) as kept:
                assert kept.reduced is not None
                assert kept.reduced.order == order
                assert (kept.distances(some) == distances).all()
                if counted:
                    assert classes(whole, kept, space.maps) == expected
                assert kept.distances(list(naive)).tolist() == list(naive.values())


@pytest.mark.parametrize(
    ("name", "orders"),
    [*FAST, *(pytest.param(name, orders, marks=pytest.mark.night) for name, orders in NIGHT)],
)
def test_every_group(name: str, orders: Sequence[int], tmp_path: Path) -> None:
    compare(puzzle_of(name), orders, tmp_path / "farthest.db")


@pytest.mark.parametrize(
    ("name", "depth", "orders"),
    [
        pytest.param("cube-3x3x3", 2, [2, 3, 4, 6, 8, 12, 16, 24, 48, 96], marks=pytest.mark.night),
        pytest.param("cube-3x3x3-ur-qtm", 3, [2, 4, 8], marks=pytest.mark.night),
        pytest.param("megaminx", 2, [12], marks=pytest.mark.night),
        pytest.param("cube-3x3x3-qtm", 3, [2, 6, 16, 48, 96], marks=pytest.mark.night),
        pytest.param("fto", 2, [2, 3, 6, 8, 48], marks=pytest.mark.night),
    ],
)
def test_every_group_of_packed_boards(name: str, depth: int, orders: Sequence[int], tmp_path: Path) -> None:
    puzzle, place = load(name), tmp_path / "farthest.db"
    with open_database(place, create=True) as database:
        plain = enumerate_puzzle(puzzle, database, Settings(max_depth=depth, symmetry=1))
    for order in orders:
        found = enumerate_puzzle(puzzle, None, Settings(max_depth=depth, histogram_only=True, symmetry=order))
        space = reduced_runs_space(puzzle, None, order)
        assert space is not None
        assert (found.layers, found.digest) == (plain.layers, layers_digest(plain.layers))
        same_farthest(found, plain)
        counted = []
        with open_map(plain.job or 0, place) as whole:
            for at in range(depth + 1):
                left = {tuple(board) for block in whole.state_blocks(at) for board in block.labels.tolist()}
                counted.append(0)
                while left:
                    counted[-1] += 1
                    images = space.images(np.array([next(iter(left))], dtype=np.uint8))
                    of_class = set(map(tuple, images.tolist()))
                    assert of_class <= left
                    left -= of_class
        assert found.classes == tuple(counted)
