"""What SQLite finds in a damaged file is told."""

import sqlite3
from pathlib import Path

import pytest

from farthest.errors import StorageError
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.structure import structure_problems


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "maps.db"
    with open_database(str(place), create=True) as database:
        Jobs(database).submit("{}", "d", "tiny", {}, {})
        assert structure_problems(database) == []
    return place


def spoil(place: Path, statement: str) -> None:
    plain = sqlite3.connect(place)
    plain.execute("PRAGMA writable_schema=ON")
    plain.execute(statement)
    plain.commit()
    plain.close()


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("INSERT INTO layer VALUES (7, 0, 1, NULL)", "a row of layer belongs to no row"),
        (
            "UPDATE sqlite_master SET tbl_name = 'chuck' WHERE name = 'sqlite_autoindex_chunk_1'",
            "the schema says 'index' of 'sqlite_autoindex_chunk_1', of table 'chuck'",
        ),
    ],
)
def test_what_belongs_to_nothing_is_told(place: Path, statement: str, said: str) -> None:
    spoil(place, statement)
    with open_database(str(place), create=False) as database:
        assert structure_problems(database) == [said]


def test_a_list_of_jobs_from_damaged_pages_is_told(place: Path) -> None:
    plain = sqlite3.connect(place)
    (root,) = plain.execute("SELECT rootpage FROM sqlite_master WHERE name = 'job'").fetchone()
    (size,) = plain.execute("PRAGMA page_size").fetchone()
    plain.close()
    data = bytearray(place.read_bytes())
    data[(root - 1) * size + 4] = 0  # the number of rows on the page
    place.write_bytes(data)
    with open_database(str(place), create=False) as database:
        records, [damage] = Jobs(database).survey()
        assert records == []
        assert "table job" in str(damage)
        with pytest.raises(StorageError, match=r"table job: .*restore it from a copy"):
            Jobs(database).find("tiny")
