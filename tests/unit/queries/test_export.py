"""Exports hold every state once, in key order, in each form; files are written whole or not at all."""

import csv
import io
import sys
import zipfile
from pathlib import Path
from typing import BinaryIO

import numpy
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import farthest
from farthest.errors import ResourceError
from farthest.puzzles.reader import parse_puzzle
from farthest.queries import exports as export
from farthest.queries.distance_map import DistanceMap
from farthest.queries.output_files import OutputError, text_cell
from unit.queries.conftest import MapOf

Rows = list[tuple[int, str, int]]


def expected_rows(distance_map: DistanceMap) -> Rows:
    array = distance_map.array()
    keys = numpy.flatnonzero(array != 255).astype(numpy.uint64)
    texts = distance_map.puzzle.definition.texts(distance_map.space.decode(keys))
    return list(zip(keys.tolist(), texts, array[keys].tolist(), strict=True))


def read_csv(file: Path) -> Rows:
    with file.open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    assert header == ["key", "board", "distance"]
    return [(int(key), board.removeprefix("'"), int(distance)) for key, board, distance in rows]


def read_parquet(file: Path) -> Rows:
    table = pyarrow.parquet.read_table(file)
    assert table.column_names == ["key", "board", "distance"]
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def read_npz(file: Path) -> Rows:
    with numpy.load(file) as arrays:
        tokens = arrays["tokens"]
        texts = ["".join(tokens[board]) for board in arrays["labels"]]
        assert arrays["keys"].dtype == numpy.uint64
        return list(zip(arrays["keys"].tolist(), texts, arrays["distances"].tolist(), strict=True))


READERS = {".csv": read_csv, ".parquet": read_parquet, ".npz": read_npz}


@pytest.mark.parametrize(
    "name", ["lozenge", pytest.param("8-puzzle", marks=pytest.mark.night), "sliding-2x4"]
)
@pytest.mark.parametrize("form", READERS)
def test_every_state_is_there(map_of: MapOf, tmp_path: Path, name: str, form: str) -> None:
    distance_map = map_of(name)
    file = tmp_path / f"states{form.upper()}"
    assert distance_map.export(file) == distance_map.states
    expected = expected_rows(distance_map)
    if form == ".npz":
        expected = [(key, board.replace("/", "").replace("#", ""), at) for key, board, at in expected]
    assert READERS[form](file) == expected
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("form", READERS)
def test_a_stream(map_of: MapOf, tmp_path: Path, form: str) -> None:
    """Every form goes through a pipe, and after what a file holds already; nothing is sought, the stream stays open."""
    lozenge, form_name = map_of("lozenge"), form.removeprefix(".")
    lozenge.export(tmp_path / f"file{form}")
    file = tmp_path / f"stream{form}"
    with file.open("ab") as stream:
        assert lozenge.export(stream, format=form_name) == lozenge.states
        assert not stream.closed
    assert READERS[form](file) == READERS[form](tmp_path / f"file{form}")
    if form == ".npz":  # zip files may follow other bytes
        other = tmp_path / "appended.zip"
        other.write_bytes(b"before")
        with other.open("ab") as stream:
            lozenge.export(stream, format=form_name)
        with zipfile.ZipFile(other) as archive:
            assert archive.testzip() is None


@pytest.mark.parametrize("form", [None, "txt", ".csv"])
def test_a_stream_needs_a_form(map_of: MapOf, form: str | None) -> None:
    with pytest.raises(OutputError, match="expected parquet, csv, npz or graphml"):
        map_of("3-puzzle").export(io.BytesIO(), format=form)


def test_a_form_whatever_the_ending(map_of: MapOf, tmp_path: Path) -> None:
    map_of("3-puzzle").export(tmp_path / "states.txt", format="csv")
    assert len(read_csv(tmp_path / "states.txt")) == 12


def test_blocks_end_where_they_may(map_of: MapOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthest.queries.stored_map.BLOCK_STATES", 7)
    for form, read in READERS.items():
        file = tmp_path / f"states{form}"
        map_of("3-puzzle").export(file)
        assert len(read(file)) == 12


def test_a_file_is_not_replaced_unless_that_is_wanted(map_of: MapOf, tmp_path: Path) -> None:
    file = tmp_path / "states.csv"
    file.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        map_of("3-puzzle").export(file)
    assert file.read_text() == "mine"
    map_of("3-puzzle").export(file, force=True)
    assert len(read_csv(file)) == 12


@pytest.mark.parametrize("name", ["states.txt", "states", "states.csv.gz"])
def test_other_forms(map_of: MapOf, tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match=r"expected \.parquet, \.csv, \.npz or \.graphml"):
        map_of("3-puzzle").export(tmp_path / name)


def test_places_that_cannot_be_written(map_of: MapOf, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="there is no folder"):
        map_of("3-puzzle").export(tmp_path / "missing" / "states.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(OutputError, match="is a folder"):
        map_of("3-puzzle").export(tmp_path / "folder.csv")
    target, link = tmp_path / "states.csv", tmp_path / "link.csv"
    target.write_text("mine")
    link.symlink_to(target)
    for place in (link, Path("/dev/full")):  # a device would be replaced by a file
        with pytest.raises(OutputError, match="is a link or a device"):
            map_of("3-puzzle").export(place, format="csv", force=True)
    assert target.read_text() == "mine"


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_of_a_file_that_failed(
    map_of: MapOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fail(distance_map: DistanceMap, file: BinaryIO) -> None:
        file.write(b"half of it")
        raise error

    monkeypatch.setitem(export._WRITERS, ".csv", fail)
    with pytest.raises((OutputError, KeyboardInterrupt), match=r"states\.csv: No space left on device|^$"):
        map_of("3-puzzle").export(tmp_path / "states.csv")
    assert list(tmp_path.iterdir()) == []


def test_pyarrow_is_an_extra(map_of: MapOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(OutputError, match=r"pip install 'farthest\[parquet\]'"):
        map_of("3-puzzle").export(tmp_path / "states.parquet")
    assert list(tmp_path.iterdir()) == []


@given(st.text())
def test_no_text_in_a_csv_file_is_a_formula_and_each_can_be_read_back(text: str) -> None:
    cell = text_cell(text)
    assert cell is not None
    assert cell[:1] not in {*"=+-@\t\r\n"}
    assert cell.removeprefix("'") == text
    assert cell == text or text[0] in "=+-@\t\r\n'＝＋－＠"


def test_boards_that_look_like_formulas_are_exported_as_texts(tmp_path: Path) -> None:
    text = """name = "formulas"
family = "sliding"
[sliding]
blank = "."
goal = ["=+-", "@'."]
"""
    puzzle = parse_puzzle(text, "formulas.toml")
    with farthest.enumerate(puzzle, database=str(tmp_path / "f.db")) as found:
        found.export(tmp_path / "states.csv")
        expected = expected_rows(found)
    with (tmp_path / "states.csv").open(encoding="utf-8", newline="") as stream:
        _, *rows = csv.reader(stream)
    first = {board[0] for _, board, _ in rows}
    assert first == {"'", "."}
    assert all(key.isdigit() and distance.isdigit() for key, _, distance in rows)
    assert read_csv(tmp_path / "states.csv") == expected


def test_a_graph_of_too_many_states_is_refused_with_the_limit(
    map_of: MapOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farthest.queries.exports.MOST_GRAPH_STATES", 1)
    with pytest.raises(ResourceError, match="a graph has at most 1; enumerate with a depth limit"):
        map_of("3-puzzle").graph()
