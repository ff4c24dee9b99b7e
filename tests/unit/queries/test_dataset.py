"""Datasets: columns against a plain count, parts without a class in common, folders that are whole or not there."""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import pandas
import polars
import pyarrow.parquet
import pytest

import naive
from farthest import Permutations
from farthest.errors import JobError, MissingLibraryError, ResourceError, SettingError
from farthest.puzzles.move_text import move_text
from farthest.puzzles.puzzle import Origin
from farthest.queries import dataset
from farthest.queries.dataset import PARTS
from farthest.queries.distance_map import DistanceMap
from farthest.queries.output_files import OutputError
from farthest.queries.states import symmetries_of
from unit.queries.conftest import MapOf

Board = tuple[int, ...]


def rows_of(folder: Path) -> dict[str, list[dict[str, int]]]:
    """The rows of each part."""
    return {
        part: [
            row
            for file in sorted((folder / "data").glob(f"{part}-*.parquet"))
            for row in pyarrow.parquet.read_table(file).to_pylist()
        ]
        for part in PARTS
    }


def board_of(row: dict[str, int]) -> Board:
    return tuple(value for name, value in row.items() if name.startswith(("cell_", "turn_")))


def moves_of(row: dict[str, int], moves: list[str]) -> set[str]:
    columns = [value for name, value in row.items() if name.startswith("nearer")]
    return {move for bit, move in enumerate(moves) if columns[bit // 63] >> bit % 63 & 1}


def written(opened: DistanceMap, folder: Path, **options: Any) -> tuple[list[dict[str, int]], list[str]]:
    """All rows of a dataset, and its moves."""
    found = opened.dataset(folder, **options)
    rows = rows_of(folder)
    assert found.rows == {part: len(some) for part, some in rows.items()}
    assert len({row["class"] for some in rows.values() for row in some}) == found.classes
    return [row for some in rows.values() for row in some], found.moves


@pytest.mark.parametrize(
    ("name", "origin"),
    [
        ("sliding-2x3-slide", None),
        ("roundabout", None),
        ("roundabout", Origin("to", "goal")),
    ],
)
def test_columns_of_sliding_puzzles(map_of: MapOf, tmp_path: Path, name: str, origin: Origin | None) -> None:
    opened = map_of(name, origin)
    puzzle, backward = opened.puzzle, opened.origin.direction == "from"
    truth = naive.distances(puzzle, opened.origin)
    rows, moves = written(opened, tmp_path / "data")
    assert {board_of(row): row["distance"] for row in rows} == truth
    assert len(rows) == len(truth)
    for row in rows:
        board = board_of(row)
        assert row["solutions"] == naive.count_solutions(puzzle, truth, board, opened.origin)
        nearer = {
            move_text(move[::-1] if backward else move)  # backward it is told by the move that undoes it
            for other, move in naive.moves(puzzle, board, backward)
            if truth.get(other) == truth[board] - 1
        }
        assert moves_of(row, moves) == nearer


@pytest.mark.parametrize("name", ["burnt-pancake-3", "hanoi-9-2", "jugs-8-5-3", "reversals-4"])
def test_columns_of_any_family(map_of: MapOf, tmp_path: Path, name: str) -> None:
    """Against the neighbours of single boards."""
    opened = map_of(name)
    definition = opened.puzzle.definition
    rows, moves = written(opened, tmp_path / "data")
    assert len(rows) == opened.states
    masks = [column for column in rows[0] if column.startswith("nearer")]
    assert masks == (["nearer", "nearer_1"] if len(moves) > 63 else ["nearer"])
    if opened.origin.direction == "from":
        counts = {definition.format_board(opened.space.origins[0]): 1}
        for depth in range(opened.depth):  # from each board to those that follow
            for text in opened.states_at(depth):
                for each in opened.neighbours(text):
                    if each.distance == depth + 1:
                        counts[each.board] = counts.get(each.board, 0) + counts[text]
    else:

        @cache
        def count(text: str) -> int:
            here = opened.distance(text)
            near = [each.board for each in opened.neighbours(text) if each.distance == here - 1]
            return sum(map(count, near)) if here else 1

        counts = {text: count(text) for depth in range(opened.depth + 1) for text in opened.states_at(depth)}
    for row in rows:
        cells = board_of(row)
        if name.startswith("jugs"):  # an amount is two bytes
            cells = tuple(byte for amount in cells for byte in divmod(amount, 256))
        text = definition.format_board(cells)
        assert row["distance"] == opened.distance(text)
        assert row["solutions"] == counts[text]
        if opened.origin.direction == "to":
            nearer = {move_text(e.move) for e in opened.neighbours(text) if e.distance == row["distance"] - 1}
            assert moves_of(row, moves) == nearer


RING = "a=(1,2); b=(2,3); c=(3,4); d=(4,5); e=(5,1)"
"""Exchanges round a ring, which is turned and mirrored."""


@pytest.mark.parametrize(
    ("name", "depth", "order"),
    [(RING, None, 10), pytest.param("cube-2x2x2-htm", 3, 48, marks=pytest.mark.slow)],
    ids=["ring", "cube"],
)
def test_no_class_is_in_two_parts(
    map_of: MapOf, tmp_path: Path, name: str, depth: int | None, order: int
) -> None:
    """Classes are orbits, found one by one; another dataset of the puzzle is divided alike."""
    opened = map_of(Permutations(name) if name is RING else name, None, depth)
    found = opened.dataset(tmp_path / "data")
    symmetries = symmetries_of(opened).maps
    assert found.symmetries == len(symmetries) == order
    part_of, class_of = dict[Board, str](), dict[Board, int]()
    for part, rows in rows_of(tmp_path / "data").items():
        for row in rows:
            part_of[board_of(row)], class_of[board_of(row)] = part, row["class"]
    orbits = set()
    for board in class_of:
        images = [each.images(numpy.array([board], dtype=numpy.uint8))[0].tolist() for each in symmetries]
        orbit = frozenset(map(tuple, images))
        assert len({part_of[each] for each in orbit}) == len({class_of[each] for each in orbit}) == 1
        orbits.add(orbit)
    assert len(orbits) == found.classes == len(set(class_of.values())) == opened.symmetry_classes().classes
    opened.dataset(tmp_path / "other", sample=60, seed=5)
    for part, rows in rows_of(tmp_path / "other").items():
        assert all(part_of[board_of(row)] == part for row in rows)


def test_shares_and_unknown_symmetries(map_of: MapOf, tmp_path: Path) -> None:
    opened = map_of("hanoi-4-6")
    found = opened.dataset(tmp_path / "data")
    assert (found.symmetries, found.classes) == (None, opened.states)
    assert "symmetries of the family hanoi are not known" in (found.unknown or "")
    assert found.rows["train"] / opened.states == pytest.approx(0.8, abs=0.03)
    assert found.rows["test"] / opened.states == pytest.approx(0.1, abs=0.02)
    card = (tmp_path / "data" / "README.md").read_text()
    assert "each state is a class of its own" in card
    assert "turned" not in card
    with pytest.raises(SettingError, match="1 state or more"):
        opened.dataset(tmp_path / "none", sample=0)
    with pytest.raises(OutputError, match="a name of its own"):
        opened.dataset("/")


def test_samples(map_of: MapOf, tmp_path: Path) -> None:
    opened = map_of("pancake-6")
    every = {board_of(row): row for row in written(opened, tmp_path / "all")[0]}
    for number, options in enumerate([{"sample": 300}, {"sample": 700}, {"per_layer": 20}]):
        rows, _ = written(opened, tmp_path / f"{number}", **options)
        again, _ = written(opened, tmp_path / f"{number}-again", **options)
        assert rows == again
        other, _ = written(opened, tmp_path / f"{number}-other", **options, seed=2)
        assert rows != other
        assert len({board_of(row) for row in rows}) == len(rows)
        for row in rows:  # classes are numbered anew
            assert {**row, "class": 0} == {**every[board_of(row)], "class": 0}
        if "sample" in options:
            assert len(rows) == options["sample"]
        else:
            held = numpy.bincount([row["distance"] for row in rows])
            assert held.tolist() == [min(20, states) for states in opened.layers]


def test_readers(map_of: MapOf, tmp_path: Path) -> None:
    map_of("sliding-2x3").dataset(tmp_path / "data")
    rows = [row for some in rows_of(tmp_path / "data").values() for row in some]
    by_pandas = pandas.read_parquet(tmp_path / "data" / "data")
    assert len(by_pandas) == 360
    assert {each.kind for each in by_pandas.dtypes} <= {"i", "u"}
    frame = polars.read_parquet(tmp_path / "data" / "data" / "*.parquet")
    assert sorted(frame.rows()) == sorted(tuple(row.values()) for row in rows)


def test_places_that_are_refused(map_of: MapOf, tmp_path: Path) -> None:
    opened = map_of("3-puzzle")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file", "full", "link"):
        with pytest.raises(OutputError, match="exists already; choose another name, or remove it"):
            opened.dataset(tmp_path / name)
    with pytest.raises(OutputError, match="there is no folder"):
        opened.dataset(tmp_path / "missing" / "data")
    assert (tmp_path / "file").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    opened.dataset(tmp_path / "empty")
    assert sorted(each.name for each in (tmp_path / "empty").iterdir()) == ["README.md", "data"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_of_a_dataset_that_failed(
    map_of: MapOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fail(*_: object) -> str:
        raise error

    monkeypatch.setattr(dataset, "_card", fail)
    with pytest.raises((OutputError, KeyboardInterrupt), match=r"cannot write .*data: No space left|^$"):
        map_of("3-puzzle").dataset(tmp_path / "data")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written(map_of: MapOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[tuple[type[Exception], str, Callable[[], object]]] = [
        (JobError, "additive pattern", lambda: map_of("sliding-2x3@1-2").dataset(tmp_path / "data")),
        (ResourceError, "take fewer: --sample N", lambda: map_of("pancake-5").dataset(tmp_path / "data")),
        (MissingLibraryError, "farthest.parquet", lambda: map_of("3-puzzle").dataset(tmp_path / "data")),
    ]
    for kind, message, make in refused:
        if kind is ResourceError:
            monkeypatch.setattr(dataset, "memory_limit", lambda _: 10_000)
        if kind is MissingLibraryError:
            monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(kind, match=message):
            make()
    assert list(tmp_path.iterdir()) == []
