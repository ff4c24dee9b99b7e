"""What SQLite finds in a damaged file is told."""

import re
import sqlite3
from pathlib import Path

import pytest

from farthest.errors import NoRoomError, StorageError
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.structure import structure_problems
from sqlite_pages import Pages


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "maps.db"
    with open_database(str(place), create=True) as database:
        Jobs(database).add("{}", "d", "tiny", {}, {})
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
        ("INSERT INTO layer VALUES (7, 0, 1, NULL, NULL)", "a row of layer belongs to no row"),
        (
            "UPDATE sqlite_master SET tbl_name = 'chuck' WHERE name = 'sqlite_autoindex_chunk_1'",
            "the schema says 'index' of 'sqlite_autoindex_chunk_1', of table 'chuck'",
        ),
        (
            "UPDATE sqlite_master SET sql = CAST(sql AS BLOB) WHERE name = 'job'",
            "the schema's row of 'job' has values of other types",
        ),
        (
            "DELETE FROM sqlite_sequence",
            "the last job's number is None in sqlite_sequence, 1 in table job",
        ),
        (
            "UPDATE sqlite_sequence SET seq = 9223372036854775807",
            "the last job's number is 9223372036854775807 in sqlite_sequence, 1 in table job",
        ),
    ],
)
def test_what_belongs_to_nothing_is_told(place: Path, statement: str, said: str) -> None:
    spoil(place, statement)
    with open_database(str(place), create=False) as database:
        assert structure_problems(database) == [said]


def test_a_table_that_was_made_otherwise_is_told(place: Path) -> None:
    spoil(place, "UPDATE sqlite_master SET sql = replace(sql, 'CASCADE', 'RESTRICT') WHERE name = 'layer'")
    with open_database(str(place), create=False) as database:
        found = structure_problems(database)
    assert found is not None
    assert [line.partition(":")[0] for line in found] == ["table layer was made otherwise"] * 2


def change(place: Path, label: str, new: int) -> None:
    """Sets the last byte of the file with this label: of a page's first row."""
    data, labels = bytearray(place.read_bytes()), Pages(place).of
    data[len(labels) - 1 - labels[::-1].index(label)] = new
    place.write_bytes(data)


def test_an_index_that_does_not_have_the_rows_of_its_table_is_told(place: Path) -> None:
    change(place, "ix_job_puzzle_id: record header", 1)  # no columns: SQLite's own check passes it
    plain = sqlite3.connect(place)
    assert plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    plain.close()
    with (
        open_database(str(place), create=False) as database,
        pytest.raises(StorageError, match="the database file is damaged"),
    ):
        structure_problems(database)


def test_a_damaged_index_does_not_let_a_job_take_the_puzzle_of_another_along(place: Path) -> None:
    with open_database(str(place), create=False) as database:
        Jobs(database).add("{}", "d", "tiny", {}, {})
    change(place, "ix_job_puzzle_id: type of puzzle_id", 8)  # the number 0, where 1 was: job 1 is not found
    with (
        open_database(str(place), create=False) as database,
        pytest.raises(StorageError, match=r"index ix_job_puzzle_id .* nothing was deleted; .* REINDEX"),
    ):
        Jobs(database).delete(2)
    spoil(place, "REINDEX")
    with open_database(str(place), create=False) as database:
        Jobs(database).delete(2)
        assert [one.id for one in Jobs(database).list()] == [1]
        assert structure_problems(database) == []


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


@pytest.mark.parametrize("number", ["9223372036854775807", "1000000000000000000", "-5", "'many'"])
def test_a_damaged_number_of_the_last_job_is_no_full_disk(place: Path, number: str) -> None:
    spoil(place, f"UPDATE sqlite_sequence SET seq = {number} WHERE name = 'job'")
    with (
        open_database(str(place), create=False) as database,
        pytest.raises(StorageError, match="the database file is damaged: the last job's number is") as caught,
    ):
        Jobs(database).add("{}", "d" * 64, "tiny", {}, {}, "elsewhere/1/0")
    assert not isinstance(caught.value, NoRoomError)
    mend = re.search(r'"(UPDATE .*?)"', str(caught.value))
    assert mend is not None
    spoil(place, mend[1])
    with open_database(str(place), create=False) as database:
        assert Jobs(database).add("{}", "d" * 64, "tiny", {}, {}, "elsewhere/1/0") == 2
