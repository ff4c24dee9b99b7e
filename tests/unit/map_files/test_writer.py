"""Folders of map files, their names, and forms. tests/contract/test_map_place.py has what all places promise."""

import json
import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cases import for_each
from farthest.errors import NoRoomError, SettingError, StorageError
from farthest.map_files.form import ResidueForm, WordOrder
from farthest.map_files.place import checked_name
from farthest.map_files.places import FolderMaps, MapFileWriter, map_place

FORM = ResidueForm(3, WordOrder(100_000))
FACTS = {"version": 1, "puzzle": "p"}
TOKEN = "7-0123abcd"


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


def test_a_map_has_its_name_when_it_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a power failure leaves a whole map, or none; and the folder knows the name before the database does."""
    called: list[str] = []
    sync, replace = os.fsync, os.replace

    def noted_sync(file: int) -> None:
        called.append("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else "file")
        sync(file)

    def noted_replace(source: Path, target: Path) -> None:
        called.append("name")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(os, "replace", noted_replace)
    with MapFileWriter(tmp_path, TOKEN, FORM, FACTS) as writer:
        writer.write(0, bytes(8 * FORM.words))
        writer.finish()
        writer.publish()
    assert called == ["file", "name", "folder"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be kept there"):
        MapFileWriter(tmp_path / "file" / "maps", TOKEN, FORM, FACTS)


def test_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def path(database: Path | None) -> Path:
        place = map_place(database)
        assert isinstance(place, FolderMaps)
        return place.path("x").parent

    monkeypatch.delenv("FARTHEST_MAPS", raising=False)
    assert path(tmp_path / "a.db") == tmp_path / "a.db.maps"
    with pytest.raises(SettingError, match="FARTHEST_MAPS is not set"):
        path(None)
    for text, folder in (
        ("/maps", "/maps"),
        ("file:///maps/of%20all", "/maps/of all"),
        ("file://localhost/maps", "/maps"),
        ("maps", "maps"),
    ):
        monkeypatch.setenv("FARTHEST_MAPS", text)
        assert path(None) == path(tmp_path) == Path(folder)
    for text in (
        "s3://",
        "http://bucket/maps",
        "file://host/maps",
        "file:maps",
        "s3://user:secret@bucket",
        "s3://b/a b",
    ):
        monkeypatch.setenv("FARTHEST_MAPS", text)
        with pytest.raises(SettingError, match="expected") as error:
            path(tmp_path)
        assert "secret" not in str(error.value)


@for_each(
    "name",
    [
        "../1-0123abcd.map",
        "1-0123abcd.map/..",
        "1-0123ABCD.map",
        "",
        "x.map",
        "1-0123abcd.map\n",
        "1-0123abcd/0123.map",
    ],
)
def test_a_name_that_this_program_does_not_give(name: str) -> None:
    with pytest.raises(ValueError, match="expected that of a map file"):
        checked_name(name)


FIELDS = FORM.fields()


@for_each(
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
