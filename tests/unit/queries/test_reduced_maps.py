"""Maps of representatives: every question is answered as by the map of all states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np
import pandas
import pytest

from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.errors import JobError
from farthest.families.permutation.reduced_space import reduced_space as by_all_symmetries
from farthest.models.database import open_database
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.queries.distance_map import DistanceMap, open_map
from farthest.queries.states import symmetries_of
from farthest.spaces import reduced_space
from symmetric_puzzles import symmetric_puzzle

CASES = [(9, 12, True), (17, 8, False)]
"""Seeds of puzzles, the last with one-way moves; the order of a group; whether residues."""

MORE = [(27, 4, False), (33, 4, False), (41, 4, False), (61, 24, False), (33, 8, True), (75, 16, True)]


@pytest.fixture(
    params=[*CASES, *(pytest.param(case, marks=pytest.mark.night) for case in MORE)], ids=str, scope="module"
)
def maps(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[DistanceMap, DistanceMap]]:
    """The map of all states, and that of representatives."""
    seed, order, residues = request.param
    puzzle, place = symmetric_puzzle(seed), tmp_path_factory.mktemp("maps") / "farthest.db"
    assert puzzle is not None
    with open_database(place, create=True) as database:
        plain = enumerate_puzzle(puzzle, database, Settings(symmetry=1))
        reduced = enumerate_puzzle(puzzle, database, Settings(symmetry=order, residues=residues))
    assert (reduced.layers, sorted(reduced.farthest)) == (plain.layers, sorted(plain.farthest))
    with ExitStack() as opened:
        yield (
            opened.enter_context(open_map(plain.job or 0, place)),
            opened.enter_context(open_map(reduced.job or 0, place)),
        )


Maps = tuple[DistanceMap, DistanceMap]


def boards_of(opened: DistanceMap) -> list[tuple[str, int]]:
    texts = opened.puzzle.definition.texts
    return [
        pair
        for block in opened.state_blocks()
        for pair in zip(texts(block.labels), block.distances.tolist(), strict=True)
    ]


def test_the_states_are_the_same(maps: Maps) -> None:
    plain, reduced = maps
    assert reduced.reduced is not None
    assert reduced.reduced.keys != plain.space.keys
    expected, found = boards_of(plain), boards_of(reduced)
    assert len(found) == len(expected)
    assert sorted(found) == sorted(expected)
    for depth in (0, 1, plain.depth):
        assert sorted(reduced.states_at(depth)) == sorted(plain.states_at(depth))
    assert reduced.first_goals() == plain.first_goals()


def test_distances_of_boards_with_and_without_one(maps: Maps) -> None:
    plain, reduced = maps
    rng = np.random.default_rng(1)
    some = np.concatenate([block.labels[::37] for block in plain.state_blocks()])
    assert (reduced.distances(some) == plain.distances(some)).all()
    turned = some.copy()  # the sum of orientations of an orbit is often another
    slots = plain.puzzle.definition.cells // 2
    turned[np.arange(len(turned)), rng.integers(slots, 2 * slots, len(turned))] = 0
    found = plain.distances(turned)
    assert (reduced.distances(turned) == found).all()


@pytest.mark.slow
def test_solutions_are_of_the_board_that_is_asked(maps: Maps) -> None:
    plain, reduced = maps
    for board in plain.random(8, seed=4):
        assert reduced.path(board).moves == plain.path(board).moves
        assert reduced.count_solutions(board) == plain.count_solutions(board)
        assert list(reduced.solutions(board, 50)) == list(plain.solutions(board, 50))
        assert reduced.neighbours(board) == plain.neighbours(board)


def test_classes(maps: Maps) -> None:
    plain, reduced = maps
    found = reduced.symmetry_classes()
    assert found == plain.symmetry_classes()
    if symmetries_of(plain).inversion is not None:
        assert reduced.symmetry_classes(inverses=True) == plain.symmetry_classes(inverses=True)
    for depth in (1, plain.depth):
        assert len(list(reduced.representatives(depth))) == found.layers[depth].classes


def test_random_states_are_drawn_with_the_same_chance(maps: Maps) -> None:
    """The last layer but one, each of whose states is drawn some 20 times."""
    plain, reduced = maps
    depth = next(at for at in range(plain.depth, -1, -1) if 10 <= plain.layers[at] <= 3000)
    states = plain.layers[depth]
    drawn = Counter(reduced.random(20 * states, distance=depth, seed=1))
    assert drawn.keys() <= set(plain.states_at(depth))
    chi_squared = sum((drawn[board] - 20) ** 2 / 20 for board in plain.states_at(depth))
    assert abs(chi_squared - states) < 5 * (2 * states) ** 0.5
    texts = {board for board, _ in boards_of(plain)}
    assert texts.issuperset(reduced.random(500, seed=2))


def test_files_have_a_row_for_each_state(maps: Maps, tmp_path: Path) -> None:
    plain, reduced = maps
    rows = []
    for opened, name in (plain, "plain.csv"), (reduced, "reduced.csv"):
        assert opened.export(tmp_path / name) == plain.states
        rows.append(sorted(line.split(",", 1)[1] for line in (tmp_path / name).read_text().splitlines()))
    assert rows[0] == rows[1]
    reduced.export(tmp_path / "reduced.npz")
    with np.load(tmp_path / "reduced.npz") as arrays:
        assert (reduced.distances(arrays["labels"]) == arrays["distances"]).all()
        assert (reduced.space.encode(arrays["labels"]) == arrays["keys"]).all()
        assert len(np.unique(arrays["labels"], axis=0)) == plain.states


def test_a_depth_limit(tmp_path: Path) -> None:
    puzzle = symmetric_puzzle(9)
    assert puzzle is not None
    with open_database(tmp_path / "farthest.db", create=True) as database:
        for residues in (False, True):
            settings = Settings(symmetry=12, max_depth=3, residues=residues)
            with open_map(enumerate_puzzle(puzzle, database, settings).job or 0, database.place) as opened:
                assert not opened.complete
                assert opened.verify().ok
                assert Counter(distance for _, distance in boards_of(opened)) == dict(
                    enumerate(opened.layers)
                )


def test_a_space_of_the_group_is_the_map_s(maps: Maps) -> None:
    _, reduced = maps
    space = reduced_space(reduced.puzzle, reduced.origin, reduced.reduced.order if reduced.reduced else 0)
    assert space is not None
    assert reduced.record.layout == space.layout_fields()


def test_maps_are_proved(maps: Maps) -> None:
    _, reduced = maps
    report = reduced.verify()
    assert report.ok, report.failures
    assert report.layers == reduced.layers


def same(puzzle: Puzzle, order: int, place: Path) -> None:
    """By a group of that order, if there is one: layers, farthest boards, distances of 1,000 boards, classes, proof."""
    if reduced_space(puzzle, puzzle.origin, order) is None:
        return
    with open_database(place, create=True) as database:
        settings = [Settings(symmetry=1), Settings(symmetry=order)]
        jobs = [enumerate_puzzle(puzzle, database, each).job or 0 for each in settings]
    with open_map(jobs[0], place) as plain, open_map(jobs[1], place) as reduced:
        assert reduced.reduced is not None
        assert reduced.layers == plain.layers
        assert sorted(reduced.farthest()) == sorted(plain.farthest())
        boards = plain.random(1000, seed=order)
        assert (reduced.distances(boards) == plain.distances(boards)).all()
        with suppress(JobError):  # of some families symmetries are known to spaces alone
            assert reduced.symmetry_classes() == plain.symmetry_classes()
        assert reduced.verify().ok


@pytest.mark.parametrize(
    ("name", "order"), [("3-puzzle", 2), ("red-and-white", 2), ("hanoi-4-4", 6), ("lights-3x3", 4)]
)
def test_other_families(name: str, order: int, tmp_path: Path) -> None:
    same(load(name), order, tmp_path / "farthest.db")


@pytest.mark.parametrize(
    "seed",
    [
        *(pytest.param(seed, marks=pytest.mark.slow) for seed in (32,)),
        *(pytest.param(seed, marks=pytest.mark.night) for seed in (9, 17, 19, 27, 50, 58, 62, 75)),
    ],
)
def test_every_group(seed: int, tmp_path: Path) -> None:
    puzzle = symmetric_puzzle(seed)
    assert puzzle is not None
    whole = by_all_symmetries(puzzle, puzzle.origin)
    assert whole is not None
    for order in (each for each in range(2, whole.order + 1) if whole.order % each == 0):
        same(puzzle, order, tmp_path / f"{order}.db")


def test_datasets(maps: Maps, tmp_path: Path) -> None:
    """The same rows, in another order; the same boards are in a class."""
    tables = []
    for number, opened in enumerate(maps):
        opened.dataset(tmp_path / str(number))
        table = pandas.read_parquet(tmp_path / str(number) / "data")
        cells = [name for name in table if name.startswith(("cell_", "turn_"))]
        table = table.sort_values(cells, ignore_index=True)
        first = table.reset_index().groupby("class")["index"].transform("min")
        tables.append(table.assign(**{"class": first}))
        some = opened.dataset(tmp_path / f"{number}-some", per_layer=3)
        assert sum(some.rows.values()) == sum(min(3, states) for states in opened.layers)
    assert tables[0].equals(tables[1])
