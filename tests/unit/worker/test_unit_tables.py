"""Tables of unit files: a digest keeps them, and says which file of which enumeration it is. The journal of layers."""

import os
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from farthest.errors import LostStateError
from farthest.stores.folder.journal import (
    MAGIC,
    EnumerationFolder,
    LayerFigures,
    UnitPlace,
    read_table,
    write_unit,
)

PLACE = UnitPlace(3, 1, b"an enumeration's")
SHARDS = [(b"first", 2), (b"", 0), (b"third one", 5)]
BLOBS = sum(len(blob) for blob, _ in SHARDS)


def test_a_table_is_read_again(tmp_path: Path) -> None:
    for classes in (None, 4):
        written = write_unit(tmp_path, PLACE, SHARDS, classes)
        assert read_table(tmp_path, PLACE, 3) == read_table(tmp_path, PLACE, None) == written
        assert (written.states, written.total, written.classes) == ((2, 0, 5), 7, classes)
        assert written.file_bytes == (tmp_path / PLACE.name).stat().st_size


@pytest.mark.parametrize("classes", [None, 4])
def test_a_changed_bit_of_every_byte_of_table_and_trailer_is_told(
    tmp_path: Path, classes: int | None
) -> None:
    write_unit(tmp_path, PLACE, SHARDS, classes)
    file = tmp_path / PLACE.name
    whole = file.read_bytes()
    for byte in range(len(MAGIC) + BLOBS, len(whole)):
        file.write_bytes(whole[:byte] + bytes([whole[byte] ^ 1 << byte % 8]) + whole[byte + 1 :])
        with pytest.raises(LostStateError):
            read_table(tmp_path, PLACE, 3)


def test_states_that_were_exchanged_are_told(tmp_path: Path) -> None:
    """All sizes fit: the digest alone tells it."""
    write_unit(tmp_path, PLACE, SHARDS)
    file = tmp_path / PLACE.name
    table = struct.pack("<6Q", *(number for blob, states in SHARDS for number in (len(blob), states)))
    altered = struct.pack("<6Q", 5, 5, 0, 0, 9, 2)
    file.write_bytes(file.read_bytes().replace(table, altered))
    with pytest.raises(LostStateError, match="damaged"):
        read_table(tmp_path, PLACE, 3)


@pytest.mark.parametrize("change", [{"depth": 4}, {"unit": 2}, {"key": b"another one's..."}, {"kind": "V"}])
def test_a_file_of_another_place_is_told(tmp_path: Path, change: dict[str, object]) -> None:
    write_unit(tmp_path, PLACE, SHARDS)
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
    write_unit(tmp_path, PLACE, SHARDS)
    assert called == ["sync", "rename"]


def test_a_line_of_the_journal_that_was_cut_off_spoils_no_other(tmp_path: Path) -> None:
    layers = [LayerFigures(depth, 5, [0], 0.5, 0.5, 1, 1, 1, 1) for depth in range(3)]
    for depth, layer in enumerate(layers):
        folder = EnumerationFolder(tmp_path / "layers", {"of": "a puzzle"}, 1)
        assert folder.layers == layers[:depth]
        folder.complete(layer)
        folder.close()
        with (tmp_path / "layers" / "journal").open("ab") as journal:
            journal.write(b'{"depth": 1, "sta')
    folder = EnumerationFolder(tmp_path / "layers", {"of": "a puzzle"}, 1)
    assert folder.layers == layers
    folder.close()
