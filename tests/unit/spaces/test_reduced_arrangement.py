"""Spaces of representatives of sliding puzzles: a symmetry relabels pieces, so that lines are shuffled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from farthest import _kernel
from farthest.coordinator.enumeration.choice import space_for
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.enumeration.machine import Machine
from farthest.coordinator.settings import Settings
from farthest.families.sliding.space import compile_reduced
from farthest.models.database import open_database
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.queries.distance_map import open_map
from farthest.spaces import compile_space
from farthest.spaces.contract import NO_KEY, gather, reduced
from farthest.spaces.reduced import Representatives
from farthest.spaces.reduced_arrangement import choose_cut, label_sets
from naive import distances as plain_distances
from reduced_spaces import compare


def grid(rows: str, metric: str = "step") -> Puzzle:
    goal = [row.strip() for row in rows.split("/")]
    return parse_puzzle(
        f'name = "sample"\ntitle = "a grid"\nsource = "a test"\nfamily = "sliding"\nmetric = "{metric}"\n'
        f'[sliding]\nblank = "_"\ngoal = {goal}'.replace("'", '"'),
        "sample",
    )


def kept(puzzle: Puzzle, order: int) -> Representatives:
    found = compile_reduced(puzzle, puzzle.origin, order)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("rows", "metric", "order"),
    [
        pytest.param("1 2 3 / 4 5 6 / 7 8 _", "step", 2, marks=pytest.mark.slow),
        ("1 2 3 / 4 _ 5 / 6 7 8", "slide", 8),  # labels leave words, and which bit depends on the parity
        ("1 2 1 / 3 _ 3 / 1 2 1", "step", 4),
        ("1 1 1 / 1 _ 2 / 2 2 2", "step", 2),  # all pieces are exchanged
        ("_ 2 4 / 2 1 3 / 4 3 _", "slide", 4),  # two blanks
        ("1 2 # 3 4 / 5 6 _ 6 5", "step", 2),
        ("1 2 3 / _ # 4 / 5 6 7", "step", 2),  # a ring
        ("1 2 3 _ 4 5 6", "slide", 2),
    ],
)
def test_layers_and_distances_are_those_of_all_states(rows: str, metric: str, order: int) -> None:
    puzzle = grid(rows, metric)
    compare(gather(compile_space(puzzle)), kept(puzzle, order))


def test_distances_are_those_of_the_plain_model() -> None:
    puzzle = grid("1 2 1 / 3 _ 3 / 1 2 1")
    expected = plain_distances(puzzle)
    rows = np.array(list(expected), dtype=np.uint8)
    for order in (2, 4):
        space = kept(puzzle, order)
        found = enumerate_puzzle(puzzle, None, Settings(histogram_only=True, symmetry=order))
        assert list(found.layers) == np.bincount(list(expected.values())).tolist()
        assert space.keys < len(expected)
        assert (space.weights_of(space.encode(rows)) <= order).all()


@pytest.mark.parametrize("residues", [False, True])
def test_maps_are_proved_and_answer_for_every_board(residues: bool, tmp_path: Path) -> None:
    puzzle = grid("1 2 1 / 3 _ 3 / 1 2 1")
    place = tmp_path / "farthest.db"
    with open_database(place, create=True) as database:
        enumerate_puzzle(puzzle, database, Settings(symmetry=4, residues=residues))
    with open_map(puzzle.name, place) as opened:
        assert opened.verify().ok
        expected = plain_distances(puzzle)
        assert list(opened.distances(list(expected))) == list(expected.values())


def test_the_8_puzzle() -> None:
    puzzle = load("8-puzzle")
    plain, found = (
        enumerate_puzzle(puzzle, None, Settings(histogram_only=True, symmetry=order)) for order in (1, 2)
    )
    assert (found.layers, found.digest, found.farthest) == (plain.layers, plain.digest, plain.farthest)


def test_boards_of_the_other_parity_have_no_code() -> None:
    space = kept(load("8-puzzle"), 2)
    boards = space.decode(np.arange(0, space.keys, 1000, dtype=np.uint64))
    boards[::2] = np.where(boards[::2] == 1, 2, np.where(boards[::2] == 2, 1, boards[::2]))
    codes = space.encode(boards)
    assert (codes[::2] == NO_KEY).all()
    assert (codes[1::2] < space.keys).all()


def test_labels_that_symmetries_exchange_are_placed_together() -> None:
    sets = [(0,), *label_sets([[0, 1, 2, 3, 4, 5], [0, 2, 1, 3, 5, 4]], range(1, 6))]
    assert sets == [(0,), (1, 2), (3,), (4, 5)]
    cut = choose_cut(sets, [1] * 6, 2, halved=True)
    assert cut is not None
    assert sorted(cut.sets) == sets
    assert cut.sets[0] == (0,)
    # 40 single labels of one set: no line holds them.
    assert choose_cut([(0,), tuple(range(1, 41))], [1] * 41, 2, halved=False) is None


def test_a_grid_s_symmetries_are_told_once() -> None:
    assert [each.image for each in kept(grid("1 2 3 _ 4 5 6"), 2).maps] == [
        tuple(range(7)),
        tuple(range(6, -1, -1)),
    ]


def test_the_kernel_refuses_a_residue_map_of_representatives() -> None:
    kernel = kept(load("8-puzzle"), 2).kernel
    assert isinstance(kernel, _kernel.ArrangementSpace)
    words = np.zeros(kernel.words * 2, dtype=np.uint64)
    with pytest.raises(ValueError, match="a key for each state"):
        _kernel.ResidueMap(kernel, words, np.ones(1000, np.uint8), b"", False, np.zeros(1, np.uint64))


def test_grids_are_kept_by_representatives_where_that_saves_memory() -> None:
    def order(puzzle: Puzzle, symmetry: int | None = None) -> int:
        settings = Settings(histogram_only=True, symmetry=symmetry)
        space = reduced(space_for(puzzle, settings, Machine(settings)))
        return 1 if space is None else space.order

    mirrored = grid("1 2 3 4 / 5 6 7 _ / 8 9 10 11")
    assert order(mirrored) == 2
    assert order(mirrored, 1) == 1
    assert order(grid("1 2 3 4 / 5 6 7 8 / 9 10 11 _")) == 1
    assert order(load("8-puzzle")) == 1  # too few states
