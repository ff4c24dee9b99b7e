"""Tables of unit files: a digest keeps them, and says which file of which enumeration it is. The journal of layers."""

import os
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from farthest.errors import LostStateError
from farthest.stores.folder.journal import (
    HELD_BYTES,
    MAGIC,
    EnumerationFolder,
    LayerFigures,
    Room,
    UnitFiles,
    UnitPlace,
    UnitTable,
    read_table,
    unit_file,
    write_unit,
)

PLACE = UnitPlace(3, 1, b"an enumeration's")
SHARDS = [(b"first", 2), (b"", 0), (b"third one", 5)]
BLOBS = sum(len(blob) for blob, _ in SHARDS)


def make_file(folder: Path, classes: int | None = None) -> UnitTable:
    table, pieces = unit_file(PLACE, SHARDS, classes)
    write_unit(folder, PLACE.name, pieces)
    return table


def test_a_table_is_read_again(tmp_path: Path) -> None:
    for classes in (None, 4):
        written = make_file(tmp_path, classes)
        assert read_table(tmp_path, PLACE, 3) == read_table(tmp_path, PLACE, None) == written
        assert (written.states, written.total, written.classes) == ((2, 0, 5), 7, classes)
        assert written.file_bytes == (tmp_path / PLACE.name).stat().st_size


@pytest.mark.parametrize("classes", [None, 4])
def test_a_changed_bit_of_every_byte_of_table_and_trailer_is_told(
    tmp_path: Path, classes: int | None
) -> None:
    make_file(tmp_path, classes)
    file = tmp_path / PLACE.name
    whole = file.read_bytes()
    for byte in range(len(MAGIC) + BLOBS, len(whole)):
        file.write_bytes(whole[:byte] + bytes([whole[byte] ^ 1 << byte % 8]) + whole[byte + 1 :])
        with pytest.raises(LostStateError):
            read_table(tmp_path, PLACE, 3)


def test_states_that_were_exchanged_are_told(tmp_path: Path) -> None:
    """All sizes fit: the digest alone tells it."""
    make_file(tmp_path)
    file = tmp_path / PLACE.name
    table = struct.pack("<6Q", *(number for blob, states in SHARDS for number in (len(blob), states)))
    altered = struct.pack("<6Q", 5, 5, 0, 0, 9, 2)
    file.write_bytes(file.read_bytes().replace(table, altered))
    with pytest.raises(LostStateError, match="damaged"):
        read_table(tmp_path, PLACE, 3)


@pytest.mark.parametrize("change", [{"depth": 4}, {"unit": 2}, {"key": b"another one's..."}, {"kind": "V"}])
def test_a_file_of_another_place_is_told(tmp_path: Path, change: dict[str, object]) -> None:
    make_file(tmp_path)
    other = replace(PLACE, **change)  # type: ignore[arg-type]
    (tmp_path / PLACE.name).rename(tmp_path / other.name)
    with pytest.raises(LostStateError, match="another enumeration"):
        read_table(tmp_path, other, 3)


def test_a_file_has_its_name_when_it_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a power failure leaves a whole file, or none."""
    called: list[str] = []
    sync, rename = os.fdatasync, Path.rename

    def noted_sync(file: int) -> None:
        called.append("sync")
        sync(file)

    def noted_rename(path: Path, target: Path) -> Path:
        called.append("rename")
        return rename(path, target)

    monkeypatch.setattr(os, "fdatasync", noted_sync)
    monkeypatch.setattr(Path, "rename", noted_rename)
    make_file(tmp_path)
    assert called == ["sync", "rename"]


def test_a_line_of_the_journal_that_was_cut_off_spoils_no_other(tmp_path: Path) -> None:
    layers = [LayerFigures(depth, 5, [0], 0.5, 0.5, 1, 1, 1, 1) for depth in range(3)]
    for depth, layer in enumerate(layers):
        folder = EnumerationFolder(tmp_path / "layers", {"of": "a puzzle"}, 1)
        assert folder.layers == layers[:depth]
        folder.layers.append(layer)
        folder.write_journal()
        folder.close()
        with (tmp_path / "layers" / "journal").open("ab") as journal:
            journal.write(b'{"depth": 1, "sta')
    folder = EnumerationFolder(tmp_path / "layers", {"of": "a puzzle"}, 1)
    assert folder.layers == layers
    folder.close()


def test_files_of_thin_layers_are_held_and_what_the_journal_needs_stays_till_it_is_written(
    tmp_path: Path,
) -> None:
    folder = EnumerationFolder(tmp_path / "layers", {"of": "a puzzle"}, 1)
    files = UnitFiles(folder)

    def on_disk() -> list[str]:
        return sorted(name for name in files.names() if name[0] in "LVO")

    for depth in range(8):
        files.begin(depth)
        files.tables[depth][0] = files.write_file(files.place(depth, 0), SHARDS)
        files.note_complete(depth)
        if depth > 1:
            files.remove_file(files.place(depth - 2, 0))
        if depth == 3:
            files.flush()
            assert on_disk() == ["L2.0", "L3.0"]
        with files.opened(files.place(depth, 0)) as file:
            assert bytes(files.bytes_at(file, len(MAGIC), 5, Room())) == b"first"
    assert on_disk() == ["L2.0", "L3.0"], "the journal has no layer after 3"
    files.flush()
    assert on_disk() == ["L6.0", "L7.0"]
    large = [(bytes(HELD_BYTES), 1)]
    files.write_file(files.place(8, 0), SHARDS)
    files.write_file(files.place(8, 1), large)
    assert on_disk() == ["L6.0", "L7.0", "L8.0", "L8.1"]
    files.remove_file(files.place(6, 0))
    assert on_disk() == ["L7.0", "L8.0", "L8.1"], "nothing is held: it goes at once"
    folder.close()
    again = EnumerationFolder(tmp_path / "layers", {"of": "a puzzle"}, 1)
    assert [layer.depth for layer in again.layers] == list(range(8))
    again.close()
