"""A residue map that is not what was stored is refused, by whoever asks."""

import random
import shutil
from dataclasses import replace
from pathlib import Path

import numpy
import pytest

import farthest
from farthest.errors import DamagedMapError, PuzzleError, StorageError
from farthest.map_files.file import FileSource, MapPages
from farthest.map_files.form import ResidueForm, WordOrder
from farthest.map_files.places import MapFileWriter
from farthest.models.maps import MapFiles


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a map of one bit a state, and one of two bits."""
    file = tmp_path_factory.mktemp("stored") / "a.db"
    for name in ("sliding-2x3", "pancake-5", "lozenge"):
        farthest.enumerate(name, database=file, map="residues").close()
    return file


@pytest.fixture
def copied(stored: Path, tmp_path: Path) -> Path:
    shutil.copytree(stored.parent, tmp_path / "copy")
    return tmp_path / "copy" / stored.name


def file_of(database: Path, job: int) -> Path:
    with farthest.open_map(job, database) as opened:
        files = MapFiles(opened.database)
        return Path(files.place.where, files.get(job).name)


def ask_all(database: Path, job: int) -> None:
    with farthest.open_map(job, database) as opened:
        opened.lookup(numpy.arange(opened.record.keys or 0, dtype=numpy.uint64))


@pytest.mark.parametrize("job", [1, 2, 3])
def test_a_hundred_flipped_bits_are_refused(copied: Path, job: int) -> None:
    file = file_of(copied, job)
    whole = file.read_bytes()
    rng = random.Random(job)
    places = [rng.randrange(8 * len(whole)) for _ in range(90)] + [rng.randrange(8 * 200) for _ in range(10)]
    with farthest.open_map(job, copied) as opened:
        row = MapFiles(opened.database).get(job)
        for number, place in enumerate(places):
            changed = bytearray(whole)
            changed[place // 8] ^= 1 << place % 8
            file.write_bytes(changed)
            with pytest.raises(DamagedMapError, match="the map file is damaged"):
                MapPages(FileSource(file), row.bytes, row.checksum).load_all()
            if number % 50 == 0:
                with pytest.raises(DamagedMapError, match="the map file is damaged"):
                    ask_all(copied, job)
                with pytest.raises(DamagedMapError, match="the map file is damaged"):
                    opened.verify()
        file.write_bytes(whole)
        assert opened.verify().ok
    ask_all(copied, job)


def test_a_file_of_another_job_is_refused(copied: Path) -> None:
    shutil.copyfile(file_of(copied, 2), file_of(copied, 1))
    with pytest.raises(DamagedMapError):
        ask_all(copied, 1)


def test_a_row_that_names_another_jobs_file_is_refused(copied: Path) -> None:
    with farthest.open_map(1, copied) as opened:
        files = MapFiles(opened.database)
        files.put(1, files.get(3))
    with pytest.raises((DamagedMapError, StorageError)):
        ask_all(copied, 1)


def test_a_missing_file_is_told(copied: Path) -> None:
    file_of(copied, 1).unlink()
    with pytest.raises(DamagedMapError, match="cannot be opened"):
        ask_all(copied, 1)


def test_a_forged_file_and_row_are_refused(copied: Path) -> None:
    """Who can write to the database can write checksums; still nothing is read beyond the map."""
    file = file_of(copied, 2)
    with farthest.open_map(2, copied) as opened:
        files, right = MapFiles(opened.database), opened.residue_bits()
        row = files.get(2)
        for order in (WordOrder(240), WordOrder(60), WordOrder(120, 64, 1, tuple(range(64)))):
            form = ResidueForm(3, order)
            with MapFileWriter(file.parent, file.stem, form, right.facts) as writer:
                writer.write(0, bytes(8 * form.words))
                written = writer.finish()
                writer.publish()
            files.put(2, replace(row, bytes=written.bytes, checksum=written.checksum))
            with pytest.raises(StorageError):
                ask_all(copied, 2)


def test_deleting_a_job_removes_its_file_and_what_a_killed_attempt_left(copied: Path) -> None:
    file = file_of(copied, 1)
    left = file.with_name(f"{file.stem}.0123.part")
    left.write_bytes(b"")
    farthest.delete_job(1, copied)
    assert not file.exists()
    assert not left.exists()
    farthest.delete_job(2, copied)
    farthest.delete_job(3, copied)
    assert not file.parent.exists()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("roundabout", "not every move can be taken back"),
        ("pegs-triangle-15", "not every move can be taken back"),
        ("die-hard-jugs", "not every move can be taken back"),
        ("hanoi-cyclic-3-3", "not every move can be taken back"),
        ("rush-hour-60", "without gaps"),
        ("8-puzzle@1-2", "additive pattern"),
    ],
)
def test_puzzles_without_a_residue_map(tmp_path: Path, name: str, why: str) -> None:
    with pytest.raises(PuzzleError, match=f"{why}.*; use --map full"):
        farthest.enumerate(name, database=tmp_path / "a.db", map="residues")
    assert not (tmp_path / "a.db.maps").exists()
