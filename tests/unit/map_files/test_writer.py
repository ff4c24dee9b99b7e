"""Map files: the same bytes in whatever order they are written, nothing half written, nothing left over."""

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from farthest.errors import DamagedMapError, NoRoomError, SettingError, StorageError
from farthest.map_files.file import FileSource, MapPages
from farthest.map_files.folder import checked_name, map_folder, remove_files
from farthest.map_files.form import ResidueForm, WordOrder
from farthest.map_files.writer import MapFileWriter, WrittenFile

FORM = ResidueForm(3, WordOrder(100_000))
FACTS = {"version": 1, "puzzle": "p"}
TOKEN = "7-0123abcd"


def words(form: ResidueForm = FORM) -> "numpy.typing.NDArray[numpy.uint64]":
    return numpy.random.default_rng(1).integers(0, 2**64, form.words, dtype=numpy.uint64)


def written(folder: Path, cuts: list[int], order: list[int], token: str = TOKEN) -> WrittenFile:
    """Writes the words, cut at places, piece by piece in an order."""
    all_words = words()
    edges = [0, *sorted({cut for cut in cuts if 0 < cut < len(all_words)}), len(all_words)]
    pieces = list(pairwise(edges))
    ranked = sorted(range(len(pieces)), key=lambda piece: order[piece % len(order)])
    with MapFileWriter(folder, token, FORM, FACTS) as writer:
        for piece in ranked:
            first, last = pieces[piece]
            writer.write(first, all_words[first:last].tobytes())
        found = writer.finish(2)
        writer.publish()
    return found


@given(
    cuts=st.lists(st.integers(1, FORM.words - 1), max_size=8),
    order=st.lists(st.integers(), min_size=9, max_size=9),
)
@settings(max_examples=10, deadline=None)
def test_the_order_of_writing_does_not_show(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], order: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("files")
    whole = written(folder / "whole", [], [0])
    assert written(folder / "pieces", cuts, order) == whole
    files = [next((folder / kind).iterdir()) for kind in ("whole", "pieces")]
    assert files[0].read_bytes() == files[1].read_bytes()
    pages = MapPages(FileSource(files[1]), whole.bytes, whole.checksum)
    assert (pages.form, pages.facts) == (FORM, FACTS)
    assert not pages.words.any()
    pages.load_all()
    numpy.testing.assert_array_equal(pages.words, words())


def test_words_that_are_missing_or_written_twice_are_told(tmp_path: Path) -> None:
    all_words = words()
    for pieces in (
        [(0, 10)],
        [(0, len(all_words) - 1)],
        [(0, len(all_words)), (4, 6)],
        [(1, len(all_words))],
    ):
        with MapFileWriter(tmp_path, TOKEN, FORM, FACTS) as writer:
            for first, last in pieces:
                writer.write(first, all_words[first:last].tobytes())
            with pytest.raises(StorageError, match="were not written once each"):
                writer.finish()
        assert not list(tmp_path.iterdir())
    with MapFileWriter(tmp_path, TOKEN, FORM, FACTS) as writer, pytest.raises(ValueError, match="outside"):
        writer.write(len(all_words), b"12345678")


