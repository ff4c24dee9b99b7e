"""Spaces of representatives: layers and distances of small symmetric puzzles, beside those of the unreduced space."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from _pytest.mark import ParameterSet
from numpy.typing import NDArray

from cases import for_each
from farthest import spaces
from farthest.coordinator.attempt import Interrupted
from farthest.coordinator.enumeration.executors import ThreadsExecutor, next_layer
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.enumeration.resources import PROCESS_BYTES
from farthest.coordinator.settings import Outcome, Settings
from farthest.errors import PuzzleError, StorageError
from farthest.families.permutation.definition import Permutation
from farthest.families.permutation.gather_space import PermutationSpace, origin_boards
from farthest.families.permutation.layout import choose_layout
from farthest.families.permutation.reduced_space import reduced_space
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import NO_KEY
from farthest.spaces.reduced import distinct_rows
from farthest.stores.contract import step
from farthest.stores.folder.gather_store import FolderStore
from farthest.stores.folder.journal import EnumerationFolder
from farthest.stores.folder.plan import Plan
from farthest.stores.memory.gather_store import MemoryStore
from reduced_spaces import compare
from stopping import StoppedAt
from store_cases import case
from symmetric_puzzles import other_symmetric_puzzle, symmetric_puzzle


def night(*seeds: int) -> list[ParameterSet]:
    """More of the same."""
    return [pytest.param(seed, marks=pytest.mark.night) for seed in seeds]


def plain_space(puzzle: Puzzle) -> PermutationSpace:
    origins = origin_boards(puzzle, puzzle.origin)
    layout = choose_layout(puzzle.defined_as(Permutation), origins)
    return PermutationSpace(puzzle, puzzle.origin, origins, layout)


@pytest.mark.parametrize("seed", [14, 106, *night(0, 5, 18, 26, 33, 45, 84, 122)])
def test_layers_and_distances_are_those_of_the_whole_space(seed: int) -> None:
    puzzle = symmetric_puzzle(seed)
    assert puzzle is not None
    reduced = reduced_space(puzzle, puzzle.origin)
    assert reduced is not None
    compare(plain_space(puzzle), reduced)


@pytest.mark.parametrize("seed", [1, 10, 22, *night(0, 2, 5, 12, 13, 18, 20, 35, 46, 51)])
def test_every_group_of_other_puzzles(seed: int) -> None:
    """Orbits that are exchanged, orientations that are ignored, orders that are the bits of lines."""
    puzzle = other_symmetric_puzzle(seed)
    assert puzzle is not None
    whole = reduced_space(puzzle, puzzle.origin)
    assert whole is not None
    orders = [order for order in range(2, whole.order) if whole.order % order == 0]
    parts = [reduced_space(puzzle, puzzle.origin, order) for order in orders]
    compare(plain_space(puzzle), whole, *(part for part in parts if part is not None))


@pytest.mark.parametrize("name", ["topspin-9-4", "dino-cube"])
def test_what_even_moves_do_not_reach_has_no_key(name: str) -> None:
    puzzle = load(name)
    reduced = reduced_space(puzzle, puzzle.origin)
    assert reduced is not None
    board = np.array(reduced.origins, dtype=np.uint8)
    odd = board.copy()
    odd[0, [0, 2]] = board[0, [2, 0]]
    assert reduced.encode(odd).tolist() == [NO_KEY]
    assert (reduced.decode(reduced.encode(board)) == board).all()
    stand_for = int(reduced.weights.sum()) * reduced.keys // len(reduced.weights)
    assert stand_for == puzzle.definition.arrangements() // 2


@pytest.mark.parametrize(
    ("name", "orders"),
    [
        ("cube-2x2x2-htm", [3]),  # a corner is held: the symmetries that leave it there
        ("cube-3x3x3@UR.UF.UL.UB", [8]),
        pytest.param("pyraminx", [24, 8], marks=pytest.mark.slow),
        pytest.param("skewb", [24, 6], marks=pytest.mark.night),
        pytest.param("dino-cube", [4], marks=pytest.mark.night),
        pytest.param("cube-3x3x3-corners", [48], marks=pytest.mark.night),
        pytest.param("cube-3x3x3-three-colours@edges", [48, 16], marks=pytest.mark.night),
        pytest.param("fto@edges", [16], marks=pytest.mark.slow),
    ],
)
def test_catalogue(name: str, orders: list[int]) -> None:
    puzzle = load(name)
    plain = enumerate_puzzle(puzzle, None, Settings(histogram_only=True, symmetry=1))
    for order in orders:
        found = enumerate_puzzle(puzzle, None, Settings(histogram_only=True, symmetry=order))
        assert (found.layers, found.digest) == (plain.layers, plain.digest)


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("cube-3x3x3-edges", 48),
        ("pyraminx", 24),
        ("cube-3x3x3-domino", None),
        ("topspin-12-4", None),
    ],
)
def test_what_takes_no_more_time(name: str, order: int | None) -> None:
    """Flips by linear maps, or words that are shuffled by so many symmetries that it pays."""
    found = spaces.reduced_space(load(name), None, None)
    assert (None if found is None else found.order) == order


@pytest.mark.slow
def test_first_layers_of_the_cube_of_three_colours() -> None:
    # A shard that a symmetry keeps is closed under it, so that the weights of a layer's keys are its states.
    puzzle = load("cube-3x3x3-three-colours")
    reduced = reduced_space(puzzle, puzzle.origin)
    assert reduced is not None
    assert (len(reduced.weights), reduced.order, int(reduced.weights.sum())) == (3393, 48, 153_090)
    assert int((reduced.weights == 48).sum()) == 3020
    shard = reduced.keys // len(reduced.weights)
    assert shard == 34_650 * 2**11
    found = list(plain_layers(puzzle, 3))
    assert [len(boards) for boards in found] == [1, 6, 75, 888]
    for boards in found:
        keys = np.unique(reduced.encode(boards))
        assert int(reduced.weights[(keys // np.uint64(shard)).astype(np.int64)].sum()) == len(boards)


def plain_layers(puzzle: Puzzle, depth: int) -> Iterator[NDArray[np.uint8]]:
    """The boards (N, cells) of the first layers, by the moves alone."""
    definition = puzzle.defined_as(Permutation)
    slots, moduli = definition.slots, np.array(definition.slot_moduli)
    layer = np.array(definition.goals, dtype=np.uint8)
    before = layer[:0]
    for _ in range(depth + 1):
        yield layer
        images = []
        for move in definition.generators:
            image, to = np.empty_like(layer), np.array(move.to)
            image[:, to] = layer[:, :slots]
            image[:, slots + to] = (layer[:, slots:] + np.array(move.delta)) % moduli
            images.append(image)
        known = {row.tobytes() for row in np.concatenate([before, layer])}
        found = [row for row in np.unique(np.concatenate(images), axis=0) if row.tobytes() not in known]
        before, layer = layer, np.array(found)


def test_the_states_of_codes() -> None:
    puzzle = load("cube-3x3x3-urf-edges")
    reduced = reduced_space(puzzle, puzzle.origin)
    assert reduced is not None
    codes = reduced.alike(np.arange(100, 160, dtype=np.uint64))
    rows, boards = reduced.members(codes)
    assert (reduced.encode(boards) == codes[rows]).all()
    assert (np.bincount(rows) == reduced.weights_of(codes)).all()
    whole = {tuple(board) for each in reduced.maps for board in each.images(reduced.decode(codes)).tolist()}
    assert len(boards) == len(whole)
    assert whole == {tuple(board) for board in boards.tolist()}


@pytest.mark.slow
def test_every_group_gives_the_same_layers() -> None:
    puzzle = load("cube-3x3x3-urf-edges")

    def outcome(symmetry: int) -> Outcome:
        return enumerate_puzzle(puzzle, None, Settings(histogram_only=True, symmetry=symmetry))

    plain = outcome(1)
    assert plain.states == puzzle.known[0].states
    for order in (2, 3, 6):
        found = outcome(order)
        assert (found.layers, found.digest, found.eccentricity) == (plain.layers, plain.digest, 15)
        assert sorted(found.farthest) == sorted(plain.farthest)


@pytest.mark.slow
def test_layers_in_files_are_the_same(tmp_path: Path) -> None:
    puzzle = load("cube-3x3x3-urf-edges")
    in_memory = enumerate_puzzle(puzzle, None, Settings(histogram_only=True, symmetry=6))
    settings = Settings(histogram_only=True, symmetry=6, memory=PROCESS_BYTES + 2_500_000, scratch=tmp_path)
    with open_database(tmp_path / "farthest.db", create=True) as database:
        found = enumerate_puzzle(puzzle, database, settings)
    assert found.figures
    assert (found.digest, found.farthest) == (in_memory.digest, in_memory.farthest)


@pytest.mark.parametrize(
    ("puzzle", "symmetry", "histogram_only", "problem"),
    [
        ("cube-3x3x3-urf-edges", 5, True, "no space of representatives of 5 symmetries"),
        ("8-puzzle", 3, True, "no space of representatives of 3 symmetries"),
    ],
)
def test_what_has_no_representatives_is_refused(
    tmp_path: Path, puzzle: str, symmetry: int, histogram_only: bool, problem: str
) -> None:
    settings = Settings(histogram_only=histogram_only, symmetry=symmetry)
    with (
        open_database(tmp_path / "farthest.db", create=True) as database,
        pytest.raises(PuzzleError, match=problem),
    ):
        enumerate_puzzle(load(puzzle), database, settings)


def test_a_layout_that_is_not_the_puzzle_s_is_refused() -> None:
    puzzle = load("cube-3x3x3-urf-edges")
    fields = {"version": 1, "kind": "representatives", "symmetries": 6}
    assert compile_space(puzzle, None, fields).layout_fields() == fields
    for change in ({"symmetries": 5}, {"symmetries": "6"}, {"version": 2}, {"more": 1}):
        with pytest.raises(StorageError, match="stored key layout"):
            compile_space(puzzle, None, {**fields, **change})
    with pytest.raises(
        StorageError, match=r"earlier version of farthest wrote this map .* enumerate the puzzle again"
    ):
        compile_space(load("dino-cube"), None, {**fields, "symmetries": 4})


def test_keys_out_of_range() -> None:
    spaces = [reduced_space(load(name), load(name).origin) for name in ("pyraminx", "topspin-8-4")]
    for space in spaces:
        assert space is not None
        with pytest.raises(ValueError, match=f"expected less than {space.keys}"):
            space.decode(np.array([0, space.keys], dtype=np.uint64))


def test_classes_of_a_layer_in_files_that_is_gone_on_with(tmp_path: Path) -> None:
    of = case("representatives, united")
    shards = of.kernel.shards
    plan = Plan(of.kernel, range(shards), 5, shards, united=True)

    def opened() -> FolderStore:
        folder = EnumerationFolder(tmp_path / "layers", {}, 5)
        return FolderStore(of.kernel, of.origins, (plan, plan), shards, folder, in_place=False, united=True)

    store = opened()
    for depth in range(1, len(of.layers) + 1):
        step(store, depth, store.units(depth, store.begin(depth, store.reachable(depth)))[0])
        store.leave()
        store = opened()
        step(store, depth, store.begin(depth, store.reachable(depth)))
        assert store.counts(depth) == of.counts(depth)
        assert store.classes(depth) == of.classes(depth)
    store.drop()


def test_a_run_that_was_stopped_tells_the_classes_of_all_layers(tmp_path: Path) -> None:
    puzzle = load("cube-2x2x2-htm")
    with open_database(tmp_path / "farthest.db", create=True) as database:
        settings = Settings(symmetry=6)
        whole = enumerate_puzzle(puzzle, None, settings)
        with pytest.raises(Interrupted):
            enumerate_puzzle(puzzle, database, settings, StoppedAt(5))
        found = enumerate_puzzle(puzzle, database, settings)
        assert (found.resumed_from, found.classes) == (5, whole.classes)
        assert [layer.classes for layer in Jobs(database).layers(1)] == list(whole.classes or ())


def test_states_that_are_not_closed_under_symmetries_end_the_enumeration() -> None:
    puzzle = load("cube-3x3x3-urf-edges")
    space = reduced_space(puzzle, puzzle.origin)
    assert space is not None
    store = MemoryStore(space.kernel, [space.keys_of(space.origins)[0] + 1], distances=False)
    with pytest.raises(StorageError, match=r"depth \d+, shard \d+: its new states are not closed"):
        sum(next_layer(store, ThreadsExecutor(1), depth) for depth in range(1, 9))


@for_each("width", [0, 1, 5])
def test_distinct_rows_are_those_of_numpy_and_no_structured_array(width: int) -> None:
    rows = np.random.default_rng(3).integers(-1, 2, (300, width), dtype=np.int64)
    once, which = distinct_rows(rows)
    assert sorted(map(tuple, once.tolist())) == sorted(map(tuple, np.unique(rows, axis=0).tolist()))
    assert once[which].tolist() == rows.tolist()
    assert once.dtype == rows.dtype  # a structured one makes a TypeError of Ctrl-C
