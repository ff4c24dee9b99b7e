"""Packed boards by representatives: layers, classes and boards of small puzzles, beside a plain search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cases import for_each
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.enumeration.layers_in_files import UnitsExecutor
from farthest.coordinator.enumeration.machine import Machine
from farthest.coordinator.enumeration.plan import plan
from farthest.coordinator.settings import Settings
from farthest.errors import PuzzleError, StorageError
from farthest.families.permutation.definition import Permutation
from farthest.families.permutation.gather_space import origin_boards
from farthest.families.permutation.reduced_runs import ReducedRunsSpace, reduced_runs
from farthest.families.permutation.symmetries import symmetries
from farthest.models.database import open_database
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.spaces import compile_space
from farthest.stores.contract import step
from farthest.stores.folder.journal import EnumerationFolder
from farthest.stores.folder.reduced_runs_store import ReducedRunsFolderStore
from farthest.stores.memory.reduced_runs_store import ReducedRunsStore
from symmetric_puzzles import symmetric_puzzle

Boards = NDArray[np.uint8]


def plain_layers(puzzle: Puzzle, depth: int) -> Iterator[Boards]:
    """The boards (N, cells) of the first layers, by the moves alone, which may be one-way."""
    definition = puzzle.defined_as(Permutation)
    slots, moduli = definition.slots, np.array(definition.slot_moduli)
    layer = np.array(origin_boards(puzzle, puzzle.origin), dtype=np.uint8)
    known = np.unique(layer.view(f"V{layer.shape[1]}"))
    for _ in range(depth + 1):
        yield layer
        images = []
        for move in definition.generators:
            to, delta = np.array(move.to), np.array(move.delta)
            image = np.empty_like(layer)
            image[:, :slots] = layer[:, to]  # taken back: distances are to the origin
            if definition.oriented:
                image[:, slots:] = (layer[:, slots + to] - delta) % moduli
            images.append(image)
        found = np.unique(np.concatenate(images), axis=0)
        names = np.ascontiguousarray(found).view(f"V{found.shape[1]}").ravel()
        layer = found[~np.isin(names, known)]
        if not len(layer):
            return
        known = np.concatenate([known.ravel(), names])


def classes(space: ReducedRunsSpace, boards: Boards) -> int:
    """How many classes the boards are in."""
    images = [each.images(boards) for each in space.kept.maps]
    if space.kept.inverses:
        found = symmetries(space.puzzle.defined_as(Permutation), space.origins[0]).inversion
        assert found is not None
        images += [found.images(each) for each in images]
    assert len(images) == space.order
    names = [np.ascontiguousarray(each).view(f"V{each.shape[1]}").ravel() for each in images]
    number = {name: at for at, name in enumerate(names[0].tolist())}
    return len(
        {min(number[name] for name in each) for each in zip(*(n.tolist() for n in names), strict=True)}
    )


def layers_of(space: ReducedRunsSpace, depth: int) -> tuple[list[int], list[int | None], list[Boards]]:
    """States, classes and the boards of the codes of the layers."""
    store = ReducedRunsStore(space)
    classes = [store.classes(0)]
    boards = [space.decode(np.array(store.keys(0, 10), dtype=_dtype(space)))]
    for at in range(1, depth + 1):
        shards = store.begin(at, store.reachable(at))
        step = store.open(at, shards)
        if shards:
            store.commit(at, step, step.run(2))
        if not sum(store.counts(at).values()):
            break
        classes.append(store.classes(at))
        boards.append(space.decode(np.array(store.keys(at, 10**6), dtype=_dtype(space))))
    return [sum(store.counts(at).values()) for at in range(len(boards))], classes, boards


def _dtype(space: ReducedRunsSpace) -> str:
    return "u8" if space.code_bytes == 8 else f"S{space.code_bytes}"


def compare(puzzle: Puzzle, depth: int, order: int | None = None) -> ReducedRunsSpace:
    space = reduced_runs(puzzle, puzzle.origin, order)
    assert space is not None
    states, found, boards = layers_of(space, depth)
    expected = list(plain_layers(puzzle, depth))
    assert states == [len(layer) for layer in expected]
    for ours, layer in zip(boards, expected, strict=True):
        assert (space.images(ours) == _in_order(space, layer)).all()
    assert found[: len(expected)] == [classes(space, layer) for layer in expected]
    return space


def _in_order(space: ReducedRunsSpace, boards: Boards) -> Boards:
    return space.decode(np.sort(space.encode(boards)))


@pytest.mark.parametrize(
    ("name", "depth", "order", "shards"),
    [
        ("cube-3x3x3-slices", 7, 48, 5),  # all pieces differ: with inverses
        ("cube-3x3x3-half-turns", 4, 96, 178),
        ("fto", 2, 48, 17),  # by the places of two pieces; others are alike
        ("mathieu-m22", 6, 2, 242),
    ],
)
def test_layers_classes_and_boards(name: str, depth: int, order: int, shards: int) -> None:
    space = compare(load(name), depth)
    assert (space.order, space.shards) == (order, shards)
    assert sum(space.weights) * space.share == pytest.approx(shards)


@for_each("seed", [5, 14, 18, 26, 33, 84, 122])
def test_random_puzzles(seed: int) -> None:
    puzzle = symmetric_puzzle(seed)
    assert puzzle is not None
    compare(puzzle, 4)


@for_each(("name", "depth", "order"), [("cube-3x3x3-slices", 3, n) for n in (2, 4, 8, 24)] + [("fto", 2, 8)])
def test_every_group_gives_the_same_layers(name: str, depth: int, order: int) -> None:
    assert compare(load(name), depth, order).order == order


@pytest.mark.slow
def test_the_cube() -> None:
    puzzle = load("cube-3x3x3")
    known = [1, 18, 243, 3240, 43239, 574908, 7618438]
    by_48 = reduced_runs(puzzle, puzzle.origin, 48)
    assert by_48 is not None
    # The number of classes of corners; positions up to symmetry at forum.cubeman.org.
    assert by_48.shards == 984
    assert layers_of(by_48, 6)[:2] == (known, [1, 2, 9, 75, 934, 12077, 159131])
    by_96 = reduced_runs(puzzle, puzzle.origin)
    assert by_96 is not None
    assert (by_96.order, by_96.shards) == (96, 654)
    assert layers_of(by_96, 5)[0] == known[:6]


@pytest.mark.slow
def test_a_run_by_representatives(tmp_path: Path) -> None:
    puzzle = load("cube-3x3x3-ur")
    plain = enumerate_puzzle(puzzle, None, Settings(histogram_only=True, max_depth=2, symmetry=1))
    settings = Settings(histogram_only=True, max_depth=2, symmetry=8)
    with open_database(tmp_path / "farthest.db", create=True) as database:
        found = enumerate_puzzle(puzzle, database, settings)
    assert (found.layers, found.digest) == (plain.layers, plain.digest)
    assert (found.classes, plain.classes) == ((1, 2, 4), None)
    assert sorted(found.farthest) == sorted(plain.farthest)
    assert len(plain.farthest) == plain.layers[-1]


@pytest.mark.parametrize("memory", [pytest.param(0, marks=pytest.mark.slow), 10**9])
def test_layers_in_files_are_gone_on_with(
    tmp_path: Path, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farthest.stores.folder.reduced_runs_store.SMALL_LAYER", 0)
    puzzle = load("cube-3x3x3-ur")
    space = reduced_runs(puzzle, puzzle.origin)
    assert space is not None
    in_memory, classes_in_memory, _ = layers_of(space, 4)
    found = [1]

    def opened() -> ReducedRunsFolderStore:
        folder = EnumerationFolder(tmp_path / "farthest-test", {"of": "the test"}, space.shards)
        return ReducedRunsFolderStore(space, folder, memory, 4, threads=2)

    store = opened()
    for depth in range(1, 5):
        units = store.units(depth, store.begin(depth, store.reachable(depth)))
        for _ in range(depth):  # a part of the layer; then another attempt
            step(store, depth, next(units), 2)
        store.leave()
        store = opened()
        done = store.begin(depth, store.reachable(depth))
        left = [shard for unit in store.units(depth, done) for shard in unit]
        assert 0 < len(left) < space.shards
        UnitsExecutor(2, lambda: None, lambda done, blocks: None).run_layer(store, depth, done)
        found.append(sum(store.counts(depth).values()))
    assert found == in_memory
    assert [layer.classes for layer in store.folder.layers] == classes_in_memory
    least = np.array(store.keys(4, 1000), dtype=_dtype(space))
    boards = list(plain_layers(puzzle, 4))[-1]
    assert np.isin(least, space.encode(boards)).all()
    store.drop()


def test_a_run_in_files(tmp_path: Path) -> None:
    puzzle = load("cube-3x3x3-ur")
    settings = Settings(histogram_only=True, max_depth=3, symmetry=8)
    in_memory = enumerate_puzzle(puzzle, None, settings)
    with open_database(tmp_path / "farthest.db", create=True) as database:
        found = enumerate_puzzle(puzzle, database, replace(settings, scratch=tmp_path))
    assert len(found.figures) == 4
    assert found.classes == in_memory.classes
    assert (found.layers, found.digest, found.farthest) == (
        in_memory.layers,
        in_memory.digest,
        in_memory.farthest,
    )
    assert not list(tmp_path.glob("farthest-*"))


@pytest.mark.slow
def test_the_plan_takes_representatives_where_they_pay() -> None:
    def chosen(depth: int, symmetry: int | None = None) -> int | None:
        asked = Settings(histogram_only=True, max_depth=depth, symmetry=symmetry)
        return plan(load("cube-3x3x3"), asked, Machine(asked, stored=False)).needs.symmetries

    assert chosen(5) is None  # done in no time
    assert chosen(10) == 96
    assert chosen(10, 1) is None
    assert chosen(10, 48) == 48


def test_what_has_no_representatives_is_refused() -> None:
    puzzle = load("cube-3x3x3-ur")
    wrong = Settings(histogram_only=True, max_depth=5, symmetry=7)
    by_workers = Settings(histogram_only=True, max_depth=5, symmetry=8, workers="celery")
    with_map = Settings(max_depth=5, symmetry=8)
    for settings, problem in (
        (wrong, "no space of representatives of 7 symmetries"),
        (by_workers, "workers keep no packed boards by representatives"),
        (with_map, "give layers, and no map"),
    ):
        with pytest.raises(PuzzleError, match=problem):
            plan(puzzle, settings, Machine(settings))


def test_a_layout_that_is_not_the_puzzle_s_is_refused() -> None:
    puzzle = load("cube-3x3x3-slices")
    fields = {"version": 1, "kind": "packed representatives", "symmetries": 48}
    assert compile_space(puzzle, None, fields).layout_fields() == fields
    for change in ({"symmetries": 96}, {"symmetries": "48"}, {"version": 2}, {"more": 1}):
        with pytest.raises(StorageError, match="stored key layout"):
            compile_space(puzzle, None, {**fields, **change})