def test_what_a_killed_writer_leaves_is_removed_by_the_next(tmp_path: Path) -> None:
    other = MapFileWriter(tmp_path, "70-0123abcd", FORM, FACTS)
    MapFileWriter(tmp_path, TOKEN, FORM, FACTS)  # killed: neither finished nor closed
    assert len(list(tmp_path.iterdir())) == 2
    written(tmp_path, [], [0])
    assert (tmp_path / f"{TOKEN}.map").exists()
    assert len(list(tmp_path.iterdir())) == 2
    remove_files(tmp_path, TOKEN)
    assert [path.name.split(".")[0] for path in tmp_path.iterdir()] == ["70-0123abcd"]
    other.abort()
    assert not list(tmp_path.iterdir())


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """As if the disk were full beyond that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_told_before_anything_is_written(tmp_path: Path) -> None:
    with largest_file(10_000), pytest.raises(NoRoomError, match="FARTHEST_MAPS"):
        MapFileWriter(tmp_path, TOKEN, FORM, FACTS)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be kept there"):
        MapFileWriter(tmp_path / "file" / "maps", TOKEN, FORM, FACTS)


def test_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FARTHEST_MAPS", raising=False)
    assert map_folder(tmp_path / "a.db") == tmp_path / "a.db.maps"
    with pytest.raises(SettingError, match="FARTHEST_MAPS is not set"):
        map_folder(None)
    for text, folder in (
        ("/maps", "/maps"),
        ("file:///maps/of%20all", "/maps/of all"),
        ("file://localhost/maps", "/maps"),
        ("maps", "maps"),
    ):
        monkeypatch.setenv("FARTHEST_MAPS", text)
        assert map_folder(None) == map_folder(tmp_path) == Path(folder)
    for text in ("s3://bucket/maps", "file://host/maps", "file:maps"):
        monkeypatch.setenv("FARTHEST_MAPS", text)
        with pytest.raises(SettingError, match="expected"):
            map_folder(tmp_path)


@pytest.mark.parametrize(
    "name", ["../1-0123abcd.map", "1-0123abcd.map/..", "1-0123ABCD.map", "", "x.map", "1-0123abcd.map\n"]
)
def test_a_name_that_this_program_does_not_give(name: str) -> None:
    with pytest.raises(ValueError, match="expected that of a map file"):
        checked_name(name)


FIELDS = FORM.fields()


@pytest.mark.parametrize(
    "changed",
    [
        {"modulus": 5},
        {"modulus": 4},
        {"bits": 65},
        {"bits": 0},
        {"keys": 0},
        {"words_per_group": 2},
        {"order": [0] * 64},
        {"order": [0]},
        {"colours": "01"},
        {"ones": [1, 2]},
        {"keys": "100000"},
        {"keys": 1e5},
        {"bits": True},
        {"order": [0.0] * 64},
        {"modulus": 3.0},
        {"modulus": 4, "colours": ["0", "1"]},
    ],
)
def test_a_form_that_cannot_be(changed: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"form|order"):
        ResidueForm.from_fields({**FIELDS, **changed})


def test_a_form_comes_back_from_json() -> None:
    split = ResidueForm(
        4, WordOrder(240, 60, 2, tuple(k // 2 + k % 2 * 64 for k in range(120))), (0, 1), "01"
    )
    for form in (FORM, split):
        assert ResidueForm.from_fields(json.loads(json.dumps(form.fields()))) == form


@pytest.mark.parametrize("cut", [0, 10, 4095, 4096, 5000, -1])
def test_a_file_that_is_cut_short(tmp_path: Path, cut: int) -> None:
    found = written(tmp_path, [], [0])
    path = tmp_path / found.name
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(DamagedMapError, match="bytes, expected"):
        MapPages(FileSource(path), found.bytes, found.checksum)


def test_a_file_that_is_cut_short_while_it_is_read(tmp_path: Path) -> None:
    found = written(tmp_path, [], [0])
    pages = MapPages(FileSource(tmp_path / found.name), found.bytes, found.checksum)
    with (tmp_path / found.name).open("r+b") as file:
        file.truncate(6000)
    with pytest.raises(DamagedMapError, match="cut short"):
        pages.load_all()


def test_a_file_that_is_gone_or_none(tmp_path: Path) -> None:
    with pytest.raises(DamagedMapError, match="cannot be opened"):
        FileSource(tmp_path / "none.map")
    with pytest.raises(DamagedMapError, match="bytes, expected"):
        MapPages(FileSource(tmp_path), 10**6, "")


def test_pages_are_read_once_and_given_back(tmp_path: Path) -> None:
    found = written(tmp_path, [], [0])
    pages = MapPages(FileSource(tmp_path / found.name), found.bytes, found.checksum)
    pages.load(numpy.array([3, 1, 3]))
    assert pages.held == 2 * 4096
    numpy.testing.assert_array_equal(numpy.flatnonzero(pages.present), [1, 3])
    numpy.testing.assert_array_equal(pages.words[512:1024], words()[512:1024])
    assert not pages.words[1024:1536].any()
    pages.forget()
    assert (pages.held, bool(pages.words.any())) == (0, False)
    pages.load_all()
    numpy.testing.assert_array_equal(pages.words, words())
